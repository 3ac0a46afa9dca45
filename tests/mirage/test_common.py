"""A jump at one model in most tasks is one finding."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from foreshock.mirage import CommonJump, Entry, judge_family
from foreshock.simulate import suite_world
from tests.mirage.panels import hard_of, panel_of, twins_of


def family(seed: int, **knobs: object) -> list[Entry]:
    made = {"tasks": 8, "points": 8, "items": 150, "lengths": [1, 2, 4, 7, 10], "positions": False} | knobs
    worlds = suite_world(np.random.default_rng([5, seed]), **made)  # type: ignore[arg-type]
    return [
        Entry(replace(panel_of(w, seeds=False), task=f"task {k}"), hard_of(w), tuple(twins_of(w)))
        for k, w in enumerate(worlds)
    ]


def common(entries: list[Entry], **knobs: object) -> CommonJump:
    told = judge_family(entries, replicates=100, **knobs).common  # type: ignore[arg-type]
    assert told is not None
    return told


def test_a_step_at_one_model_in_all_tasks_is_one_finding() -> None:
    told = [common(family(k, common_step=0.8, noise=0.2)) for k in range(5)]
    assert sum(one.verdict == "break" for one in told) >= 4
    one = next(one for one in told if one.verdict == "break")
    assert (one.finding.code, one.finding.state) == ("FS302", "firing")
    assert "that is one finding about the models" in one.finding.title
    assert one.finding.p is not None
    assert one.finding.p <= 0.05
    assert len(one.agree) > 4
    row = one.row()
    msgspec.json.encode(row)
    assert (row["verdict"], row["tasks"], row["agree"]) == ("break", 8, len(one.agree))
    assert (row["from_point"], row["to_point"]) == one.points
    assert row["share_low"] > 0.25


@pytest.mark.parametrize(("at", "alone"), [(0.99, True), (0.5, False)])
def test_a_step_to_the_last_model_alone_is_remarked(at: float, alone: bool) -> None:
    told = common(family(3, common_step=0.9, at=at, noise=0.05))
    assert told.verdict == "break"
    assert ("one model only on one side" in told.finding.title) == alone


def test_without_a_common_step_there_is_none() -> None:
    said = Counter(common(family(10 + k)).verdict for k in range(4))
    assert said["smooth"] >= 3
    own = Counter(common(family(20 + k, breaking=0.3)).verdict for k in range(4))
    assert own["break"] == 0


def test_a_few_large_steps_do_not_make_a_common_one() -> None:
    # three of eight tasks do all their rising in one step at one place: the mean jumps by a third
    stepped = family(1, tasks=3, breaking=1.0, share=0.98, at=0.5, noise=0.02)
    told = common([*stepped, *family(2, tasks=5, noise=0.02)])
    assert told.verdict == "unresolved"
    assert told.reason == "the mean jumps, but only 3 of 8 tasks do"
    # what stands against it is listed
    assert told.finding.evidence_total == 3
    assert "beyond an even part" in told.finding.evidence[0].what


def test_sharp_metrics_over_smooth_twins_are_a_mirage_of_the_family() -> None:
    sharp = {"lengths": 10, "difficulty": 0.0, "surprise": 0.0, "start": 1.5, "points": 6, "items": 400}
    assert common(family(3, noise=0.05, **sharp)).verdict == "mirage"


def test_few_tasks_make_no_family() -> None:
    entries = family(4, tasks=3)
    assert judge_family(entries, replicates=50).common is None
    decoded = [replace(e, twins=()) for e in family(4, tasks=5)]
    assert judge_family(decoded, replicates=50).common is None


def test_tasks_with_other_models_are_left_out_of_the_mean() -> None:
    entries = family(6, tasks=6)
    odd = entries[0].panel
    entries[0] = replace(entries[0], panel=replace(odd, x=odd.x * np.linspace(1, 2, 8)))
    told = common(entries)
    assert told.tasks == tuple(f"task {k}" for k in range(1, 6))


@pytest.mark.slow
def test_the_family_finding_keeps_its_rate() -> None:
    # a step of a quarter in all tasks, at the border of a break
    said = Counter(common(family(100 + k, common_step=0.25, tasks=12)).verdict for k in range(100))
    assert said["break"] <= 12
