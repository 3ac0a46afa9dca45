"""Learning a calibration from curves whose continuation is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from foreshock._base import ConfigError, NotEnoughDataError
from foreshock.curves._calibration import Calibration
from foreshock.curves._combine import candidates
from foreshock.curves._conformal import curves_needed, signed_scores
from foreshock.curves._curve import Curve, Floats
from foreshock.curves._learn import Known, chosen_weights, error_products, learned_rule, scored
from foreshock.curves._scores import came_on_link, score_prediction
from foreshock.curves._support import distance_of, kind_of_scale, refusal_of, supported

MOST_KEPT = 5000
"""Curves whose forecasts are kept, of a few kilobytes each."""
_KEPT: dict[tuple[Any, ...], Known] = {}
FOLDS = 5
"""Random parts in place of groups where curves of fewer than three groups are known."""


def known_curve(curve: Curve, x: Floats, y: Floats, *, seed: int = 0) -> Known:
    """Forecasts of a history and what came after it, on the link.

    The last :data:`MOST_KEPT` are kept, so that leaving out one group after another fits no curve twice.
    """
    places, scores = np.asarray(x, float), np.asarray(y, float)
    key = (curve.data_hash, places.tobytes(), scores.tobytes(), curve.group, seed)
    if key not in _KEPT:
        came = Curve(places, scores, low=curve.low, high=curve.high, log_x=curve.log_x).z
        found = replace(candidates(curve, places, seed=seed), fits=None)
        _KEPT[key] = Known(found, came, distance_of(curve, places), curve.group)
        while len(_KEPT) > MOST_KEPT:
            del _KEPT[next(iter(_KEPT))]
    return _KEPT[key]


def calibrate(
    histories: Sequence[tuple[Curve, Floats, Floats]], *, level: float = 0.9, seed: int = 0, source: str = "own curves"
) -> Calibration:
    """Learn weights, scales and scores on curves whose continuation is known.

    Args:
        histories: For each curve its history, and places and scores beyond it. Curves for which no forecast
            is made are left out. Groups are those of the curves.
        level: Level for which there must be curves enough.
        seed: Seed of the fits.
        source: What the curves are, in words; forecasts print it.

    Raises:
        NotEnoughDataError: Too few curves for an interval of that level.
        ConfigError: The curves are on scales of different kinds.
    """
    kept = []
    for curve, x, y in histories:
        order = np.argsort(np.asarray(x, float), kind="stable")
        places, scores = np.asarray(x, float)[order], np.asarray(y, float)[order]
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
        return calibrated_shares(kept, seed=seed, source=source)
    return calibrated([known_curve(*one, seed=seed) for one in kept], seed=seed, source=source)


def calibrated_shares(
    kept: Sequence[tuple[Curve, Floats, Floats]], *, seed: int = 0, source: str = "own curves", mixture: bool = False
) -> Calibration:
    """:func:`calibrate` for scores between two ends, whose forecasts bring their scales along.

    Nothing is learned but how far off they are; ``mixture`` as in :func:`calibrated`.
    """
    scores, still = [], []
    for curve, x, y in kept:
        told, came = score_prediction(curve, x, seed=seed), came_on_link(curve, y)
        scores.append(signed_scores(came, told.centre, told.down, told.up))
        still.append(signed_scores(came, told.last, told.still_down, told.still_up))
    far = tuple(distance_of(curve, x) for curve, x, _ in kept)
    groups = tuple(curve.group for curve, _, _ in kept)
    return Calibration("share", None, tuple(scores), tuple(still), far, groups, source, widened=not mixture)


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
    return Calibration(
        "open",
        rule,
        tuple(scores),
        tuple(still),
        tuple(one.distance for one in known),
        groups,
        source,
        strength,
        not mixture,
    )


def folds(groups: Sequence[str], seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Part of each curve: its group, or one of :data:`FOLDS` random parts where there are fewer than three groups."""
    names = sorted(set(groups))
    if len(names) >= 3:
        return np.array([names.index(g) for g in groups])
    parts = np.arange(len(groups)) % FOLDS
    return np.random.default_rng(seed).permutation(parts)
