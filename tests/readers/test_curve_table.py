"""Tables of curves, read strictly: what the columns say, and what is refused with its line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from foreshock._base import ConfigError, ForeshockError
from foreshock.readers import CurveColumns, CurveRows, read_curves

COLUMNS = CurveColumns(x="n", y="loss", group=["task", "model"], train="flag")


def read(folder: Path, text: str, columns: CurveColumns = COLUMNS, name: str = "curves.csv") -> CurveRows:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_curves(path, columns)


def test_rows_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, "task,model,n,loss,flag\na,m,1000,2.5,1\na,m,10,,0\nb,m,1e3,1.5,true\n")
    assert found.group == ["a / m", "a / m", "b / m"]
    assert found.x == [1000.0, 10.0, 1000.0]
    assert found.y[0] == 2.5
    assert math.isnan(found.y[1])
    assert found.train == [True, False, True]
    assert found.kind == "n"


def test_a_decimal_comma_is_seen_in_the_column(tmp_path: Path) -> None:
    found = read(tmp_path, "n;loss\n1;0,85\n2;12,5\n", CurveColumns(x="n", y="loss"))
    assert found.y == [0.85, 12.5]


def test_sizes_and_dates_are_places(tmp_path: Path) -> None:
    sizes = read(tmp_path, "size,loss\n70M,1\n1.4B,2\n", CurveColumns(x="size", y="loss"))
    assert (sizes.kind, sizes.x) == ("parameters", [70e6, 1.4e9])
    dates = read(tmp_path, "when,loss\n1970-02-01,1\n1970-01,2\n", CurveColumns(x="when", y="loss"))
    assert (dates.kind, dates.x, dates.dates) == ("date", [31.0, 0.0], True)


def test_small_sizes_are_billions_and_that_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, "size,loss\n7,1\n70,2\n", CurveColumns(x="size", y="loss"))
    assert found.x == [7e9, 70e9]
    assert "billions" in found.notes[0]


def test_percent_signs_are_parts_of_one_and_that_is_said(tmp_path: Path) -> None:
    found = read(tmp_path, "n,acc\n1,85%\n2,90%\n", CurveColumns(x="n", y="acc"))
    assert found.y == [0.85, 0.9]
    assert "percent" in found.notes[0]


def test_other_columns(tmp_path: Path) -> None:
    text = "n,acc,items,nll,set\n1,.5,100,1.2,x\n2,-100,50,,y\n"
    told = CurveColumns(x="n", y="acc", n="items", twin="nll", family="set", codes=["-100"])
    found = read(tmp_path, text, told)
    assert found.n == [100.0, 50.0]
    assert math.isnan(found.y[1])
    assert math.isnan(found.twin[1])
    assert found.family == ["x", "y"]
    assert read(tmp_path, text, CurveColumns(x="n", y="acc", n="250")).n == [250.0, 250.0]


def test_json_lines_are_a_table_too(tmp_path: Path) -> None:
    text = "".join(json.dumps({"n": n, "loss": 1 / n, "flag": n < 3}) + "\n" for n in (1, 2, 3))
    found = read(tmp_path, text, CurveColumns(x="n", y="loss", train="flag"), "curves.jsonl")
    assert found.train == [True, True, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task,model,n,loss,flag\na,m,ten,1,1\n", "line 2"),
        ("task,model,n,loss,flag\na,m,,1,1\n", "an empty cell in column 'n'"),
        ("task,model,n,loss,flag\na,m,1,abc,1\n", "'abc' in column 'loss'"),
        ("task,model,n,loss,flag\na,m,1,1,maybe\n", "'maybe' in column 'flag'"),
        ("task,model,n,loss,flag\na,m,1,1\n", "4 fields where the header has 5"),
        ("task,model,n,loss,flag\n", "no row below the header"),
        ("task,model,n,flag\na,m,1,1\n", "no column loss"),
        ("task,model,n,loss,flag\na,m,1,50%,1\na,m,2,1,1\n", "percent sign"),
        ("", "empty"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ForeshockError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_missing_file_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_curves(tmp_path / "nothing.csv", COLUMNS)


def test_hostile_bytes_are_a_message(tmp_path: Path) -> None:
    for junk in (b"\x00\xff\xfe" * 50, b"PK\x03\x04junk", b"PAR1junk", b"[1, 2", b"a,b\n\xff,1\n"):
        path = tmp_path / "junk.csv"
        path.write_bytes(junk)
        with pytest.raises(ForeshockError):
            read_curves(path, CurveColumns(x="a", y="b"))


def test_a_very_long_name_is_cut(tmp_path: Path) -> None:
    found = read(tmp_path, f"task,model,n,loss,flag\n{'x' * 5000},m,1,1,1\n")
    assert len(found.group[0]) < 600
