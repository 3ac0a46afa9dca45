"""What a score is drawn over: sizes, tokens, compute, steps, loss, dates, another benchmark, an ability.

An axis is an array of places with what must be said of it: how it is read, and which places were stated by nobody but
derived. Places of unknown models are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock._base import ConfigError, MetricError
from foreshock.curves._abilities import EDGE, Floats, abilities
from foreshock.records import ModelCard
from foreshock.stats import logit

Bools = NDArray[np.bool_]

CARD_AXES = ("parameters", "active_parameters", "tokens", "flops", "step", "released")
"""Axes that a model card gives."""
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """Places of models.

    Attributes:
        name: What it is.
        x: Places in the axis' own unit, NaN where not known, shape (models,).
        log: Whether it is read on a log scale.
        derived: Which places were derived and stated by nobody, shape (models,).
        how: How, in a sentence; empty where every place was stated.
    """

    name: str
    x: Floats
    log: bool
    derived: Bools
    how: str = ""

    @property
    def known(self) -> Bools:
        """Which models have a place, shape (models,)."""
        return ~np.isnan(self.x)


def card_axis(name: str, cards: Sequence[ModelCard]) -> Axis:
    """An axis of :data:`CARD_AXES` from model cards.

    Compute that is not stated is 6 FLOPs for each active parameter and token (Kaplan et al. 2020, section 2.1), and
    active parameters that are not stated are all of them. Dates are days since 1970; a month or a year without a day is
    its middle.

    Raises:
        ConfigError: There is no such axis.

    Examples:
        >>> axis = card_axis("flops", [ModelCard(parameters=1e9, tokens=3e11), ModelCard(flops=2e21), ModelCard()])
        >>> axis.x.tolist(), axis.derived.tolist()
        ([1.8e+21, 2e+21, nan], [True, False, False])
        >>> axis.how
        '6 FLOPs for each parameter and token, of 1 of 2 models'
    """
    if name not in CARD_AXES:
        raise ConfigError(f"unknown axis {name!r}", expected=f"one of {', '.join(CARD_AXES)}", do="choose one of them")
    given = [_from_card(name, card) for card in cards]
    x = np.array([np.nan if value is None else value for value, _ in given], float)
    derived = np.array([way and value is not None for value, way in given], bool)
    if name != "released" and (x[~np.isnan(x)] <= 0).any():
        raise ConfigError(
            f"a model card says {np.nanmin(x):g} {name}", expected="more than 0", do="correct models.toml"
        )
    words = {
        "flops": "6 FLOPs for each parameter and token",
        "active_parameters": "all parameters taken as active",
        "released": "the middle of the month or year",
    }
    how = f"{words[name]}, of {derived.sum()} of {(~np.isnan(x)).sum()} models" if derived.any() else ""
    return Axis(name, x, name != "released", derived, how)


def _from_card(name: str, card: ModelCard) -> tuple[float | None, bool]:
    if name == "flops":
        return card.compute, card.flops is None
    if name == "active_parameters":
        return (card.parameters, True) if card.active_parameters is None else (card.active_parameters, False)
    if name == "released":
        return days_of(card.released) if card.released else (None, False)
    value = getattr(card, name)
    return (None if value is None else float(value)), False


def days_of(text: str) -> tuple[float | None, bool]:
    """Days since 1970 of an ISO date, and whether a day had to be chosen; None where it is no date.

    Examples:
        >>> days_of("1970-01-11"), days_of("2024-02"), days_of("soon")
        ((10.0, False), (19768.5, True), (None, False))
    """
    parts = text.strip().split("T")[0].split("-")
    try:
        number = [int(part) for part in parts]
        if len(number) == 3:
            return float((date(*number) - _EPOCH).days), False
        if len(number) > 3:
            return None, False
        year, month = number[0], number[1] if len(number) == 2 else None
        first = date(year, month or 1, 1)
        later = date(year + 1, 1, 1) if month in (None, 12) else date(year, (month or 0) + 1, 1)
    except (ValueError, OverflowError):
        return None, False
    return ((first - _EPOCH).days + (later - _EPOCH).days) / 2, True


def loss_axis(loss: ArrayLike) -> Axis:
    """A loss as an axis that ascends as models get better: one over it, read on a log scale.

    Raises:
        MetricError: A loss is 0 or less.

    Examples:
        >>> loss_axis([4.0, 2.0]).x.tolist()
        [0.25, 0.5]
    """
    value = np.asarray(loss, float)
    if (value[~np.isnan(value)] <= 0).any():
        raise MetricError("a loss is 0 or less", expected="losses above 0", do="take another axis")
    return Axis("loss", 1 / value, True, np.zeros(value.shape, bool), "one over the loss, so that better is further")


def benchmark_axis(scores: ArrayLike, low: float = 0.0, high: float = 1.0) -> Axis:
    """Another benchmark as an axis: the log-odds of its share of the scale.

    Raises:
        MetricError: A score is outside the scale.

    Examples:
        >>> benchmark_axis([50.0, np.nan], high=100.0).x.tolist()
        [0.0, nan]
    """
    value = np.asarray(scores, float)
    known = value[~np.isnan(value)]
    if not low < high or (known < low).any() or (known > high).any():
        raise MetricError("a score is outside the scale", expected=f"scores from {low:g} to {high:g}")
    share = np.clip((value - low) / (high - low), EDGE, 1 - EDGE)
    how = f"log-odds, no nearer than {EDGE:g} to an end"
    return Axis("benchmark", logit.forward(share), False, np.zeros(value.shape, bool), how)


def ability_axis(benchmarks: ArrayLike, train: ArrayLike) -> Axis:
    """The first ability behind several benchmarks as an axis; see :mod:`foreshock.curves._abilities`.

    Args:
        benchmarks: Scores, NaN where missing, shape (models, benchmarks).
        train: Which models it is fitted on, shape (models,); those that are to be forecast are not among them.

    Raises:
        MetricError: No benchmark was run on most of the training models with scores that differ.
    """
    scores, inside = np.asarray(benchmarks, float), np.asarray(train, bool)
    try:
        found = abilities(scores[inside], 1)
    except ValueError as why:
        raise MetricError(str(why), do="add benchmarks, or take another axis") from None
    x = found.of(scores)[:, 0]
    how = (
        f"first principal component of {int(found.used.sum())} benchmarks over {int(inside.sum())} models, "
        f"{found.explained[0]:.0%} of the variance"
    )
    return Axis("ability", x, False, ~np.isnan(x), how)
