"""Files of hundreds of megabytes, or that expand to gigabytes: each is read once, in a process with bounds of its own.

Small logs that a reader knows are blown up at their end, so that their beginning is still recognised.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from _fuzz import zips
from _fuzz.cases import ROOT, Case, load, write

MEMORY = 4 * 2**30
"""Address space of a process beyond what it has after its imports."""

SECONDS = 300
"""CPU seconds of one giant."""

KEYS, DEPTH, DIGITS = 10_000_000, 10_000_000, 10_000_000
LINE = 300 * 2**20
BOMB = 3 * 2**30
MEMBERS = 1_200_000
COLUMNS = 200_000
_PIECE = 2**20


class Giant(NamedTuple):
    """One case: what it is, and what was measured."""

    reader: str
    what: str
    seconds: float
    megabytes: int
    said: str


def giants(reader: str) -> Iterator[Giant]:
    """Read every giant that the seeds of a reader can be blown up to."""
    done: set[str] = set()
    for case in load(reader):
        for name, data in case.items():
            for what, blow_up in _kinds(name, data):
                kind = f"{what} in {Path(name).suffix or name}"
                if kind not in done:
                    done.add(kind)
                    yield _one(reader, kind, case, name, blow_up)


def _kinds(name: str, data: bytes) -> Iterator[tuple[str, Callable[[IO[bytes], bytes], None]]]:
    begin = data.lstrip()[:1]
    if data.startswith(b"PK"):
        yield "a member that expands to 3 GiB", _member
        yield f"{MEMBERS:,} members", _members
    elif begin == b"{":
        yield f"{KEYS:,} keys", _keys
        yield f"{DEPTH:,} levels", _levels
        yield f"a number of {DIGITS:,} digits", _digits
        yield "a text of 300 MiB", _text
        yield "gzip that expands to 3 GiB", _gzip
    elif begin == b"[":
        yield f"{KEYS:,} elements", _elements
    elif name.endswith((".csv", ".tsv")):
        yield f"{COLUMNS:,} columns", _columns
        yield "a field of 300 MiB", _field


def _one(reader: str, what: str, case: Case, name: str, blow_up: Callable[[IO[bytes], bytes], None]) -> Giant:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "logs"
        folder.mkdir()
        write(case, folder)
        with (folder / name).open("wb") as file:
            blow_up(file, case[name])
        command = [sys.executable, str(ROOT / "tools" / "fuzz.py"), reader, "--giant", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peak = _watched(process)
        out, err = process.communicate()
    if process.returncode:
        return Giant(reader, what, 0.0, peak >> 20, f"died with {process.returncode}: {(out + err)[-600:]}")
    found = json.loads(out)
    return Giant(reader, what, found["seconds"], (peak - found["before"]) >> 20, found["said"])


def _watched(process: subprocess.Popen[str]) -> int:
    """Most memory that a process was seen to hold until it ended; its own count of that is its parent's, too."""
    peak, page = 0, resource.getpagesize()
    while process.poll() is None:
        try:
            peak = max(peak, int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * page)
        except (OSError, IndexError):
            break
        time.sleep(0.02)
    return peak


def read(folder: Path) -> None:
    """In a process of its own: read the folder within the bounds, and print what came of it."""
    from _fuzz.judge import judge
    from foreshock.readers import ReadOptions

    page = resource.getpagesize()
    used, before = (int(n) * page for n in Path("/proc/self/statm").read_text().split()[:2])
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    start = time.process_time()
    verdict = judge(folder, "", ReadOptions(), frames=False)
    telling = ("failure", "late", "run", "warning")
    told = verdict.findings or sorted(line for line in verdict.shape if line.startswith(telling))
    said = "; ".join(told)[:200]
    facts = {"seconds": round(time.process_time() - start, 1), "before": before, "said": said}
    print(json.dumps({**facts, "findings": verdict.findings}))
    sys.stdout.flush()
    os._exit(1 if verdict.findings else 0)


def _at_end(file: IO[bytes], data: bytes, pieces: Iterator[bytes]) -> None:
    """``data`` with more members put before the last brace."""
    at = data.rstrip().rfind(b"}")
    file.write(data[:at] + b",")
    for piece in pieces:
        file.write(piece)
    file.write(data[at:])


def _keys(file: IO[bytes], data: bytes) -> None:
    blocks = range(0, KEYS, 10_000)
    rows = (",".join(f'"k{n}":{n}' for n in range(start, start + 10_000)).encode() for start in blocks)
    _at_end(file, data, (row if n == 0 else b"," + row for n, row in enumerate(rows)))


def _levels(file: IO[bytes], data: bytes) -> None:
    _at_end(file, data, iter([b'"deep":', b"[" * DEPTH, b"]" * DEPTH]))


def _digits(file: IO[bytes], data: bytes) -> None:
    _at_end(file, data, iter([b'"long":', b"7" * DIGITS]))


def _text(file: IO[bytes], data: bytes) -> None:
    _at_end(file, data, iter([b'"long":"', *[b"a" * _PIECE] * (LINE // _PIECE), b'"']))


def _elements(file: IO[bytes], data: bytes) -> None:
    at = data.rstrip().rfind(b"]")
    file.write(data[:at] + b",1" * KEYS + data[at:])


def _gzip(file: IO[bytes], data: bytes) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as out:
        _at_end(out, data, iter([b'"long":"', *[b"a" * _PIECE] * (BOMB // _PIECE), b'"']))  # type: ignore[arg-type]


def _columns(file: IO[bytes], data: bytes) -> None:
    lines = data.splitlines()
    file.write(lines[0] + b"".join(b",c%d" % n for n in range(COLUMNS)) + b"\n")
    file.writelines(line + b",1" * COLUMNS + b"\n" for line in lines[1:3])


def _field(file: IO[bytes], data: bytes) -> None:
    file.write(data.rstrip(b"\n") + b"\n")
    for _ in range(LINE // _PIECE):
        file.write(b"a" * _PIECE)


def _member(file: IO[bytes], data: bytes) -> None:
    """The last member replaced by one that tells the truth about its 3 GiB."""
    members = zips.unpack(data)
    deflate, crc, packed = zlib.compressobj(1, wbits=-15), 0, bytearray()
    for _ in range(BOMB // _PIECE):
        crc = zlib.crc32(b" " * _PIECE, crc)
        packed += deflate.compress(b" " * _PIECE)
    packed += deflate.flush()
    last = zips.Member(members[-1].name, b"", zips.DEFLATE, size=BOMB, crc=crc, kept=bytes(packed))
    file.write(zips.pack(zips.Whole([*members[:-1], last])))


def _members(file: IO[bytes], data: bytes) -> None:
    """More members than the limit, all of them empty."""
    more = [zips.Member(b"%d" % n, b"", zips.STORED) for n in range(MEMBERS)]
    file.write(zips.pack(zips.Whole([*zips.unpack(data), *more])))
