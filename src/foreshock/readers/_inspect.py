"""Reader of Inspect logs: ``.eval`` and ``.json``, every version since 2024."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from foreshock._base import BrokenFileError
from foreshock.readers._contain import reported
from foreshock.readers._files import source
from foreshock.readers._inspect_eval import EvalReader
from foreshock.readers._inspect_header import NAME, VERSION, expected, run_of
from foreshock.readers._inspect_header_types import Spec
from foreshock.readers._inspect_log import JsonReader, Log
from foreshock.readers._inspect_sample import SampleRows
from foreshock.readers._inspect_scores import Aggregate, aggregates
from foreshock.readers._inspect_tally import Tally
from foreshock.readers._plain import pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._rows import item_name
from foreshock.readers._zip import Archive
from foreshock.records import Batch, Run, RunStatus

_MARKS = frozenset({"header.json", "_journal/start.json"})
# A zip without a directory shows the names of its first members in the local headers at its beginning.
_LOCAL_NAME = re.compile(rb"PK\x03\x04.{26}(?:_journal/|header\.json|samples/|summaries\.json)", re.DOTALL)
_JSON_MARKS = (b'"eval"', b'"status"')
_SPEC_MARKS = (b'"task"', b'"model"', b'"run_id"', b'"task_id"', b'"created"')
_MAX_ABSENT = 20


class InspectReader:
    """Reads the logs of ``inspect_ai`` (and of the R package ``vitals``, which writes the same)."""

    name = NAME
    version = VERSION

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002
        """Whether the content is an Inspect log: a zip with its header or journal, or an object with ``eval``."""
        if candidate.members:
            return not _MARKS.isdisjoint(candidate.members)
        head = candidate.head
        if head.startswith(b"PK\x03\x04"):
            return _LOCAL_NAME.match(head) is not None
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith(b"{") or not all(mark in head for mark in _JSON_MARKS):
            return False
        return sum(mark in head for mark in _SPEC_MARKS) >= 3

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read each file as one run."""
        for candidate in candidates:
            try:
                yield from _read(candidate.path, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(candidate.path, reported(error, candidate.path))


def _read(path: Path, options: ReadOptions) -> Iterator[Reading]:
    with path.open("rb") as file:
        zipped = file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    tally = Tally()
    if not zipped:
        yield _reading(path, JsonReader(path, tally).open(), tally, options)
        return
    with Archive(path) as archive:
        yield _reading(path, EvalReader(archive, tally).open(), tally, options)


def _reading(path: Path, log: Log, tally: Tally, options: ReadOptions) -> Reading:
    if log.header.eval is None:
        raise BrokenFileError("there is no section eval in it", expected="an Inspect log", where=str(path))
    run = run_of(log, source(path), tally.sentences(), options)
    return Reading(run, _batches(run, log, tally))


def _batches(run: Run, log: Log, tally: Tally) -> Iterator[Batch]:
    try:
        found = list(aggregates(log.header, tally))
    except BaseException as error:  # noqa: BLE001 - the samples are kept
        found = []
        tally.add("header", f"results ({reported(error, Path()).found})")
    if found:
        columns = zip(*found, strict=True)
        yield from pieces(Batch("aggregates", dict(zip(Aggregate._fields, map(list, columns), strict=True))))
    rows = SampleRows(log.header, tally)
    yield from rows.batches(log.pieces)
    yield from _late(run, log, rows, tally)


def _late(run: Run, log: Log, rows: SampleRows, tally: Tally) -> Iterator[Batch]:
    """What only shows at the end: samples that are absent, and everything that was odd on the way."""
    announced = expected(log.header)
    absent = max(0, (announced or 0) - len(rows.present))
    bad = tally.count("bad")
    notes = tally.sentences()
    facts: dict[str, list[object]] = {}
    if absent and not log.unlogged:
        state = "cancelled" if run.status == RunStatus.CANCELLED else "missing"
        meta = {"absent": absent, "absent_state": state}
        ids = _absent_ids(log, rows, announced)
        facts["meta"] = [{**run.meta, **meta, **({"absent_ids": ids} if ids else {})}]
        notes.append(f"{absent} of {announced} announced samples are not in the log")
    if (bad or (absent and not log.unlogged)) and run.status == RunStatus.COMPLETE:
        facts["status"] = [RunStatus.PARTIAL]
    if notes:
        facts["warnings"] = [notes]
    if facts:
        yield Batch("runs", facts)


def _absent_ids(log: Log, rows: SampleRows, announced: int | None) -> list[list[object]]:
    """The first absent (id, epoch) pairs, when the header lists the ids and they account for what it announces."""
    spec = log.header.eval or Spec()
    ids = (spec.dataset and spec.dataset.sample_ids) or []
    epochs = (spec.config or {}).get("epochs") or 1
    if not isinstance(epochs, int) or len(ids) * epochs != announced:
        return []
    planned = ((item_name(str(i)), e) for e in range(1, epochs + 1) for i in ids)
    return [list(p) for p in islice((p for p in planned if p not in rows.present), _MAX_ABSENT)]
