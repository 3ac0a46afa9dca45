"""92 published scaling curves with their own split into seen and held-out points.

Data: ``curves/benchmark.{vision,lang}.csv`` (Alabdulmohsin, Neyshabur & Zhai 2022), repeated rows told once. Groups are
the four data sets of image classification (18 curves each), BIG-Bench, language modelling and translation. A group is
forecast with a calibration learned on the other six: weights, scales and conformal scores, each of them in turn with
the scored group left out. The error of a curve is the root mean square of the log of forecast over score (RMSLE); a
refused curve is scored as persistence.

Before these data were scored: the forms of ``forecasting.md`` section 7 and that their weights are equal; conformal
scores across groups; the features of the scale. With these data seen, on one look at a table of about twenty sets of
forms: the local lines and damped slopes gave way to local trends of a state-space model, and a law with two breaks
was added (mean RMSLE .0256 before, .0251 after; the change also won on simulated curves). Seen as well, and so not
blind to these data: that shipped weights are equal (weights learned on simulated curves gave .0262 to .0315 against
.0261 with the forms of that day); the fewest points of a form and the largest smoothing; that a form counts as at
most ten times the usual distance away (four gave .0252); that weights leave equality only for a gain of two standard
errors; that intervals are widened by one standard error over groups (without it CIFAR-100 is covered .770); that the
feature ``turn`` enters from 200 curves on (with it here CIFAR-100 is covered .769). The shipped calibration saw none
of these curves; its second table is the nearest to a blind one.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from foreshock.curves import Calibration, Curve
from foreshock.curves._calibrate import calibrated, known_curve
from foreshock.curves._calibration import shipped
from foreshock.curves._combine import ALL_FORMS
from foreshock.curves._conformal import interval, interval_score
from foreshock.curves._learn import Known
from foreshock.curves._support import refusal_of

LEVEL = 0.9
RESAMPLED = 2000
IMAGES = ("birds", "CIFAR-100", "Caltech-101", "ImageNet")
_NAMES = {"bird": "birds", "c": "CIFAR-100", "cal": "Caltech-101", "inet": "ImageNet"}


class Case(NamedTuple):
    """A curve with what was held out."""

    curve: Curve
    x: np.ndarray
    y: np.ndarray


def cases(data: Path) -> list[Case]:
    """The curves in the order of their names."""
    rows: dict[tuple[str, ...], set[tuple[float, float, int]]] = defaultdict(set)
    for name in ("vision", "lang"):
        with (data / "curves" / f"benchmark.{name}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["Domain"], row["Task"], row["Model"])
                rows[key].add((float(row["Seen Examples"]), float(row["Loss"]), int(row["Training"])))
    return [_case(key, sorted(points)) for key, points in sorted(rows.items())]


def _case(key: tuple[str, ...], points: list[tuple[float, float, int]]) -> Case:
    domain, task, _ = key
    seen = np.array([p[:2] for p in points if p[2]])
    held = np.array([p[:2] for p in points if not p[2]])
    group = _NAMES[task.rsplit("_", 1)[0]] if domain == "IC" else domain
    curve = Curve(seen[:, 0], seen[:, 1], low=0.0, name=" ".join(key), group=group)
    return Case(curve, held[:, 0], held[:, 1])


class Scored(NamedTuple):
    """One curve's figures."""

    group: str
    rmsle: float
    persistence: float
    covered: float
    at_end: float
    width: float
    score: float


def score(known: Known, used: Calibration) -> Scored:
    """Forecast and interval of one curve, on the link (log score)."""
    assert used.rule is not None
    centre, scale, _ = used.rule.centre(known.found)
    low, high = np.empty_like(centre), np.empty_like(centre)
    for inside, scores, wider in used.band(known.distance, LEVEL):
        wide = wider * scale[inside]
        low[inside], high[inside] = interval(centre[inside], wide, wide, scores, LEVEL)
    inside = (low <= known.came) & (known.came <= high)
    return Scored(
        known.group,
        float(np.sqrt(np.mean((centre - known.came) ** 2))),
        float(np.sqrt(np.mean((known.found.last - known.came) ** 2))),
        float(inside.mean()),
        float(inside[-1]),
        float((high - low).mean()),
        float(interval_score(known.came, low, high, LEVEL).mean()),
    )


