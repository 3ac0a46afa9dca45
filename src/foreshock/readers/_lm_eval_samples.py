"""Logged samples of lm-evaluation-harness: lines in, rows out, one pass, bounded memory."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._files import lines, open_bytes, whole
from foreshock.readers._json import UTF8_BOM, records
from foreshock.readers._lm_eval_line import LineDecoder

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_decode = msgspec.json.decode
SHOWN = 5


class Line(NamedTuple):
    """One line with its place in the run.

    Attributes:
        doc_id: The harness's id of the document.
        filter: Answer filter, named by the line or by its turn.
        body: The decoded line, see :class:`LineDecoder`.
        number: Where it is in the file.
        data: The line as it stands there.
    """

    doc_id: Any
    filter: str | None
    body: Any
    number: int
    data: bytes


class Problems:
    """Lines that could not be read: the first few are named, all are counted."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[str] = []

    def add(self, number: int, reason: str) -> None:
        """Note one line."""
        self.count += 1
        if len(self._first) < SHOWN:
            self._first.append(f"{number} ({reason})")

    def sentences(self) -> list[str]:
        """What to warn about."""
        if not self.count:
            return []
        more = f" and {self.count - len(self._first)} more" if self.count > len(self._first) else ""
        word = "line" if self.count == 1 else "lines"
        return [f"{self.count} {word} could not be read and left out: {', '.join(self._first)}{more}"]


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Encoded samples of a file: one a line, or (0.4.0 to 0.4.2) the elements of one array."""
    with open_bytes(path) as stream:
        head = stream.read(64).removeprefix(UTF8_BOM).lstrip()
    if head.startswith(b"["):
        for number, raw in enumerate(records(whole(path), str(path)), 1):
            yield number, bytes(raw)
        return
    with open_bytes(path) as stream:
        yield from lines(stream, str(path))


class SampleStream:
    """The lines of one file, cut into runs.

    The harness opens the file for appending: with a fixed name, two runs end up in one file. A run ends where its first
    document comes again under the same filter; any other repetition is kept as a repeated row of the run.

    Args:
        path: File of samples.
        filters: Names of the task's filters in order, when a results file tells.

    Attributes:
        problems: Lines that could not be read.
        decoder: Decoder of the lines.
        guessed_filters: Filters had to be told apart by what repeats.
        finished: The file is used up.
        between: The last part was used up.
    """

    def __init__(self, path: Path, filters: list[str] | None) -> None:
        self.path, self.problems, self.decoder = path, Problems(), LineDecoder()
        self.guessed_filters = self.finished = self.between = False
        self._filters: list[str | None] | None = [*filters] if filters else None
        self._source = raw_lines(path)
        self._next: Line | None = None

    def part(self) -> Iterator[Line]:
        """Lines of the next run in the file; afterwards ``finished`` tells whether it was the last."""
        seen: set[tuple[Any, str | None]] = set()
        turns: Counter[Any] = Counter()
        first: Any = None
        self.between = False
        while (line := self._take()) is not None:
            if not seen:
                first = line.doc_id
            named = line.filter
            if named is None:
                turn = turns[line.doc_id]
                filters = self._known_filters()
                named, again = filters[turn % len(filters)], turn >= len(filters)
                turns[line.doc_id] += 1
            else:
                again = (line.doc_id, named) in seen
            if again and line.doc_id == first:
                self._next, self.between = line, True
                return
            seen.add((line.doc_id, named))
            yield line if named is line.filter else line._replace(filter=named)
        self.finished = self.between = True

    def _known_filters(self) -> list[str | None]:
        if self._filters is None:
            self._filters = guess_filters(self.path)
            self.guessed_filters = len(self._filters) > 1
        return self._filters

    def _take(self) -> Line | None:
        if self._next is not None:
            line, self._next = self._next, None
            return line
        for number, data in self._source:
            try:
                body = self.decoder.decode(data)
            except BrokenFileError as error:
                cut = "" if data.endswith((b"\n", b"}")) else "cut off: "
                self.problems.add(number, f"{cut}{error.found}")
                continue
            doc_id = body.doc_id
            if doc_id is None:
                self.problems.add(number, "no doc_id")
                continue
            # true is not document 1
            name = doc_id if type(doc_id) in (int, str, float) else str(doc_id)
            return Line(name, body.filter, body, number, data)
        return None


def guess_filters(path: Path) -> list[str | None]:
    """Filters of a file that names none and has no results file: told apart by what repeats.

    Under several filters a document comes again with the same responses and, for some documents, another filtered
    answer; an appended second run has other responses, or the very same answers. Costs one more pass over the file.
    """
    seen: dict[Any, list[tuple[bytes, bytes]]] = {}
    for _, data in raw_lines(path):
        try:
            found = _FIELDS.decode(data)
            doc_id = str(_decode(found["doc_id"]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
            continue
        marks = [hashlib.blake2b(bytes(found.get(k, b"")), digest_size=8).digest() for k in ("resps", "filtered_resps")]
        seen.setdefault(doc_id, []).append((marks[0], marks[1]))
    times = {len(v) for v in seen.values()}
    count = times.pop() if len(times) == 1 else 1
    same = all(len({r for r, _ in v}) == 1 for v in seen.values())
    differ = any(len({f for _, f in v}) > 1 for v in seen.values())
    return [f"filter {k + 1}" for k in range(count)] if count > 1 and same and differ else [None]
