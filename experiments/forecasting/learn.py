"""Learns the shipped calibration of forecasts from simulated curves.

    python -m experiments.forecasting.learn [--curves 1200] [--turned 300] [--seed 0] [--write]

Each curve is drawn from the prior of ``foreshock.simulate.scaling_curve`` (scores with an open end) or ``score_curve``
(scores between two ends), forecast from its seen part and scored on at most four of its held-out points. Histories and
places that get no forecast are passed over, as they are of a user's curves. Histories whose end has left their path get
a calibration of their own, for persistence; ``--turned`` says how many of them are drawn from the same prior. Groups
are the shapes of the prior. ``--write`` puts the calibrations into ``src/foreshock/curves/_shipped.json`` and what was
measured beside this file.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.curves import Curve
from foreshock.curves._calibrate import calibrated, calibrated_shares, known_curve
from foreshock.curves._calibration import TURNED, UNCOUNTED, Calibration
from foreshock.curves._combine import ALL_FORMS, FEATURES
from foreshock.curves._curve import Floats
from foreshock.curves._learn import Known, curve_errors, error_products, learned_weights
from foreshock.curves._support import refusal_of, supported, turning
from foreshock.simulate import scaling_curve, score_curve

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "src" / "foreshock" / "curves" / "_shipped.json"
RESULTS = Path(__file__).parent / "results" / "learned.json"
TARGETS = 4
LEVELS = (0.5, 0.8, 0.9, 0.95)


def simulated(curves: int, seed: int) -> list[Known]:
    """The first curves of the prior that get a forecast, with what came.

    Each number has a generator of its own, so that more curves change none.
    """
    known: list[Known] = []
    for number in itertools.count():
        curve, x, y = drawn_curve(np.random.default_rng([seed, number]))
        near = supported(curve, x)
        if near.any():
            known.append(known_curve(curve, x[near], y[near]))
        if len(known) == curves:
            break
    return known


def turned(curves: int, seed: int) -> list[Known]:
    """The first curves of the prior whose history has left its path."""
    known: list[Known] = []
    for number in itertools.count():
        curve, x, y = drawn_curve(np.random.default_rng([seed, 2, number]))
        if turning(curve):
            known.append(known_curve(curve, x, y))
        if len(known) == curves:
            break
    return known


def drawn_curve(rng: np.random.Generator) -> tuple[Curve, Floats, Floats]:
    """A history with an open end and at most :data:`TARGETS` of its held-out points."""
    drawn = scaling_curve(rng)
    some = np.sort(rng.permutation(drawn.ahead_x.size)[:TARGETS])
    return Curve(drawn.x, drawn.y, low=0.0, group=drawn.kind), drawn.ahead_x[some], drawn.ahead_y[some]


def simulated_scores(curves: int, seed: int, *, counted: bool) -> list[tuple[Curve, Floats, Floats]]:
    """The first scores between two ends that get a forecast, with what came; the forecast does not know of guessing.

    ``counted`` says whether it knows how many items are behind a score.
    """
    kept: list[tuple[Curve, Floats, Floats]] = []
    for number in itertools.count():
        rng = np.random.default_rng([seed, number])
        drawn = score_curve(rng)
        items = np.full(drawn.x.size, float(drawn.items)) if counted else None
        curve = Curve(drawn.x, drawn.y, items, low=0.0, high=1.0, group=drawn.kind)
        some = np.sort(rng.permutation(drawn.ahead_x.size)[:TARGETS])
        near = some[supported(curve, drawn.ahead_x[some])]
        if near.size and refusal_of(curve) is None:
            kept.append((curve, drawn.ahead_x[near], drawn.ahead_y[near]))
        if len(kept) == curves:
            break
    return kept


def measured(known: Sequence[Known], made: Calibration) -> dict[str, Any]:
    """What learning weights would have done, and coverage on shapes left out."""
    products = error_products(known)
    label = np.array([one.group for one in known])
    out = {}
    for strength in (np.inf, 10.0, 1.0, 0.1):
        errors = [
            curve_errors(learned_weights(products[label != g], strength), products[label == g]).mean()
            for g in sorted(set(label.tolist()))
        ]
        out[str(strength)] = float(np.mean(errors))
    alone = {name: float(np.sqrt(products[:, i, i]).mean()) for i, name in enumerate(ALL_FORMS)}
    return {
        "error_by_strength_on_shapes_left_out": out,
        "error_of_form_alone": alone,
        "weights_at_strength_1": dict(zip(ALL_FORMS, learned_weights(products, 1.0).round(3).tolist(), strict=True)),
        "parts": {"combination": parts(made, still=False), "persistence": parts(made, still=True)},
        **coverage(made),
    }


def parts(made: Calibration, *, still: bool) -> dict[str, float]:
    """Parts of the features in the scale."""
    assert made.rule is not None
    found = made.rule.still if still else made.rule.parts
    return dict(zip(FEATURES, found.round(4).tolist(), strict=True))


def coverage(made: Calibration, *, still: bool = False) -> dict[str, Any]:
    """Coverage on each shape with that shape left out of the scores."""
    return {
        "coverage_on_shapes_left_out": {str(level): made.coverage(level, still=still) for level in LEVELS},
        "basis": made.basis(),
    }


def main() -> None:
    """Learn, print, and keep what was learned when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", type=int, default=1200)
    parser.add_argument("--turned", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    before = time.process_time()
    known = simulated(asked.curves, asked.seed)
    made = calibrated(known, seed=asked.seed, source="simulated scaling curves", mixture=True)
    shares, uncounted = (
        calibrated_shares(
            simulated_scores(asked.curves, asked.seed, counted=known_items),
            seed=asked.seed,
            source="simulated scores of models" + ("" if known_items else " whose items are not told"),
            mixture=True,
        )
        for known_items in (True, False)
    )
    off = calibrated(
        turned(asked.turned, asked.seed),
        seed=asked.seed,
        source="simulated scaling curves whose last scores left their path",
        mixture=True,
    )
    sizes = f"--curves {asked.curves} --turned {asked.turned} --seed {asked.seed}"
    told = {
        "command": f"python -m experiments.forecasting.learn {sizes} --write",
        "cpu_seconds": round(time.process_time() - before, 1),
        "curves": asked.curves,
        "open": measured(known, made),
        "share": coverage(shares),
        UNCOUNTED: coverage(uncounted),
        TURNED: {"parts": parts(off, still=True), **coverage(off, still=True)},
    }
    print(json.dumps(told, indent=1))
    if asked.write:
        kept = json.loads(SHIPPED.read_text("utf-8")) if SHIPPED.exists() else {}
        made_now = {"open": made, "share": shares, UNCOUNTED: uncounted, TURNED: off}
        kept |= {"made_by": told["command"]} | {name: json.loads(one.to_json()) for name, one in made_now.items()}
        SHIPPED.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
