"""The hard metric seen through its link: what a smooth twin would have made of it.

The link has two constants, the same for all models: an offset (length of the answer, dependence inside an item) and a
slope. They are fitted on the observed pairs of twin and hard metric, so noise of the models, which moves both, drops
out. Three things follow: the counterfactual curve that a smooth twin gives (drawn, not judged), whether that curve is
sharp (leaves the smooth class on the hard metric's own scale), and whether the twin explains the jump at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foreshock.mirage._design import Design, Floats, smooth_fit
from foreshock.mirage._measures import Hard
from foreshock.stats import normal_quantile, percentile_interval

# at this share the twin fails to explain the largest jump of the hard metric
UNEXPLAINED = 0.25
_STEPS = 30


@dataclass(frozen=True, slots=True)
class Through:
    """Result of looking through the link.

    Attributes:
        curve: Hard metric that a smooth twin would give, shape (points,).
        low, high: 95% interval of ``curve``.
        observed: Steepest interval of the hard metric over its mean slope, on its own scale.
        steepest: The same of ``curve``.
        steepest_low: One-sided 95% lower bound of ``steepest``.
        unexplained: Share of the hard metric's largest jump that the twin's own movement does not give.
        unexplained_low: One-sided 95% lower bound of it, corrected for the choice of the largest jump.
    """

    curve: Floats
    low: Floats
    high: Floats
    observed: float
    steepest: float
    steepest_low: float
    unexplained: float
    unexplained_low: float

    def sharp(self, ratio: float) -> bool:
        """Whether both the observed hard metric and what a smooth twin makes of it leave the smooth class."""
        return self.observed > ratio and self.steepest_low > ratio


def look_through(
    hard: Floats, z: Floats, metric: Hard, design: Design, noise: float, rng: np.random.Generator
) -> Through:
    """Fit the link and draw the counterfactual.

    Args:
        hard: Mean of the hard metric, row 0 as observed, further rows joint bootstrap draws, shape (1 + draws, points).
        z: Twin on the link that belongs to the hard metric, in the same rows.
        metric: Hard metric.
        design: Where the points stand.
        noise: Standard deviation of one point on the link.
        rng: Source of randomness for the noise of models.
    """
    span = metric.ceiling - metric.chance
    share = np.clip((hard - metric.chance) / span, 0.0, 1.0)
    offset, slope = _fit(share, z, metric)
    shaken = z + noise * rng.standard_normal(z.shape) * (np.arange(z.shape[0]) > 0)[:, None]
    curve = metric.chance + span * _response(offset + slope * smooth_fit(shaken, design), metric)
    given = _response(offset + slope * z, metric) * span
    steep = _steepest(curve, design)
    left, left_low = _unexplained(hard, given)
    low, high = percentile_interval(curve[1:])
    return Through(
        curve=curve[0],
        low=np.minimum(low, curve[0]),
        high=np.maximum(high, curve[0]),
        observed=float(_steepest(hard[:1], design)[0]),
        steepest=float(steep[0]),
        steepest_low=float(np.quantile(steep[1:], 0.05)),
        unexplained=left,
        unexplained_low=left_low,
    )


def _unexplained(hard: Floats, given: Floats) -> tuple[float, float]:
    """Share of the largest jump that the twin does not give, with its lower bound.

    The largest of several noisy jumps is too large by selection; the bound is therefore Bonferroni's over intervals.
    """
    rises = np.diff(hard, axis=1)
    top = int(np.argmax(rises[0]))
    jump = rises[0, top]
    if jump <= 0:
        return 0.0, 0.0
    left = rises[:, top] - np.diff(given, axis=1)[:, top]
    quantile = normal_quantile(1 - 0.05 / rises.shape[1])
    return float(left[0] / jump), float((left[0] - quantile * left[1:].std()) / jump)


def _steepest(curve: Floats, design: Design) -> Floats:
    """Steepest interval over the mean slope; 0 where the whole does not rise."""
    rise = (curve[:, -1] - curve[:, 0])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(rise > 0, np.diff(curve, axis=1) / rise / design.widths, 0.0)
    return np.asarray(ratio.max(axis=1))


def _response(eta: Floats, metric: Hard) -> Floats:
    """Share of the span that the link gives."""
    with np.errstate(over="ignore"):
        if metric.link in ("all-of-N", "any-of-T"):
            return np.asarray(np.exp(-np.exp(-eta)))
        return np.asarray(0.5 * (1 + np.tanh(eta / 2)))


def _fit(share: Floats, z: Floats, metric: Hard) -> tuple[Floats, Floats]:
    """Offset and slope of the link for each row, by penalised Fisher scoring; shapes (rows, 1).

    The penalty (slope near 1, weight 1% of one point) matters only where the points alone would send the slope to
    infinity: a hard metric that is 0 up to some point and 1 from there on.
    """
    centre = z.mean(axis=1, keepdims=True)
    x = z - centre
    offset, slope = np.zeros((z.shape[0], 1)), np.ones((z.shape[0], 1))
    for _ in range(_STEPS):
        eta = np.clip(offset + slope * x, -30.0, 30.0)
        p = np.clip(_response(eta, metric), 1e-9, 1 - 1e-9)
        # derivative of the response: p(-log p) for the loss link, p(1-p) for log-odds
        rate = -p * np.log(p) if metric.link in ("all-of-N", "any-of-T") else p * (1 - p)
        rate = np.maximum(rate, 1e-9)
        weight = rate**2 / (p * (1 - p))
        score = rate * (share - p) / (p * (1 - p))
        g0, g1 = score.sum(axis=1), (score * x).sum(axis=1) - 0.01 * (slope[:, 0] - 1)
        h00, h01 = weight.sum(axis=1) + 1e-9, (weight * x).sum(axis=1)
        h11 = (weight * x**2).sum(axis=1) + 0.01
        det = np.maximum(h00 * h11 - h01**2, 1e-12)
        offset = offset + np.clip((h11 * g0 - h01 * g1) / det, -1.0, 1.0)[:, None]
        slope = slope + np.clip((h00 * g1 - h01 * g0) / det, -1.0, 1.0)[:, None]
    return offset - slope * centre, slope
