"""The report as one HTML file that needs nothing else: no request leaves it, and every byte comes from the JSON."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from foreshock._base import ForeshockError
from foreshock.records import Document
from foreshock.report import _alarms, _alike, _compare, _details, _forecast, _format, _sentences, _view, _words
from foreshock.report._dimensions import grouped
from foreshock.report._plot import figure
from foreshock.report._plot_forecast import forecast_figure
from foreshock.report._safe import clean, cut, for_script, one_line
from foreshock.report._view import View, load

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_EXCERPT = 160  # characters of a question in the list of responses to open
MAX_BYTES = 4_900_000
"""Largest file written; 5 MB is where mail and issue trackers begin to refuse attachments."""


_WHOLE = ("series", "verdicts", "families", "predictions", "opening", "trust", "models", "compare", "board")


class Limits(NamedTuple):
    """How much of a document is put into the page.

    Attributes:
        text: Characters of a question, target or output.
        moved: Items shown per finding.
        plots: Findings with plots, in the order of the report.
        rows: Rows of each table.
        findings: Findings shown in full.
        data: Whether the document's JSON is embedded.
    """

    text: int
    moved: int
    plots: int
    rows: int
    findings: int
    data: bool


# Tried in turn until the page fits; whatever a level leaves out, the page says so at that place.
LEVELS = (
    Limits(text=2_000, moved=20, plots=1_000, rows=2_000, findings=1_000, data=True),
    Limits(text=1_000, moved=10, plots=500, rows=1_000, findings=500, data=True),
    Limits(text=400, moved=5, plots=300, rows=500, findings=300, data=True),
    Limits(text=300, moved=3, plots=100, rows=300, findings=200, data=True),
    Limits(text=200, moved=1, plots=40, rows=200, findings=60, data=False),
)


def html(document: Document, path: Path) -> None:
    """Write the report to ``path`` as one self-contained HTML file of less than 5 MB.

    Args:
        document: What to show; nothing else is read.
        path: File to write; replaced when it exists.

    Raises:
        ForeshockError: A table of the document cannot be shown, or it is too large even when shortened.
    """
    Path(path).write_text(render_html(document), "utf-8", newline="\n")


def render_html(document: Document) -> str:
    """The report as HTML text; equal documents give equal bytes."""
    view = load(document)
    for limits in LEVELS:
        page = _page(view, limits)
        if len(page.encode()) <= MAX_BYTES:
            return page
    raise ForeshockError(
        f"the report would be larger than {MAX_BYTES:,} bytes even in its shortest form",
        expected="a document of fewer or shorter rows",
        do="select findings (--select) or tasks (--task); --json has everything",
    )


def fragment(document: Document) -> str:
    """A small piece of escaped HTML for notebooks: headline and verdict table."""
    view = load(document)
    return _environment().get_template("fragment.html.j2").render(view=view, headline=_sentences.headline(view))


def _page(whole: View, limits: Limits) -> str:
    view = whole.without(_forecast.told_elsewhere(whole.tables))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            view=view,
            doc=view.document,
            limits=limits,
            headline=_sentences.headline(whole),
            counts=_sentences.counts_sentence(view.document.counts) if view.about_responses else "",
            data=for_script(_embedded(view, limits)) if limits.data else None,
            seeds=_sentences.seeds(view),
            hashes=_sentences.data_hashes(view),
        )
    )


def _embedded(view: View, limits: Limits) -> bytes:
    """The document with every number; texts are shortened as on the page, items and runs are those of the page."""
    document = view.document
    tables = {name: _part(name, rows, limits) for name, rows in document.tables.items()}
    left_out = {name: len(rows) for name, rows in document.tables.items() if len(tables[name]) < len(rows)}
    whole = _short(msgspec.to_builtins(msgspec.structs.replace(document, tables=tables)), limits.text)
    note = {"text_limit": limits.text, "rows_in_full": left_out}
    return msgspec.json.encode({**whole, "embedded": note}, order="sorted")


def _part(name: str, rows: list[dict[str, Any]], limits: Limits) -> list[dict[str, Any]]:
    """Rows of a table that are embedded: what is drawn or compared stays whole, what is read one by one does not."""
    if name in _WHOLE:
        return rows
    if name == "curves":
        return rows[: limits.plots]
    if name not in ("moved", "flips"):
        return rows[: limits.rows]
    seen = Counter[str]()
    part = []
    for row in rows:
        seen[row["finding_id"]] += 1
        if seen[row["finding_id"]] <= limits.moved:
            part.append(row)
    return part


def _short(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, list):
        return [_short(v, limit) for v in value]
    if isinstance(value, dict):
        return {key: _short(v, limit) for key, v in value.items()}
    return value


def _excerpt(text: str) -> str:
    """The end of a question: prompts begin alike, and what is asked stands last."""
    line = one_line(text[-4 * _EXCERPT :])
    return line if len(line) <= _EXCERPT and len(text) <= 4 * _EXCERPT else "… " + line[-_EXCERPT:]


def _name(text: str) -> Markup:
    """A name on one line that may break behind its joints, and nowhere else."""
    from markupsafe import Markup, escape

    name = str(escape(one_line(text)))  # no entity holds one of the joints
    for joint in "_/":
        name = name.replace(joint, f"{joint}<wbr>")
    return Markup(name)  # noqa: S704 - escaped above


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("foreshock.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    names = ("count", "equals", "level", "number", "on_axis", "plural", "probability", "quantity", "share")
    environment.globals |= {name: getattr(_format, name) for name in names}
    environment.globals |= {
        "figure": lambda rows, key: Markup(figure(rows, str(key))),  # noqa: S704 - our own SVG, escaped piece by piece
        "forecast_figure": lambda row, key: Markup(forecast_figure(row, str(key))),  # noqa: S704 - as above
        "foretold": _forecast,
        "alarmed": _alarms,
        "item_anchors": _view.item_anchors,
        "alike": _alike.alike,
        "together": _alike.together,
        "compared": _compare,
        "excerpt": _excerpt,
        "grouped": grouped,
        "told_families": _details.told_families,
        "family_sentence": _details.family_sentence,
        "rate_sentence": _sentences.rate_sentence,
        "incomplete": _sentences.incomplete,
        "two_values": _sentences.two_values,
        "mark": _words.mark,
        "words": _words,
        "raw": Markup,
    }
    environment.filters |= {"clip": clean, "line": one_line, "name": _name}
    return environment


def _finalize(value: Any) -> Any:
    """Last station of every expression of a template: whatever was not made by us is cleaned before it is escaped."""
    if value is None:
        return _format.MISSING
    return value if hasattr(value, "__html__") else clean(str(value), 20_000)
