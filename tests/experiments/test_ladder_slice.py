"""The logs that ship in the package: whole, consistent with themselves, and what the shipped weights say."""

from __future__ import annotations

import csv
import io
import json
import lzma
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.arithmetic_ladder import plan
from experiments.arithmetic_ladder.numpy_model import log_probabilities, read_weights
from experiments.arithmetic_ladder.outcome import held_out
from experiments.arithmetic_ladder.problems import PAD, PROMPT, answer_tokens, prompt_tokens

TASKS = ("ladder_addition", "ladder_addition_mc", "ladder_multiplication", "ladder_multiplication_mc")
Key = tuple[str, int]


@pytest.fixture(scope="module")
def archive(repo_root: Path) -> Path:
    return repo_root / "src" / "foreshock" / "demo" / "ladder.tar.xz"


@pytest.fixture(scope="module")
def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(archive.read_bytes()))) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def headers(members: dict[str, bytes]) -> dict[Key, tuple[str, dict[str, Any]]]:
    """Date and results file by run and step."""
    out = {}
    for name, content in members.items():
        if "/results_" in name:
            head = json.loads(content)
            step = int(head["config"]["model_revision"].removeprefix("step"))
            date = name.rsplit("_", 1)[1].removesuffix(".json")
            out[head["model_name"].split("/")[1], step] = (date, head)
    return out


def _samples(members: dict[str, bytes], run: str, date: str, task: str) -> list[dict[str, Any]]:
    text = members[f"foreshock-ladder__{run}/samples_{task}_{date}.jsonl"].decode()
    return [json.loads(line) for line in text.splitlines()]


def test_small_enough_to_ship(archive: Path) -> None:
    assert archive.stat().st_size < 3_000_000


def test_holds_every_size_and_seed_and_one_trajectory(headers: dict[Key, tuple[str, dict[str, Any]]]) -> None:
    last = {run for run, step in headers if step == plan.STEPS}
    assert {r.name for r in plan.learners()} <= last
    steps = defaultdict(list)
    for run, step in headers:
        steps[run].append(step)
    assert max(len(s) for s in steps.values()) == len(plan.CHECKPOINTS)


def test_headers_agree_with_their_samples(
    members: dict[str, bytes], headers: dict[Key, tuple[str, dict[str, Any]]]
) -> None:
    for (run, _), (date, head) in headers.items():
        for task in TASKS:
            lines = _samples(members, run, date, task)
            metric = "acc" if task.endswith("_mc") else "exact_match"
            assert head["results"][task][f"{metric},none"] == pytest.approx(np.mean([x[metric] for x in lines]))
            assert head["n-samples"][task]["effective"] == len(lines) >= 200
            assert [x["doc_id"] for x in lines] == list(range(len(lines)))


def test_every_member_is_a_plain_file_below_the_folder(members: dict[str, bytes]) -> None:
    assert all(not name.startswith(("/", ".")) and ".." not in name for name in members)
    assert len(members) == (1 + len(TASKS)) * len([n for n in members if "/results_" in n])


@pytest.mark.parametrize("width", [12, 20, 32])
@pytest.mark.parametrize("task", ["addition", "multiplication"])
def test_the_kept_weights_say_what_the_logs_say(
    members: dict[str, bytes], headers: dict[Key, tuple[str, dict[str, Any]]], width: int, task: str
) -> None:
    """Our own float64 forward pass on the packed float16 weights, against log-probabilities in the shipped samples."""
    run = plan.Run("learn", width, 1)
    date, _ = headers[run.name, plan.STEPS]
    lines = _samples(members, run.name, date, f"ladder_{task}")[:100]
    problems = held_out(task).take(np.arange(100))
    gold = answer_tokens(problems.answers())
    weights = read_weights(plan.RESULTS / "weights" / f"{run.name}.safetensors", plan.STEPS)
    logs = log_probabilities(weights, np.concatenate([prompt_tokens(problems), gold[:, :-1]], axis=1))[:, PROMPT - 1 :]
    for i, line in enumerate(lines):
        ours = np.take_along_axis(logs[i], gold[i][:, None], axis=1)[gold[i] != PAD, 0]
        assert ours == pytest.approx(line["gold_token_logprobs"], abs=2e-4)
        right = (logs[i].argmax(-1) == gold[i]) | (gold[i] == PAD)
        assert line["exact_match"] == float(right.all())


def test_the_tables_hold_the_shipped_parameter_counts(headers: dict[Key, tuple[str, dict[str, Any]]]) -> None:
    with (plan.RESULTS / "runs.csv").open(newline="") as file:
        counts = {row["run"]: int(row["parameters"]) for row in csv.DictReader(file)}
    for (run, _), (_, head) in headers.items():
        assert head["config"]["model_num_parameters"] == counts[run]


def test_weights_are_small_and_every_finished_run_has_its_last(repo_root: Path) -> None:
    folder = repo_root / "experiments" / "arithmetic_ladder" / "results" / "weights"
    files = {p.stem: p for p in folder.glob("*.safetensors")}
    assert set(files) == {r.name for r in plan.all_runs()}
    assert sum(p.stat().st_size for p in files.values()) < 15_000_000
    width = 16
    assert read_weights(files[f"arith-w{width}-s2"], plan.STEPS)["head"].shape == (15, width)
