"""An Inspect log as a header and a stream of samples, whichever way it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._contain import reported
from foreshock.readers._inspect_header_types import Header, JsonLog
from foreshock.readers._inspect_json import Typed, convert, parse
from foreshock.readers._inspect_tally import Tally
from foreshock.readers._inspect_types import Sample
from foreshock.readers._json import check_encoding

MAX_JSON = 2**30
"""Largest ``.json`` log: it has to be held in memory whole."""

_ATTACHMENT = ("attachment://", "tc://")


class Texts:
    """Long texts that the writer moved out of the way.

    Args:
        load: Makes the table of them; called once, when the first reference is met.
    """

    __slots__ = ("_load", "_table")

    def __init__(self, load: Callable[[], dict[str, Any]]) -> None:
        self._load = load
        self._table: dict[str, Any] | None = None

    def __call__(self, text: str) -> str:
        """``text`` itself, or what it refers to; a reference to nothing stays as it is."""
        if not text.startswith(_ATTACHMENT):
            return text
        if self._table is None:
            self._table = self._load()
        found = self._table.get(text.partition("://")[2])
        return found if isinstance(found, str) else text


class Piece(NamedTuple):
    """One sample of a log, or what is known of one that is damaged.

    Attributes:
        where: Member or position, for messages.
        sample: The sample; of a damaged one only ``id`` and ``epoch``, as far as the log's summaries tell.
        texts: Resolves references to attachments.
        problem: None, or what is wrong with it.
    """

    where: str
    sample: Sample
    texts: Texts
    problem: str | None = None


class Log(NamedTuple):
    """A log that was opened.

    Attributes:
        header: Everything but the samples.
        pieces: The samples, in the order of the file.
        unlogged: The writer was told to leave the samples out.
        damage: What is wrong with the file as a whole, in words.
        started: No end of the run was written.
        salvaged: The file is cut off or damaged as a whole.
    """

    header: Header
    pieces: Iterator[Piece]
    unlogged: bool
    damage: list[str]
    started: bool = False
    salvaged: bool = False


class JsonReader:
    """Reads a ``.json`` log: one object with the samples in it."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self._path, self._tally = path, tally
        self._place = ""
        self._typed = Typed(Sample, self._odd)

    def open(self) -> Log:
        """Read the file.

        Raises:
            BrokenFileError: Too large, cut off, or not JSON.
        """
        size = self._path.stat().st_size
        if size > MAX_JSON:
            raise BrokenFileError(
                f"a .json log of {size:,} bytes has to be held in memory whole, above the limit of {MAX_JSON:,}",
                do="convert it: inspect log convert --to eval --output-dir DIR FILE",
            )
        data = self._path.read_bytes()
        check_encoding(data, str(self._path))
        header, samples = self._parse(data)
        return Log(header, self._pieces(samples or []), samples is None, [])

    def _parse(self, data: bytes) -> tuple[Header, list[Any] | None]:
        try:
            log = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=JsonLog)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value = parse(data, self._odd)
            samples = value.pop("samples", None) if isinstance(value, dict) else None
            header = convert(value, Header, "", self._odd)
            if not isinstance(header, Header):
                raise BrokenFileError("not an object", expected="an Inspect log") from None
            return header, samples if isinstance(samples, list) else None
        return log, log.samples

    def _pieces(self, samples: list[Any]) -> Iterator[Piece]:
        for number, found in enumerate(samples):
            self._place = f"samples[{number}]"
            yield self._piece(found)

    def _piece(self, found: Any) -> Piece:
        sample = Sample()
        problem = None
        try:
            raw = isinstance(found, msgspec.Raw)
            value = self._typed.decode(found) if raw else convert(found, Sample, "", self._odd)
            if isinstance(value, Sample):
                sample = value
            else:
                problem = "not an object"
        except BaseException as error:  # noqa: BLE001 - one bad sample is not the others
            problem = reported(error, self._path).found
        return Piece(self._place, sample, inline_texts(sample), problem)

    def _odd(self, path: str) -> None:
        self._tally.add("odd", f"{self._place}: {path}" if self._place else path)


def inline_texts(sample: Sample) -> Texts:
    """The attachments that a sample carries itself."""
    return Texts(partial(_inline, sample))


def _inline(sample: Sample) -> dict[str, Any]:
    old = sample.transcript.content if sample.transcript else None
    tables = [_table(raw) for raw in (sample.attachments, old) if raw is not None]
    return {k: v for table in tables for k, v in table.items()}


def _table(raw: msgspec.Raw) -> dict[str, Any]:
    try:
        return msgspec.json.decode(raw, type=dict[str, Any]) if bytes(raw) else {}
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
