"""Scaling curves whose truth is known: a score that falls along an axis, seen up to a point and held out beyond it.

The prior is written down here and nowhere else. All of it is in natural logs of axis and score, where a power law is a
straight line:

- *shape* (:data:`SCALING_KINDS`): a power law onto a floor, the same with a shifted start, the sigmoidal law of
  Alabdulmohsin et al. 2022 (M4), smoothly broken power laws with one to three breaks (Caballero et al. 2023), a rise
  between two falls, a plateau before a late fall, a slow fall that turns sharply, saturation, and no movement at all;
- *span*: 1 to 9 nats of history (a factor of 3 to 8,000); the held-out part reaches .1 to 3 nats further (a factor of
  1.1 to 20), never further than the history is long;
- *slope* .03 to 1 per nat, *floor* 0 or a share of what is left at the end of the history;
- *breaks* anywhere between the first seen and the last held-out point: some lie ahead and cannot be foreseen;
- *grid*: even in the log, even in x, or random; 4 to 80 points seen;
- *noise* of .0005 to .05 in the log, or of one size in the score itself; normal, or Student's t with 4 degrees of
  freedom in a fifth of the curves; autocorrelated in a fifth; an outlier in a hundred points of a tenth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shape = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class ScalingCurve:
    """One simulated curve.

    Attributes:
        kind: Its shape, one of :data:`SCALING_KINDS`.
        x: Places seen, ascending, above 0, shape (points,).
        y: Noisy scores there, above 0; lower is better.
        ahead_x: Held-out places beyond the last seen one, ascending, shape (held out,).
        ahead_y: Noisy scores there.
        truth: Scores there without noise.
        noise: Standard deviation of the noise in log y at the last seen point.
    """

    kind: str
    x: Floats
    y: Floats
    ahead_x: Floats
    ahead_y: Floats
    truth: Floats
    noise: float


def scaling_curve(rng: np.random.Generator, kind: str | None = None) -> ScalingCurve:
    """Draw a curve from the prior.

    Args:
        rng: Source of randomness.
        kind: Shape; drawn with the weights of :data:`SCALING_KINDS` where not given.

    Raises:
        ValueError: There is no such kind.

    Examples:
        >>> drawn = scaling_curve(np.random.default_rng(0), "power law")
        >>> drawn.kind, bool((drawn.ahead_x > drawn.x[-1]).all()), bool((drawn.y > 0).all())
        ('power law', True, True)
    """
    if kind is None:
        weights = np.array([weight for weight, _ in _KINDS.values()])
        kind = str(rng.choice(list(_KINDS), p=weights / weights.sum()))
    if kind not in _KINDS:
        raise ValueError(f"{kind!r} is no kind of scaling curve; there are {', '.join(_KINDS)}")
    span = _log_uniform(rng, 1.0, 9.0)
    reach = min(_log_uniform(rng, 0.1, 3.0), span)
    seen, ahead = _grid(rng, span, reach)
    shape = _KINDS[kind][1](rng, span, reach)
    t = np.concatenate([seen, ahead])
    # up to 10,000-fold differences of scale and unit mean nothing, and nothing may depend on them
    clean = shape(t) + rng.uniform(np.log(0.1), np.log(10.0))
    error, size = _noise(rng, clean, seen.size)
    x, y = np.exp(t + rng.uniform(0.0, 20.0)), np.exp(clean + error)
    n = seen.size
    return ScalingCurve(kind, x[:n], y[:n], x[n:], y[n:], np.exp(clean[n:]), size)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _grid(rng: np.random.Generator, span: float, reach: float) -> tuple[Floats, Floats]:
    """Places seen, from ``-span`` to 0, and held out, from just above 0 to ``reach``, in log x."""
    points, held_out = int(_log_uniform(rng, 4, 81)), int(rng.integers(1, 13))
    way = rng.choice(["log", "linear", "random"], p=[0.5, 0.25, 0.25])
    if way == "log":
        return np.linspace(-span, 0.0, points), np.linspace(0.0, reach, held_out + 1)[1:]
    if way == "linear":
        return np.log(np.linspace(np.exp(-span), 1.0, points)), np.log(
            np.linspace(1.0, np.exp(reach), held_out + 1)[1:]
        )
    inner = np.sort(rng.uniform(-span, 0.0, points - 2))
    return np.concatenate([[-span], inner, [0.0]]), np.sort(rng.uniform(0.02 * reach, reach, held_out))


def _noise(rng: np.random.Generator, clean: Floats, seen: int) -> tuple[Floats, float]:
    size = _log_uniform(rng, 5e-4, 5e-2)
    scale = np.full(clean.size, size)
    if rng.random() < 0.5:  # one size in the score: relative noise grows as the score falls
        scale = size * np.exp(np.clip(clean[seen - 1] - clean, -3.0, 3.0))
    error = rng.standard_t(4, clean.size) / np.sqrt(2) if rng.random() < 0.2 else rng.normal(size=clean.size)
    if rng.random() < 0.2:
        keep = rng.uniform(0.3, 0.8)
        for i in range(1, clean.size):
            error[i] = keep * error[i - 1] + np.sqrt(1 - keep**2) * error[i]
    if rng.random() < 0.1:
        error = np.where(rng.random(clean.size) < 0.01, error + rng.choice([-8.0, 8.0], clean.size), error)
    return scale * error, size


def _floored(rng: np.random.Generator, falling: Shape, deep: float = 0.9) -> Shape:
    """A fall onto a floor: in a third of the curves none, else a share of the score at the end of the history."""
    if rng.random() < 1 / 3:
        return falling
    share = rng.uniform(0.02, deep)
    end = float(falling(np.zeros(1))[0])
    return lambda t: np.logaddexp(falling(t) + np.log1p(-share), end + np.log(share))


def _slope(rng: np.random.Generator) -> float:
    return _log_uniform(rng, 0.03, 1.0)


def _power(rng: np.random.Generator, _span: float, _reach: float) -> Shape:
    slope = _slope(rng)
    return _floored(rng, lambda t: -slope * t)


def _shifted(rng: np.random.Generator, span: float, _reach: float) -> Shape:
    slope, start = _slope(rng), -span * rng.uniform(0.1, 1.0)
    return _floored(rng, lambda t: -slope * np.logaddexp(t, start))


def _sigmoidal(rng: np.random.Generator, span: float, _reach: float) -> Shape:
    """M4, ``(y - floor) / (top - y)^a = b x^-c``, solved for the share of the way from floor to top by Newton."""
    a, slope = _log_uniform(rng, 0.3, 3.0), _slope(rng)
    middle = -span * rng.uniform(0.2, 1.2)
    floor = np.log(rng.uniform(0.005, 0.6)) if rng.random() < 2 / 3 else -np.inf

    def share(t: Floats) -> Floats:
        target = -slope * (t - middle)
        logit = np.where(target < 0, target, target / a)
        for _ in range(40):  # f is increasing and concave or convex on either side of 0: Newton's steps do not leave it
            part = 0.5 * (1 + np.tanh(logit / 2))
            value = -np.logaddexp(0.0, -logit) + a * np.logaddexp(0.0, logit) - target
            logit = logit - value / (1 - part + a * part)
        return np.asarray(-np.logaddexp(0.0, -logit))

    return lambda t: np.logaddexp(floor, np.log1p(-np.exp(floor)) + share(t))


def _breaks(slopes: Floats, places: Floats, widths: Floats) -> Shape:
    """Pieces of a power law with slopes ``slopes``, joined softly (Caballero et al. 2023, equation 1)."""

    def shape(t: Floats) -> Floats:
        total = -slopes[0] * t
        for change, place, width in zip(np.diff(slopes), places, widths, strict=True):
            soft = width * (np.logaddexp(0.0, (t - place) / width) - np.logaddexp(0.0, -place / width))
            total = total - change * soft
        return np.asarray(total)

    return shape


def _broken(breaks: int) -> Callable[[np.random.Generator, float, float], Shape]:
    def draw(rng: np.random.Generator, span: float, reach: float) -> Shape:
        slopes = np.array([_slope(rng) for _ in range(breaks + 1)])
        places = np.sort(rng.uniform(-span, reach, breaks))
        widths = np.exp(rng.uniform(np.log(0.05), np.log(1.0), breaks))
        return _floored(rng, _breaks(slopes, places, widths))

    return draw


def _down_up_down(rng: np.random.Generator, span: float, reach: float) -> Shape:
    slopes = np.array([_slope(rng), -0.7 * _slope(rng), _slope(rng)])
    places = np.sort(rng.uniform(-0.9 * span, 0.3 * reach, 2))
    return _floored(rng, _breaks(slopes, places, np.exp(rng.uniform(np.log(0.05), np.log(0.6), 2))))


def _plateau(rng: np.random.Generator, span: float, reach: float) -> Shape:
    slopes = np.array([_slope(rng) if rng.random() < 0.5 else 0.0, 0.0, _slope(rng)])
    places = np.sort(rng.uniform(-0.9 * span, 0.2 * reach, 2))
    return _floored(rng, _breaks(slopes, places, np.exp(rng.uniform(np.log(0.05), np.log(0.6), 2))))


def _sharp(rng: np.random.Generator, span: float, reach: float) -> Shape:
    """A slow power law that turns steep within a tenth of a nat and ends on a floor far below."""
    slopes = np.array([_log_uniform(rng, 0.02, 0.3), _log_uniform(rng, 1.5, 6.0)])
    place = rng.uniform(-0.4 * span, reach, 1)
    fall = _breaks(slopes, place, np.exp(rng.uniform(np.log(0.03), np.log(0.3), 1)))
    floor = float(fall(place)[0]) - rng.uniform(1.0, 5.0)
    return lambda t: np.logaddexp(fall(t), floor)


def _saturating(rng: np.random.Generator, _span: float, _reach: float) -> Shape:
    slope, share = rng.uniform(0.4, 1.5), rng.uniform(0.9, 0.999)
    return lambda t: np.logaddexp(np.log1p(-share) - slope * t, np.log(share))


def _flat(_rng: np.random.Generator, _span: float, _reach: float) -> Shape:
    return np.zeros_like


_KINDS: dict[str, tuple[float, Callable[[np.random.Generator, float, float], Shape]]] = {
    "power law": (2.0, _power),
    "shifted power law": (2.0, _shifted),
    "sigmoidal": (4.0, _sigmoidal),
    "one break": (3.0, _broken(1)),
    "two breaks": (2.0, _broken(2)),
    "three breaks": (1.0, _broken(3)),
    "down, up, down": (2.0, _down_up_down),
    "plateau": (1.5, _plateau),
    "sharp turn": (0.5, _sharp),
    "saturating": (1.5, _saturating),
    "flat": (1.0, _flat),
}

SCALING_KINDS: tuple[str, ...] = tuple(_KINDS)
"""Shapes of :func:`scaling_curve`."""