def nested(known: Sequence[Known], seed: int) -> tuple[list[Scored], dict[str, Calibration]]:
    """Each group with a calibration on the others."""
    made = {
        group: calibrated([one for one in known if one.group != group], seed=seed)
        for group in sorted({one.group for one in known})
    }
    return [score(one, made[one.group]) for one in known], made


def table(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    """A row for all, for image classification and for each group."""
    groups = [*IMAGES, *sorted({s.group for s in scored} - set(IMAGES))]
    sets = {"all": groups, "image classification": list(IMAGES), **{g: [g] for g in groups}}
    rows = []
    for name, members in sets.items():
        mine = [s for s in scored if s.group in members]
        if mine:
            mean = {f: float(np.mean([getattr(s, f) for s in mine])) for f in Scored._fields[1:]}
            rows.append({"set": name, "curves": len(mine), **mean, "median": float(np.median([s.rmsle for s in mine]))})
    return rows


def clustered(scored: Sequence[Scored], seed: int) -> tuple[float, float]:
    """95% interval of the mean coverage, groups resampled whole."""
    groups = sorted({s.group for s in scored})
    sums = np.array(
        [[sum(s.covered for s in scored if s.group == g), sum(s.group == g for s in scored)] for g in groups]
    )
    drawn = np.random.default_rng(seed).integers(len(groups), size=(RESAMPLED, len(groups)))
    total = sums[drawn].sum(axis=1)
    low, high = np.quantile(total[:, 0] / total[:, 1], [0.025, 0.975])
    return float(low), float(high)


def forms_alone(known: Sequence[Known]) -> dict[str, dict[str, float]]:
    """Mean RMSLE of each form by itself, the last value where it has no forecast."""
    found: dict[str, dict[str, float]] = {}
    for name in ALL_FORMS:
        errors, images = [], []
        for one in known:
            rows = dict(zip(one.found.names, one.found.z, strict=True))
            z = rows.get(name, np.full(one.came.shape, np.nan))
            z = z if np.isfinite(z).all() else np.full(one.came.shape, one.found.last)
            errors.append(float(np.sqrt(np.mean((z - one.came) ** 2))))
            images.append(one.group in IMAGES)
        error = np.array(errors)
        found[name] = {
            "all": float(error.mean()),
            "median": float(np.median(error)),
            "images": float(error[np.array(images)].mean()) if any(images) else float("nan"),
        }
    return found


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """Score the curves with calibrations on the other groups, and with the shipped one."""
    every = cases(asked.data)
    refused = [case.curve.name for case in every if refusal_of(case.curve) is not None]
    known = [known_curve(*case, seed=asked.seed) for case in every if case.curve.name not in refused]
    scored, made = nested(known, asked.seed)
    plain = [score(one, shipped("open")) for one in known]
    return {
        "seeds": [asked.seed],
        "withheld": len(refused) / len(every),
        "refused": refused,
        "nested": table(scored),
        "interval": clustered(scored, asked.seed),
        "shipped": table(plain),
        "shipped_interval": clustered(plain, asked.seed),
        "forms": forms_alone(known),
        "weights": {
            g: {"strength": str(c.strength), **(c.rule.weights if c.rule is not None else {})} for g, c in made.items()
        },
    }


def lines(result: dict[str, Any]) -> list[str]:
    """The tables."""
    told = []
    for name, title in (
        ("nested", "Calibrated on the other six groups"),
        ("shipped", "Shipped calibration (simulated)"),
    ):
        low, high = result["interval" if name == "nested" else "shipped_interval"]
        told += [
            f"{title}. 90% intervals cover {result[name][0]['covered']:.3f} "
            f"(95% interval with groups resampled whole: {low:.3f} to {high:.3f}).",
            "",
            "| curves | n | RMSLE mean | median | persistence | coverage | at the end | width | interval score |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ]
        told += [
            f"| {r['set']} | {r['curves']} | {r['rmsle']:.4f} | {r['median']:.4f} | {r['persistence']:.4f} "
            f"| {r['covered']:.3f} | {r['at_end']:.3f} | {r['width']:.3f} | {r['score']:.3f} |"
            for r in result[name]
        ]
        told.append("")
    told += ["| form alone | all | median | image classification |", "| --- | --- | --- | --- |"]
    told += [f"| {n} | {f['all']:.4f} | {f['median']:.4f} | {f['images']:.4f} |" for n, f in result["forms"].items()]
    return told
