"""All forms of one curve: which the data rule out, and which they cannot tell apart though they part beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from foreshock._base import ConfigError
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._fit import FormFit, aicc, fit, penalty, points_term
from foreshock.curves._fit_frame import kind_of
from foreshock.curves._forms import forms
from foreshock.curves._identify import independent
from foreshock.records import Need
from foreshock.stats import t_quantile

RULED_OUT = 10.0
"""Gap of AICc from which a form has no support to speak of: its likelihood is below exp(-5) of the best's (Burnham and
Anderson, Model Selection and Multimodel Inference, 2002, section 2.6)."""
BEYOND = 1 / 4
"""Forecasts are compared this share of the axis' length beyond the last point."""
FEWEST = 3
_LAW = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class RuledOut:
    """A form that the data rule out: its gap of AICc to the best, over points that count as independent."""

    form: str
    best: str
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Two forms that the data cannot tell apart though their forecasts differ.

    Attributes:
        forms: Their names.
        gap: Difference of AICc.
        at: Place of the axis at which the forecasts are compared.
        values: The two forecasts, on the scale of the score.
        apart: Their difference in standard deviations of a point about the better one.
    """

    forms: tuple[str, str]
    gap: float
    at: float
    values: tuple[float, float]
    apart: float


@dataclass(frozen=True, slots=True, eq=False)
class FormFits:
    """All forms of one curve.

    Attributes:
        curve: The curve.
        fits: One fit a form, in the order asked for; refused ones as well.
        independent: Points that count as independent, from the autocorrelation of the best form's residuals.
        weights: Akaike weights of the forms that are not refused; they sum to 1.
        ruled_out: Forms without support, worst last.
        alike: Pairs that cannot be told apart and whose forecasts differ by more than a point scatters.
        no_law: Why no form says more than that the score stays where it is; None where one does.
        need: What would be enough where nothing could be fitted.
    """

    curve: Curve
    fits: tuple[FormFit, ...]
    independent: float = 0.0
    weights: tuple[tuple[str, float], ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    alike: tuple[Alike, ...] = ()
    no_law: str | None = None
    need: Need | None = None

    def __getitem__(self, name: str) -> FormFit:
        """The fit of a form.

        Raises:
            KeyError: The form was not asked for.
        """
        for found in self.fits:
            if found.form.name == name:
                return found
        raise KeyError(name)

    @property
    def best(self) -> FormFit | None:
        """The form with the lowest AICc of those that are not refused; None where there is none."""
        there = [f for f in self.fits if f.refused is None and np.isfinite(f.aicc)]
        return min(there, key=lambda f: f.aicc) if there else None

    def rows(self) -> list[dict[str, Any]]:
        """One row a form for tables of a report: everything that repeats its fit, and what the data say of it."""
        from foreshock.curves._fit_record import record_rows

        return record_rows(self)

    def with_all(self, *, seed: int = 0, identify: bool = True) -> FormFits:
        """The same with every form that has a meaning on the curve's scale: for the record, not for a forecast.

        Only what is missing is fitted; what is ruled out, alike and lawless is said of all of them.

        Args:
            seed: Seed of the perturbed starts.
            identify: Whether to refuse forms whose breaks or ends the data cannot place.
        """
        # as `fit` left them: the criterion is over points that count as independent, which the best form says
        there = {f.form.name: replace(f, aicc=_criterion(f)) if f.solved else f for f in self.fits}
        names = [name for name, form in forms().items() if kind_of(self.curve) in form.frames or name in there]
        if len(names) == len(there):
            return self
        return _told(self.curve, [there.get(n) or fit(self.curve, n, seed=seed, identify=identify) for n in names])


def fit_all(
    curve: Curve,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    robust: bool = True,
    identify: bool = True,
    at: float | None = None,
) -> FormFits:
    """Fit forms to a curve and say what the data say of them.

    Args:
        curve: The curve.
        names: Forms to fit; all that have a meaning on the curve's scale where not given.
        seed: Seed of the perturbed starts.
        robust: Whether far residuals count less.
        identify: Whether to refuse forms whose breaks or ends the data cannot place.
        at: Place at which forecasts are compared; :data:`BEYOND` the last point where not given.

    Raises:
        ConfigError: There is no such form, or ``at`` is not on the axis.

    Examples:
        >>> x = np.geomspace(1e6, 1e9, 24)
        >>> y = 1.5 + 400 * x**-0.4 + 0.001 * np.cos(np.arange(24.0))
        >>> told = fit_all(Curve(x, y, low=0.0), ("m1", "m2", "m3"))
        >>> told.best.form.name, [r.form for r in told.ruled_out][-1]
        ('m2', 'm1')
    """
    known = forms()
    names = [n for n, f in known.items() if kind_of(curve) in f.frames] if names is None else list(names)
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no form {name[:100]!r}", expected=", ".join(known))
    return _told(curve, [fit(curve, name, seed=seed, robust=robust, identify=identify) for name in names], at)


def _told(curve: Curve, fits: Sequence[FormFit], at: float | None = None) -> FormFits:
    """What the data say of some fits."""
    if not any(f.solved for f in fits):
        return FormFits(curve, tuple(fits), need=_need(curve, fits))
    counted = _independent(fits)
    fits = [replace(f, aicc=_criterion(f, counted)) if f.solved else f for f in fits]
    made = FormFits(curve, tuple(fits), counted)
    place = curve.x[-1] if at is None else at
    if at is None and np.ptp(curve.t) > 0:
        beyond = curve.t[-1] + BEYOND * np.ptp(curve.t)
        place = np.exp(beyond) if curve.log_x else beyond
    return replace(
        made,
        weights=_weights(made),
        ruled_out=_ruled_out(made),
        alike=_alike(made, float(place)),
        no_law=_no_law(made),
    )


def _need(curve: Curve, fits: Sequence[FormFit]) -> Need:
    places = float(np.unique(curve.x).size)
    enough = min((f.form.least for f in fits), default=FEWEST)
    return Need(what="places on the axis", have=places, enough=float(enough) if places < enough else None)


def _criterion(found: FormFit, counted: float | None = None) -> float:
    return aicc(_square(found), found.curve.points, found.form.size, counted)


def _square(found: FormFit) -> float:
    return float(found.residuals @ found.residuals)


def _independent(fits: Sequence[FormFit]) -> float:
    """Points that count as independent, by the residuals of the best form."""
    best = min((f for f in fits if f.solved), key=lambda f: (f.aicc, _square(f)))
    return independent(best.residuals)


def _supported(made: FormFits) -> list[FormFit]:
    return [f for f in made.fits if f.refused is None and np.isfinite(f.aicc)]


def _weights(made: FormFits) -> tuple[tuple[str, float], ...]:
    there = _supported(made)
    if not there:
        return ()
    score = np.array([f.aicc for f in there])
    weight = np.exp(-0.5 * (score - score.min()))
    return tuple((f.form.name, float(w)) for f, w in zip(there, weight / weight.sum(), strict=True))


def _ruled_out(made: FormFits) -> tuple[RuledOut, ...]:
    """Forms that fit worse than the best by more than parameters explain.

    A form with more parameters than the best is held against it by its fit alone: that it is not needed rules out
    nothing.
    """
    best = made.best
    if best is None:
        return ()
    n, counted = made.curve.points, made.independent
    gone = []
    for found in made.fits:
        if found.refused is not None or found is best:
            continue
        gap = points_term(_square(found), n, counted) - points_term(_square(best), n, counted)
        gap -= max(penalty(n, best.form.size) - penalty(n, found.form.size), 0.0)
        if gap > RULED_OUT:
            gone.append((gap, found.form.name))
    return tuple(RuledOut(name, best.form.name, float(gap)) for gap, name in sorted(gone))


def _alike(made: FormFits, at: float) -> tuple[Alike, ...]:
    there = sorted((f for f in _supported(made)), key=lambda f: f.aicc)
    best = there[0] if there else None
    pairs = []
    for one, other in combinations(there, 2):
        gap = abs(other.aicc - one.aicc)
        values = (float(one.predict(at)), float(other.predict(at)))
        if best is None or gap > RULED_OUT or other.aicc - best.aicc > RULED_OUT or not np.isfinite(values).all():
            continue
        apart = abs(_link_gap(made.curve, values)) / max(_scatter(one), 1e-12)
        if apart > 1:
            pairs.append(Alike((one.form.name, other.form.name), float(gap), at, values, float(apart)))
    return tuple(sorted(pairs, key=lambda p: (-p.apart, p.forms)))


def _link_gap(curve: Curve, values: tuple[float, float]) -> float:
    z: Floats = curve.link.forward(np.array(values))
    if not np.isfinite(curve.z).all() or not np.isfinite(z).all():
        return values[1] - values[0]
    return float(z[1] - z[0])


def _scatter(found: FormFit) -> float:
    left = max(found.curve.points - found.form.size, 1)
    return float(np.sqrt(found.residuals @ found.residuals / left))


def _no_law(made: FormFits) -> str | None:
    """Whether a constant does as well: no straight line on the link by a t test at 5%, and no form by AICc.

    AICc alone finds nothing in few points (with five a line must leave an 80th of the squares), the test alone no rise
    and fall. Both together call a constant with noise a law in 3%, 4% and 7% (24, 12 and 5 points, 150 worlds each).
    """
    curve, best, n = made.curve, made.best, made.independent
    z = curve.z if np.isfinite(curve.z).all() else curve.y
    if _moves(curve.t, z):
        return None
    about = z - z.mean()
    flat = aicc(float(about @ about), curve.points, 1, n)
    if best is None or not np.isfinite(flat):
        return "no law here: no straight line is beyond the noise, and the points are too few for another form"
    gap = flat - best.aicc
    if gap > _LAW:
        return None
    return f"no law here: a constant does as well as the best form ({best.form.name}, AICc gap {gap:.1f})"


def _moves(t: Floats, z: Floats) -> bool:
    """Whether a straight line has a slope by a two-sided t test at 5%, over points that count as independent."""
    centred = t - t.mean()
    square = float(centred @ centred)
    if square == 0 or z.size < FEWEST:
        return False
    slope = float(centred @ z) / square
    left = z - z.mean() - slope * centred
    df = max(z.size - 2, 1)
    error = float(left @ left) / df / square * z.size / independent(left)
    return bool(slope * slope > t_quantile(0.975, df) ** 2 * error)
