"""Lint on real logs: what it says is held against the raw files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from foreshock.lint import LintOptions, lint_store
from foreshock.store import Store, add_paths


def told(store: Store, options: LintOptions | None = None) -> dict[tuple[str | None, str], dict[str, object]]:
    return {(row["task"], row["code"]): row for row in lint_store(store, options).tables["lint"]}


def added(tmp_path: Path, logs: Path) -> Store:
    store = Store.open(tmp_path / "store", create=True)
    assert not add_paths(store, [logs]).failures
    return store


def test_a_ladder_of_three_models_with_a_gap(shared_data: Path, tmp_path: Path) -> None:
    store = added(tmp_path, shared_data / "logs" / "lm_eval_0.4" / "latxa")
    options = LintOptions(families=["latxa*"], select=["FS202", "FS203", "FS204", "FS207"])
    rows = lint_store(store, options).tables["lint"]
    gap = np.diff(np.log([7e9, 13e9, 70e9])) / np.log(10)
    assert {row["code"] for row in rows} == {"FS202", "FS203", "FS204", "FS207"}
    (said,) = {row["message"].split(" of the axis")[0] for row in rows if row["code"] == "FS207"}
    assert said == f"{gap.max():.0%}"
    found = {(row["task"], row["code"]): row for row in rows}
    twins = {task: row["state"] for (task, code), row in found.items() if code == "FS202"}
    assert twins["belebele_eus_Latn"] == "firing"  # totals alone
    assert twins["bec2016eu"] == "no-data"  # of f1 the name does not tell what it is
    assert found["belebele_eus_Latn", "FS203"]["enough"][0]["have"] == 900


def test_a_log_with_log_likelihoods_has_its_twin_and_too_few_items(shared_data: Path, tmp_path: Path) -> None:
    found = told(added(tmp_path, shared_data / "logs" / "helm"))
    tasks = {task for task, _ in found if task and "hellaswag" in task}
    (task,) = tasks
    assert found[task, "FS203"]["state"] == "firing"
    assert (task, "FS202") not in found
    assert (task, "FS206") not in found  # four options each


@pytest.mark.slow
def test_options_and_denominators_of_mmlu_pro(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "logs" / "mmlu_pro"
    found = told(added(tmp_path, folder), LintOptions(select=["FS206", "FS209"]))
    counts: dict[object, int] = {}
    answered = {}
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".json") and not n.startswith("__MACOSX"))
            items = json.loads(archive.read(name))
        # items of which the older files have another version count once for each
        counts |= {(item["question"], *item["options"]): len(item["options"]) for item in items}
        answered[path.name] = sum(item["pred"] is not None for item in items)
    chance = found["mmlu-pro", "FS206"]
    assert f"items have {min(counts.values())} to {max(counts.values())} options" in str(chance["message"])
    assert f"guessing gives {np.mean(1 / np.array([*counts.values()])):.3g}" in str(chance["message"])
    assert f"{min(answered.values()):,} responses" in str(found["mmlu-pro", "FS209"]["message"])
