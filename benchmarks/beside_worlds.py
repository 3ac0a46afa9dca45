"""How often what stands beside a verdict is right: forecasts across the onset, totals, differences between conditions.

    python benchmarks/beside_worlds.py [--worlds 300] [--seed 1] [--only NAME] [--write]

Worlds of known truth as in `mirage_worlds.py`. A forecast may say ``no`` (not foreseeable) of at most 5% of smooth
families, and should say it of families in which one step carries most of the change. Totals and differences are judged
by `judge_family`: breaks falsely said of at most 6.8%, as for items. ``--write`` records the tables in
``benchmarks/results/beside.md``.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.mirage import (
    Entry,
    Hard,
    Twin,
    entry_of_difference,
    entry_of_totals,
    foreseeable,
    judge,
    judge_family,
)
from foreshock.series import Difference, Panel, Point, Series
from foreshock.simulate import World, choice_world, token_world
from foreshock.stats import clopper_pearson

RESULTS = Path(__file__).resolve().parent / "results" / "beside.md"
ITEMS = 500
SMOOTH = ("linear", "sigmoid", "soft knee", "loss floor", "late")
OUTSIDE = ("ramp", "steep sigmoid")

Row = tuple[str, Counter[str]]


def panel_of(world: World, *, trajectory: bool = False) -> Panel:
    """The world as the series room would hand it over."""
    points, items = world.hard.shape
    return Panel(
        task="world",
        family="simulated",
        axis="step" if trajectory else "parameters",
        axis_known=True,
        log_axis=True,
        points=tuple(f"m{i}" for i in range(points)),
        x=world.x,
        items=tuple(map(str, range(items))),
        values={"hard": world.hard, **world.twins},
        runs=tuple((f"r{i}",) for i in range(points)),
        trajectory=trajectory,
    )


def entry_of(world: World, *, trajectory: bool = False) -> Entry:
    """A line to judge, with the twin that comes first in the fixed order."""
    link: Any = "argmax" if world.chance else "all-of-N"
    name = "choice_probability" if world.chance else "gold_logprob"
    twin = Twin(name, name, tokens=world.tokens)
    return Entry(panel_of(world, trajectory=trajectory), Hard("hard", link, world.chance), (twin,))


def forecasts(worlds: int, seed: int) -> Iterator[Row]:
    """Answers on the twin and on the hard metric, by kind of world."""
    cells: list[tuple[str, Callable[..., World], dict[str, Any]]] = [
        (f"{shape}, 8 models, noise .1", token_world, {"shape": shape}) for shape in (*SMOOTH, *OUTSIDE)
    ]
    cells += [
        ("linear, 6 models, noise .2", token_world, {"points": 6, "noise": 0.2}),
        ("linear, 12 models, noise .2", token_world, {"points": 12, "noise": 0.2}),
        ("linear, t3 noise .2", token_world, {"noise": 0.2, "tails": "t3"}),
        ("linear, one outlier, noise .1", token_world, {"tails": "outlier"}),
        ("linear, checkpoints, AR(.5), noise .2", token_world, {"noise": 0.2, "chain": 0.5, "points": 12}),
        ("choices, linear, noise .1", choice_world, {}),
        ("choices, sigmoid, noise .1", choice_world, {"shape": "sigmoid"}),
    ]
    for share, points, noise in itertools.product((0.5, 0.65, 0.8), (8, 12), (0.1, 0.2)):
        facts = {"share": share, "points": points, "noise": noise}
        cells.append((f"step of {share:.0%}, {points} models, noise {noise:g}", token_world, facts))
    cells.append(("choices, step of 80%, noise .1", choice_world, {"share": 0.8}))
    for name, make, facts in cells:
        told: dict[str, Counter[str]] = {"twin": Counter(), "hard": Counter()}
        common = {"start": 1.0, "positions": False} if make is token_world else {}
        for k in range(worlds):
            world = make(np.random.default_rng([seed, k]), items=ITEMS, **common, **facts)
            entry = entry_of(world, trajectory="chain" in facts)
            # the verdict itself is not needed: only who is asked, and which twin
            cheap = judge(entry.panel, entry.hard, replicates=20)
            answer = foreseeable(replace(cheap, twin=entry.twins[0].name), entry)
            for role, one in (("twin", answer.twin), ("hard", answer.hard)):
                told[role][one.answer if one else "cannot tell"] += 1
        for role, counts in told.items():
            yield f"{name}: {role}", counts


def totals(worlds: int, seed: int) -> Iterator[Row]:
    """Verdicts on totals with perplexity as the twin."""
    for name, facts in (
        ("linear, noise .1", {}),
        ("linear, noise .1, from the floor", {"start": 2.2}),
        ("sigmoid, noise .1", {"shape": "sigmoid"}),
        ("linear, noise .3", {"noise": 0.3}),
        ("step of 80%, noise .1", {"share": 0.8}),
    ):
        told: Counter[str] = Counter()
        for k in range(worlds):
            world = token_world(
                np.random.default_rng([seed, 1, k]), items=ITEMS, positions=False, **({"start": 1.4} | facts)
            )
            told[judge_family([entry_of_totals(*totals_of(world))], replicates=200).judgements[0].verdict] += 1
        yield name, told


def totals_of(world: World) -> tuple[Series, Series]:
    """What a harness prints of a world: exact match and perplexity per token, with standard errors."""
    items = world.hard.shape[1]
    share, loss = world.hard.mean(axis=1), -world.twins["gold_logprob"] / world.tokens
    mean = np.exp(loss.mean(axis=1))
    error = mean * loss.std(axis=1, ddof=1) / np.sqrt(items)

    def series(metric: str, values: Any, errors: Any) -> Series:
        points = tuple(
            Point(f"m{i}", float(world.x[i]), float(values[i]), float(errors[i]), items, f"r{i}")
            for i in range(len(values))
        )
        return Series("world", "simulated", metric, "parameters", True, True, points, "simulated")

    return series("exact_match", share, np.sqrt(share * (1 - share) / (items - 1))), series("perplexity", mean, error)


def differences(worlds: int, seed: int) -> Iterator[Row]:
    """Verdicts on item-paired differences between two conditions."""
    for name, share, noise in (
        ("even gain, noise .02", 0.0, 0.02),
        ("even gain, noise .06", 0.0, 0.06),
        ("gain in one step of 80%, noise .02", 0.8, 0.02),
        ("gain in one step of 80%, noise .06", 0.8, 0.06),
        ("no gain, noise .02", -1.0, 0.02),
    ):
        told: Counter[str] = Counter()
        for k in range(worlds):
            entry = gained(np.random.default_rng([seed, 2, k]), share, noise)
            told[judge_family([entry], replicates=200).judgements[0].verdict] += 1
        yield name, told


def gained(rng: np.random.Generator, share: float, noise: float) -> Entry:
    """Items of one level under the baseline, and a gain of up to half of the scale that models share unequally."""
    points, place = 8, np.linspace(0, 1, 8)
    curve = 0.5 * ((1 - share) * place + share * (place > 0.5)) if share >= 0 else np.zeros(points)
    gain = curve + noise * rng.standard_normal(points)
    before = rng.uniform(0.1, 0.4, ITEMS) + 0.1 * rng.standard_normal((points, ITEMS))
    after = before + gain[:, None] + 0.1 * rng.standard_normal((points, ITEMS))
    right = [(rng.random((points, ITEMS)) < np.clip(p, 0, 1)).astype(float) for p in (before, after)]
    world = token_world(rng, points=points, items=ITEMS, positions=False)
    panel = replace(panel_of(world), values={"hard": right[1] - right[0], "soft": after - before})
    return entry_of_difference(
        Difference(panel, right[0].mean(axis=1)), Hard("hard", "threshold"), (Twin("soft", "graded_score"),)
    )


TABLES: dict[str, tuple[Callable[[int, int], Iterator[Row]], tuple[str, ...], str]] = {
    "Foreseeable": (forecasts, ("yes", "no", "cannot tell"), "no"),
    "Totals": (totals, ("smooth", "mirage", "break", "unresolved"), "break"),
    "Differences": (differences, ("smooth", "mirage", "break", "unresolved"), "break"),
}


def main() -> None:
    """Run the tables and print them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--worlds", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    how = f"`python benchmarks/beside_worlds.py --worlds {given.worlds} --seed {given.seed}`"
    parts = [f"# Beside the verdict\n\n{how}: share of each answer over {given.worlds} worlds of a kind.\n"]
    for title, (make, words, interval) in TABLES.items():
        if given.only.casefold() not in title.casefold():
            continue
        lines = [
            f"## {title}\n",
            f"| world | {' | '.join(words)} | 95% of {interval} |",
            f"| --- |{' ---: |' * (len(words) + 1)}",
        ]
        for name, told in make(given.worlds, given.seed):
            low, high = clopper_pearson(told[interval], given.worlds)
            shares = " | ".join(f"{told[word] / given.worlds:.3f}" for word in words)
            lines.append(f"| {name} | {shares} | {float(low):.3f} to {float(high):.3f} |")
            print(lines[-1], flush=True)
        parts.append("\n".join(lines) + "\n")
    text = "\n".join(parts)
    print(text)
    if given.write:
        RESULTS.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
