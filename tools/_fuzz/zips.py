"""Archives that no good writer makes: members damaged, sizes that lie, names that escape, bombs."""

# ruff: noqa: ARG001 - every change of one kind takes the same arguments

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import zstandard

from _fuzz.odd import MEMBERS

STORED, DEFLATE, ZSTD = 0, 8, 93
_LIES = (0, 1, 2**16, 2**20, 2**29, 2**31, 2**32 - 2, 2**32 - 1)
_MOST = 2**22
_BOMBS = (2**16, 2**20, 2**23, 2**26)
_LOCAL = struct.Struct("<4sHHHHHIIIHH")


@dataclass
class Member:
    """One member, and the lies that are told about it; ``kept`` is its content as it was packed before."""

    name: bytes
    data: bytes
    method: int = DEFLATE
    flags: int = 0x800
    frames: int = 1
    size: int | None = None
    packed: int | None = None
    crc: int | None = None
    at: int | None = None
    extra: bytes = b""
    listed: bool = True
    kept: bytes | None = None


@dataclass
class Whole:
    """What stands around the members."""

    members: list[Member]
    before: bytes = b""
    comment: bytes = b""
    count: int | None = None
    directory: bool = True


def unpack(data: bytes) -> list[Member]:
    """The members of a sound archive, found from local header to local header.

    Raises:
        ValueError: It is not sound.
    """
    members, at = [], 0
    while data[at : at + 4] == b"PK\x03\x04" and at + 30 <= len(data):
        _, _, flags, method, _, _, _, packed, _, name, extra = _LOCAL.unpack_from(data, at)
        start = at + 30 + name + extra
        content = data[start : start + packed]
        if flags & 8 and not packed:
            raise ValueError("sizes behind the content")
        members.append(Member(data[at + 30 : at + 30 + name], _decoded(content, method), method, kept=content))
        at = start + packed
    if not members:
        raise ValueError("no members")
    return members


def _decoded(packed: bytes, method: int) -> bytes:
    try:
        if method == DEFLATE:
            return zlib.decompressobj(-15).decompress(packed, _MOST)
        if method == ZSTD:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
                return bytes(stream.read(_MOST))
    except (zlib.error, zstandard.ZstdError) as error:
        raise ValueError(str(error)) from None
    return packed


def pack(whole: Whole) -> bytes:
    """The archive, lies included."""
    out, entries = bytearray(whole.before), bytearray()
    for m in whole.members:
        content = packed(m)
        facts = _facts(m, content)
        at = len(out) if m.at is None else m.at
        if m.listed:
            entries += b"PK\x01\x02" + struct.pack("<H", 20) + facts
            entries += struct.pack("<HHHII", 0, 0, 0, 0, min(at, 2**32 - 1)) + m.name[:65_535] + m.extra
        out += b"PK\x03\x04" + facts + m.name[:65_535] + m.extra + content
    if whole.directory:
        count = len(whole.members) if whole.count is None else whole.count
        start = min(len(out), 2**32 - 1)
        out += entries
        shown = (count & 0xFFFF,) * 2
        out += b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, *shown, len(entries), start, len(whole.comment))
        out += whole.comment
    return bytes(out)


