"""Choices and thresholds: an item is right when its margin is above zero, or its score above a threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._beneath import Beneath, Response, response, shifts

if TYPE_CHECKING:
    from foreshock.mirage._design import Design, Floats
    from foreshock.mirage._measures import Hard, Twin
    from foreshock.stats import Link

# with more items than this on the wrong side the hard metric is not a cut through this twin. It is looked at where they
# agree best, in a quarter of the models: where only some models disagree, something happened to the scorer there, and a
# looser link would hide it
WRONG, AGREE = 0.05, 0.25
# with fewer scores than this between 0 and 1 no shift moves items over a threshold one by one
LEVELS = 5
_ALIKE = "all shifted alike"
_LIKELIHOODS = ("choice_probability", "choice_margin")


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
        The response in units of the scale, guessing included; None where the items are not cut by this twin.
    """
    if metric.link == "argmax" and twin.kind in _LIKELIHOODS:
        if beneath.margin is None or not beneath.binary:
            return None
        respond = _shifted(beneath, twin, (beneath.margin, 0.0), link, z, design)
        return (respond, f"share of items with a margin above zero, {_ALIKE}") if respond else None
    return cut(beneath, twin, metric, link, z, design)


def cut(
    beneath: Beneath, twin: Twin, metric: Hard, link: Link, z: Floats, design: Design
) -> tuple[Response, str] | None:
    """Share of items whose twin is large enough; arguments as for :func:`passing`."""
    place = _places(beneath, twin)
    if not beneath.binary or np.unique(place[np.isfinite(place)]).size < LEVELS:
        return None
    edge = _edge(twin, metric, place, beneath.hard)
    respond = _shifted(beneath, twin, (place, edge), link, z, design)
    return (respond, f"share of items with {twin.name} from {_back(twin, edge):.3g}, {_ALIKE}") if respond else None


def _shifted(
    beneath: Beneath, twin: Twin, by: tuple[Floats, float], link: Link, z: Floats, design: Design
) -> Response | None:
    """Response from cutting ``by`` at its edge; None where that does not part right items from wrong ones."""
    value, edge = by
    wrong = ((value >= edge) != (beneath.hard > 0.5)).mean(axis=1)
    if np.quantile(wrong, AGREE) > WRONG:
        return None
    place = _places(beneath, twin)
    moved = shifts(z, 2.0)  # items at the ends of their scale do not count for its mean
    at = np.stack([twin.on(link, _mean(twin, place + s), beneath.items) for s in moved], axis=1)
    given = np.stack([(value + s >= edge).mean(axis=1) for s in moved], axis=1)
    return response(z, np.maximum.accumulate(at, axis=1), given, design)


def _places(beneath: Beneath, twin: Twin) -> Floats:
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
