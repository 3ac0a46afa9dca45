"""Reader of lighteval: results files, and details in Parquet from the first Open LLM Leaderboard to today."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from foreshock._base import BrokenFileError, ForeshockError
from foreshock.readers._contain import reported
from foreshock.readers._files import source
from foreshock.readers._json import UTF8_BOM, text
from foreshock.readers._lighteval_details import DetailRows, Details, is_details
from foreshock.readers._lighteval_results import Place, Results, is_results, place_of, read_results, when
from foreshock.readers._plain import Problems, pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import Batch, Run, RunStatus, Source, ingest_id, run_key


class LightevalReader:
    """Reads results files (one run per task) together with the details of the same moment."""

    name = "lighteval"
    version = 2

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is a results file, or Parquet with the columns of details."""
        return is_results(candidate.head.removeprefix(UTF8_BOM).lstrip()) or is_details(candidate)

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file; details belong to the results of the same moment and model."""
        results: dict[Path, bool] = {}
        details: dict[Path, bool] = {}
        for candidate in candidates:
            (details if candidate.head.startswith(b"PAR1") else results)[candidate.path] = candidate.beside
        free = {path: place_of(path) for path in details}
        for path, brought in results.items():
            try:
                yield from self._results(path, free, options, whole=not brought)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(path, reported(error, path))
        for path, place in list(free.items()):
            if details[path]:
                continue  # brought by results that it turned out not to belong to
            try:
                yield self._alone(path, place, options)
            except BaseException as error:  # noqa: BLE001
                yield Failure(path, reported(error, path))

    def _results(
        self, path: Path, free: dict[Path, Place], options: ReadOptions, *, whole: bool
    ) -> Iterator[Reading | Failure]:
        """The runs of a results file; unless it is read as a ``whole``, those of which the details are there."""
        found, origin = read_results(path), source(path)
        if not found.tasks:
            raise BrokenFileError("no task under results", expected="means by task", where=str(path))
        moment = place_of(path).moment
        own = {p: at for p, at in free.items() if moment and at.moment == moment and found.is_of(at)}
        for task in found.tasks:
            beside = next((p for p, at in own.items() if found.task_of(at) == task), None)
            if beside is None and not whole:
                continue
            sources, details, lost = [origin], None, []
            if beside is not None:
                del free[beside], own[beside]
                try:
                    sources, details = [origin, source(beside)], Details(beside)
                except ForeshockError as error:
                    yield Failure(beside, error)
                    lost = [f"its details are not read: {error.found}"]
            yield self._reading(found, task, sources, details, lost, options)

    def _reading(
        self,
        found: Results,
        task: str,
        sources: list[Source],
        details: Details | None,
        lost: list[str],
        options: ReadOptions,
    ) -> Reading:
        place = place_of(Path(sources[0].path))
        conditions = found.conditions(task)
        model = options.model or found.model or place.model or "unknown"
        created = when(place.moment)
        run = Run(
            run_key=run_key("lighteval", model, place.moment or sources[0].sha256, task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            writer=found.writer,
            model=model,
            task=found.name_of(task),
            task_version=found.version(task),
            conditions=conditions,
            created=created,
            prompt_hash=found.prompt_hash(task),
            scorer_hash=found.scorer_hash(task),
            sources=sources,
            expected=found.size(task) if details is not None else None,
            status=RunStatus.PARTIAL if lost else RunStatus.COMPLETE,
            warnings=lost,
            guesses=[*([] if found.model or options.model else ["model"]), *(["created"] if created else [])],
            meta=found.meta(task),
        )
        return Reading(self._finish(run, options), _batches(found.aggregates(task), details))

    def _alone(self, path: Path, place: Place, options: ReadOptions) -> Reading:
        details, origin = Details(path), source(path)
        model = options.model or place.model or text(path.absolute().parent.name)
        created = when(place.moment)
        run = Run(
            run_key=run_key("lighteval", model, place.moment or origin.sha256, place.task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model,
            task=options.task or place.name,
            conditions={"shots": place.shots} if place.shots else {},
            created=created,
            sources=[origin],
            warnings=["no results file of the same moment: model and task are guessed from the path"],
            guesses=[
                *([] if options.model else ["model"]),
                *([] if options.task else ["task"]),
                *(["created"] if created else []),
            ],
        )
        return Reading(self._finish(run, options), _batches(None, details))

    def _finish(self, run: Run, options: ReadOptions) -> Run:
        identity = {"model": options.model, "task": options.task}
        return msgspec.structs.replace(run, ingest_id=ingest_id(run.run_key, run.sources, run.reader, identity))


def _batches(aggregates: Batch | None, details: Details | None) -> Iterator[Batch]:
    if aggregates is not None:
        yield from pieces(aggregates)
    if details is None:
        return
    rows = DetailRows(Problems("row"), details)
    problems: list[str] = []
    try:
        yield from rows.batches(details.rows(), rows.take)
    except BaseException as error:  # noqa: BLE001 - what was read is kept
        problems.append(f"reading stopped: {reported(error, details.path)}")
        yield from rows.rest()
    yield from rows.late(*problems)
