"""Reader of lm-evaluation-harness: aggregates of 0.3, results and samples of 0.4.0 to today."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import ForeshockError
from foreshock.readers import _lm_eval_header as facts
from foreshock.readers._contain import reported
from foreshock.readers._files import HEAD, head, open_bytes, source, whole
from foreshock.readers._json import UTF8_BOM, check_encoding, fields, text
from foreshock.readers._lm_eval_aggregates import aggregates, item_metrics
from foreshock.readers._lm_eval_header import Header, read_header
from foreshock.readers._lm_eval_kinds import Task
from foreshock.readers._lm_eval_rows import SampleRows
from foreshock.readers._lm_eval_samples import SampleStream
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.records import Batch, ModelCard, Run, RunStatus, Source, ingest_id, run_key

_SAMPLES = re.compile(rb'^\s*\[?\s*\{.*?"doc_id"\s*:', re.DOTALL)
_MAX_SNIFF = 32 * 2**20
_SHOWN = 5
_SHOTS = re.compile(r"_(\d+)-?shots?$")


class _Samples(NamedTuple):
    """A file of samples and the task it belongs to."""

    path: Path
    task: str
    guessed: bool


class LmEvalReader:
    """Reads results files (one run per task) together with the samples logged beside them."""

    name = "lm-eval"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is a results file or logged samples of any known version."""
        return kind_of(candidate) is not None

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file; results and samples of one call are joined by folder and moment."""
        results: list[Path] = []
        samples: list[Path] = []
        for candidate in candidates:
            (results if kind_of(candidate) == "results" else samples).append(candidate.path)
        taken: set[Path] = set()
        for path in results:
            beside = [s for s in samples if s.parent == path.parent]
            yield from _contained(path, self._results(path, beside, taken, options))
        for path in samples:
            if path not in taken:
                yield from _contained(path, self._alone(path, options))

    def _results(
        self, path: Path, beside: list[Path], taken: set[Path], options: ReadOptions
    ) -> Iterator[Reading | Failure]:
        try:
            (header, odd), origin = read_header(path), source(path)
        except ForeshockError as error:
            yield Failure(path, error)
            return
        matched = (_match(p, path, header) for p in beside if p not in taken)
        owned = {s.task: s for s in matched if s is not None and s.task in header.results}
        taken.update(s.path for s in owned.values())
        notes = [f"parts of an unexpected type were left out: {_few(odd)}"] if odd else []
        for task in header.results:
            run = self._run(header, path, task, [origin], options)
            lost = [f"the results of {task} are no object"] if f"results.{task}" in odd else []
            if task not in owned and (why := _unread(path, task)):
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
        self, run: Run, samples: _Samples, header: Header, origin: Source, options: ReadOptions
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
        if found.batch.rows:
            yield found.batch
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


def kind_of(candidate: Candidate) -> str | None:
    """``results``, ``samples`` or None, from the content alone."""
    head = candidate.head.removeprefix(UTF8_BOM)
    start = head.lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    if _SAMPLES.match(head[:4096]) and (_has_responses(head) or _has_responses(_first_record(candidate))):
        return "samples"
    if start == b"[" or (b'"results"' not in head and b'"config' not in head):
        return None
    return "results" if _is_results(candidate) else None


def _has_responses(data: bytes) -> bool:
    return b'"resps"' in data or b'"arguments"' in data or b'"filtered_resps"' in data


def _first_record(candidate: Candidate) -> bytes:
    """The first line, when it is longer than the head: documents of long-context tasks stand before the responses."""
    if len(candidate.head) < HEAD or b"\n" in candidate.head.lstrip():
        return b""
    with open_bytes(candidate.path) as stream:
        return stream.read(len(candidate.head)) + stream.readline(_MAX_SNIFF)


def _is_results(candidate: Candidate) -> bool:
    head = candidate.head
    if len(head) >= HEAD:
        if not re.match(rb'^\s*\{\s*"results"\s*:\s*\{\s*"[^"]+"\s*:\s*\{', head.removeprefix(UTF8_BOM)):
            return _has_parts(candidate)
        return b"_stderr" in head or b',none"' in head or _has_parts(candidate)
    return _has_parts(candidate)


def _has_parts(candidate: Candidate) -> bool:
    try:
        check_encoding(candidate.head, str(candidate.path))
        found = fields(whole(candidate.path, _MAX_SNIFF), str(candidate.path))
    except ForeshockError:
        # cut off or damaged: the harness writes the results first
        head = candidate.head.removeprefix(UTF8_BOM)
        return bool(re.match(rb'^\s*\{\s*"results"\s*:\s*\{', head)) and b"_stderr" in head
    return "results" in found and "config" in found and ("versions" in found or "configs" in found)


def task_in_name(path: Path) -> str:
    """Task in the name of a samples file: ``samples_{task}_{moment}.jsonl``; the task may hold underscores.

    Examples:
        >>> task_in_name(Path("samples_arc_easy_2024-07-01T00-00-00.000001.jsonl"))
        'arc_easy'
    """
    stem = facts.DATE_ID.sub("", path.stem)
    return stem.removeprefix("samples_") or path.stem


def _match(samples: Path, results: Path, header: Header) -> _Samples | None:
    moment = facts.date_id(samples)
    if moment != facts.date_id(results):
        return None
    named = task_in_name(samples)
    if named in header.results:
        return _Samples(samples, named, False)
    tasks = {*(header.configs or {}), *header.results}
    ends = sorted((t for t in tasks if samples.stem.endswith(f"_{t}") or named == t), key=len)
    return _Samples(samples, ends[-1], False) if ends else None


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _unread(results: Path, task: str) -> str | None:
    """Why the samples that the harness wrote beside a results file were not among the files to read.

    None when there are none, or when they are sound: then nobody asked for them.
    """
    moment = facts.date_id(results)
    place = results.with_name(f"samples_{task.replace('/', '__')}_{moment}.jsonl")
    try:
        if moment is None or not place.is_file():
            return None
        begin = head(place)
    except OSError:  # the name of the task is longer than a file's can be
        return None
    except ForeshockError as error:
        return f"{place.name} {error.found}"
    return None if kind_of(Candidate(place, begin, ())) == "samples" else f"{place.name} does not hold samples"


def _identity(options: ReadOptions) -> dict[str, str | None]:
    return {"model": options.model, "task": options.task}


def _changed(run: Run, **changes: Any) -> Run:
    return msgspec.structs.replace(run, **changes)
