"""Reader of OpenAI evals: the events that its recorder writes, one JSON object a line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError
from foreshock.readers._contain import reported
from foreshock.readers._files import lines, open_bytes, source
from foreshock.readers._json import UTF8_BOM, check_members, decode
from foreshock.readers._openai_evals_sample import Event, Sample, sample_of, tokens_of
from foreshock.readers._openai_evals_spec import Found, is_model_graded, run_of
from foreshock.readers._plain import Json, Problems, mapping, meta, number, pieces, words
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Run, RunStatus

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "prompt_hash", "delivery", "output", "answer"),
        *("choice_logprobs", "gold_logprob", "input_tokens", "output_tokens", "reasoning_tokens", "total_tokens"),
        *("token_unit", "meta"),
    ),
    "trace": ("row", "seq", "turn", "kind", "name", "value"),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}
_ANY = msgspec.json.Decoder(Any)
_SNIFFED = 4
_MAX_STEPS = 500
# each run of a file costs a pass over it
_MAX_RUNS = 200
_MAX_DEPTH = 5
_MAX_VALUE = 500
# not a bootstrap, and NaN for one sample (openai/evals#1834); the first spelling is the harness's own
_DEVIATIONS = ("boostrap_std", "bootstrap_std")


class Outline(NamedTuple):
    """What the first pass over a file finds out about one run.

    Attributes:
        spec: Its specification; empty when the file has none.
        report: Its final report; None when it never came to that.
        events: Number of events of each sample.
    """

    spec: Json
    report: Json | None
    events: Counter[str]


class OpenAiEvalsReader:
    """Reads recordings of ``oaieval``: one run for each specification line."""

    name = "openai-evals"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the first lines are a specification or events."""
        begin = candidate.head.removeprefix(UTF8_BOM).lstrip()
        if begin[:1] != b"{":
            return False
        return any(_is_known(line) for line in begin.split(b"\n")[:_SNIFFED])

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file twice: events of a sample are spread over it, and the second pass knows when one is whole."""
        for candidate in candidates:
            path = candidate.path
            try:
                origin = source(path)
                for number_of_run, outline in enumerate(outlines(path)):
                    run = run_of(Found(outline.spec, path, origin, number_of_run), options, (self.name, self.version))
                    if outline.report is None:
                        told = [*run.warnings, "no final report: the run did not end"]
                        run = msgspec.structs.replace(run, status=RunStatus.STARTED, warnings=told)
                    yield Reading(run, _batches(path, number_of_run, outline, run))
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(path, reported(error, path))


def _is_known(line: bytes) -> bool:
    try:
        found = mapping(decode(line, _ANY, ""))
    except ForeshockError:
        # the first line may be longer than what is looked at
        return line.startswith(b'{"spec"') and b'"eval_name"' in line
    spec = mapping(found.get("spec"))
    if spec.keys() & {"eval_name", "base_eval"} and "run_config" in spec:
        return True
    return {"sample_id", "type", "data"} <= found.keys() and ("event_id" in found or "run_id" in found)


def outlines(path: Path) -> list[Outline]:
    """The runs of a file in order."""
    found: list[Outline] = []
    for record in _Records(path, Problems("line")):
        if record.run >= _MAX_RUNS:
            raise BrokenFileError(
                f"more than {_MAX_RUNS} specifications in one file",
                expected="one recording a file",
                do='split the file before every line that begins with {"spec"',
                where=str(path),
            )
        while len(found) <= record.run:
            found.append(Outline({}, None, Counter()))
        at = found[record.run]
        if record.event is not None:
            at.events[record.sample] += 1
        elif record.spec is not None:
            found[record.run] = at._replace(spec=record.spec)
        elif record.report is not None:
            found[record.run] = at._replace(report=record.report)
    if not found:
        raise BrokenFileError("no line of a recording in it", expected="a specification and events", where=str(path))
    return found


class _Record(NamedTuple):
    run: int
    spec: Json | None
    report: Json | None
    sample: str
    event: Event | None


class _Records:
    """The lines of a file, each with the number of its run: that of its run id, else of the specification before it."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path, self._problems = path, problems
        self._runs: dict[str, int] = {}
        self._current = -1

    def __iter__(self) -> Iterator[_Record]:
        with open_bytes(self._path) as stream:
            for place, line in lines(stream, str(self._path)):
                try:
                    check_members(line, "")
                    found = mapping(decode(line, _ANY, ""))
                    record = self._record(found)
                except ForeshockError as error:
                    self._problems.add(place, error.found)
                    continue
                if record is None:
                    self._problems.add(place, "neither specification, event nor report")
                else:
                    yield record

    def _record(self, found: Json) -> _Record | None:
        if isinstance(spec := found.get("spec"), dict):
            self._current += 1
            if run_id := words(spec.get("run_id")):
                self._runs[run_id] = self._current
            return _Record(self._current, spec, None, "", None)
        self._current = max(self._current, 0)
        run = self._runs.get(str(found.get("run_id")), self._current)
        if isinstance(report := found.get("final_report"), dict):
            return _Record(run, None, report, "", None)
        sample, kind = found.get("sample_id"), words(found.get("type"))
        if sample is None or kind is None:
            return None
        return _Record(run, None, None, str(sample), Event(kind, mapping(found.get("data"))))


