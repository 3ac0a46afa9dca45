"""Numeric closeness: how near the number in the answer is to the number in the target."""

from __future__ import annotations

import math
import re
from typing import Any

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, Inapplicable, metric

_NO_NUMBER = Inapplicable("no target is a number")
_PICKS = ("last", "first", "only")
_RUN = r"(?:\d[\d,_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<sign>[-+\u2212]?)[$\u20ac\u00a3]?(?:(?P<whole>\d+) (?=\d+/\d))?(?P<top>{_RUN})"
    rf"(?:/(?P<bottom>{_RUN}))?(?P<percent>\s?%)?"
)
_BARE = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3}){1,90}|[0-9]{1,300})(?:\.[0-9]{1,300})?")
_DIGIT = re.compile(r"\d")
_MORE = re.compile(r"\.\d")  # 1.2.3 is a version or a section; looked for afterwards, which keeps the search linear
_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:_\d+)+|\d+")
LIMIT = 100_000
"""Characters of an answer that are searched for numbers: the last ones, or the first when the first number counts."""


@metric(
    kind="continuous",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 1),
)
def numeric_closeness(*, pick: str = "last", choices: str = "refuse") -> Function:
    """1 - |a - t| / (|a| + |t|) for the number a in the answer and t in the target; 1 when both are 0.

    Symmetric and free of units: 1 when equal, 2/3 at a factor of 2, 0 for opposite signs. The best over the targets
    that are numbers counts; items without such a target are not applicable; an answer without a number is
    ``unparsed``. See :func:`parse_number` for what a number is.

    Args:
        pick: Which number of an answer with several counts: the ``last``, the ``first``, or ``only``: several numbers
            are then unparsed.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> numeric_closeness()({"answer": "about 1,000 m", "targets": ["500"]})
        0.6666666666666667
    """
    check_choices(choices)
    if pick not in _PICKS:
        raise MetricError(f"pick={pick!r} is unknown", expected=f"one of {', '.join(_PICKS)}")

    def score(response: Given) -> float | None:
        found = _close(response.answer, response.targets, pick)
        if isinstance(found, Inapplicable):
            raise found
        return found

    return score


@numeric_closeness.batch
def _batch(columns: Columns, *, pick: str, **_: Any) -> list[float | Inapplicable | None]:
    return [_close(a, ts, pick) for a, ts in zip(columns["answer"], columns["targets"], strict=True)]


def _close(answer: str, targets: list[str], pick: str) -> float | Inapplicable | None:
    wanted = [number for target in targets if (number := parse_number(target, "only")) is not None]
    if not wanted:
        return _NO_NUMBER
    given = parse_number(answer, pick)
    if given is None:
        return None
    return closeness(given, wanted[0]) if len(wanted) == 1 else max([closeness(given, target) for target in wanted])


def closeness(a: float, t: float) -> float:
    """Symmetric relative closeness 1 - |a - t| / (|a| + |t|), in [0, 1]; 1 when a equals t.

    Examples:
        >>> closeness(0, 0), closeness(1, 3), closeness(-1, 1)
        (1.0, 0.5, 0.0)
    """
    if a == t:
        return 1.0
    if max(abs(a), abs(t)) > 1e300:
        a, t = a / 4, t / 4  # the sum of two such numbers would overflow
    return 1 - abs(a - t) / (abs(a) + abs(t))


def parse_number(text: str, pick: str = "last") -> float | None:
    """The number in ``text``: digits with decimal point, thousands separators, fraction, percent, exponent, currency.

    ``1,234.5``, ``1_000``, ``-3``, ``2.5e-3``, ``3/4``, ``1 1/2`` and ``45%`` (0.45) are numbers. Commas that do not
    part groups of three (``3,14``) could mean several things, so such a number is not read, nor is ``1.2.3``. Digits
    that continue a word (``H2O``) are no number, and a minus right after a letter or digit (``5-3``) is a dash.

    Args:
        text: Where to look.
        pick: ``last``, ``first``, or ``only`` (None when there are several).

    Examples:
        >>> [parse_number(t) for t in ("1,234.5", "3/4", "1 1/2", "45%", "x = 3, y = 4", "3,14", "none")]
        [1234.5, 0.75, 1.5, 0.45, 4.0, None, None]
    """
    if _BARE.fullmatch(text):  # by the same rules, in a quarter of the time
        return float(text.replace(",", ""))
    text = text[:LIMIT] if pick == "first" else text[-LIMIT:]
    if not _DIGIT.search(text):
        return None
    matches = list(_NUMBER.finditer(text))
    if not matches or (pick == "only" and len(matches) > 1):
        return None
    return _read(matches[0 if pick == "first" else -1])


def _read(match: re.Match[str]) -> float | None:
    if _MORE.match(match.string, match.end()):
        return None
    top, bottom = _plain(match["top"]), _plain(match["bottom"] or "1")
    if top is None or not bottom:
        return None
    value = (float(match["whole"] or 0) + top / bottom) / (100 if match["percent"] else 1)
    return (-value if match["sign"] in ("-", "\u2212") else value) if math.isfinite(value) else None


def _plain(run: str) -> float | None:
    head = re.match(r"[\d,_]*", run)
    digits = head[0] if head else ""
    rest = run[len(digits) :]
    digits = digits if rest else digits.rstrip(",_")
    if digits and not _GROUPS.fullmatch(digits):
        return None
    return float(digits.replace(",", "").replace("_", "") + rest)
