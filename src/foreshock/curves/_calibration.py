"""Calibration of forecasts on other curves: weights, scales and conformal scores, never with the forecast curve itself.

Scores are taken across groups: the weights and the scale with which a curve is scored were learned without its group.
So a new curve, whose group is not in the calibration either, stands to them as they stand to each other.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foreshock._base import ConfigError
from foreshock.curves._conformal import Scores, conformal_quantile, curves_needed, group_factor, pooled
from foreshock.curves._curve import Floats
from foreshock.curves._learn import Rule

EDGES = (0.25, 0.5)
"""Ends of the bins of distance, in lengths of the history."""
LEAST_IN_BIN = 30
"""Curves under which a bin of distance has no quantile of its own."""
UNCOUNTED = "share, items unknown"
"""Shipped calibration of scores between two ends with nothing known of their sampling noise."""
TURNED = "turned"
"""Shipped calibration of persistence after a history that has left its path."""
Bools = NDArray[np.bool_]
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
        distances: Distance of each scored place from the end of the history, over the history's length.
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
    distances: tuple[Floats, ...]
    groups: tuple[str, ...]
    source: str
    strength: float = math.inf
    widened: bool = True

    def band(self, distance: Floats, level: float, *, still: bool = False) -> list[tuple[Bools, Scores, float]]:
        """Scores for places at some distances: conformal within bins of distance, as far places fail in other ways.

        Args:
            distance: Distance of each place over the history's length, shape (places,).
            level: Coverage; a bin with fewer than :data:`LEAST_IN_BIN` curves, or too few for the level, is joined with
                all others.
            still: Whether it is persistence that is forecast.

        Returns:
            For each bin that is used: its places, its scores, and by how much its intervals are widened because groups
            differ.
        """
        where = np.searchsorted(EDGES, distance, side="left")
        found = []
        for number in np.unique(where).tolist():
            scores = self._pool(number, level, tuple(range(self.curves)), still=still)
            factor = max(self.factor(level, still=still), self._no_narrower(number, level, scores, still=still))
            found.append((where == number, scores, factor))
        return found

    def _no_narrower(self, number: int, level: float, scores: Scores, *, still: bool) -> float:
        """Factor by which a bin joined with all others for want of curves is at least as wide as its own scores reach.

        The bin alone gives every lower level; without this a higher one, from the pool of all, could be narrower.
        """
        every = self.still if still else self.scores
        pairs = zip(every, self.distances, strict=True)
        inside = [s[np.searchsorted(EDGES, d, side="left") == number] for s, d in pairs]
        curves = sum(1 for s in inside if s.size)
        reach = conformal_quantile(scores, level)
        if not LEAST_IN_BIN <= curves < curves_needed(level) or not (math.isfinite(reach) and reach > 0):
            return 1.0
        distance = np.abs(np.concatenate(inside))
        return float(distance[np.isfinite(distance)].max(initial=0.0) / reach)

    def _pool(self, number: int, level: float, which: tuple[int, ...], *, still: bool = False) -> Scores:
        """Scores of some curves in a bin of distance, or in all where the bin has too few curves."""
        key = ("pool", number, level, which, still)
        if key not in self._told:
            every = self.still if still else self.scores
            inside = [every[i][np.searchsorted(EDGES, self.distances[i], side="left") == number] for i in which]
            scores = [s for s in inside if s.size]
            enough = len(scores) >= max(LEAST_IN_BIN, curves_needed(level))
            self._told[key] = pooled(scores if enough else [every[i] for i in which])
        found: Scores = self._told[key]
        return found

    def factor(self, level: float, *, still: bool = False) -> float:
        """By how much intervals are widened because groups differ."""
        if not self.widened:
            return 1.0
        key = ("factor", level, still)
        if key not in self._told:
            self._told[key] = group_factor(self.still if still else self.scores, self.groups, level)
        return float(self._told[key])

    @functools.cached_property
    def _told(self) -> dict[tuple[Any, ...], Any]:
        """What was worked out already: a thousand curves are forecast with one calibration."""
        return {}

    @property
    def curves(self) -> int:
        """Curves behind it."""
        return len(self.scores)

    def coverage(self, level: float = 0.9, *, still: bool = False) -> dict[str, float]:
        """Share of each group's targets inside intervals calibrated on all other groups, curves of equal weight.

        Empty where there are fewer than two groups. ``still`` asks for the intervals about persistence.
        """
        key = ("coverage", level, still)
        if key not in self._told:
            names = sorted(set(self.groups)) if len(set(self.groups)) > 1 else []
            self._told[key] = {name: self._left_out(name, level, still=still) for name in names}
        return dict(self._told[key])

    def _left_out(self, name: str, level: float, *, still: bool) -> float:
        """Share of a group's places inside intervals that rest on all other groups."""
        every = self.still if still else self.scores
        rest = tuple(i for i, group in enumerate(self.groups) if group != name)
        wider = 1.0
        if self.widened:
            wider = group_factor([every[i] for i in rest], [self.groups[i] for i in rest], level)
        pools = {n: self._pool(n, level, rest, still=still) for n in range(len(EDGES) + 1)}
        reach = {n: wider * conformal_quantile(pool, level) for n, pool in pools.items()}
        shares = []
        for i in set(range(self.curves)) - set(rest):
            bins = np.searchsorted(EDGES, self.distances[i], side="left")
            shares.append(float(np.mean(np.abs(every[i]) <= np.array([reach[int(n)] for n in bins]))))
        return float(np.mean(shares))

    def basis(self, level: float = 0.9, *, still: bool = False) -> str:
        """What an interval of this level rests on, in a sentence; ``still`` is that about persistence."""
        groups = self.coverage(level, still=still)
        told = f"{self.source}: {self.curves} curves"
        if not groups:
            return f"{told} of one group, so that coverage on another group is not known"
        size = np.array([self.groups.count(name) for name in groups])
        share = np.array(list(groups.values()))
        return (
            f"{told} of {len(groups)} groups; with each group left out, {level:.4g} intervals "
            f"{'about the last score ' if still else ''}cover "
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
                "distances": [_rounded(d) for d in self.distances],
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
    scores, still, far = (tuple(np.array(s, float) for s in said[name]) for name in ("scores", "still", "distances"))
    groups = tuple(str(g) for g in said["groups"])
    sizes = [[s.shape for s in part] for part in (scores, still, far)]
    if sizes[0] != sizes[1] or sizes[0] != sizes[2] or len(scores) != len(groups) or any(s.size == 0 for s in scores):
        raise ValueError("scores and groups do not fit each other")
    rule = None
    if said["weights"] is not None:
        weights = {str(name): float(w) for name, w in said["weights"].items()}
        rule = Rule(weights, np.array(said["parts"], float), np.array(said["still_parts"], float))
    strength = math.inf if said["strength"] is None else float(said["strength"])
    return Calibration(
        str(said["kind"]), rule, scores, still, far, groups, str(said["source"]), strength, bool(said["widened"])
    )


@functools.cache
def shipped(name: str) -> Calibration:
    """What the package learned on simulated curves (:func:`foreshock.simulate.scaling_curve`, ``score_curve``).

    ``open`` and ``share`` by the scale, :data:`UNCOUNTED` and :data:`TURNED` by the history.
    """
    text = files("foreshock.curves").joinpath("_shipped.json").read_text("utf-8")
    return _read(json.loads(text)[name])
