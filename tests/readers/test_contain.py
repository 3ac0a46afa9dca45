"""One bad file, sample or line does not take the others with it."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from foreshock.readers import Failure, _discover, _inspect, _lm_eval, _tables, read_paths
from foreshock.readers._contain import reported
from foreshock.readers._lm_eval import LmEvalReader

from ._lm_eval_logs import results, text_line, write_pair
from ._logs import small, write_eval
from ._read import failure, read_all, read_one

PanicException = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
LINES = [text_line(n, "a", "a", "a", filter="none", metrics=["exact_match"]) for n in range(2000)]


def three_files(folder: Path) -> None:
    write_eval(folder / "a.eval", small())
    write_pair(folder / "lm", "t", results("t", {"exact_match,none": 1.0}, n=2), LINES[:2])
    (folder / "t.csv").write_text("model,task,score,n\nm,t,0.5,10\n", "utf-8")


@pytest.mark.parametrize("kind", [ValueError, RecursionError, PanicException])
@pytest.mark.parametrize(
    ("module", "name"), [(_inspect, "_reading"), (_lm_eval, "read_header"), (_tables, "gather"), (_discover, "head")]
)
def test_a_fault_in_one_file_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, kind: type[BaseException]
) -> None:
    three_files(tmp_path)
    calls: list[object] = []
    real = getattr(module, name)

    def faulty(*args: object) -> object:
        calls.append(args)
        if len(calls) == 1:
            raise kind("a fault\nof ours")
        return real(*args)

    monkeypatch.setattr(module, name, faulty)
    reads, failures = read_all(tmp_path)
    # samples whose results file failed are read by themselves
    assert len(reads) == (3 if module is _lm_eval else 2)
    assert f"unexpected {kind.__name__}: a fault of ours; please report it" in str(failures[0].error)
    assert str(failures[0].path) in str(failures[0].error)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_ends_the_program_is_not_swallowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    three_files(tmp_path)

    def ends(*args: object) -> None:
        raise kind

    monkeypatch.setattr(_inspect, "_reading", ends)
    with pytest.raises(kind):
        list(read_paths([tmp_path]))
    with pytest.raises(GeneratorExit):
        reported(GeneratorExit(), tmp_path)


def test_a_reader_that_cannot_look_at_a_file_leaves_it_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*args: object) -> bool:
        raise ValueError("no")

    three_files(tmp_path)
    monkeypatch.setattr(LmEvalReader, "claims", fault)
    reads, _ = read_all(tmp_path / "a.eval", tmp_path / "t.csv")
    assert [r.run.format for r in reads] == ["inspect", "table"]
    (results_file,) = (tmp_path / "lm").glob("results*")
    assert "unexpected ValueError: no" in failure(results_file)


def test_a_line_that_the_reader_stumbles_over_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from foreshock.readers import _lm_eval_rows

    real = _lm_eval_rows.read_line

    def faulty(line: object, *rest: object) -> object:
        if getattr(line, "doc_id", None) == 1:
            raise ZeroDivisionError("n is 0")
        return real(line, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_lm_eval_rows, "read_line", faulty)
    write_pair(tmp_path, "t", results("t", {"exact_match,none": 1.0}, n=3), LINES[:3])
    found = read_one(tmp_path)
    assert found.column("responses", "item_id") == ["0", "2"]
    assert found.status == "partial"
    assert any("2 (unexpected ZeroDivisionError: n is 0)" in w for w in found.warnings)


@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl"])
def test_a_named_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert "not a regular file" in failure(tmp_path / name)
    reads, failures = read_all(tmp_path)
    assert (len(reads), len(failures)) == (0, int(name.endswith(".jsonl")))


def test_links_in_circles_and_names_too_long(tmp_path: Path) -> None:
    (tmp_path / "a.eval").symlink_to(tmp_path / "b.eval")
    (tmp_path / "b.eval").symlink_to(tmp_path / "a.eval")
    (tmp_path / "gone.eval").symlink_to(tmp_path / "nothing")
    for name, said in (("a.eval", "symbolic links"), ("gone.eval", "not there"), ("x" * 300, "too long")):
        assert said in failure(tmp_path / name)
    write_eval(tmp_path / "ok.eval", small())
    reads, failures = read_all(tmp_path)
    assert len(reads) == 1
    assert len(failures) == 3


def damaged_streams() -> Iterator[tuple[str, bytes]]:
    # lines that do not compress well, so that the damage lies beyond the head
    noise = random.Random(1)
    text = "".join(json.dumps({**line, "pad": noise.randbytes(40).hex()}) + "\n" for line in LINES).encode()
    packed = gzip.compress(text)
    yield "cut", packed[: len(packed) * 3 // 4]
    middle = len(packed) * 3 // 4
    yield "flipped", packed[:middle] + bytes(b ^ 0xFF for b in packed[middle : middle + 200]) + packed[middle + 200 :]


@pytest.mark.parametrize(("kind", "data"), list(damaged_streams()), ids=["cut", "flipped"])
def test_a_damaged_gzip_stream_says_how_far_it_was_read(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / "samples_t_2024-07-01T10-11-12.000013.jsonl.gz").write_bytes(data)
    found = read_one(tmp_path)
    rows = len(found.column("responses", "row"))
    assert 1000 < rows < 2000
    assert found.status == "partial"
    (stop,) = [w for w in found.warnings if "gzip stream is cut off or damaged" in w]
    (reached,) = re.findall(r"after line (\d+)", stop)
    assert int(reached) == rows if kind == "cut" else rows <= int(reached) <= 2000


def test_a_damaged_gzip_table_is_a_failure_with_its_line(tmp_path: Path) -> None:
    noise = random.Random(1)
    lines = [{"id": n, "question": noise.randbytes(60).hex(), "output": "x", "target": "x"} for n in range(3000)]
    packed = gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())
    (tmp_path / "m.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    (found,) = read_paths([tmp_path])
    assert isinstance(found, Failure)
    assert "after line 2" in str(found.error)


def test_names_of_files_that_are_not_utf8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run\xff")
    folder.mkdir()
    write_eval(folder / os.fsdecode(b"a\xfe.eval"), small())
    write_pair(folder, "t", results("t", {"exact_match,none": 1.0}, n=1), LINES[:1])
    (folder / os.fsdecode(b"samples_u\xfd.jsonl")).write_text(json.dumps(LINES[0]) + "\n", "utf-8")
    (folder / os.fsdecode(b"b\xfc.jsonl")).write_text('{"id": 1, "question": "q", "output": "x"}\n', "utf-8")
    (folder / os.fsdecode(b"t\xfb.csv")).write_text("size,score,n\n1B,0.5,10\n", "utf-8")
    reads, failures = read_all(tmp_path)
    assert not failures
    assert len(reads) == 5
    for read in reads:
        f"{read.run.model} {read.run.task}".encode()
    assert {"b�", "t� 1B"} <= {r.run.model for r in reads}
