"""Where the points of a series stand, and the arrays that follow from that alone.

Everything here depends on the design (positions, replicates, whether points are checkpoints of one run) and not on
scores, so it is computed once for all tasks of a model family.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# (points from which, terms): the smooth part when a break is to be denied or a smooth curve drawn; a curve that is not
# straight then does not count as noise (8 points, sigmoid as steep as 1.8 times the mean, noise .1: denied in .68 of
# worlds with one bend, in .97 with two). To say a break a line serves: what it wrongly takes for noise is on the safe
# side, and each spared degree of freedom counts (8 points, 80% step, noise .2: found in .88, in .73 with a parabola)
TERMS = ((8, 4), (0, 2))
# replicates serve as the measure of noise only from this many degrees of freedom
REPLICATE_DF = 3


_HUGE = 1e150


def places(x: ArrayLike, *, log: bool = False) -> Floats:
    """Where ascending axis values stand between the first and the last, from 0 to 1, to a ten-thousandth.

    Values that are closer than that stand at one place: no slope between them is known.

    Examples:
        >>> places([1, 10, 100], log=True).tolist(), places([1, 2, 1e9]).tolist(), places([5, 5]).tolist()
        ([0.0, 0.5, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0])
    """
    t = np.asarray(x, float)
    t = np.log(t) if log else t
    if t.size and np.abs(t).max() > _HUGE:
        t = t / np.abs(t).max()  # the difference of two such values may be infinite
    span = t[-1] - t[0] if t.size else 0.0
    return np.round((t - t[0]) / span, 4) if span > 0 else np.zeros(t.size)


@dataclass(frozen=True, slots=True)
class Design:
    """The points of one series.

    Attributes:
        position: Place of each point along the axis, from 0 to 1, ascending.
        seeds: Number of replicates at each point.
        chained: True for checkpoints of one run, whose noise may be autocorrelated.
        terms: Terms of the smooth part about which scatter is measured: 2 is a line, 4 a cubic, see :meth:`bent`.
    """

    position: tuple[float, ...]
    seeds: tuple[int, ...]
    chained: bool = False
    terms: int = 2

    @classmethod
    def of(cls, x: ArrayLike, seeds: ArrayLike | None = None, *, log: bool = False, chained: bool = False) -> Design:
        """Design of points at ascending axis values ``x``; rounded so that equal ladders share their calibration.

        Examples:
            >>> Design.of([1, 10, 100], log=True).position
            (0.0, 0.5, 1.0)
        """
        t = places(x, log=log)
        counts = np.ones(t.size, int) if seeds is None else np.asarray(seeds, int)
        return cls(tuple(map(float, t)), tuple(map(int, counts)), chained)

    @property
    def points(self) -> int:
        """Number of points."""
        return len(self.position)

    @property
    def widths(self) -> Floats:
        """Share of the axis that each interval between neighbours spans, shape (points - 1,)."""
        return np.diff(np.asarray(self.position))

    @property
    def replicate_df(self) -> int:
        """Degrees of freedom of the spread among replicates."""
        return int(sum(self.seeds) - len(self.seeds))

    @property
    def by_replicates(self) -> bool:
        """Whether noise is measured among replicates; otherwise from residuals."""
        return self.replicate_df >= REPLICATE_DF

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Intervals next to which a point has one replicate only, shape (points - 1,).

        Without enough points for scatter about a smooth curve none count: replicates are then all there is.
        """
        single = np.asarray(self.seeds) < 2
        return (single[1:] | single[:-1]) & (self.residual_df >= 1)

    @property
    def residual_df(self) -> int:
        """Degrees of freedom of scatter about a smooth curve with a step."""
        return self.points - self.terms - 1

    @property
    def df(self) -> int:
        """Degrees of freedom of the noise estimate."""
        if not self.by_replicates:
            return self.residual_df
        return min(self.replicate_df, self.residual_df) if self.alone.any() else self.replicate_df

    def bent(self) -> Design:
        """The design with a smooth part that may bend, where there are points enough for it."""
        return replace(self, terms=next(terms for least, terms in TERMS if self.points >= least))


@functools.lru_cache(maxsize=256)
def basis(design: Design) -> tuple[Floats, Floats]:
    """Orthonormal smooth terms, and each possible step made orthonormal to them.

    Returns:
        Shapes (points, terms) and (points - 1, points); row i of the second belongs to a step after point i, and is
        zero where the smooth terms already contain that step.
    """
    t = np.asarray(design.position)
    smooth, _ = np.linalg.qr(np.vander(t, design.terms, increasing=True))
    steps = (np.arange(t.size)[None, :] > np.arange(t.size - 1)[:, None]).astype(float)
    steps -= steps @ smooth @ smooth.T
    norms = np.linalg.norm(steps, axis=1, keepdims=True)
    return smooth, np.where(norms > 1e-8, steps / np.maximum(norms, 1e-8), 0.0)


@functools.lru_cache(maxsize=256)
def residual_makers(design: Design) -> Floats:
    """For each interval the projection that leaves scatter about a smooth curve with a step there.

    Returns:
        Shape (points - 1, points, points).
    """
    smooth, steps = basis(design)
    left: Floats = np.eye(design.points) - smooth @ smooth.T
    return np.asarray(left[None] - steps[:, :, None] * steps[:, None, :])


def contrasts(points: int, allowed: Floats) -> Floats:
    """Rise of each interval beyond the share ``allowed`` of the whole rise, as weights on the points.

    Returns:
        Shape (..., points - 1, points) for ``allowed`` of shape (..., points - 1).
    """
    rows = np.arange(points - 1)
    c = np.zeros((*allowed.shape, points))
    c[..., rows, rows + 1] += 1.0
    c[..., rows, rows] -= 1.0
    c[..., -1] -= allowed
    c[..., 0] += allowed
    return c


def residual_variance(z: Floats, design: Design) -> Floats:
    """Variance of one point about a smooth curve, allowing a step at each interval in turn.

    Leaving the step in means that a real break does not hide itself by inflating the noise, and fixing its place means
    that nothing is selected: at the interval of a true step the estimate is exactly chi-squared.

    Args:
        z: Shape (draws, points).
        design: Design with at least one degree of freedom.

    Returns:
        Shape (draws, points - 1).
    """
    smooth, steps = basis(design)
    squares = (z**2).sum(axis=1)
    about = squares - ((z @ smooth) ** 2).sum(axis=1)
    left = about[:, None] - (z @ steps.T) ** 2
    # cancellation leaves tiny negatives where the fit is exact; the scale of z sets what is tiny
    tiny = np.maximum(1e-13 * squares, 1e-300)[:, None]
    variance: Floats = np.maximum(left, tiny) / design.residual_df
    return variance


def smooth_fit(z: Floats, design: Design) -> Floats:
    """Least-squares smooth curve (a polynomial) through the points, shape of ``z`` (..., points)."""
    smooth, _ = basis(design)
    fitted: Floats = z @ smooth @ smooth.T
    return fitted
