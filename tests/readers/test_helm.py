"""HELM run folders: two real ones against a table made without the reader, and every shape of request."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.readers import read_paths
from foreshock.records import item_key

from . import _helm_logs as logs
from ._helm_logs import completion, instance, measured, run_spec, stat, state, write_run
from ._read import Read, failure, read_all, read_one

ORACLE = Path(__file__).parent.parent / "oracles" / "helm_expected.json"


def text(value: str | None) -> list[Any] | None:
    return None if value is None else [hashlib.sha256(value.encode()).hexdigest()[:16], len(value)]


def metas(read: Read) -> list[Any]:
    return [json.loads(m) if m else {} for m in read.column("responses", "meta")]


def scores(read: Read) -> list[tuple[int, str, float | None]]:
    return list(zip(*(read.column("scores", c) for c in ("row", "metric_id", "value")), strict=True))


@pytest.fixture(scope="module")
def real(shared_data: Path) -> dict[str, tuple[Read, dict[str, Any]]]:
    table = json.loads(ORACLE.read_text("utf-8"))["files"]
    reads, failures = read_all(shared_data / "logs" / "helm")
    assert not failures
    assert len(reads) == len(table)
    return {
        name: (next(r for r in reads if Path(r.run.sources[0].path).parent.name == name), table[name]) for name in table
    }


def test_real_rows(real: dict[str, tuple[Read, dict[str, Any]]]) -> None:
    for read, expected in real.values():
        rows = expected["rows"]
        assert read.column("responses", "item_id") == [r["id"] for r in rows]
        assert [text(o) for o in read.column("responses", "output")] == [r["output"] for r in rows]
        assert read.column("responses", "seconds") == [r["seconds"] for r in rows]
        assert set(read.column("responses", "delivery")) == {"ok"}
        assert [text(i) for i in read.column("items", "input")] == [r["input"] for r in rows]
        assert read.column("items", "subset") == [r["split"] for r in rows]
        targets = [[text(t) for t in ts] for ts in read.column("items", "targets")]
        assert targets == [[r["references"][k] for k in r["right"]] for r in rows]
        assert all(not any(r["logprobs"]) for r in rows)
        assert read.column("responses", "output_token_logprobs") == [None] * len(rows), "zeros are no probabilities"


def test_real_choices(real: dict[str, tuple[Read, dict[str, Any]]]) -> None:
    (read, expected) = next(v for k, v in real.items() if "hellaswag" in k)
    rows = expected["rows"]
    assert [text(a) for a in read.column("responses", "answer")] == [r["picked"] for r in rows]
    assert [[g] for g in read.column("items", "gold_index")] == [r["right"] for r in rows]
    assert [[text(c) for c in cs] for cs in read.column("items", "choices")] == [r["references"] for r in rows]


def test_real_scores_and_means(real: dict[str, tuple[Read, dict[str, Any]]]) -> None:
    for read, expected in real.values():
        seen = scores(read)
        for number, row in enumerate(expected["rows"]):
            wanted = {f"{name},{split}": mean for name, split, count, mean in row["stats"] if count}
            mine = {metric: value for r, metric, value in seen if r == number}
            books = {k: v for k, v in wanted.items() if k not in mine}
            assert mine == {k: v for k, v in wanted.items() if k in mine}
            assert mine[f"exact_match,{row['split']}"] in (0.0, 1.0)
            kept = metas(read)[number]["statistics"]
            assert {f"{k},{row['split']}": v for k, v in kept.items()} == books, "what is no score is kept beside it"
        means = [[",".join(p for p in m[:4] if p), m[5] if m[4] else None] for m in expected["means"]]
        columns = [read.column("aggregates", c) for c in ("metric_id", "value")]
        assert [list(row) for row in zip(*columns, strict=True)] == means


def test_real_facts(real: dict[str, tuple[Read, dict[str, Any]]]) -> None:
    for read, expected in real.values():
        run = read.run
        assert (run.model, run.meta["deployment"]) == (expected["model"], expected["deployment"])
        assert run.conditions["shots"] == str(expected["shots"])
        assert run.conditions["method"] == expected["method"]
        assert "model" not in run.task
        assert expected["name"].startswith(run.task)
        assert {Path(s.path).name for s in run.sources} >= {"run_spec.json", "scenario_state.json", "stats.json"}
        fewer = sum(r["examples"] < expected["shots"] for r in expected["rows"])
        assert any(f"{fewer} of {len(expected['rows'])} prompts" in w for w in read.warnings) is (fewer > 0)


def test_completions_and_their_order(tmp_path: Path) -> None:
    asked = instance(0, options=("Paris",))
    sampled = [completion("Oslo", [-2.0]), completion(" Paris\n", [-0.5, -0.25], [" Paris", "\n"])]
    write_run(tmp_path / "r", run_spec(), [state(asked, *sampled)], [measured(asked, stat("exact_match", 1.0))])
    read = read_one(tmp_path / "r")
    assert read.column("responses", "output") == [" Paris\n", "Oslo"], "HELM scores the likeliest"
    assert read.column("responses", "sample") == [0, 1]
    assert read.column("responses", "answer") == ["Paris", "Oslo"]
    assert read.column("responses", "output_token_logprobs") == [[-0.5, -0.25], [-2.0]]
    assert scores(read) == [(0, "exact_match,test", 1.0)]
    assert read.column("items", "item_key") == [item_key("Capital number 0?", (), ["Paris"])]


def test_what_was_not_delivered(tmp_path: Path) -> None:
    asked = [instance(k) for k in range(5)]
    states = [
        logs.refused(asked[0], "overloaded"),
        state(asked[1]),
        state(asked[2], result=None),
        state(asked[3], completion("Par", [-0.5], finish_reason={"reason": "length"})),
        state(asked[4], completion("", [-0.5], finish_reason={"reason": "content_filter"})),
    ]
    read = read_one(write_run(tmp_path / "r", run_spec(), states, [measured(instance(9), stat("exact_match", 1.0))]))
    assert read.column("responses", "delivery") == ["error", "missing", "missing", "truncated", "blocked", "missing"]
    assert metas(read)[0]["error"] == "overloaded"
    assert scores(read) == [(5, "exact_match,test", 1.0)], "scored without a request: kept, not delivered"


def test_letters_stand_for_references(tmp_path: Path) -> None:
    read = read_one(logs.joint_run(tmp_path / "r"))
    assert read.column("responses", "answer") == ["Paris", None], "a letter that was not offered is no answer"
    assert read.column("items", "choices") == [list(logs.OPTIONS)] * 2
    assert read.column("responses", "choice_logprobs") == [None, None]


def test_likeliest_first_tokens_give_the_choices(tmp_path: Path) -> None:
    letters = dict(zip("ABC", logs.OPTIONS, strict=True))
    made = completion(" A", [-0.5])
    made["tokens"][0]["top_logprobs"] = {" A": -0.5, "A": -3.0, " B": -1.5, "\u2581C": -4.0, "D": -9.0}
    cut = completion(" A", [-0.5])
    cut["tokens"][0]["top_logprobs"] = {" A": -0.5, " B": -1.5}
    states = [state(instance(k), c, output_mapping=letters) for k, c in enumerate((made, cut))]
    first, second = read_one(write_run(tmp_path / "r", run_spec("multiple_choice_joint"), states)).column(
        "responses", "choice_logprobs"
    )
    assert first == pytest.approx([math.log(math.exp(-0.5) + math.exp(-3.0)), -1.5, -4.0])
    assert second is None, "an option that is not among the likeliest tokens has no known probability"


def test_one_response_from_a_request_per_reference(tmp_path: Path) -> None:
    read = read_one(logs.separate_run(tmp_path / "r"))
    assert read.column("responses", "choice_logprobs") == [[-3.0, -0.75, -6.0]]
    assert read.column("responses", "gold_logprob") == [-0.75]
    assert read.column("responses", "answer") == ["Rome"]
    assert read.column("responses", "output") == [None], "an echoed prompt is no reply"
    assert scores(read) == [(0, "exact_match,test", 1.0)]


def test_calibration_is_kept_apart(tmp_path: Path) -> None:
    read = read_one(logs.separate_run(tmp_path / "r", "multiple_choice_separate_calibrated"))
    assert read.column("responses", "choice_logprobs") == [[-3.0, -0.75, -6.0]]
    assert metas(read)[0]["calibration_logprobs"] == [-1.0, -1.5, -2.0]
    assert read.column("responses", "answer") == ["Rome"], "-0.75 + 1.5 is the largest gain"


def test_a_reference_that_cannot_be_located(tmp_path: Path) -> None:
    asked = instance(0)
    states = [logs.echoed(asked, k, [-1.0, -1.0]) for k in range(3)]
    states[1]["result"]["completions"][0]["tokens"][-1]["text"] = "x"
    read = read_one(write_run(tmp_path / "r", run_spec("multiple_choice_separate_original"), states))
    assert read.column("responses", "choice_logprobs") == [None]
    assert any("could not be told" in w for w in read.warnings)
    one_short = read_one(write_run(tmp_path / "s", run_spec("multiple_choice_separate_original"), states[:2]))
    assert one_short.column("responses", "delivery") == ["missing"]


def test_language_modeling_joins_windows(tmp_path: Path) -> None:
    read = read_one(logs.language_run(tmp_path / "r"))
    assert read.column("responses", "gold_token_logprobs") == [[-1.0, -0.5, -0.25]]
    assert read.column("responses", "gold_logprob") == [-1.75]


def test_ids_repeat_across_perturbations_and_trials(tmp_path: Path) -> None:
    plain, other = instance(0), instance(0, perturbation=logs.DIALECT)
    states = [
        state(plain, completion("Paris", [-0.5])),
        state(other, completion("Oslo", [-0.5])),
        state(plain, completion("Rome", [-0.5]), train_trial_index=1),
    ]
    entries = [
        measured(plain, stat("exact_match", 1.0)),
        measured(other, stat("exact_match", 0.0, perturbation=logs.DIALECT)),
        measured(plain, stat("exact_match", 0.5), trial=1),
    ]
    read = read_one(write_run(tmp_path / "r", run_spec(), states, entries))
    assert read.column("responses", "perturbation") == [None, "dialect(prob=1.0)", None]
    assert read.column("responses", "epoch") == [1, 1, 2]
    assert scores(read) == [
        (0, "exact_match,test", 1.0),
        (1, "exact_match,test,dialect(prob=1.0),perturbed", 0.0),
        (2, "exact_match,test", 0.5),
    ]


def test_entries_of_one_key_are_joined(tmp_path: Path) -> None:
    """HELM's issue 1205: the same instance in several entries, some statistics twice."""
    asked = instance(0)
    entries = [
        measured(asked, stat("exact_match", 1.0), stat("f1_score", None)),
        measured(asked, stat("exact_match", 1.0), stat("f1_score", 0.5), stat("bleu_1", None)),
        measured(asked, stat("exact_match", 0.0)),
    ]
    read = read_one(write_run(tmp_path / "r", run_spec(), [state(asked, completion("Paris", [-1.0]))], entries))
    assert scores(read) == [(0, "exact_match,test", 1.0), (0, "f1_score,test", 0.5), (0, "bleu_1,test", None)]
    assert read.column("scores", "status") == ["scored", "scored", "needs"], "of nothing is not zero"
    assert any("joined: 2 times" in w for w in read.warnings)
    assert any("1 statistic repeated with another value" in w for w in read.warnings)


