"""Products: an answer is right when all its tokens are, an item when all its parts are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from foreshock.mirage._argmax import chances, cut, places
from foreshock.mirage._beneath import Beneath, Response, response, shifts
from foreshock.mirage._constant import fit_constant
from foreshock.mirage._links import all_of, any_of
from foreshock.stats import loglog

if TYPE_CHECKING:
    from foreshock.mirage._design import Design, Floats
    from foreshock.mirage._measures import Hard, Twin
    from foreshock.stats import Link

# one answer that was thought impossible must not decide how all were decoded
_LEAST = 1e-3
_DEPENDENCE = np.linspace(0.0, 1.0, 51)
# parts of an answer whose number nobody stated, and attempts: natural logarithm
_PARTS = np.linspace(-1.0, 7.0, 41)
# spread over items, natural logarithm; the first stands for none
_SPREAD = np.linspace(-5.0, 5.0, 51)


def answers(
    beneath: Beneath, twin: Twin, metric: Hard, hard: Floats, z: Floats, design: Design
) -> tuple[Response, str]:
    """Exact match from the log-probability of every item's answer.

    The log-probability of a whole answer is the sum over its tokens, so exp of it is the chance of all of them whatever
    their number, when answers are sampled. Where only the mean per token is known and the number of tokens is not, one
    number for all items is estimated. Either way tokens may hang together: see :mod:`foreshock.mirage._links`. Answers
    that were decoded greedily are right where the log-probability is large enough (:func:`cut`); which of the two it
    was is what the items' own scores fit better.

    Args:
        beneath: Item scores.
        twin: The log-probability; ``tokens`` > 1 says that it is summed.
        metric: Hard metric with link all-of-N.
        hard: Share of the scale, row 0 as observed, further rows joint draws, shape (1 + draws, points).
        z: Observed twin on -log(-log p), shape (points,).
        design: Where the points stand.
    """
    loss = -beneath.twin / twin.tokens
    parts, tied, how = _constants(loss, twin, metric, hard)
    if _greedy(beneath, twin, _right(loss, parts, tied)):
        found = cut(beneath, twin, metric, loglog, z, design)
        if found is not None:
            return found
    moved = shifts(z)
    # the loss of every item is divided by the same number, and so is their mean: the shift of the mean is exact
    table = np.stack([_right(loss * math.exp(-s), parts, tied).mean(axis=1) for s in moved.tolist()], axis=1)
    return response(z, z[:, None] + moved, table, design), how


def _right(loss: Floats, parts: float, tied: float) -> Floats:
    """Chance that an answer is right, from the loss of one part."""
    whole: Floats = np.exp(-parts * loss)
    return (1 - tied) * whole + tied * np.exp(-loss) if tied else whole


def _constants(loss: Floats, twin: Twin, metric: Hard, hard: Floats) -> tuple[float, float, str]:
    """Number of parts, their dependence, and in words which of them was estimated and where."""
    parts = twin.tokens if twin.tokens > 1 else metric.parts
    if parts is None:
        found = fit_constant(lambda n: np.exp(-n * loss).mean(axis=1), _PARTS, hard, math.exp)
        return found.value, 0.0, f"product over {found.value:.3g} parts (estimated {_place(found.outside)})"
    whole, one = np.exp(-parts * loss).mean(axis=1), np.exp(-loss).mean(axis=1)
    tie = fit_constant(lambda d: (1 - d) * whole + d * one, _DEPENDENCE, hard)
    how = f"product over {parts:.3g} parts, dependence {tie.value:.2f} (estimated {_place(tie.outside)})"
    return parts, tie.value, how


def _greedy(beneath: Beneath, twin: Twin, sampled: Floats) -> bool:
    """Whether a curve in the log-probability fits right and wrong items better than their chances, by likelihood.

    Means over seeds or repeats count as so many right ones of as many.
    """
    curve = chances(places(beneath, twin), beneath.hard)(places(beneath, twin))

    def fit(p: Floats) -> float:
        held = np.clip(p, _LEAST, 1 - _LEAST)
        return float((beneath.hard * np.log(held) + (1 - beneath.hard) * np.log1p(-held)).sum())

    # the curve has two constants, the product one: what a constant gains by chance (Schwarz) does not count
    return fit(curve) - fit(sampled) > 0.5 * math.log(beneath.hard.size)


def rates(metric: Hard, link: Link, hard: Floats, z: Floats) -> tuple[Response, str]:
    """All of N parts, or one of T attempts, from the mean success of one, with one spread over items for all models.

    Args:
        metric: Hard metric; ``parts`` is N or T.
        link: Link that the twin is on.
        hard: As for :func:`answers`.
        z: Observed twin on ``link``, shape (points,).
    """
    parts = metric.parts
    assert parts is not None
    form = any_of if metric.link == "any-of-T" else all_of
    seen = link.inverse(z)

    def spread(v: float) -> float:
        return 0.0 if v <= _SPREAD[0] else math.exp(v)

    found = fit_constant(lambda r: form(seen, parts, r), _SPREAD, hard, spread)
    word = "one of {} attempts" if form is any_of else "all of {} parts"
    how = f"{word.format(parts)}, spread over items {found.value:.2g} (estimated {_place(found.outside)})"
    return lambda rows: form(link.inverse(rows), parts, found.value), how


def _place(outside: bool) -> str:
    return "outside the onset" if outside else "from all models: those outside the onset do not tell"
