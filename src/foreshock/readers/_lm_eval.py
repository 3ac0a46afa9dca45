"""Reader of lm-evaluation-harness: aggregates of 0.3, results and samples of 0.4.0 to today."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import ForeshockError
from foreshock.readers import _lm_eval_header as facts
from foreshock.readers._contain import reported
from foreshock.readers._files import source
from foreshock.readers._json import text
from foreshock.readers._lm_eval_aggregates import aggregates, item_metrics
from foreshock.readers._lm_eval_files import Samples, kind_of, match, task_in_name, unread
from foreshock.readers._lm_eval_kinds import Task
from foreshock.readers._lm_eval_results import Header, read_header
from foreshock.readers._lm_eval_rows import SampleRows
from foreshock.readers._lm_eval_samples import SampleStream
from foreshock.readers._plain import pieces
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import Batch, ModelCard, Run, RunStatus, Source, ingest_id, run_key

_SHOWN = 5
_SHOTS = re.compile(r"_(\d+)-?shots?$")


class LmEvalReader:
    """Reads results files (one run per task) together with the samples logged beside them."""

    name = "lm-eval"
    version = 2

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is a results file or logged samples of any known version."""
        return kind_of(candidate) is not None

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file; results and samples of one call are joined by folder and moment."""
        results: dict[Path, bool] = {}
        samples: dict[Path, bool] = {}
        for candidate in candidates:
            (results if kind_of(candidate) == "results" else samples)[candidate.path] = candidate.beside
        taken: set[Path] = set()
        for path, brought in results.items():
            beside = [s for s in samples if s.parent == path.parent]
            yield from _contained(path, self._results(path, beside, taken, options, whole=not brought))
        for path, brought in samples.items():
            if path not in taken and not brought:
                yield from _contained(path, self._alone(path, options))

    def _results(
        self, path: Path, beside: list[Path], taken: set[Path], options: ReadOptions, *, whole: bool
    ) -> Iterator[Reading | Failure]:
        """The runs of a results file; unless it is read as a ``whole``, those of which the samples are there."""
        try:
            (header, odd), origin = read_header(path), source(path)
        except ForeshockError as error:
            yield Failure(path, error)
            return
        matched = (match(p, path, header) for p in beside if p not in taken)
        owned = {s.task: s for s in matched if s is not None and s.task in header.results}
        taken.update(s.path for s in owned.values())
        notes = [f"parts of an unexpected type were left out: {_few(odd)}"] if odd else []
        for task in header.results if whole else owned:
            run = self._run(header, path, task, [origin], options)
            lost = [f"the results of {task} are no object"] if f"results.{task}" in odd else []
            if task not in owned and (why := unread(path, task)):
                lost.append(f"its samples are not read: {why}")
            status = RunStatus.PARTIAL if lost else run.status
            run = _changed(run, status=status, warnings=[*run.warnings, *lost, *notes])
            if task in owned:
                yield from self._with_samples(run, owned[task], header, origin, options)
            else:
                yield Reading(run, self._means(header, task))

    def _run(self, header: Header, path: Path, task: str, sources: list[Source], options: ReadOptions) -> Run:
        model, guessed = facts.model_of(header, path)
        if guessed and options.model:
            model, guessed = options.model, False
        moment = facts.date_id(path)
        when, local = facts.created(header, moment)
        conditions = facts.conditions(header, task)
        # without a moment two files of equal model, task and shots may be two runs: their content tells them apart
        mark = moment or header.date or sources[0].sha256
        prompt, scorer = facts.hashes(header, task)
        members = facts.subtasks(header, task)
        config = header.config or {}
        size = config.get("model_num_parameters")
        meta: dict[str, Any] = {
            "layout": header.layout,
            "model_args": config.get("model_args"),
            "revision": facts.arguments(config).get("revision"),
            "backend": config.get("model"),
            "model_sha": config.get("model_sha"),
            "task_hash": (header.task_hashes or {}).get(task),
            "group_of": members,
            "seed": config.get("random_seed"),
            "chat_template": facts.template(header),
        }
        return self._finish(
            Run(
                run_key=run_key("lm-eval", facts.sanitized(model), mark, task, conditions.get("shots", "")),
                format=self.name,
                reader=f"{self.name}@{self.version}",
                writer=header.writer,
                model=model,
                card=ModelCard(parameters=size) if type(size) is int and 0 < size < facts.MAX_COUNT else ModelCard(),
                task=task,
                task_version=facts.version(header, task),
                conditions=conditions,
                created=when,
                prompt_hash=prompt,
                scorer_hash=scorer,
                sources=sources,
                guesses=[*(["model"] if guessed else []), *(["created"] if local else [])],
                meta={k: v for k, v in meta.items() if v is not None},
            ),
            options,
        )

    def _finish(self, run: Run, options: ReadOptions) -> Run:
        return _changed(run, ingest_id=ingest_id(run.run_key, run.sources, run.reader, _identity(options)))

    def _with_samples(
        self, run: Run, samples: Samples, header: Header, origin: Source, options: ReadOptions
    ) -> Iterator[Reading | Failure]:
        try:
            sources = [origin, source(samples.path)]
        except ForeshockError as error:
            yield Failure(samples.path, error)
            sources = [origin]
        names = facts.filters(header, run.task)
        own = (header.configs or {}).get(run.task) or {}
        task = Task(
            shots=facts.shots(header, run.task),
            output_type=own.get("output_type"),
            delimiter=str(own.get("target_delimiter", " ")),
            aggregations=item_metrics(header, run.task),
        )
        expected = facts.size(header, run.task)
        run = _changed(run, sources=sources, expected=None if expected is None else expected * len(names))
        stream = SampleStream(samples.path, names)
        yield from self._parts(run, stream, task, header, options)

    def _alone(self, path: Path, options: ReadOptions) -> Iterator[Reading | Failure]:
        try:
            origin = source(path)
        except ForeshockError as error:
            yield Failure(path, error)
            return
        moment = facts.date_id(path)
        model, task = text(path.absolute().parent.name.replace("__", "/")), text(task_in_name(path))
        when, _ = facts.created(None, moment)
        guesses = [*([] if options.model else ["model"]), *([] if options.task else ["task"])]
        shots = _SHOTS.search(task)
        run = Run(
            run_key=run_key("lm-eval", facts.sanitized(options.model or model), moment or origin.sha256, task, ""),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=options.model or model,
            task=options.task or task,
            conditions={"shots": shots[1]} if shots else {},
            created=when,
            sources=[origin],
            guesses=guesses + (["created"] if when else []),
            warnings=["no results file beside the samples: model and task are guessed from the path"]
            if guesses
            else [],
            meta={"layout": "samples"},
        )
        yield from self._parts(run, SampleStream(path, None), Task(), None, options)

    def _means(self, header: Header, task: str) -> Iterator[Batch]:
        try:
            found = aggregates(header, task)
        except BaseException as error:  # noqa: BLE001 - the samples are kept
            why = reported(error, Path(task)).found
            yield Batch("runs", {"warnings": [[f"its means are not read: {why}"]], "status": [RunStatus.PARTIAL.value]})
            return
        yield from pieces(found.batch)
        late = {name: [value] for name, value in (("warnings", found.warnings), ("guesses", found.guesses)) if value}
        if late:
            yield Batch("runs", late)

    def _parts(
        self, run: Run, stream: SampleStream, task: Task, header: Header | None, options: ReadOptions
    ) -> Iterator[Reading | Failure]:
        number = 0
        while not stream.finished:
            number += 1
            part = run
            if number > 1:
                part = _changed(
                    run,
                    run_key=run_key(run.run_key, "part", number),
                    warnings=[*run.warnings, f"part {number} of a file to which several runs were appended"],
                )
            part = self._finish(part, options)
            batches = self._batches(part, stream, SampleRows(task, stream.decoder, stream.problems), header)
            yield Reading(part, batches)
            for _ in batches:
                pass  # the next run begins where this one ends, whether or not anyone wanted its rows
            if not stream.between:
                return  # somebody closed the batches: where the next run begins is not known

    def _batches(self, run: Run, stream: SampleStream, rows: SampleRows, header: Header | None) -> Iterator[Batch]:
        problems = []
        try:
            yield from rows.batches(stream.part())
        except BaseException as error:  # noqa: BLE001 - what was read of the run is kept
            found = reported(error, stream.path)
            yield from rows.rest()
            stream.finished = True
            problems.append(f"reading stopped: {found}")
        if not stream.finished:
            warnings = [*rows.warnings(), "another run follows in the same file; the results file is of the last one"]
            yield Batch("runs", {"warnings": [warnings], "expected": [None]})
            return
        problems += stream.problems.sentences()
        warnings = [*problems, *rows.warnings()]
        if stream.guessed_filters:
            warnings.append("the file names no filters and has no results file: they are told apart by their order")
        late: dict[str, list[Any]] = {"warnings": [warnings]} if warnings else {}
        if problems:
            late["status"] = [RunStatus.PARTIAL.value]
        if header is not None:
            yield from self._means(header, run.task)
        if late:
            yield Batch("runs", late)


def _contained(path: Path, found: Iterator[Reading | Failure]) -> Iterator[Reading | Failure]:
    try:
        yield from found
    except BaseException as error:  # noqa: BLE001 - one bad file is not the others
        yield Failure(path, reported(error, path))


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _identity(options: ReadOptions) -> dict[str, str | None]:
    return {"model": options.model, "task": options.task}


def _changed(run: Run, **changes: Any) -> Run:
    return msgspec.structs.replace(run, **changes)
