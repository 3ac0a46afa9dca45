"""Exact match of answers of known length, read as if every token were right or wrong alone.

If all L tokens of an answer are equally hard and independent, exact match is the L-th power of the share of right
tokens, and its L-th root is that share. Nothing new is measured: on -log(-log p) the root is the exact match moved by
log L, so a break or a smooth curve is the same for every L, and only log-odds tell lengths apart. What comes out is
therefore told as conditional on the assumption. It never makes a verdict, least of all ``mirage``, which would need a
measurement of the tokens that does not come from the exact match itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from foreshock._base import MetricError
from foreshock.mirage._entry import Entry
from foreshock.mirage._family import judge_family
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._totals import entry_of_totals, totals_lack
from foreshock.series import Point, Series
from foreshock.stats import clopper_pearson

# fewer right answers than these say nothing about a rate on a link
_COUNTED = 5
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Conditional:
    """What exact match says of tokens under the assumption of equal, independent ones.

    Attributes:
        said: ``smooth``, ``break`` or ``cannot tell``: how the per-token share would be judged; never a verdict.
        length: Tokens of an answer.
        share_low, share_high: Bounds of the share of its rise that a break carries; None where not reached.
        text: One sentence with its condition.
    """

    said: Literal["smooth", "break", "cannot tell"]
    length: float
    share_low: float | None
    share_high: float | None
    text: str

    def row(self) -> dict[str, Any]:
        """Columns beside a verdict."""
        return {
            "length": self.length,
            "conditional": self.said,
            "conditional_low": self.share_low,
            "conditional_high": self.share_high,
            "conditional_text": self.text,
        }


def from_length(series: Series, length: float) -> Series:
    """The L-th root of exact match as a series of its own; a score of exactly 0 stays 0, see :func:`length_rows`.

    Standard errors follow by the delta method; there is none at a score of 0, where the root is not smooth.

    Args:
        series: Totals of exact match in [0, 1].
        length: Tokens of an answer, from 1.

    Raises:
        MetricError: ``length`` is below 1 or not finite, or a total is no share.
    """
    _check(series, length)
    root = 1 / length

    def point(p: Point) -> Point:
        error = root * p.value ** (root - 1) * p.stderr if p.stderr is not None and p.value > 0 else None
        return replace(p, value=p.value**root, stderr=error, replicates=tuple(r**root for r in p.replicates))

    return replace(
        series,
        metric=f"{series.metric}^(1/{length:g})",
        points=tuple(point(p) for p in series.points),
        source=f"{series.source}; as if each of {length:g} tokens were right or wrong alone",
    )


def length_rows(series: Series, length: float) -> list[dict[str, Any]]:
    """Per-token share of right tokens that each total stands for, with floor and exact interval.

    Returns:
        One row per point: ``label``, ``x``, ``exact`` (the total), ``value`` (its L-th root; None at 0), ``low``,
        ``high`` (95%, roots of the exact interval; None without a number of items), ``n``, ``floor`` (root of 1/n, the
        least above 0 that can be seen: .38 for 5 tokens on 128 items) and ``at_floor`` (nothing was right).

    Examples:
        >>> points = (Point("a", 1.0, 0.0, None, 128, "r"), Point("b", 2.0, 0.5, None, 128, "s"))
        >>> rows = length_rows(Series("sums", "m", "exact_match", "step", True, False, points, "table"), 5)
        >>> [(r["value"], round(r["high"], 2), round(r["floor"], 2)) for r in rows][0], round(rows[1]["value"], 2)
        ((None, 0.49, 0.38), 0.87)
    """
    _check(series, length)
    root, rows = 1 / length, []
    for p in series.points:
        low, high = clopper_pearson(p.value * p.n, p.n) if p.n else (None, None)
        rows.append(
            {
                "label": p.label,
                "x": p.x,
                "exact": p.value,
                "value": p.value**root if p.value > 0 else None,
                "low": None if low is None else float(low) ** root,
                "high": None if high is None else float(high) ** root,
                "n": p.n,
                "floor": (1 / p.n) ** root if p.n else None,
                "at_floor": p.value == 0,
            }
        )
    return rows


def _check(series: Series, length: float) -> None:
    if not (np.isfinite(length) and 1 <= length <= _LONGEST):
        raise MetricError(f"a length of {length:g} tokens", expected=f"a number from 1 to {_LONGEST:,}")
    for p in series.points:
        if not 0 <= p.value <= 1:
            raise MetricError(
                f"{series.metric} of {p.value:g} at {p.label} is no share of right answers",
                expected="exact match from 0 to 1",
                do="give the largest score of the file's scale: foreshock add --scale 100",
            )


def judge_length(series: Series, length: float, *, seed: int = 0) -> Conditional:
    """How the per-token share would be judged if all tokens were equal and independent.

    The points before the first with five right answers are left out: below, the root is the number of items and nothing
    else.

    Args:
        series: Totals of exact match in [0, 1].
        length: Tokens of an answer.
        seed: Seed of the draws.

    Raises:
        MetricError: As :func:`from_length`.
    """
    _check(series, length)
    if lacking := totals_lack(series, None):
        return _unable(length, "; ".join(lacking))
    entry = entry_of_totals(series, None, seed=seed)
    counted = [i for i, p in enumerate(series.points) if p.value * (p.n or entry.items or 0) >= _COUNTED]
    if not counted:
        return _unable(length, f"no model has {_COUNTED} right answers")
    judged = judge_family([_rooted(series, entry, counted[0], length)], seed=seed).judgements[0]
    share, other = judged.share, judged.other
    if judged.verdict == "unresolved" or share is None or other is None:
        return _unable(length, judged.reason)
    word: Literal["smooth", "break"] = "break" if judged.verdict == "break" else "smooth"
    low, high = min(share.low, other.low), share.high
    bounds = f"at least {low:.0%}" if word == "break" else f"at most {high:.0%}"
    text = f"{_condition(length)} the share of right tokens has {_SAID[word]}: a break carries {bounds} of its rise"
    return Conditional(word, length, low, high, text)


_SAID = {"smooth": "no break", "break": "a break"}


def _condition(length: float) -> str:
    return f"only if all {length:g} tokens are equally hard and independent,"


def _unable(length: float, why: str) -> Conditional:
    return Conditional(
        "cannot tell", length, None, None, f"{_condition(length)} and even then it cannot be told: {why}"
    )


def _rooted(series: Series, entry: Entry, first: int, length: float) -> Entry:
    """Exact match beside its own root as a twin, from the first point that counts."""
    assert entry.draws is not None
    panel, n = entry.panel, max(entry.items or 1, 1)
    hard = entry.draws[series.metric][:, first:]
    name = f"{series.metric}^(1/{length:g})"
    rows = np.log(np.clip(hard, 0.5 / n, 1 - 0.5 / n)) / length
    return replace(
        entry,
        panel=replace(panel, points=panel.points[first:], x=panel.x[first:], runs=panel.runs[first:], replicates={}),
        hard=Hard(series.metric, "all-of-N", binary=entry.hard.binary),
        twins=(Twin(name, "gold_logprob"),),
        draws={series.metric: hard, name: rows},
        remarks=(),
    )
