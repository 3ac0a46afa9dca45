"""The report in a terminal: what a stranger needs in two minutes, at 80 columns, with or without colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foreshock.records import Document, Finding, State
from foreshock.report._alike import alike
from foreshock.report._console import Page
from foreshock.report._dimensions import print_dimensions
from foreshock.report._format import count, equals, level, plural, quantity
from foreshock.report._rows import LightRow, RunRow, TrustRow
from foreshock.report._rows_mirage import VerdictRow
from foreshock.report._safe import one_line
from foreshock.report._sentences import counts_sentence, headline, incomplete, rate_sentence
from foreshock.report._sentences import seeds as all_seeds
from foreshock.report._terminal_compare import print_compare, without_compared
from foreshock.report._terminal_forecast import print_alarms, print_forecasts, told_forecasts
from foreshock.report._terminal_mirage import print_conditions, print_details, print_families, print_predictions
from foreshock.report._terminal_scores import print_scores
from foreshock.report._view import View, load
from foreshock.report._words import GLOSSARY, MEANING, OPENING, STATUS, is_command, mark

if TYPE_CHECKING:
    from rich.console import Console

_FULL_CARDS = 6  # more tasks than this, and only the lights that are not ok are printed
_MOST = 20  # findings, tasks, runs or files that a part prints in full
_LONG = 4_000  # characters of advice or of a command; a sentence that is cut helps nobody
_IN_FULL = 3  # verdicts of one word that are told with all that stands behind them; "nothing there" only in fewer
_PLACES = 5  # lines that a reason names
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
    page.line(headline(view), "bold")
    if view.about_responses:
        page.line(counts_sentence(view.document.counts), "dim")
    scores = (print_scores, print_dimensions)
    print_compare(view, page)
    view = without_compared(view).without(told_forecasts(view))
    jumps = (_verdicts, print_families, print_conditions, _findings, _unresolved, print_predictions)
    for part in (_opening, _trust, print_forecasts, *jumps, print_alarms, *scores, _runs, _failures, _footer):
        part(view, page)
        page.explain()


def _opening(view: View, page: Page) -> None:
    if not view.tables.opening:
        return
    page.title("With these logs")
    rows = []
    for kind, label in OPENING.items():
        said = [row for row in view.tables.opening if row.kind == kind]
        for i, row in enumerate(said):
            rows.append([page.text(label if i == 0 else "", "bold"), page.text(one_line(row.text, _LONG))])
            if row.do:
                do = one_line(row.do, _LONG)
                rows.append([page.text(""), page.text(f"$ {do}" if is_command(do) else do, "bold")])
    page.rows(rows, [10])


def _trust(view: View, page: Page) -> None:
    if not view.trust:
        return
    page.title("Can the scores be trusted?")
    said: set[tuple[str, str]] = set()
    if len(view.trust) <= _FULL_CARDS:
        for row in view.trust:
            page.line(one_line(row.task), "bold", 2)
            again = [name for name, light in row.lights.items() if _again(name, light, said)]
            _lights([(name, light) for name, light in row.lights.items() if name not in again], page)
            if again:
                page.line(f"{mark('no-data').word}, as above: {', '.join(one_line(n, 40) for n in again)}", "dim", 4)
            said |= {(name, light.text) for name, light in row.lights.items()}
        return
    groups = alike(view.trust)
    for rows in groups[:_MOST]:
        _group(rows, page, said)
    page.more(min(_MOST, len(groups)), len(groups), "groups of tasks")


def _again(name: str, light: LightRow, said: set[tuple[str, str]]) -> bool:
    """Whether a light that cannot be judged says what one of a card before it said."""
    return light.state.value == "no-data" and (name, light.text) in said


def _group(rows: Sequence[TrustRow], page: Page, before: set[tuple[str, str]]) -> None:
    """Tasks whose lights are alike: their names, the lights in one sentence, and what is said of all of them."""
    names = ", ".join(one_line(row.task, 60) for row in rows[:3]) + (", …" if len(rows) > 3 else "")
    page.line(names if len(rows) == 1 else f"{plural(len(rows), 'task')}: {names}", "bold", 2)
    first = rows[0].lights
    words: dict[str, list[str]] = {}
    for name, light in first.items():
        words.setdefault(mark(light.state.value).word, []).append(one_line(name, 40))
    page.line("; ".join(f"{word}: {', '.join(named)}" for word, named in words.items()), indent=4)
    said = [(name, light) for name, light in first.items() if light.state.value != "ok"]
    shared = [(n, light) for n, light in said if all(row.lights[n].text == light.text for row in rows)]
    # the line above names the lights; a sentence that stood there already is not said again
    _lights([(name, light) for name, light in shared if not _again(name, light, before)], page)
    before |= {(name, light.text) for name, light in shared}


def _lights(lights: Sequence[tuple[str, LightRow]], page: Page) -> None:
    if page.console.width < _NARROW:
        said = [(light.state.value, f"{one_line(name, 40)}: {one_line(light.text, _LONG)}") for name, light in lights]
        page.rows([[page.badge(state), page.text(text)] for state, text in said], [9], 4)
        return
    rows = [(page.badge(light.state.value), one_line(name, 40), one_line(light.text, _LONG)) for name, light in lights]
    page.rows([[badge, page.text(name), page.text(text)] for badge, name, text in rows], [9, 10], 4)


def _verdicts(view: View, page: Page) -> None:
    said = [row for row in view.verdicts if row.verdict != "unresolved"]
    if not said:
        return
    page.title("Is the jump real, or made by the metric?")
    common = view.level_of(said)
    shares = [view.share(row, common) for row in said[:_MOST]]
    if page.console.width < _NARROW:
        for row, carried in zip(said, shares, strict=False):
            place = " · ".join(one_line(part, 80) for part in (row.task, row.family) if part)
            page.rows([[page.badge(row.verdict), page.text(f"{place}: {carried}")]], [10])
    else:
        _verdict_table(said[:_MOST], shares, page)
    page.more(min(_MOST, len(said)), len(said), "verdicts")
    interval = "its interval" if common is None else f"its {level(common)} interval"
    page.line(f"share: {GLOSSARY['share']}; with {interval}", "dim", 2)
    page.explained.add("share")
    for word in dict.fromkeys(row.verdict for row in said):
        page.line(f"{one_line(word, 40)}: {MEANING.get(word, 'see the documentation')}", "dim", 2)


def _verdict_table(rows: Sequence[VerdictRow], shares: Sequence[str], page: Page) -> None:
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("verdict", no_wrap=True)
    table.add_column("task", overflow="fold")
    table.add_column("family", overflow="fold")
    for head in ("share", "models", "items"):
        table.add_column(head, justify="right", no_wrap=True)
    for row, carried in zip(rows, shares, strict=True):
        names = [page.text(one_line(name or "–", 80)) for name in (row.task, row.family)]
        numbers = [page.text(text) for text in (carried, count(row.points), count(row.items))]
        table.add_row(page.badge(row.verdict), *names, *numbers)
    page.print(Padding(table, (0, 0, 0, 2), expand=False))


def _findings(view: View, page: Page) -> None:
    if not view.told:
        return
    page.title("What can be said")
    said_above: set[str] = set()
    words = Counter[str]()
    for shown in view.told[:_MOST]:
        words[shown.word] += 1
        page.print()
        head = page.text("  ").append_text(page.badge(shown.word)).append_text(page.text("  " + one_line(shown.place)))
        page.print(head)
        page.line(one_line(shown.title, _LONG), "bold", 4)
        for said in _facts(shown.finding):
            if said not in said_above:
                page.line(said, indent=4)
            said_above |= {said} if said == rate_sentence(shown.finding) else set()
        # a document without trust cards is about jumps alone, and has room for all that stands behind a verdict
        many = len(view.told) > _IN_FULL and (shown.word == "smooth" or words[shown.word] > _IN_FULL)
        told = [detail for detail in shown.details if not (many and detail.text.startswith("cannot tell"))]
        print_details(told, page, brief=bool(view.trust) or many, said=said_above)
        advice = one_line(shown.finding.advice, _LONG)
        page.line("→ as above" if advice in said_above else "→ " + advice, indent=4)
        said_above.add(advice)
    if max(words.values()) > _IN_FULL and not view.trust:
        page.line("What stands behind the others is in --html and --json.", "dim", 2)
    page.more(min(_MOST, len(view.told)), len(view.told), "findings")


def _facts(finding: Finding) -> list[str]:
    facts = []
    if finding.effect:
        effect = finding.effect
        size = quantity(effect.value, effect.low, effect.high, effect.unit)
        interval = "" if effect.low is None or effect.high is None else f" ({level(effect.level)} interval)"
        p = "" if finding.p is None else f", {equals('p', finding.p)}"
        p += "" if finding.p is None or finding.q is None else f", {equals('q', finding.q)} over all lines"
        facts.append(f"{one_line(effect.name)}: {size}{interval}{p}")
    elif finding.p is not None:
        facts.append(equals("p", finding.p))
    if rate := rate_sentence(finding):
        facts.append(rate)
    if finding.state not in (State.FIRING, State.PENDING):
        return facts  # what does not flag needs no defence here; the page has it, and the null in full
    for status in ("possible", "unchecked", "ruled-out"):
        names = [one_line(a.name, 80) for a in finding.alternatives if a.status == status]
        if names:
            facts.append(f"{STATUS[status]}: {', '.join(names)}")
    return facts


def _unresolved(view: View, page: Page) -> None:
    if not view.folds:
        return
    page.title("What cannot be said yet")
    for fold in view.folds[:_MOST]:
        places = ", ".join(one_line(place, 80) for place in fold.places[:_PLACES])
        rest = f" and {count(len(fold.shown) - _PLACES)} more" if len(fold.shown) > _PLACES else ""
        page.line(f"{fold.subject}: {one_line(fold.reason)}", "bold", 2)
        page.line(f"{places}{rest}", indent=4)
        for said in fold.conditional[:_PLACES]:
            page.line(one_line(said, _LONG), "dim", 4)
        page.more(min(_PLACES, len(fold.conditional)), len(fold.conditional), "lines by token")
        for said in fold.remedies:
            page.line("→ " + one_line(said, _LONG), indent=4)
        if fold.command:
            page.line("$ " + one_line(fold.command, _LONG), "bold", 4)
    page.more(min(_MOST, len(view.folds)), len(view.folds), "reasons")


def _run_counts(rows: Sequence[RunRow]) -> str:
    """How many runs there are, ended well, and come with a notice; the last two are not the same thing."""
    whole = sum(row.status == "complete" and not incomplete(row) for row in rows)
    noted = sum(bool(row.warnings) for row in rows)
    told = "all complete" if whole == len(rows) else f"{whole:,} complete"
    return f"{plural(len(rows), 'run')}: {told}, {f'{noted:,} with a notice' if noted else 'none with a notice'}"


def _runs(view: View, page: Page) -> None:
    odd = [row for row in view.tables.runs if incomplete(row) or row.warnings or row.status != "complete"]
    if not view.tables.runs:
        return
    page.title("Runs")
    page.line(_run_counts(view.tables.runs), indent=2)
    for row in odd[:_MOST]:
        expected = "an unknown number" if row.expected is None else count(row.expected)
        delivered = f"{count(row.delivered)} of {expected} delivered"
        status = one_line(row.status or "status unknown", 40)
        page.line(f"{one_line(row.model, 80)} · {one_line(row.task, 80)}: {status}, {delivered}", indent=2)
        for warning in row.warnings[:3]:
            page.line(one_line(warning, _LONG), indent=4)
        page.more(min(3, len(row.warnings)), len(row.warnings), "warnings of this run")
    page.more(min(_MOST, len(odd)), len(odd), "runs")


def _failures(view: View, page: Page) -> None:
    failures = view.tables.failures
    if not failures:
        return
    page.title(f"{plural(len(failures), 'file')} could not be read")
    for row in failures[:_MOST]:
        page.line(one_line(row.path), "bold", 2)
        page.line(one_line(row.said, _LONG), indent=4)
    page.more(min(_MOST, len(failures)), len(failures), "files")


def _footer(view: View, page: Page) -> None:
    page.print()
    seeds = ", ".join(str(seed) for seed in all_seeds(view)[:5])
    parts = [f"Foreshock {one_line(view.document.foreshock, 40)}", one_line(view.document.generated_at, 40)]
    page.line(" · ".join([*parts, f"seed {seeds}"] if seeds else parts), "dim")