def packed(m: Member) -> bytes:
    """Content of a member as it stands in the file."""
    if m.kept is not None:
        return m.kept
    if m.method == DEFLATE:
        deflate = zlib.compressobj(wbits=-15, level=1)
        return deflate.compress(m.data) + deflate.flush()
    if m.method == ZSTD:
        width = max(1, -(-len(m.data) // m.frames))
        pieces = [m.data[i : i + width] for i in range(0, len(m.data), width)] or [b""]
        writer = zstandard.ZstdCompressor(level=1, write_content_size=m.frames % 2 == 1)
        return b"".join(writer.compress(piece) for piece in pieces)
    return m.data


def _facts(m: Member, content: bytes) -> bytes:
    def said(lie: int | None, true: int) -> int:
        return (true if lie is None else lie) & 0xFFFFFFFF

    crc, short = said(m.crc, zlib.crc32(m.data)), said(m.packed, len(content))
    sizes = (crc, short, said(m.size, len(m.data)), min(len(m.name), 65_535), len(m.extra))
    return struct.pack("<HHHHHIIIHH", 20, m.flags, m.method, 0, 0x5A21, *sizes)


def mutate(data: bytes, noise: random.Random, inside: Callable[[str, bytes], bytes]) -> bytes:
    """The archive with some of its members, or what is said of them, changed.

    Args:
        data: A sound archive.
        noise: Randomness.
        inside: Changes the content of a member of that name.

    Raises:
        ValueError: ``data`` is not a sound archive.
    """
    whole = Whole(unpack(data))
    for _ in range(noise.choice((1, 1, 1, 2, 3))):
        at = noise.randrange(len(whole.members))
        if noise.random() < 0.6:
            m = whole.members[at]
            whole.members[at] = replace(m, kept=None, data=inside(m.name.decode("utf-8", "replace"), m.data))
        else:
            noise.choice(_CHANGES)(whole, at, noise)
        if not whole.members:
            break
    return pack(whole)


def _name(whole: Whole, at: int, noise: random.Random) -> None:
    name = noise.choice(MEMBERS).encode("utf-8", "surrogateescape")
    if noise.random() < 0.3:
        name = noise.choice(whole.members).name
    whole.members[at] = replace(whole.members[at], name=name)


def _drop(whole: Whole, at: int, noise: random.Random) -> None:
    del whole.members[at]


def _twice(whole: Whole, at: int, noise: random.Random) -> None:
    more = noise.choice((1, 1, 2, 300))
    whole.members[at:at] = [replace(whole.members[at]) for _ in range(more)]


def _order(whole: Whole, at: int, noise: random.Random) -> None:
    noise.shuffle(whole.members)


def _method(whole: Whole, at: int, noise: random.Random) -> None:
    method = noise.choice((STORED, DEFLATE, ZSTD, ZSTD, 12, 14, 99, 65_535))
    whole.members[at] = replace(whole.members[at], kept=None, method=method, frames=noise.choice((1, 2, 3, 20)))


def _size(whole: Whole, at: int, noise: random.Random) -> None:
    setattr(whole.members[at], noise.choice(("size", "packed", "crc", "at")), noise.choice(_LIES))


def _flags(whole: Whole, at: int, noise: random.Random) -> None:
    whole.members[at] = replace(whole.members[at], flags=noise.choice((0, 1, 8, 0x801, 0x808, 0xFFFF)))


def _extra(whole: Whole, at: int, noise: random.Random) -> None:
    long = struct.pack("<HHQQQ", 1, 24, *(noise.choice((0, 1, 2**40, 2**63, 2**64 - 1)) for _ in range(3)))
    cut = long[: noise.randrange(len(long) + 1)]
    whole.members[at] = replace(whole.members[at], extra=noise.choice((long, cut, b"\xff" * 9)))
    if noise.random() < 0.7:
        whole.members[at] = replace(whole.members[at], size=2**32 - 1)


def _bomb(whole: Whole, at: int, noise: random.Random) -> None:
    length = noise.choice(_BOMBS[:-1] if noise.random() < 0.98 else _BOMBS)
    byte = noise.choice((b"\x00", b" ", b"[", b"1", b"a"))
    opened = noise.choice((b"", b"[", b'{"a":"', b'{"samples":[', whole.members[at].data[:50]))
    method = noise.choice((DEFLATE, ZSTD))
    whole.members[at] = replace(whole.members[at], kept=None, data=opened + byte * length, method=method)


def _around(whole: Whole, at: int, noise: random.Random) -> None:
    how = noise.random()
    if how < 0.2:
        whole.before = noise.choice((b"junk", b"PK\x03\x04", b"#!/bin/sh\n" * 50))
    elif how < 0.4:
        whole.comment = noise.choice((b"x" * 300, b"PK\x05\x06" + b"\x00" * 18, b"PK\x06\x07" + b"\xff" * 16))
    elif how < 0.6:
        whole.count = noise.choice((0, 1, 0xFFFF, 7))
    elif how < 0.8:
        whole.directory = False
    else:
        whole.members[at] = replace(whole.members[at], listed=False)


_CHANGES = (_name, _name, _drop, _drop, _twice, _order, _method, _size, _size, _flags, _extra, _bomb, _around)
