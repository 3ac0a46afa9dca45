"""Which column of a home-made table plays which role: told, recognised, or asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreshock._base import ConfigError

from ._items_tables import ROWS, as_csv, as_jsonl, zipped
from ._read import failure, read_all, read_one


def test_map_names_columns_and_parts_of_objects(tmp_path: Path) -> None:
    rows = [{"n": i, "reply": {"text": f"t{i}", "more": [1]}, "truth": ["a", "b"], "who": "m1"} for i in range(3)]
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_jsonl(rows))
    read = read_one(path, map={"item": "n", "output": "reply.text", "target": "truth", "model": "who"}, task="t")
    assert read.column("responses", "output") == ["t0", "t1", "t2"]
    assert read.column("items", "targets") == [["a", "b"]] * 3
    assert (read.run.model, read.run.task) == ("m1", "t")
    assert not read.guesses
    assert not read.warnings
    assert not read.notes, "nothing was guessed"


POOL = [
    {"qid": i, "q": f"{i}?", "text": f"{m} says {i}", "guess": str((i * k) % 7), "truth": "3", "kind": "abc"[i % 3]}
    | {"model": m, "ms": 100 * i + k}
    for k, m in enumerate(("a-1b", "a-2b", "a-3b", "a-4b", "a-5b"))
    for i in range(60)
]


POOL_MAP = {"item": "qid", "input": "q", "output": "text", "answer": "guess", "target": "truth"}


def test_a_mapping_that_forgets_the_model_does_not_pool_models(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_bytes(as_jsonl(POOL))
    reads, failures = read_all(path, map=POOL_MAP)
    assert not failures
    assert [r.run.model for r in reads] == ["a-1b", "a-2b", "a-3b", "a-4b", "a-5b"]
    assert {len(r.column("responses", "row")) for r in reads} == {60}
    assert not any(r.warnings for r in reads)
    note, _ = reads[0].notes
    assert note.startswith("read as item=qid, model=model, input=q")
    assert note.endswith("(model by the name of the column)")
    assert "told apart by model;" in failure(path, map=POOL_MAP, model="one"), "they are not one model all the same"
    path.write_bytes(as_jsonl([{"n": i, "say": "x", "system": "Be brief."} for i in range(3)]))
    assert read_one(path, map={"item": "n", "output": "say"}, model="one").run.model == "one"


@pytest.mark.parametrize("interleaved", [False, True])
def test_models_under_another_name_are_refused_with_the_way_out(tmp_path: Path, interleaved: bool) -> None:
    rows = [{("who" if k == "model" else k): v for k, v in row.items()} for row in POOL]
    path = tmp_path / "all.jsonl"
    path.write_bytes(as_jsonl(sorted(rows, key=lambda r: r["qid"]) if interleaved else rows))
    told = failure(path, map=POOL_MAP)
    assert "items occur up to 5 times with other content, told apart by who;" in told
    assert "--map item=qid,model=who,input=q,output=text,answer=guess,target=truth, or task=who, or epoch=who" in told
    assert len(read_all(path, map={**POOL_MAP, "model": "who"})[0]) == 5
    (numbered,) = read_all(path, map={**POOL_MAP, "epoch": "who"})[0]
    assert sorted(numbered.column("responses", "epoch")) == sorted([1, 2, 3, 4, 5] * 60)


def test_repetitions_without_any_number_are_epochs_and_said_to_be(tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k not in ("model", "ms")} for row in POOL]
    path = tmp_path / "all.jsonl"
    path.write_bytes(as_jsonl(rows))
    read = read_one(path, map=POOL_MAP)
    assert read.column("responses", "epoch") == [e for e in range(1, 6) for _ in range(60)]
    assert len(read.column("items", "item_id")) == 60
    (told,) = read.warnings
    assert told.startswith("240 rows repeat an item with other content ('0' in lines 1 and 61, ")
    assert "read as epochs 1 to 5 of one model; if they come from several models" in told
    path.write_bytes(as_jsonl([{k: v for k, v in row.items() if k != "qid"} for row in rows]))
    nameless = read_one(path, map={k: v for k, v in POOL_MAP.items() if k != "item"})
    assert nameless.column("responses", "epoch") == read.column("responses", "epoch"), "the text names the item"


def test_what_tells_rows_apart_is_seen_beside_a_mapping(tmp_path: Path) -> None:
    rows = [
        {"n": i, "say": f"{i}{e}{t}", "task": t, "epoch": e, "category": "c", "created": i}
        for t in ("t1", "t2")
        for e in (1, 2)
        for i in range(3)
    ]
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_jsonl(rows))
    reads, _ = read_all(path, map={"item": "n", "output": "say"})
    assert [r.run.task for r in reads] == ["t1", "t2"], "a moment for each row makes no runs"
    assert reads[0].column("responses", "epoch") == [1, 1, 1, 2, 2, 2]
    assert reads[0].column("items", "subset") == ["c"] * 3
    assert reads[0].notes[0].endswith("(task, epoch, subset by the name of the column)")
    path.write_bytes(as_jsonl([{"n": 1, "say": "x", "model": "a", "llm": "b"}]))
    assert "columns 'model' and 'llm' could both be the model" in failure(path, map={"item": "n", "output": "say"})


TWO = [
    {"question": f"{i} + 1?", "prediction": str(i), "gold": "4", "em_score": int(i == 4), "llm_judge_score": i % 6 / 2}
    for i in range(12)
]


def test_a_mapping_adds_to_what_is_plain_from_the_names(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_bytes(as_csv(TWO))
    read = read_one(path, map={"score": "em_score"}, task="t")
    assert read.column("scores", "value") == [float(row["em_score"]) for row in TWO]
    assert read.column("responses", "answer") == [row["prediction"] for row in TWO]
    assert read.column("items", "targets") == [["4"]] * 12
    assert read.notes == [
        "read as input=question, answer=prediction, target=gold, score=em_score "
        "(input, answer, target by the name of the column)",
        "column llm_judge_score looks like scores and is not used; to read it: --map score=em_score+llm_judge_score",
    ]
    assert "are not used; to read them: --map score=em_score+llm_judge_score" in read_one(path).notes[1]


def test_a_role_that_no_column_plays_is_not_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_jsonl([{"n": i, "say": "x", "score": i, "gold": "1", "label": "2"} for i in range(4)]))
    (failed,) = read_all(path, map={"item": "n", "output": "say"})[1]
    assert "neither 0 nor 1" in str(failed.error)
    assert "a column is taken by name: score; without it: --map score=" in failed.error.__notes__
    read = read_one(path, map={"item": "n", "output": "say", "score": ""})
    assert not read.column("scores", "value")
    assert "columns gold, label could each be the target, and none is used: --map target=COLUMN" in read.notes


def test_what_changes_scores_or_runs_is_not_found_beside_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_jsonl([{"id": i, "em": 1, "total": 300, "created": i} for i in range(3)]))
    read = read_one(path, map={"score": "em"})
    assert read.column("scores", "value") == [1.0] * 3


def test_several_columns_of_scores_are_a_metric_each(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_bytes(as_jsonl(TWO))
    both = {"score": "em_score+llm_judge_score"}
    assert "neither 0 nor 1" in failure(path, map=both)
    read = read_one(path, map=both, scale=2.5, kind="continuous")
    names, values = read.column("scores", "metric_id"), read.column("scores", "value")
    told = {name: [v for n, v in zip(names, values, strict=True) if n == name] for name in set(names)}
    assert told["em_score"] == [float(row["em_score"]) for row in TWO], "right and wrong are on no scale of 2.5"
    assert told["llm_judge_score"] == pytest.approx([row["llm_judge_score"] / 2.5 for row in TWO])
    assert set(read.run.meta["metrics"]) == {"em_score", "llm_judge_score"}
    assert "em_score holds right and wrong, and --scale is not of it" in read.notes
    assert read.run.meta["columns_not_used"] == []
    assert "--metric of a table with 2 columns of scores" in failure(path, map=both, scale=2.5, metric="m")


def test_a_hint_keeps_every_role_that_was_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(as_jsonl([dict.fromkeys(["id", "output", "response", "gold", "score"], "1")]))
    assert "--map item=id,output=output,target=gold,score=score" in failure(path)
    path.write_bytes(as_jsonl([dict.fromkeys(["who", "pred", "gold", "acc", "score"], "1")]))
    assert "--map item=COLUMN,answer=pred,target=gold" in failure(path, map={"answer": "pred"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["id", "output", "response"], "columns 'output' and 'response' could both be the output"),
        (["id", "colour"], "no column is plainly the output, answer or score"),
        (["output", "score"], "no column is plainly the item (or input)"),
        (["id", "idx", "output"], "columns 'id' and 'idx' could both be the item"),
    ],
)
def test_ambiguous_columns_end_in_a_command(tmp_path: Path, columns: list[str], message: str) -> None:
    path = tmp_path / "my file.jsonl"
    path.write_bytes(as_jsonl([dict.fromkeys(columns, "1")]))
    told = failure(path)
    assert message in told
    assert f"foreshock add '{path}' --map " in told


def test_answer_is_read_by_its_company(tmp_path: Path) -> None:
    for columns, role in (
        (("id", "response", "answer"), "target=answer"),
        (("id", "gold", "answer"), "answer=answer"),
        (("id", "pred", "answer"), "target=answer"),
    ):
        path = tmp_path / "m.jsonl"
        path.write_bytes(as_jsonl([dict.fromkeys(columns, "1")]))
        assert role in read_one(path).notes[0]
    path.write_bytes(as_jsonl([{"id": 1, "answer": "1"}]))
    assert "no column is plainly" in failure(path)


def test_wrong_roles_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_jsonl(ROWS))
    assert "'colour' is no role" in failure(path, map={"colour": "x"})
    assert "no column 'nope' for the role item" in failure(path, map={"item": "nope", "output": "output"})
    with pytest.raises(ConfigError, match=r"no preset is called 'mmlupro'.*did you mean mmlu-pro\?"):
        failure(path, preset="mmlupro")
    assert "the preset 'mmlu-pro-items' reads no responses" in failure(path, preset="mmlu-pro-items")


def test_objects_are_not_taken_for_texts(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_jsonl([{"id": 1, "output": {"raw": ["x"]}}]))
    assert "--map output=output.PART" in failure(path)


def test_preset_is_found_by_its_columns(tmp_path: Path) -> None:
    row = {
        "question_id": 7,
        "question": "Q?",
        "options": ["u", "v", "w"],
        "answer": "C",
        "answer_index": 2,
        "category": "law",
        "pred": None,
        "generated_text": "Hm.",
    }
    path = tmp_path / "model_outputs_Some-Model_1.5-7B_5shots.zip"
    path.write_bytes(zipped("model_outputs_Some-Model_1.5-7B_5shots.json", json.dumps([row]).encode()))
    read = read_one(path)
    assert (read.run.model, read.run.task, read.run.conditions) == ("Some-Model_1.5-7B", "mmlu-pro", {"shots": "5"})
    assert read.column("responses", "answer") == [None]
    assert read.column("responses", "delivery") == ["ok"]
    assert read.column("items", "gold_index") == [2]
    assert read.column("items", "subset") == ["law"]
    assert not read.guesses


def test_options_are_part_of_the_identity(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(as_csv([{"id": 1, "score": 1}]))
    plain, scaled = read_one(path).run, read_one(path, scale=2).run
    assert plain.run_key == scaled.run_key
    assert plain.ingest_id != scaled.ingest_id
    assert plain.ingest_id == read_one(path).run.ingest_id
