"""The first lines of a report: what these logs can answer, what they cannot, and what would change that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from foreshock._base import count_of
from foreshock.check._lines import Judged
from foreshock.records import Counts, Run, RunStatus

_SHOWN = 5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def opening(runs: Sequence[Run], judged: Sequence[Judged], metrics: Sequence[str], unread: int) -> list[dict[str, Any]]:
    """Rows of ``opening``: {kind: can | cannot | needs, text, do}."""
    rows = [_row("can", text) for text in _can(runs, judged, metrics)]
    rows += [_row("cannot", text) for text in _cannot(runs, judged, unread)]
    return rows + _needs(judged)


def _row(kind: str, text: str, do: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "text": text, "do": do}


def _can(runs: Sequence[Run], judged: Sequence[Judged], metrics: Sequence[str]) -> list[str]:
    total = Counts.total(run.counts for run in runs)
    tasks, models = {run.task for run in runs}, {run.model for run in runs}
    found = []
    if total.delivered:
        found.append(
            f"score {count_of(total.delivered, 'stored response')} of {count_of(len(models), 'model')} on "
            f"{count_of(len(tasks), 'task')} under {count_of(len(metrics), 'metric')}"
        )
    elif runs:
        found.append(f"show the logged totals of {count_of(len(models), 'model')} on {count_of(len(tasks), 'task')}")
    words = Counter(one.finding.verdict for one in judged)
    said = sum(words[word] for word in ("smooth", "mirage", "break"))
    if said:
        told = ", ".join(f"{words[word]} {word}" for word in ("break", "mirage", "smooth") if words[word])
        chance = one_line_rate(judged)
        by_chance = "" if chance is None else f" (by chance alone up to {chance * said:.1f} would be called a break)"
        found.append(f"give a verdict on {said} of {count_of(len(judged), 'line')} of models: {told}{by_chance}")
    return found


def one_line_rate(judged: Sequence[Judged]) -> float | None:
    """The stated false-alarm rate of one line; it holds for each line, not for a report of many."""
    stated = [one.finding.rate.stated for one in judged if one.finding.rate.stated is not None]
    return max(stated, default=None)


def _cannot(runs: Sequence[Run], judged: Sequence[Judged], unread: int) -> list[str]:
    found = []
    open_lines = [one for one in judged if one.finding.verdict == "unresolved"]
    if open_lines:
        share = len(open_lines) / len(judged)
        found.append(f"give a verdict on {len(open_lines):,} of {count_of(len(judged), 'line')} ({share:.0%} withheld)")
    unfinished = sum(run.status is not RunStatus.COMPLETE for run in runs)
    if unfinished:
        found.append(f"use {count_of(unfinished, 'unfinished run')} in lines of models")
    if unread:
        found.append(f"read {count_of(unread, 'file')}; the reasons are listed below")
    return found


def unresolved_rows(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Rows of ``unresolved``: lines that lack the same, in one row with the names of their tasks; most frequent first.

    ``advice`` is that of all of them; ``command``, where there is one, is complete for the first line, and the others
    have their own in the table ``verdicts``.
    """
    alike: dict[str, list[Judged]] = {}
    for one in judged:
        if one.finding.verdict == "unresolved":
            # lines that differ only in numbers lack the same
            alike.setdefault(_NUMBER.sub("…", _why(one)), []).append(one)
    ordered = sorted(alike.items(), key=lambda kv: (-len(kv[1]), kv[0]))
    return [
        {
            "reason": _in_common(ones),
            "lines": len(ones),
            "tasks": sorted({str(one.verdict["task"]) for one in ones}),
            "families": sorted({str(one.verdict["family"]) for one in ones}),
            "advice": ones[0].finding.advice,
            "command": ones[0].verdict.get("command"),
            "finding_ids": [one.finding.id for one in ones],
        }
        for _, ones in ordered
    ]


def _needs(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """What unresolved lines lack, most frequent first."""
    return [
        _row("needs", f"{count_of(row['lines'], 'line')} ({row['reason']}): {row['advice']}")
        for row in unresolved_rows(judged)[:_SHOWN]
    ]


def _why(one: Judged) -> str:
    """The reason without remarks: they stand in no verdict's way, and the remedy is the same."""
    return str(one.verdict["reason"]).removesuffix(f"; {one.verdict.get('remarks')}")


def _in_common(ones: Sequence[Judged]) -> str:
    """Their reason, with the remarks where these are all the same; where it differs in a number, the range of it."""
    reasons = [_why(one) for one in ones]
    places = iter(zip(*(_NUMBER.findall(reason) for reason in reasons), strict=True))
    reason = _NUMBER.sub(lambda _: _range(next(places)), reasons[0])
    remarks = {one.verdict.get("remarks") for one in ones}
    also = remarks.pop()
    return f"{reason}; {also}" if also and not remarks else reason


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted({*numbers}, key=lambda text: (len(text.partition(".")[0]), text))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
