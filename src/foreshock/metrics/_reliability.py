"""Reliability: does what is said with confidence p come true in a share p of cases?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from foreshock._base import MetricError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

BINNINGS = ("width", "mass")
_REACH = 12.0  # standard deviations beyond which a count adds nothing to a mean that a double can hold
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
    expected = np.array([expected_deviation(said[i:j]) for i, j in zip(first, last, strict=True)])
    alone = n == 1
    noise = np.where(alone, mean * (1 - mean), share * (1 - share) / np.maximum(n - 1, 1))
    return Reliability(said[first], said[last - 1], n, mean, share, np.abs(share - mean), expected / n, noise)


def expected_deviation(probabilities: NDArray[np.float64]) -> float:
    """E abs(S - E S) for S a sum of independent 0/1 draws with these probabilities, shape (n,), n >= 1; exact.

    The distribution of S is the product of n polynomials (1-p) + p z, multiplied pairwise by Fourier transforms, which
    takes of the order of n log(n)^2 operations.

    Examples:
        >>> import numpy as np
        >>> round(expected_deviation(np.array([0.5, 0.5])), 12)
        0.5
    """
    import numpy as np

    n = len(probabilities)
    size = 1 << (n - 1).bit_length()
    padded = np.zeros(size)
    padded[:n] = probabilities
    laws = np.stack([1 - padded, padded], axis=1)
    while len(laws) > 1:
        length = 2 * (laws.shape[1] - 1) + 1
        fourier = np.fft.rfft(laws, 2 * length, axis=1)
        laws = np.fft.irfft(fourier[::2] * fourier[1::2], 2 * length, axis=1)[:, :length]
    mean = float(probabilities.sum())
    spread = float(np.sqrt((probabilities * (1 - probabilities)).sum()))
    away = np.abs(np.arange(n + 1) - mean)
    near = away <= _REACH * spread + _SLACK
    # the transform leaves rounding errors of 1e-16 where the probability is 0
    return float((away * np.maximum(laws[0, : n + 1], 0.0))[near].sum())


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
