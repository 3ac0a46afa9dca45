"""Where the members of a zip are: from its central directory, or without one."""

from __future__ import annotations

import mmap
import struct
from typing import IO, NamedTuple

from foreshock._base import BrokenFileError

MAX_MEMBERS = 1_000_000
"""Most members of an archive; at 370 bytes each that is 0.4 GB of memory."""

_MAX_DIRECTORY = 256 * 2**20
_END_SEARCH = 22 + 0xFFFF
_ENTRY = struct.Struct("<4s4xHH4xIIIHHH8xI").unpack_from
_LOCAL = struct.Struct("<4s2xHH4xIIIHH").unpack_from
_BIG = 0xFFFFFFFF


class Member(NamedTuple):
    """One entry of an archive.

    Attributes:
        name: As stored; bytes that are not UTF-8 become lone surrogates, so that different names stay different.
        flags: General purpose bits; 1 is encrypted.
        method: Compression.
        crc: CRC-32 of the content.
        packed: Bytes in the file.
        size: Bytes of the content.
        at: Offset of the local header.
    """

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    at: int


class Directory(NamedTuple):
    """The members a central directory lists."""

    members: list[Member]


def find_directory(file: IO[bytes], where: str) -> Directory | str:
    """The central directory, or in words why there is none to use.

    Raises:
        BrokenFileError: It lists more than ``MAX_MEMBERS``.
    """
    length = file.seek(0, 2)
    file.seek(max(0, length - _END_SEARCH))
    tail = file.read(_END_SEARCH)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        return "the zip has no central directory (the file is cut off)"
    count, size, start = struct.unpack_from("<HII", tail, end + 10)
    stop = length - len(tail) + end
    big = tail.rfind(b"PK\x06\x07", 0, end)
    if big >= 0 and big == end - 20:
        at = struct.unpack_from("<Q", tail, big + 8)[0]
        file.seek(min(at, length))
        record = file.read(56)
        if record[:4] != b"PK\x06\x06" or len(record) < 56:
            return "the zip's ZIP64 directory record is damaged"
        count, size, start = struct.unpack_from("<QQQ", record, 32)
        stop = at
    # what was put before the archive moves every offset by as much
    shift = stop - size - start
    if shift < 0:
        return "the zip's central directory is cut off"
    if size > _MAX_DIRECTORY or count > MAX_MEMBERS:
        raise _too_many(where)
    file.seek(start + shift)
    return _parse(file.read(size), shift, where)


def _parse(data: bytes, shift: int, where: str) -> Directory | str:
    members, at = [], 0
    try:
        while at < len(data):
            sign, flags, method, crc, packed, size, name, extra, comment, offset = _ENTRY(data, at)
            if sign != b"PK\x01\x02":
                return "the zip's central directory is damaged"
            stop = at + 46 + name
            text = data[at + 46 : stop].decode("utf-8", "surrogateescape")
            if _BIG in (packed, size, offset):
                size, packed, offset = _zip64(data[stop : stop + extra], size, packed, offset)
            members.append(Member(text, flags, method, crc, packed, size, offset + shift))
            if len(members) > MAX_MEMBERS:
                raise _too_many(where)
            at = stop + extra + comment
    except struct.error:
        return "the zip's central directory is damaged"
    return Directory(members) if members else "the zip's central directory is empty"


def _zip64(extra: bytes, *values: int) -> list[int]:
    """``values`` with those that did not fit into 32 bits taken from the ZIP64 extra field, in its order."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            count = min(length, len(extra) - at - 4) // 8
            long = iter(struct.unpack_from(f"<{count}Q", extra, at + 4))
            return [next(long, v) if v == _BIG else v for v in values]
        at += 4 + length
    return list(values)


def scan(file: IO[bytes], where: str) -> tuple[list[Member], str | None]:
    """Members found by walking from local header to local header.

    Returns:
        The whole members, and the name of the one in which the file ends (None when it ends after one).
    """
    if not file.seek(0, 2):
        return [], None
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        members: list[Member] = []
        at = data.find(b"PK\x03\x04")
        while at >= 0:
            found = _local(data, at)
            if isinstance(found, str):
                return members, found
            member, at = found
            members.append(member)
            if len(members) > MAX_MEMBERS:
                raise _too_many(where)
            if data[at : at + 4] in (b"PK\x01\x02", b"PK\x06\x06", b"PK\x05\x06"):
                break
            at = data.find(b"PK\x03\x04", at)
        return members, None


def _local(data: mmap.mmap, at: int) -> tuple[Member, int] | str:
    """The member at ``at`` and where it ends, or its name when the file ends first."""
    if at + 30 > len(data):
        return "(cut inside a header)"
    _, flags, method, crc, packed, size, name_length, extra_length = _LOCAL(data, at)
    start = at + 30 + name_length
    name = data[at + 30 : start].decode("utf-8", "surrogateescape")
    if _BIG in (packed, size):
        size, packed = _zip64(data[start : start + extra_length], size, packed)
    start += extra_length
    stop = start + packed
    if flags & 8 and not packed:
        described = _descriptor(data, start)
        if described is None:
            return name
        crc, packed, size, stop = described
    return name if stop > len(data) else (Member(name, flags, method, crc, packed, size, at), stop)


def _descriptor(data: mmap.mmap, start: int) -> tuple[int, int, int, int] | None:
    """CRC, packed size, size and end of a member whose sizes stand after it: the first record that fits."""
    at = data.find(b"PK\x07\x08", start)
    while at >= 0:
        for form in ("<III", "<IQQ"):
            record = data[at + 4 : at + 4 + struct.calcsize(form)]
            if len(record) == struct.calcsize(form):
                crc, packed, size = struct.unpack(form, record)
                if packed == at - start:
                    return crc, packed, size, at + 4 + len(record)
        at = data.find(b"PK\x07\x08", at + 1)
    return None


def _too_many(where: str) -> BrokenFileError:
    return BrokenFileError(
        f"the zip lists more than {MAX_MEMBERS:,} members",
        expected="an evaluation log",
        do="split the log, or do not trust this file",
        where=where,
    )
