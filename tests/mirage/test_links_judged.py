"""Verdicts through every link: smooth, sharp and broken worlds of each, and what the twin cannot explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from foreshock.mirage import Hard, Judgement, Twin, judge
from foreshock.simulate import World, attempt_world, choice_world, graded_world, token_world
from tests.mirage.panels import panel_of

Maker = Callable[..., World]


def told(world: World, seed: int = 0, **changes: object) -> Judgement:
    hard = Hard("hard", world.link, world.chance, parts=world.parts, threshold=world.threshold)  # type: ignore[arg-type]
    twins = [
        Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0, trials=world.trials) for n in world.twins
    ]
    return judge(panel_of(world, seeds=False), replace(hard, **changes), twins, seed=seed, replicates=200)  # type: ignore[arg-type]


def said(make: Maker, worlds: int, changes: dict[str, object] | None = None, **knobs: object) -> Counter[str]:
    return Counter(
        told(make(np.random.default_rng([31, k]), **knobs), k, **(changes or {})).verdict for k in range(worlds)
    )


SOFT: dict[str, tuple[Maker, dict[str, object], dict[str, object]]] = {
    "all-of-N, tied": (token_world, {"lengths": [2, 5, 8], "dependence": 0.3, "positions": False}, {}),
    "all-of-N, parts": (graded_world, {"parts": 6, "threshold": 1.0, "start": 0.5, "rise": 2.6}, {}),
    "any-of-T": (attempt_world, {}, {}),
    "any-of-T, not told": (attempt_world, {}, {"parts": None}),
    "argmax": (choice_world, {}, {}),
    "threshold": (graded_world, {"start": 0.5}, {}),
    "threshold, not told": (graded_world, {"start": 0.5}, {"threshold": None}),
    "identity": (token_world, {"lengths": 1, "positions": False}, {"link": "identity"}),
}


@pytest.mark.parametrize("name", SOFT)
def test_smooth_and_broken_worlds_of_every_link(name: str) -> None:
    make, knobs, changes = SOFT[name]
    smooth = said(make, 6, changes, **knobs)
    broken = said(make, 6, changes, share=0.8, noise=0.05, **knobs)
    assert smooth["smooth"] >= 5, smooth
    assert broken["break"] >= 5, broken
    assert broken["mirage"] == broken["smooth"] == 0


@pytest.mark.parametrize(
    ("make", "knobs"),
    [
        (token_world, {"difficulty": 0.0, "surprise": 0.0, "start": 1.5, "lengths": 10, "positions": False}),
        (graded_world, {"difficulty": 0.2, "surprise": 0.2, "parts": 10, "threshold": 1.0}),
        (graded_world, {"difficulty": 0.2, "surprise": 0.2}),
        (choice_world, {"difficulty": 0.1, "surprise": 0.3, "start": -1.5, "rise": 4.0, "noise": 0.05}),
    ],
    ids=["all-of-N", "parts", "threshold", "argmax"],
)
def test_a_sharp_metric_of_any_link_is_a_mirage_until_the_twin_breaks(make: Maker, knobs: dict[str, object]) -> None:
    sharp = said(make, 6, **knobs)
    assert sharp["mirage"] >= 5, sharp
    broken = said(make, 6, share=0.75, **(knobs | {"noise": 0.05}))
    assert broken["mirage"] == broken["smooth"] == 0


def test_the_finding_says_on_which_links_and_how() -> None:
    j = told(attempt_world(np.random.default_rng(1)))
    assert j.through is not None
    assert j.through.how.startswith("one of 8 attempts, spread over items")
    assert "log(-log(1-p))" in str(j.finding.null)


def test_a_scorer_that_changes_between_two_models_is_no_mirage_of_the_twin() -> None:
    for make, knobs in ((token_world, {"lengths": [2, 5, 8], "positions": False}), (choice_world, {"start": 1.0})):
        world = make(np.random.default_rng(2), points=8, noise=0.05, **knobs)  # type: ignore[operator]
        hard = world.hard.copy()
        hard[:4] *= np.random.default_rng(3).random(hard[:4].shape) < 0.15
        j = told(replace(world, hard=hard))
        assert j.verdict == "unresolved"
        assert "does not move the hard metric" in j.reason
