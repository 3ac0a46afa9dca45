"""Reader of promptfoo: the JSON of ``promptfoo eval -o`` and ``promptfoo export``, and its JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import BrokenFileError, digest
from foreshock.readers._contain import reported
from foreshock.readers._files import source
from foreshock.readers._json import UTF8_BOM, text
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._promptfoo_file import Evaluation, Group, Survey, looks_like_results
from foreshock.readers._promptfoo_rows import ResultRows
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._replies import listed, plain, text_of, whole_number
from foreshock.records import Batch, Run, RunStatus, Source, ingest_id, run_key

_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "reasoning_effort", "reasoning")
_MAX_CONDITION = 200


class PromptfooReader:
    """Reads evaluations: a run for each provider and prompt, a response for each test case and repeat."""

    name = "promptfoo"
    version = 1

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the content is an evaluation."""
        return looks_like_results(candidate.head.removeprefix(UTF8_BOM).lstrip())

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every file."""
        for candidate in candidates:
            try:
                yield from self._file(candidate.path, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(candidate.path, reported(error, candidate.path))

    def _file(self, path: Path, options: ReadOptions) -> Iterator[Reading]:
        evaluation, origin = Evaluation(path), source(path)
        survey = Survey(evaluation)
        if not survey.groups:
            raise BrokenFileError(
                "an evaluation without a readable result",
                expected="results with vars, provider and score",
                do="run it again, or remove it",
                where=str(path),
            )
        for group in survey.groups:
            run = self._run(evaluation, survey, group, origin, options)
            yield Reading(run, _batches(evaluation, survey, group))

    def _run(self, evaluation: Evaluation, survey: Survey, group: Group, origin: Source, options: ReadOptions) -> Run:
        facts = evaluation.facts
        stated = options.task or text_of(mapping(facts.get("config")).get("description"))
        task = stated or text(evaluation.path.stem)
        when = text_of(facts.get("timestamp")) or text_of(facts.get("createdAt"))
        lost = survey.bad.sentences()
        own = evaluation.id or origin.sha256
        meta = {"eval_id": evaluation.id, "provider_label": group.label, "prompt_label": group.prompt_label}
        guesses = [*([] if stated else ["task"]), *([] if group.provider or options.model else ["model"])]
        run = Run(
            run_key=run_key("promptfoo", own, group.provider, group.label, group.prompt, task),
            format=self.name,
            reader=f"{self.name}@{self.version}",
            writer=text_of(mapping(facts.get("metadata")).get("promptfooVersion")),
            model=options.model or group.provider or "unknown",
            task=task,
            conditions=_conditions(facts, survey, group),
            created=when,
            prompt_hash=group.prompt_hash,
            scorer_hash=digest(sorted(survey.assertions[group]), 16) if survey.assertions[group] else None,
            judge=", ".join(sorted(survey.judges[group])) or None,
            sources=[origin],
            expected=_announced(facts, group),
            status=RunStatus.PARTIAL if lost else RunStatus.COMPLETE,
            warnings=lost,
            guesses=guesses,
            meta={k: v for k, v in meta.items() if v},
        )
        identity = {"model": options.model, "task": options.task}
        return msgspec.structs.replace(run, ingest_id=ingest_id(run.run_key, run.sources, run.reader, identity))


def _batches(evaluation: Evaluation, survey: Survey, group: Group) -> Iterator[Batch]:
    yield from _aggregates(evaluation.facts, group)
    rows = ResultRows(Problems(evaluation.noun), survey.ties[group])
    problems: list[str] = []
    try:
        yield from rows.batches(survey.of(group), rows.take)
    except BaseException as error:  # noqa: BLE001 - what was read is kept
        problems.append(f"reading stopped: {reported(error, evaluation.path)}")
        yield from rows.rest()
    yield from rows.late(*problems)


def _announced(facts: dict[str, Any], group: Group) -> int | None:
    counted = _counts(facts, group)
    return sum(counted) if counted else None


def _counts(facts: dict[str, Any], group: Group) -> tuple[int, int, int] | None:
    """Tests passed, failed and ended in an error, as the file counts them for a prompt."""
    prompts = listed(facts.get("prompts")) or listed(mapping(mapping(facts.get("table")).get("head")).get("prompts"))
    if group.place is None or not 0 <= group.place < len(prompts):
        return None
    prompt = mapping(prompts[group.place])
    if prompt.get("provider") not in (group.provider, group.label):
        return None
    metrics = mapping(prompt.get("metrics"))
    passed, failed = whole_number(metrics.get("testPassCount")), whole_number(metrics.get("testFailCount"))
    # versions before errors were counted apart
    errors = whole_number(metrics.get("testErrorCount")) or 0
    return None if passed is None or failed is None or not passed + failed + errors else (passed, failed, errors)


def _aggregates(facts: dict[str, Any], group: Group) -> Iterator[Batch]:
    """The share of tests passed, of all tests: promptfoo counts an error as not passed."""
    counted = _counts(facts, group)
    if counted is None:
        return
    passed, failed, errors = counted
    raw = {"testPassCount": passed, "testFailCount": failed, "testErrorCount": errors}
    columns: dict[str, list[Any]] = {
        "metric_id": ["success"],
        "value": [passed / (passed + failed + errors)],
        "n": [passed + failed + errors],
        "n_scored": [passed + failed],
        "low": [0.0],
        "high": [1.0],
        "higher_is_better": [True],
        "source": ["harness"],
        "raw": [msgspec.json.encode(raw).decode()],
    }
    yield Batch("aggregates", columns)


def _conditions(facts: dict[str, Any], survey: Survey, group: Group) -> dict[str, str]:
    """The prompt when there are several, the provider's label, and its settings."""
    prompts = {g.prompt for g in survey.groups}
    found: dict[str, Any] = {
        "prompt": group.prompt_label if len(prompts) > 1 else None,
        "provider_label": group.label,
        **_settings(facts, group),
    }
    shown = {k: plain(v) for k, v in found.items() if v not in (None, "")}
    return {k: v if len(v) <= _MAX_CONDITION else f"sha256:{digest(v, 16)}" for k, v in shown.items() if v}


def _settings(facts: dict[str, Any], group: Group) -> dict[str, Any]:
    for provider in map(mapping, listed(mapping(facts.get("config")).get("providers"))):
        if provider.get("id") == group.provider and (provider.get("label") or None) == group.label:
            config = mapping(provider.get("config"))
            return {k: config[k] for k in _SETTINGS if k in config}
    return {}
