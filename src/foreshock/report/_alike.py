"""Sentences and cards that differ in numbers only are told together."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from foreshock.report._format import plural
from foreshock.report._rows import TrustRow

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w.-]*\w)")  # not the digits of a name such as pythia-1.4b


def without_numbers(text: str) -> str:
    """A sentence with its numbers left out, and with nouns behind them in the singular, so that like goes to like.

    Examples:
        >>> without_numbers("0% to 57% of the rise; 1 point left out")
        '…% to …% of the rise; … point left out'
        >>> without_numbers("0% to 7% of the rise; 4 points left out")
        '…% to …% of the rise; … point left out'
    """
    return re.sub(r"(… \w+?)(?:s|\(s\))?\b(?!\w|\()", r"\1", _NUMBER.sub("…", text))


def common_text(texts: Sequence[str]) -> str:
    """What sentences that differ in numbers only have in common; where their numbers differ stands their range.

    Examples:
        >>> common_text(["0% to 86% of the rise", "0% to 57% of the rise"])
        '0% to 57–86% of the rise'
    """
    longest = max(texts, key=len)
    numbers = [_NUMBER.findall(text) for text in texts]
    if len({len(found) for found in numbers}) > 1:
        return longest
    places = iter(zip(*numbers, strict=True))
    return _NUMBER.sub(lambda _: _same(next(places)), longest)


def _same(numbers: Sequence[str]) -> str:
    ordered = sorted(set(numbers), key=lambda text: float(text.replace(",", "")) if text.count(".") < 2 else 0.0)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


def alike(rows: Sequence[TrustRow]) -> list[list[TrustRow]]:
    """Cards whose lights show the same states and, where they are not ok, say the same but for numbers."""
    groups: dict[tuple[tuple[str, str, str], ...], list[TrustRow]] = {}
    for row in rows:
        lights = ((name, light.state.value, light.text) for name, light in row.lights.items())
        key = tuple((name, state, "" if state == "ok" else without_numbers(text)) for name, state, text in lights)
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def together(rows: Sequence[TrustRow]) -> TrustRow:
    """One card for tasks whose cards are alike; numbers in which they differ are left out."""
    if len(rows) == 1:
        return rows[0]
    names = ", ".join(row.task for row in rows[:3]) + (", …" if len(rows) > 3 else "")
    lights = {}
    for name, light in rows[0].lights.items():
        texts = [row.lights[name].text for row in rows]
        same = len({without_numbers(text) for text in texts}) == 1
        text = common_text(texts) if same else "What it says differs from task to task."
        lights[name] = msgspec.structs.replace(light, text=text)
    return TrustRow(task=f"{plural(len(rows), 'task')}: {names}", lights=lights)
