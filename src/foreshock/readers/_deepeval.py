"""Reader of deepeval: ``test_run_*.json`` and the results of ``evaluate``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import BrokenFileError, digest
from foreshock.readers._contain import reported
from foreshock.readers._deepeval_case import CaseRows, case_decoder, metrics_of
from foreshock.readers._files import source, whole
from foreshock.readers._json import UTF8_BOM, check_encoding, decode, fields, records, text
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._replies import loaded, plain, text_of
from foreshock.records import Batch, Run, ingest_id, run_key

_CASES = ("testCases", "test_cases", "test_results")
_CONVERSATIONS = ("conversationalTestCases", "conversational_test_cases")
_BEGIN = re.compile(
    rb'"(?:testCases|test_cases|test_results|conversationalTestCases|conversational_test_cases)"\s*:\s*\['
)
_MARKS = (b'"metricsData"', b'"metrics_data"', b'"metricsScores"', b'"actualOutput"', b'"actual_output"')
_MODEL = ("model", "model_name", "modelname", "llm")
_MOMENT = re.compile(r"(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})(\d{2})")
_FACTS = ("hyperparameters", "identifier", "prompts", "datasetAlias", "dataset_alias", "testFile", "test_file")
_MAX_CONDITION = 200


class DeepEvalReader:
    """Reads test runs: one run per file, a response for each test case, a score for each metric."""

    name = "deepeval"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is a test run."""
        head = candidate.head.removeprefix(UTF8_BOM).lstrip()
        return head.startswith(b"{") and bool(_BEGIN.search(head)) and any(mark in head for mark in _MARKS)

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file."""
        for candidate in candidates:
            try:
                yield self._file(candidate.path, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(candidate.path, reported(error, candidate.path))

    def _file(self, path: Path, options: ReadOptions) -> Reading:
        data, origin = whole(path), source(path)
        check_encoding(data, str(path))
        top = fields(data, str(path))
        if "testRunData" in top:
            top = fields(bytes(top["testRunData"]), str(path))
        cases = [raw for name in (*_CASES, *_CONVERSATIONS) for raw in _listed(top, name, path)]
        if not cases:
            raise BrokenFileError(
                "a test run without test cases", expected="testCases", do="remove it", where=str(path)
            )
        said = {name: loaded(raw, str(path)) for name, raw in top.items() if name in _FACTS}
        hyper = mapping(said.get("hyperparameters"))
        stated = next((v for k, v in hyper.items() if k.lower() in _MODEL and text_of(plain(v))), None)
        model = options.model or plain(stated)
        task, known = _task(said, path, options)
        moment = _MOMENT.search(path.stem)
        day = "{}-{}-{}T{}:{}:{}".format(*moment.groups()) if moment else None
        metrics, judges = _metrics(cases)
        guesses = [*([] if model else ["model"]), *([] if known else ["task"]), *(["created"] if day else [])]
        run = Run(
            run_key=run_key("deepeval", origin.sha256, task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model or text(path.stem),
            task=task,
            conditions=_conditions(hyper),
            created=day,
            prompt_hash=_prompt(said, hyper),
            scorer_hash=digest(metrics, 16) if metrics else None,
            judge=", ".join(judges) or None,
            sources=[origin],
            expected=len(cases),
            warnings=[] if model else ["no hyperparameter names the model: the file's name stands for it"],
            guesses=guesses,
            meta={"identifier": said["identifier"]} if text_of(said.get("identifier")) else {},
        )
        identity = {"model": options.model, "task": options.task}
        run = msgspec.structs.replace(run, ingest_id=ingest_id(run.run_key, run.sources, run.reader, identity))
        return Reading(run, _batches(cases, path))


def _listed(top: dict[str, msgspec.Raw], name: str, path: Path) -> list[msgspec.Raw]:
    raw = bytes(top.get(name, b""))
    return records(raw, f"{path}, {name}") if raw.lstrip().startswith(b"[") else []


def _batches(cases: list[msgspec.Raw], path: Path) -> Iterator[Batch]:
    rows = CaseRows(Problems("test case"))
    decoder = case_decoder()
    numbered = ((n, partial(decode, bytes(raw), decoder, "")) for n, raw in enumerate(cases, 1))
    problems: list[str] = []
    try:
        yield from rows.batches(numbered, lambda load: rows.take(load()))
    except BaseException as error:  # noqa: BLE001 - what was read is kept
        problems.append(f"reading stopped: {reported(error, path)}")
        yield from rows.rest()
    yield from rows.late(*problems)


def _metrics(cases: list[msgspec.Raw]) -> tuple[list[list[Any]], list[str]]:
    """Every metric with its threshold, and every judge, in alphabetical order."""
    found: set[tuple[str, float | None, bool]] = set()
    judges: set[str] = set()
    decoder = case_decoder()
    for raw in cases:
        try:
            metrics = metrics_of(decode(bytes(raw), decoder, ""))
        except BrokenFileError:
            continue  # told when its row is read
        for metric in metrics:
            found.add((metric.name, metric.threshold, bool(metric.strict)))
            judges |= {metric.judge} if metric.judge else set()
    return sorted(map(list, found), key=str), sorted(judges)


def _task(said: dict[str, Any], path: Path, options: ReadOptions) -> tuple[str, bool]:
    """The data set, else the file of tests; else the folder, which is a guess."""
    stated = options.task or text_of(said.get("datasetAlias")) or text_of(said.get("dataset_alias"))
    if stated:
        return stated, True
    file = text_of(said.get("testFile")) or text_of(said.get("test_file"))
    if file:
        return file.replace("\\", "/").rpartition("/")[2].removesuffix(".py"), True
    return text(path.absolute().parent.name) or "deepeval", False


def _conditions(hyper: dict[str, Any]) -> dict[str, str]:
    """Hyperparameters other than the model, which compared runs should share; long ones as a hash."""
    shown = {k: plain(v) for k, v in hyper.items() if k.lower() not in _MODEL}
    return {k: v if len(v) <= _MAX_CONDITION else f"sha256:{digest(v, 16)}" for k, v in shown.items() if v}


def _prompt(said: dict[str, Any], hyper: dict[str, Any]) -> str | None:
    told = {k: v for k, v in hyper.items() if "prompt" in k.lower()}
    prompts = said.get("prompts")
    return digest([told, prompts], 16) if told or prompts else None
