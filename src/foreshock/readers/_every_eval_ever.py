"""Reader of Every Eval Ever: aggregate files, and the samples beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock.readers._contain import reported
from foreshock.readers._every_eval_ever_log import Log, Result, is_log, read_log, restored
from foreshock.readers._every_eval_ever_rows import LineRows
from foreshock.readers._every_eval_ever_samples import Group, SampleFile, is_samples
from foreshock.readers._files import source
from foreshock.readers._json import UTF8_BOM, text
from foreshock.readers._plain import Problems, pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import SCHEMA_VERSION, Batch, Counts, ModelCard, Run, RunStatus, Source, ingest_id, run_key

_SAMPLES = "_samples.jsonl"
_UNSCORED = "_unscored.foreshock"  # where our export puts what the format would make a zero of


class EveryEvalEverReader:
    """Reads aggregate files (a run for each evaluation in them) together with the samples that belong to them."""

    name = "every-eval-ever"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is an aggregate file or samples."""
        head = candidate.head.removeprefix(UTF8_BOM).lstrip()
        return is_log(head) or is_samples(head)

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file; samples belong to the aggregate file that names them, or whose name theirs begins with."""
        logs: dict[Path, bool] = {}
        samples: dict[Path, bool] = {}
        for candidate in candidates:
            head = candidate.head.removeprefix(UTF8_BOM).lstrip()
            (samples if is_samples(head) else logs)[candidate.path] = candidate.beside
        free = dict(samples)
        for path, brought in logs.items():
            try:
                yield from self._log(path, free, options, whole=not brought)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(path, reported(error, path))
        for path, brought in list(free.items()):
            if brought:
                continue
            try:
                yield from self._samples(path, options)
            except BaseException as error:  # noqa: BLE001
                yield Failure(path, reported(error, path))

    def _log(
        self, path: Path, free: dict[Path, bool], options: ReadOptions, *, whole: bool
    ) -> Iterator[Reading | Failure]:
        """The runs of an aggregate file; unless it is read as a ``whole``, those of which samples are there."""
        log, origin = read_log(path), source(path)
        beside = [path.with_name(name) for name in (log.samples, path.stem + _SAMPLES) if name]
        found = next((p for p in beside if p in free), None)
        apart = path.with_name(path.stem + _UNSCORED)
        sources, files, lost = [origin], list[tuple[SampleFile, Source]](), list[str]()
        for each in [p for p in (found, apart) if p in free]:
            del free[each]
            try:
                files.append((SampleFile(each), source(each)))
                sources.append(files[-1][1])
            except BaseException as error:  # noqa: BLE001 - the aggregates are kept
                yield Failure(each, reported(error, each))
                lost = ["its samples are not read"]  # a log whose samples could not be read says so
        groups: dict[str, dict[SampleFile, Group]] = {}
        for file, _ in files:
            for group in file.groups:
                if group.model in (None, log.model_id):
                    groups.setdefault(group.task, {})[file] = group
        for task in dict.fromkeys([*log.tasks, *groups]) if whole else groups:
            run = self._finish(self._run(log, task, sources, lost, options), options)
            yield Reading(run, _batches(run, log.results(task), groups.get(task, {})))
        for file, own in files:
            for group in file.groups:
                if group not in groups.get(group.task, {}).values():
                    yield self._alone(file, group, [own], options)

    def _samples(self, path: Path, options: ReadOptions) -> Iterator[Reading]:
        file, origin = SampleFile(path), source(path)
        for group in file.groups:
            yield self._alone(file, group, [origin], options)

    def _run(self, log: Log, task: str, sources: list[Source], lost: list[str], options: ReadOptions) -> Run:
        own = restored(log, task)
        if own is not None:
            status = RunStatus.PARTIAL if lost else own.status
            reader = f"{self.name}@{self.version}"
            kept = {"sources": sources, "counts": Counts(), "schema": SCHEMA_VERSION}
            return _changed(own, format=self.name, reader=reader, status=status, **kept)
        return Run(
            run_key=run_key("every-eval-ever", log.evaluation_id, log.model_id, task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            writer=log.version,
            model=options.model or log.model_id,
            card=ModelCard(organisation=log.developer),
            task=task,
            conditions=log.conditions(task),
            created=log.created(task),
            prompt_hash=log.prompt_hash(task),
            scorer_hash=log.scorer_hash(task),
            judge=log.judge(task),
            sources=sources,
            status=RunStatus.PARTIAL if lost else RunStatus.COMPLETE,
            warnings=lost,
            meta=log.meta(),
        )

    def _alone(self, file: SampleFile, group: Group, sources: list[Source], options: ReadOptions) -> Reading:
        model = options.model or group.model
        run = Run(
            run_key=run_key("every-eval-ever", group.evaluation or sources[0].sha256, group.model, group.task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model or text(file.path.stem.removesuffix("_samples")),
            task=options.task or group.task,
            sources=sources,
            warnings=["no aggregate file beside the samples: what it says about the run is not known"],
            guesses=[] if model else ["model"],
            meta={"evaluation_id": group.evaluation} if group.evaluation else {},
        )
        return Reading(self._finish(run, options), _batches(run, [], {file: group}))

    def _finish(self, run: Run, options: ReadOptions) -> Run:
        identity = {"model": options.model, "task": options.task}
        return _changed(run, ingest_id=ingest_id(run.run_key, run.sources, run.reader, identity))


def _batches(run: Run, results: list[Result], parts: dict[SampleFile, Group]) -> Iterator[Batch]:
    rows = [result.row for result in results if result.row is not None]
    if rows:
        yield from pieces(Batch("aggregates", {name: [row[name] for row in rows] for name in rows[0]}))
    if not parts:
        return
    builder = LineRows(
        Problems("line"), {r.id: r.metric for r in results if r.id}, {r.id for r in results if r.unknown}
    )
    problems = []
    for file, group in parts.items():
        problems += file.bad.sentences()
        try:
            yield from builder.batches(file.of(group, builder.bad))
        except BaseException as error:  # noqa: BLE001 - what was read is kept
            problems.append(f"reading stopped: {reported(error, file.path)}")
            yield from builder.rest()
    told = [*problems, *builder.bad.sentences()]
    notes = [n for n in (*told, *builder.notes()) if n not in run.warnings]
    facts: dict[str, list[Any]] = {"warnings": [notes]} if notes else {}
    if told:
        facts["status"] = [RunStatus.PARTIAL.value]
    if facts:
        yield Batch("runs", facts)


def _changed(run: Run, **changes: Any) -> Run:
    return msgspec.structs.replace(run, **changes)
