"""Forms: derivatives against differences, and values against the published equations in their own units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from foreshock.curves import Curve, fit, forms
from foreshock.curves._fit_frame import Frame, frame_of, kind_of
from foreshock.curves._fit_problem import Problem
from foreshock.curves._forms_power import share_of

Floats = NDArray[np.float64]
X = np.geomspace(2e5, 3e8, 17)
T = np.log(X)
CURVES = {
    "falling loss": Curve(X, 1.2 + 30 * X**-0.25 + 0.01 * np.cos(7 * T), low=0.0),
    "rising horizon": Curve(X, 50 - 40 * (X / X[0]) ** -0.3 + 0.3 * np.cos(7 * T), low=0.0),
    "log-probability": Curve(X, -(0.4 + 30 * X**-0.25) + 0.01 * np.cos(7 * T), high=0.0),
    "open": Curve(X, 3 - 30 * X**-0.25 + 0.02 * np.cos(7 * T)),
    "accuracy": Curve(X, 0.25 + 0.6 / (1 + np.exp(14 - T)) + 0.01 * np.cos(7 * T), low=0, high=1, chance=0.25),
}
CASES = [(name, form) for name, curve in CURVES.items() for form, f in forms().items() if kind_of(curve) in f.frames]


def problem(name: str, form: str) -> Problem:
    curve = CURVES[name]
    return Problem.of(forms()[form], frame_of(curve, forms()[form].frames[kind_of(curve)]))


@pytest.mark.parametrize(("name", "form"), CASES)
def test_derivatives_are_those_of_the_values(name: str, form: str) -> None:
    made = problem(name, form)
    checked = 0
    for row in made.screened(3, 6).theta:
        residuals = made._steps(float(row[-1]))
        theta = row[None, :-1]
        steps = np.diag(1e-6 * np.maximum(1.0, np.abs(theta[0])))
        up, down = (residuals(theta + way * steps)[0] for way in (1, -1))
        if not np.isfinite(up + down).all() or np.abs(up).max() > 8:
            continue  # a perturbed start on the edge of the scale: the step leaves it
        numeric = (up - down) / (2 * np.diag(steps)[:, None])
        scale = np.maximum(1.0, np.abs(numeric).max(axis=1, keepdims=True))
        assert np.abs(residuals(theta)[1][0] - numeric) / scale == pytest.approx(0, abs=1e-4)
        checked += 1
    assert checked >= 2


@pytest.mark.parametrize(("name", "form"), CASES)
def test_every_start_lies_in_its_box_and_some_have_a_value(name: str, form: str) -> None:
    made = problem(name, form)
    assert ((made.grid.theta >= made.grid.low) & (made.grid.theta <= made.grid.high)).all()
    assert np.isfinite(made.cost(made.grid.theta)).any()


def published(form: str, p: dict[str, float], x: Floats, y: Floats, curve: Curve) -> Floats:
    """Left side of a published equation; what is 0 where the prediction ``y`` solves it, relative to its terms."""
    t = np.log(x)
    sign = -1.0 if curve.high is not None and curve.low is None else 1.0
    own = sign * (y - (curve.low or 0.0 if curve.high is None else curve.high))
    if form == "m1":
        return p["log b"] + p["c"] * t - np.log(own)
    if form == "m2":
        target = curve.link.forward(y) if kind_of(curve) == "logit" else y
        return (p["e"] + p["sign"] * np.exp(p["log b"] + p["c"] * t)) / target - 1
    if form == "m3":
        return p["log b"] + p["c"] * np.log(1 / x + p["g"]) - np.log(own)
    if form == "m4":
        left = np.log(np.abs(y - p["e"])) - p["a"] * np.log(np.abs(p["e0"] - y))
        return left - (p["log b"] + p["c"] * t)
    if form == "line":
        return p["alpha"] + p["beta"] * t - curve.link.forward(y)
    if form.startswith("sigmoid"):
        return p["floor"] + (p["ceiling"] - p["floor"]) / (1 + np.exp(-p["alpha"] - p["beta"] * t)) - y
    log = p["log b"] - p["c0"] * t
    for i in range(1, int(form[-1]) + 1):
        d, f, c = p[f"log d{i}"], p[f"f{i}"], p[f"c{i}"]
        log = log - c * f * np.log1p(np.exp((t - d) / f))
    return (p["a"] + p["sign"] * np.exp(log)) / y - 1


@pytest.mark.parametrize(("name", "form"), CASES)
def test_told_parameters_solve_the_published_equation_where_the_form_predicts(name: str, form: str) -> None:
    curve = CURVES[name]
    found = fit(curve, form, identify=False)
    x = np.geomspace(X[0], 3 * X[-1], 7)
    y = found.predict(x)
    if form == "m4":
        # near a limit the left side is the log of rounding errors
        keep = (np.abs(y - found.parameters["e"]) > 1e-4) & (np.abs(y - found.parameters["e0"]) > 1e-4)
        x, y = x[keep], y[keep]
        assert x.size > 2
    assert published(form, found.parameters, x, y, curve) == pytest.approx(0, abs=2e-5)


def test_m4s_share_is_the_root_that_brentq_finds() -> None:
    from scipy.optimize import brentq

    rng = np.random.default_rng(0)
    wanted, a = rng.uniform(-30, 30, 50), np.exp(rng.uniform(np.log(0.05), np.log(20), 50))
    shares, plus = share_of(wanted, a)

    def left(s: float, k: int) -> float:
        return a[k] * float(np.logaddexp(0, s)) - float(np.logaddexp(0, -s)) - wanted[k]

    roots = np.array([brentq(left, -700, 700, args=(k,), xtol=1e-13) for k in range(50)])
    assert plus == pytest.approx(np.logaddexp(0, roots), rel=1e-7, abs=1e-9)
    assert np.log(shares) == pytest.approx(-np.logaddexp(0, -roots), abs=1e-6)


def test_m4_without_a_beginning_is_m2() -> None:
    curve = CURVES["falling loss"]
    frame: Frame = frame_of(curve, "log")
    tau = np.linspace(-1, 0.5, 9)
    m2 = np.array([[0.6, -1.0, -3.0, 1.0]])
    m4 = np.array([[0.6, -1.0, -3.0, -30.0, np.log(2.0), 1.0]])
    assert forms()["m4"].value(m4, tau, frame) == pytest.approx(forms()["m2"].value(m2, tau, frame))


def test_a_broken_law_whose_break_bends_nothing_is_m2() -> None:
    frame = frame_of(CURVES["falling loss"], "log")
    m2 = forms()["m2"].value(np.array([[0.6, -1.0, -3.0, 1.0]]), frame.tau, frame)
    for breaks in (1, 2, 3):
        theta = np.array([[0.6, -1.0, -3.0, *([0.0, -0.5, -2.0] * breaks), 1.0]])
        assert forms()[f"bnsl{breaks}"].value(theta, frame.tau, frame) == pytest.approx(m2)
