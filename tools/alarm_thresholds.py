"""Simulate the thresholds of the trend alarm: ``python tools/alarm_thresholds.py --write``.

Series of pure noise about a straight line at equal steps, of five shapes of noise (the line itself drops out); the
largest value of the detector within so many looks; its quantiles. The threshold is the largest over the shapes.
Nothing here has seen a real series. Takes about five CPU minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foreshock.alarms._detector import CLIP, JUMPS, PACE, SLOPES, evidence
from foreshock.alarms._residuals import design_of, recursion
from foreshock.alarms._threshold import table, threshold
from foreshock.alarms._training import training_scores

Floats = NDArray[np.float64]

BASELINES = (4, 6, 8, 12, 20, 40)
LOOKS = (1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 130, 200)
LEVELS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
MEASURED_LOOKS = 60
SURE = 1.28
CHUNK = 250
OUT = Path(__file__).resolve().parents[1] / "src" / "foreshock" / "alarms" / "_thresholds.json"


def noise(rng: np.random.Generator, shape: str, size: tuple[int, int]) -> Floats:
    """Independent noise of one shape."""
    drawn = {
        "normal": lambda: rng.standard_normal(size),
        "uniform": lambda: rng.uniform(-1, 1, size),
        "t3": lambda: rng.standard_t(3, size),
        "Laplace": lambda: rng.laplace(size=size),
        "exponential": lambda: rng.exponential(size=size) - 1,
    }
    return np.asarray(drawn[shape](), float)


SHAPES = ("normal", "uniform", "t3", "Laplace", "exponential")


def peaks(rng: np.random.Generator, shape: str, series: int, baseline: int, looks: int) -> Floats:
    """Largest value of the detector so far, shape (series, looks)."""
    design = design_of(np.arange(float(baseline + looks)))
    found = []
    for first in range(0, series, CHUNK):
        z = noise(rng, shape, (min(CHUNK, series - first), baseline + looks))
        values = evidence(recursion(z, design).scores()[:, baseline:], baseline)
        found.append(np.maximum.accumulate(values, axis=1))
    return np.concatenate(found)


def quantiles(highest: Floats) -> Floats:
    """Upper quantiles at :data:`LOOKS` and :data:`LEVELS` with 90% confidence that no level is exceeded.

    A quantile of so many series is uncertain; the one taken is that of a level smaller by 1.28 standard errors.
    """
    here = [look for look in LOOKS if look <= highest.shape[1]]
    at, level = highest[:, np.array(here) - 1], np.array(LEVELS)
    sure = level - SURE * np.sqrt(level * (1 - level) / highest.shape[0])
    return np.asarray(np.quantile(at, 1 - sure, axis=0, method="higher").T)


def simulate(series: int, seed: int, training: int) -> dict[str, object]:
    """The whole table; normal noise gets twice as many series as the others, more than 60 looks a quarter as many."""
    number = {shape: series * (2 if shape == "normal" else 1) for shape in SHAPES}
    thresholds, normal, measured = [], [], []
    for baseline in BASELINES:
        found = []
        for i, shape in enumerate(SHAPES):
            rng = np.random.default_rng([seed, baseline, i])
            near = peaks(rng, shape, number[shape], baseline, MEASURED_LOOKS)
            far = peaks(rng, shape, max(series // 4, 1), baseline, LOOKS[-1])
            # the cost of a series grows with the square of its looks
            both = np.vstack([quantiles(near), quantiles(far)[[look > MEASURED_LOOKS for look in LOOKS]]])
            found.append(np.maximum.accumulate(both, axis=0))
        worst = np.max(found, axis=0)
        line = worst[LOOKS.index(MEASURED_LOOKS)]
        rates = []
        for i, shape in enumerate(SHAPES):
            rng = np.random.default_rng([seed + 1, baseline, i])
            top = peaks(rng, shape, series, baseline, MEASURED_LOOKS)[:, -1]
            rates.append((top[:, None] >= line).mean(axis=0))
        thresholds.append(_short(worst))
        normal.append(_short(found[0]))
        measured.append(np.max(rates, axis=0).round(4).tolist())
        shown = dict(zip(SHAPES, np.array(rates)[:, LEVELS.index(0.05)].round(3).tolist(), strict=True))
        print(
            f"baseline {baseline}: threshold {line[LEVELS.index(0.05)]:.0f}; rates on fresh series {shown}", flush=True
        )
    return {
        "made_by": f"python tools/alarm_thresholds.py --series {series} --seed {seed} --training {training} --write",
        "seed": seed,
        "series": number,
        "shapes": list(SHAPES),
        "detector": {"clip": CLIP, "jumps": list(JUMPS), "slopes": list(SLOPES), "pace": PACE},
        "baselines": list(BASELINES),
        "looks": list(LOOKS),
        "levels": list(LEVELS),
        "thresholds": thresholds,
        "normal": normal,
        "measured_looks": MEASURED_LOOKS,
        "measured_series": series,
        "measured": measured,
    }


def _short(values: Floats) -> list[list[float]]:
    return [[float(f"{v:.5g}") for v in row] for row in values]


def training_rates(series: int, seed: int) -> dict[str, float]:
    """Share of runs without a change that fire at some look, by correlation of neighbours."""
    baseline, level, found = 8, 0.05, {}
    limit = threshold(baseline, MEASURED_LOOKS, level)
    for rho in (0.0, 0.3, 0.5, 0.7, 0.8, 0.9):
        rng = np.random.default_rng([seed, 99, round(100 * rho)])
        z = rng.standard_normal((series, baseline + MEASURED_LOOKS))
        for i in range(1, z.shape[1]):
            z[:, i] = rho * z[:, i - 1] + np.sqrt(1 - rho**2) * z[:, i]
        fired = np.zeros(series, bool)
        for points in range(baseline + 2, z.shape[1] + 1, 2):
            scores = training_scores(z[:, :points], design_of(np.arange(float(points))), baseline)[0]
            fired |= (evidence(scores[:, baseline:], baseline) >= limit).any(axis=1)
        found[f"{rho:g}"] = round(float(fired.mean()), 4)
        print(f"training, correlation {rho:g}: {found[f'{rho:g}']}", flush=True)
    return found


def main() -> None:
    """Simulate, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    parser.add_argument("--training", type=int, default=600, help="runs behind the rates of the rule for checkpoints")
    parser.add_argument("--only-training", action="store_true", help="keep the thresholds that are written")
    asked = parser.parse_args()
    found = (
        json.loads(OUT.read_text("utf-8"))
        if asked.only_training
        else simulate(asked.series, asked.seed, asked.training)
    )
    if asked.write:
        OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")
    table.cache_clear()
    found |= {"training": training_rates(asked.training, asked.seed), "training_series": asked.training}
    if asked.write:
        OUT.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
