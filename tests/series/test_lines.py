"""Which runs form a line, decided before any score is looked at."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from foreshock._base import ConfigError
from foreshock.records import ModelCard, Run, RunStatus
from foreshock.series import Line, lines, model_cards

numbers = itertools.count()


def run(model: str, task: str = "t", **facts: Any) -> Run:
    return Run(run_key=f"k{next(numbers):04}", format="test", reader="test@1", model=model, task=task, **facts)


def made(runs: list[Run], axis: str | None = None) -> list[Line]:
    return lines(runs, model_cards(runs), axis)


def test_sizes_make_one_line_and_each_trajectory_its_own() -> None:
    runs = [run(f"p-{size}-step{step}") for size in ("70m", "410m", "1b") for step in (1, 100, 1000)]
    found = made(runs)
    assert [(line.axis, line.family, [s.x for s in line.stops]) for line in found] == [
        ("parameters", "p", [70e6, 410e6, 1e9]),
        ("step", "p 70M", [1, 100, 1000]),
        ("step", "p 410M", [1, 100, 1000]),
        ("step", "p 1B", [1, 100, 1000]),
    ]
    assert all(group[0].model.endswith("step1000") for stop in found[0].stops for group in stop.groups)
    assert [line.trajectory for line in found] == [False, True, True, True]


def test_seeds_share_a_point_and_repeats_stand_behind_the_newest() -> None:
    old, new = run("p-1b-s1", created="2026-01-01"), run("p-1b-s1", created="2026-02-01")
    other, small = run("p-1b-s2"), run("p-70m-s1")
    (line,) = made([old, new, other, small])
    big = line.stops[-1]
    assert [[r.run_key for r in group] for group in big.groups] == [[new.run_key, old.run_key], [other.run_key]]
    assert big.label == "1B (2 seeds)"


def test_models_that_a_table_puts_into_one_family_are_no_repeats_of_each_other() -> None:
    card = ModelCard(family="scores", parameters=1e9, guesses=["family"])
    large = msgspec.structs.replace(card, parameters=7e9)
    runs = [run("gpt-a", card=card), run("gpt-b", card=card), run("gpt-c", card=large)]
    (line,) = made(runs)
    assert [len(s.groups) for s in line.stops] == [2, 1]
    assert line.stops[0].label == "1B (2 models)"


def test_a_seed_with_one_checkpoint_does_not_join_anothers_training() -> None:
    whole = [run(f"p-1b-s1-step{step}") for step in (1, 10, 100)]
    only_last = [run(f"p-1b-s{seed}-step100") for seed in (2, 3)]
    (line,) = made([*whole, *only_last])
    assert (line.axis, line.family) == ("step", "p 1B seed 1")
    assert [len(stop.groups) for stop in line.stops] == [1, 1, 1]
    (line,) = made([*whole, *(run(f"p-1b-s2-step{step}") for step in (1, 10, 100))])
    assert line.family == "p 1B"
    assert [len(stop.groups) for stop in line.stops] == [2, 2, 2]


def test_conditions_are_kept_apart() -> None:
    runs = [run(f"p-{s}", conditions={"shots": shots}) for s in ("1b", "7b") for shots in ("0", "5")]
    assert [(line.conditions, len(line.stops)) for line in made(runs)] == [("shots=0", 2), ("shots=5", 2)]


def test_unfinished_runs_stay_out_and_are_counted() -> None:
    runs = [run("p-1b"), run("p-7b"), run("p-70b", status=RunStatus.CANCELLED)]
    (line,) = made(runs)
    assert (len(line.stops), line.left_out) == (2, 1)


def test_a_task_without_an_axis_is_in_order_of_creation_and_says_so() -> None:
    runs = [run("zeta", created="2026-01-01"), run("alpha", created="2026-02-01"), run("beta")]
    found = made(runs)
    assert {(line.axis, line.axis_known) for line in found} == {("created", False)}
    assert sum(len(line.stops) for line in found) == 3


def test_a_forced_axis_wins_and_an_unknown_one_is_refused() -> None:
    runs = [run(f"p-{size}-step{step}") for size in ("70m", "1b") for step in (1, 10)]
    assert [line.axis for line in made(runs, "tokens")] == []
    assert {line.axis for line in made(runs, "step")} == {"step"}
    with pytest.raises(ConfigError, match="unknown axis"):
        made(runs, "weight")


def along(name: str, values: list[float], **facts: Any) -> list[Run]:
    return [run(f"p-{i + 1}b", meta={"axis": {"name": name, "value": v}}, **facts) for i, v in enumerate(values)]


def test_an_axis_of_the_runs_own_wins_when_all_have_it() -> None:
    (line,) = made(along("width", [64, 32, 128]))
    assert (line.axis, line.axis_known, line.log_axis) == ("width", True, False)
    assert [s.x for s in line.stops] == [32, 64, 128]
    assert [s.label for s in line.stops] == ["p-2b", "p-1b", "p-3b"]
    assert {line.axis for line in made([*along("width", [32, 64]), run("p-9b")])} == {"parameters"}
    assert {line.axis for line in made(along("width", [32, 64]) + along("depth", [2, 4]))} == {"parameters"}
    assert {line.axis for line in made(along("width", [32, 32]))} == {"parameters"}, "one place is no line"
    assert {line.axis for line in made(along("width", [32, 64]), "parameters")} == {"parameters"}, "forced"


@pytest.mark.parametrize(
    ("values", "log"), [([1, 100], False), ([1, 101], True), ([0, 1000], False), ([-5, 1000], False)]
)
def test_an_own_axis_is_logarithmic_when_it_spans_over_two_decades(values: list[float], log: bool) -> None:
    (line,) = made(along("width", values))
    assert line.log_axis is log


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [run(f"p-{size}-s{seed}", created=f"2026-01-0{seed}") for size in ("70m", "1b") for seed in (1, 2, 3)]
    assert made(runs) == made(runs[::-1])