@pytest.mark.parametrize("slim", [True, False])
def test_without_requests(tmp_path: Path, slim: bool) -> None:
    folder = logs.slim_run(tmp_path / "r")
    if not slim:
        (folder / "per_instance_stats_slim.json").rename(folder / "per_instance_stats.json")
    read = read_one(folder)
    assert read.column("responses", "item_id") == ["id0", "id1"]
    assert read.column("responses", "output") == [None, None]
    assert read.column("items", "input") == ["Capital number 0?", "Capital number 1?"]
    assert len(scores(read)) == 2
    assert any("the replies are not known" in w for w in read.warnings)


def test_only_means(tmp_path: Path) -> None:
    spec = run_spec(name="t:model=org_m")
    read = read_one(write_run(tmp_path / "r", spec, None, None, [stat("f1_score", 0.5), stat("num_instances", 4.0)]))
    assert read.column("responses", "row") == []
    assert read.column("aggregates", "n") == [4, 4]
    assert any("there are only means" in w for w in read.warnings)


def test_without_specification(tmp_path: Path) -> None:
    folder = logs.generation_run(tmp_path / "capitals-subject=all,model=org_model-1b")
    (folder / "run_spec.json").unlink()
    read = read_one(folder)
    assert (read.run.model, read.run.task) == ("org/model-1b", "capitals-subject=all"), "requests know the model"
    assert read.guesses == ["task"]
    assert len(read.column("responses", "row")) == 3
    assert read_one(folder, task="capitals").run.task == "capitals"


