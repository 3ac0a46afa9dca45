"""The report in a terminal: what a stranger needs in two minutes, at 80 columns, with or without colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foreshock.records import Document, Finding, State
from foreshock.report import _view
from foreshock.report._console import Page
from foreshock.report._format import count, level, plural, probability, quantity, share
from foreshock.report._rows import LightRow, ModelRow, VerdictRow
from foreshock.report._safe import one_line
from foreshock.report._view import View, load
from foreshock.report._words import MEANING, OPENING, STATUS

if TYPE_CHECKING:
    from rich.console import Console

_FULL_CARDS = 6  # more tasks than this, and only the lights that are not ok are printed
_MOST = 20  # findings, tasks, runs or files that a part prints in full
_SCORES = 60  # scores that are printed
_NARROW = 72  # columns below which the verdict table becomes a list


def terminal(document: Document, console: Console) -> None:
    """Print the report.

    Args:
        document: What to show; nothing else is read.
        console: Where to; its width, colours and encoding are respected.

    Raises:
        ForeshockError: A table of the document cannot be shown.
    """
    view = load(document)
    page = Page(console)
    page.line(_view.headline(view), "bold")
    page.line(_view.counts_sentence(view.document.counts), "dim")
    for part in (_opening, _trust, _verdicts, _findings, _unresolved, _scores, _runs, _failures, _footer):
        part(view, page)


def _opening(view: View, page: Page) -> None:
    if not view.tables.opening:
        return
    page.title("With these logs")
    rows = []
    for kind, label in OPENING.items():
        said = [row for row in view.tables.opening if row.kind == kind]
        for i, row in enumerate(said):
            text = page.text(one_line(row.text))
            if row.do:
                text.append("\n").append_text(page.text("$ " + one_line(row.do), "bold"))
            rows.append([page.text(label if i == 0 else "", "bold"), text])
    page.rows(rows, [10])


def _trust(view: View, page: Page) -> None:
    if not view.trust:
        return
    page.title("Can the scores be trusted?")
    brief = len(view.trust) > _FULL_CARDS
    fine = [row for row in view.trust if all(light.state.value == "ok" for light in row.lights.values())]
    cards = [row for row in view.trust if row not in fine] if brief else view.trust
    for row in cards[:_MOST]:
        page.line(one_line(row.task), "bold", 2)
        lights = [(name, light) for name, light in row.lights.items() if not brief or light.state.value != "ok"]
        _lights(lights, page)
        if len(lights) < len(row.lights):
            page.line(f"the other {plural(len(row.lights) - len(lights), 'light is', 'lights are')} ok", "dim", 4)
    page.more(min(_MOST, len(cards)), len(cards), "tasks that are not ok throughout")
    if brief and fine:
        names = ", ".join(one_line(row.task, 60) for row in fine[:_MOST])
        page.line(f"All lights ok: {names}" + (" and others" if len(fine) > _MOST else ""), indent=2)


def _lights(lights: Sequence[tuple[str, LightRow]], page: Page) -> None:
    if page.console.width < _NARROW:
        said = [(light.state.value, f"{one_line(name, 40)}: {one_line(light.text)}") for name, light in lights]
        page.rows([[page.badge(state), page.text(text)] for state, text in said], [9], 4)
        return
    rows = [(page.badge(light.state.value), one_line(name, 40), one_line(light.text)) for name, light in lights]
    page.rows([[badge, page.text(name), page.text(text)] for badge, name, text in rows], [9, 10], 4)


def _verdicts(view: View, page: Page) -> None:
    said = [row for row in view.verdicts if row.verdict != "unresolved"]
    if not said:
        return
    page.title("Is the jump real, or made by the metric?")
    if page.console.width < _NARROW:
        for row in said[:_MOST]:
            place = " · ".join(one_line(part, 80) for part in (row.task, row.family) if part)
            page.rows([[page.badge(row.verdict), page.text(f"{place}: {_share(row)}")]], [10])
    else:
        _verdict_table(said[:_MOST], page)
    page.more(min(_MOST, len(said)), len(said), "verdicts")
    page.line("share: part of the change that a break may carry, with its 95% interval", "dim", 2)
    for word in dict.fromkeys(row.verdict for row in said):
        page.line(f"{one_line(word, 40)}: {MEANING.get(word, 'see the documentation')}", "dim", 2)


def _share(row: VerdictRow) -> str:
    return quantity(row.share, row.share_low, row.share_high, "fraction")


def _verdict_table(rows: Sequence[VerdictRow], page: Page) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("verdict", no_wrap=True)
    table.add_column("task", overflow="fold")
    table.add_column("family", overflow="fold")
    for head in ("share", "models", "items"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        names = [page.text(one_line(name or "–", 80)) for name in (row.task, row.family)]
        numbers = [page.text(text) for text in (_share(row), count(row.points), count(row.items))]
        table.add_row(page.badge(row.verdict), *names, *numbers)
    page.print(Padding(table, (0, 0, 0, 2), expand=False))


def _findings(view: View, page: Page) -> None:
    if not view.told:
        return
    page.title("What can be said")
    for shown in view.told[:_MOST]:
        page.print()
        head = page.text("  ").append_text(page.badge(shown.word)).append_text(page.text("  " + one_line(shown.place)))
        page.print(head)
        page.line(one_line(shown.finding.title), "bold", 4)
        for said in _facts(shown.finding):
            page.line(said, indent=4)
        page.line("→ " + one_line(shown.finding.advice, 1_000), indent=4)
        page.line(f"{one_line(shown.finding.code, 20)} {shown.anchor}", "dim", 4)
    page.more(min(_MOST, len(view.told)), len(view.told), "findings")


def _facts(finding: Finding) -> list[str]:
    facts = []
    if finding.effect:
        effect = finding.effect
        size = quantity(effect.value, effect.low, effect.high, effect.unit)
        interval = "" if effect.low is None or effect.high is None else f" ({level(effect.level)} interval)"
        p = "" if finding.p is None else f", p = {probability(finding.p)}"
        facts.append(f"{one_line(effect.name)}: {size}{interval}{p}")
    elif finding.p is not None:
        facts.append(f"p = {probability(finding.p)}")
    if finding.state not in (State.FIRING, State.PENDING):
        return facts  # what does not flag needs no defence here; the page has it
    if finding.null:
        facts.append(f"null: {one_line(finding.null)}{_rate(finding)}")
    for status in ("possible", "unchecked", "ruled-out"):
        names = [one_line(a.name, 80) for a in finding.alternatives if a.status == status]
        if names:
            facts.append(f"{STATUS[status]}: {', '.join(names)}")
    return facts


def _rate(finding: Finding) -> str:
    rate = finding.rate
    parts = []
    if rate.stated is not None:
        parts.append(f"stated {share(rate.stated)}")
    if rate.measured is not None:
        parts.append(f"measured {share(rate.measured)}" + (f" on {count(rate.n)} null worlds" if rate.n else ""))
    return f"; false alarms: {', '.join(parts)}" if parts else ""


def _unresolved(view: View, page: Page) -> None:
    if not view.folds:
        return
    page.title("What cannot be said yet")
    for fold in view.folds[:_MOST]:
        page.rows([[page.text(f"{len(fold.shown):,}", "bold"), page.text(one_line(fold.reason), "bold")]], [3])
        places = ", ".join(one_line(shown.place, 60) for shown in fold.shown[:5])
        rest = f" and {count(len(fold.shown) - 5)} more" if len(fold.shown) > 5 else ""
        page.line(places + rest, indent=7)
        for said in fold.remedies:
            page.line("→ " + one_line(said), indent=7)
    page.more(min(_MOST, len(view.folds)), len(view.folds), "reasons")


def _scores(view: View, page: Page) -> None:
    from rich.padding import Padding
    from rich.table import Table

    rows = view.tables.models
    if not rows:
        return
    page.title("Scores")
    groups: dict[tuple[str, str], list[ModelRow]] = {}
    for row in rows[:_SCORES]:
        groups.setdefault((row.task, row.metric or "score"), []).append(row)
    for (task, metric), members in groups.items():
        page.line(f"{one_line(task)} · {one_line(metric, 80)}", "bold", 2)
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
        table.add_column("model", overflow="fold")
        for head in ("value [95% interval]", "no answer", "items"):
            table.add_column(head, justify="right", overflow="fold")
        for row in members:
            said = (one_line(row.model), _value(row), share(row.unparsed_share), count(row.n))
            table.add_row(*(page.text(text) for text in said))
        page.print(Padding(table, (0, 0, 0, 4), expand=False))
        for note in (note for row in members for note in _notes(row)):
            page.line(note, indent=4)
    page.more(min(_SCORES, len(rows)), len(rows), "scores")


def _value(row: ModelRow) -> str:
    text = quantity(row.value, row.low, row.high, row.unit)
    return text if row.level in (None, 0.95) else f"{text} at {level(row.level or 0.0)}"


def _notes(row: ModelRow) -> list[str]:
    """What changes how a score is read: the other denominator, a harness that disagrees, the row's own note."""
    name, notes = one_line(row.model, 80), []
    if _view.incomplete(row):
        over_all = quantity(row.value_expected, unit=row.unit)
        delivered = f"{count(row.delivered)} of {count(row.expected)} delivered"
        notes.append(f"{name}: {delivered}; {over_all} over all expected")
    if row.harness_value is not None and row.value is not None and abs(row.harness_value - row.value) > 1e-9:
        notes.append(f"{name}: the harness says {quantity(row.harness_value, unit=row.unit)}")
    return [*notes, f"{name}: {one_line(row.note)}"] if row.note else notes


