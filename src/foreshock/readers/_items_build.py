"""Rows of a table of responses turned into items, responses and harness scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import count_of
from foreshock.readers._items_chat import Chat, chat, is_chat
from foreshock.readers._items_repeats import Numbering
from foreshock.readers._items_survey import Record
from foreshock.readers._items_values import as_int, as_list, as_score, as_text, gold_of, scale_of, scores_of
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, ScoreStatus, item_key

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index", "subset"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "delivery", "output", "answer"),
        *("input_tokens", "output_tokens", "total_tokens", "token_unit"),
    ),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}


class Reply(NamedTuple):
    """What the model gave in one row."""

    outputs: list[str | None]
    answers: list[str | None]
    delivery: Delivery
    tokens: tuple[int | None, int | None, int | None] = (None, None, None)
    unit: str | None = None


class ItemRows:
    """Builds the batches of one run.

    Args:
        scores: Names of the columns of scores, which become the names of metrics.
        graded: Places of the columns that ``scale`` is of; the others hold right and wrong.
        scale: Highest score.
        first_epoch: Smallest epoch of the table.
        where: Place of a row, for messages.
        numbered: Rows without an epoch are numbered in order; else they are all of the first.
    """

    def __init__(
        self,
        scores: Sequence[str],
        graded: Collection[int],
        scale: float | None,
        first_epoch: int,
        where: str,
        *,
        numbered: bool,
    ) -> None:
        self._scores, self._graded = scores, graded
        self._scale, self._shift, self._where = scale, 1 - min(first_epoch, 1), where
        self._numbering = Numbering() if numbered else None
        self._rows = Rows(TABLES)
        self._item, self._response, self._score = map(self._rows.appender, TABLES)
        self._items: dict[str | None, set[int]] = {}
        self._responses = self._golds = self._options = 0

    def batches(self, records: Iterable[Record]) -> Iterator[Batch]:
        """Rows of every record."""
        for record in records:
            self._rows.grow(self._add(record.values))
            if self._rows.full:
                yield from self._rows.flush()
        yield from self._rows.flush()

    def warnings(self) -> list[str]:
        """What the user should know about the rows given out so far."""
        found = []
        if self._golds:
            rows = count_of(self._golds, "row")
            found.append(f"in {rows} the index of the right choice is not the target; the target counts")
        if self._options:
            verb = "repeats" if self._options == 1 else "repeat"
            found.append(f"{count_of(self._options, 'row')} {verb} an item with another question, choices or target")
        return found

    def _add(self, values: Mapping[str, Any]) -> int:
        key, name, size = self._add_item(as_text(values.get("item")), values)
        reply = _reply(values)
        if "score" in values:
            self._add_score(values)
        epoch = as_int(values.get("epoch"))
        if epoch is None:
            epoch = self._numbering.next(values) if self._numbering else 1
        else:
            epoch += self._shift
        for sample, output in enumerate(reply.outputs):
            answer = reply.answers[sample] if sample < len(reply.answers) else None
            row = (self._responses, key, name, epoch, sample, reply.delivery.value, output, answer)
            self._response((*row, *reply.tokens, reply.unit))
            self._responses += 1
            size += len(output or "")
        return size

    def _add_item(self, told: str | None, values: Mapping[str, Any]) -> tuple[str | None, str, int]:
        question, target = as_text(values.get("input")), values.get("target")
        choices = as_list(values.get("choices"), self._where)
        gold = gold_of(values.get("gold_index"), target, choices)
        meant = gold_of(None, target, choices)
        if gold is not None and meant is not None and gold != meant:
            self._golds += 1
            gold = None
        if isinstance(target, list):
            targets: list[str] | None = [as_text(t) or "" for t in target]
        elif target is None:
            targets = [choices[gold]] if choices and gold is not None else None
        else:
            targets = [as_text(target) or ""]
        key = item_key(question, choices or (), targets or ())
        # a table without ids: the question is the item
        name = item_name(told) if told is not None else key or f"row {self._responses}"
        mark = hash((key, tuple(targets or ()), gold))
        known = self._items.setdefault(name, set())
        if mark not in known:
            self._options += bool(known) and told is not None
            known.add(mark)
            self._item((key, name, question, choices, targets, gold, as_text(values.get("subset"))))
        return key, name, len(question or "")

    def _add_score(self, values: Mapping[str, Any]) -> None:
        scale = scale_of(values, self._scale, self._where)
        for place, (name, cell) in enumerate(zip(self._scores, scores_of(values), strict=True)):
            value, label = as_score(cell, scale if place in self._graded else None, self._where)
            if value is None and label is None:
                continue
            metric = as_text(values.get("metric")) or name
            status = ScoreStatus.FAILED if value is None else ScoreStatus.SCORED
            self._score((self._responses, metric, "harness", value, status.value, label))


def _reply(values: Mapping[str, Any]) -> Reply:
    output = values.get("output")
    answers = _texts(values.get("answer"))
    if is_chat(output):
        return _of_chat(chat(output), answers)
    outputs = _texts(output)
    given = any(o is not None for o in outputs) or any(a is not None for a in answers)
    if not given and all(score is None for score in scores_of(values)):
        return Reply([None], [None], Delivery.MISSING)
    if len(outputs) < len(answers) and outputs == [None]:
        outputs = [None] * len(answers)
    return Reply(outputs, answers, Delivery.OK)


def _of_chat(found: Chat, answers: list[str | None]) -> Reply:
    outputs: list[str | None] = [*found.outputs] or [None]
    return Reply(outputs, answers, found.delivery, found.tokens, found.model)


def _texts(value: Any) -> list[str | None]:
    if isinstance(value, list):
        return [as_text(v) for v in value] or [None]
    if isinstance(value, str | int | float) or value is None:
        return [as_text(value)]
    return [msgspec.json.encode(value).decode()]
