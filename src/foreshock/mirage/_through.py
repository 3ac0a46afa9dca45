"""The hard metric seen through its link: what a smooth twin would have made of it.

The link is the same for all models, so noise of the models, which moves twin and hard metric alike, drops out. Three
things follow: the counterfactual curve that a smooth twin gives (drawn, not judged), whether that curve is sharp
(leaves the smooth class on the hard metric's own scale), and whether the twin explains the jump at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from foreshock.mirage._all_of import answers, rates
from foreshock.mirage._argmax import passing
from foreshock.mirage._beneath import Beneath, Response
from foreshock.mirage._design import Design, Floats, smooth_fit
from foreshock.mirage._links import links_for
from foreshock.mirage._measures import COUNTED, Hard, Twin
from foreshock.mirage._two import line, two_constants
from foreshock.stats import Link, normal_quantile, percentile_interval

# at this share the twin fails to explain the largest jump of the hard metric
UNEXPLAINED = 0.25


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
        how: The link in words: what it was made of and which constant was estimated.
    """

    curve: Floats
    low: Floats
    high: Floats
    observed: float
    steepest: float
    steepest_low: float
    unexplained: float
    unexplained_low: float
    how: str = ""

    def sharp(self, ratio: float) -> bool:
        """Whether both the observed hard metric and what a smooth twin makes of it leave the smooth class."""
        return self.observed > ratio and self.steepest_low > ratio


def look_through(  # noqa: PLR0913 - what is known of one line, gathered by its only caller
    hard: Floats,
    z: Floats,
    metric: Hard,
    design: Design,
    noise: float,
    rng: np.random.Generator,
    *,
    twin: Twin | None = None,
    beneath: Beneath | None = None,
) -> Through:
    """Fit the link and draw the counterfactual.

    Args:
        hard: Mean of the hard metric, row 0 as observed, further rows joint bootstrap draws, shape (1 + draws, points).
        z: Twin on the first of :func:`links_for`, in the same rows.
        metric: Hard metric.
        design: Where the points stand.
        noise: Standard deviation of one point on the link.
        rng: Source of randomness for the noise of models.
        twin: The twin; without it two constants are fitted on the metric's own link.
        beneath: Item scores; without them two constants are fitted where a form needs items.
    """
    respond, how = _respond(hard, z, metric, design, twin, beneath)
    shaken = z + noise * rng.standard_normal(z.shape) * (np.arange(z.shape[0]) > 0)[:, None]
    curve = respond(smooth_fit(shaken, design))
    given = respond(z)
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
        how=how,
    )


def _respond(
    hard: Floats, z: Floats, metric: Hard, design: Design, twin: Twin | None, beneath: Beneath | None
) -> tuple[Response, str]:
    """Hard metric as a function of the twin on its link, and in words how it was found.

    By the items where the link has a form for them, else by the mean with a known number of parts, else by two
    constants.
    """
    link = links_for(metric, twin)[0] if twin is not None else metric.primary
    if metric.link == "identity":
        return _linear(hard, z, link)
    span = metric.ceiling - metric.chance
    share = np.clip((hard - metric.chance) / span, 0.0, 1.0)
    found = None
    if twin is not None and beneath is not None and metric.link in ("argmax", "threshold"):
        found = passing(beneath, twin, metric, link, z[0], design)
        if found is not None:
            # guessing is in the items already: an option chosen by chance has a margin above zero
            cut, how = found
            return lambda rows: metric.ceiling * cut(rows), how
    if twin is not None and beneath is not None and metric.link == "all-of-N" and twin.kind == "gold_logprob":
        found = answers(beneath, twin, metric, share, z[0], design)
    elif twin is not None and metric.parts is not None and twin.kind in COUNTED:
        found = rates(metric, link, share, z[0])
    respond, how = found or two_constants(share, z, link)
    return lambda rows: metric.chance + span * respond(rows), how


def _linear(hard: Floats, z: Floats, link: Link) -> tuple[Response, str]:
    respond, how = line(hard, link.inverse(z))
    return lambda rows: respond(link.inverse(rows)), how


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
