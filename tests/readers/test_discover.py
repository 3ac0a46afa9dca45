"""Walking, recognising, skipping, and what is said about files that nobody knows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import ConfigError, load_plugins
from foreshock.readers import Candidate, Failure, Reading, ReadOptions, _builtin, _discover, read_paths, readers
from foreshock.readers._companions import group
from foreshock.records import Run
from foreshock.store import Store, add_paths

from ._lm_eval_logs import results, text_line, write_pair
from ._read import failure, read_all

LINE = text_line(0, "a", "a", "a", filter="none", metrics=["exact_match"])


def make_run(folder: Path) -> None:
    write_pair(folder, "t", results("t", {"exact_match,none": 1.0}, n=1), [LINE])


def test_folders_are_walked_in_order_without_loops(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden"):
        make_run(tmp_path / name)
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "a")
    (tmp_path / "LICENSE").write_text("Apache\n{not json}", "utf-8")
    (tmp_path / "README.md").write_text("# a, b", "utf-8")
    names = [f.path.relative_to(tmp_path).parts[0] for f in _discover.find([tmp_path])]
    assert names == ["LICENSE", "README.md", "a", "a", "b", "b"]
    reads, failures = read_all(tmp_path)
    assert len(reads) == 2
    assert not failures


def test_stores_are_not_logs(tmp_path: Path) -> None:
    make_run(tmp_path)
    Store.open(tmp_path / "kept", create=True).write(
        Run(run_key="r", format="f", reader="r@1", model="m", task="t"), []
    )
    assert list((tmp_path / "kept").rglob("*.json"))
    reads, failures = read_all(tmp_path)
    assert len(reads) == 1
    assert not failures


def test_an_unknown_file_named_itself_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "LICENSE"
    path.write_text("Apache", "utf-8")
    message = failure(path)
    assert "no reader knows this file" in message
    assert ", ".join(readers()) in message
    assert "no such file" in failure(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.eval", b"", "the file is empty"),
        ("a.eval", b"<html>404</html>", "called .eval and is no zip archive: it begins with '<html>404</html>'"),
        ("a.parquet", b"\x00\x01", "is no Parquet file"),
        ("a.json", b'{"a": 1}', "no reader knows this file"),
        ("a.json", b'{"a": \n1,', "not valid JSON at line 2"),
        ("a.txt", b'{"a": \n1,', "not valid JSON at line 2"),
        ("a.json", '{"a": 1}'.encode("utf-16"), "the file is UTF-16"),
        ("a.zip", b"PK\x03\x04" + b"\x00" * 40, "no central directory"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
    ],
)
def test_unreadable_data_in_a_folder_is_reported(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    make_run(tmp_path / "good")
    reads, failures = read_all(tmp_path)
    assert len(reads) == 1, "the rest went on"
    (found,) = failures
    assert message in str(found.error)
    assert str(found.path) in str(found.error)


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("log.txt", b'[{"id": 1,', True),
        ("log", b'{"id": 1,', True),
        ("log.out", b"id,mood\n1,good\n2,bad\n", True),
        ("log.2026-11-30", b"id;mood\n1;good\n2;bad\n", True),
        ("log.jsonl.zst", b"\x28\xb5\x2f\xfd", True),
        ("log.jsonl.xz", b"\xfd7zXZ", True),
        ("log.xlsx", b"PK\x03\x04" + b"\x00" * 40, True),
        ("train.log", b"2026-11-30 12:00:00,123 a\n2026-11-30 12:00:00,456 b\n2026-11-30 12:00:00,789 c\n", False),
        ("train.log", b"[INFO] begin\n[INFO] end\n", False),
        ("LICENSE", b"Terms, conditions\nof use, of copies, and more\n\n1. The\n", False),
        ("notes.txt", b"First, look.\nThen judge.\n", False),
        ("README.md", b"[![badge](x)](y)\n", False),
        ("script.py", b'{"a": 1}\n', False),
    ],
)
def test_what_looks_like_data_in_a_folder_is_told(tmp_path: Path, name: str, data: bytes, told: bool) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    make_run(tmp_path / "good")
    reads, failures = read_all(tmp_path)
    assert len(reads) == 1
    assert [f.path for f in failures] == ([path] if told else [])
    assert str(path) in failure(path), "a file that is named itself always is"


def test_a_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path)
    real = _discover.candidate
    seen: list[Path] = []

    def vanishing(path: Path) -> Candidate:
        found = real(path)
        seen.append(path)
        if len(seen) == 2:
            path.unlink()
        return found

    monkeypatch.setattr(_discover, "candidate", vanishing)
    outcomes = list(read_paths([tmp_path]))
    assert any(isinstance(o, Failure) and "cannot be read" in str(o.error) for o in outcomes)


@pytest.mark.parametrize("close", [False, True])
def test_rows_that_nobody_wants(tmp_path: Path, close: bool) -> None:
    """A consumer that leaves the batches alone, or closes them, still gets the other readings."""
    make_run(tmp_path / "one")
    lines = [text_line(i, f"{k}", "a", "a", filter="none", metrics=["exact_match"]) for k in "ab" for i in range(3)]
    write_pair(tmp_path / "two", "t", results("t", {"exact_match,none": 1.0}, n=3), lines)
    found = []
    for reading in read_paths([tmp_path]):
        assert isinstance(reading, Reading)
        found.append(Path(reading.run.sources[0].path).parent.name)
        if close:
            reading.batches.close()  # type: ignore[attr-defined]
    assert found == (["one", "two"] if close else ["one", "two", "two"])


def test_files_are_skipped_with_their_companions_only(tmp_path: Path) -> None:
    make_run(tmp_path / "one")
    make_run(tmp_path / "two")
    old = {p for p in (tmp_path / "one").iterdir() if p.suffix == ".json"}
    asked: list[Path] = []

    def skip(path: Path) -> bool:
        asked.append(path)
        return path in old or path.parent.name == "two"

    (reading,) = [(r.run, list(r.batches)) for r in read_paths([tmp_path], skip=skip) if isinstance(r, Reading)]
    assert len(reading[0].sources) == 2, "the known results file is read again with its new samples"
    assert len(reading[1]) == 4
    assert len(asked) >= 3


def test_progress_counts_files(tmp_path: Path) -> None:
    make_run(tmp_path)
    told: list[tuple[str, int, int | None]] = []
    for reading in read_paths([tmp_path], progress=lambda *a: told.append(a)):
        assert isinstance(reading, Reading)
        list(reading.batches)
    assert told == [("recognise", 1, 2), ("recognise", 2, 2), ("read", 1, 2), ("read", 2, 2)]


class Mine:
    name = "mine"
    version = 3

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:
        return candidate.head.startswith(b"mine!")

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        for candidate in candidates:
            run = Run(run_key=candidate.path.name, format="mine", reader="mine@3", model="m", task="t")
            yield Reading(run, iter([]))


class Broken:
    def __init__(self) -> None:
        raise RuntimeError("no")


def test_readers_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_builtin, "load_plugins", lambda group: {"mine": Mine, "broken": Broken, "half": object()})
    (tmp_path / "a.csv").write_text("mine!,score,model\n", "utf-8")
    with pytest.warns(RuntimeWarning) as caught:
        (reading,) = read_paths([tmp_path])
    assert isinstance(reading, Reading)
    assert reading.run.format == "mine"
    assert {str(w.message).split("'")[1] for w in caught} == {"broken", "half"}
    assert load_plugins is not _builtin.load_plugins


def test_the_suggested_command_names_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "my results.json"
    path.write_text(json.dumps([{"who": 1, "what": "x"}]), "utf-8")
    message = failure(path)
    assert "who, what" in message
    assert f"foreshock add '{path}' --map item=COLUMN,output=COLUMN,target=COLUMN" in message


def test_results_and_details_of_one_call_are_skipped_together(tmp_path: Path) -> None:
    moment = "2025-09-03T10-57-04.203304"
    results = tmp_path / "out" / "results" / "org" / "m" / f"results_{moment}.json"
    details = tmp_path / "out" / "details" / "org" / "m" / moment / f"details_t|5_{moment}.parquet"
    other = tmp_path / "out" / "results" / "org" / "m" / "results_2025-09-04T00-00-00.json"
    groups = [group(path) for path in (results, details, other)]
    assert groups[0] == groups[1] == (str(tmp_path / "out"), moment)
    assert groups[2] != groups[0]


def test_chance_is_of_whatever_is_read(tmp_path: Path) -> None:
    make_run(tmp_path / "logs")
    store = Store.open(tmp_path / "store", create=True)
    for chance in (None, 0.25, 0.25, 0.5):
        add_paths(store, [tmp_path / "logs"], ReadOptions(chance=chance))
        (run,) = store.snapshot().runs()
        assert run.chance == chance
    assert len(store.snapshot().ingests) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chance": 3.0}, "a share from 0 to 1"),
        ({"chance": -0.3}, "a share from 0 to 1"),
        ({"chance": float("nan")}, "a share from 0 to 1"),
        ({"chance": 101.0, "scale": 100.0}, "a score up to 100"),
        ({"codes": {"-1": "foo"}}, "'foo' is no state"),
    ],
)
def test_options_that_cannot_be_are_refused_before_any_file_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ReadOptions(**options)
    assert ReadOptions(chance=25.0, scale=100.0, codes={"-1": "missing", "-100": "score"}).chance == 25.0
