"""How much more one interval rises than the smooth class allows, in units of its standard error.

Smooth class: on the link, no interval rises faster than ``ratio`` times the mean slope. For an interval that spans the
share w of the axis and takes the share d of the rise, the share carried by a break is S = (d - w) / (1 - w): what is
left of the rise, 1 - S, is spread evenly. "S is at most s" and "the interval is in the class" are both linear in the
points, so one contrast tests both: rise of the interval minus ``allowed_share`` times the whole rise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage._design import Design, Floats, contrasts, residual_makers, residual_variance

Bools = NDArray[np.bool_]

# a rise that is not this many standard errors from zero has no shares to speak of
RISE = 3.0
# the excess must be this many standard errors above zero also from two points before to two after. Chosen on power and
# false breaks together (8 points, 80% step at noise 1/13 of the rise; 10 points on a soft knee at noise 1/9 with one
# off by 4 standard deviations): 0 gives .955 and .089, 1 gives .962 and .044, 1.5 gives .959 and .026
LAST = 1.5


def allowed_share(design: Design, share: float | Floats, ratio: float) -> Floats:
    """Largest share of the rise that an interval may take without leaving the class or carrying more than ``share``.

    Returns:
        Shape (points - 1,), or (shares, points - 1) for several shares.

    Examples:
        >>> float(allowed_share(Design.of(range(9)), 0.25, 2.0)[0])
        0.34375
    """
    w = design.widths
    return np.maximum(ratio * w, w + np.multiply.outer(share, 1 - w))


class Prior(NamedTuple):
    """What other tasks of the family say about the noise of models on this one.

    Attributes:
        variance: Variance of one model about its curve, without item sampling.
        df: Degrees of freedom that this is worth beside the scatter of the line itself; may be infinite.
    """

    variance: float
    df: float


@dataclass(frozen=True, slots=True)
class Curves:
    """Series on a link with all that is known about their noise.

    Attributes:
        z: Points, rising with ability, shape (draws, points).
        design: Where they stand.
        sampling: Covariance of the points from item sampling, shape (points, points).
        within: Variance among replicates at each point, shape (draws, points), anything at points with one replicate;
            None when the design takes noise from residuals.
        prior: Noise of models as the other tasks of the family show it; None where nothing is known of it.
        base: The same series on the primary link, where noise of models is measured and alike at all points; None on
            that link itself.
        stretch: By how much this link stretches the primary one at each point, shape (points,); None with ``base``.
        about: Result of :func:`residual_variance`, where it is known already; else it is computed.
    """

    z: Floats
    design: Design
    sampling: Floats
    within: Floats | None = None
    prior: Prior | None = None
    base: Curves | None = None
    stretch: Floats | None = None
    about: Floats | None = None

    @property
    def rise(self) -> Floats:
        """Rise from the first point to the last, shape (draws, 1)."""
        return self.z[:, -1:] - self.z[:, :1]

    @property
    def df(self) -> float:
        """Degrees of freedom of the noise estimate."""
        if self.design.by_replicates or self.prior is None:
            return self.design.df
        return self.design.df + self.prior.df

    def item_part(self) -> Floats:
        """What item sampling alone puts into the scatter of one point, for a step at each interval in turn."""
        if not self.sampling.any():
            return np.zeros(self.design.points - 1)
        part: Floats = np.einsum("ipq,pq->i", residual_makers(self.design), self.sampling) / self.design.residual_df
        return part

    def scatter(self) -> Floats | None:
        """Variance of models about a smooth curve with a step at each interval, without what items make of it.

        Returns:
            Shape (draws, points - 1), maybe negative; None where noise comes from replicates at every point.
        """
        if self.design.by_replicates and not self.design.alone.any():
            return None
        if self.base is not None:
            return self.base.scatter()
        about = residual_variance(self.z, self.design) if self.about is None else self.about
        return about - self.item_part()

    def variance(self, c: Floats, scatter: Floats | None = None) -> Floats:
        """Variance of contrasts, by the noise estimate that belongs to each interval.

        From residuals: noise of models (scatter about the smooth curve less the part of items; weighed with what the
        other tasks of the family show, by degrees of freedom) plus the item sampling of exactly the points that the
        contrast uses, so a point at the floor or with few items counts with its own uncertainty. From replicates: the
        larger of pooled and local spread (seeds near a threshold are often bimodal there only), plus item sampling,
        which replicates share; where a point at either side of the interval stands alone, its noise was not measured
        and scatter counts as well.

        Args:
            c: Shape (..., points - 1, points), row i belonging to interval i.
            scatter: Result of :meth:`scatter`, when it is at hand.

        Returns:
            Shape (draws, points - 1), or (..., points - 1) for a single series.
        """
        items: Floats = np.einsum("...ip,pq,...iq->...i", c, self.sampling, c) if self.sampling.any() else np.zeros(1)
        own = self.scatter() if scatter is None else scatter
        if not self.design.by_replicates:
            assert own is not None
            return self._by_scatter(c, items, own)
        total = self._spread(c) + items
        return (
            total
            if own is None
            else np.where(self.design.alone, np.maximum(total, self._by_scatter(c, items, own)), total)
        )

    def _by_scatter(self, c: Floats, items: Floats, own: Floats) -> Floats:
        models = own
        if self.prior is not None:
            weight = 1.0 if np.isinf(self.prior.df) else self.prior.df / (self.prior.df + self.design.residual_df)
            models = weight * self.prior.variance + (1 - weight) * own
        # a fit that is exact leaves rounding only; the scale of z says what is tiny
        tiny = np.maximum(1e-12 * self.rise**2, 1e-300)
        stretched = c if self.stretch is None else c * self.stretch
        return np.asarray(np.maximum(models, tiny) * (stretched**2).sum(axis=-1) + items)

    def _spread(self, c: Floats) -> Floats:
        assert self.within is not None
        seeds = np.asarray(self.design.seeds, float)
        spread = np.where(seeds > 1, self.within, 0.0)
        pooled = (spread * (seeds - 1)).sum(axis=1, keepdims=True) / self.design.replicate_df
        # a point with one seed has no spread of its own and takes the pooled one
        local = np.where(seeds > 1, self.within, pooled)
        weights = c**2 / seeds
        near: Floats = local @ weights.swapaxes(-1, -2)
        larger: Floats = np.maximum(near if c.ndim == 2 else near[:, 0, :], pooled * weights.sum(axis=-1))
        return larger

    def rising(self, scatter: Floats | None = None) -> Bools:
        """Whether the whole rise is beyond noise, by the noise estimate of each interval; shape (draws, points - 1)."""
        ends = np.zeros((self.design.points - 1, self.design.points))
        ends[:, -1], ends[:, 0] = 1.0, -1.0
        return np.asarray(self.rise > RISE * np.sqrt(self.variance(ends, scatter)))

    def excess(self, share: float, ratio: float) -> Floats:
        """Excess of each interval over the class and over a break that carries ``share``, in standard errors.

        Returns:
            Shape (draws, points - 1); -inf where the interval spans so much of the axis that the class cannot be left
            in it, where the whole rise is not beyond noise, or where the excess does not last.
        """
        return self.excess_over(allowed_share(self.design, share, ratio))

    def excess_over(self, allowed: Floats) -> Floats:
        """Excess over given allowances, shape (points - 1,), or (grid, points - 1) for a single series."""
        scatter = self.scatter()
        error = np.sqrt(self.variance(contrasts(self.design.points, allowed), scatter))
        left = allowed * self.rise
        lasts = self.lasting() - left > LAST * error
        usable = self.rising(scatter) & (allowed < 1.0) & lasts
        return np.where(usable, (np.diff(self.z, axis=1) - left) / error, -np.inf)

    def lasting(self) -> Floats:
        """Rise of each interval that is not undone next door, shape (draws, points - 1).

        From the higher of the last two points before to the lower of the first two after: the way back from one model
        that is off is no break. A model that is off at the very end of the axis cannot be told from a step there; the
        verdict then says that it rests on one.
        """
        z = self.z
        before, after = z[:, :-1].copy(), z[:, 1:].copy()
        before[:, 1:] = np.maximum(before[:, 1:], z[:, :-2])
        after[:, :-1] = np.minimum(after[:, :-1], z[:, 2:])
        return after - before
