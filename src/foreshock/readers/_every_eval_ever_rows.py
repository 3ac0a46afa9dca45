"""Samples of Every Eval Ever turned into items, responses, steps and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from foreshock._base import count_of, digest
from foreshock.readers._contain import reported
from foreshock.readers._every_eval_ever_own import OWN, fitted, own_of
from foreshock.readers._every_eval_ever_samples import task_and_filter
from foreshock.readers._lm_eval_line import finite
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._replies import Step, cut, encoded, listed, plain, text_of, texts, whole_number
from foreshock.readers._rows import Rows, item_name
from foreshock.records import TABLES, Batch, Delivery, ScoreStatus, item_key

_FILLED = frozenset({"ingest_id", "task", "run_key"})
_COLUMNS = {
    "items": tuple(c.name for c in TABLES["items"] if c.name not in _FILLED),
    # the number of the response comes first, so that rows can be taken back
    **{
        table: tuple(c.name for c in TABLES[table] if c.name not in _FILLED)
        for table in ("responses", "trace", "scores")
    },
}
_SUBSETS = ("subset", "subject", "category", "topic", "domain")
# what Foreshock writes into the format's own fields; anything else stands beside them
_ITEM_PLACED = ("item_key", "item_id", "input", "choices", "targets")
_PLACED = ("output", "reasoning", "answer", "input_tokens", "output_tokens", "total_tokens")
UNKNOWN_LEVEL = -1.0
_MAX_STEPS = 2_000


class _Last(NamedTuple):
    """The latest response to an item, to which a further line may add another metric."""

    row: int
    said: str
    metrics: set[str]
    epoch: int


class LineRows:
    """Builds the batches of one evaluation.

    The format has a line for each metric of a response. A line with the output of the latest response to its sample,
    and a metric that this one lacks, belongs to it; any other line of that sample is another epoch.

    Args:
        bad: Takes lines that turn out to be broken.
        metrics: Metric of each result that a line may refer to.
        unknown: Results for which -1 means that there is no score.
    """

    def __init__(self, bad: Problems, metrics: Mapping[str | None, str], unknown: set[str | None]) -> None:
        self.bad = bad
        self._metrics, self._unknown = metrics, unknown
        self._rows = Rows(_COLUMNS)
        self._append = {table: self._rows.appender(table) for table in _COLUMNS}
        self._next = 0
        self._last: dict[tuple[str, str | None], _Last] = {}
        self._numbers: set[int] = set()
        self._items: set[int] = set()
        self._odd: Counter[str] = Counter()

    def batches(self, lines: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Batch]:
        """Rows of every line."""
        for number, line in lines:
            before = self._next
            try:
                size = self._take(line)
            except BaseException as error:  # noqa: BLE001 - one bad line is not the others
                self.bad.add(number, reported(error, Path()).found)
                self._rows.undo(before)
                self._next, size = before, 0
            self._rows.grow(size)
            if self._rows.full:
                yield from self._rows.flush()
        yield from self._rows.flush()

    def rest(self) -> Iterator[Batch]:
        """Rows of the lines before something that stopped the reading."""
        yield from self._rows.flush()

    def notes(self) -> list[str]:
        """What the user should know about the rows given out so far."""
        return [f"{count_of(times, 'line')} {what}" for what, times in self._odd.items()]

    def _take(self, line: dict[str, Any]) -> int:
        own = own_of(mapping(line.get("metadata")))
        number = whole_number(own.get("row"))
        if number is not None:
            return self._take_own(line, own, number)
        name, said, id_ = item_name(_name(line)), _said(line), self._result_id(line)
        item, response = _item(line, name), _response(line)
        place = (name, response["filter"])
        last = self._last.get(place)
        if last is not None and last.said == said and id_ not in last.metrics:
            last.metrics.add(id_)
            self._score(last.row, line, id_)
            return 0
        epoch = 1 if last is None else last.epoch + 1
        row = self._next
        self._add_item(item)
        outputs = texts(mapping(line.get("output")).get("raw")) or [response["output"]]
        for sample, output in enumerate(outputs):
            own_part = response if sample == 0 else {k: response[k] for k in ("filter", "prompt_hash", "delivery")}
            shown = {**own_part, "output": output, "sample": sample, "epoch": epoch}
            self._add("responses", {**shown, "row": self._next, "item_key": item["item_key"], "item_id": name})
            self._next += 1
        for seq, step in enumerate(_steps(line)[:_MAX_STEPS]):
            self._append["trace"]((row, seq, *step[:-1], cut(step.value)))
        self._last[place] = _Last(row, said, {id_}, epoch)
        self._score(row, line, id_)
        return len(response["output"] or "") + len(item["input"] or "")

    def _take_own(self, line: dict[str, Any], own: dict[str, Any], number: int) -> int:
        """A line that Foreshock wrote: the response has its number, and what the format cannot hold stands beside."""
        size = 0
        if number not in self._numbers:
            name = _name(line)
            item, response = _item(line, name), _response(line)
            item = {k: item[k] for k in _ITEM_PLACED} | fitted("items", mapping(own.get("item")))
            response = {k: response[k] for k in _PLACED} | fitted("responses", mapping(own.get("response")))
            response.setdefault("delivery", Delivery.OK.value)
            self._add_item(item)
            self._add(
                "responses", {**response, "row": number, "item_key": item["item_key"], "item_id": item["item_id"]}
            )
            self._numbers.add(number)
            self._next = max(self._next, number + 1)
            size = len(response["output"] or "") + len(item["input"] or "")
            for score in map(mapping, listed(own.get("scores"))):
                kept = {**fitted("scores", score), "row": number, "source": "harness"}
                self._add("scores", {"status": ScoreStatus.FAILED.value, **kept})
        if own.get("score") is not False:
            id_ = self._result_id(line)
            label = own.get("label") if isinstance(own.get("label"), str) else None
            metric = text_of(own.get("metric")) or self._metrics.get(id_, id_)
            self._mark(number, metric, finite(mapping(line.get("evaluation")).get("score")), label)
        return size

    def _result_id(self, line: dict[str, Any]) -> str:
        id_ = text_of(line.get("evaluation_result_id"))
        if id_ is not None:
            return id_
        # a line without a result has the only metric of its evaluation
        ids = [i for i in self._metrics if i]
        return ids[0] if len(ids) == 1 and ids[0] else "score"

    def _score(self, row: int, line: dict[str, Any], id_: str) -> None:
        found = mapping(line.get("evaluation"))
        value = finite(found.get("score"))
        metric = self._metrics.get(id_, id_)
        if text_of(line.get("error")) and not _output(line):
            self._odd["with an error have a score, because the format demands one; it is not read"] += 1
        elif id_ in self._unknown and value == UNKNOWN_LEVEL:
            self._append["scores"]((row, metric, "harness", None, ScoreStatus.UNPARSED.value, "unknown"))
        elif "score" in found:
            self._mark(row, metric, value, None)

    def _mark(self, row: int, metric: str, value: float | None, label: str | None) -> None:
        status = ScoreStatus.FAILED if value is None else ScoreStatus.SCORED
        self._append["scores"]((row, metric, "harness", value, status.value, label))

    def _add_item(self, item: dict[str, Any]) -> None:
        mark = hash(digest(item))
        if mark not in self._items:
            self._items.add(mark)
            self._add("items", item)

    def _add(self, table: str, values: Mapping[str, Any]) -> None:
        self._append[table](tuple(values.get(name) for name in _COLUMNS[table]))


def _name(line: dict[str, Any]) -> str:
    return plain(line.get("sample_id")) or text_of(line.get("sample_hash")) or ""


def _output(line: dict[str, Any]) -> str | None:
    """What the model said at the end."""
    raw = texts(mapping(line.get("output")).get("raw"))
    if raw:
        return raw[0]
    messages = [mapping(m) for m in listed(line.get("messages"))]
    return next((text_of(m.get("content")) for m in reversed(messages) if m.get("role") == "assistant"), None)


def _said(line: dict[str, Any]) -> str:
    return digest([line.get("output"), line.get("messages"), line.get("sample_hash")], 16)


def _item(line: dict[str, Any], name: str) -> dict[str, Any]:
    asked, metadata = mapping(line.get("input")), mapping(line.get("metadata"))
    question, choices, targets = (
        plain(asked.get("raw")) or None,
        texts(asked.get("choices")),
        texts(asked.get("reference")),
    )
    gold = choices.index(targets[0]) if choices and targets and choices.count(targets[0]) == 1 else None
    subset = next((metadata[k] for k in _SUBSETS if text_of(metadata.get(k))), None)
    return {
        "item_key": item_key(question, choices or (), targets or ()),
        "item_id": item_name(name),
        "input": question,
        "choices": choices,
        "targets": targets or None,
        "gold_index": gold,
        "subset": subset,
    }


def _response(line: dict[str, Any]) -> dict[str, Any]:
    output, error = _output(line), text_of(line.get("error"))
    reasons = [t for t in texts(mapping(line.get("output")).get("reasoning_trace")) or [] if t]
    told = [mapping(a) for a in listed(line.get("answer_attribution"))]
    final = [a for a in told if a.get("is_terminal") is not False] or told
    usage, pace = mapping(line.get("token_usage")), mapping(line.get("performance"))
    millis = finite(pace.get("latency_ms"))
    formatted = text_of(mapping(line.get("input")).get("formatted"))
    found = mapping(line.get("evaluation"))
    delivery = Delivery.OK if output is not None else Delivery.ERROR if error else Delivery.MISSING
    _, filter_ = task_and_filter(plain(line.get("evaluation_name")) or "", text_of(line.get("evaluation_result_id")))
    meta = {
        "error": error,
        "is_correct": found.get("is_correct"),
        "num_turns": found.get("num_turns"),
        "tool_calls": found.get("tool_calls_count"),
        "metadata": {k: v for k, v in mapping(line.get("metadata")).items() if k != OWN},
    }
    return {
        "epoch": 1,
        "sample": 0,
        "filter": filter_,
        "prompt_hash": digest(formatted, 16) if formatted else None,
        "delivery": delivery.value,
        "output": output,
        "reasoning": "\n\n".join(reasons) or None,
        "answer": text_of(final[-1].get("extracted_value")) if final else None,
        "input_tokens": whole_number(usage.get("input_tokens")),
        "output_tokens": whole_number(usage.get("output_tokens")),
        "reasoning_tokens": whole_number(usage.get("reasoning_tokens")),
        "total_tokens": whole_number(usage.get("total_tokens")),
        "seconds": None if millis is None else millis / 1000,
        "meta": encoded(meta),
    }


def _steps(line: dict[str, Any]) -> list[Step]:
    """Turns, reasoning and tool calls of a conversation."""
    steps: list[Step] = []
    turn = -1
    for message in map(mapping, listed(line.get("messages"))):
        if message.get("role") != "assistant":
            continue
        turn += 1
        thought, said = text_of(message.get("reasoning_trace")), plain(message.get("content")) or ""
        if thought:
            steps.append(Step(turn, "reasoning", None, None, len(thought), "characters"))
        steps.append(Step(turn, "turn", "assistant", None, len(said), "characters"))
        calls = map(mapping, listed(message.get("tool_calls")))
        steps += [Step(turn, "tool", text_of(c.get("name")), value=plain(c.get("arguments"))) for c in calls]
    return steps
