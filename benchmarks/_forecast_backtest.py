"""The back-test of `foreshock forecast --backtest`: every prefix of a history forecasts the place that follows it.

Curves are drawn by `foreshock.simulate.scaling_curve` (losses, at most 20 places of each, spread evenly) and
`score_curve` (shares of right answers, what lies ahead joined to the history), other ones than the shipped calibration
was learned on, and go through the document that the command writes. Of shares a line is drawn halfway between the first
and the last score. Nothing was chosen on these figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from foreshock.check import ForecastLine, ForecastOptions, ScoreScale, Wanted, curves_document, lines_of_rows
from foreshock.readers import CurveRows
from foreshock.simulate import scaling_curve, score_curve

WORLDS = 40
PLACES = 20
SEED = 7_000_000
"""Added to the seed that is asked for: no stream of the shipped calibration begins here."""


def _rows(name: str, x: Sequence[float], y: Sequence[float], n: float) -> CurveRows:
    size, nothing = len(x), [float("nan")] * len(x)
    return CurveRows(
        [name] * size, [""] * size, list(x), list(y), [True] * size, [n] * size, nothing, "tokens", False, []
    )


def loss_line(rng: np.random.Generator, name: str) -> ForecastLine:
    """A simulated loss."""
    made = scaling_curve(rng)
    kept = np.unique(np.linspace(0, len(made.x) - 1, min(PLACES, len(made.x))).astype(int))
    (line,) = lines_of_rows(
        _rows(name, made.x[kept].tolist(), made.y[kept].tolist(), float("nan")), ScoreScale(metric="loss")
    )
    return line


def share_line(rng: np.random.Generator, name: str) -> ForecastLine:
    """Simulated shares of right answers of a few models."""
    made = score_curve(rng)
    x, y = np.concatenate([made.x, made.ahead_x]), np.concatenate([made.y, made.ahead_y])
    scale = ScoreScale(metric="accuracy", kind="hard", chance=float(made.guessing))
    (line,) = lines_of_rows(_rows(name, x.tolist(), y.tolist(), float(made.items)), scale)
    return line


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """Back-test the curves of both kinds."""
    worlds = asked.worlds or WORLDS
    found = {}
    for kind, make in (("losses", loss_line), ("shares", share_line)):
        rows = []
        for k in range(worlds):
            line = make(np.random.default_rng([SEED + asked.seed, k]), f"{kind} {k}")
            threshold = float((line.curve.y[0] + line.curve.y[-1]) / 2) if kind == "shares" else None
            options = ForecastOptions(wanted=Wanted(next=True), backtest=True, threshold=threshold, side="above")
            rows += curves_document([line], options).tables["backtest"]
        found[kind] = summary(rows)
    every = list(found.values())
    total = sum(row["forecasts"] for row in every)
    return {"seeds": [asked.seed], "withheld": sum(row["withheld"] for row in every) / total, **found}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over curves, and counts over all of them."""
    told = [row for row in rows if not row.get("refused")]
    means = ("mae", "mae_persistence", "rmsle", "rmsle_persistence", "interval_score", "interval_score_persistence")
    found: dict[str, Any] = {"curves": len(told), "too_short": len(rows) - len(told)}
    for name in means:
        values = [row[name] for row in told if row[name] is not None]
        found[name] = float(np.mean(values)) if values else None
    covered = np.array([row["coverage"] for row in told if row["coverage"] is not None])
    half = 1.96 * covered.std(ddof=1) / np.sqrt(covered.size)
    found |= {"coverage": float(covered.mean()), "coverage_low": float(covered.mean() - half)}
    found |= {"coverage_high": float(min(1.0, covered.mean() + half))}
    counts = ("forecasts", "withheld", "crossings", "foretold", "false_calls")
    return found | {name: int(sum(row.get(name) or 0 for row in told)) for name in counts}


def lines(result: dict[str, Any]) -> list[str]:
    """The table."""
    names: tuple[str, ...] = (
        "curves",
        "forecasts",
        "withheld",
        "MAE",
        "of the last score",
        "RMSLE",
        "of the last score",
    )
    names += ("in the 90% interval", "interval score", "of the last score", "crossings", "foretold", "calls in vain")
    head = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names)]
    for kind in ("losses", "shares"):
        r = result[kind]
        pairs = [_number(r[name]) for name in ("mae", "mae_persistence", "rmsle", "rmsle_persistence")]
        scores = [_number(r[name]) for name in ("interval_score", "interval_score_persistence")]
        inside = f"{r['coverage']:.3f} [{r['coverage_low']:.3f}, {r['coverage_high']:.3f}]"
        crossed = [str(r[n]) for n in ("crossings", "foretold", "false_calls")] if kind == "shares" else ["", "", ""]
        cells = [f"{r['curves']} {kind}", str(r["forecasts"]), str(r["withheld"]), *pairs, inside, *scores, *crossed]
        head.append(f"| {' | '.join(cells)} |")
    return [*head, "", "Withheld places count by the last score."]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
