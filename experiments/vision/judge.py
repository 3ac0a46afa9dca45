"""Induce the metrics on the collected scores, and judge them: ``python -m experiments.vision.judge``.

Reads ``results/`` and writes ``curves.csv``, ``verdicts.csv``, ``summary.md`` and one picture for each experiment.
Needs Foreshock and numpy only.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foreshock.mirage import Entry, Judgement, emergence_scores, judge_family
from foreshock.mirage.induce import Induced, entry, induced_all_of_k, induced_reconstruction, induced_subset

from . import plan
from .figures import figure
from .outcome import sequences

Floats = NDArray[np.float64]
SEED = 0
REPLICATES = 1000


@dataclass(frozen=True)
class Line:
    """One induced metric of one experiment: all runs, and what is judged."""

    kind: plan.Kind
    label: str
    made: Induced
    parameters: Floats
    seeds: NDArray[np.int64]

    def entry(self, data: str, seed: int | None = None) -> Entry:
        """For all seeds, which then are replicates of their sizes, or for one."""
        rows = np.ones(self.seeds.size, bool) if seed is None else self.seeds == seed
        values = {name: v[rows] for name, v in self.made.values.items()}
        positions = None if self.made.positions is None else self.made.positions[rows]
        made = Induced(self.made.hard, self.made.twins, values, positions)
        return entry(made, self.parameters[rows], task=f"{self.kind.name}, {self.label}", family=data)


def lines(results: Path) -> tuple[list[Line], dict[str, Any]]:
    """Every induced metric of every experiment, and the record of the training."""
    told = json.loads((results / "training.json").read_text("utf-8"))
    with (results / "runs.csv").open(newline="") as file:
        runs = list(csv.DictReader(file))
    out: list[Line] = []
    with np.load(results / "scores.npz") as scores:
        for kind in plan.KINDS:
            mine = [r for r in runs if r["kind"] == kind.name]
            if not mine:
                continue
            found = {
                name.split("/")[1]: scores[name].astype(float) for name in scores.files if name.startswith(kind.name)
            }
            parameters, seeds = (np.array([int(r[c]) for r in mine]) for c in ("parameters", "seed"))
            for label, made in induced(kind, found, told["experiments"][kind.name]["variance"]):
                out.append(Line(kind, label, made, parameters.astype(float), seeds))
    return out, told


def induced(kind: plan.Kind, scores: dict[str, Floats], variance: float) -> Iterator[tuple[str, Induced]]:
    """The metrics of one experiment from its scores: thresholds are fixed shares of the variance of the images."""
    if kind.name == "autoencoder":
        for cut in plan.CUTS:
            made = induced_reconstruction(scores["error"], variance / cut, scale=variance)
            yield f"error < variance/{cut}", made
    for length in plan.LENGTHS if kind.name == "transformer" else ():
        yield f"L = {length}", induced_subset(scores["logprob"], scores["lead"], length)
    for k in plan.LENGTHS if kind.name == "lenet" else ():
        order = sequences(scores["lead"].shape[1], 1)[:, 0]
        yield f"K = {k}", induced_all_of_k(scores["logprob"][:, order], scores["lead"][:, order], k)


def judged(line: Line, data: str, seed: int | None) -> Judgement:
    """Verdict on one line alone: the metrics of one experiment share their answers and are no tasks of a family."""
    return judge_family([line.entry(data, seed)], seed=SEED, replicates=REPLICATES).judgements[0]


def curve_rows(line: Line) -> Iterator[dict[str, Any]]:
    """Means of one metric and of its twins for every run."""
    for i, (parameters, seed) in enumerate(zip(line.parameters, line.seeds, strict=True)):
        means = [(name, float(v[i].mean())) for name, v in line.made.values.items()]
        (_, hard), *twins = means
        row = {"kind": line.kind.name, "metric": line.label, "parameters": int(parameters), "seed": int(seed)}
        yield row | {"value": round(hard, 6), "twin": twins[0][0], "twin_value": round(twins[0][1], 6)}


def verdict_row(line: Line, seed: int | None, told: Judgement) -> dict[str, Any]:
    """One verdict as a row of the results."""
    hard = line.entry("", seed).panel.values[line.made.hard.name].mean(axis=1)
    jump = int(np.argmax(np.diff(hard)))
    share = told.share
    return {
        "kind": line.kind.name,
        "metric": line.label,
        "link": line.made.hard.link,
        "seed": "all" if seed is None else seed,
        "points": hard.size,
        "items": next(iter(line.made.values.values())).shape[1],
        "lowest": round(float(hard.min()), 4),
        "highest": round(float(hard.max()), 4),
        "jump_share": _number(float(np.diff(hard)[jump] / np.ptp(hard)) if np.ptp(hard) else None),
        "jump_at": int(np.unique(line.parameters)[jump + 1]),
        "emergence": _number(float(emergence_scores(hard[None])[0])),
        "verdict": told.verdict,
        "twin": told.twin,
        "share": _number(share.value if share else None),
        "share_low": _number(min(share.low, told.other.low) if share and told.other else None),
        "share_high": _number(share.high if share else None),
        "steepest": _number(told.through.observed if told.through else None),
        "explained_by_twin": _number(1 - told.through.unexplained if told.through else None),
        "reason": told.reason,
    }


def _number(value: float | None) -> float | str:
    return "" if value is None or np.isnan(value) else round(value, 3)


def summary(rows: list[dict[str, Any]], told: dict[str, Any]) -> Iterator[str]:
    """``summary.md``: what was run, and what was said of it."""
    yield "# Summary of the vision experiments\n"
    yield "Made by `python -m experiments.vision.judge` from the scores in this folder.\n"
    versions = f"Python {told['python']}, torch {told['torch']}, numpy {told['numpy']}"
    yield f"Training: `{told['command']}`, commit {told['commit']}, {versions}, {told['cpu_seconds']:,} CPU seconds.\n"
    for kind in plan.KINDS:
        mine = [r for r in rows if r["kind"] == kind.name]
        if not mine:
            continue
        about = told["experiments"][kind.name]
        counts = f"{about['trained_on']:,} images trained on, {about['asked']:,} asked, {about['steps']:,} steps"
        yield f"## {kind.title[0].upper()}{kind.title[1:]}\n"
        yield f"Data set really run: **{about['data']}** (sha256 `{about['data_sha256'][:16]}`), {counts}.\n"
        yield f"![{kind.title}: induced metrics above, their twin below]({kind.name}.svg)\n"
        yield "All seeds together, as replicates of their sizes; the last column counts verdicts on each seed alone.\n"
        yield from _table([r for r in mine if r["seed"] == "all"], mine)
        yield ""
        yield from (f"- {r['metric']}: {r['reason']}." for r in mine if r["seed"] == "all" and r["reason"])
        yield ""


def _table(together: list[dict[str, Any]], mine: list[dict[str, Any]]) -> Iterator[str]:
    head = ("metric", "link", "lowest", "highest", "largest jump / rise", "a break may carry", "verdict", "seeds alone")
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row in together:
        alone = [r["verdict"] for r in mine if r["metric"] == row["metric"] and r["seed"] != "all"]
        counted = ", ".join(f"{alone.count(word)} {word}" for word in sorted(set(alone)))
        carries = f"{row['share_low']} to {row['share_high']}" if row["share_high"] != "" else "-"
        ends = f"{row['lowest']:.3f} | {row['highest']:.3f} | {row['jump_share']}"
        yield f"| {row['metric']} | {row['link']} | {ends} | {carries} | **{row['verdict']}** | {counted} |"


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as they come, columns of the first."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Write verdicts, curves, pictures and summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=plan.RESULTS, help="where the collected scores are")
    results = parser.parse_args().results
    found, told = lines(results)
    rows: list[dict[str, Any]] = []
    for line in found:
        data = told["experiments"][line.kind.name]["data"]
        seeds = (None, *(int(s) for s in np.unique(line.seeds)))
        rows += [verdict_row(line, seed, judged(line, data, seed)) for seed in seeds]
    write_csv(results / "verdicts.csv", rows)
    write_csv(results / "curves.csv", [row for line in found for row in curve_rows(line)])
    for kind in plan.KINDS:
        mine = [line for line in found if line.kind == kind]
        if mine:
            (results / f"{kind.name}.svg").write_text(figure(kind.title, mine) + "\n", "utf-8")
    (results / "summary.md").write_text("\n".join(summary(rows, told)).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
