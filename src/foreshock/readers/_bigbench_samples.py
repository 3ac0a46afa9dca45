"""Logged queries of BIG-bench (``full-log_*.json``): their samples as items, responses and scores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError
from foreshock.readers._bigbench_header import PROGRAMMATIC, full_name
from foreshock.readers._contain import reported
from foreshock.readers._json import decode, fields, records
from foreshock.readers._plain import Json, Problems, mapping, meta, number, texts, whole, words
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, item_key

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "prompt_hash", "delivery", "output", "answer"),
        *("choice_logprobs", "gold_logprob", "meta"),
    ),
    "scores": ("row", "metric_id", "source", "value", "status"),
}
_ANY = msgspec.json.Decoder(Any)
_MAX_RAW = 1_000


class Found(NamedTuple):
    """What a sample says."""

    choices: list[str] | None
    targets: list[str]
    gold: int | None
    output: str | None
    answer: str | None
    logprobs: list[float] | None
    gold_logprob: float | None
    scores: dict[str, float]
    meta: Json


class Queries(NamedTuple):
    """The queries of a file by what they belong to, each still encoded."""

    by_part: dict[tuple[str, int | None], list[msgspec.Raw]]
    unread: int


def queries_of(raw: msgspec.Raw | None, task: str, known: list[tuple[str, int | None]]) -> Queries:
    """Sort queries by task and shots; those of a task that is a program belong to the whole task."""
    by_part: dict[tuple[str, int | None], list[msgspec.Raw]] = {}
    unread = 0
    try:
        listed = records(bytes(raw), "queries") if raw is not None and bytes(raw) != b"null" else []
    except ForeshockError:
        return Queries({}, 1)
    for query in listed:
        try:
            found = fields(bytes(query), "")
            name, shots = (_plain(found.get(k)) for k in ("task", "shots"))
        except ForeshockError:
            unread += 1
            continue
        part = full_name(task, words(name)), whole(shots)
        if words(name) in (None, PROGRAMMATIC):
            part = next((k for k in known if k[0] == task), (task, whole(shots)))
        elif part not in known:
            # the log may call a task of one subtask by either name
            part = next((k for k in known if k == (task, part[1])), part)
        by_part.setdefault(part, []).append(query)
    return Queries(by_part, unread)


def _plain(raw: msgspec.Raw | None) -> Any:
    return None if raw is None else decode(bytes(raw), _ANY, "")


class SampleRows:
    """Builds the batches of one run.

    Args:
        shots: Examples in the prompts: with any, a prompt is not the question of an item.
    """

    def __init__(self, shots: int | None) -> None:
        self._rows = Rows(TABLES)
        self._item, self._response, self._score = map(self._rows.appender, TABLES)
        self._bare = not shots
        self.count = 0
        self.problems = Problems("sample")

    def batches(self, queries: list[msgspec.Raw]) -> Iterator[Batch]:
        """Rows of every sample."""
        number_of = 0
        for query in queries:
            body = mapping(decode(bytes(query), _ANY, "a query"))
            listed = body.get("samples")
            for sample in listed if isinstance(listed, list) else []:
                number_of += 1
                before = self.count
                try:
                    self._add(str(number_of - 1), sample)
                except BaseException as error:  # noqa: BLE001 - one bad sample is not the others
                    self.problems.add(number_of, reported(error, Path()).found)
                    self._rows.undo(before)
                    self.count = before
                if self._rows.full:
                    yield from self._rows.flush()
        yield from self._rows.flush()

    def _add(self, name: str, sample: Any) -> None:
        if not isinstance(sample, dict):
            raise BrokenFileError("not a JSON object")
        asked, found = words(sample.get("input")), sample_of(sample)
        question = asked if self._bare else None
        key = item_key(question, found.choices or (), found.targets)
        self._item((key, name, question, found.choices, found.targets, found.gold))
        prompt = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:32] if asked else None
        here = found.output is not None or found.logprobs is not None or found.gold_logprob is not None
        # fmt: off
        self._response((
            self.count, key, name, 1, 0, prompt, (Delivery.OK if here else Delivery.MISSING).value, found.output,
            found.answer, found.logprobs, found.gold_logprob, meta(found.meta),
        ))
        # fmt: on
        for metric, value in found.scores.items():
            self._score((self.count, item_name(metric), "harness", value, "scored"))
        self.count += 1
        self._rows.grow(len(asked or "") + len(found.output or ""))


def sample_of(sample: Json) -> Found:
    """A sample of one of the three kinds of query."""
    if "output" in sample or "raw_output" in sample:
        return _generated(sample)
    offered = texts(sample.get("targets"))
    logprobs = _logprobs(sample, len(offered))
    values = mapping(sample.get("target_values"))
    scores = _numbers(sample.get("metrics"))
    if not values:  # the likelihood of given texts
        gold = logprobs[0] if logprobs is not None and len(offered) == 1 else None
        return Found(None, offered, None, None, None, None, gold, scores, {"scores": logprobs} if gold is None else {})
    worth = [number(values.get(t)) or 0.0 for t in offered]
    right = [k for k, w in enumerate(worth) if w > 0 and w == max(worth)]
    correct = number(sample.get("correct"))
    if correct is not None:
        scores = {"multiple_choice_grade": correct, **scores}
    single = right[0] if len(right) == 1 else None
    return Found(
        choices=offered,
        targets=[offered[k] for k in right],
        gold=single,
        output=None,
        answer=offered[logprobs.index(max(logprobs))] if logprobs else None,
        logprobs=logprobs,
        gold_logprob=logprobs[single] if logprobs is not None and single is not None else None,
        scores=scores,
        meta={} if set(worth) <= {0.0, 1.0} else {"target_values": values},
    )


def _generated(sample: Json) -> Found:
    given = sample.get("targets")
    targets = [str(t) for t in given] if isinstance(given, dict) else texts(given or [])
    scores = _numbers(sample.get("metrics"))
    for each in mapping(given).values():  # the metrics against every target: the best one counts
        for name, value in _numbers(each).items():
            if name not in scores or value > scores[name]:
                scores[name] = value
    output, raw = sample.get("output"), words(sample.get("raw_output"))
    output = output if isinstance(output, str) else None
    kept = {"raw_output": raw[:_MAX_RAW]} if raw is not None and raw != output else {}
    return Found(None, targets, None, output, output or None, None, None, scores, kept)


def _logprobs(sample: Json, count: int) -> list[float] | None:
    """Not normalised over the options where the log has both."""
    for name in ("absolute_scores", "scores"):
        values = sample.get(name)
        found = [number(v) for v in values] if isinstance(values, list) else []
        known = [v for v in found if v is not None]
        if count and len(known) == len(found) == count:
            return known
    return None


def _numbers(found: Any) -> dict[str, float]:
    return {name: value for name, given in mapping(found).items() if (value := number(given)) is not None}
