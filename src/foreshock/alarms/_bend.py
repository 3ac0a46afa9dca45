"""Is what left the line a break of it, or a bend: could a smooth curve through all points tell it as well?

A gradual change of slope and a curve cannot be told apart by the points where they begin to matter, so the order is
fixed: a curve is believed first. A jump counts as a break where it tells the points better than a parabola, a kink
where it does so by far; once a change has lasted, a cubic is a candidate as well. "Better" is by the Bayesian
information criterion, in which the place of a change counts as a parameter (Schwarz 1978).

The margins were chosen on simulated series (two hundred to two thousand of each of fifteen kinds: lines with jumps or
kinks of several sizes and places, parabolas, saturating, exponential, sigmoid and wavy trends), before any real one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

JUMP_MARGIN = 0.0
"""By how much (BIC) a jump must be better than a curve to be a break."""

KINK_MARGIN = 6.0
"""The same for a kink, which a curve can follow."""

LASTED = 8
"""Points since a change from which on a cubic is a candidate: before that it follows the last few points alone."""

_LEAST = 6
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Bend:
    """Curvature of a series on the link.

    Attributes:
        p: Two-sided p-value of the quadratic term by the t-test about a parabola.
        direction: ``up`` where the slope grows along the axis, ``down`` where it falls.
        change: Change of the slope from the first place to the last, on the link per unit of the scale on which the
            axis is read.
        instead: Whether the trend left its line and a curve tells that as well as a break does.
    """

    p: float
    direction: str
    change: float
    instead: bool = False


class Shapes(NamedTuple):
    """How well each shape tells the points: BIC, lower is better, and where the best jump and kink begin."""

    line: float
    parabola: float
    cubic: float
    jump: float
    kink: float
    jump_at: int
    kink_at: int
    points: int

    @property
    def changed(self) -> bool:
        """Whether a change at one place tells the points better than a smooth curve."""
        lasted = self.points - self.began >= LASTED
        smooth = min(self.parabola, self.cubic) if lasted else self.parabola
        return self.jump < smooth - JUMP_MARGIN or self.kink < smooth - KINK_MARGIN

    @property
    def jumps(self) -> bool:
        """Whether the change is a jump rather than a kink: by how far each is beyond its margin."""
        return self.jump + JUMP_MARGIN <= self.kink + KINK_MARGIN

    @property
    def began(self) -> int:
        """Point at which the change begins."""
        return self.jump_at if self.jumps else self.kink_at


def shapes(z: Floats, x: Floats, root: Floats | None = None, first: int = 2) -> Shapes | None:
    """Fit line, parabola, cubic, and a line with a jump or a kink at the best place.

    Args:
        z: Scores on the link, shape (points,).
        x: Places on the scale on which the axis is read, shape (points,).
        root: Square roots of the weights of the points; None is equal.
        first: Point at which a change may begin at the earliest: the baseline has none.

    Returns:
        None below six points or three places.

    Examples:
        >>> x = np.arange(20.0)
        >>> noise = 0.3 * np.cos(9 * x)
        >>> shapes(noise + 3.0 * (x > 12), x).changed, shapes(noise + 0.05 * x**2, x).changed
        (True, False)
    """
    if z.size < _LEAST or np.unique(x).size < 4:
        return None
    weights = np.ones(z.size) if root is None else root
    smooth, jumps, kinks = _bases(x.tobytes(), weights.tobytes(), max(first, 2))
    y = z * weights
    left = y - smooth[1] @ (smooth[1].T @ y)
    squares = float(left @ left)
    found = [_bic(_squares(y, basis), z.size, basis.shape[1]) for basis in smooth[1:]]
    change = []
    for basis, places in (jumps, kinks):
        taken = (basis @ left) ** 2
        best = int(np.argmax(taken))
        change.append((_bic(max(squares - float(taken[best]), 0.0), z.size, 4), int(places[best])))
    (jump, jump_at), (kink, kink_at) = change
    return Shapes(found[0], found[1], found[2], jump, kink, jump_at, kink_at, z.size)


@functools.lru_cache(maxsize=128)
def _bases(
    x_bytes: bytes, root_bytes: bytes, first: int
) -> tuple[list[Floats], tuple[Floats, NDArray[np.intp]], tuple[Floats, NDArray[np.intp]]]:
    x, root = np.frombuffer(x_bytes), np.frombuffer(root_bytes)
    scaled = (x - x.mean()) / (np.ptp(x) or 1.0)
    smooth = [np.linalg.qr(np.vander(scaled, k, increasing=True) * root[:, None])[0] for k in (1, 2, 3, 4)]
    starts = np.arange(min(first, x.size - 1), x.size)
    # a kink starts between two points; at the place before it the new slope has done nothing yet
    jump = (x >= x[starts][:, None]) * root
    kink = np.clip(scaled - scaled[starts - 1][:, None], 0.0, None) * root
    return smooth, _apart(jump, smooth[1], starts), _apart(kink, smooth[1], starts)


def _apart(rows: Floats, basis: Floats, starts: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """Rows without their part along the line, of length 1; those that a line holds already are left out."""
    rest = rows - rows @ basis @ basis.T
    size = np.linalg.norm(rest, axis=1)
    kept = size > _TINY * max(float(size.max()), 1e-300)
    return rest[kept] / size[kept][:, None], starts[kept]


def _squares(y: Floats, basis: Floats) -> float:
    left = y - basis @ (basis.T @ y)
    return float(left @ left)


def _bic(squares: float, points: int, parameters: int) -> float:
    return points * float(np.log(max(squares, 1e-300) / points)) + parameters * float(np.log(points))


def curvature(z: Floats, x: Floats, root: Floats | None = None) -> Bend | None:
    """Test the quadratic term; None below five points or three places, or where a parabola fits without an error.

    Examples:
        >>> x = np.arange(12.0)
        >>> found = curvature(x**2 + np.cos(9 * x), x)
        >>> found.direction, found.p < 0.001
        ('up', True)
    """
    from scipy.special import stdtr

    if z.size < _LEAST - 1 or np.unique(x).size < 3:
        return None
    span = float(np.ptp(x))
    weights = np.ones(z.size) if root is None else root
    design = np.vander((x - x.mean()) / span, 3, increasing=True) * weights[:, None]
    q, r = np.linalg.qr(design)
    along = q.T @ (z * weights)
    left = z * weights - q @ along
    squares = float(left @ left)
    if squares <= 1e-20 * float((z * weights) @ (z * weights)):
        return None
    t = float(along[2] / np.sqrt(squares / (z.size - 3)) * np.sign(r[2, 2]))
    change = 2 * float(along[2] / r[2, 2]) / span
    return Bend(float(2 * stdtr(z.size - 3, -abs(t))), "up" if t > 0 else "down", change)
