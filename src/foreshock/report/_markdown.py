"""The report as Markdown, for the step summary of a CI job or a comment."""

from __future__ import annotations

import re

from foreshock.records import Document
from foreshock.report._compare_markdown import compare_parts
from foreshock.report._details import family_sentence, prediction_sentence, told_families
from foreshock.report._forecast import told_elsewhere
from foreshock.report._forecast_markdown import alarm_parts, forecast_parts
from foreshock.report._format import MISSING, count, equals, level, plural, quantity
from foreshock.report._markdown_text import safe, table
from foreshock.report._safe import one_line
from foreshock.report._sentences import counts_sentence, headline, rate_sentence
from foreshock.report._view import Fold, Shown, View, load
from foreshock.report._words import GLOSSARY, OPENING, is_command, mark, used

_MOST = 50  # rows of a part; a step summary may have 1 MiB
_LONG = 4_000  # characters of advice or of a command


def markdown(document: Document) -> str:
    """The report as GitHub-flavoured Markdown: opening, trust, verdicts, findings, what is unresolved, counts."""
    view = load(document)
    counts = safe(counts_sentence(view.document.counts)) if view.about_responses else ""
    parts = [f"## {safe(headline(view))}", counts]
    parts += compare_parts(view.tables)
    parts += forecast_parts(view.tables)
    view = view.without(told_elsewhere(view.tables))
    parts += [*_opening(view), *_trust(view), *_verdicts(view)]
    parts += [_finding(shown) for shown in view.told[:_MOST]]
    if len(view.told) > _MOST:
        parts.append(f"{_MOST} of {count(len(view.told))} findings shown.")
    parts += _families(view)
    parts += alarm_parts(view.tables)
    parts += [_fold(fold) for fold in view.folds[:_MOST]]
    parts += _predictions(view)
    parts += _failures(view)
    parts += _words("\n".join(parts))
    return "\n\n".join(part for part in parts if part) + "\n"


def _words(text: str) -> list[str]:
    """What the words of the glossary mean that ``text`` uses."""
    lines = [f"- {term}: {safe(GLOSSARY[term])}" for term in used(text)]
    return ["<details><summary>Words</summary>", *(["\n".join(lines)]), "</details>"] if lines else []


def _step(do: str | None) -> str:
    """What would help: a command as code, a sentence as a sentence."""
    if not do:
        return ""
    return f"\n\n{_code(do) if is_command(do) else safe(do, _LONG)}"


def _code(text: str) -> str:
    """A command as a code block; its fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{one_line(text, _LONG)}\n{fence}"


def _badge(word: str) -> str:
    return f"{mark(word).glyph} {safe(mark(word).word, 40)}"


def _opening(view: View) -> list[str]:
    parts = []
    for kind, label in OPENING.items():
        rows = [row for row in view.tables.opening if row.kind == kind]
        parts += [f"**{label}** {safe(row.text, _LONG)}{_step(row.do)}" for row in rows[:_MOST]]
    return parts


def _trust(view: View) -> list[str]:
    names = list(dict.fromkeys(name for row in view.trust for name in row.lights))
    if not names:
        return []
    rows = []
    for row in view.trust[:_MOST]:
        lights = [row.lights.get(name) for name in names]
        rows.append([safe(row.task, 80), *(_badge(light.state.value) if light else MISSING for light in lights)])
    more = f"\n\n{_MOST} of {count(len(view.trust))} tasks shown." if len(view.trust) > _MOST else ""
    return ["### Can the scores be trusted?", table(["task", *(safe(name, 40) for name in names)], rows) + more]


def _verdicts(view: View) -> list[str]:
    said = [row for row in view.verdicts if row.verdict != "unresolved"]
    if not said:
        return []
    common = view.level_of(said)
    share = "share of the rise that a break may carry" + (f", {level(common)} interval" if common is not None else "")
    head = ["verdict", "task", "family", share, "models", "items", "reason"]
    rows = [
        [
            _badge(v.verdict),
            safe(v.task, 80),
            safe(v.family, 80),
            view.share(v, common),
            count(v.points),
            count(v.items),
            safe(v.reason, 200),
        ]
        for v in said[:_MOST]
    ]
    more = f"\n\n{_MOST} of {count(len(said))} verdicts shown." if len(said) > _MOST else ""
    return ["### Is the jump real, or made by the metric?", table(head, rows) + more]


def _finding(shown: Shown) -> str:
    finding = shown.finding
    lines = [f"#### {_badge(shown.word)}: {safe(shown.title, _LONG)}"]
    if finding.effect:
        effect = finding.effect
        size = quantity(effect.value, effect.low, effect.high, effect.unit)
        p = f", {equals('p', finding.p)}" if finding.p is not None else ""
        interval = "" if effect.low is None or effect.high is None else f" ({level(effect.level)} interval)"
        lines.append(f"{safe(effect.name)}: {safe(size)}{interval}{p}")
    if rate := rate_sentence(finding):
        lines.append(safe(rate))
    lines.append(f"{safe(finding.advice, _LONG)} ({safe(finding.code, 20)}, {safe(finding.id, 40)})")
    if shown.details:
        lines.append(_details(shown))
    return "\n\n".join(lines)


def _details(shown: Shown) -> str:
    """What stands behind a verdict, folded."""
    lines = [f"- {safe(detail.label, 40)}: {safe(detail.text, _LONG)}" for detail in shown.details]
    return "<details><summary>What stands behind it</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def _families(view: View) -> list[str]:
    lines = []
    for row in told_families(view.tables.families)[:_MOST]:
        name = " by ".join(safe(part, 80) for part in (row.family, row.axis) if part)
        lines.append(f"- **{name}**: {safe(family_sentence(row), _LONG)}")
    return ["### Do the tasks of a family move together?", "\n".join(lines)] if lines else []


def _predictions(view: View) -> list[str]:
    rows = [
        [_badge(row.answer), safe(row.said or row.name, 300), safe(prediction_sentence(row), 600)]
        for row in view.tables.predictions[:_MOST]
    ]
    head = ["answer", "prediction", "what these data say"]
    return ["### What was predicted, and what these data say", table(head, rows)] if rows else []


def _fold(fold: Fold) -> str:
    """One line for all findings of a reason; it opens to what they are and what would help."""
    places = ", ".join(safe(shown.place, 160) for shown in fold.shown[:_MOST])
    more = f" and {count(len(fold.shown) - _MOST)} more" if len(fold.shown) > _MOST else ""
    lines = [f"- {safe(said, _LONG)}" for said in (*fold.conditional[:_MOST], *fold.remedies)]
    command = f"\n\n{_code(fold.command)}" if fold.command else ""
    summary = f"{fold.subject}: {safe(fold.reason, _LONG)}"
    body = f"{places}{more}\n\n" + "\n".join(lines) + command
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _failures(view: View) -> list[str]:
    failures = view.tables.failures
    if not failures:
        return []
    lines = [f"- {safe(row.path)}: {safe(row.said, _LONG)}" for row in failures[:_MOST]]
    return [f"### {plural(len(failures), 'file')} could not be read", "\n".join(lines)]
