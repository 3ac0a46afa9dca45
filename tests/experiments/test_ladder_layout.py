"""The writer of lm-eval 0.4.7 logs and the figures, on outcomes whose truth is known."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from experiments.arithmetic_ladder import lm_eval_layout as layout
from experiments.arithmetic_ladder import plan
from experiments.arithmetic_ladder.outcome import (
    TASKS,
    Outcome,
    exact,
    figures,
    held_out,
    held_out_choices,
    load,
    save,
)
from experiments.arithmetic_ladder.problems import ANSWER, PAD, answer_tokens

CHECKPOINT = layout.Checkpoint(plan.Run("learn", 24, 2), 5000, 15144, "abc", "def")


def made_up(task: str, wrong_at: dict[int, list[int]], seed: int = 0) -> Outcome:
    """An outcome right everywhere except at the given positions of the given items."""
    rng = np.random.default_rng(seed)
    gold = answer_tokens(held_out(task).answers())
    right = np.ones(gold.shape, dtype=bool)
    for item, positions in wrong_at.items():
        right[item, positions] = False
    greedy = np.where(right, gold, (gold + 1) % 10).astype(np.int8)
    logprob = np.where(gold == PAD, 0.0, np.where(right, -0.25, -2.0)).astype(np.float32)
    choice = rng.normal(-5, 1, (len(gold), 4)).astype(np.float32)
    index = held_out_choices(task)[1]
    choice[np.arange(len(gold)), index] = np.where(right.all(axis=1), -1.0, -9.0)
    return Outcome(greedy, logprob, right, choice, choice == choice.max(axis=1, keepdims=True))


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_figures_of_a_known_outcome(task: str) -> None:
    outcome = made_up(task, {i: [0] for i in range(100)} | {i: [1] for i in range(100, 300)})
    found = figures(task, outcome)
    assert found["exact_match"] == pytest.approx(0.4)
    assert found["position_0"] == pytest.approx(0.8)
    assert found["position_1"] == pytest.approx(0.6)
    assert found["position_product"] == pytest.approx(0.8 * 0.6)
    assert found["mc_accuracy"] == pytest.approx(0.4)
    n_tokens = int((answer_tokens(held_out(task).answers()) != PAD).sum())
    assert found["token_accuracy"] == pytest.approx(1 - 300 / n_tokens)
    assert found["mean_gold_logprob"] == pytest.approx(-0.25 - 300 / n_tokens * 1.75)


def test_what_follows_the_end_token_does_not_count(task: str) -> None:
    outcome = made_up(task, {})
    after = answer_tokens(held_out(task).answers()) == PAD
    outcome.greedy[after] = 7
    assert exact(task, outcome).all()


def test_a_missing_end_token_is_an_error(task: str) -> None:
    outcome = made_up(task, {})
    digits = answer_tokens(held_out(task).answers()) < 10
    outcome.greedy[0, digits[0].sum()] = 3
    assert not exact(task, outcome)[0]
    assert layout.task_samples(task, outcome, 1)[f"ladder_{task}"][0]["exact_match"] == 0.0


def test_outcomes_survive_their_file(tmp_path: Path) -> None:
    before = {t: made_up(t, {3: [0, 1]}) for t in TASKS}
    save(before, tmp_path / "x.npz")
    after = load(tmp_path / "x.npz")
    for t in TASKS:
        assert all(np.array_equal(a, b) for a, b in zip(vars(before[t]).values(), vars(after[t]).values(), strict=True))


def test_generation_samples_say_what_the_model_wrote(task: str) -> None:
    outcome = made_up(task, {1: [0]})
    lines = layout.task_samples(task, outcome, 5)[f"ladder_{task}"]
    assert [line["exact_match"] for line in lines] == [1.0, 0.0, 1.0, 1.0, 1.0]
    for i, line in enumerate(lines):
        a, b = line["doc"]["a"], line["doc"]["b"]
        assert line["target"] == str(a * b if task == "multiplication" else a + b)[::-1]
        assert (line["filtered_resps"][0] == line["target"]) == (line["exact_match"] == 1.0)
        assert line["resps"] == [line["filtered_resps"]]
        assert len(line["gold_token_logprobs"]) == len(line["target"]) + 1 <= ANSWER
        assert line["gold_token_logprobs"][0] == (-2.0 if i == 1 else -0.25)
        assert line["arguments"]["gen_args_0"]["arg_0"] == line["doc"]["question"]


def test_choice_samples_leave_numbers_as_text(task: str) -> None:
    outcome = made_up(task, {2: [0]})
    lines = layout.task_samples(task, outcome, 5)[f"ladder_{task}_mc"]
    assert [line["acc"] for line in lines] == [1.0, 1.0, 0.0, 1.0, 1.0]
    for i, line in enumerate(lines):
        logs = [float(pair[0]) for pair in line["filtered_resps"]]
        assert logs == pytest.approx(outcome.choice_logprob[i].tolist(), abs=1e-5)
        assert {pair[1] for pair in line["filtered_resps"]} <= {"True", "False"}
        assert line["resps"] == [[pair] for pair in line["filtered_resps"]]
        gold = int(line["target"])
        a, b = line["doc"]["a"], line["doc"]["b"]
        assert (
            line["arguments"][f"gen_args_{gold}"]["arg_1"]
            == str(a * b if "*" in line["doc"]["question"] else a + b)[::-1]
        )


def test_hashes_are_those_of_the_harness(task: str) -> None:
    line = layout.task_samples(task, made_up(task, {}), 1)[f"ladder_{task}"][0]
    assert line["doc_hash"] == hashlib.sha256(json.dumps(line["doc"], indent=2).encode()).hexdigest()
    assert line["prompt_hash"] == hashlib.sha256(line["doc"]["question"].encode()).hexdigest()
    assert line["target_hash"] == hashlib.sha256(line["target"].encode()).hexdigest()


def test_results_agree_with_the_samples(task: str) -> None:
    samples = layout.task_samples(task, made_up(task, {i: [0] for i in range(50)}), 200)
    found = layout.results(CHECKPOINT, samples)
    assert found["results"][f"ladder_{task}"]["exact_match,none"] == 0.75
    assert found["results"][f"ladder_{task}"]["exact_match_stderr,none"] == pytest.approx(np.sqrt(0.75 * 0.25 / 199))
    assert found["results"][f"ladder_{task}_mc"]["acc,none"] == 0.75
    assert found["n-samples"][f"ladder_{task}"] == {"original": 500, "effective": 200}
    assert found["config"]["model_args"] == "pretrained=foreshock-ladder/arith-w24-s2,revision=step5000"
    assert found["config"]["model_num_parameters"] == 15144


def test_names_and_dates_follow_the_plan() -> None:
    written = layout.files(CHECKPOINT, layout.task_samples("addition", made_up("addition", {}), 3))
    folder, date = "foreshock-ladder__arith-w24-s2", CHECKPOINT.date_id
    assert sorted(written) == [
        f"{folder}/results_{date}.json",
        f"{folder}/samples_ladder_addition_{date}.jsonl",
        f"{folder}/samples_ladder_addition_mc_{date}.jsonl",
    ]
    dates = [layout.Checkpoint(r, s, 1, "", "").date for r in plan.all_runs() for s in plan.CHECKPOINTS]
    assert dates == sorted(set(dates))


def test_the_keys_are_those_of_a_real_log(shared_data: Path) -> None:
    """Against files that lm-eval 0.4.9 wrote; what ours lack is named here, what they add is the log-probabilities."""
    folder = shared_data / "logs" / "lm_eval_0.4"
    with next(folder.glob("samples_*.jsonl")).open() as file:
        real_sample = json.loads(file.readline())
    real_results = json.loads(next(folder.glob("results_*.json")).read_text())
    samples = layout.task_samples("addition", made_up("addition", {}), 3)
    ours = layout.results(CHECKPOINT, samples)
    assert set(samples["ladder_addition"][0]) - set(real_sample) == {"gold_token_logprobs"}
    assert set(real_sample) <= set(samples["ladder_addition"][0])
    assert set(ours) <= set(real_results)
    assert set(ours["config"]) <= set(real_results["config"])
    machine = {"pretty_env_info", "transformers_version", "start_time", "end_time", "total_evaluation_time_seconds"}
    tokenizer = {"tokenizer_pad_token", "tokenizer_eos_token", "tokenizer_bos_token", "eot_token_id", "max_length"}
    assert set(real_results) - set(ours) == machine | tokenizer
