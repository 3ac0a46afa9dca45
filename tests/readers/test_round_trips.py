"""What is written in a format comes back: Inspect, lm-evaluation-harness, tables of responses and of means.

The other formats have such a test among their own.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ._lm_eval_logs import choice_line, results, text_line, write_pair
from ._logs import maker, write_eval
from ._logs import read as read_inspect
from ._read import read_all, read_one

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# no log holds half a surrogate pair that comes back as such
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
# what a delimited text cannot tell from the end of a line, or from nothing
PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip() and text.lower() not in ("nan", "null", "none", "na", "n/a", "-", "")
)
SCORE = st.one_of(st.none(), st.floats(0, 1))
FINITE = st.floats(-1e6, -1e-6)


def inspect_sample(number: int, question: str, output: str, target: str, score: float | None) -> dict[str, Any]:
    sample: dict[str, Any] = maker.sample(number, 1)
    sample |= {
        "input": question,
        "target": target,
        "scores": {"match": {"value": float("nan") if score is None else score}},
    }
    sample["output"] = {"completion": output, "choices": [{"message": {"content": output}, "stop_reason": "stop"}]}
    return sample


@FEW
@given(
    st.lists(st.tuples(TEXT, TEXT, TEXT, SCORE), min_size=1, max_size=4), st.sampled_from(["zstd", "deflate", "json"])
)
def test_inspect(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, float | None]], kind: str
) -> None:
    place = tmp_path_factory.getbasetemp() / f"round.{'json' if kind == 'json' else 'eval'}"
    header = maker.header(len(rows))
    samples = [inspect_sample(n, *row) for n, row in enumerate(rows, 1)]
    if kind == "json":
        place.write_text(json.dumps({**header, "samples": samples}), "utf-8")
    else:
        members = {f"samples/{s['id']}_epoch_1.json": s for s in samples}
        write_eval(place, {**members, "header.json": header}, method=maker.ZSTD if kind == "zstd" else maker.DEFLATE)
    got = read_inspect(place)
    found = {r["item_id"]: r for r in got.responses}
    items = {r["item_id"]: r for r in got.items}
    scores = {r["row"]: r["value"] for r in got.scores}
    assert len(found) == len(rows)
    for sample, (question, output, target, score) in zip(samples, rows, strict=True):
        row, item = found[str(sample["id"])], items[str(sample["id"])]
        assert (row["output"], row["delivery"], scores[row["row"]]) == (output, "ok", score)
        assert (item["input"] or "", item["targets"]) == (question, [target])


@FEW
@given(
    st.lists(st.tuples(st.lists(FINITE, min_size=2, max_size=2), st.integers(0, 1)), min_size=1, max_size=4),
    st.booleans(),
)
def test_lm_eval_choices(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[list[float], int]], texts: bool
) -> None:
    lines = [choice_line(n, gold, lls, texts=texts) for n, (lls, gold) in enumerate(rows)]
    folder = tmp_path_factory.mktemp("r")
    write_pair(folder, "t", results("t", {"acc,none": 0.5}, n=len(rows)), lines)
    read = read_one(folder)
    assert read.column("responses", "choice_logprobs") == [lls for lls, _ in rows]
    assert read.column("responses", "gold_logprob") == [lls[gold] for lls, gold in rows]
    assert read.column("items", "gold_index") == [gold for _, gold in rows]
    assert read.column("scores", "value") == [line["acc"] for line in lines]


@FEW
@given(st.lists(st.tuples(TEXT, PLAIN, PLAIN), min_size=1, max_size=4))
def test_lm_eval_texts(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]) -> None:
    lines = [text_line(n, output, answer, target) for n, (output, answer, target) in enumerate(rows)]
    folder = tmp_path_factory.mktemp("r")
    write_pair(folder, "t", results("t", {"exact_match,none": 0.5}, n=len(rows)), lines)
    read = read_one(folder)
    assert read.column("responses", "output") == [output for output, _, _ in rows]
    assert read.column("responses", "answer") == [None if a == "[invalid]" else a for _, a, _ in rows]
    assert read.column("items", "targets") == [[target] for _, _, target in rows]
    assert read.column("scores", "value") == [float(answer == target) for _, answer, target in rows]


def write_items(place: Path, rows: list[dict[str, Any]]) -> Path:
    import polars as pl

    if place.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(place)
    elif place.suffix == ".jsonl":
        place.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif place.suffix == ".json":
        place.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    else:
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if place.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return place


@FEW
@given(
    st.lists(st.tuples(PLAIN, PLAIN, PLAIN, st.integers(0, 1)), min_size=2, max_size=5),
    st.sampled_from([".csv", ".tsv", ".json", ".jsonl", ".parquet"]),
)
def test_items(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, int]], suffix: str) -> None:
    names = ("question", "output", "target", "score")
    table = [{"id": f"i{n}", **dict(zip(names, row, strict=True))} for n, row in enumerate(rows)]
    read = read_one(write_items(tmp_path_factory.getbasetemp() / f"items{suffix}", table))
    assert read.column("responses", "item_id") == [row["id"] for row in table]
    assert read.column("responses", "output") == [output for _, output, _, _ in rows]
    assert read.column("items", "input") == [question for question, _, _, _ in rows]
    assert read.column("items", "targets") == [[target] for _, _, target, _ in rows]
    assert read.column("scores", "value") == [float(score) for _, _, _, score in rows]


@FEW
@given(st.lists(st.lists(st.integers(1, 999), min_size=3, max_size=3), min_size=2, max_size=4), st.booleans())
def test_means(tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], wide: bool) -> None:
    tasks = ("arc", "boolq", "copa")
    place = tmp_path_factory.getbasetemp() / "means.csv"
    models = [f"m-{n + 1}b" for n in range(len(rows))]
    if wide:
        lines = [
            ",".join([model, *(f"0.{score:03}" for score in row)]) for model, row in zip(models, rows, strict=True)
        ]
        place.write_text("\n".join([",".join(["model", *tasks]), *lines]), "utf-8")
    else:
        pairs = [(m, t, s) for m, row in zip(models, rows, strict=True) for t, s in zip(tasks, row, strict=True)]
        place.write_text("\n".join(["model,task,score", *(f"{m},{t},0.{s:03}" for m, t, s in pairs)]), "utf-8")
    reads, failures = read_all(place)
    assert not failures
    found = {(r.run.model, r.run.task): r.column("aggregates", "value") for r in reads}
    assert found == {
        (m, t): [s / 1000] for m, row in zip(models, rows, strict=True) for t, s in zip(tasks, row, strict=True)
    }
