"""Calibration of forecasts on other curves: weights, scales and conformal scores, never with the forecast curve itself.

Scores are taken across groups: the weights and the scale with which a curve is scored were learned without its group.
So a new curve, whose group is not in the calibration either, stands to them as they stand to each other.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from foreshock._base import ConfigError, NotEnoughDataError
from foreshock.curves._combine import candidates
from foreshock.curves._conformal import Scores, conformal_quantile, curves_needed, group_factor, pooled
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._learn import Known, Rule, chosen_weights, error_products, learned_rule, scored

FOLDS = 5
"""Random parts in place of groups where curves of fewer than three groups are known."""
_FORMAT = 1
_DIGITS = 5


@dataclass(frozen=True, eq=False)
class Calibration:
    """What was learned on other curves.

    Attributes:
        kind: ``open`` for scores without an end or with one, ``share`` for scores between two.
        rule: Weights and scales; None for scores between two ends, where they come with each forecast.
        scores: Signed scores of each curve, from a rule that had not seen its group.
        still: The same of persistence.
        groups: Group of each curve.
        source: What the curves are, in words.
        strength: How strongly weights were drawn to equal ones; infinite where they are equal.
        widened: Whether intervals are widened because groups differ. Shapes of a simulation are no groups in that
            sense: they are a mixture, and a new curve is drawn from all of it.
    """

    kind: str
    rule: Rule | None
    scores: tuple[Floats, ...]
    still: tuple[Floats, ...]
    groups: tuple[str, ...]
    source: str
    strength: float = math.inf
    widened: bool = True

    @functools.cached_property
    def pool(self) -> Scores:
        """All scores of the combination."""
        return pooled(list(self.scores))

    @functools.cached_property
    def pool_still(self) -> Scores:
        """All scores of persistence."""
        return pooled(list(self.still))

    def factor(self, level: float) -> float:
        """By how much intervals are widened because groups differ."""
        return group_factor(self.scores, self.groups, level) if self.widened else 1.0

    def factor_still(self, level: float) -> float:
        """The same for persistence."""
        return group_factor(self.still, self.groups, level) if self.widened else 1.0

    @property
    def curves(self) -> int:
        """Curves behind it."""
        return len(self.scores)

    def coverage(self, level: float = 0.9) -> dict[str, float]:
        """Share of each group's targets inside intervals calibrated on all other groups, curves of equal weight.

        Empty where there are fewer than two groups.
        """
        label = np.array(self.groups)
        names = sorted(set(self.groups))
        found = {}
        for name in names if len(names) > 1 else ():
            rest = np.flatnonzero(label != name)
            others = [self.scores[i] for i in rest]
            reach = conformal_quantile(pooled(others), level)
            if self.widened:
                reach *= group_factor(others, [self.groups[i] for i in rest], level)
            inside = [float(np.mean(np.abs(self.scores[i]) <= reach)) for i in np.flatnonzero(label == name)]
            found[name] = float(np.mean(inside))
        return found

    def basis(self, level: float = 0.9) -> str:
        """What an interval of this level rests on, in a sentence."""
        groups = self.coverage(level)
        told = f"{self.source}: {self.curves} curves"
        if not groups:
            return f"{told} of one group, so that coverage on another group is not known"
        size = np.array([self.groups.count(name) for name in groups])
        share = np.array(list(groups.values()))
        return (
            f"{told} of {len(groups)} groups; with each group left out, {level:.4g} intervals cover "
            f"{share @ size / size.sum():.2f} of all and {share.min():.2f} to {share.max():.2f} by group"
        )

    def to_json(self) -> str:
        """As text, from which :meth:`from_json` makes the same calibration."""
        rule = self.rule
        return json.dumps(
            {
                "format": _FORMAT,
                "kind": self.kind,
                "source": self.source,
                "widened": self.widened,
                "strength": None if math.isinf(self.strength) else self.strength,
                "weights": None if rule is None else rule.weights,
                "parts": None if rule is None else _rounded(rule.parts),
                "still_parts": None if rule is None else _rounded(rule.still),
                "groups": list(self.groups),
                "scores": [_rounded(s) for s in self.scores],
                "still": [_rounded(s) for s in self.still],
            },
            allow_nan=True,
        )

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read :meth:`to_json`'s text.

        Raises:
            ConfigError: It is not such a text.
        """
        try:
            return _read(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError) as wrong:
            raise ConfigError(
                f"this is no calibration: {str(wrong)[:200]}", expected="the text that a calibration writes of itself"
            ) from None


def _rounded(values: Floats) -> list[float]:
    return [float(f"{v:.{_DIGITS}g}") for v in values]


