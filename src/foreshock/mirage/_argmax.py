"""Choices and thresholds: an item is right when its margin is above zero, or its score above a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._beneath import Beneath, Response, response, shifts

if TYPE_CHECKING:
    from foreshock.mirage._design import Design, Floats
    from foreshock.mirage._measures import Hard, Twin
    from foreshock.stats import Link

# the hard metric is a cut through a twin that leaves fewer items on the wrong side than this share of what a constant
# guess would. It is looked at where they agree best, in a quarter of the models: where only some disagree, something
# happened to the scorer there, and a looser link would hide it
WRONG, AGREE = 0.25, 0.25
# models with fewer right or fewer wrong items than this agree with any cut
_BOTH = 5
# with fewer scores than this between 0 and 1 no shift moves items over a threshold one by one
LEVELS = 5
_ALIKE = "all shifted alike"
_LIKELIHOODS = ("choice_probability", "choice_margin")
_STEPS = 25

# chance that an item passes, from its place on the scale on which items shift
Pass = Callable[["Floats"], "Floats"]


def passing(
    beneath: Beneath, twin: Twin, metric: Hard, link: Link, z: Floats, design: Design
) -> tuple[Response, str] | None:
    """Share of items that pass when all items of a model move by the same amount.

    For choices the amount is a lead in nats over all other options: it moves the margin as well as the log-odds of the
    right option, exactly. For scores it is one on their log-odds; scores at the very ends do not move. The
    log-probability of an answer moves on the logarithm of its loss (greedy decoding).

    Args:
        beneath: Item scores.
        twin: Primary twin.
        metric: Hard metric with link argmax or threshold.
        link: Link that the twin is on.
        z: Observed twin on it, shape (points,).
        design: Where the points stand.

    Returns:
        The response in units of the scale, guessing included; None where there is nothing to shift item by item.
    """
    if metric.link == "argmax" and twin.kind in _LIKELIHOODS:
        if beneath.margin is None:
            return None
        passes, exact = _rule(beneath.margin, beneath, 0.0)
        how = "share of items with a margin above zero" if exact else "share of items by their margin"
        return _shifted(beneath, twin, (beneath.margin, passes), link, z, design), f"{how}, {_ALIKE}"
    return cut(beneath, twin, metric, link, z, design)


def cut(
    beneath: Beneath, twin: Twin, metric: Hard, link: Link, z: Floats, design: Design
) -> tuple[Response, str] | None:
    """Share of items whose twin is large enough; arguments as for :func:`passing`."""
    place = places(beneath, twin)
    if np.unique(place[np.isfinite(place)]).size < LEVELS:
        return None
    edge = _edge(twin, metric, place, beneath.hard)
    passes, exact = _rule(place, beneath, edge)
    how = f"share of items with {twin.name} from {_back(twin, edge):.3g}" if exact else f"share of items by {twin.name}"
    return _shifted(beneath, twin, (place, passes), link, z, design), f"{how}, {_ALIKE}"


def _rule(value: Floats, beneath: Beneath, edge: float) -> tuple[Pass, bool]:
    """The edge itself where it parts right items from wrong ones, else their chance by a logistic curve, one for all.

    Means over seeds or repeats are neither right nor wrong, and some scorers only follow what they look at.
    """
    right = beneath.hard > 0.5
    guess = np.minimum(right.sum(axis=1), (~right).sum(axis=1))
    wrong = ((value >= edge) != right).sum(axis=1) / np.maximum(guess, 1)
    both = guess >= _BOTH
    if beneath.binary and np.quantile(wrong[both] if both.any() else wrong, AGREE) <= WRONG:
        return lambda v: (v >= edge).astype(float), True
    return chances(value, beneath.hard), False


def chances(value: Floats, hard: Floats) -> Pass:
    """Chance that an item passes as a logistic curve of its value, fitted to all items of all models.

    Args:
        value: Values, shape (points, items), maybe infinite at the ends.
        hard: Share that passed, 0 to 1, same shape.
    """
    finite = value[np.isfinite(value)]
    centre, scale = float(finite.mean()), float(finite.std()) or 1.0

    def unit(v: Floats) -> Floats:
        return np.clip((v - centre) / scale, -8.0, 8.0)

    x, y = unit(value).ravel(), hard.ravel()
    constant, slope = 0.0, 1.0
    for _ in range(_STEPS):
        p = 0.5 * (1 + np.tanh((constant + slope * x) / 2))
        weight = p * (1 - p)
        # a hundredth of an item holds the slope where a cut would be perfect
        g0, g1 = float((y - p).sum()), float(((y - p) * x).sum()) - 0.01 * slope
        h00, h01, h11 = float(weight.sum()) + 1e-6, float((weight * x).sum()), float((weight * x**2).sum()) + 0.01
        det = max(h00 * h11 - h01**2, 1e-12)
        move = np.clip([(h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det], -3.0, 3.0)
        constant, slope = constant + float(move[0]), slope + float(move[1])
        if np.abs(move).max() < 1e-5:
            break
    return lambda v: np.asarray(0.5 * (1 + np.tanh((constant + slope * unit(v)) / 2)))


def _shifted(beneath: Beneath, twin: Twin, by: tuple[Floats, Pass], link: Link, z: Floats, design: Design) -> Response:
    """Response from the values by which items pass, and how."""
    value, passes = by
    place = places(beneath, twin)
    moved = shifts(z, 2.0)  # items at the ends of their scale do not count for its mean
    at = np.stack([twin.on(link, _mean(twin, place + s), beneath.items) for s in moved], axis=1)
    given = np.stack([passes(value + s).mean(axis=1) for s in moved], axis=1)
    return response(z, np.maximum.accumulate(at, axis=1), given, design)


def places(beneath: Beneath, twin: Twin) -> Floats:
    """Items on the scale on which they shift."""
    v = beneath.twin
    with np.errstate(divide="ignore"):
        if twin.kind == "choice_margin":
            return v
        if twin.kind == "gold_logprob":
            return np.asarray(-np.log(-v / twin.tokens))
        share = np.clip(v / twin.high, 0.0, 1.0)
        return np.asarray(np.log(share) - np.log1p(-share))


def _mean(twin: Twin, place: Floats) -> Floats:
    """Mean of the twin over items at these places, in the twin's own unit, shape (points,)."""
    if twin.kind == "choice_margin":
        return np.asarray(place.mean(axis=1))
    with np.errstate(over="ignore"):
        if twin.kind == "gold_logprob":
            return np.asarray(-twin.tokens * np.exp(-place).mean(axis=1))
        return np.asarray(twin.high * (0.5 * (1 + np.tanh(place / 2))).mean(axis=1))


