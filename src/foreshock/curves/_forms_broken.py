"""Broken neural scaling laws with one to three breaks (Caballero et al., ICLR 2023, arXiv 2210.14891, equation 1)."""

from __future__ import annotations

import functools
from itertools import combinations

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame
from foreshock.curves._fit_linear import excess, limits, linear
from foreshock.curves._forms import Form, Starts, softplus
from foreshock.curves._forms_power import STEEPEST, limit_box

_WIDTHS = (0.02, 0.1, 0.4)
_NARROWEST, _WIDEST = np.log(0.005), np.log(1.0)
_LARGE = 40.0


def _broken(theta: Floats, tau: Floats, _frame: Frame) -> tuple[Floats, Floats]:
    """``y = e + sign exp(beta + c0 tau + sum c_i f_i softplus((tau - d_i) / f_i))``: the published product, its log."""
    e, beta, c0, sign = theta[:, :1], theta[:, 1:2], theta[:, 2:3], theta[:, -1:]
    breaks = (theta.shape[1] - 4) // 3
    log, parts = beta + c0 * tau, []
    for i in range(breaks):
        c, place, log_f = (theta[:, k : k + 1] for k in range(3 + 3 * i, 6 + 3 * i))
        f = np.exp(log_f)
        plus, share = softplus((tau - place) / f)
        log = log + c * f * plus
        parts += [f * plus, -c * share, c * (f * plus - (tau - place) * share)]
    with np.errstate(over="ignore", invalid="ignore"):
        left = sign * np.exp(log)
        ones = np.ones_like(left)
        slopes = [ones, left, left * tau, *(left * part for part in parts)]
        return e + left, np.stack(slopes, axis=1)


def _grid(breaks: int) -> tuple[Floats, Floats]:
    """Places (sets, breaks) and widths (sets,) of the breaks of the starts."""
    places = np.linspace(-0.95, 0.0, 9) if breaks == 1 else np.linspace(-0.92, -0.06, 7)
    widths = _WIDTHS if breaks < 3 else (0.05, 0.2)
    sets = [(p, w) for p in combinations(places, breaks) for w in widths]
    return np.array([p for p, _ in sets]), np.array([w for _, w in sets])


def _starts(frame: Frame, breaks: int) -> Starts:
    limit, sign = limits(frame)
    if frame.kind == "log" and not frame.rises:
        # a falling curve below its limit leaves the scale beyond the data
        limit, sign = limit[sign > 0], sign[sign > 0]
    if breaks > 1:
        # the linear solve is exact given the limit: fewer limits do where more breaks bend the curve
        limit, sign = limit[::2], sign[::2]
    places, widths = _grid(breaks)
    wanted, weight = excess(frame, limit, sign)
    bends = widths[:, None, None] * softplus((frame.tau[:, None] - places[:, None, :]) / widths[:, None, None])[0]
    plain = np.broadcast_to(np.stack([np.ones_like(frame.tau), frame.tau], axis=1), (widths.size, frame.points, 2))
    found = linear(np.concatenate([plain, bends], axis=2), wanted, weight)
    shape = found.shape[:2]
    columns = [np.broadcast_to(limit[:, None], shape), found[..., 0], found[..., 1]]
    for i in range(breaks):
        columns += [found[..., 2 + i], np.broadcast_to(places[:, i], shape), np.broadcast_to(np.log(widths), shape)]
    theta = np.stack([*columns, np.broadcast_to(sign[:, None], shape)], axis=-1).reshape(-1, len(columns) + 1)
    return _boxed(frame, theta, breaks)


def _boxed(frame: Frame, theta: Floats, breaks: int) -> Starts:
    low, high = limit_box(frame, theta)
    low[:, 1:3], high[:, 1:3] = [-2 * _LARGE, -STEEPEST], [2 * _LARGE, STEEPEST]
    for i in range(breaks):
        at = slice(3 + 3 * i, 6 + 3 * i)
        low[:, at] = [-2 * STEEPEST, -1.0, max(_NARROWEST, np.log(frame.wiggle / 4))]
        high[:, at] = [2 * STEEPEST, 0.0, _WIDEST]
    return Starts(np.clip(theta, low, high), low, high)


def _published(theta: Floats, frame: Frame) -> dict[str, float]:
    """Parameters of the published equation; exponents with its sign, the amplitude as at ``x`` = 1 (log axis)."""
    e, beta, c0, sign = (float(theta[k]) for k in (0, 1, 2, -1))
    span = frame.span
    told = {"a": frame.shift + frame.unit * e, "sign": sign * float(np.sign(frame.unit))}
    told |= {"log b": beta - c0 * frame.last / span + float(np.log(abs(frame.unit))), "c0": -c0 / span}
    for i in range((theta.size - 4) // 3):
        c, place, log_f = (float(v) for v in theta[3 + 3 * i : 6 + 3 * i])
        told |= {f"c{i + 1}": -c / span, f"log d{i + 1}": frame.last + span * place}
        told |= {f"f{i + 1}": float(np.exp(log_f)) * span}
    return told


def _form(breaks: int) -> Form:
    names = [f"{name}{i + 1}" for i in range(breaks) for name in ("c", "log d", "log f")]
    equation = "y = a + b x^-c0 " + " ".join(
        f"(1 + (x/d{i + 1})^(1/f{i + 1}))^(-c{i + 1} f{i + 1})" for i in range(breaks)
    )
    return Form(
        name=f"bnsl{breaks}",
        equation=equation,
        parameters=("a", "log b", "c0", *names),
        frames={"log": "log", "identity": "line"},
        slopes=_broken,
        starts=functools.partial(_starts, breaks=breaks),
        published=_published,
        profiled=tuple(4 + 3 * i for i in range(breaks)),
        places=True,
        source="Caballero et al. 2023, arXiv 2210.14891, equation 1",
    )


BROKEN = tuple(_form(breaks) for breaks in (1, 2, 3))