def _read(said: dict[str, Any]) -> Calibration:
    if said["format"] != _FORMAT:
        raise ValueError(f"format {said['format']!r}, expected {_FORMAT}")
    scores, still = (tuple(np.array(s, float) for s in said[name]) for name in ("scores", "still"))
    groups = tuple(str(g) for g in said["groups"])
    if not len(scores) == len(still) == len(groups) or any(s.ndim != 1 or not s.size for s in (*scores, *still)):
        raise ValueError("scores and groups do not fit each other")
    rule = None
    if said["weights"] is not None:
        weights = {str(name): float(w) for name, w in said["weights"].items()}
        rule = Rule(weights, np.array(said["parts"], float), np.array(said["still_parts"], float))
    strength = math.inf if said["strength"] is None else float(said["strength"])
    return Calibration(
        str(said["kind"]), rule, scores, still, groups, str(said["source"]), strength, bool(said["widened"])
    )


@functools.cache
def shipped(kind: str) -> Calibration:
    """What the package learned on simulated curves (:func:`foreshock.simulate.scaling_curve`)."""
    text = files("foreshock.curves").joinpath("_shipped.json").read_text("utf-8")
    return _read(json.loads(text)[kind])


def kind_of_scale(curve: Curve) -> str:
    """``share`` where a score has two ends, ``open`` otherwise."""
    return "share" if curve.low is not None and curve.high is not None else "open"


def known_curve(curve: Curve, x: Floats, y: Floats, *, seed: int = 0) -> Known:
    """Forecasts of a history and what came after it, on the link."""
    came = Curve(np.asarray(x, float), np.asarray(y, float), low=curve.low, high=curve.high, log_x=curve.log_x).z
    return Known(candidates(curve, np.asarray(x, float), seed=seed), came, curve.group)


def calibrate(
    histories: Sequence[tuple[Curve, Floats, Floats]], *, level: float = 0.9, seed: int = 0, source: str = "own curves"
) -> Calibration:
    """Learn weights, scales and scores on curves whose continuation is known.

    Args:
        histories: For each curve its history, and places and scores beyond it, ascending. Curves for which no forecast
            is made are left out. Groups are those of the curves.
        level: Level for which there must be curves enough.
        seed: Seed of the fits.
        source: What the curves are, in words; forecasts print it.

    Raises:
        NotEnoughDataError: Too few curves for an interval of that level.
        ConfigError: The curves are on scales of different kinds.
    """
    from foreshock.curves._forecast import refusal_of, supported

    kept = []
    for curve, x, y in histories:
        places, scores = np.asarray(x, float), np.asarray(y, float)
        if refusal_of(curve) is None:
            near = supported(curve, places)
            if near.any():
                kept.append((curve, places[near], scores[near]))
    kinds = {kind_of_scale(curve) for curve, _, _ in kept}
    if len(kept) < curves_needed(level):
        raise NotEnoughDataError(
            f"{len(kept)} of {len(histories)} curves can be used for calibration",
            expected=f"at least {curves_needed(level)} for intervals of {level:.4g}",
            do="add curves, or use the shipped calibration",
        )
    if len(kinds) > 1:
        raise ConfigError(
            "the curves are on scales with one end and with two",
            expected="scales of one kind",
            do="calibrate each apart",
        )
    if kinds == {"share"}:
        return _calibrate_shares(kept, seed, source)
    return calibrated([known_curve(*one, seed=seed) for one in kept], seed=seed, source=source)


def _calibrate_shares(kept: Sequence[tuple[Curve, Floats, Floats]], seed: int, source: str) -> Calibration:
    raise NotImplementedError


def calibrated(
    known: Sequence[Known], *, seed: int = 0, source: str = "own curves", mixture: bool = False
) -> Calibration:
    """:func:`calibrate` for curves whose forecasts are already made.

    ``mixture`` is for simulated curves: no weights are learned, as they would be good for the simulation, and intervals
    are not widened because its shapes differ.
    """
    known = [one for one in known if np.isfinite(one.came).all()]
    groups = tuple(one.group for one in known)
    products = error_products(known)
    weights, strength = chosen_weights(products, groups, equal=mixture)
    parts = folds(groups, seed)
    scores: list[Floats] = [np.empty(0)] * len(known)
    still = list(scores)
    for part in sorted(set(parts.tolist())):
        inside, outside = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        others = [known[i] for i in outside]
        own, _ = chosen_weights(products[outside], [groups[i] for i in outside], equal=mixture)
        rule = learned_rule(others, own)
        for i in inside:
            scores[i], still[i] = scored(known[i], rule)
    rule = learned_rule(known, weights)
    return Calibration("open", rule, tuple(scores), tuple(still), groups, source, strength, not mixture)


def folds(groups: Sequence[str], seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Part of each curve: its group, or one of :data:`FOLDS` random parts where there are fewer than three groups."""
    names = sorted(set(groups))
    if len(names) >= 3:
        return np.array([names.index(g) for g in groups])
    parts = np.arange(len(groups)) % FOLDS
    return np.random.default_rng(seed).permutation(parts)
