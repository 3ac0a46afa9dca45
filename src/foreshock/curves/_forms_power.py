"""Power laws M1 to M4 of Alabdulmohsin, Neyshabur and Zhai (NeurIPS 2022, arXiv 2209.06640).

On a linear axis they are the exponential laws of the same equations with ``exp(c x)`` for ``x^c``; M3 needs a log axis,
where its ``1/x`` has a meaning.
"""

from __future__ import annotations

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame
from foreshock.curves._fit_linear import excess, limits, linear
from foreshock.curves._forms import Form, Starts, boxed, joined, softplus

STEEPEST = 30.0
"""Largest exponent times the length of the axis: exp(30) between first and last point is no data."""
_LARGE = 40.0
_BEND = (0.05, 20.0)
"""Range of M4's exponent a: below it M4 is M2 with a corner, above it an exponential."""


def _pick(theta: Floats) -> list[Floats]:
    return [theta[:, k : k + 1] for k in range(theta.shape[1])]


# M1: y = b x^c


def _m1(theta: Floats, tau: Floats, _frame: Frame) -> tuple[Floats, Floats]:
    beta, c, _ = _pick(theta)
    with np.errstate(over="ignore"):
        value = np.exp(beta + c * tau)
    return value, np.stack([value, value * tau], axis=1)


def _m1_starts(frame: Frame) -> Starts:
    features = np.stack([np.ones_like(frame.tau), frame.tau], axis=1)[None]
    found = linear(features, np.log(frame.y)[None], frame.count[None])[0]
    bound = np.array([_LARGE, STEEPEST, 1.0])
    return boxed(np.column_stack([found, np.ones(1)]), -bound, bound)


def _m1_published(theta: Floats, frame: Frame) -> dict[str, float]:
    c = theta[1] / frame.span
    return {"log b": float(theta[0] - c * frame.last + np.log(abs(frame.unit))), "c": float(c)}


# M2: y = e + b x^c


def _m2(theta: Floats, tau: Floats, _frame: Frame) -> tuple[Floats, Floats]:
    e, beta, c, sign = _pick(theta)
    with np.errstate(over="ignore", invalid="ignore"):
        left = sign * np.exp(beta + c * tau)
        return e + left, np.stack([np.ones_like(left), left, left * tau], axis=1)


def _m2_starts(frame: Frame) -> Starts:
    limit, sign = limits(frame)
    wanted, weight = excess(frame, limit, sign)
    features = np.stack([np.ones_like(frame.tau), frame.tau], axis=1)[None]
    found = linear(features, wanted, weight)[:, 0]
    theta = np.column_stack([limit, found, sign])
    low, high = limit_box(frame, theta)
    low[:, 1:3], high[:, 1:3] = [-_LARGE, -STEEPEST], [_LARGE, STEEPEST]
    if frame.kind == "log":
        # a curve that bends down from its limit would leave the scale beyond the data
        high[sign < 0, 2] = 0.0
    if frame.on_link:
        # on the link of a bounded score it is a line that slows down; an exponential there reaches an end at once
        high[:, 2] = 0.0
    return Starts(np.clip(theta, low, high), low, high)


def limit_box(frame: Frame, theta: Floats) -> tuple[Floats, Floats]:
    """Bounds of the shape of ``theta`` with those of the limit in the first column and the sign in the last."""
    low, high = np.empty_like(theta), np.empty_like(theta)
    reach = float(np.ptp(frame.y))
    top, bottom = float(frame.y.max()), float(frame.y.min())
    falling = theta[:, -1] > 0
    # above a scale's end a limit below it has no meaning; a limit within the scores is where noise may put it
    low[:, 0] = np.where(falling, 0.0 if frame.kind == "log" else bottom - 10 * reach, bottom)
    high[:, 0] = np.where(falling, top, top + 10 * reach)
    low[:, -1] = high[:, -1] = theta[:, -1]
    return low, high


def _m2_published(theta: Floats, frame: Frame) -> dict[str, float]:
    e, beta, c, sign = (float(v) for v in theta)
    slope = c / frame.span
    # b itself overflows where the axis begins far from 1
    told = {"e": frame.shift + frame.unit * e, "sign": sign * float(np.sign(frame.unit))}
    return {**told, "log b": beta - slope * frame.last + float(np.log(abs(frame.unit))), "c": slope}


# M3: y = b (1/x + g)^c


def _m3(theta: Floats, tau: Floats, frame: Frame) -> tuple[Floats, Floats]:
    beta, c, gamma, _ = _pick(theta)
    # log(1/x + g) with x = 1 at the last point
    plus, share = softplus(gamma + frame.span * tau)
    inner = plus - frame.span * tau
    with np.errstate(over="ignore"):
        value = np.exp(beta + c * inner)
    return value, np.stack([value, value * inner, value * c * share], axis=1)


def _m3_starts(frame: Frame) -> Starts:
    gamma = np.linspace(-4.0, frame.span + 2.0, 16)
    inner = np.logaddexp(-frame.span * frame.tau, gamma[:, None])
    features = np.stack([np.ones_like(inner), inner], axis=2)
    found = linear(features, np.log(frame.y)[None], frame.count[None])[0]
    theta = np.column_stack([found, gamma, np.ones(gamma.size)])
    steep = STEEPEST / min(frame.span, 1.0)
    low = np.array([-_LARGE * 10, -steep, -12.0, 1.0])
    return boxed(theta, low, np.array([_LARGE * 10, steep, frame.span + 6.0, 1.0]))


