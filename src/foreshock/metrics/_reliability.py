"""Reliability: does what is said with confidence p come true in a share p of cases?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from foreshock._base import MetricError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

BINNINGS = ("width", "mass")
_REACH = 12.0  # standard deviations beyond which a count adds nothing to a mean that a double can hold
_BLOCK = 64
_SLACK = 40.0  # and, for counts of small variance, whose tails are longer than the normal ones


class Reliability(NamedTuple):
    """A reliability table: the bins that hold something, by rising confidence. Every array has shape (bins,).

    Attributes:
        low, high: Smallest and largest confidence in the bin.
        n: Rows.
        confidence: Mean confidence.
        accuracy: Share that was right.
        gap: abs(accuracy - confidence).
        null_gap: Expected ``gap`` if every confidence were exactly the probability of being right.
        noise: Estimated variance of ``accuracy``: a(1-a)/(n-1); in bins of one row that of its confidence, c(1-c).
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.int64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    gap: NDArray[np.float64]
    null_gap: NDArray[np.float64]
    noise: NDArray[np.float64]


def reliability(confidence: ArrayLike, correct: ArrayLike, *, bins: int = 15, by: str = "width") -> Reliability:
    """Reliability table of predictions.

    Args:
        confidence: Stated probabilities of being right, in [0, 1], shape (n,), n >= 1.
        correct: 0 or 1, shape (n,).
        bins: Number of bins, from 1.
        by: ``width``: bins of equal width, [0, 1/bins), ..., the last one with 1; or ``mass``: bins of equally many
            rows, as far as equal confidences, which stay together, allow it.

    Returns:
        The table; it does not depend on the order of the rows.

    Raises:
        MetricError: An argument is out of its range.

    Examples:
        >>> table = reliability([0.9, 0.9, 0.2], [1, 0, 0], bins=2)
        >>> table.n.tolist(), table.confidence.tolist(), table.accuracy.tolist(), table.null_gap.round(2).tolist()
        ([1, 2], [0.2, 0.9], [0.0, 0.5], [0.32, 0.16])
    """
    import numpy as np

    said, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    _check(said, right, bins, by)
    order = np.lexsort((right, said))
    said, right = said[order], right[order]
    if by == "width":
        place = np.minimum((said * bins).astype(np.int64), bins - 1)
    else:
        starts = -(-np.arange(1, bins) * len(said) // bins)
        place = np.searchsorted(said[np.minimum(starts, len(said) - 1)], said, side="right")
    first = np.flatnonzero(np.r_[True, np.diff(place) > 0])
    last = np.r_[first[1:], len(said)]
    n = last - first
    mean, share = np.add.reduceat(said, first) / n, np.add.reduceat(right, first) / n
    expected = expected_deviations([said[i:j] for i, j in zip(first, last, strict=True)])
    alone = n == 1
    noise = np.where(alone, mean * (1 - mean), share * (1 - share) / np.maximum(n - 1, 1))
    return Reliability(said[first], said[last - 1], n, mean, share, np.abs(share - mean), expected / n, noise)


def expected_deviations(groups: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """E abs(S - E S) for S a sum of independent 0/1 draws, one for each group of probabilities; exact.

    The distribution of S is a product of n polynomials (1-p) + p z: blocks of them are multiplied one by one, those of
    all groups together, then the blocks pairwise by Fourier transforms, in all of the order of n log(n)^2 operations.

    Args:
        groups: Arrays of shape (n,), n >= 1.

    Examples:
        >>> import numpy as np
        >>> expected_deviations([np.array([0.5, 0.5]), np.array([1.0])]).tolist()
        [0.5, 0.0]
    """
    import numpy as np

    size = min(_BLOCK, max(map(len, groups)))
    blocks = [1 << (-(-len(group) // size) - 1).bit_length() for group in groups]
    starts = np.cumsum([0, *blocks])
    padded = np.zeros(starts[-1] * size)
    for group, start in zip(groups, starts[:-1] * size, strict=True):
        padded[start : start + len(group)] = group
    laws = _one_by_one(padded.reshape(-1, size))
    return np.array([_deviation(g, laws[i:j]) for g, i, j in zip(groups, starts[:-1], starts[1:], strict=True)])


def _deviation(probabilities: NDArray[np.float64], laws: NDArray[np.float64]) -> float:
    """Mean absolute deviation of the sum whose distribution is the product of ``laws``."""
    import numpy as np

    while len(laws) > 1:
        laws = _pairwise(laws)
    law = laws[0, : len(probabilities) + 1]
    away = np.abs(np.arange(len(law)) - probabilities.sum())
    near = away <= _REACH * np.sqrt((probabilities * (1 - probabilities)).sum()) + _SLACK
    # transforms leave rounding errors of 1e-16 where the probability is 0
    return float((away * np.maximum(law, 0.0))[near].sum())


def _one_by_one(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distributions of the sums over rows of an array of shape (m, b), as an array of shape (m, b + 1)."""
    import numpy as np

    rows, factors = probabilities.shape
    laws = np.zeros((rows, factors + 1))
    laws[:, 0] = 1.0
    for k in range(factors):
        p = probabilities[:, k : k + 1]
        laws[:, 1 : k + 2] = laws[:, 1 : k + 2] * (1 - p) + laws[:, : k + 1] * p
        laws[:, :1] *= 1 - p
    return laws


def _pairwise(laws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products of each two neighbours: shape (m, d + 1) to (m/2, 2d + 1), by transforms of length 2d."""
    import numpy as np

    degree = 2 * (laws.shape[1] - 1)
    fourier = np.fft.rfft(laws, degree, axis=1)
    product = np.fft.irfft(fourier[::2] * fourier[1::2], degree, axis=1)
    top = laws[::2, -1] * laws[1::2, -1]  # the one coefficient too many has gone round to place 0
    product[:, 0] -= top
    return np.column_stack([product, top])


def _check(said: NDArray[np.float64], right: NDArray[np.float64], bins: int, by: str) -> None:
    if said.ndim != 1 or said.shape != right.shape or not len(said):
        raise MetricError(f"shapes {said.shape} and {right.shape}", expected="two arrays of shape (n,), n at least 1")
    if not ((said >= 0) & (said <= 1)).all() or not ((right == 0) | (right == 1)).all():
        raise MetricError("a confidence outside [0, 1], or an outcome that is neither 0 nor 1")
    check_bins(bins, by)


def check_bins(bins: int, by: str) -> None:
    """Refuse a binning that there is not."""
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise MetricError(f"bins={bins!r}", expected="a whole number from 1")
    if by not in BINNINGS:
        raise MetricError(f"by={by!r} is unknown", expected=f"one of {', '.join(BINNINGS)}")
