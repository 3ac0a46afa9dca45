"""Words and marks of states and verdicts. Every mark has a shape and a word; colour only repeats them."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """How a state looks.

    Attributes:
        glyph: One character with a shape of its own.
        ascii: The same for terminals that cannot show it.
        word: What stands beside it.
        tone: Colour class: good, warn, bad, none or plain.
    """

    glyph: str
    ascii: str
    word: str
    tone: str


STATES = {
    "ok": Mark("✓", "+", "ok", "good"),
    "warn": Mark("▲", "!", "warn", "warn"),
    "firing": Mark("■", "X", "firing", "bad"),
    "pending": Mark("◆", "~", "pending", "warn"),
    "no-data": Mark("○", "?", "no data", "none"),
    "withheld": Mark("○", "?", "withheld", "none"),
}

VERDICTS = {
    "break": Mark("■", "X", "break", "bad"),
    "mirage": Mark("▲", "!", "mirage", "warn"),
    "bend": Mark("◆", "~", "bend", "plain"),
    "smooth": Mark("✓", "+", "smooth", "good"),
    "unresolved": Mark("○", "?", "unresolved", "none"),
}

MEANING = {
    "break": "the twin jumps too, so the jump is in the models, not in the metric",
    "mirage": "the hard metric jumps and its twin does not: the metric makes the jump",
    "bend": "the slope changes, without a jump",
    "smooth": "there is no jump to explain",
    "unresolved": "these data cannot tell",
}

LIGHTS = {
    "delivered": "Did the answers arrive?",
    "metric": "Does the metric say what it seems to?",
    "resolution": "Are there enough items?",
    "headroom": "Is there room left to improve?",
    "comparable": "Were the runs made alike?",
    "trend": "Does the trend hold?",
}

OPENING = {"can": "You can", "cannot": "You cannot", "needs": "It needs"}

STATUS = {"ruled-out": "ruled out", "possible": "possible", "unchecked": "not checked"}


def mark(word: str) -> Mark:
    """Mark of a state or verdict; words that this version does not know get a neutral one."""
    return VERDICTS.get(word) or STATES.get(word) or Mark("◇", "*", word, "plain")
