"""Matrices of models and items."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import ConfigError

from ._items_logs import write_small
from ._read import failure, read_all


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Path]:
    return {path.name: path for path in write_small(tmp_path)}


def write(folder: Path, text: str) -> Path:
    path = folder / "m.csv"
    path.write_text(text, "utf-8")
    return path


def test_every_specimen_is_read(small: dict[str, Path]) -> None:
    for path in small.values():
        reads, failures = read_all(path)
        assert not failures, path.name
        assert {r.run.format for r in reads} == {"items"}


def test_rows_may_be_items(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["of_items.csv"])
    found = [(r.run.model, r.column("responses", "item_id"), r.column("scores", "value")) for r in reads]
    assert found == [("a", ["q1", "q2", "q3"], [1, 0, 1]), ("b", ["q1", "q2", "q3"], [0, 1])]
    assert reads[1].column("responses", "delivery") == ["ok", "missing", "ok"]
    assert reads[1].column("scores", "row") == [0, 2], "a blank cell is missing, not 0"
    assert reads[0].column("items", "subset") == ["x", "y", "x"]
    assert reads[0].run.expected == 3


def test_rows_may_be_models(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["of_models.csv"])
    found = [(r.run.model, r.column("responses", "item_id"), r.column("scores", "value")) for r in reads]
    assert found == [("a", ["i1", "i2", "i3"], [1, 0, 1]), ("b", ["i1", "i2", "i3"], [0, 0, 1])]
    assert reads[0].notes[0] == "read as model=submission, and 3 columns each of one item, i1 to i3"


def test_codes_are_states(small: dict[str, Path]) -> None:
    reads, _ = read_all(small["codes.parquet"])
    a, b = reads
    assert a.run.task == "mmlu-pro"
    assert a.column("scores", "status") == ["scored", "unparsed", "scored"]
    assert a.column("scores", "value") == [1, None, 0]
    assert b.column("responses", "delivery") == ["ok", "missing", "ok"]


def test_codes_of_ones_own(tmp_path: Path) -> None:
    path = write(tmp_path, "item,a,b\nq1,1,ERR\nq2,0,1\n")
    codes = {"ERR": "error"}
    reads, _ = read_all(path, codes=codes)
    assert reads[1].column("responses", "delivery") == ["error", "ok"]
    with pytest.raises(ConfigError, match="'gone' is no state"):
        read_all(path, codes={"ERR": "gone"})
    assert "'score' is no state" in failure(path, codes={"ERR": "score"}), "of a response it is none"


def test_orientation_is_asked_for_when_it_may_be_either(tmp_path: Path) -> None:
    path = write(tmp_path, "name,x,y,z\nu,1,0,1\nv,0,0,1\n")
    message = failure(path)
    assert "a matrix whose rows may be models or items" in message
    assert "--wide --map item=name when each row is an item, --map model=name" in message
    items, _ = read_all(path, map={"item": "name"}, wide=["*"])
    models, _ = read_all(path, map={"model": "name"}, wide=["*"])
    assert [r.run.model for r in items] == ["x", "y", "z"]
    assert [r.run.model for r in models] == ["u", "v"]
    assert models[0].column("scores", "value") == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,a,b\nq1,1,0\n,0,1\n", "line 3: no item (column 'item' is blank)"),
        ("item,a,b\nq1,1,0\nq1,0,0\n", "lines 2 and 3 are both item 'q1', with other cells"),
        ("item,a,a\nq1,1,0\n", "the header names 'a' twice"),
        ("item,a,b\nq1,1,0,1\n", "4 fields where the header has 3"),
        ('item,a,b\nq1,1,"0\n', "a quote opened in line 2"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in failure(write(tmp_path, text))


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(b"item,a,b\nq1,1,0\nq\xe4,0,1\n")
    assert "line 3: byte 0xe4" in failure(path)


def test_a_cell_that_is_no_score_is_named(tmp_path: Path) -> None:
    text = "item,a,b\n" + "".join(f"q{i},1,0\n" for i in range(300)) + "q300,7,1\n"
    _, failures = read_all_lazily(write(tmp_path, text))
    assert any("item 'q300'" in f and "--codes 7=missing" in f for f in failures)


def read_all_lazily(path: Path) -> tuple[list[str], list[str]]:
    """Readings whose batches may fail, as the store meets them."""
    from foreshock._base import ForeshockError
    from foreshock.readers import Failure, ReadOptions, read_paths

    models, failures = [], []
    for found in read_paths([path], ReadOptions()):
        if isinstance(found, Failure):
            failures.append(str(found.error))
            continue
        try:
            list(found.batches)
            models.append(found.run.model)
        except ForeshockError as error:
            failures.append(str(error))
    return models, failures


def test_copies_of_a_row_are_kept_once(tmp_path: Path) -> None:
    reads, _ = read_all(write(tmp_path, "item,a,b\nq1,1,0\nq1,1,0\nq2,0,0\n"))
    assert reads[0].column("responses", "item_id") == ["q1", "q2"]
    assert any("1 row repeated with equal cells" in note for note in reads[0].notes)


def test_items_of_several_columns_and_scores_out_of_a_total(tmp_path: Path) -> None:
    path = write(tmp_path, "run,test,lang,passed,total\n0,t1,py,3,3\n0,t1,js,1,2\n")
    assert "item=test+lang" in failure(path)
    roles = {"item": "test+lang", "model": "run", "score": "passed", "total": "total"}
    (read,), _ = read_all(path, map=roles)
    assert read.column("responses", "item_id") == ["t1/py", "t1/js"]
    assert read.column("scores", "value") == [1.0, 0.5]