def _batches(path: Path, number_of_run: int, outline: Outline, run: Run) -> Iterator[Batch]:
    problems = Problems("line")
    rows = _SampleRows(run, is_model_graded(outline.spec))
    left, open_events = Counter(outline.events), dict[str, list[Event]]()
    late: dict[str, list[Any]] = {}
    lost = []
    try:
        for record in _Records(path, problems):
            if record.run != number_of_run or record.event is None:
                continue
            open_events.setdefault(record.sample, []).append(record.event)
            left[record.sample] -= 1
            if left[record.sample] <= 0:
                yield from rows.add(record.sample, open_events.pop(record.sample))
    except BaseException as error:  # noqa: BLE001 - what was read of the run is kept
        lost.append(f"reading stopped: {reported(error, path)}")
    yield from rows.rest()
    yield from pieces(aggregates(outline.report or {}, rows.matches))
    if warnings := [*problems.sentences(), *rows.problems.sentences(), *lost]:
        late = {"warnings": [warnings], "status": [RunStatus.PARTIAL.value]}
    if kept := {k: v for k, v in (outline.report or {}).items() if k in _DEVIATIONS and number(v) is not None}:
        late["meta"] = [kept]
    if late:
        yield Batch("runs", late)


class _SampleRows:
    """Builds the batches of one run.

    Attributes:
        matches: How many matches the samples have, which the harness's accuracy is the mean of.
        problems: Samples that could not be understood.
    """

    def __init__(self, run: Run, judged: bool) -> None:
        self._judged, self._unit = judged, run.model
        self._rows = Rows(TABLES)
        self._item, self._response, self._step, self._score = map(self._rows.appender, TABLES)
        self._count = 0
        self.matches = 0
        self.problems = Problems("sample")

    def add(self, name: str, events: list[Event]) -> Iterator[Batch]:
        """Take all events of one sample."""
        before = self._count
        try:
            self._add(item_name(name), sample_of(events, self._judged))
            self.matches += sum(e.type == "match" for e in events)
        except BaseException as error:  # noqa: BLE001 - one bad sample is not the others
            self.problems.add(item_name(name), reported(error, Path(name[:50])).found)
            self._rows.undo(before)
            self._count = before
        if self._rows.full:
            yield from self._rows.flush()

    def rest(self) -> Iterator[Batch]:
        """Rows that were not given out yet."""
        yield from self._rows.flush()

    def _add(self, name: str, found: Sample) -> None:
        item = found.item
        self._item((item.key, name, item.question, item.choices, item.targets, item.gold))
        prompt = found.prompt and hashlib.sha256(found.prompt.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        size = len(item.question or "")
        for place, answered in enumerate(found.responses):
            first = place == 0
            tokens = tokens_of(found.usage if first else {})
            # fmt: off
            self._response((
                self._count, item.key, name, 1, place, prompt, answered.delivery.value, answered.output,
                answered.answer, found.likelihoods if first else None, found.gold_logprob if first else None,
                *tokens, self._unit if any(t is not None for t in tokens) else None, meta(answered.meta),
            ))
            # fmt: on
            for score in answered.scores:
                self._score(
                    (self._count, item_name(score.metric), "harness", score.value, score.status.value, score.label)
                )
            self._steps(found if first else found._replace(steps=[]))
            self._count += 1
            size += len(answered.output or "")
        self._rows.grow(size)

    def _steps(self, found: Sample) -> None:
        turn = -1
        for seq, (kind, name, value) in enumerate(found.steps[:_MAX_STEPS]):
            turn += kind == "turn"
            self._step((self._count, seq, max(turn, 0), kind, name, None if value is None else value[:_MAX_VALUE]))


def aggregates(report: Json, matches: int) -> Batch:
    """The numbers of a final report; ``n`` of the accuracy is the number of matches, whose mean it is."""
    found = [(name, value) for name, given in _flat("", report) if (value := number(given)) is not None]
    return Batch(
        "aggregates",
        {
            "metric_id": [item_name(name) for name, _ in found],
            "value": [value for _, value in found],
            "n": [matches if name == "accuracy" and matches else None for name, _ in found],
            "low": [0.0 if name == "accuracy" else None for name, _ in found],
            "high": [1.0 if name == "accuracy" else None for name, _ in found],
            "higher_is_better": [True if name == "accuracy" else None for name, _ in found],
            "source": ["harness"] * len(found),
            "raw": [msgspec.json.encode(value).decode() for _, value in found],
        },
    )


def _flat(prefix: str, report: Json, depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in report.items():
        if isinstance(value, dict):
            if depth < _MAX_DEPTH:
                yield from _flat(f"{prefix}{name}/", value, depth + 1)
        elif name not in _DEVIATIONS:
            yield f"{prefix}{name}", value
