"""Home-made tables of responses in every container."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import ReadOptions
from foreshock.records import item_key
from foreshock.store import Store, add_paths

from ._items_tables import DICT, ROWS, as_csv, as_jsonl, as_parquet, zipped
from ._read import failure, read_all, read_one

CONTAINERS = {
    "llm.csv": as_csv(ROWS),
    "llm.tsv": as_csv(ROWS, "\t"),
    "bom.csv": b"\xef\xbb\xbf" + as_csv(ROWS, ";"),
    "llm.jsonl": as_jsonl(ROWS),
    "llm.json": json.dumps(ROWS, indent=1).encode(),
    "llm.parquet": as_parquet(ROWS),
    "csv.zip": zipped("in/llm.csv", as_csv(ROWS)),
    "jsonl.zip": zipped("llm.jsonl", as_jsonl(ROWS)),
    "parquet.zip": zipped("llm.parquet", as_parquet(ROWS)),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / name).write_bytes(CONTAINERS[name])
    read = read_one(folder)
    assert read.column("responses", "item_id") == ["q/0", "q/1", "q/2", "q/3"]
    assert read.column("responses", "output")[1] == "It is 2."
    assert read.column("responses", "answer") == ["0", "2", "4", "6"]
    assert read.column("scores", "value") == [0.0, 0.0, 1.0, 0.0]
    assert set(read.column("scores", "metric_id")) == {"correct"}
    assert read.column("items", "targets") == [["4"]] * 4
    assert read.column("items", "item_key")[1] == item_key("1 + 1?", targets=["4"])
    assert read.column("responses", "delivery") == ["ok"] * 4
    assert read.run.task == "sums"
    assert read.run.model == ("bom" if name == "bom.csv" else "llm")
    assert sorted(read.guesses) == ["model", "task"]
    assert not read.warnings, "a note is nothing to worry about"
    told, guessed = read.notes
    assert told == "read as item=question_id, input=question, output=output, answer=pred, target=gold, score=correct"
    assert guessed == "the task, 'sums', was taken from the name of its folder; to say another: --task-name NAME"


def test_one_run_per_model_and_task_though_interleaved(tmp_path: Path) -> None:
    rows = [
        {"model": m, "task": t, "id": i, "score": (i + len(m)) % 2, "epoch": e}
        for e in (0, 1)
        for i in range(50)
        for t in ("t1", "t2")
        for m in ("a", "bb")
    ]
    (tmp_path / "all.csv").write_bytes(as_csv(rows))
    reads, failures = read_all(tmp_path)
    assert not failures
    assert [(r.run.model, r.run.task) for r in reads] == [("a", "t1"), ("bb", "t1"), ("a", "t2"), ("bb", "t2")]
    for read in reads:
        expected = [float((i + len(read.run.model)) % 2) for _ in range(2) for i in range(50)]
        assert read.column("scores", "value") == expected
        assert read.column("responses", "row") == list(range(100))
        assert read.column("responses", "epoch") == [1] * 50 + [2] * 50, "epochs count from 1"
        assert len(read.column("items", "item_id")) == 50
    assert len({r.run.run_key for r in reads}) == 4


def test_sorted_runs_are_streamed_with_the_same_result(tmp_path: Path) -> None:
    rows = [{"model": m, "id": i, "score": i % 2} for m in ("a", "b") for i in range(5000)]
    (tmp_path / "all.csv").write_bytes(as_csv(rows))
    reads, _ = read_all(tmp_path)
    assert [len(r.column("responses", "row")) for r in reads] == [5000, 5000]
    assert [b.rows for b in reads[0].batches if b.table == "responses"] == [4096, 904]


def test_chat_completions(tmp_path: Path) -> None:
    def reply(text: str | None, reason: str, **more: Any) -> DICT:
        message = {"role": "assistant", "content": text, **more}
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        return {
            "choices": [{"finish_reason": reason, "message": message}],
            "model": "gpt-x",
            "created": 1707655136,
            "usage": usage,
        }

    replies = [
        reply("B", "stop"),
        reply("cut", "length"),
        reply("", "content_filter"),
        reply(None, "stop", refusal="I will not"),
        None,
    ]
    rows = [
        {
            "id": i,
            "question": f"q{i}",
            "candidates": ["x", "y"],
            "answer": i % 2,
            "response": r,
            "correct": bool(r) and i == 0,
        }
        for i, r in enumerate(replies)
    ]
    (tmp_path / "exam_5-shot.jsonl").write_bytes(as_jsonl(rows))
    reads, failures = read_all(tmp_path)
    assert not failures
    # the answer that never came names no model: it stands alone, under the name of the file
    assert [r.run.model for r in reads] == ["gpt-x", "exam"]
    read = reads[0]
    assert (read.run.task, read.run.conditions) == ("exam", {"shots": "5"})
    assert read.run.created == "2024-02-11T12:38:56Z"
    assert read.column("responses", "delivery") == ["ok", "truncated", "blocked", "refused"]
    assert read.column("responses", "output") == ["B", "cut", "", ""]
    assert read.column("responses", "total_tokens") == [7] * 4
    assert read.column("responses", "token_unit") == ["gpt-x"] * 4
    assert read.column("items", "gold_index") == [0, 1, 0, 1]
    assert read.column("items", "targets") == [["x"], ["y"], ["x"], ["y"]]


def test_missing_and_unparsed_are_kept_apart(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "output": "text", "pred": None},
        {"id": 2, "output": "", "pred": None},
        {"id": 3, "output": None, "pred": None},
        {"id": 4, "output": ["a", "b"], "pred": ["1", "2"]},
    ]
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_jsonl(rows))
    read = read_one(path)
    assert read.column("responses", "delivery") == ["ok", "ok", "missing", "ok", "ok"]
    assert read.column("responses", "output") == ["text", "", None, "a", "b"]
    assert read.column("responses", "answer") == [None, None, None, "1", "2"]
    assert read.column("responses", "sample") == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("score", "value", "label"),
    [("C", 1.0, "C"), ("incorrect", 0.0, "incorrect"), ("1.0", 1.0, "1.0"), ("TRUE", 1.0, "TRUE")],
)
def test_words_for_right_and_wrong(tmp_path: Path, score: str, value: float, label: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(as_csv([{"id": 1, "score": score}]))
    read = read_one(path)
    assert read.column("scores", "value") == [value]
    assert read.column("scores", "label") == [label]


def test_graded_scores_need_a_scale(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(as_csv([{"id": 1, "score": 1}, {"id": 2, "score": 3}]))
    message = failure(path)
    assert f"{path}, line 3: the score 3 is neither 0 nor 1" in message
    assert "--scale" in message
    assert read_one(path, scale=5).column("scores", "value") == [0.2, 0.6]
    assert "outside 0 to 2" in failure(path, scale=2)


def test_duplicates_that_disagree_are_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(as_csv([{"id": "a", "score": 1}, {"id": "b", "score": 1}, {"id": "a", "score": 0}]))
    read = read_one(path)
    assert read.column("scores", "value") == [1.0, 1.0, 0.0]
    (told,) = read.warnings
    assert told.startswith("1 row repeats an item with other content ('a' in lines 2 and 4); all are kept, as ")
    assert told.endswith("name the column that tells them apart: --map epoch=COLUMN")
    assert read.column("responses", "epoch") == [1, 1, 1], "a row that contradicts another is no repetition"
    path.write_bytes(as_csv([{"id": "a", "score": s, "epoch": 1} for s in (0, 1)]))
    (told,) = read_one(path).warnings
    assert "all are kept, as duplicates" in told, "a column numbers the repetitions: these are something else"
    path.write_bytes(as_jsonl([{"id": 1, "input": f"q{i}", "score": i % 2} for i in range(2)]))
    other = read_one(path)
    assert other.column("responses", "epoch") == [1, 1], "two questions under one id are no repetitions"
    assert any("1 row repeats an item with another question" in w for w in other.warnings)


def test_copies_are_no_repetitions(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(as_csv([{"id": "a", "score": 1}, {"id": "a", "score": 1}]))
    copies = read_one(path)
    assert copies.warnings == ["1 row is a copy of another (lines 2 and 3); all are kept, as duplicates (FS104)"]
    assert copies.column("responses", "epoch") == [1, 1]


@pytest.mark.parametrize(("again", "epochs"), [(5, 1), (6, 2), (10, 2)])
def test_repetitions_of_most_items_are_epochs_and_of_a_few_are_duplicates(
    tmp_path: Path, again: int, epochs: int
) -> None:
    path = tmp_path / "m.csv"
    rows = [{"id": i, "score": 1} for i in range(10)] + [{"id": i, "score": 0} for i in range(again)]
    path.write_bytes(as_csv(rows))
    assert max(read_one(path).column("responses", "epoch")) == epochs


@pytest.mark.parametrize("rows", ["id,score\n1,1\n2,0\n", "id,a,b\n1,1,0\n2,0,1\n"])
def test_what_is_declared_of_the_scores_is_kept(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(rows)
    options = {"wide": ["*"], "map": {"item": "id"}} if "a" in rows else {}
    plain = read_all(path, **options)[0][0].run
    run = read_all(path, **options, kind="continuous", chance=25.0, scale=100.0, metric="mark")[0][0].run
    assert run.meta["metrics"] == {"mark": {"kind": "continuous"}}
    assert run.chance == 0.25
    assert run.ingest_id != plain.ingest_id, "read in another way: not what is there already"


def test_a_kind_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("id,output\n1,x\n")
    assert "--kind of a table of responses without a column of scores" in failure(path, kind="hard")
    path.write_text("id,metric,score\n1,f1,1\n1,em,0\n")
    assert "--kind of a table whose column 'metric' names the metrics" in failure(path, kind="hard")


def test_targets_win_over_an_index_that_disagrees(tmp_path: Path) -> None:
    rows = [{"id": 1, "output": "x", "options": ["u", "v"], "target": "A", "answer_index": k} for k in (0, 1)]
    path = tmp_path / "m.jsonl"
    path.write_bytes(as_jsonl(rows))
    read = read_one(path)
    assert read.column("items", "gold_index") == [0, None]
    assert any("not the target" in w for w in read.warnings)


def test_choices_as_text(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(
        as_csv([{"id": 1, "output": "x", "choices": '["u", "v"]'}, {"id": 2, "output": "x", "choices": "['w']"}])
    )
    assert read_one(path).column("items", "choices") == [["u", "v"], ["w"]]
    path.write_bytes(as_csv([{"id": 1, "output": "x", "choices": "u or v"}]))
    assert "choices that are no list" in failure(path)


def test_rows_that_contradict_each_other_are_told_of_once(tmp_path: Path) -> None:
    path = tmp_path / "dup.csv"
    path.write_text("item,model,score\nq1,a,1\nq1,a,0\nq2,a,1\nq3,a,1\nq4,a,1\n", "utf-8")
    (run,) = add_paths(Store.open(tmp_path / "store", create=True), [path], ReadOptions(task="t")).added
    (told,) = [warning for warning in run.warnings if "repeat" in warning]
    assert told.startswith("1 row repeats an item with other content ('q1' in lines 2 and 3); all are kept, as ")
