"""Lines of samples turned into items, responses and harness scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from foreshock.readers._contain import reported
from foreshock.readers._lm_eval_item import DocDecoder, Item
from foreshock.readers._lm_eval_kinds import Found, Response, Task, read_line
from foreshock.readers._lm_eval_line import LineDecoder, as_float, finite
from foreshock.readers._lm_eval_samples import Line, Problems
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, ScoreStatus

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index", "subset"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "sample", "filter", "prompt_hash", "delivery", "output", "answer"),
        *("choice_logprobs", "gold_logprob", "gold_token_logprobs", "meta"),
    ),
    "scores": ("row", "metric_id", "source", "value", "status"),
}
MEANS = ("mean", "nanmean")
# Per item these are not scores but what the aggregate needs: a pair, a log-likelihood, ...
NOT_MEANS = frozenset(
    {
        *("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "bleu", "chrf", "ter", "mcc"),
        *("brier_score", "likelihood", "bypass"),
    }
)
MAX_META = 2_000
_MISSING = [Response()]


_NAME, _TOLD = 80, 20  # characters of a member's name, and members, that a warning tells


class SampleRows:
    """Builds the batches of one run.

    Args:
        task: What is known about the task.
        decoder: The decoder of the lines, which knows the names of the metrics.
        problems: Takes lines that turn out to be broken inside.
    """

    def __init__(self, task: Task, decoder: LineDecoder, problems: Problems) -> None:
        self._task, self._decoder, self._docs, self._problems = task, decoder, DocDecoder(), problems
        self._rows = Rows(TABLES)
        self._item, self._response, self._score = map(self._rows.appender, TABLES)
        self._items: dict[Any, int] = {}
        self._plan: list[tuple[str, bool]] = []
        self._left_out: dict[str, str] = {}
        self._responses = self._documents = self._unequal = self._untitled = 0

    def batches(self, lines: Iterable[Line]) -> Iterator[Batch]:
        """Rows of every line."""
        for line in lines:
            self._rows.grow(self._add(line))
            if self._rows.full:
                yield from self._rows.flush()
        yield from self._rows.flush()

    def rest(self) -> Iterator[Batch]:
        """Rows of the lines before one that stopped the reading."""
        yield from self._rows.flush()

    def warnings(self) -> list[str]:
        """What the user should know about the rows given out so far."""
        found = []
        if self._unequal:
            found.append(f"{self._unequal} documents share an id with another one; both are kept")
        if self._untitled:
            found.append(
                f"{self._untitled} of {self._documents} documents have no field known to hold the question; "
                "they are matched by a hash of the whole document, with other logs of this harness only"
            )
        if self._decoder.odd:
            odd = ", ".join(f"{name} in {count} lines" for name, count in self._decoder.odd.items())
            found.append(f"members of an unexpected type were left out: {odd}")
            self._decoder.odd.clear()
        told = list(self._left_out.items())
        found += [f"{name[:_NAME]} is not a score of single items ({why})" for name, why in told[:_TOLD]]
        more = len(told) - _TOLD
        return found + ([f"{more:,} further members are no scores of single items"] if more > 0 else [])

    def _add(self, line: Line) -> int:
        before = self._responses
        try:
            return self._add_line(line)
        except BaseException as error:  # noqa: BLE001 - one bad line is not the others
            self._problems.add(line.number, reported(error, Path()).found)
            self._rows.undo(before)
            self._responses = before
            return 0

    def _add_line(self, line: Line) -> int:
        body, (item, responses) = self._read(line)
        name = item_name(str(line.doc_id))
        tokens = body.gold_token_logprobs
        logprobs = [as_float(t) for t in tokens] if tokens is not None else None
        self._add_item(line.doc_id, name, item)
        extra = self._add_scores(body)
        delivery = (Delivery.OK if responses else Delivery.MISSING).value
        size = len(item.question or "")
        for k, found in enumerate(responses or _MISSING):
            gold = found.gold_logprob
            if gold is None and logprobs is not None and None not in logprobs:
                gold = sum([p for p in logprobs if p is not None])
            meta = _meta({**found.meta, **extra}) if found.meta or extra else None
            turn = line.filter if k == 0 else None
            # fmt: off
            self._response((
                self._responses, item.key, name, 1, k, turn, body.prompt_hash, delivery, found.output, found.answer,
                found.choice_logprobs, gold, logprobs, meta,
            ))
            # fmt: on
            self._responses += 1
            size += len(found.output or "") + 8 * len(logprobs or "")
        return size

    def _read(self, line: Line) -> tuple[Any, Found]:
        body = line.body
        try:
            return body, read_line(body, self._docs.decode(body.doc), self._task)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # the parts that were left encoded are looked into only here
            body = self._decoder.repaired(line.data)
            return body, read_line(body, self._docs.decode(body.doc), self._task)

    def _add_item(self, doc_id: Any, name: str, item: Item) -> None:
        mark = hash((item.key, item.gold))
        before = self._items.get(doc_id)
        if before == mark:
            return
        self._items[doc_id] = mark
        self._unequal += before is not None
        self._documents += 1
        self._untitled += item.question is None
        self._item((item.key, name, item.question, item.choices, item.targets, item.gold, item.subset))

    def _add_scores(self, body: Any) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if len(self._plan) != len(self._decoder.metrics):
            self._plan = [(name, self._averaged(name)) for name in self._decoder.metrics]
        for (name, averaged), found in zip(self._plan, self._decoder.values(body), strict=True):
            if found is msgspec.UNSET:
                continue
            value = finite(found)
            if averaged and value is not None:
                self._score((self._responses, name, "harness", value, "scored"))
            elif averaged and (found is None or isinstance(found, int | float)):
                self._score((self._responses, name, "harness", None, ScoreStatus.FAILED.value))
            else:
                self._left_out.setdefault(name, self._why(name))
                if name != "bypass":
                    extra[name] = found
        return extra

    def _averaged(self, name: str) -> bool:
        return self._task.aggregations.get(name, "mean") in MEANS and name not in NOT_MEANS

    def _why(self, name: str) -> str:
        if name == "bypass":
            return "the harness was told to score nothing"
        how = self._task.aggregations.get(name, "")
        return f"aggregated by {how}" if how.isidentifier() else "the aggregate is made of it in another way"


def _meta(meta: dict[str, Any]) -> str:
    encoded = msgspec.json.encode(meta).decode()
    return encoded if len(encoded) <= MAX_META else msgspec.json.encode({"too_long": sorted(meta)}).decode()
