"""Jumps in a terminal: what stands behind each verdict, what families share, what was predicted."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.report._console import Page
from foreshock.report._details import (
    Detail,
    condition_sentence,
    family_sentence,
    prediction_sentence,
    told_families,
)
from foreshock.report._rows_mirage import PredictionRow
from foreshock.report._safe import one_line
from foreshock.report._view import View

_MOST = 20
_LONG = 2_000
_LABEL = 15
_KINDS = 3
_NAMES = 3
_NARROW = 60
# what a reader of the whole report needs beside a verdict; the command about jumps prints all of it
_BRIEF = ("foreseeable",)


def print_details(found: Sequence[Detail], page: Page, *, brief: bool, said: set[str] | None = None) -> None:
    """Print what stands behind a verdict.

    Args:
        found: The facts.
        page: Where to.
        brief: Whether to leave out what only a doubter asks for.
        said: What was said of verdicts above; it is named and not said again. What is printed here is added.
    """
    rows = [_shorter(detail) for detail in found if not brief or detail.label in _BRIEF]
    if said is not None:
        texts = {detail.label: f"{detail.label}: {detail.text}" for detail in rows}
        again = [label for label, text in texts.items() if text in said]
        rows = [detail for detail in rows if detail.label not in again]
        said |= set(texts.values())
        rows += [Detail("as above", ", ".join(again))] if again else []
    if page.console.width < _NARROW:
        for detail in rows:
            page.line(f"{detail.label}: {one_line(detail.text, _LONG)}", indent=4)
        return
    page.rows([[page.text(d.label, "dim"), page.text(one_line(d.text, _LONG))] for d in rows], [_LABEL], 4)


def _shorter(detail: Detail) -> Detail:
    """The order of twins down to the first few; the page and the JSON have it whole."""
    head, colon, names = detail.text.partition("fixed beforehand: ")
    kinds = names.split(", ")
    if detail.label != "twin" or len(kinds) <= _KINDS:
        return detail
    return detail._replace(text=f"{head}{colon}{', '.join(kinds[:_KINDS])}, …")


def print_families(view: View, page: Page) -> None:
    """Print what tasks of one family tell of each other."""
    rows = told_families(view.tables.families)
    if not rows:
        return
    page.title("Do the tasks of a family move together?")
    for row in rows[:_MOST]:
        name = " by ".join(one_line(part, 80) for part in (row.family, row.axis) if part)
        filtered = f" [{one_line(row.variant, 60)}]" if row.variant else ""
        page.line(f"{name}{filtered}: {one_line(family_sentence(row), _LONG)}", indent=2)
    page.more(min(_MOST, len(rows)), len(rows), "families")


def print_conditions(view: View, page: Page) -> None:
    """Print what conditions add, one sentence for each line of models."""
    rows = view.tables.conditions
    if not rows:
        return
    page.title("What do conditions add?")
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        name = " · ".join(one_line(part, 80) for part in (row.task.partition(" [")[0], row.family) if part)
        alike.setdefault((row.verdict, condition_sentence(row)), []).append(name)
    for (verdict, sentence), names in list(alike.items())[:_MOST]:
        told = ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES:,} more" if len(names) > _NAMES else "")
        page.rows([[page.badge(verdict), page.text(f"{one_line(sentence, _LONG)}: {told}")]], [12])
    page.more(min(_MOST, len(alike)), len(alike), "kinds of differences")


def print_predictions(view: View, page: Page) -> None:
    """Print predictions that the data speak to; the others by name only."""
    rows = view.tables.predictions
    told = [row for row in rows if row.answer != "cannot tell"]
    if not rows:
        return
    page.title("What was predicted, and what these data say")
    page.rows([[page.badge(row.answer), page.text(_prediction(row))] for row in told[:_MOST]], [14])
    page.more(min(_MOST, len(told)), len(told), "predictions")
    silent = [one_line(row.name, 80) for row in rows if row.answer == "cannot tell"]
    if silent:
        page.line(f"cannot be told from these data: {'; '.join(silent[:_MOST])}", "dim", 2)


def _prediction(row: PredictionRow) -> str:
    source = f" ({one_line(row.source, 80)})" if row.source else ""
    return f"{one_line(row.said or row.name, 300)}{source} {one_line(prediction_sentence(row), _LONG)}"
