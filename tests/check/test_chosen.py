"""Runs are chosen by task and model before anything is worked out about them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foreshock._base import ConfigError
from foreshock.check._chosen import chosen
from foreshock.records import Run
from foreshock.store import Store

RUNS = [
    Run(run_key=f"{model}/{task}", format="test", reader="test@1", model=model, task=task)
    for model in ("pythia-1b", "opt-1b", "opt-6b")
    for task in ("adding", "sorting")
]


def test_families_are_asked_of_the_runs_that_fit_otherwise() -> None:
    asked: list[list[str]] = []

    def families(runs: Sequence[Run]) -> dict[str, str]:
        asked.append([run.run_key for run in runs])
        return {run.run_key: run.model.partition("-")[0] for run in runs}

    wanted = {"task": ["add*"], "model": [], "family": ["opt"]}
    assert [run.run_key for run in chosen(RUNS, None, wanted, families)] == ["opt-1b/adding", "opt-6b/adding"]
    assert asked == [["pythia-1b/adding", "opt-1b/adding", "opt-6b/adding"]]
    chosen(RUNS, None, {**wanted, "family": []}, families)
    assert len(asked) == 1, "no family was asked for"


def test_a_family_that_is_not_there_is_told_among_what_is_left() -> None:
    labels = {run.run_key: run.model.partition("-")[0] for run in RUNS}
    with pytest.raises(ConfigError, match="no family of the runs that fit so far is called 'gpt'"):
        chosen(RUNS, None, {"task": [], "model": ["opt*"], "family": ["gpt"]}, lambda _: labels)
    assert len(chosen(RUNS, {"opt-1b/adding"}, {"family": ["opt"]}, labels)) == 1


def test_runs_of_a_snapshot_by_key_and_task(tmp_path: object) -> None:
    store = Store.open(str(tmp_path), create=True)
    for run in RUNS:
        store.write(run, [])
    snapshot = store.snapshot()

    def keys(**asked: list[str]) -> list[str]:
        return sorted(run.run_key for run in snapshot.runs_among(**asked))

    assert keys() == sorted(run.run_key for run in RUNS)
    assert keys(tasks=["adding", "adding"]) == ["opt-1b/adding", "opt-6b/adding", "pythia-1b/adding"]
    assert keys(keys=["opt-1b/adding", "opt-1b/sorting", "none"], tasks=["sorting"]) == ["opt-1b/sorting"]
    assert keys(keys=["opt-1b/adding"]) == ["opt-1b/adding"]
    assert keys(keys=[], tasks=["adding"]) == []
