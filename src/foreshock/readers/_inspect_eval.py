"""An ``.eval`` log: a zip of one member per sample, of chunked samples, or of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._contain import reported
from foreshock.readers._inspect_header_types import Header
from foreshock.readers._inspect_json import Typed
from foreshock.readers._inspect_log import Log, Piece, Texts, inline_texts
from foreshock.readers._inspect_tally import Tally
from foreshock.readers._inspect_types import Event, Message, Sample, Summary
from foreshock.readers._zip import Archive, latest, shown
from foreshock.readers._zip_directory import Member

_SEQUENCES = frozenset({"messages", "events", "calls", "attachments"})
_SINGLE = frozenset({"sample.json", "metadata.json", "skeleton.json"})
MAX_MESSAGES = 100_000

Unit = Member | dict[str, Member]


class EvalReader:
    """Reads an ``.eval`` log.

    Args:
        archive: The open zip; stays open while the samples are used.
        tally: Where oddities are counted.
    """

    def __init__(self, archive: Archive, tally: Tally) -> None:
        self._archive, self._tally = archive, tally
        self._units: dict[str, Unit] = {}
        self._other: dict[str, Member] = {}
        self._named: dict[str, Summary] | None = None
        self._place = ""
        self._sample = Typed(Sample, self._odd)
        self._messages = Typed(list[Message], self._odd)
        self._events = Typed(list[Event], self._odd)
        self._raw = Typed(msgspec.Raw, self._odd)

    def open(self) -> Log:
        """Find header and samples.

        Raises:
            BrokenFileError: Neither the header nor the journal's first entry can be read.
        """
        self._classify()
        header, started = self._header()
        damage = []
        if self._archive.salvage:
            why, cut = self._archive.salvage
            lost = f"; the file ends inside {shown(cut)}, which is lost with whatever came after" if cut else ""
            damage.append(f"{why}: {len(self._archive.members)} members were found by walking through it{lost}")
        elif started:
            damage.append("the log has no header.json: the run was not finished, or crashed")
        unlogged = not self._units and (
            header.eval is not None and (header.eval.config or {}).get("log_samples") is False
        )
        return Log(header, self._pieces(), unlogged, damage, started, self._archive.salvage is not None)

    def _classify(self) -> None:
        members = self._archive.members
        kept = list(latest(members))
        if len(kept) < len(members):
            seen = {id(m) for m in kept}
            for member in members:
                if id(member) not in seen:
                    self._tally.add("repeated", member.name)
        for member in kept:
            name = member.name
            if not name.startswith("samples/"):
                self._other[name] = member
            elif name.endswith(".json"):
                prefix, part = _split(name)
                if part is None:
                    if name in self._units:
                        self._tally.add("repeated", f"{name} (in pieces)")
                    self._units[name] = member
                else:
                    unit = self._units.setdefault(prefix, {})
                    if isinstance(unit, dict):
                        unit[part] = member
                    else:
                        self._tally.add("repeated", f"{name} (a piece of {prefix}, which is whole as well)")

    def _header(self) -> tuple[Header, bool]:
        typed, reasons = Typed(Header, self._odd), []
        for name in ("header.json", "_journal/start.json"):
            if name in self._other:
                self._place = name
                try:
                    header = typed.decode(self._archive.read(self._other[name]))
                    if header.eval is not None:
                        return header, name != "header.json"
                    reason = "no section eval"
                except BrokenFileError as error:
                    reason = error.found
                reasons.append(f"{name}: {reason}")
                self._tally.add("header", f"{name} ({reason})")
        why = f" ({'; '.join(reasons)})" if reasons else ""
        raise BrokenFileError(
            f"neither header.json nor _journal/start.json can be read, so that model and task are not known{why}",
            expected="an Inspect log",
            do="try: inspect log recover FILE",
            where=str(self._archive.path),
        )

    def _pieces(self) -> Iterator[Piece]:
        for name, unit in self._units.items():
            self._place = name
            try:
                if isinstance(unit, dict):
                    yield self._chunked(name, unit)
                else:
                    sample = self._sample.decode(self._archive.read(unit))
                    yield Piece(name, sample, inline_texts(sample))
            except BaseException as error:  # noqa: BLE001 - one bad sample is not the others
                problem = reported(error, self._archive.path).found
                known = self._name_of(name)
                empty = Sample(id=known.id, epoch=known.epoch)
                yield Piece(name, empty, inline_texts(empty), problem)

    def _chunked(self, name: str, parts: dict[str, Member]) -> Piece:
        if "sample.json" not in parts:
            raise BrokenFileError("its sample.json is absent")
        sample = self._sample.decode(self._archive.read(parts["sample.json"]))
        pool = dict(self._sequence(parts, "messages", self._messages))
        sample.messages = _referenced(pool, sample.message_refs or [])
        sample.events = [e for _, e in sorted(self._sequence(parts, "events", self._events), key=lambda p: p[0])]
        if "metadata.json" in parts:
            self._metadata(sample, parts["metadata.json"])
        return Piece(name, sample, Texts(lambda: self._attachments(parts)))

    def _sequence(self, parts: dict[str, Member], sequence: str, typed: Typed[list[Any]]) -> Iterator[tuple[int, Any]]:
        """Index and value of every element of a sequence; chunks are named by the index of their first."""
        for part, member in parts.items():
            folder, _, stem = part.removesuffix(".json").rpartition("/")
            if folder != sequence or not (stem.isascii() and stem.isdigit()):
                continue
            try:
                yield from enumerate(typed.decode(self._archive.read(member)), int(stem))
            except BrokenFileError as error:
                self._tally.add("chunk", f"{member.name} ({error.found})")

    def _metadata(self, sample: Sample, member: Member) -> None:
        try:
            sample.metadata = self._raw.decode(self._archive.read(member))
        except BrokenFileError as error:
            self._tally.add("chunk", f"{member.name} ({error.found})")

    def _attachments(self, parts: dict[str, Member]) -> dict[str, Any]:
        return {str(n): text for n, text in self._sequence(parts, "attachments", Typed(list[Any], self._odd))}

    def _name_of(self, unit: str) -> Summary:
        """Id and epoch of the sample that the writer would have stored under ``unit``."""
        if self._named is None:
            rows = [row for name in self._summaries() for row in self._rows(name)]
            self._named = {f"samples/{r.id}_epoch_{r.epoch}": r for r in rows}
        return self._named.get(unit.removesuffix(".json"), Summary())

    def _summaries(self) -> list[str]:
        if "summaries.json" in self._other:
            return ["summaries.json"]
        return [name for name in self._other if name.startswith("_journal/summaries/")]

    def _rows(self, name: str) -> list[Summary]:
        try:
            return Typed(list[Summary], self._odd).decode(self._archive.read(self._other[name]))
        except BrokenFileError as error:
            self._tally.add("header", f"{name} ({error.found})")
            return []

    def _odd(self, path: str) -> None:
        self._tally.add("odd", f"{self._place}: {path}")


def _split(name: str) -> tuple[str, str | None]:
    """Prefix and part of a member of a chunked sample; no part for a sample in one member.

    Ids may hold anything, slashes included, but a sample in one member always ends in ``_epoch_N.json``, and no part
    of a chunked one does.
    """
    tail = name[:-5].rpartition("_epoch_")[2]
    if tail.isdigit():
        return name, None
    prefix, _, last = name.rpartition("/")
    if last in _SINGLE:
        return prefix, last
    before, _, sequence = prefix.rpartition("/")
    return (before, f"{sequence}/{last}") if sequence in _SEQUENCES else (name, None)


def _referenced(pool: dict[int, Message], refs: list[list[int]]) -> list[Message]:
    """The conversation: half-open ranges of the pool, in order."""
    out: list[Message] = []
    for ref in refs:
        if len(ref) == 2:
            start, end = max(0, ref[0]), min(ref[1], ref[0] + MAX_MESSAGES)
            out += [pool[n] for n in range(start, end) if n in pool]
        if len(out) > MAX_MESSAGES:
            break
    return out[:MAX_MESSAGES]
