"""Reader of HELM: the folder of one run, as ``helm-run`` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import UnknownFormatError
from foreshock.readers._contain import reported
from foreshock.readers._helm_files import PER_INSTANCE, RUN_SPEC, STATE, STATS, Parts, is_part, load
from foreshock.readers._helm_header import run_of
from foreshock.readers._helm_rows import HelmRows
from foreshock.readers._helm_stats import InstanceStats, aggregates
from foreshock.readers._plain import Problems, moment, pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import Batch, Run, RunStatus


class HelmReader:
    """Reads the folder of a run whole, whichever of its files was given."""

    name = "helm"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the file is one of those that make a HELM run."""
        return is_part(candidate)

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every folder once."""
        seen: set[Path] = set()
        for candidate in candidates:
            folder = candidate.path.parent
            if folder in seen:
                continue
            seen.add(folder)
            try:
                yield from self._folder(folder, options)
            except BaseException as error:  # noqa: BLE001 - one bad folder is not the others
                yield Failure(candidate.path, reported(error, candidate.path))

    def _folder(self, folder: Path, options: ReadOptions) -> Iterator[Reading | Failure]:
        parts = load(folder)
        for failed, error in parts.failed.items():
            yield Failure(failed, error)
        if not parts.adapter and parts.stats is None and parts.per_instance is None:
            found = sorted(Path(s.path).name for s in parts.sources)
            for name in found:
                yield Failure(folder / name, _bare(folder, found))
            return
        run = run_of(parts, options, self.name, self.version)
        lost = [f"{p.name} is not read: {error.found}" for p, error in parts.failed.items()]
        if lost:
            run = msgspec.structs.replace(run, status=RunStatus.PARTIAL, warnings=[*run.warnings, *lost])
        yield Reading(run, self._batches(parts, run))

    def _batches(self, parts: Parts, run: Run) -> Iterator[Batch]:
        unread = [Problems(noun) for noun in ("request", "statistic", "mean")]
        rows = HelmRows(parts, InstanceStats(parts.per_instance, unread[1]), unread[0])
        yield from rows.batches()
        if parts.stats is not None:
            yield from pieces(aggregates(parts.stats, unread[2]))
        problems = [sentence for found in unread for sentence in found.sentences()]
        warnings = [*problems, *_absent(parts), *rows.warnings()]
        late: dict[str, list[Any]] = {"warnings": [warnings]} if warnings else {}
        if problems:
            late["status"] = [RunStatus.PARTIAL.value]
        if run.created is None and (created := moment(rows.latest)) is not None:
            late["created"] = [created]
        if late:
            yield Batch("runs", late)


def _bare(folder: Path, found: list[str]) -> UnknownFormatError:
    return UnknownFormatError(
        f"the folder of a HELM run with nothing to read but {', '.join(found)}",
        expected=f"{RUN_SPEC} with {STATE}, {PER_INSTANCE[0]} or {STATS}",
        do="copy the whole folder",
        where=str(folder),
    )


def _absent(parts: Parts) -> list[str]:
    """What the folder lacks."""
    gone = {p.name for p in parts.failed}
    found = []
    if parts.states is None and STATE not in gone:
        what = "items and scores come from the statistics" if parts.per_instance is not None else "there are only means"
        found.append(f"no {STATE}: the replies are not known, {what}")
    if parts.states is not None and parts.per_instance is None and not gone & {*PER_INSTANCE}:
        found.append(f"no {PER_INSTANCE[0]}: the responses have no scores of HELM's own")
    if parts.stats is None and STATS not in gone:
        found.append(f"no {STATS}: HELM's own means are not known")
    return found
