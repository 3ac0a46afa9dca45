"""Fit one form to one curve: many starts, screened cheaply, the best polished together, all optima kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from foreshock._base import ConfigError
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._fit_frame import Frame, frame_of, kind_of
from foreshock.curves._fit_problem import Problem
from foreshock.curves._forms import Form, forms
from foreshock.curves._identify import unidentified
from foreshock.records import Fit

STARTS = 10
"""Starts that are polished, of those that the grid gives."""
_STEPS = 60
_AGAIN = 25
_KEPT = 4
_MOST_LOG = 250.0


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


class Options(NamedTuple):
    """Whether far residuals count less, and whether breaks and ends must be placed by the data."""

    robust: bool = True
    identify: bool = True


def fit(
    curve: Curve,
    form: str | Form,
    *,
    seed: int = 0,
    starts: int = STARTS,
    robust: bool = True,
    identify: bool = True,
) -> FormFit:
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
        identify: Whether to refuse a form whose breaks or ends the data cannot place; half of the time of a broken law.

    Raises:
        ConfigError: There is no such form, or no start.

    Examples:
        >>> x = np.geomspace(1e6, 1e9, 12)
        >>> found = fit(Curve(x, 1.5 + 400 * x**-0.4, low=0.0), "m2")
        >>> {name: round(value, 3) for name, value in found.parameters.items()}
        {'e': 1.5, 'sign': 1.0, 'log b': 5.991, 'c': -0.4}
    """
    chosen = _chosen(form)
    if starts < 1:
        raise ConfigError(f"{starts} starts", expected="at least one")
    refused = refusal(curve, chosen)
    if refused is not None:
        return FormFit(chosen, curve, refused, Fit(data_hash=curve.data_hash, seed=seed, starts=0))
    problem = Problem.of(chosen, frame_of(curve, chosen.frames[kind_of(curve)]))
    return _fitted(problem, curve, seed, starts, Options(robust, identify))


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
        axis = "log" if curve.log_x else "linear"
        return f"has no meaning for this score along this axis ({curve.link.name}, {axis} axis)"
    if places < form.least:
        return f"{places} places for {form.size} parameters; {form.least} would be enough"
    if form.needs_chance and curve.chance is None:
        return "the score of guessing is not known"
    return _scores_refused(curve, link, form.frames[link])


def _scores_refused(curve: Curve, link: str, kind: str) -> str | None:
    if kind != "share" and not np.isfinite(curve.z).all():
        return "a score stands at the end of its scale, and nothing says of how many items"
    if np.ptp(curve.y) == 0:
        return "all scores are equal"
    if link == "log" and np.ptp(curve.z) > _MOST_LOG:
        return "the scores span more than a hundred orders of magnitude"
    return None


def _fitted(problem: Problem, curve: Curve, seed: int, starts: int, options: Options) -> FormFit:
    form, frame = problem.form, problem.frame
    begun = problem.screened(seed, starts)
    theta, cost = problem.distinct(*problem.descend(begun, _STEPS))
    record = Fit(data_hash=curve.data_hash, seed=seed, starts=len(begun.theta))
    if not theta.size:
        return FormFit(form, curve, "no start leads anywhere", record)
    problem = problem.with_noise(theta[0], options.robust)
    if np.isfinite(problem.soft) or frame.variance.any():
        theta, cost = problem.distinct(*problem.descend(problem.box(theta[:_KEPT]), _AGAIN))
    refused = unidentified(problem, theta) if options.identify else None
    optima = tuple(Optimum(float(c), form.published(row, frame)) for row, c in zip(theta, cost, strict=True))
    record = Fit(data_hash=curve.data_hash, seed=seed, starts=len(begun.theta), objective=float(cost[0]))
    bare = FormFit(form, curve, refused, record, optima[0].parameters, optima=optima, _theta=theta[0], _frame=frame)
    residuals = residual(curve, bare.predict(curve.x))
    return replace(
        bare,
        residuals=residuals,
        sd=_sd(curve, residuals, form.size),
        aicc=aicc(float(residuals @ residuals), curve.points, form.size),
        bounded=_bounded(problem, theta[0]),
    )


def _bounded(problem: Problem, theta: Floats) -> tuple[str, ...]:
    """Parameters at a bound of their box."""
    box = problem.box(theta[None])
    edge = 1e-6 * (1 + np.abs(theta[:-1]))
    at = (theta[:-1] <= box.low[0, :-1] + edge) | (theta[:-1] >= box.high[0, :-1] - edge)
    return tuple(name for name, there in zip(problem.form.parameters, at, strict=True) if there)


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
