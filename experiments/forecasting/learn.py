"""Learns the shipped calibration of forecasts from simulated curves.

    python -m experiments.forecasting.learn [--curves 1200] [--seed 0] [--write]

Each curve is drawn from the prior of ``foreshock.simulate.scaling_curve``, forecast from its seen part and scored on at
most four of its held-out points. Groups are the shapes of the prior. ``--write`` puts the calibration into
``src/foreshock/curves/_shipped.json`` and what was measured beside this file.
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
from foreshock.curves._calibration import Calibration, calibrated, known_curve
from foreshock.curves._combine import ALL_FORMS
from foreshock.curves._learn import Known, curve_errors, error_products, learned_weights
from foreshock.simulate import scaling_curve

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
        "coverage_on_shapes_left_out": {str(level): made.coverage(level) for level in LEVELS},
        "factor": {str(level): made.factor(level) for level in LEVELS},
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
    told = {
        "command": f"python -m experiments.forecasting.learn --curves {asked.curves} --seed {asked.seed} --write",
        "cpu_seconds": round(time.process_time() - before, 1),
        "curves": asked.curves,
        **measured(known, made),
    }
    print(json.dumps(told, indent=1))
    if asked.write:
        kept = json.loads(SHIPPED.read_text("utf-8")) if SHIPPED.exists() else {}
        kept |= {"made_by": told["command"], "open": json.loads(made.to_json())}
        SHIPPED.write_text(json.dumps(kept, separators=(",", ":")) + "\n", "utf-8")
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
