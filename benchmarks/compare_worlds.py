"""How often `foreshock compare` is wrong, how often it finds what was planted, and what it costs.

    python benchmarks/compare_worlds.py [--worlds 2000] [--seed 1] [--logs FOLDER] [--write]

Worlds are drawn from a seed and judged by the functions that the command calls; one row goes through the store and the
whole command. ``--logs`` names a folder with two logs of the mmlu-pro preset, for the line about speed and statsmodels.
``--write`` records the table in ``benchmarks/results/compare.md``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.compare import CompareOptions, Side, compare, judge_pair, rank_board, verdict_of
from foreshock.records import Batch, Run, item_key
from foreshock.stats import clopper_pearson, discordance, paired_items
from foreshock.store import Store, add_paths

RESULTS = Path(__file__).resolve().parent / "results" / "compare.md"
ALPHA = 0.05
SAID = ("improvement", "regression")


class Passages(NamedTuple):
    """Scores of two models on items, and the passage of each item."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    labels: NDArray[np.int64]


class Row(NamedTuple):
    """One world: what was counted, how often, of how many, and what it should be."""

    world: str
    counted: str
    hits: int
    worlds: int
    should: str


def passages(rng: np.random.Generator, clusters: int, size: int, gap: float = 0.0, lean: float = 0.35) -> Passages:
    """Two models with good and bad passages of their own; the second is better by ``gap`` on average."""
    labels = np.repeat(np.arange(clusters), size)
    chance = 0.45 + lean * rng.choice([-1, 1], (2, clusters))
    chance[1] += gap
    scores = (rng.random((2, labels.size)) < np.clip(chance, 0, 1)[:, labels]) * 1.0
    return Passages(scores[0], scores[1], labels)


def null_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """False alarms where both are equally good."""
    for name, aware, should in (("units: clusters", True, "at most .05"), ("clusters forgotten", False, "far more")):
        hits = 0
        for _ in range(worlds):
            a, b, labels = passages(rng, 60, 5)
            result = judge_pair(a, b, rng, clusters=labels if aware else None)
            hits += verdict_of(result, result.p, alpha=ALPHA, margin=0.01) in SAID
        yield Row(f"60 passages of 5 questions, equal models; {name}", "called better or worse", hits, worlds, should)
    hits = 0
    for _ in range(worlds):
        skill = rng.random(150)
        rows = (rng.random((2, 4, 150)) < skill).mean(axis=1)
        result = judge_pair(rows[0], rows[1], rng, repeated=True)
        hits += result.p <= ALPHA
    yield Row("150 items, 4 epochs each, equal models", "called better or worse", hits, worlds, "about .05")
    hits = 0
    for _ in range(worlds):
        base = rng.normal(0, 1, 200)
        result = judge_pair(base + rng.normal(0, 0.5, 200), base + rng.normal(0, 0.5, 200), rng, bound=None)
        hits += result.p <= ALPHA
    yield Row("200 items, graded scores, equal models", "called better or worse", hits, worlds, "about .05")


