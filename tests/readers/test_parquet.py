"""Parquet is decoded in a process of its own: what ends that process is a message, and the next file is read."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZipFile

import polars as pl
import pytest

from foreshock._base import BrokenFileError
from foreshock.readers._parquet import Parquet

from ._read import failure, read_one

ROWS = {"model": ["m"] * 8, "id": [str(i) for i in range(8)], "output": ["x"] * 8, "score": [1.0, None] * 4}


def parquet(columns: dict[str, list[object]]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream, compression="uncompressed", statistics=False)
    return stream.getvalue()


def fatal(data: bytes) -> bytes:
    """The header of every data page says that it holds -1 values: Polars asks for room for 2**64 - 1 and aborts."""
    told = data.replace(b"\x2c\x15\x10", b"\x2c\x15\x01")
    assert told != data
    return told


def test_a_file_that_ends_the_process_is_a_message_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(fatal(parquet(ROWS)))
    assert "not a whole Parquet file (Polars ended over it, with code -" in str(failure(path))
    path.write_bytes(parquet(ROWS))
    assert len(read_one(path).column("responses", "row")) == 8


def test_members_of_an_archive_are_read_beside_each_other() -> None:
    first, second = Parquet(parquet({"a": [1, 2, 3]}), "first"), Parquet(parquet({"a": [7, 8, 9]}), "second")
    pairs = zip(first.parts(2), second.parts(2), strict=True)
    assert [(a["a"].to_list(), b["a"].to_list()) for a, b in pairs] == [([1, 2], [7, 8]), ([3], [9])]


def test_a_member_is_open_while_another_one_ends_the_process(tmp_path: Path) -> None:
    parts = Parquet(parquet({"a": [1, 2, 3]}), "first").parts(2)
    assert next(parts)["a"].to_list() == [1, 2]
    path = tmp_path / "a.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("items.parquet", fatal(parquet(ROWS)))
    assert "ended over it" in str(failure(path))
    assert next(parts)["a"].to_list() == [3]


def test_columns_types_and_rows_are_those_of_polars(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [["x"], []], "c": [{"d": 0.5}, {"d": None}]})
    path = tmp_path / "[a].parquet"  # no pattern
    frame.write_parquet(path)
    file = Parquet(path, "a")
    assert file.schema == dict(frame.schema)
    (part,) = file.parts(4_096)
    assert part.equals(frame)
    (part,) = file.parts(4_096, [pl.col("c").struct.field("d")])
    assert part.to_dict(as_series=False) == {"d": [0.5, None]}


@pytest.mark.parametrize("cut", [4, 40, 200])
def test_a_file_that_was_cut_off(tmp_path: Path, cut: int) -> None:
    with pytest.raises(BrokenFileError, match=r"^a: not a whole Parquet file \(\w+: .*\); copy it again"):
        Parquet(parquet(ROWS)[:cut], "a")
