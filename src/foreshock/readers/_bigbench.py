"""Reader of BIG-bench: the results of one model on one task, ``scores_*.json`` and ``full-log_*.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import BrokenFileError, count_of
from foreshock.readers._bigbench_header import Part, aggregates, parts_of, run_of
from foreshock.readers._bigbench_samples import SampleRows, queries_of
from foreshock.readers._contain import reported
from foreshock.readers._files import source, whole
from foreshock.readers._json import UTF8_BOM, decode, fields
from foreshock.readers._plain import mapping, objects, pieces, words
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import Batch, RunStatus

_ANY = msgspec.json.Decoder(Any)
_SCORES = (b'"score_dict"', b'"preferred_score"', b'"number_of_shots"')
_MODEL = (b'"model_family"', b'"non_embedding_params"')


class BigBenchReader:
    """Reads results files, one run for each subtask and number of shots, and the queries logged in them."""

    name = "bigbench"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether scores or a model as BIG-bench writes them are among the first 64 KiB."""
        begin = candidate.head.removeprefix(UTF8_BOM).lstrip()
        return begin[:1] == b"{" and any(all(mark in begin for mark in marks) for marks in (_SCORES, _MODEL))

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file."""
        for candidate in candidates:
            path = candidate.path
            try:
                yield from self._file(path, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(path, reported(error, path))

    def _file(self, path: Path, options: ReadOptions) -> Iterator[Reading | Failure]:
        found = fields(whole(path), str(path))
        given: dict[str, Any] = {
            name: decode(bytes(found[name]), _ANY, str(path)) for name in ("scores", "task", "model") if name in found
        }
        scores, model = objects(given.get("scores")), mapping(given.get("model"))
        task = words(mapping(given.get("task")).get("task_name")) or ""
        parts = parts_of(task, scores)
        queries = queries_of(found.get("queries"), task, [(p.task, p.shots) for p in parts])
        known = {(p.task, p.shots) for p in parts}
        parts += [Part(name, shots, []) for name, shots in queries.by_part if (name, shots) not in known]
        if not parts:
            raise BrokenFileError("neither scores nor queries in it", expected="results of BIG-bench", where=str(path))
        origin = source(path)
        lost = len(given.get("scores") or []) - len(scores) if isinstance(given.get("scores"), list) else 0
        for place, part in enumerate(parts):
            run = run_of(part, model, origin, options, (self.name, self.version))
            notes = [f"{count_of(lost, 'entry', 'entries')} of scores could not be read"] if lost and not place else []
            if queries.unread and not place:
                notes.append(f"{count_of(queries.unread, 'query', 'queries')} could not be read")
            if notes:
                run = msgspec.structs.replace(run, warnings=[*run.warnings, *notes], status=RunStatus.PARTIAL)
            yield Reading(run, _batches(part, queries.by_part.get((part.task, part.shots), [])))


def _batches(part: Part, queries: list[msgspec.Raw]) -> Iterator[Batch]:
    rows, lost = SampleRows(part.shots), []
    try:
        yield from rows.batches(queries)
    except BaseException as error:  # noqa: BLE001 - the scores are kept
        lost.append(f"reading stopped: {reported(error, Path('queries'))}")
    yield from pieces(aggregates(part, rows.count or None))
    if warnings := [*rows.problems.sentences(), *lost]:
        yield Batch("runs", {"warnings": [warnings], "status": [RunStatus.PARTIAL.value]})
