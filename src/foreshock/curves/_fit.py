"""Fit one form to one curve: many starts, screened cheaply, the best polished together, all optima kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from foreshock._base import ConfigError
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._fit_frame import Frame, frame_of, kind_of
from foreshock.curves._fit_solve import Residuals, Solved, solve
from foreshock.curves._forms import Form, Starts, forms
from foreshock.records import Fit

STARTS = 10
"""Starts that are polished, of those that the grid gives."""
_PERTURBED = 4
_STEPS = 60
_AGAIN = 25
_SOFT = 3.0
"""Residuals beyond three robust standard deviations count linearly."""


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A local optimum: its objective over that of the best, and the parameters of the equation."""

    objective: float
    parameters: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class FormFit:
    """One form fitted to one curve.

    Attributes:
        form: The form.
        curve: What it was fitted to.
        refused: Why its parameters say nothing, or why there are none; None where they mean something.
        parameters: Parameters of the equation; empty where nothing could be fitted.
        residuals: Observed less fitted, on the link, or on the score where a score stands at an end of its scale
            without a count; shape (points,); empty where nothing could be fitted.
        sd: Standard deviation of the residuals over the degrees of freedom left, without their sampling noise.
        aicc: Akaike's criterion with small-sample correction; infinite where the points do not allow it.
        bounded: Parameters at a bound of their box: the data would have them beyond.
        optima: All distinct local optima, best first.
        record: Data hash, seed, starts and objective.
    """

    form: Form
    curve: Curve
    refused: str | None
    record: Fit
    parameters: dict[str, float] = field(default_factory=dict)
    residuals: Floats = field(default_factory=lambda: np.empty(0))
    sd: float = float("nan")
    aicc: float = float("inf")
    bounded: tuple[str, ...] = ()
    optima: tuple[Optimum, ...] = ()
    _theta: Floats = field(default_factory=lambda: np.empty(0))
    _frame: Frame | None = None

    @property
    def solved(self) -> bool:
        """Whether there is a curve to draw: also where a refusal says that its parameters mean nothing."""
        return self._frame is not None

    def predict(self, x: ArrayLike) -> Floats:
        """Scores at places of the axis, of the shape of ``x``; NaN where the form leaves an open scale or is not there.

        Raises:
            ConfigError: A place is not on the axis.
        """
        at = self.curve.place(x)
        if self._frame is None:
            return np.full(at.shape, np.nan)
        tau = self._frame.place(at.ravel())
        value = self.form.value(self._theta[None], tau, self._frame)[0]
        y = self._frame.score(value, self.curve)
        low, high = self.curve.low, self.curve.high
        inside = np.clip(y, -np.inf if low is None else low, np.inf if high is None else high)
        return np.where(np.isfinite(inside), inside, np.nan).reshape(at.shape)


def fit(curve: Curve, form: str | Form, *, seed: int = 0, starts: int = STARTS, robust: bool = True) -> FormFit:
    """Fit one form.

    The objective is the sum of squared residuals on the link of the curve (``robust``: soft-l1 beyond three robust
    standard deviations). Where the sampling error of scores is known, each counts by the inverse of its sampling
    variance plus what models differ by, which is estimated from the residuals.

    Args:
        curve: The curve.
        form: A form or its name.
        seed: Seed of the perturbed starts.
        starts: Starts to polish, of those screened.
        robust: Whether far residuals count less.

    Raises:
        ConfigError: There is no such form, or no start.

    Examples:
        >>> x = np.geomspace(1e6, 1e9, 12)
        >>> found = fit(Curve(x, 1.5 + 400 * x**-0.4, low=0.0), "m2")
        >>> {name: round(value, 3) for name, value in found.parameters.items()}
        {'e': 1.5, 'b': 400.0, 'c': -0.4}
    """
    chosen = _chosen(form)
    if starts < 1:
        raise ConfigError(f"{starts} starts", expected="at least one")
    refused = refusal(curve, chosen)
    if refused is not None:
        return FormFit(chosen, curve, refused, Fit(data_hash=curve.data_hash, seed=seed, starts=0))
    return _fitted(curve, chosen, frame_of(curve, chosen.frames[kind_of(curve)]), seed, starts, robust)


def _chosen(form: str | Form) -> Form:
    if isinstance(form, Form):
        return form
    known = forms()
    if form not in known:
        raise ConfigError(f"there is no form {form[:100]!r}", expected=", ".join(known))
    return known[form]


def refusal(curve: Curve, form: Form) -> str | None:
    """Why a form cannot be fitted at all; None where it can."""
    places, link = int(np.unique(curve.x).size), kind_of(curve)
    if link not in form.frames or (form.name == "m3" and not curve.log_x):
        return (
            f"has no meaning for this score along this axis ({curve.link.name}, {'log' if curve.log_x else 'linear'})"
        )
    if places < form.least:
        return f"{places} places for {form.size} parameters; {form.least} would be enough"
    if form.needs_chance and curve.chance is None:
        return "the score of guessing is not known"
    if form.frames[link] != "share" and not np.isfinite(curve.z).all():
        return "a score stands at the end of its scale, and nothing says of how many items"
    return "all scores are equal" if np.ptp(curve.y) == 0 else None