def _m3_published(theta: Floats, frame: Frame) -> dict[str, float]:
    beta, c, gamma, _ = theta
    log_b = beta + c * frame.last + np.log(abs(frame.unit))
    return {"log b": float(log_b), "c": float(c), "g": float(np.exp(gamma - frame.last))}


# M4: (y - e) / (e0 - y)^a = b x^c, as y = e + sign exp(beta - kappa) w, log w - a log(1 - w) = kappa + c tau


def _m4(theta: Floats, tau: Floats, _frame: Frame) -> tuple[Floats, Floats]:
    """Fitted by the power law ``exp(beta + c tau)`` that it ends in and ``kappa``; at ``kappa`` = -inf it is M2."""
    e, beta, c, kappa, log_a, sign = _pick(theta)
    a = np.exp(log_a)
    share, plus = share_of(kappa + c * tau, a)
    with np.errstate(over="ignore", invalid="ignore"):
        size = sign * np.exp(beta - kappa)
        left = size * share
        # implicit derivative: d w = w (1 - w) / (1 - w + a w) d(kappa + c tau + a log(1 - w))
        step = left * (1 - share) / (1 - share + a * share)
        slopes = [np.ones_like(left), left, step * tau, step - left, -step * plus * a]
        return e + left, np.stack(slopes, axis=1)


def share_of(wanted: Floats, a: Floats, steps: int = 7) -> tuple[Floats, Floats]:
    """Solve ``log w - a log(1 - w) = wanted`` for the share ``w`` by Newton's method on its log-odds ``s``.

    The left side is ``s + (a - 1) softplus(s)``: convex for a > 1 and concave for a < 1, and the start lies on the side
    from which Newton's method approaches the root without overshooting, so that it always converges.

    Returns:
        Shares and ``softplus(s) = -log(1 - w)``.
    """
    s = np.where(wanted < 0, wanted, wanted / a)
    for _ in range(steps):
        plus, share = softplus(s)
        s = s - (s + (a - 1) * plus - wanted) / (1 + (a - 1) * share)
    plus, share = softplus(s)
    return share, plus


def _m4_starts(frame: Frame) -> Starts:
    return joined(_m4_half(frame, 1.0), _m4_half(frame, -1.0))


def _m4_half(frame: Frame, sign: float) -> Starts:
    """Starts of curves that fall from ``e0`` to ``e`` (sign 1) or rise (-1)."""
    limit, signs = limits(frame)
    low_limit, begin = (limit[signs == s] for s in (sign, -sign))
    if frame.kind == "log":
        low_limit, begin = (one[[0, 2, 4, 5, 6]] if one.size > 5 else one for one in (low_limit, begin))
    wanted, weight = excess(frame, low_limit, np.full(low_limit.size, sign))
    from_begin = np.log(np.maximum(sign * (begin[:, None] - frame.y), 1e-12))
    ones = np.ones_like(from_begin)
    found = linear(np.stack([ones, np.broadcast_to(frame.tau, ones.shape), from_begin], axis=2), wanted, weight)
    e, e0 = np.broadcast_arrays(low_limit[:, None], begin[None, :])
    log_a, size = np.log(np.clip(found[..., 2], *_BEND)), np.log(np.abs(e0 - e))
    beta = found[..., 0] + np.exp(log_a) * size
    theta = np.stack([e, beta, found[..., 1], beta - size, log_a, np.full(e.shape, sign)], axis=-1).reshape(-1, 6)
    low, high = limit_box(frame, theta)
    low[:, 1:5] = [-2 * _LARGE, -STEEPEST, -_LARGE, np.log(_BEND[0])]
    high[:, 1:5] = [2 * _LARGE, 0.0, _LARGE, np.log(_BEND[1])]
    return Starts(np.clip(theta, low, high), low, high)


def _m4_published(theta: Floats, frame: Frame) -> dict[str, float]:
    e, beta, c, kappa, log_a, sign = (float(v) for v in theta)
    a, slope, size = float(np.exp(log_a)), c / frame.span, beta - kappa + float(np.log(abs(frame.unit)))
    limit = frame.shift + frame.unit * e
    told = {"e": limit, "e0": limit + frame.unit * sign * float(np.exp(beta - kappa))}
    return {**told, "a": a, "log b": kappa - slope * frame.last + (1 - a) * size, "c": slope}


_SOURCE = "Alabdulmohsin et al. 2022, arXiv 2209.06640"

POWER = (
    Form("m1", "y = b x^c", ("log b", "c"), {"log": "log"}, _m1, _m1_starts, _m1_published, source=f"{_SOURCE}, M1"),
    Form(
        name="m2",
        equation="y = e + b x^c",
        parameters=("e", "log b", "c"),
        frames={"log": "log", "identity": "line", "logit": "line"},
        slopes=_m2,
        starts=_m2_starts,
        published=_m2_published,
        source=f"{_SOURCE}, M2; a broken neural scaling law without a break",
    ),
    Form(
        name="m3",
        equation="y = b (1/x + g)^c",
        parameters=("log b", "c", "log g"),
        frames={"log": "log"},
        slopes=_m3,
        starts=_m3_starts,
        published=_m3_published,
        source=f"{_SOURCE}, M3",
    ),
    Form(
        name="m4",
        equation="(y - e) / (e0 - y)^a = b x^c",
        parameters=("e", "log b", "c", "e0", "log a"),
        frames={"log": "log", "identity": "line"},
        slopes=_m4,
        starts=_m4_starts,
        published=_m4_published,
        source=f"{_SOURCE}, M4",
    ),
)
