"""What would have been enough: seeds, items or models between, for 80% power, by simulation of the same rule."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from foreshock.mirage._calibrate import critical
from foreshock.mirage._design import Design, Floats
from foreshock.mirage._excess import Curves, Prior
from foreshock.mirage._share import ALPHA, MAY, RATIO, SHARE, Share, denied

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


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of one point with one seed over the rise of the series, on one link.

    Attributes:
        models: The part that differs between models.
        items: The part that is item sampling.
        df: Degrees of freedom to which other tasks of the family know the first part; 0 where nothing is known.
    """

    models: float
    items: float
    df: float = 0.0

    @classmethod
    def of(cls, share: Share, item_noise: float, design: Design, df: float = 0.0) -> Noise:
        """From what a series has shown; two digits, so that similar tasks share their simulation."""
        items = min(item_noise, share.noise)
        single = (share.noise**2 - items**2) * float(np.mean(design.seeds))
        return cls(_coarse(np.sqrt(single) / share.rise), _coarse(items / share.rise), df)

    def with_items(self, times: int) -> Noise:
        """The noise with so many times the items."""
        return replace(self, items=self.items / float(np.sqrt(times)))


def enough(design: Design, primary: Noise, links: Sequence[Noise], interval: int) -> Enough:
    """Search for the least that would do.

    Power is the smaller of two chances: that a step carrying 80% of the rise in ``interval`` is called a break on all
    links, and that a straight line is found not to hide one on the primary link. The noise of a short series is itself
    uncertain; what is enough is therefore an estimate.

    Args:
        design: Present design.
        primary: Noise on the primary link.
        links: Noise on all links.
        interval: Where the step would be.
    """
    place = _coarse(float(np.mean(design.position[interval : interval + 2])))
    # a break must hold on all links: the noisiest one decides whether it is found
    worse = max(links, key=lambda n: n.models**2 + n.items**2)

    def at(trial: Design, times: int = 1) -> float:
        return power(trial, primary.with_items(times), worse.with_items(times), place)

    return Enough(
        power=at(design),
        seeds=_first(_SEEDS, lambda r: at(replace(design, seeds=(r,) * design.points)), max(design.seeds)),
        items=_first(_ITEMS, lambda k: at(design, k)),
        models=_first(tuple(design.points + k for k in _MODELS), lambda n: at(_refined(design, n)), design.points),
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
def power(design: Design, primary: Noise, worse: Noise, place: float) -> float:
    """Smaller chance of the two right answers, see :func:`enough`; an upper bound of it when below 80%.

    Args:
        design: Design to try.
        primary: Noise on the link on which a break must be denied.
        worse: Noise on the link on which it is harder to find.
        place: Where on the axis (0 to 1) the step would be.
    """
    if design.df < 1:
        return 0.0
    t = np.asarray(design.position)
    ruled_out = float(denied(_draw(design, t, primary), MAY).mean())
    if ruled_out < POWER:
        return ruled_out  # the other half needs a calibration of its own: .5 s for a new design, and cannot help
    step = 1.0 * (np.arange(t.size) > np.searchsorted(t[1:-1], place))
    broken = _draw(design, (1 - STEP) * t + STEP * step, worse)
    found = broken.excess(SHARE, RATIO).max(axis=1) > critical(design, SHARE, RATIO, ALPHA, worse.df)
    return min(float(found.mean()), ruled_out)


def _draw(design: Design, curve: Floats, noise: Noise) -> Curves:
    rng = np.random.default_rng([7, design.points, *design.seeds])
    seeds = np.asarray(design.seeds, float)
    shape = (_DRAWS, design.points)
    z = curve + noise.models / np.sqrt(seeds) * rng.standard_normal(shape) + noise.items * rng.standard_normal(shape)
    within = None
    if design.by_replicates:
        free = np.maximum(seeds - 1, 1)
        within = noise.models**2 * rng.chisquare(free, shape) / free
    prior = Prior(noise.models**2, noise.df) if noise.df > 0 else None
    return Curves(z, design, np.eye(design.points) * noise.items**2, within, prior)