def residuals_of(form: Form, frame: Frame, sign: Floats, sd: Floats) -> Residuals:
    """Residuals of a form in a frame, each over ``sd`` (points,); ``sign`` are the signs of the starts in question."""

    def residuals(theta: Floats) -> tuple[Floats, Floats]:
        whole = np.concatenate([theta, np.broadcast_to(sign[: len(theta), None], (len(theta), 1))], axis=1)
        value, slopes = form.slopes(whole, frame.tau, frame)
        with np.errstate(all="ignore"):
            factor = np.asarray(frame.factor(value)) / sd
            return (frame.output(value) - frame.target) / sd, slopes * np.atleast_2d(factor)[:, None, :]

    return residuals


def _fitted(curve: Curve, form: Form, frame: Frame, seed: int, starts: int, robust: bool) -> FormFit:
    begun = screened(form, frame, seed, starts)
    sd = np.ones(frame.points)
    found, signs = descend(form, frame, begun, sd, np.inf, _STEPS)
    theta, cost = distinct(form, frame, np.column_stack([found.theta, signs]), found.cost)
    if not theta.size:
        return FormFit(form, curve, "no start leads anywhere", Fit(data_hash=curve.data_hash, seed=seed, starts=starts))
    soft, sd = noise(form, frame, theta[0], robust)
    if np.isfinite(soft) or frame.variance.any():
        kept = _box_of(begun, theta[:4])
        found, signs = descend(form, frame, kept, sd, soft, _AGAIN)
        theta, cost = distinct(form, frame, np.column_stack([found.theta, signs]), found.cost)
    record = Fit(data_hash=curve.data_hash, seed=seed, starts=len(begun.theta), objective=float(cost[0]))
    optima = tuple(Optimum(float(c), form.published(row, frame)) for row, c in zip(theta, cost, strict=True))
    bare = FormFit(form, curve, None, record, optima[0].parameters, optima=optima, _theta=theta[0], _frame=frame)
    residuals = residual(curve, bare.predict(curve.x))
    return replace(
        bare,
        residuals=residuals,
        sd=_sd(curve, residuals, form.size),
        aicc=aicc(float(residuals @ residuals), curve.points, form.size),
        bounded=_bounded(form, theta[0], begun),
    )


def screened(form: Form, frame: Frame, seed: int, count: int) -> Starts:
    """The best starts of the grid and perturbed copies of the very best, no two alike."""
    grid = form.starts(frame)
    cost = _costs(form, frame, grid.theta)
    order = np.argsort(cost, kind="stable")
    order = order[np.isfinite(cost[order])][: 4 * count]
    # neighbours on the grid end in the same place: of starts with nearly one cost, one is enough
    keep: list[int] = []
    for at in order:
        alike = (abs(cost[at] - cost[k]) <= 1e-3 * cost[k] and grid.theta[at, -1] == grid.theta[k, -1] for k in keep)
        if len(keep) < count and not any(alike):
            keep.append(int(at))
    rows = np.array(keep, int)
    if not rows.size:
        return Starts(grid.theta[:0], grid.low[:0], grid.high[:0])
    again = rows[np.arange(_PERTURBED) % min(rows.size, 2)]
    rng = np.random.default_rng(seed)
    shaken = grid.theta[again, :-1] * np.exp(0.4 * rng.standard_normal((again.size, form.size)))
    shaken = np.column_stack([shaken, grid.theta[again, -1]])
    both = np.concatenate([rows, again])
    theta = np.concatenate([grid.theta[rows], shaken])
    return Starts(np.clip(theta, grid.low[both], grid.high[both]), grid.low[both], grid.high[both])


def _costs(form: Form, frame: Frame, theta: Floats) -> Floats:
    with np.errstate(all="ignore"):
        r = frame.output(form.value(theta, frame.tau, frame)) - frame.target
        cost = (r * r) @ frame.count
    return np.where(np.isfinite(cost), cost, np.inf)


def descend(form: Form, frame: Frame, begun: Starts, sd: Floats, soft: float, steps: int) -> tuple[Solved, Floats]:
    """Polish all starts; signs apart, as the solver does not know them."""
    parts, signs = [], []
    for sign in (1.0, -1.0):
        mine = begun.theta[:, -1] == sign
        if mine.any():
            bounds = (begun.low[mine, :-1], begun.high[mine, :-1])
            to_solve = residuals_of(form, frame, np.full(int(mine.sum()), sign), sd)
            parts.append(solve(to_solve, begun.theta[mine, :-1], bounds, frame.count, soft=soft, steps=steps))
            signs.append(np.full(int(mine.sum()), sign))
    if not parts:
        return Solved(np.empty((0, form.size)), np.empty(0), 0), np.empty(0)
    cost = np.concatenate([p.cost for p in parts])
    return Solved(np.concatenate([p.theta for p in parts]), cost, max(p.steps for p in parts)), np.concatenate(signs)


