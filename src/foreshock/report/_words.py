"""Words and marks of states and verdicts. Every mark has a shape and a word; colour only repeats them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from foreshock.report._rows_compare import CompareRow


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

ALARMS = {
    "metric-only": Mark("▲", "!", "metric only", "warn"),
    "twin undecided": Mark("■", "X", "twin undecided", "bad"),
    "muted": Mark("○", "?", "muted", "none"),
}
"""Verdicts and states of alarms that no other finding has."""

VERDICTS = {
    "break": Mark("■", "X", "break", "bad"),
    "mirage": Mark("▲", "!", "mirage", "warn"),
    "bend": Mark("◆", "~", "bend", "plain"),
    "smooth": Mark("✓", "+", "smooth", "good"),
    "unresolved": Mark("○", "?", "unresolved", "none"),
}

COMPARED = {
    "regression": Mark("■", "X", "regression", "bad"),
    "incomplete": Mark("◆", "!", "incomplete", "bad"),
    "improvement": Mark("▲", "+", "improvement", "good"),
    "no-difference": Mark("=", "=", "no difference", "good"),
    "undecided": Mark("○", "?", "undecided", "none"),
    "separated": Mark("✓", "+", "separated", "good"),
    "tied": Mark("○", "?", "tied", "none"),
}
"""Verdicts of comparisons, most pressing first."""

STANDINGS = {
    "crossed": Mark("■", "X", "crossed", "bad"),
    "at the line": Mark("◆", "~", "at the line", "warn"),
    "near": Mark("◆", "~", "near", "warn"),
    "later": Mark("◇", "*", "later", "plain"),
    "not in sight": Mark("✓", "+", "not in sight", "good"),
}
"""Where a score stands to a line, most pressing first."""

WHY_THERE = {"at": "asked for", "next": "the next place", "date": "asked for", "held-out": "kept from the forecast",
             "unscored": "a model without the score"}  # fmt: skip
"""How a place came to be forecast."""

ROUTES = {"direct": "by itself", "two-stage": "through its twin", "observational": "from its other scores"}
"""How a score was forecast."""

ANSWERS = {
    "supported": Mark("✓", "+", "supported", "plain"),
    "contradicted": Mark("◆", "~", "contradicted", "plain"),
    "cannot tell": Mark("○", "?", "cannot tell", "none"),
}
"""What data say to a prediction."""

MEANING = {
    "break": "the twin jumps too, so the jump is in the models, not in the metric",
    "mirage": "the hard metric jumps and its twin does not: the metric alone is enough to make the jump",
    "bend": "the slope changes, without a jump",
    "smooth": "there is no jump to explain",
    "unresolved": "these data cannot tell",
}

GLOSSARY = {
    "line of models": "models of one family, or checkpoints of one training run, put in order on one task",
    "twin": "a continuous metric of the same responses, which shows progress before an answer turns right",
    "share": "the part of the rise that a sudden step may carry: 0% is an even rise, 100% one single step",
    "window open": "no model has gone 80% of the way to the ceiling, so the end of the rise is not in the logs",
    "floor or ceiling": "models that answer almost nothing right, or almost everything; they cannot show a rise",
    "link": "the fixed curve that turns a twin's value into the score that the all-or-nothing metric should then show",
    "link gap": "the largest distance between that score and the one measured; near 0 the twin explains the scores",
    "bend": "the slope of the twin changes, and no single step carries the change",
    "q": "p adjusted for all lines told (Benjamini and Hochberg): among those with q below 0.05, about 5% are chance",
    "emergence score": "the whole change over the typical step between neighbours; read it by its p-value",
    "seeds": "repeated training runs that differ only in their random start",
    "false-alarm rate": "how often this is said where it is not so; measured on simulated worlds where it says so",
}

CODES = {
    "FS301": "Is the jump in the models, or made by the metric?",
    "FS302": "Do most tasks of a family jump at one model?",
    "FS401": "Did the trend of a metric break?",
    "FS402": "Does a trend bend without breaking?",
    "FS403": "Is a line of yours crossed, or near?",
    "FS404": "Why is there no forecast, or no alarm?",
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


# In prose a word may stand in the plural; "share" means ours only where it is one of a rise.
_PATTERNS = {
    "line of models": r"\blines? of models\b",
    "twin": r"\btwins?\b",
    "share": r"\bshares? of the (?:mean )?(?:rise|change)\b|\bcarr(?:y|ies)\b",
    "floor or ceiling": r"at floor or ceiling",
    "link": r"(?<!-)\blinks?\b(?! gap)",
    "bend": r"\bbends?\b",
    "q": r"\bq (?:=|<) ",
}


def used(text: str) -> list[str]:
    """Terms of the glossary that ``text`` uses, in the glossary's order.

    Examples:
        >>> used("two lines of models have no twin (window open)")
        ['line of models', 'twin', 'window open']
    """
    return [term for term in GLOSSARY if re.search(_PATTERNS.get(term, rf"\b{term}\b"), text)]


def of_compare(rows: Sequence[CompareRow]) -> list[str]:
    """Terms of the glossary that a report of comparisons needs."""
    return [*(["twin"] if any(row.twin for row in rows) else []), "false-alarm rate"]


def is_command(text: str) -> bool:
    """Whether ``text`` is to be typed; a sentence is not set as code.

    Examples:
        >>> is_command("lm_eval --tasks piqa"), is_command("Add one more size."), is_command("keep the responses")
        (True, False, False)
    """
    return not text.rstrip().endswith((".", "!")) and bool(re.search(r"(^|\s)--?\w|^foreshock\b|^\$ ", text))


def mark(word: str) -> Mark:
    """Mark of a state or verdict; words that this version does not know get a neutral one."""
    return (
        VERDICTS.get(word)
        or COMPARED.get(word)
        or STANDINGS.get(word)
        or ALARMS.get(word)
        or STATES.get(word)
        or ANSWERS.get(word)
        or Mark("◇", "*", word, "plain")
    )
