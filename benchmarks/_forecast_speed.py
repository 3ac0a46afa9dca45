"""CPU seconds of a forecast: fits of all laws, combination, and interval; and of a thousand.

Curves are drawn from the prior of simulated scaling curves (4 to 80 places), from that of scores between two ends (3
to 8), and one history has 2,000 places. Each is forecast by ``foreshock.curves.forecast`` as the command does, one
process, with what the fits say of themselves (``identify``). The first call is not counted: it imports.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from foreshock.curves import Curve, forecast
from foreshock.simulate import scaling_curve, score_curve

WORLDS = 100
CORES = 2


def curve_of(number: int, seed: int) -> tuple[Curve, np.ndarray]:
    """Three in four curves have an open end, the others two ends."""
    rng = np.random.default_rng([seed, number])
    if number % 4 == 3:
        score = score_curve(rng)
        return Curve(score.x, score.y, np.full(score.x.size, float(score.items)), low=0.0, high=1.0), score.ahead_x
    drawn = scaling_curve(rng)
    return Curve(drawn.x, drawn.y, low=0.0), drawn.ahead_x


def seconds(curve: Curve, at: np.ndarray) -> tuple[float, bool]:
    """CPU seconds of one forecast, and whether there was one."""
    before = time.process_time()
    found = forecast(curve, at)
    return time.process_time() - before, found.refused is None


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """Time the curves."""
    worlds = asked.worlds or WORLDS
    seconds(*curve_of(0, asked.seed))
    seconds(*curve_of(3, asked.seed))
    times = [seconds(*curve_of(number, asked.seed)) for number in range(worlds)]
    spent = np.array([t for t, _ in times])
    rng = np.random.default_rng(asked.seed)
    x = np.geomspace(1.0, 1e5, 2000)
    long, _ = seconds(Curve(x, 1 + x**-0.4 * np.exp(0.01 * rng.normal(size=2000)), low=0.0), np.array([2e5]))
    return {
        "seeds": [asked.seed],
        "withheld": float(np.mean([not made for _, made in times])),
        "curves": worlds,
        "median": float(np.median(spent)),
        "most": float(spent.max()),
        "long": long,
        "thousand": float(1000 * spent.mean()),
        "minutes": float(1000 * spent.mean() / 60 / CORES),
    }


def lines(result: dict[str, Any]) -> list[str]:
    """The figures in two sentences."""
    return [
        f"One curve takes {result['median']:.2f} CPU seconds (median of {result['curves']}), {result['most']:.2f} at "
        f"the most; a history of 2,000 places {result['long']:.2f}.",
        f"1,000 curves take {result['thousand']:.0f} CPU seconds at that rate: {result['minutes']:.1f} minutes on "
        f"{CORES} cores. The published fit of one broken law takes 99 seconds a curve.",
    ]