def distinct(form: Form, frame: Frame, theta: Floats, cost: Floats) -> tuple[Floats, Floats]:
    """Optima, best first, those that draw the same curve told once."""
    order = [int(i) for i in np.argsort(cost, kind="stable") if np.isfinite(cost[i])]
    values = frame.output(form.value(theta[order], frame.tau, frame)) if order else np.empty((0, 0))
    size = float(np.ptp(frame.target)) or 1.0
    keep: list[int] = []
    for k in range(len(order)):
        if all(np.abs(values[k] - values[j]).max() > 1e-3 * size for j in keep):
            keep.append(k)
    rows = [order[k] for k in keep]
    return theta[rows], cost[rows]


def noise(form: Form, frame: Frame, theta: Floats, robust: bool) -> tuple[float, Floats]:
    """Scale beyond which residuals count linearly (in units of ``sd``), and the standard deviation of each point.

    Where sampling errors are known the variance of a point is its own plus what is left of the residuals beyond it; the
    scale of ``sd`` is such that its mean square is 1, so that objectives stay comparable.
    """
    r = frame.output(form.value(theta[None], frame.tau, frame))[0] - frame.target
    left = max(frame.points - form.size, 1)
    between = max(float((r * r).sum()) / left - float(frame.variance.mean()), 0.0)
    variance = between + frame.variance
    sd = np.ones(frame.points)
    if frame.variance.any() and variance.min() > 0:
        sd = np.sqrt(variance / variance.mean())
    spread = 1.4826 * float(np.median(np.abs(r / sd))) * np.sqrt(frame.points / left)
    return (_SOFT * spread if robust and spread > 1e-9 else np.inf), sd


def _box_of(begun: Starts, theta: Floats) -> Starts:
    """Rows of parameters with the bounds of a start of the same sign."""
    rows = [int(np.flatnonzero(begun.theta[:, -1] == sign)[0]) for sign in theta[:, -1]]
    return Starts(theta, begun.low[rows], begun.high[rows])


def _bounded(form: Form, theta: Floats, begun: Starts) -> tuple[str, ...]:
    """Parameters at a bound of their box."""
    box = _box_of(begun, theta[None])
    edge = 1e-6 * (1 + np.abs(theta[:-1]))
    at = (theta[:-1] <= box.low[0, :-1] + edge) | (theta[:-1] >= box.high[0, :-1] - edge)
    return tuple(name for name, there in zip(form.parameters, at, strict=True) if there)


def residual(curve: Curve, predicted: Floats) -> Floats:
    """Observed less predicted on the link, or on the score where a score's link is infinite."""
    z = curve.z
    if not np.isfinite(z).all():
        return np.asarray(curve.y - predicted)
    with np.errstate(all="ignore"):
        return np.nan_to_num(z - curve.link.forward(predicted), nan=1e6, posinf=1e6, neginf=-1e6)


def _sd(curve: Curve, residuals: Floats, size: int) -> float:
    total = float(residuals @ residuals) / max(curve.points - size, 1)
    return float(np.sqrt(max(total - link_variance(curve), 0.0)))


def link_variance(curve: Curve) -> float:
    """Mean sampling variance of the points on the scale of :func:`residual`, 0 where not known."""
    sampling = np.nan_to_num(curve.sampling, nan=0.0)
    if not sampling.any():
        return 0.0
    if np.isfinite(curve.z).all():
        with np.errstate(all="ignore"):
            step = 1e-6 * np.maximum(np.abs(curve.z), 1.0)
            slope = (curve.link.inverse(curve.z + step) - curve.link.inverse(curve.z - step)) / (2 * step)
            sampling = np.nan_to_num(sampling / np.abs(slope), nan=0.0, posinf=0.0)
    return float(np.mean(sampling**2))


def aicc(square: float, points: int, size: int, independent: float | None = None) -> float:
    """Akaike's criterion with its correction for few points; the noise is one more parameter.

    Args:
        square: Sum of squared residuals.
        points: Points.
        size: Parameters of the form.
        independent: Points that count as independent in the likelihood; all where not given.

    Examples:
        >>> aicc(1.0, 5, 3)
        inf
    """
    return points_term(square, points, independent) + penalty(points, size)


def points_term(square: float, points: int, independent: float | None = None) -> float:
    """Minus twice the log-likelihood at its best, up to a constant."""
    return float((independent or points) * np.log(max(square, 1e-300) / points))


def penalty(points: int, size: int) -> float:
    """What the parameters of a form cost in the criterion; infinite where the points do not allow them."""
    k = size + 1
    return float(2 * k + 2 * k * (k + 1) / (points - k - 1)) if points - k - 1 > 0 else float("inf")
