"""A finding made small enough to read, and run again with the place where it happened."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from _fuzz.cases import Case, write
from _fuzz.judge import alike, judge
from foreshock._base import ForeshockError
from foreshock.readers import ReadOptions

_TRIES = 1_500


def replay(place: Path, reader: str) -> list[str]:
    """Run a recorded finding again, with the traceback of whatever was contained; what is found now."""
    case, options, direct, _ = recorded(place)
    original = ForeshockError.__init__

    def told(self: ForeshockError, found: str, **more: str | None) -> None:
        if found.startswith("unexpected ") and "content" not in found[:20]:
            traceback.print_exc()
        original(self, found, **more)

    ForeshockError.__init__ = told  # type: ignore[method-assign]
    try:
        return findings(case, reader, options, direct)
    finally:
        ForeshockError.__init__ = original  # type: ignore[method-assign]


def recorded(place: Path) -> tuple[Case, ReadOptions, bool, str]:
    """Case, options, whether the reader was called directly, and what was found."""
    about = json.loads((place / "about.json").read_text("utf-8"))
    case = msgspec.msgpack.decode((place / "case.msgpack").read_bytes(), type=dict[str, bytes])
    return case, msgspec.convert(about["options"], ReadOptions), about["direct"], about["finding"]


def findings(case: Case, reader: str, options: ReadOptions, direct: bool) -> list[str]:
    """What is wrong with a case."""
    with tempfile.TemporaryDirectory() as name:
        write(case, Path(name))
        return judge(Path(name), reader, options, direct=direct).findings


def smaller(place: Path, reader: str) -> Case:
    """The case with everything left out that the finding does not need."""
    case, options, direct, text = recorded(place)
    kind = alike(text)

    def still(tried: Case) -> bool:
        return any(alike(f) == kind for f in findings(tried, reader, options, direct))

    if not still(case):
        return case
    for name in list(case):
        rest = {n: d for n, d in case.items() if n != name}
        if rest and still(rest):
            case = rest
    for name in case:

        def with_this(data: bytes, name: str = name, rest: Case = case) -> bool:
            return still({**rest, name: data})

        case = {**case, name: _cut(case[name], with_this)}
    return case


def _cut(data: bytes, still: Callable[[bytes], bool]) -> bytes:
    """Leave out ever smaller pieces as long as the finding stays."""
    tries, width = 0, max(1, len(data) // 2)
    while width and tries < _TRIES:
        at = 0
        while at < len(data) and tries < _TRIES:
            rest = data[:at] + data[at + width :]
            tries += 1
            if still(rest):
                data = rest
            else:
                at += width
        width //= 2
    return data
