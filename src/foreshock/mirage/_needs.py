"""What would have been enough: seeds, items or models between, for 80% power, by simulation of the same rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from foreshock.mirage._calibrate import critical, upper_quantile
from foreshock.mirage._design import Design, Floats, contrasts
from foreshock.mirage._excess import Curves
from foreshock.mirage._share import ALPHA, MAY, RATIO, SHARE

POWER = 0.8
# the step that must be found, and denied when there is none
STEP = 0.8
_DRAWS = 1000
_SEEDS = (2, 3, 5, 8)
_ITEMS = (2, 4, 8, 16, 32)
_MODELS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Enough:
    """What alone would bring 80% power; None where it would not within the range tried.

    Attributes:
        power: Power of the present design; where it is below 80%, at most this.
        seeds: Seeds per model (up to 8).
        items: Multiple of the present number of items (up to 32).
        models: Models in all, spread into the widest gaps (up to 8 more).
    """

    power: float
    seeds: int | None
    items: int | None
    models: int | None


def enough(design: Design, noise: float, item_noise: float, rise: float, interval: int) -> Enough:
    """Search for the least that would do.

    Power is the smaller of two chances: that a step carrying 80% of the rise in ``interval`` is called a break, and
    that a straight line is found not to hide one.

    Args:
        design: Present design.
        noise: Standard deviation of one point with one seed, item sampling included, on the link.
        item_noise: The part of ``noise`` that is item sampling.
        rise: Whole rise on the link, positive.
        interval: Where the step would be.
    """
    items = _coarse(min(item_noise, noise) / rise)
    models = _coarse(np.sqrt(max(noise**2 - item_noise**2, 0.0)) / rise)
    place = float(np.mean(design.position[interval : interval + 2]))
    at = functools.partial(power, place=_coarse(place))
    return Enough(
        power=at(design, models, items),
        seeds=_first(
            _SEEDS,
            lambda r: at(Design(design.position, (r,) * design.points, design.chained), models, items),
            max(design.seeds),
        ),
        items=_first(_ITEMS, lambda k: at(design, models, items / float(np.sqrt(k)))),
        models=_first(
            tuple(design.points + k for k in _MODELS), lambda n: at(_refined(design, n), models, items), design.points
        ),
    )


def _first(candidates: tuple[int, ...], reach: Callable[[int], float], beyond: int = 0) -> int | None:
    return next((k for k in candidates if k > beyond and reach(k) >= POWER), None)


def _coarse(x: float) -> float:
    """Two significant digits, so that similar tasks share their simulation."""
    return float(f"{x:.1e}")


def _refined(design: Design, points: int) -> Design:
    """The design with models added in the middle of its widest gaps."""
    place, seeds = list(design.position), list(design.seeds)
    while len(place) < points:
        i = int(np.argmax(np.diff(place)))
        place.insert(i + 1, round((place[i] + place[i + 1]) / 2, 4))
        seeds.insert(i + 1, min(seeds))
    return Design(tuple(place), tuple(seeds), design.chained)


@functools.lru_cache(maxsize=1024)
def power(design: Design, models: float, items: float, place: float) -> float:
    """Smaller chance of the two right answers, see :func:`enough`; an upper bound of it when below 80%.

    Args:
        design: Design to try.
        models: Standard deviation between single models over the rise.
        items: Standard deviation from item sampling over the rise.
        place: Where on the axis (0 to 1) the step would be.
    """
    if design.df < 1:
        return 0.0
    t = np.asarray(design.position)
    step = 1.0 * (np.arange(t.size) > np.searchsorted(t[1:-1], place))
    line = _draw(design, t, models, items)
    w = design.widths
    even = np.where(w * RATIO < 1.0, w, 0.0)
    c = contrasts(t.size, even + MAY * (1 - even))
    far = (line.z @ c.T) / np.sqrt(line.variance(c)) < -upper_quantile(design, ALPHA)
    denied = float((far.all(axis=1) & line.rising().all(axis=1)).mean())
    if denied < POWER:
        return denied  # the other half needs a calibration of its own: .5 s for a new design, and cannot help
    broken = _draw(design, (1 - STEP) * t + STEP * step, models, items)
    found = broken.excess(SHARE, RATIO).max(axis=1) > critical(design, SHARE, RATIO, ALPHA)
    return min(float(found.mean()), denied)


def _draw(design: Design, curve: Floats, models: float, items: float) -> Curves:
    rng = np.random.default_rng([7, design.points, *design.seeds])
    seeds = np.asarray(design.seeds, float)
    shape = (_DRAWS, design.points)
    z = curve + models / np.sqrt(seeds) * rng.standard_normal(shape) + items * rng.standard_normal(shape)
    within = None
    if design.by_replicates:
        free = np.maximum(seeds - 1, 1)
        within = models**2 * rng.chisquare(free, shape) / free
    return Curves(z, design, np.eye(design.points) * items**2, within)