def _runs(view: View, page: Page) -> None:
    odd = [row for row in view.tables.runs if _view.incomplete(row) or row.warnings or row.status != "complete"]
    if not view.tables.runs:
        return
    page.title("Runs")
    whole = len(view.tables.runs) - len(odd)
    page.line(f"{plural(len(view.tables.runs), 'run')}; {whole:,} complete and without a warning", indent=2)
    for row in odd[:_MOST]:
        expected = "an unknown number" if row.expected is None else count(row.expected)
        delivered = f"{count(row.delivered)} of {expected} delivered"
        status = one_line(row.status or "status unknown", 40)
        page.line(f"{one_line(row.model, 80)} · {one_line(row.task, 80)}: {status}, {delivered}", indent=2)
        for warning in row.warnings[:3]:
            page.line(one_line(warning), indent=4)
        page.more(min(3, len(row.warnings)), len(row.warnings), "warnings of this run")
    page.more(min(_MOST, len(odd)), len(odd), "runs")


def _failures(view: View, page: Page) -> None:
    failures = view.tables.failures
    if not failures:
        return
    page.title(f"{plural(len(failures), 'file')} could not be read")
    for row in failures[:_MOST]:
        page.line(one_line(row.path), "bold", 2)
        page.line(one_line(row.message), indent=4)
    page.more(min(_MOST, len(failures)), len(failures), "files")


def _footer(view: View, page: Page) -> None:
    page.print()
    seeds = ", ".join(str(seed) for seed in _view.seeds(view)[:5])
    parts = [f"Foreshock {one_line(view.document.foreshock, 40)}", one_line(view.document.generated_at, 40)]
    page.line(" · ".join([*parts, f"seed {seeds}"] if seeds else parts), "dim")
