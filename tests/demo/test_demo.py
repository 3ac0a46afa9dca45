"""The shipped logs go through the real readers, and what they hold is what the report says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from foreshock.check import CheckOptions, check
from foreshock.demo import unpack
from foreshock.records import Document
from foreshock.report import render_html
from foreshock.store import Store, add_paths

TASK = "ladder_addition"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "logs")


@pytest.fixture(scope="module")
def last_checkpoints(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results and addition samples of each model's last checkpoint only: enough for a verdict, quick to judge."""
    folder = tmp_path_factory.mktemp("last")
    for model in sorted(path for path in logs.rglob("*") if path.is_dir() and list(path.glob("results_*.json"))):
        date = max(path.stem.removeprefix("results_") for path in model.glob("results_*.json"))
        (folder / model.name).mkdir()
        for name in (f"results_{date}.json", f"samples_{TASK}_{date}.jsonl"):
            shutil.copy(model / name, folder / model.name / name)
    return folder


def checked(folder: Path, store: Path) -> Document:
    opened = Store.open(store, create=True)
    added = add_paths(opened, [folder])
    assert not added.failures
    return check(opened, CheckOptions(tasks=[TASK]), command=["test"])


@pytest.fixture(scope="module")
def sizes(last_checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """What is found in the last checkpoints, at a fixed moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return checked(last_checkpoints, tmp_path_factory.mktemp("sizes") / "store")


def alter_one(folder: Path) -> tuple[str, float]:
    """Turn one response that was right into a wrong one, in output and in the harness's score; give its model."""
    for path in sorted(folder.rglob("samples_*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            sample = json.loads(line)
            right = [s for s in map(json.loads, lines) if s["exact_match"]]
            if sample["exact_match"] and len(right) < len(lines):
                wrong = "0" * len(sample["filtered_resps"][0])
                sample["resps"], sample["filtered_resps"], sample["exact_match"] = [[wrong]], [wrong], 0.0
                lines[number] = json.dumps(sample)
                path.write_text("\n".join(lines) + "\n", "utf-8")
                return path.parent.name, (len(right) - 1) / len(lines)
    raise AssertionError("no model is right on some items and wrong on others")


def test_one_altered_response_changes_score_interval_finding_table_and_page(
    last_checkpoints: Path, sizes: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    changed = tmp_path / "changed"
    shutil.copytree(last_checkpoints, changed)
    model, expected = alter_one(changed)
    before, after = sizes, checked(changed, tmp_path / "b")

    def row(document: Document) -> dict[str, object]:
        (found,) = (r for r in document.tables["models"] if r["model"].split("@")[0] == model.replace("__", "/"))
        return found

    assert row(after)["value"] == pytest.approx(expected)
    assert row(before)["value"] != row(after)["value"]
    assert (row(before)["low"], row(before)["high"]) != (row(after)["low"], row(after)["high"])
    assert before.findings[0].fit != after.findings[0].fit
    assert before.findings != after.findings
    assert before.tables["series"] != after.tables["series"]
    assert render_html(before) != render_html(after)


@pytest.fixture(scope="module")
def one_run(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """All checkpoints of one training run, on both renderings of addition."""
    folder = tmp_path_factory.mktemp("one")
    (run,) = (path for path in logs.rglob("*w48-s1") if path.is_dir())
    (folder / run.name).mkdir()
    for path in run.iterdir():
        if path.name.startswith(("results_", f"samples_{TASK}_")):
            shutil.copy(path, folder / run.name / path.name)
    store = Store.open(folder / "store", create=True)
    assert not add_paths(store, [folder / run.name]).failures
    return check(store, CheckOptions(tasks=[TASK, f"{TASK}_mc"]), command=["test"])


def test_the_real_threshold_is_never_called_a_mirage(one_run: Document, sizes: Document) -> None:
    (exact,) = (row for row in one_run.tables["verdicts"] if row["task"] == TASK)
    assert exact["verdict"] == "break"
    assert exact["twin"].startswith("gold_logprob"), "the twin is no decoded text"
    scores = {row["model"]: row["value"] for row in one_run.tables["models"] if row["task"] == TASK}
    steps = sorted((int(model.partition("@step")[2]), value) for model, value in scores.items())
    largest = max(range(1, len(steps)), key=lambda i: steps[i][1] - steps[i - 1][1])
    (finding,) = (one for one in one_run.findings if one.id == exact["finding_id"])
    assert f"between step {steps[largest - 1][0]:,} and step {steps[largest][0]:,}" in finding.title
    (foreseen,) = (row for row in one_run.tables["foreseeable"] if row["finding_id"] == exact["finding_id"])
    assert foreseen["answer"] != "yes"
    assert sizes.tables["verdicts"]
    assert all(row["verdict"] != "mirage" for row in sizes.tables["verdicts"])


def test_the_rendering_with_options_is_judged_through_the_argmax_link(one_run: Document) -> None:
    (choices,) = (row for row in one_run.tables["verdicts"] if row["task"] == f"{TASK}_mc")
    assert (choices["link"], choices["hard"]) == ("argmax", "multiple_choice_grade")
    assert choices["twin"] == "choice_probability"
    assert choices["order"][0] == "choice_probability"
    assert choices["verdict"] in ("break", "unresolved")
    (hard,) = (r for r in one_run.tables["series"] if r["finding_id"] == choices["finding_id"] and r["role"] == "hard")
    assert hard["chance"] == pytest.approx(0.25)


def test_every_shipped_file_is_read_and_every_response_arrived(logs: Path, tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    added = add_paths(store, [logs])
    assert added.failures == []
    assert {run.status.value for run in added.added} == {"complete"}
    assert all(run.counts.delivered == run.counts.expected for run in added.added)
    assert {TASK, f"{TASK}_mc"} <= {run.task for run in added.added}
    assert len({run.model.split("@")[0] for run in added.added}) >= 6


def test_the_shipped_logs_stay_small() -> None:
    from importlib.resources import files

    sizes = [
        len(part.read_bytes()) for part in files("foreshock.demo").iterdir() if not part.name.startswith("__pycache")
    ]
    assert sum(sizes) < 3_000_000
