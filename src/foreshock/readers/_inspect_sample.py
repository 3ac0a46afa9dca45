"""From samples to rows of all tables."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from foreshock.readers._contain import reported
from foreshock.readers._inspect_delivery import delivery
from foreshock.readers._inspect_header_types import Header, Spec
from foreshock.readers._inspect_json import present
from foreshock.readers._inspect_log import Piece, Texts
from foreshock.readers._inspect_meta import NO_USAGE, Meta, answer_of, compact, finite, note_facts, usage_of, whole
from foreshock.readers._inspect_scores import score_rows
from foreshock.readers._inspect_tally import Tally
from foreshock.readers._inspect_text import completion, gold_index, question, reasoning
from foreshock.readers._inspect_trace import MAX_STEPS, steps
from foreshock.readers._inspect_types import Sample, Score
from foreshock.readers._json import text
from foreshock.readers._rows import Rows, item_name
from foreshock.records import Batch, Delivery, item_key

TABLES = {
    "items": ("item_key", "item_id", "input", "choices", "targets", "gold_index"),
    "responses": (
        *("row", "item_key", "item_id", "epoch", "delivery", "output", "reasoning", "answer", "output_token_logprobs"),
        *("input_tokens", "output_tokens", "reasoning_tokens", "total_tokens", "token_unit", "seconds", "meta"),
    ),
    "trace": ("row", "seq", "turn", "kind", "name", "ok", "tokens", "unit", "seconds", "value"),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}
_ROW = 128  # bytes of a row besides its long texts


class SampleRows:
    """Turns samples into rows and counts them.

    Args:
        header: For the model whose usage counts and the order of the scorers.
        tally: Where oddities are counted.

    Attributes:
        present: Distinct (id, epoch) pairs that were read.
    """

    def __init__(self, header: Header, tally: Tally) -> None:
        spec = header.eval or Spec()
        self.present: set[tuple[str | None, int]] = set()
        self._tally = tally
        self._model = spec.model or "unknown"
        self._primary = [s.name for s in spec.scorers or [] if s.name]
        self._single = _single_scorer(header)
        self._rows = Rows(TABLES)
        self._add_item, self._add_response, self._add_step, self._add_score = map(self._rows.appender, TABLES)
        self._items: set[str] = set()
        self._number = self._size = 0
        self._encode = msgspec.json.Encoder().encode

    def batches(self, pieces: Iterator[Piece]) -> Iterator[Batch]:
        """Rows of all samples, in pieces small enough to hold."""
        more = True
        while more:
            # parsed JSON has no cycles to collect; looking for them took 0.3 of 3.9 CPU s at 50,000 samples
            with _without_gc():
                more = self._fill(pieces)
                ready = list(self._rows.flush())
            ready.reverse()
            while ready:
                yield ready.pop()  # not kept while the next ones are made

    def _fill(self, pieces: Iterator[Piece]) -> bool:
        """Take samples until a batch is full; False when there are no more."""
        for piece in pieces:
            self._take(piece)
            self._number += 1
            self._rows.grow(self._size)
            self._size = 0
            if self._rows.full:
                return True
        return False

    def _take(self, piece: Piece) -> None:
        if piece.problem is not None:
            self._damaged(piece)
            return
        try:
            self._sample(piece)
        except BaseException as error:  # noqa: BLE001 - one bad sample is not the others
            problem = reported(error, Path()).found
            self._rows.undo(self._number)
            kept = Sample(id=piece.sample.id, epoch=piece.sample.epoch)
            self.present.discard(_identity(kept))
            self._damaged(piece._replace(sample=kept, problem=problem))

    def _sample(self, piece: Piece) -> None:
        sample, texts, meta = piece.sample, piece.texts, Meta()
        item_id, epoch = self._identify(piece)
        key = self._item(sample, texts, item_id)
        state = delivery(sample)
        scores = sample.scores or ({self._single: sample.score} if sample.score else {})
        if present(sample.invalidation):
            self._tally.add("invalid", piece.where)
            meta.invalidated, meta.delivery, state = compact(sample.invalidation), str(state), Delivery.CANCELLED
        else:
            self._scores(scores, piece.where)
        self._trace(piece, meta)
        answer = answer_of(scores, texts, self._primary, meta)
        output = completion(sample.output, texts)
        if output is None and state is Delivery.OK and _came_without_text(sample):
            output = ""
        usage = usage_of(sample, self._model, meta)
        note_facts(sample, meta)
        if meta.completions:
            self._tally.add("choices", piece.where)
        first = sample.output.choices[0] if sample.output and sample.output.choices else None
        thought = reasoning(first.message, texts) if first else None
        row = (
            self._number,
            key,
            item_id,
            epoch,
            str(state),
            output,
            thought,
            answer,
            _logprobs(sample) if first and first.logprobs else None,
            self._whole(usage.input_tokens, piece.where),
            self._whole(usage.output_tokens, piece.where),
            self._whole(usage.reasoning_tokens, piece.where),
            self._whole(usage.total_tokens, piece.where),
            None if usage is NO_USAGE else self._model,
            finite(sample.working_time),
            self._encode(meta).decode("utf-8", "replace"),
        )
        self._add_response(row)
        self._size += _ROW * 4 + len(output or "") + len(thought or "") + len(answer or "")

    def _damaged(self, piece: Piece) -> None:
        self._tally.add("bad", f"{piece.where} ({piece.problem})")
        item_id, epoch = self._identify(piece)
        # bytes of a member's name that are not UTF-8 are kept as lone surrogates until here
        meta = self._encode(Meta(problem=text(piece.problem or ""), member=text(piece.where))).decode()
        row = (self._number, None, item_id, epoch, str(Delivery.MISSING), *(None,) * 10, meta)
        self._add_response(row)
        self._size += _ROW * 4

    def _identify(self, piece: Piece) -> tuple[str | None, int | None]:
        sample = piece.sample
        epoch = 1 if sample.epoch is None else self._whole(sample.epoch, piece.where)
        item_id, _ = _identity(sample)
        if item_id is None:
            if piece.problem:
                return None, None
            item_id = item_name(_place(piece.where))
            self._tally.add("unnamed", piece.where)
        if (item_id, epoch or 0) in self.present:
            self._tally.add("twin", f"{item_id}, epoch {epoch}")
        self.present.add((item_id, epoch or 0))
        return item_id, epoch

    def _whole(self, value: int | None, where: str) -> int | None:
        kept = whole(value)
        if kept is None and value is not None:
            self._tally.add("odd", f"{where}: an integer of more than 64 bits")
        return kept

    def _item(self, sample: Sample, texts: Texts, item_id: str | None) -> str | None:
        asked = question(sample, texts)
        targets = _texts(sample.target, texts)
        choices = _texts(sample.choices, texts)
        key = item_key(asked, choices, targets)
        known = f"{key}/{item_id}"
        if known not in self._items:
            self._items.add(known)
            gold = gold_index(choices, targets) if choices else None
            self._add_item((key, item_id, asked, choices or None, targets or None, gold))
            self._size += _ROW + len(asked or "") + sum(map(len, choices)) + sum(map(len, targets))
        return key

    def _scores(self, scores: dict[str, Score], where: str) -> None:
        for name, score in scores.items():
            for metric, found in score_rows(name, score, self._tally, where):
                self._add_score((self._number, metric, "harness", *found))
                self._size += _ROW

    def _trace(self, piece: Piece, meta: Meta) -> None:
        found = steps(piece.sample, piece.texts)
        for seq, step in enumerate(found[:MAX_STEPS]):
            self._add_step((self._number, seq, *step))
        self._size += _ROW * min(len(found), MAX_STEPS)
        if len(found) > MAX_STEPS:
            meta.trace_left_out = len(found) - MAX_STEPS
            self._tally.add("long", piece.where)


def _came_without_text(sample: Sample) -> bool:
    """Whether a last generation was asked for and gave nothing at all: no choice, and no message of the model's.

    Where the model did speak before, or the log keeps messages elsewhere, what came is not known.
    """
    if sample.output is None or sample.output.choices != [] or sample.message_refs:
        return False
    return not any(message.role == "assistant" for message in sample.messages or ())


def _identity(sample: Sample) -> tuple[str | None, int]:
    item_id = None if sample.id is None else item_name(str(sample.id))
    return item_id, 1 if sample.epoch is None else whole(sample.epoch) or 0


def _place(where: str) -> str:
    """A name for a sample without an id: its member's, as the writer makes it from the id, or its position.

    Examples:
        >>> _place("samples/12_epoch_1.json"), _place("samples[3]")
        ('12', 'samples[3]')
    """
    named = re.fullmatch(r"samples/(.+?)(?:_epoch_\d+)?(?:\.json)?", where, re.DOTALL)
    return text(named[1] if named else where)


@contextmanager
def _without_gc() -> Iterator[None]:
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _single_scorer(header: Header) -> str:
    """Name of the scorer of a log whose samples have one ``score`` without a name."""
    results = header.results
    if results and results.scorer and results.scorer.name:
        return results.scorer.name
    names = [s.name for s in (results.scores if results else None) or [] if s.name]
    return names[0] if names else "score"


def _texts(value: str | list[str] | None, texts: Texts) -> list[str]:
    return [texts(v) for v in ([value] if isinstance(value, str) else value or [])]


def _logprobs(sample: Sample) -> list[float] | None:
    """Log-probabilities of the generated tokens; none at all when one is missing, so that positions keep meaning."""
    choices = sample.output.choices if sample.output else None
    content = choices[0].logprobs.content if choices and choices[0].logprobs else None
    values = [finite(token.logprob) for token in content or []]
    known = [v for v in values if v is not None]
    return known if known and len(known) == len(values) else None