def _edge(twin: Twin, metric: Hard, place: Floats, hard: Floats) -> float:
    """The threshold on the scale of the shift: as declared, else where it parts right from wrong best."""
    if metric.threshold is not None and twin.kind == "choice_margin":
        return metric.threshold
    if metric.threshold is not None and twin.kind == "gold_logprob":
        return math.inf if metric.threshold >= 0 else -math.log(-metric.threshold / twin.tokens)
    if metric.threshold is not None:
        share = metric.threshold / twin.high
        return math.inf if share >= 1 else -math.inf if share <= 0 else math.log(share) - math.log1p(-share)
    return split(place, hard > 0.5)[0]


def split(value: Floats, right: NDArray[np.bool_]) -> tuple[float, int]:
    """Where a cut parts right items from wrong ones best, and how many then lie on the wrong side.

    Examples:
        >>> split(np.array([3.0, 1.0, 4.0, 2.0]), np.array([True, False, True, False]))
        (2.5, 0)
    """
    order = np.argsort(value, axis=None, kind="stable")
    values, passed = value.ravel()[order], right.ravel()[order]
    # errors when everything from position k on passes: right ones before it, wrong ones from it on
    before = np.concatenate([[0], np.cumsum(passed)])
    wrong = before + np.count_nonzero(~passed) - np.concatenate([[0], np.cumsum(~passed)])
    k = int(wrong.argmin())
    at = values[0] if k == 0 else math.inf if k == values.size else (values[k - 1] + values[k]) / 2
    return float(at), int(wrong[k])


def _back(twin: Twin, edge: float) -> float:
    """A place in the twin's own unit."""
    return float(_mean(twin, np.array([[edge]]))[0])
