"""Learns the shipped calibration of forecasts from simulated curves.

    python -m experiments.forecasting.learn [--curves 1200] [--seed 0] [--write]

Each curve is drawn from the prior of ``foreshock.simulate.scaling_curve`` (scores with an open end) or ``score_curve``
(scores between two ends), forecast from its seen part and scored on at most four of its held-out points. Groups are the
shapes of the prior. ``--write`` puts the calibrations into ``src/foreshock/curves/_shipped.json`` and what was measured
beside this file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.curves import Curve
from foreshock.curves._calibrate import calibrated, calibrated_shares, known_curve
from foreshock.curves._calibration import Calibration
from foreshock.curves._combine import ALL_FORMS, FEATURES
from foreshock.curves._curve import Floats
from foreshock.curves._learn import Known, curve_errors, error_products, learned_weights
from foreshock.simulate import scaling_curve, score_curve

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "src" / "foreshock" / "curves" / "_shipped.json"
RESULTS = Path(__file__).parent / "results" / "learned.json"
TARGETS = 4
LEVELS = (0.5, 0.8, 0.9, 0.95)


def simulated(curves: int, seed: int) -> list[Known]:
    """Curves with their forecasts and what came; each has a generator of its own, so that more curves change none."""
    known = []
    for number in range(curves):
        rng = np.random.default_rng([seed, number])
        drawn = scaling_curve(rng)
        some = np.sort(rng.permutation(drawn.ahead_x.size)[:TARGETS])
        curve = Curve(drawn.x, drawn.y, low=0.0, group=drawn.kind)
        known.append(known_curve(curve, drawn.ahead_x[some], drawn.ahead_y[some]))
    return known


def simulated_scores(curves: int, seed: int) -> list[tuple[Curve, Floats, Floats]]:
    """Histories of scores between two ends with what came; guessing is not known to the forecast."""
    kept = []
    for number in range(curves):
        rng = np.random.default_rng([seed, number])
        drawn = score_curve(rng)
        items = np.full(drawn.x.size, float(drawn.items))
        curve = Curve(drawn.x, drawn.y, items, low=0.0, high=1.0, group=drawn.kind)
        some = np.sort(rng.permutation(drawn.ahead_x.size)[:TARGETS])
        kept.append((curve, drawn.ahead_x[some], drawn.ahead_y[some]))
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


def coverage(made: Calibration) -> dict[str, Any]:
    """Coverage on each shape with that shape left out of the scores."""
    return {
        "coverage_on_shapes_left_out": {str(level): made.coverage(level) for level in LEVELS},
        "basis": made.basis(),
    }


def main() -> None:
    """Learn, print, and keep what was learned when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    before = time.process_time()
    known = simulated(asked.curves, asked.seed)
    made = calibrated(known, seed=asked.seed, source="simulated scaling curves", mixture=True)
    shares = calibrated_shares(
        simulated_scores(asked.curves, asked.seed), seed=asked.seed, source="simulated scores of models", mixture=True
    )
    told = {
        "command": f"python -m experiments.forecasting.learn --curves {asked.curves} --seed {asked.seed} --write",
        "cpu_seconds": round(time.process_time() - before, 1),
        "curves": asked.curves,
        "open": measured(known, made),
        "share": coverage(shares),
    }
    print(json.dumps(told, indent=1))
    if asked.write:
        kept = json.loads(SHIPPED.read_text("utf-8")) if SHIPPED.exists() else {}
        kept |= {"made_by": told["command"], "open": json.loads(made.to_json()), "share": json.loads(shares.to_json())}
        SHIPPED.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