def power_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """Planted differences at the number of items that the power formula asks for."""
    for gain, loss in ((0.20, 0.14), (0.08, 0.05)):
        n = paired_items(gain + loss, gain - loss) or 0
        hits = 0
        for _ in range(worlds):
            kind = rng.random(n)
            result = judge_pair((kind > 1 - loss) * 1.0, (kind < gain) * 1.0, rng)
            hits += verdict_of(result, result.p, alpha=ALPHA, margin=0.001) == "improvement"
        yield Row(
            f"{gain:.0%} gained, {loss:.0%} lost, {n:,} items as predicted", "improvement", hits, worlds, "about .80"
        )
    pilot = passages(rng, 4_000, 5, 0.05, 0.25)
    clusters = (paired_items(discordance(pilot.second - pilot.first, pilot.labels), 0.05) or 0) // 5
    hits = 0
    for _ in range(worlds // 2):
        a, b, labels = passages(rng, clusters, 5, 0.05, 0.25)
        result = judge_pair(a, b, rng, clusters=labels)
        hits += verdict_of(result, result.p, alpha=ALPHA, margin=0.001) == "improvement"
    yield Row(f"5 points, {clusters:,} passages of 5 as predicted", "improvement", hits, worlds // 2, "about .80")


def margin_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """The word no-difference."""
    for shift, should in ((0.03, "at most .025"), (0.0, "often")):
        hits = 0
        for _ in range(worlds):
            kind = rng.random(2_000)
            result = judge_pair((kind > 0.95) * 1.0, (kind < 0.05 + shift) * 1.0, rng)
            hits += verdict_of(result, result.p, alpha=ALPHA, margin=0.03) == "no-difference"
        yield Row(f"2,000 items, true difference {shift:.2f}, margin 0.03", "no-difference", hits, worlds, should)


def coverage_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """Whether the 95% interval holds the true difference."""
    for n, gain, loss in ((40, 0.10, 0.05), (200, 0.02, 0.02), (1_000, 0.2, 0.1)):
        hits = 0
        for _ in range(worlds):
            kind = rng.random(n)
            result = judge_pair((kind > 1 - loss) * 1.0, (kind < gain) * 1.0, rng)
            hits += result.low <= gain - loss <= result.high
        yield Row(
            f"{n:,} items, {gain:.0%} gained, {loss:.0%} lost", "interval holds the truth", hits, worlds, "about .95"
        )
    for clusters, size in ((15, 4), (60, 5)):
        hits = 0
        for _ in range(worlds):
            a, b, labels = passages(rng, clusters, size, 0.1)
            result = judge_pair(a, b, rng, clusters=labels)
            hits += result.low <= 0.1 <= result.high
        yield Row(f"{clusters} passages of {size}", "interval holds the truth", hits, worlds, "about .95")


def board_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """Boards of equal models."""
    for models in (4, 10):
        hits = 0
        for _ in range(worlds // 2):
            labels = np.repeat(np.arange(50), 3)
            chance = np.clip(rng.random(150) + rng.choice([-0.3, 0.3], (models, 50))[:, labels], 0, 1)
            board = rank_board((rng.random((models, 150)) < chance) * 1.0, rng, clusters=labels, splits=1)
            hits += len(board.groups) > 1
        yield Row(f"{models} equal models, 50 passages of 3", "any two told apart", hits, worlds // 2, "at most .05")


def store_row(worlds: int, rng: np.random.Generator) -> Row:
    """The whole labelled path: logs in a store, passages found by themselves, one call of the command's function."""
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "store", create=True)
        runs: tuple[list[Run], list[Run]] = ([], [])
        with store.writer() as writer:
            for world in range(worlds):
                a, b, labels = passages(rng, 30, 4)
                asked = [f"{f'Passage {label} of world {world}. ':<40}" * 6 + f"{i}?" for i, label in enumerate(labels)]
                for side, (model, scores) in enumerate((("a", a), ("b", b))):
                    run = Run(run_key=f"{model}{world}", format="w", reader="w@1", model=model, task=f"w{world}")
                    writer.write(run, iter(_batches(asked, scores.tolist())))
                    runs[side].append(run)
        sides = [Side(name, [run for run in store.snapshot().runs() if run.model == name]) for name in "ab"]
        rows = compare(store, sides, CompareOptions(adjust="holm")).tables["compare"]
    hits = sum(row["p"] <= ALPHA for row in rows)
    return Row("30 passages of 4, through store and command", "p at most .05", hits, len(rows), "at most .05")


def _batches(asked: list[str], right: list[float]) -> list[Batch]:
    rows, ids = list(range(len(asked))), [str(i) for i in range(len(asked))]
    keys = [item_key(text) for text in asked]
    n = len(rows)
    return [
        Batch("items", {"item_id": ids, "item_key": keys, "input": asked}),
        Batch("responses", {"row": rows, "item_id": ids, "item_key": keys, "delivery": ["ok"] * n}),
        Batch("scores", {"row": rows, "metric_id": ["acc"] * n, "source": ["harness"] * n, "value": right}),
    ]


def logs_text(folder: Path) -> str:
    """Two real logs: cost beyond start-up, and McNemar beside statsmodels."""
    from foreshock.readers import ReadOptions

    with TemporaryDirectory() as place:
        store = Store.open(Path(place) / "store", create=True)
        added = add_paths(store, sorted(folder.glob("*Llama-2-[17][30]b*.zip")), ReadOptions(preset="mmlu-pro"))
        sides = [Side(run.model, [run]) for run in sorted(added.added, key=lambda run: run.model)]
        costs = []
        for _ in range(5):
            start = time.process_time()
            document = compare(store, sides)
            costs.append(time.process_time() - start)
    (row,) = document.tables["compare"]
    tables = import_module("statsmodels.stats.contingency_tables")
    oracle = tables.mcnemar([[0, row["down"]], [row["up"], 0]], exact=True).pvalue
    return (
        f"{row['second']} against {row['first']}, {row['items']:,} items: {costs[0]:.2f} CPU s with scoring, "
        f"{min(costs[1:]):.2f} to {max(costs[1:]):.2f} when scored, all threads, beyond start-up and an open store. "
        f"McNemar {row['p_mcnemar']:.6e}, statsmodels {oracle:.6e}, difference {abs(row['p_mcnemar'] - oracle):.1e}."
    )


def all_rows(worlds: int, rng: np.random.Generator) -> Iterator[Row]:
    """Every row, in the order of the table."""
    for part in (null_rows, power_rows, margin_rows, coverage_rows, board_rows):
        yield from part(worlds, rng)
    yield store_row(max(20, worlds // 2), rng)


def main() -> None:
    """Run the worlds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--write", action="store_true")
    told = parser.parse_args()
    speed = ["", logs_text(told.logs)] if told.logs else []
    rng = np.random.default_rng(told.seed)
    lines = ["| world | counted | rate [95%] | worlds | should be |", "| --- | --- | --- | --- | --- |"]
    for line in lines:
        print(line)
    for row in all_rows(told.worlds, rng):
        low, high = (float(end) for end in clopper_pearson(row.hits, row.worlds))
        rate = f"{row.hits / row.worlds:.3f} [{low:.3f}, {high:.3f}]"
        lines.append(f"| {row.world} | {row.counted} | {rate} | {row.worlds:,} | {row.should} |")
        print(lines[-1], flush=True)
    print("\n".join(speed))
    command = f"python benchmarks/compare_worlds.py --worlds {told.worlds} --seed {told.seed}"
    text = "\n".join([*lines, *speed])
    if told.write:
        head = "# Comparisons on worlds of known truth\n\nNo world is withheld: every one has a verdict.\n\n"
        RESULTS.write_text(f"{head}    {command}{' --logs FOLDER' if told.logs else ''} --write\n\n{text}\n", "utf-8")


if __name__ == "__main__":
    main()
