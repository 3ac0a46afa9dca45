"""Zip archives that nobody vouches for: bounded, checked, and readable when the disk filled up before the end.

``zipfile`` cannot read zstd members before Python 3.14, gives up when the central directory is missing, and takes
650 bytes of objects per member before anything can be refused. The directory is therefore read here: 50,000 members
in 0.05 CPU s against 0.15. Member names are only ever compared and shown, never used as paths.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from foreshock._base import BrokenFileError
from foreshock.readers._zip_directory import Directory, Member, find_directory, scan

if TYPE_CHECKING:
    from foreshock.readers._zstd import Zstd

MAX_SIZE = 512 * 2**20
"""Largest member, uncompressed. The largest sample known in the wild is 4 GB and is refused, with its name."""

MAX_RATIO = 1_000
"""Largest expansion of a member beyond 1 MiB, and of a whole archive beyond 1 GiB; repetitive logs reach 60."""

_STORED, _DEFLATE, _ZSTD = 0, 8, 93
_NAMES = {_STORED: "stored", _DEFLATE: "deflate", _ZSTD: "zstd"}


class Salvage(NamedTuple):
    """What became of an archive without a usable directory.

    Attributes:
        why: What is wrong with the directory.
        cut: Name of the member in which the file ends, when it ends in one.
    """

    why: str
    cut: str | None


class Archive:
    """An open zip file.

    Args:
        path: The file.

    Attributes:
        members: Every entry, in the order of the directory; equal names stay (the last one is valid).
        salvage: None for a whole archive; else the members were found by walking through the file.

    Raises:
        BrokenFileError: No member can be found, or the archive asks for more than the limits of this module.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb", buffering=0)
        self._length = self._file.seek(0, 2)
        self._zstd: Zstd | None = None
        self.salvage: Salvage | None = None
        try:
            self.members = self._directory()
            self._refuse_bombs()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._file.close()

    def read(self, member: Member) -> bytes:
        """Content of a member, with its length and checksum verified.

        Raises:
            BrokenFileError: It is damaged, encrypted, compressed in an unknown way or beyond the limits.
        """
        problem = _excess(member)
        if problem:
            raise self._broken(member, problem)
        try:
            out = self._decode(member, self._packed(member))
        except (ValueError, zlib.error) as error:
            raise self._broken(member, f"the content cannot be decompressed ({error})") from None
        if len(out) != member.size:
            more = "more" if len(out) > member.size else f"{len(out):,}"
            raise self._broken(member, f"the directory says {member.size:,} bytes, the member holds {more}")
        if zlib.crc32(out) != member.crc:
            raise self._broken(member, "the checksum does not match")
        return out

    def _directory(self) -> list[Member]:
        found = find_directory(self._file, str(self.path))
        if isinstance(found, Directory):
            return found.members
        members, cut = scan(self._file, str(self.path))
        self.salvage = Salvage(found, cut)
        if not members:
            raise BrokenFileError(
                f"{found}, and no whole member in it",
                expected="a zip archive",
                do="copy the file again, or remove it",
                where=str(self.path),
            )
        return members

    def _refuse_bombs(self) -> None:
        packed, size = sum(m.packed for m in self.members), sum(m.size for m in self.members)
        length = self._length
        if packed > length or size > max(2**30, MAX_RATIO * length):
            raise BrokenFileError(
                f"{len(self.members):,} members claim {packed:,} bytes packed and {size:,} unpacked "
                f"in a file of {length:,}",
                expected=f"members that do not overlap and expand at most {MAX_RATIO:,} times",
                do="do not trust this file; copy it again from where it was made",
                where=str(self.path),
            )

    def _packed(self, member: Member) -> memoryview:
        if member.at >= self._length:
            raise ValueError("it would begin behind the end of the file")
        self._file.seek(member.at)
        # one call for header and content; the extra field of the header is rarely longer than a ZIP64 size
        raw = self._file.read(30 + len(member.name) + 64 + member.packed)
        if raw[:4] != b"PK\x03\x04" or len(raw) < 30:
            raise ValueError("no member where the directory says one begins")
        name, extra = struct.unpack_from("<HH", raw, 26)
        end = 30 + name + extra + member.packed
        if len(raw) < end:
            raw += self._file.read(end - len(raw))
        return memoryview(raw)[30 + name + extra : end]

    def _decode(self, member: Member, packed: memoryview) -> bytes:
        if member.method == _ZSTD:
            if self._zstd is None:
                from foreshock.readers._zstd import Zstd

                self._zstd = Zstd()
            return self._zstd.decode(packed, member.size)
        if member.method == _DEFLATE:
            return zlib.decompressobj(-15).decompress(packed, member.size + 1)
        return bytes(packed)

    def _broken(self, member: Member, found: str) -> BrokenFileError:
        return BrokenFileError(found, where=f"{self.path}, member {shown(member.name)}")


def _excess(member: Member) -> str | None:
    if member.flags & 1:
        return "it is encrypted"
    if member.method not in _NAMES:
        return f"compression method {member.method} is not one of {', '.join(_NAMES.values())}"
    if member.size > MAX_SIZE:
        return f"it holds {member.size:,} bytes, above the limit of {MAX_SIZE:,}"
    if member.size > max(2**20, MAX_RATIO * member.packed):
        return f"it expands {member.size // max(1, member.packed):,} times, above the limit of {MAX_RATIO:,}"
    return None


def latest(members: list[Member]) -> Iterator[Member]:
    """Members without those that a later one of the same name replaces, in the order of the directory."""
    last = {m.name: n for n, m in enumerate(members)}
    return (m for n, m in enumerate(members) if last[m.name] == n)


def shown(text: str, length: int = 120) -> str:
    """Text from a log that is safe in a message: one line, printable, of bounded length.

    Examples:
        >>> shown("a" * 9, 5)
        'aaaa…'
        >>> shown("../x" + chr(27) + "[2J")
        '../x�[2J'
    """
    cut = text if len(text) <= length else text[: length - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in cut)
