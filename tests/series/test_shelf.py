"""Scores of many tasks: the same arrays however they were read, and never more in memory than allowed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import foreshock.series._shelf as shelves
from foreshock.metrics import get_metric
from foreshock.records import Batch, Run, item_key
from foreshock.scoring import Joined, joined, score
from foreshock.series import Block, Scores, Shelf, load_blocks, scores_of
from foreshock.store import Snapshot, Store

TASKS = ("a", "b", "c", "d")
EXACT = get_metric("exact_match").id
CLOSE = get_metric("char_similarity").id
PLACE = get_metric("position_accuracy").id


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Four tasks of three models, added apart: two epochs, two answer filters, answers that cannot be read."""
    store = Store.open(tmp_path / "store", create=True)
    rng = np.random.default_rng(0)
    for model in ("1b", "3b", "7b"):
        for task in TASKS:
            rows = []
            for item in range(6):
                for epoch in (1, 2):
                    for way in ("strict", "loose"):
                        answer = None if rng.random() < 0.2 else str(rng.integers(100, 103))
                        rows.append((item, epoch, way, answer))
            store.write(_run(model, task), _batches(task, rows))
    score(store)
    return store.snapshot()


def _run(model: str, task: str) -> Run:
    return Run(run_key=f"{model}/{task}", format="test", reader="test@1", model=model, task=task)


def _batches(task: str, rows: list[tuple[int, int, str, str | None]]) -> list[Batch]:
    keys = [item_key(f"{task} {item}", (), ("101",)) for item, *_ in rows]
    ids = [str(item) for item, *_ in rows]
    count = len(rows)
    items: dict[str, list[Any]] = {
        "item_key": keys,
        "item_id": ids,
        "input": [f"{task} {i}" for i in ids],
        "targets": [["101"]] * count,
    }
    responses: dict[str, list[Any]] = {
        "item_key": keys,
        "item_id": ids,
        "row": list(range(count)),
        "epoch": [epoch for _, epoch, _, _ in rows],
        "filter": [way for _, _, way, _ in rows],
        "delivery": ["ok"] * count,
        "output": [f"It is {answer}." for *_, answer in rows],
        "answer": [answer for *_, answer in rows],
    }
    return [Batch("items", items), Batch("responses", responses)]


def _by_hand(snapshot: Snapshot, task: str, way: str, metric: str, *, as_zero: bool) -> dict[tuple[str, str], float]:
    """Mean over epochs by run and item, from the long table."""
    columns = ["run_key", "item_key", "filter", "value", "status"]
    frame = snapshot.scan("scores", tasks=[task], metrics=[metric], columns=columns).collect()
    each = defaultdict(list)
    for run, item, name, value, status in frame.rows():
        told = 0.0 if as_zero and status == "unparsed" else value
        if name == way and told is not None:
            each[run, item].append(told)
    return {key: float(np.mean(values)) for key, values in each.items()}


def _cells(block: Block, metric: str) -> dict[tuple[str, str], float]:
    values = block.values[metric]
    there = zip(*np.nonzero(~np.isnan(values)), strict=True)
    return {(block.runs[i], block.items[j]): float(values[i, j]) for i, j in there}


@pytest.mark.parametrize("kept", [1, 10**9])
@pytest.mark.parametrize("rows", [1, 60, 10**6])
def test_blocks_are_the_means_over_epochs(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, kept: int, rows: int
) -> None:
    monkeypatch.setattr(shelves, "joined", lambda *words, **options: joined(*words, **options, rows=rows))
    shelf = Shelf(snapshot, TASKS, kept=kept)
    for task in (*TASKS, *TASKS[::-1]):
        blocks = shelf.scores(task).blocks({EXACT: True, CLOSE: False})
        assert [block.filter for block in blocks] == ["loose", "strict"]
        for block in blocks:
            assert block.filter is not None
            for metric, as_zero in ((EXACT, True), (CLOSE, False)):
                expected = _by_hand(snapshot, task, block.filter, metric, as_zero=as_zero)
                assert _cells(block, metric) == pytest.approx(expected)
                assert expected
            assert np.nanmax(block.counts[EXACT]) == 2


def test_a_task_is_read_again_only_when_it_was_let_go(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def noted(task: Joined) -> Scores:
        reads.append(task.task)
        return scores_of(task)

    monkeypatch.setattr(shelves, "scores_of", noted)
    shelf = Shelf(snapshot, TASKS)
    for task in (*TASKS, *TASKS[::-1]):
        assert shelf.scores(task).task == task
    assert reads == list(TASKS)
    reads.clear()
    small = Shelf(snapshot, TASKS, kept=1)
    for task in (*TASKS, *TASKS):
        small.scores(task)
    assert reads == [*TASKS, *TASKS]


def test_only_the_runs_that_are_asked_for(snapshot: Snapshot) -> None:
    shelf = Shelf(snapshot, TASKS, runs={"1b/a", "3b/a", "1b/b"})
    assert shelf.scores("a").blocks({EXACT: True})[0].runs == ("1b/a", "3b/a")
    assert shelf.scores("a").blocks({EXACT: True}, ["3b/a"])[0].runs == ("3b/a",)
    assert shelf.scores("c").blocks({EXACT: True}) == []
    assert shelf.scores("nothing").seen == ()
    assert shelf.agreement("nothing") == []


def test_a_run_without_any_value_is_no_row(snapshot: Snapshot) -> None:
    (one, other) = load_blocks(snapshot, "a", ["1b/a", "7b/a"], {EXACT: False})
    assert one.runs == other.runs == ("1b/a", "7b/a")
    assert load_blocks(snapshot, "a", ["1b/a"], {"no such metric": True}) == []


def test_positions_of_an_answer(snapshot: Snapshot) -> None:
    shelf = Shelf(snapshot, TASKS)
    scores = shelf.scores("b")
    block = scores.blocks({EXACT: True}, ["1b/b", "7b/b"])[1]
    found = scores.positions(block, PLACE)
    assert found is not None
    assert found.shape[:2] == (2, 6)
    assert found.shape[2] >= 3
    exact = load_blocks(snapshot, "b", ["1b/b", "7b/b"], {EXACT: False})[1].values[EXACT]
    there = ~np.isnan(exact)
    # the answers differ from 101 in their last digit only
    assert np.array_equal(found[..., 2][there], exact[there])
    assert scores.positions(block, EXACT) is None
