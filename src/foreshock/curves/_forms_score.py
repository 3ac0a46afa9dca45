"""Forms of bounded scores: a straight line on the link, and logistic curves between a floor and a ceiling.

A logistic curve with its floor at the score of guessing explodes on scores that lie at or below guessing: any steepness
fits them, and the next forecast is the ceiling. So steepness has a weak prior, as Gelman et al. give logistic
regression (2008, Annals of Applied Statistics 2, 1360: scale 2.5 for a predictor of standard deviation 0.5): one point
says that a rise from 10% to 90% takes about as long as the axis.
"""

from __future__ import annotations

import functools

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame, Kind
from foreshock.curves._fit_linear import linear
from foreshock.curves._forms import Form, Starts, boxed, softplus

_GAP_TO_GAP = float(2 * np.log(9))
"""Log-odds between 10% and 90% of a rise."""


def _line(theta: Floats, tau: Floats, _frame: Frame) -> tuple[Floats, Floats]:
    value = theta[:, :1] + theta[:, 1:2] * tau
    return value, np.stack([np.ones_like(value), np.broadcast_to(tau, value.shape)], axis=1)


def _line_starts(frame: Frame) -> Starts:
    features = np.stack([np.ones_like(frame.tau), frame.tau], axis=1)[None]
    found = linear(features, frame.y[None], frame.count[None])[0]
    bound = np.array([1e6, 1e6, 1.0])
    return boxed(np.column_stack([found, np.ones(1)]), -bound, bound)


def _line_published(theta: Floats, frame: Frame) -> dict[str, float]:
    slope = theta[1] * frame.unit / frame.span
    return {"alpha": float(frame.shift + frame.unit * theta[0] - slope * frame.last), "beta": float(slope)}


def _sigmoid(theta: Floats, tau: Floats, frame: Frame, free: tuple[bool, bool]) -> tuple[Floats, Floats]:
    """``floor + (ceiling - floor) logistic(alpha + beta tau)``; ``free`` says which ends are fitted."""
    alpha, beta = theta[:, :1], theta[:, 1:2]
    floor: Floats | float = theta[:, 2:3] if free[0] else _floor(frame)
    ceiling: Floats | float = theta[:, 2 + free[0] : 3 + free[0]] if free[1] else _ceiling(frame)
    _, share = softplus(alpha + beta * tau)
    rise = (ceiling - floor) * share * (1 - share)
    value = floor + (ceiling - floor) * share
    slopes = [rise, rise * tau, *([1 - share] if free[0] else []), *([share] if free[1] else [])]
    return value, np.stack(slopes, axis=1)


def _floor(frame: Frame) -> float:
    return 0.0 if frame.floor is None else frame.floor


def _ceiling(frame: Frame) -> float:
    return 1.0 if frame.ceiling is None else frame.ceiling


def _ends(frame: Frame, free: tuple[bool, bool]) -> tuple[Floats, Floats]:
    """Pairs of floor and ceiling of the starts, each of shape (pairs,)."""
    low, high = float(frame.y.min()), float(frame.y.max())
    reach = max(high - low, 0.02)
    steps = np.array([0.02, 0.3, 1.5])
    if frame.kind == "share":
        below, above = np.maximum(low - reach * steps, 0.0), np.minimum(high + reach * steps, 1.0)
    else:
        below, above = low - reach * steps, high + reach * steps
    floors = below if free[0] else np.array([_floor(frame)])
    ceilings = above if free[1] else np.array([_ceiling(frame)])
    pairs = np.meshgrid(floors, ceilings, indexing="ij")
    return pairs[0].ravel(), pairs[1].ravel()


def _sigmoid_starts(frame: Frame, free: tuple[bool, bool]) -> Starts:
    floor, ceiling = _ends(frame, free)
    width = np.maximum(ceiling - floor, 1e-6)
    share = np.clip((frame.y - floor[:, None]) / width[:, None], 0.01, 0.99)
    features = np.stack([np.ones_like(frame.tau), frame.tau], axis=1)[None]
    found = linear(features, np.log(share / (1 - share)), frame.count * (share * (1 - share)) ** 2)[:, 0]
    extra = [*([floor] if free[0] else []), *([ceiling] if free[1] else [])]
    theta = np.column_stack([found, *extra, np.ones(floor.size)])
    return _sigmoid_boxed(frame, np.concatenate([theta, _both_ways(theta)]), free)


def _both_ways(theta: Floats) -> Floats:
    """The same with the rise at a middle place and a middling steepness, in either direction."""
    up, down = theta.copy(), theta.copy()
    up[:, :2], down[:, :2] = [2.0, 4.0], [-2.0, -4.0]
    return np.concatenate([up, down])


def _sigmoid_boxed(frame: Frame, theta: Floats, free: tuple[bool, bool]) -> Starts:
    # a rise from 10% to 90% between two neighbouring points looks like any steeper one
    steepest = _GAP_TO_GAP / frame.wiggle
    low_y, high_y = float(frame.y.min()), float(frame.y.max())
    reach = max(high_y - low_y, 0.02)
    share = frame.kind == "share"
    floor = (0.0 if share else low_y - 3 * reach, (low_y + high_y) / 2)
    ceiling = ((low_y + high_y) / 2, 1.0 if share else high_y + 3 * reach)
    ends = [*([floor] if free[0] else []), *([ceiling] if free[1] else [])]
    # the middle of the rise within three lengths of the axis
    low = np.array([-3 * steepest, -steepest, *(e[0] for e in ends), 1.0])
    return boxed(theta, low, np.array([3 * steepest, steepest, *(e[1] for e in ends), 1.0]))


def _sigmoid_published(theta: Floats, frame: Frame, free: tuple[bool, bool]) -> dict[str, float]:
    alpha, beta = float(theta[0]), float(theta[1])
    floor = float(theta[2]) if free[0] else _floor(frame)
    ceiling = float(theta[2 + free[0]]) if free[1] else _ceiling(frame)
    told = {"floor": frame.shift + frame.unit * floor, "ceiling": frame.shift + frame.unit * ceiling}
    return told | {"alpha": alpha - beta * frame.last / frame.span, "beta": beta / frame.span}


def _form(name: str, free: tuple[bool, bool]) -> Form:
    names = ("alpha", "beta", *(["floor"] if free[0] else []), *(["ceiling"] if free[1] else []))
    frames: dict[str, Kind] = {"logit": "share"}
    if all(free):
        frames["identity"] = "line"
    return Form(
        name=name,
        equation="y = floor + (ceiling - floor) / (1 + exp(-(alpha + beta t)))",
        parameters=names,
        frames=frames,
        slopes=functools.partial(_sigmoid, free=free),
        starts=functools.partial(_sigmoid_starts, free=free),
        published=functools.partial(_sigmoid_published, free=free),
        profiled=tuple(range(2, len(names))),
        weak=((1, _GAP_TO_GAP),),
        needs_chance=not free[0],
        source="logistic curve; with its floor at the score of guessing Ruan et al. 2024, arXiv 2405.10938, equation 7",
    )


SCORE = (
    Form(
        name="line",
        equation="link(y) = alpha + beta t",
        parameters=("alpha", "beta"),
        frames={"identity": "line", "logit": "line"},
        slopes=_line,
        starts=_line_starts,
        published=_line_published,
        source="logit-linear on a bounded scale: the curve of METR's time horizon, success along log task length",
    ),
    _form("sigmoid", (False, False)),
    _form("sigmoid_floor", (True, False)),
    _form("sigmoid_ceiling", (False, True)),
    _form("sigmoid_free", (True, True)),
)
