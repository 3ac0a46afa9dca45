"""Which scores a terminal shows."""

from __future__ import annotations

import pytest

from foreshock.report._rows import ModelRow
from foreshock.report._scores import MOST, by_task, chosen, prefix, summarised


def rows(names: list[str], values: list[float | None]) -> list[ModelRow]:
    return [ModelRow(task="t", metric="m", model=n, value=v) for n, v in zip(names, values, strict=True)]


def test_few_rows_are_all_shown() -> None:
    few = rows([f"m@step{i}" for i in range(MOST)], [0.1] * MOST)
    assert chosen(few) == few


def test_a_training_run_is_told_by_its_ends_and_its_largest_step() -> None:
    steps = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000]
    values = [0.0] * 6 + [0.1, 0.9] + [0.95] * 6
    order = [7, 3, 13, 0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12]  # a store does not sort by step
    run = rows([f"m@step{steps[i]}" for i in order], [values[i] for i in order])
    assert summarised(run)
    assert {row.model for row in chosen(run)} == {"m@step0", "m@step32", "m@step64", "m@step4000"}


def test_other_models_share_what_is_left_evenly_and_keep_their_order() -> None:
    names = [f"m@step{i}" for i in range(20)] + [f"size-{i}" for i in range(40)]
    shown = [row.model for row in chosen(rows(names, [i / 100 for i in range(60)]))]
    assert len(shown) == MOST
    assert shown == [name for name in names if name in shown]
    assert {"size-0", "size-39", "m@step0", "m@step19"} <= set(shown)


def test_many_training_runs_are_told_by_their_last_checkpoints() -> None:
    names = [f"m{k}@step{i}" for i in range(6) for k in range(7)]
    assert not summarised(rows(names, [0.5] * 42))
    assert [row.model for row in chosen(rows(names, [0.5] * 42))] == [f"m{k}@step5" for k in range(7)]


@pytest.mark.parametrize("values", [[None] * 30, [0.5] * 30, [None, 0.2] * 15])
def test_missing_and_equal_values_do_no_harm(values: list[float | None]) -> None:
    shown = chosen(rows([f"m-step{i}" for i in range(30)], values))
    assert 2 <= len(shown) <= 4
    assert [shown[0].model, shown[-1].model] == ["m-step0", "m-step29"]


def test_digits_without_end_are_a_name_like_any_other() -> None:
    assert len(chosen(rows(["m@step" + "9" * 10_000] * 30, [0.5] * 30))) <= MOST


def test_each_task_has_its_rows() -> None:
    mixed = [ModelRow(task=f"t{i % 3}", metric="m", model=f"m{i}") for i in range(9)]
    assert [[row.model for row in group] for group in by_task(mixed)] == [
        [f"m{i}" for i in range(9) if i % 3 == k] for k in range(3)
    ]


@pytest.mark.parametrize(
    ("names", "common"),
    [
        (["org/name-1b", "org/name-7b"], "org/name-"),
        (["org/name"], ""),
        (["org/name", "org/name"], ""),
        (["alphabet", "alphabets"], ""),
        ([], ""),
    ],
)
def test_a_common_beginning_ends_at_a_separator(names: list[str], common: str) -> None:
    assert prefix(names) == common
