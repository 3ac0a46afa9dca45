"""The trend alarm on series whose truth is known, beside rules that anybody would try; and on public checkpoints.

Lines with noise, 8 points of baseline and 60 looks unless a row says otherwise. Sizes are in standard deviations of the
noise of a point; a jump "at look 20" moves look 20 and all after it; a delay of 1 means that the very look of the
change fired. Chosen before (on other seeds, simulated series only): clip, bets, margins between break and bend, the
bound on drift. Thresholds come from the shipped table, which was simulated with a seed of its own. The checkpoints of
Pythia were looked at after all of that; nothing was changed afterwards.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from _alarm_rules import (
    BASELINE,
    LEVEL,
    LOOKS,
    SHAPES,
    Floats,
    drifting,
    first_crossing,
    frozen,
    others,
    scores,
)
from numpy.typing import NDArray

from foreshock.alarms import TrendAlarm, trend_alarm
from foreshock.alarms._binomial import rate_changes
from foreshock.alarms._threshold import table, threshold
from foreshock.curves import Curve
from foreshock.records import State

EVERY = 8  # of the Pythia series, in the order of their names
PLACES = (4, 8, 12, 16, 20, 30, 40, 50)


def false_alarms(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Share of unchanged series in which each rule fires at some look, by shape of noise."""
    rows = []
    size = (worlds, BASELINE + LOOKS)
    drawn = [(name, draw(rng, size)) for name, draw in SHAPES.items()]
    for name, z in [*drawn, ("drift .5", drifting(rng, size, 0.5))]:
        row: dict[str, Any] = {"noise": name, "trend alarm": _share(first_crossing(scores(z)) >= 0)}
        row |= {rule: _share(fires.any(axis=1)) for rule, fires in others(z).items()}
        if name in ("normal", "t3"):
            few = z[: worlds // 2]
            row["frozen baseline"] = _share((frozen(few) >= threshold(BASELINE, LOOKS, LEVEL)).any(axis=1))
        rows.append(row)
    return rows


def settings(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """False alarms with other baselines, looks, levels and places on the axis."""
    rows = []
    for baseline, looks, level in (
        (4, 60, 0.05),
        (5, 20, 0.05),
        (8, 10, 0.05),
        (8, 60, 0.01),
        (8, 60, 0.2),
        (8, 200, 0.05),
        (12, 100, 0.1),
        (20, 60, 0.05),
        (20, 10, 0.05),
    ):
        row: dict[str, Any] = {"baseline": baseline, "looks": looks, "level": level, "places": "equal steps"}
        for name in ("normal", "t3"):
            z = SHAPES[name](rng, (worlds, baseline + looks))
            row[name] = _share(first_crossing(scores(z, None, baseline), baseline, looks, level) >= 0)
        rows.append(row)
    for name, x in places(rng, BASELINE + LOOKS).items():
        row = {"baseline": BASELINE, "looks": LOOKS, "level": LEVEL, "places": name}
        for noise in ("normal", "t3"):
            row[noise] = _share(first_crossing(scores(SHAPES[noise](rng, (worlds, x.size)), x)) >= 0)
        rows.append(row)
    return rows


def places(rng: np.random.Generator, points: int) -> dict[str, Floats]:
    """Other places on the axis."""
    return {
        "at random": np.sort(rng.uniform(0, 1, points)),
        "ever denser (log of the number)": np.log(np.arange(1.0, points + 1)),
        "ever sparser": np.exp(np.linspace(0, 4, points)),
        "in pairs of equal places": np.repeat(np.arange(points / 2), 2)[:points],
    }


# --- power


def curve_of(z: Floats, **facts: Any) -> Curve:
    """A series at equal steps on an open scale."""
    return Curve(np.arange(1.0, z.size + 1), z, log_x=False, **facts)


def watch(z: Floats, first: int, *, shown: bool = False) -> tuple[int, bool, bool]:
    """Go through the looks from the one at which the detector crossed, as somebody would who looks every time.

    Returns:
        Look (from 0) at which it first fired (-1 never), whether with guarantee, and whether at any look with guarantee
        (the last only where asked for).
    """
    fired, sure = -1, False
    for points in range(BASELINE + first + 1, z.size + 1):
        told = trend_alarm(curve_of(z[:points]), looks=LOOKS, level=LEVEL)
        if told.state is State.FIRING:
            if fired < 0:
                fired, sure = points - BASELINE - 1, told.guaranteed
            if told.guaranteed or not shown:
                return fired, sure, told.guaranteed
    return fired, sure, False


def power(rng: np.random.Generator, worlds: int, add: Floats, place: int) -> dict[str, Any]:
    """Share told, share that fires as a break, delay of the break, share with guarantee, state at the last look."""
    z = rng.standard_normal((worlds, add.size)) + add
    first = first_crossing(scores(z))
    seen = [watch(z[i], int(first[i])) if first[i] >= 0 else (-1, False, False) for i in range(worlds)]
    fired, sure = np.array([s[0] for s in seen]), np.array([s[1] for s in seen])
    good, told = fired >= place - 1, first >= place - 1
    last = [trend_alarm(curve_of(row), looks=LOOKS, level=LEVEL) for row in z[: min(worlds, 300)]]
    return {
        "told": _share(told),
        "delay told": _median(first[told] - place + 2),
        "fires": _share(good),
        "delay": _median(fired[good] - place + 2),
        "told within 4": _share((first[told] - place + 2) <= 4),
        "within 4": _share((fired[good] - place + 2) <= 4),
        "guaranteed": _share(good & sure),
        "break at last": _share(np.array([one.verdict == "break" for one in last])),
        "bend at last": _share(np.array([one.verdict == "bend" for one in last])),
    }


def jump(size: float, place: int) -> Floats:
    """A level that is higher from look ``place`` (counted from 1) on."""
    return np.asarray(size * (np.arange(BASELINE + LOOKS) >= BASELINE + place - 1))


def kink(size: float, place: int) -> Floats:
    """A slope that is higher from look ``place`` on."""
    return np.asarray(size * np.clip(np.arange(BASELINE + LOOKS) - BASELINE - place + 2, 0, None))


def powers(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Jumps and kinks by place."""
    rows = []
    for place in PLACES:
        many = worlds if place == 20 else worlds // 8
        rows.append({"change": "jump of 3", "at look": place, **power(rng, many, jump(3, place), place)})
    more = [(f"jump of {size:g}", 20, jump(size, 20), 4) for size in (2.0, 4.0, 6.0)]
    more += [("slope +.08", place, kink(0.08, place), 10) for place in (1, 10, 20, 30, 40)]
    more += [(f"slope +{size:g}", 20, kink(size, 20), 16) for size in (0.3, 1.0)]
    for name, place, add, part in more:
        rows.append({"change": name, "at look": place, **power(rng, worlds // part, add, place)})
    return rows


def curved(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Smooth curves: how often is one told as a break?"""
    s = np.linspace(0, 1, BASELINE + LOOKS)
    kinds = {
        "parabola, 3 off its line": 12 * s**2,
        "parabola, 12 off": 48 * s**2,
        "parabola, 30 off": 120 * s**2,
        "saturating": 20 * (1 - np.exp(-3 * s)),
        "exponential": 20 * np.expm1(3 * s) / np.expm1(3.0),
        "sigmoid": 20 / (1 + np.exp(-10 * (s - 0.5))),
    }
    return [{"trend": name, **power(rng, worlds, add, 1)} for name, add in kinds.items()]


def drift(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Drifting noise: alarms, and alarms that are shown with the guarantee."""
    rows = []
    for rho in (0.0, 0.3, 0.5, 0.7, 0.9):
        z = drifting(rng, (worlds, BASELINE + LOOKS), rho)
        first = first_crossing(scores(z))
        few = worlds // (8 if rho not in (0.0, 0.5) else 2)
        seen = [watch(z[i], int(first[i]), shown=True) if first[i] >= 0 else (-1, False, False) for i in range(few)]
        last = [trend_alarm(curve_of(row), looks=LOOKS, level=LEVEL) for row in z]
        sure = np.array([one.guaranteed for one in last])
        fires = np.array([one.state is State.FIRING for one in last])
        rows.append(
            {
                "correlation": rho,
                "detector crosses": _share(first >= 0),
                "guaranteed at its first alarm": _share(np.array([s[1] for s in seen])),
                "guaranteed alarm at any look": _share(np.array([s[2] for s in seen])),
                "guaranteed alarm at the last look": _share(fires & sure),
                "guarantee withdrawn at the last look": _share(~sure),
            }
        )
    return rows


def growth(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Doublings along irregular release dates, whose rate grows at one release."""
    rows = []
    for after in (1.7, 2.5, 3.4):
        hits, bends, delays = 0, 0, []
        for _ in range(worlds):
            dates = np.sort(rng.uniform(0, 6, 30))
            turn = dates[18]
            z = 1.7 * dates + (after - 1.7) * np.clip(dates - turn, 0, None) + 0.5 * rng.standard_normal(30)
            told = trend_alarm(Curve(dates + 2019, z, log_x=False), looks=LOOKS, level=LEVEL)
            bends += told.verdict == "bend"
            if told.state is State.FIRING and told.at is not None:
                hits += 1
                delays.append(int(np.searchsorted(dates, told.at - 2019 - 1e-9)) - 18)
        rows.append(
            {
                "doublings a year after": after,
                "fires": hits / worlds,
                "bend": bends / worlds,
                "releases until": float(np.median(delays)) if delays else None,
            }
        )
    return rows


def counted(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Shares of items along a line on the log-odds: models differ, items are drawn anew."""
    rows = []
    for name, items, start in (
        ("200 items, 20% to 80%", np.full(68, 200), -1.4),
        ("50 to 1000 items, 20% to 80%", np.resize([50, 1000, 200, 100], 68), -1.4),
        ("more items from the 30th point on", np.where(np.arange(68) < 30, 100, 2000), -1.4),
        ("200 items, 1% to 3%", np.full(68, 200), -4.6),
    ):
        line = start + (2.8 if start > -2 else 1.0) * np.linspace(0, 1, 68)
        alarms = []
        for _ in range(worlds):
            p = 1 / (1 + np.exp(-line - 0.1 * rng.standard_normal(68)))
            y = rng.binomial(items, p) / items
            scored = Curve(np.arange(1.0, 69), y, items.astype(float), low=0.0, high=1.0, log_x=False)
            alarms.append(trend_alarm(scored, looks=LOOKS, level=LEVEL))
        crossed = np.array([one.statistic is not None and one.statistic >= (one.threshold or 0) for one in alarms])
        sure = np.array([one.guaranteed for one in alarms])
        row = {"scores": name, "crosses": _share(crossed), "with guarantee": _share(crossed & sure)}
        rows.append({**row, "kept": _share(sure)})
    return rows


def repeats(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """Runs of one model on the same items: the exact rule."""
    rows = []
    for name, before, after, items in (
        ("no change, 100 items at 50%", 0.5, 0.5, 100),
        ("no change, 30 items at 3%", 0.03, 0.03, 30),
        ("no change, items surely right or wrong but 20", 0.5, 0.5, -100),
        ("50% to 60% at look 20, 100 items", 0.5, 0.6, 100),
        ("50% to 60% at look 20, 500 items", 0.5, 0.6, 500),
        ("0.5% to 3% at look 20, 300 items", 0.005, 0.03, 300),
    ):
        runs = np.arange(BASELINE + LOOKS)
        p = np.where(runs < BASELINE + 19, before, after)
        k = (
            rng.binomial(20, 0.5, (worlds, runs.size)) + 40
            if items < 0
            else rng.binomial(items, p, (worlds, runs.size))
        )
        over = rate_changes(k, np.full(runs.size, abs(items)), BASELINE, LOOKS) >= 1 / LEVEL
        first = np.where(over.any(axis=1), over.argmax(axis=1), -1)
        good = first >= (19 if after != before else 0)
        delay = _median(first[good] - 18) if after != before else None
        rows.append({"runs": name, "fires": _share(good), "delay": delay})
    return rows


def twins(rng: np.random.Generator, worlds: int) -> list[dict[str, Any]]:
    """A jump of 4 in the metric at look 20 while both rise: in the twin too, not in it, or a twin that says little."""
    rows = []
    x = np.arange(40.0)
    rise, there = 0.15 * x, (x >= BASELINE + 19) * 1.0
    for name, slope, jumps, noise in (
        ("jumps too", 0.6, 1.0, 0.5),
        ("does not jump", 0.6, 0.0, 0.5),
        ("flat and noisy", 0.0, 0.0, 3.0),
        ("does not jump, and never moved with it", 0.0, 0.0, 0.2),
    ):
        said: dict[str, int] = defaultdict(int)
        for _ in range(worlds):
            hard = rise + 4 * there + rng.standard_normal(40)
            soft = slope * (rise + 4 * jumps * there) + noise * rng.standard_normal(40)
            told = trend_alarm(curve_of(hard), twin=curve_of(soft), looks=LOOKS)
            said[told.verdict if told.state is State.FIRING else "does not fire"] += 1
        rows.append({"the twin": name, **{word: n / worlds for word, n in sorted(said.items())}})
    return rows


# --- public checkpoints


def checkpoints(path: Path) -> dict[str, Any] | None:
    """Every eighth Pythia series along its training steps: as checkpoints, and as if its points were independent."""
    if not path.exists():
        return None
    series: dict[tuple[str, str, str, str], list[tuple[float, float]]] = defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for row in csv.DictReader(lines):
            if row["step"] and float(row["step"]) > 0 and row["metric"] in ("acc", "acc_norm", "em", "ppl"):
                key = (row["model"], row["shots"], row["task"], row["metric"])
                series[key].append((float(row["step"]), float(row["value"])))
    found: dict[str, list[TrendAlarm]] = {"checkpoints": [], "as independent": []}
    chosen = sorted(series)[::EVERY]
    for key in chosen:
        steps = sorted(dict(series[key]).items())
        x, y = np.array([s[0] for s in steps]), np.array([s[1] for s in steps])
        for name, trajectory in (("checkpoints", True), ("as independent", False)):
            inside = Curve(x, y, low=0.0, high=None if key[3] == "ppl" else 1.0, trajectory=trajectory)
            found[name].append(trend_alarm(inside, looks=LOOKS, level=LEVEL))
    return {"series": len(chosen), **{name: _summary(alarms) for name, alarms in found.items()}}


def _summary(alarms: list[TrendAlarm]) -> dict[str, float]:
    judged = [one for one in alarms if one.state is not State.NO_DATA]
    whole = max(len(judged), 1)
    return {
        "no data": 1 - len(judged) / max(len(alarms), 1),
        "keep the guarantee": sum(one.guaranteed for one in judged) / whole,
        "fire": sum(one.state is State.FIRING for one in judged) / whole,
        "bend": sum(one.verdict == "bend" for one in judged) / whole,
        "fire with guarantee": sum(one.state is State.FIRING and one.guaranteed for one in judged) / whole,
    }


# --- the command


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Measure everything."""
    worlds = args.worlds or 2000
    rng = np.random.default_rng([args.seed, 5])
    pythia = checkpoints(args.data / "series" / "pythia_lmeval.csv.gz")
    return {
        "seeds": [args.seed],
        "withheld": None if pythia is None else pythia["checkpoints"]["no data"],
        "worlds": worlds,
        "false alarms": false_alarms(rng, worlds),
        "settings": settings(rng, worlds),
        "power": powers(rng, worlds),
        "curved": curved(rng, max(worlds // 20, 20)),
        "drift": drift(rng, worlds),
        "growth": growth(rng, max(worlds // 10, 20)),
        "counted": counted(rng, worlds // 2),
        "repeats": repeats(rng, worlds),
        "twins": twins(rng, max(worlds // 10, 20)),
        "training": table().training,
        "pythia": pythia,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """The tables as Markdown."""
    told = [f"{result['worlds']} series a row at the most; baseline {BASELINE}, {LOOKS} looks, level {LEVEL:g}.", ""]
    for name, what in (
        ("false alarms", "Share of unchanged series that fire at some look"),
        ("settings", "The same with other settings (detector only)"),
        ("power", "Changes: told = the detector crosses, as break or bend; fires = as a break, seen look by look"),
        ("curved", "Smooth curves: fires = told as a break at some look; at the last look it should not be"),
        ("drift", "Noise whose neighbours are correlated"),
        ("growth", "Doublings along irregular release dates, 1.7 a year before release 19 of 30"),
        ("counted", "Shares of right items along a line on the log-odds, no change"),
        ("repeats", "Repeated runs of one model, the exact rule"),
        ("twins", "What the twin makes of a jump of 4 at look 20, by what the twin does"),
    ):
        told += [f"**{what}**", "", *_table(result[name]), ""]
    rates = ", ".join(f"{rate:.3f} at {rho}" for rho, rate in result["training"].items())
    told += [f"Rule for checkpoints, shipped measurement, false alarms by correlation of neighbours: {rates}.", ""]
    if result["pythia"] is None:
        return [*told, "Pythia: the data are not there."]
    told += [f"**{result['pythia']['series']} Pythia series along their training steps**", ""]
    return [*told, *_table([{"taken": k, **v} for k, v in result["pythia"].items() if k != "series"])]


def _table(rows: list[dict[str, Any]]) -> list[str]:
    heads = list(dict.fromkeys(key for row in rows for key in row))
    body = ["| " + " | ".join(_cell(row.get(head)) for head in heads) + " |" for row in rows]
    return ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads), *body]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _share(found: Any) -> float:
    return float(np.mean(found)) if np.size(found) else 0.0


def _median(values: NDArray[np.intp]) -> float | None:
    return float(np.median(values)) if values.size else None