def test_a_damaged_file_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    folder = logs.generation_run(tmp_path / "r")
    whole = (folder / "scenario_state.json").read_bytes()
    (folder / "scenario_state.json").write_bytes(whole[: len(whole) // 2])
    (read,), (problem,) = read_all(folder)
    assert problem.path == folder / "scenario_state.json"
    assert read.status == "partial"
    assert len(scores(read)) == 3
    assert any("scenario_state.json is not read" in w for w in read.warnings)


def test_a_bad_request_does_not_lose_the_others(tmp_path: Path) -> None:
    states: list[Any] = [state(instance(k), completion("Paris", [-0.5])) for k in range(3)]
    states[1] = {"instance": {"input": 5}}
    states.append([1, 2])
    read = read_one(write_run(tmp_path / "r", run_spec(), states))
    assert read.column("responses", "item_id") == ["id0", "id2"]
    assert read.column("responses", "row") == [0, 1]
    assert read.status == "partial"
    assert any(w.startswith("2 requests could not be read and left out: 2 (") for w in read.warnings)


def test_odd_values_are_held_in_bounds(tmp_path: Path) -> None:
    """Found by breaking logs at random: no options, an endless trial, texts where objects should be."""
    empty = logs.echoed(instance(0), 0, [-1.0, -1.0])
    empty["instance"] = {**empty["instance"], "references": []}
    texts = state(instance(1), "text", train_trial_index=2**63 - 1)  # type: ignore[arg-type]
    for number, states in enumerate(([empty], [texts])):
        method = "generation" if number else "multiple_choice_separate_original"
        read = read_one(write_run(tmp_path / str(number), run_spec(method), states, stats=[stat("x", 1.0)] * 5000))
        assert read.column("responses", "delivery") == ["missing"]
        assert read.column("responses", "epoch") == [1]
        assert len(read.column("aggregates", "value")) == 5000
    whole = logs.generation_run(tmp_path / "whole")
    (whole / "run_spec.json").write_text("[]", "utf-8")
    reads, failures = read_all(whole / "scenario_state.json")
    assert len(reads) == 1
    assert "not a JSON object" in str(failures[0].error)


def test_any_file_stands_for_its_folder(tmp_path: Path) -> None:
    folder = logs.generation_run(tmp_path / "runs" / "v1" / "r")
    whole = read_one(folder)
    assert whole.run.suite == "v1"
    for name in ("run_spec.json", "scenario.json", "scenario_state.json", "per_instance_stats.json", "stats.json"):
        assert read_one(folder / name).run == whole.run, name


def test_files_of_a_folder_are_skipped_together(tmp_path: Path) -> None:
    folder = logs.generation_run(tmp_path / "r")
    known = {Path(s.path).name for s in read_one(folder).run.sources}
    assert known == {p.name for p in folder.iterdir()}
    assert not list(read_paths([folder], skip=lambda p: p.name in known))
    changed = list(read_paths([folder], skip=lambda p: p.name in known - {"stats.json"}))
    assert len(changed) == 1
    assert len(changed[0].run.sources) == len(known)  # type: ignore[union-attr]


def test_files_for_the_front_end_are_passed_over(tmp_path: Path) -> None:
    folder = logs.generation_run(tmp_path / "r")
    rows = [{"instance_id": "id0", "predicted_text": "a", "train_trial_index": 0, "stats": {"em": 1.0}}]
    for name in ("display_predictions.json", "display_requests.json"):
        (folder / name).write_text(json.dumps(rows), "utf-8")
    assert len(read_one(folder).column("responses", "row")) == 3
    mapped, _ = read_all(folder / "display_predictions.json", map={"item": "instance_id", "output": "predicted_text"})
    assert [r.column("responses", "output") for r in mapped] == [["a"]], "columns that are told are read"


def test_the_name_of_a_file_alone_says_nothing(tmp_path: Path) -> None:
    for name in ("stats.json", "scenario.json", "run_spec.json"):
        (tmp_path / name).write_text('{"a": 1}', "utf-8")
        assert "helm" in failure(tmp_path / name), "named among the formats that were tried"
    write_run(tmp_path / "r", run_spec(adapter_spec={}), None)
    assert "nothing to read but run_spec.json" in failure(tmp_path / "r")


def test_judges_thoughts_and_perturbations_are_conditions(tmp_path: Path) -> None:
    specs = [{"class_name": "helm.perturbations.MisspellingPerturbation", "args": {"prob": 0.1}}]
    spec = run_spec(data_augmenter_spec={"perturbation_specs": specs}, annotators=[{"class_name": "helm.JudgeA"}])
    spec["adapter_spec"]["chain_of_thought_prefix"] = "Think: "
    run = read_one(write_run(tmp_path / "r", spec, [])).run
    assert run.judge == "JudgeA"
    assert (run.conditions["perturbations"], run.conditions["chain_of_thought"]) == ("MisspellingPerturbation", "yes")
    other = run_spec(metric_specs=[])
    other["adapter_spec"]["model"] = "org/model-2b"
    again = read_one(write_run(tmp_path / "s", other, [])).run
    plain = read_one(write_run(tmp_path / "t", run_spec(), [])).run
    assert again.prompt_hash == plain.prompt_hash != run.prompt_hash, "the model is not part of the prompt"
    assert again.scorer_hash != plain.scorer_hash


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(max_size=9), st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))),
        max_size=6,
    )
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float | None]]) -> None:
    asked = [instance(k, options=("x",)) for k in range(len(rows))]
    states = [state(a, completion(output, [-1.0])) for a, (output, _) in zip(asked, rows, strict=True)]
    entries = [measured(a, stat("f1_score", value)) for a, (_, value) in zip(asked, rows, strict=True)]
    for entry in entries:
        for one in entry["stats"]:
            one.pop("sum_squared")
    read = read_one(write_run(tmp_path_factory.mktemp("r"), run_spec(), states, entries))
    assert read.column("responses", "output") == [output for output, _ in rows]
    assert read.column("scores", "value") == [value for _, value in rows]
