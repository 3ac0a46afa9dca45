"""Tables that must be refused: one message with file and place, and the way out; nothing is repaired in silence."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.readers import Failure, read_paths

from ._read import failure, read_all, read_one

GOOD = b"id,output,score\n1,a,1\n2,b,0\n"


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"id,output,id\n1,a,2\n", "line 1", "the header names 'id' twice"),
        (b"id,output,score\n1,a,1\n,b,0\n", "line 3", "no item (column 'id' is blank)"),
        (b"id,output,score\n1,a,1,9\n", "line 2", "4 fields where the header has 3"),
        (b"id,output,score\n1,a\n", "line 2", "2 fields where the header has 3"),
        (b"id,output,score\n1,\xe9,1\n", "line 2", "byte 0xe9 at position 3 is not UTF-8"),
        (b'id,output,score\n1,"a,1\n2,b,0\n', "line 2", "a quote opened in lines 2 to 3 is not closed"),
        (b'id,output,score\n1,a,1\n2,"a" b,1\n', "line 3", "a quote opened in line 3 is not closed"),
        (b"id,output,score\n1,a\x00,1\n", "line 2", "a NUL character"),
        (b"id,output,score\n1,a,maybe\n", "line 2", "'maybe' is no score"),
        (b"id,output,score\n1,a,0.5\n", "line 2", "neither 0 nor 1"),
    ],
)
def test_delimited_text(tmp_path: Path, data: bytes, place: str, message: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(data)
    told = failure(path)
    assert told.startswith(f"{path}, {place}: ")
    assert message in told


def test_quoted_line_ends_keep_the_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b'id,output,score\r\n1,"a\nb\n",1\r\n\r\n2,b,x\r\n')
    assert f"{path}, line 6: 'x' is no score" in failure(path)


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b'{"id": 1, "output": "a"}\n[1]\n', "line 2", "Expected `object`"),
        (b'{"id": 1, "output": "a"}\n{"id": 2,, }\n{"id": 3}\n', "line 2", "not valid JSON"),
        (b'{"id": 1, "output": "a"}\n{"id": 2, "output": "\xff"}\n', "line 2", "is not UTF-8"),
        (b'{"id": 1, "output": "a"}\n{"id": 2, "output": "a", "id": 3}\n', "line 2", "the key 'id' occurs twice"),
        (b'{"id": 1, "output": "a"}\n{"id": null, "output": "a"}\n', "line 2", "no item"),
        (b'{"id": 1, "output": ' + b"[" * 9000 + b"]" * 9000 + b"}\n", "line 1", "nested too deeply"),
    ],
)
def test_json_lines(tmp_path: Path, data: bytes, place: str, message: str) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(data)
    told = failure(path)
    assert f"{path}, {place}" in told
    assert message in told


def test_a_thousand_levels_are_an_error_or_a_value(tmp_path: Path) -> None:
    """Whichever way the limit of the parser falls, there is no traceback and no half-read value."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"id": 1, "output": ' + b"[" * 1000 + b"]" * 1000 + b"}\n")
    reads, failures = read_all(path)
    assert len(reads) + len(failures) == 1


def test_a_last_line_cut_off_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"id": 1, "output": "a"}\n{"id": 2, "outp')
    read = read_one(path)
    assert read.column("responses", "item_id") == ["1"]
    assert read.status == "partial"
    assert any("line 2, the last, is cut off" in w for w in read.warnings)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("m.csv", b"", "the file is empty"),
        ("m.json", b"[]", "no reader knows this file"),
        ("m.json", b'[{"id": 1, "output": "a"}, {"id": 2, "out', "not valid JSON"),
        ("m.json", b'[{"id": 1, "output": "a"}, 3]', "element 2: unexpected content"),
        ("m.csv", "id,output\n1,a\n".encode("utf-16"), "the file is UTF-16"),
        ("m.csv.gz", gzip.compress(GOOD * 5000)[:200], "cannot be read"),
        ("m.parquet", b"PAR1" + b"\x00" * 50, "not a whole Parquet file"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    told = failure(path)
    assert str(path) in told
    assert message in told


def make_zip(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_archives(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    whole = make_zip({"a.csv": GOOD, "b/c.jsonl": b'{"id": 1, "output": "a"}\n{"id"\n', "d.txt": b"x", "e.csv": b""})
    path.write_bytes(whole)
    reads, failures = read_all(path)
    assert [r.run.sources[0].member for r in reads] == ["a.csv"]
    told = sorted(str(f.error) for f in failures)
    assert f"{path}, member b/c.jsonl, line 2: not valid JSON" in told[0]
    assert f"{path}, member e.csv: the file is empty" in told[1]
    path.write_bytes(whole[: len(whole) // 3])
    told_of_cut = failure(path)
    assert "no central directory" in told_of_cut
    damaged = bytearray(whole)
    damaged[40] ^= 255
    path.write_bytes(bytes(damaged))
    _, failures = read_all(path)
    assert any("member a.csv" in str(f.error) for f in failures)
    path.write_bytes(make_zip({"d.txt": b"x"}))
    assert "no reader knows this file" in failure(path)


def test_an_archive_cut_off_under_a_preset(tmp_path: Path) -> None:
    path = tmp_path / "model_outputs_x_5shots.zip"
    path.write_bytes(make_zip({"x.json": json.dumps([{"question_id": i} for i in range(1000)]).encode()})[:500])
    told = failure(tmp_path, preset="mmlu-pro")
    assert told.startswith(str(path))
    assert "copy the file again" in told


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([GOOD, b'{"id": 1, "output": "a"}\n{"id": 2, "output": "b"}\n', make_zip({"a.csv": GOOD})]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6),
    st.integers(0, 400),
)
def test_no_damage_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, edits: list[tuple[int, int]], cut: int
) -> None:
    damaged = bytearray(data)
    for place, byte in edits:
        damaged[place % len(damaged)] = byte
    path = tmp_path_factory.mktemp("d") / "m.jsonl"
    path.write_bytes(bytes(damaged[: len(damaged) - cut % len(damaged)]))
    for outcome in read_paths([path]):
        if isinstance(outcome, Failure):
            assert str(outcome.error)
        else:
            list(outcome.batches)
