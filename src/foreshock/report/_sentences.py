"""Sentences about a whole document: headline, counts, and what a finding's false-alarm rate is."""

from __future__ import annotations

from collections.abc import Mapping

from foreshock.records import Finding
from foreshock.report._compare import compare_headline
from foreshock.report._forecast import forecast_headline
from foreshock.report._format import count, plural, share
from foreshock.report._rows import ModelRow, RunRow
from foreshock.report._view import View
from foreshock.report._words import VERDICTS

_VERDICT_ORDER = {word: place for place, word in enumerate(VERDICTS)}
_LINE = 4  # models that a verdict needs at least


def headline(view: View) -> str:
    """The report in one sentence: how many lines of models can be judged and what the verdicts are."""
    if view.tables.compare or view.tables.board or _is_forecast(view):
        return forecast_headline(view.tables) if _is_forecast(view) else compare_headline(view.tables)
    words = [row.verdict for row in view.tables.verdicts]
    judged = [word for word in words if word != "unresolved"]
    others = sum(1 for shown in view.told if shown.verdict is None)
    tail = f" {plural(others, 'other finding')}." if others else ""
    if "lint" in view.document.tables:
        noted = sum(shown.told for shown in view.shown)
        return f"{plural(noted, 'finding')} to look at." if noted else "Nothing to criticise."
    if "meta" in view.document.tables and view.tables.opening:
        said = view.tables.opening[0].text
        return f"{said[0].upper()}{said[1:]}."
    if not words:
        return f"{plural(others, 'finding')} to report; no line of models was judged." if others else _nothing(view)
    lines = plural(len(words), "line of models", "lines of models")
    if not judged:
        subject = "The one line of models" if len(words) == 1 else f"None of {lines}"
        return f"{subject} can{'not' if len(words) == 1 else ''} be judged yet.{tail}"
    order = sorted(set(judged), key=lambda word: (_VERDICT_ORDER.get(word, len(_VERDICT_ORDER)), word))
    parts = ", ".join(f"{judged.count(word):,}\u00a0{word}" for word in order)
    rest = len(words) - len(judged)
    unresolved = f"; {rest:,}\u00a0unresolved" if rest else ""
    return f"{len(judged):,} of {lines} can be judged: {parts}{unresolved}.{tail}"


def _is_forecast(view: View) -> bool:
    """Whether the document is about forecasts alone: ``check`` has them beside its trust cards."""
    return bool(view.tables.curves) and not view.tables.trust


def _nothing(view: View) -> str:
    """Why there is no finding at all, as far as the document tells."""
    tables = view.tables
    models = len({row.model for row in tables.runs} | {row.model for row in tables.models})
    unread = plural(len(tables.failures), "file")
    if not models:
        return f"Nothing to report: {unread} could not be read." if tables.failures else "Nothing to report: no runs."
    if any(word.startswith(("--select", "--ignore")) for word in view.document.command):
        return "Nothing to report among the findings that were asked for (--select, --ignore)."
    if not any(row.delivered for row in tables.runs) and all(row.value is None for row in tables.models):
        return f"Nothing to report: {plural(models, 'model')}, but neither a response nor a total."
    if models < _LINE:
        return f"No verdict: {plural(models, 'model')}, and a line of models needs at least {_LINE}."
    return _no_line(view, models)


def _no_line(view: View, models: int) -> str:
    """Why enough models make no line."""
    tables = view.tables
    read = any(row.parsed or row.scored for row in tables.runs) or any(row.value is not None for row in tables.models)
    if tables.runs and not read:
        return _no_scores(view, models)
    # a document about jumps alone has no table of models: nothing is known of their order then
    if tables.models and not any(row.x is not None for row in tables.models):
        return f"No verdict: nothing says in which order the {plural(models, 'model')} stand."
    return f"No verdict: {plural(models, 'model')}, but no line of at least {_LINE} on one task."


def _no_scores(view: View, models: int) -> str:
    """What is missing where responses came without answers and without scores."""
    tables = any(row.format == "items" for row in view.tables.runs)
    do = (
        "name the column of answers: --map answer=COLUMN" if tables else "add logs with the harness's scores or answers"
    )
    return f"No verdict: {plural(models, 'model')}, but no response has a score or an extracted answer; {do}."


def counts_sentence(counts: Mapping[str, int | None]) -> str:
    """All counts in one sentence; what is not known is called so, and what is not known to be missing is not counted.

    Examples:
        >>> counts_sentence({"expected": None, "delivered": 2, "scored": 0, "missing": 0}).replace(chr(0xA0), " ")
        'Responses: expected not known, 2 delivered, parsed not known, refused not known, error not known.'
    """
    parts = []
    for name in ("expected", "delivered", "parsed", "scored", "refused", "error", "missing"):
        value = counts.get(name)
        if name == "parsed" and value == 0 and counts.get("scored"):
            continue  # the harness scored what it read itself and logged no answers: nothing failed to parse
        if (name == "scored" and not value) or (name == "missing" and not value and counts.get("expected") is None):
            continue
        word = "scored by the harness" if name == "scored" else name
        parts.append(f"{word} not known" if value is None else f"{value:,}\u00a0{word}")
    return "Responses: " + ", ".join(parts) + "."


def rate_sentence(finding: Finding) -> str:
    """The false-alarm rate as a sentence; empty where it is not known."""
    rate = finding.rate
    if rate.stated == 0 and not rate.measured:
        return "Involves no chance."
    parts = []
    if rate.stated is not None:
        parts.append(f"stated false-alarm rate {share(rate.stated)}{' per line' if finding.subject.axis else ''}")
    if rate.measured is not None:
        worlds = f" on {count(rate.n)} simulated worlds" if rate.n else ""
        parts.append(f"{'' if parts else 'false-alarm rate '}measured {share(rate.measured)}{worlds}")
    said = "; ".join(parts)
    return said[:1].upper() + said[1:] + "." if said else ""


def incomplete(row: RunRow | ModelRow) -> bool:
    """Whether the two denominators, expected and delivered, differ."""
    return row.expected is not None and row.delivered is not None and row.expected != row.delivered


def two_values(row: ModelRow) -> bool:
    """Whether the score over all expected responses is another: some did not arrive, or arrived and have no score."""
    known = row.value is not None and row.value_expected is not None
    return incomplete(row) or (known and abs((row.value or 0.0) - (row.value_expected or 0.0)) > 1e-9)


def seeds(view: View) -> list[int]:
    """Seeds that the findings name."""
    return sorted({finding.fit.seed for finding in view.document.findings if finding.fit})


def data_hashes(view: View) -> list[str]:
    """Hashes of the data that the findings name."""
    return sorted({finding.fit.data_hash for finding in view.document.findings if finding.fit})
