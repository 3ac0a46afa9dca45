"""Tables with content that no writer of good faith puts there."""

from __future__ import annotations

import json
import random
import time
import zipfile
from pathlib import Path

import pytest

from foreshock.readers import _items_csv
from foreshock.readers._json import fields, repeated_keys

from ._read import failure, read_all, read_one


def lines(count: int = 3, **more: object) -> str:
    rows = [{"id": n, "question": "q", "output": "x", "target": "x", **more} for n in range(count)]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "id,question,output\n"), ("a.csv", "id,question,output\n\n\n"), ("a.tsv", "id\tquestion\toutput")],
)
def test_a_table_of_a_header_alone_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert "no rows below the header" in failure(tmp_path)


def test_integers_beyond_every_float_are_no_scores(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines(1, score=10**400, epoch=10**400) + lines(1, score=1), "utf-8")
    found = read_one(tmp_path / "a.jsonl")
    assert found.column("scores", "value") == [None, 1.0]
    assert found.column("scores", "status") == ["failed", "scored"]


def test_twenty_thousand_columns_take_no_time(tmp_path: Path) -> None:
    columns = ["id", "question", "output", *(f"c{n}" for n in range(20_000))]
    (tmp_path / "a.csv").write_text(",".join(columns) + "\n" + ",".join(["1"] * len(columns)) + "\n", "utf-8")
    start = time.process_time()
    assert read_one(tmp_path / "a.csv").column("responses", "output") == ["1"]
    assert time.process_time() - start < 5


def test_a_long_field_and_an_open_quote_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import csv

    monkeypatch.setattr(_items_csv, "MAX_FIELD", 2**20)
    before = csv.field_size_limit(2**20)
    try:
        (tmp_path / "a.csv").write_text("id,question,output\n1,q," + "x" * (2**20 + 1) + "\n", "utf-8")
        assert "a field of more than 1 MiB" in failure(tmp_path / "a.csv")
        (tmp_path / "b.csv").write_text('id,question,output\n1,q,"' + "x\n" * 2**20, "utf-8")
        assert "a quote opened in lines 2 to" in failure(tmp_path / "b.csv")
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE"])
def test_utf16_without_a_mark_is_named(tmp_path: Path, name: str, encoding: str) -> None:
    text = "id,question,output\n1,q,x\n" if name == "a.csv" else lines()
    (tmp_path / name).write_bytes(text.encode(encoding))
    assert f"the file is {encoding} without a byte-order mark" in failure(tmp_path)


@pytest.mark.parametrize(
    "tail", [b'"x":"\xed\xa0\x80"', b'"x":"\xff"', b'"x":' + b"9" * 5000, b'"x":[1,' + b"9" * 5000 + b"]"]
)
def test_repeated_keys_are_found_beside_values_that_cannot_be_read(tail: bytes) -> None:
    for begin, expected in ((b'{"a" :1, ', []), (b'{"a" :1, "a":2, ', ["a"])):
        data = begin + tail + b"}"
        assert repeated_keys(data, fields(data, "f")) == expected


def test_repeated_keys_in_great_number_take_no_time() -> None:
    data = ("{" + ",".join(f'"{n}" :1' for n in range(50_000)) + ',"7":2}').encode()
    start = time.process_time()
    assert repeated_keys(data, fields(data, "f")) == ["7"]
    assert time.process_time() - start < 5


@pytest.mark.parametrize("seed", range(12))
def test_damaged_parquet_is_a_failure_and_leaves_the_others(tmp_path: Path, seed: int) -> None:
    import polars as pl

    noise = random.Random(seed)
    frame = pl.DataFrame({"id": [f"i{n}" for n in range(40)], "question": ["q", "r"] * 20, "output": ["x"] * 40})
    frame.write_parquet(tmp_path / "a.parquet")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    for _ in range(1 + seed % 3):
        data[noise.randrange(4, len(data) - 8)] ^= 1 << noise.randrange(8)
    (tmp_path / "a.parquet").write_bytes(data)
    (tmp_path / "b.jsonl").write_text(lines(), "utf-8")
    reads, failures = read_all(tmp_path)
    assert len(reads) + len(failures) == 2
    assert [len(r.column("responses", "row")) for r in reads][-1] == 3
    assert all("not a whole Parquet file" in str(f.error) or "a.parquet" in str(f.error) for f in failures)


def test_members_whose_names_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("XX.jsonl", lines())
        archive.writestr("b.jsonl", "{bad\n")
        archive.writestr("c.jsonl", lines(2))
    path.write_bytes(path.read_bytes().replace(b"XX.jsonl", b"\xd2\xff.jsonl"))
    reads, failures = read_all(path)
    assert [len(r.column("responses", "row")) for r in reads] == [3, 2]
    assert len(failures) == 1
    assert "member b.jsonl" in str(failures[0].error)
    assert "�" in (reads[0].run.sources[0].member or "")


def test_a_table_without_ids_goes_by_its_questions(tmp_path: Path) -> None:
    rows = [{"question": f"q{n % 2}", "output": f"x{n}", "target": "x"} for n in range(4)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = read_one(tmp_path / "a.jsonl")
    ids = found.column("responses", "item_id")
    assert ids == found.column("responses", "item_key") == [*ids[:2], *ids[:2]]
    assert found.column("items", "item_id") == ids[:2]


def test_an_endless_id_is_bounded(tmp_path: Path) -> None:
    rows = [{"id": "x" * 10**5 + end, "question": "q", "output": "x", "target": "x"} for end in "ab"]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    ids = read_one(tmp_path / "a.jsonl").column("responses", "item_id")
    assert len(set(ids)) == 2
    assert max(map(len, ids)) < 300


@pytest.mark.parametrize("message", ["hello", None, 5, ["x"], {"content": "hello"}])
def test_chat_completions_with_messages_of_any_type(tmp_path: Path, message: object) -> None:
    tokens = {"prompt_tokens": 2**70, "completion_tokens": True, "total_tokens": 3}
    output = {"model": "m", "choices": [{"message": message}], "usage": tokens}
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": 1, "question": "q", "output": output}) + "\n", "utf-8")
    found = read_one(tmp_path / "a.jsonl")
    said = "hello" if message in ("hello", {"content": "hello"}) else ""
    assert found.column("responses", "output") == [said]
    counts = [found.column("responses", f"{kind}_tokens") for kind in ("input", "output", "total")]
    assert counts == [[None], [None], [3]]


@pytest.mark.parametrize("stderr", ["1e-200", "1e308", "0"])
def test_impossible_standard_errors_of_a_table(tmp_path: Path, stderr: str) -> None:
    (tmp_path / "a.csv").write_text(f"model,task,accuracy,stderr\nm,t,0.5,{stderr}\n", "utf-8")
    found = read_one(tmp_path / "a.csv")
    assert found.column("aggregates", "value") == [0.5]
    assert found.column("aggregates", "n") == [None]
