"""Zip access: what may be trusted, what is found again, what is refused."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock._base import BrokenFileError
from foreshock.readers import _zip_directory
from foreshock.readers._zip import MAX_SIZE, Archive, latest, shown
from foreshock.readers._zip_directory import Member
from foreshock.readers._zstd import Zstd

from ._logs import maker

TEXT = b'{"words": "' + b"some words in a row " * 500 + b'"}'


def archive(path: Path, *members: tuple[str, bytes, int], directory: bool = True) -> Path:
    with path.open("wb") as file:
        writer = maker.ZipWriter(file)
        for name, data, method in members:
            writer.add(name, data, method=method)
        writer.close(directory)
    return path


def contents(path: Path) -> dict[str, bytes]:
    with Archive(path) as opened:
        return {m.name: opened.read(m) for m in opened.members}


@pytest.mark.parametrize("method", [maker.STORED, maker.DEFLATE, maker.ZSTD])
def test_methods(tmp_path: Path, method: int) -> None:
    members = [("a", TEXT, method), ("b", b"", method), ("c/é.json", b"x", method)]
    path = archive(tmp_path / "a.zip", *members)
    assert contents(path) == {name: data for name, data, _ in members}


def test_what_zipfile_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = b"a comment with PK\x05\x06 in it"[:12]
        file.writestr("one", TEXT)
        with file.open("two", "w", force_zip64=True) as member:
            member.write(TEXT * 2)
    assert contents(path) == {"one": TEXT, "two": TEXT * 2}


def test_what_stands_before_the_archive_moves_it(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT, maker.ZSTD))
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert contents(path) == {"a": TEXT}
    with Archive(path) as opened:
        assert opened.salvage is None


def test_more_members_than_sixteen_bits_count(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", *((str(n), b"", maker.STORED) for n in range(70_000)))
    with zipfile.ZipFile(path) as theirs, Archive(path) as ours:
        assert len(theirs.namelist()) == 70_000
        assert [m.name for m in ours.members] == theirs.namelist()


@pytest.mark.parametrize("frames", [1, 2, 7])
def test_several_frames(tmp_path: Path, frames: int) -> None:
    path = tmp_path / "a.zip"
    with path.open("wb") as file:
        writer = maker.ZipWriter(file)
        writer.add("a", TEXT, frames=frames)
        writer.close()
    packed = path.read_bytes()
    assert packed.count(b"\x28\xb5\x2f\xfd") == frames
    assert contents(path) == {"a": TEXT}


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("frames", [1, 3])
def test_frames_that_say_their_size_and_frames_that_do_not(sized: bool, frames: int) -> None:
    one = zstandard.ZstdCompressor(write_content_size=sized).compress
    packed = b"".join(one(TEXT) for _ in range(frames))
    assert Zstd().decode(packed, len(TEXT) * frames) == TEXT * frames
    assert len(Zstd().decode(packed, len(TEXT) * frames - 5)) == len(TEXT) * frames - 4
    assert Zstd().decode(packed, len(TEXT) * frames + 5) == TEXT * frames


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_zstd_never_fails_otherwise(junk: bytes) -> None:
    for data in (junk, zstandard.compress(junk)[: len(junk)], zstandard.compress(b"ab" * 90) + junk):
        with suppress(ValueError):
            assert len(Zstd().decode(data, 1000)) <= 1001


def test_a_length_that_lies(tmp_path: Path) -> None:
    for size in (len(TEXT) - 1, len(TEXT) + 1, 0):
        path = tmp_path / f"{size}.zip"
        with path.open("wb") as file:
            writer = maker.ZipWriter(file)
            for method in (maker.STORED, maker.DEFLATE, maker.ZSTD):
                writer.add(str(method), TEXT, method=method, size=size)
            writer.close()
        with Archive(path) as opened:
            for member in opened.members:
                with pytest.raises(BrokenFileError, match="the directory says"):
                    opened.read(member)


def test_a_flipped_bit(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT, maker.STORED))
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    with Archive(path) as opened, pytest.raises(BrokenFileError, match="checksum") as found:
        opened.read(opened.members[0])
    assert found.value.where == f"{path}, member a"


@pytest.mark.parametrize("method", [maker.DEFLATE, maker.ZSTD])
def test_content_that_is_not_compressed(tmp_path: Path, method: int) -> None:
    path = archive(tmp_path / "a.zip", ("a", b"no such stream " * 20, maker.STORED))
    data = path.read_bytes().replace(struct.pack("<HHH", 20, 0x800, 0), struct.pack("<HHH", 20, 0x800, method))
    path.write_bytes(data)
    with Archive(path) as opened, pytest.raises(BrokenFileError, match="cannot be decompressed"):
        opened.read(opened.members[0])


@pytest.mark.parametrize(("method", "found"), [(14, "method 14"), (9, "method 9")])
def test_unknown_methods(tmp_path: Path, method: int, found: str) -> None:
    path = archive(tmp_path / "a.zip", ("a", b"x", maker.STORED))
    data = path.read_bytes().replace(struct.pack("<HHH", 20, 0x800, 0), struct.pack("<HHH", 20, 0x800, method))
    path.write_bytes(data)
    with Archive(path) as opened, pytest.raises(BrokenFileError, match=found):
        opened.read(opened.members[0])


def test_encrypted(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", b"x", maker.STORED))
    path.write_bytes(path.read_bytes().replace(struct.pack("<HH", 20, 0x800), struct.pack("<HH", 20, 0x801)))
    with Archive(path) as opened, pytest.raises(BrokenFileError, match="encrypted"):
        opened.read(opened.members[0])


def test_bombs(tmp_path: Path) -> None:
    zeros = bytes(64 * 2**20)
    path = archive(tmp_path / "a.zip", ("zeros", zeros, maker.ZSTD), ("fine", TEXT, maker.ZSTD))
    with Archive(path) as opened:
        with pytest.raises(BrokenFileError, match="expands"):
            opened.read(opened.members[0])
        assert opened.read(opened.members[1]) == TEXT
    claim = Member("a", 0, maker.ZSTD, 0, MAX_SIZE, MAX_SIZE + 1, 0)
    with Archive(path) as opened, pytest.raises(BrokenFileError, match="above the limit"):
        opened.read(claim)


def test_a_small_claim_over_a_large_content_stops_early(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with path.open("wb") as file:
        writer = maker.ZipWriter(file)
        writer.add("zeros", bytes(64 * 2**20), size=1000)
        writer.close()
    with Archive(path) as opened, pytest.raises(BrokenFileError, match="the member holds more"):
        opened.read(opened.members[0])


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", os.urandom(4000), maker.STORED))
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    many = data[at:end] * 3
    size = struct.pack("<HHHHIIH", 0, 0, 3, 3, len(many), at, 0)
    path.write_bytes(data[:at] + many + b"PK\x05\x06" + size)
    with pytest.raises(BrokenFileError, match="do not overlap"):
        Archive(path)


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_zip_directory, "MAX_MEMBERS", 10)
    names = [(str(n), b"", maker.STORED) for n in range(11)]
    for directory in (True, False):
        path = archive(tmp_path / f"{directory}.zip", *names, directory=directory)
        with pytest.raises(BrokenFileError, match="more than 10 members"):
            Archive(path)


def test_without_a_directory_members_are_found_by_walking(tmp_path: Path) -> None:
    members = [("a", TEXT, maker.ZSTD), ("b", TEXT, maker.DEFLATE), ("c", b"PK\x03\x04 inside", maker.STORED)]
    path = archive(tmp_path / "a.zip", *members, directory=False)
    assert contents(path) == {name: data for name, data, _ in members}
    with Archive(path) as opened:
        assert opened.salvage is not None
        assert "no central directory" in opened.salvage.why
        assert opened.salvage.cut is None


def test_cut_anywhere_everything_whole_is_found(tmp_path: Path) -> None:
    members = [(str(n), bytes([65 + n]) * (50 + n), maker.STORED) for n in range(5)]
    data = archive(tmp_path / "a.zip", *members).read_bytes()
    ends = [data.index(bytes([65 + n]) * (50 + n)) + 50 + n for n in range(5)]
    path = tmp_path / "cut.zip"
    for stop in range(len(data)):
        path.write_bytes(data[:stop])
        whole = sum(end <= stop for end in ends)
        if not whole:
            with pytest.raises(BrokenFileError, match="no whole member"):
                Archive(path)
            continue
        with Archive(path) as opened:
            assert [m.name for m in opened.members] == [str(n) for n in range(whole)]
            assert opened.salvage is not None


def test_sizes_behind_the_content(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):
        """zipfile writes data descriptors when it cannot seek."""

        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.data += data
            return len(data)

    pipe, inside = Pipe(), b"a descriptor PK\x07\x08 that is none" * 3
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as file:  # type: ignore[type-var]
        file.writestr("a", TEXT)
        file.writestr("b", TEXT * 2)
        file.writestr(zipfile.ZipInfo("c"), inside)  # stored
    path = tmp_path / "a.zip"
    path.write_bytes(pipe.data)
    assert contents(path) == {"a": TEXT, "b": TEXT * 2, "c": inside}
    path.write_bytes(pipe.data[: pipe.data.index(b"PK\x01\x02")])
    assert contents(path) == {"a": TEXT, "b": TEXT * 2, "c": inside}


@pytest.mark.parametrize("extra", [b"", b"\x01", b"\x01\x00\x08\x00", b"\x01\x00\xff\xff" + b"\xff" * 24])
def test_sizes_of_64_bits_that_lie(tmp_path: Path, extra: bytes) -> None:
    big, length = 0xFFFFFFFF, struct.pack("<HH", 1, len(extra))
    facts = struct.pack("<HHHHIII", 20, 0x800, 0, 0, 0, 0, big) + struct.pack("<I", big) + length
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + facts + struct.pack("<HHHII", 0, 0, 0, 0, big) + b"a" + extra
    local = b"PK\x03\x04" + facts + b"a" + extra
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    path = tmp_path / "a.zip"
    for content in (local + entry + end, local + b"x" * 99):
        path.write_bytes(content)
        with pytest.raises(BrokenFileError, match=r"do not overlap|no whole member"):
            Archive(path)


def test_a_member_behind_the_end(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT, maker.STORED))
    with Archive(path) as opened:
        for at in (path.stat().st_size, 2**64 - 1):
            with pytest.raises(BrokenFileError, match="behind the end"):
                opened.read(opened.members[0]._replace(at=at))


def test_a_damaged_directory_is_no_directory(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a", TEXT, maker.ZSTD), ("b", TEXT, maker.ZSTD))
    data = path.read_bytes()
    path.write_bytes(data.replace(b"PK\x01\x02", b"XXXX", 1))
    with Archive(path) as opened:
        assert opened.salvage is not None
        assert [m.name for m in opened.members] == ["a", "b"]


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 10**6))
def test_any_bytes_give_members_or_one_error(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    data = bytearray(archive(folder / "good.zip", ("a", TEXT, maker.ZSTD), ("b", b"x" * 90, maker.STORED)).read_bytes())
    start = at % len(data)
    data[start : start + len(junk)] = junk
    for name, content in (("mixed.zip", bytes(data)), ("junk.zip", b"PK\x03\x04" + junk)):
        path = folder / name
        path.write_bytes(content)
        with suppress(BrokenFileError), Archive(path) as opened:
            for member in opened.members:
                with suppress(BrokenFileError):
                    assert zlib.crc32(opened.read(member)) == member.crc


def test_latest_keeps_the_last_of_equal_names_and_the_order() -> None:
    members = [Member(name, 0, 0, crc, 0, 0, 0) for crc, name in enumerate("abcab")]
    assert [(m.name, m.crc) for m in latest(members)] == [("c", 2), ("a", 3), ("b", 4)]


def test_names_are_shown_safely() -> None:
    assert shown("a\x1b[31m\nb\u202e") == "a\ufffd[31m\ufffdb\ufffd"
    assert len(shown("x" * 10_000)) == 120
