"""Details of lighteval: one row of Parquet for each document."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreshock._base import BrokenFileError, digest
from foreshock.readers._lm_eval_line import as_float, finite
from foreshock.readers._parquet import MAGIC, Parquet
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._protocol import Candidate
from foreshock.readers._replies import Asked, Marked, Reply, ReplyRows, listed, plain, text_of, whole_number
from foreshock.records import Delivery, item_key

if TYPE_CHECKING:
    import polars as pl

_PART = 1_024
"""Rows that are held at a time: each may hold a prompt with all its examples."""
_NAME = re.compile(r"details_.*_\d{4}-\d{2}-\d{2}T.*\.parquet")
_STRUCTS = ("doc", "model_response", "metric")
# columns of the layouts before those three; the rest are metrics where no column holds all of them
_FLAT = frozenset(
    {
        *("example", "query", "instruction", "full_prompt", "num_effective_few_shots", "num_asked_few_shots", "gold"),
        *("predictions", "prediction_logits", "input_tokens", "cont_tokens", "truncated", "padded", "pred_logits"),
        *("choices", "gold_index", "metrics", "specifics", "hash", "hashes", "id", "non_truncated", "non_padded"),
    }
)
_KEPT = {
    "doc": ("query", "choices", "gold_index", "id", "task_name"),
    "model_response": (
        *("text", "text_post_processed", "reasonings", "logprobs", "unconditioned_logprobs", "truncated_tokens_count"),
    ),
}
_COUNTED = ("input_tokens", "output_tokens")
_MAX_LITERAL = 4 * 2**20


def is_details(candidate: Candidate) -> bool:
    """Whether a file is Parquet with the columns of details, or by its name was such before it was damaged."""
    if not candidate.head.startswith(MAGIC):
        return False
    try:
        columns = set(Parquet(candidate.path, str(candidate.path)).schema)
    except BrokenFileError:
        return bool(_NAME.fullmatch(candidate.path.name))
    return columns >= set(_STRUCTS) or ("num_effective_few_shots" in columns and "predictions" in columns)


class Details:
    """One file of details.

    Args:
        path: The file.

    Attributes:
        structs: Whether it has the three columns of today; else one for each fact.
        metrics: Columns that are metrics, in the files that have no column for all of them.

    Raises:
        BrokenFileError: It is no whole Parquet file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = Parquet(path, str(path))
        schema = self._file.schema
        self.structs = set(schema) >= set(_STRUCTS)
        numbers = [n for n, kind in schema.items() if n not in _FLAT and (kind.is_numeric() or str(kind) == "Boolean")]
        self.metrics = [] if self.structs or "metrics" in schema else numbers
        self._columns = self._projection(schema)

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and content of every row, without the tokens."""
        parts = self._file.parts(_PART, self._columns)
        yield from enumerate((row for part in parts for row in part.iter_rows(named=True)), 1)

    def _projection(self, schema: dict[str, pl.DataType]) -> list[pl.Expr]:
        """What is needed of the columns: the tokens only by their number, few-shot examples not at all."""
        import polars as pl

        if not self.structs:
            kept = ("example", "query", "full_prompt", "choices", "gold", "gold_index", "predictions", "metrics")
            more = ("num_asked_few_shots", "num_effective_few_shots", "truncated", *self.metrics)
            return [pl.col(n) for n in (*kept, *more) if n in schema]
        found = [pl.col("metric")]
        for name in ("doc", "model_response"):
            kind = schema[name]
            if not isinstance(kind, pl.Struct):
                found.append(pl.col(name))  # written as text, because its rows had different types
                continue
            fields = {f.name: f.dtype for f in kind.fields}
            parts = [pl.col(name).struct.field(f) for f in _KEPT[name] if f in fields]
            lists = [f for f in _COUNTED if isinstance(fields.get(f), pl.List)]
            parts += [_lengths(pl.col(name).struct.field(f), fields[f]).alias(f"n_{f}") for f in lists]
            found.append(pl.struct(parts).alias(name) if parts else pl.col(name))
        return found


def _lengths(column: pl.Expr, kind: Any) -> pl.Expr:
    """Tokens of a response: its own, or of each of its samples."""
    import polars as pl

    return column.list.eval(pl.element().list.len()) if isinstance(kind.inner, pl.List) else column.list.len()


class DetailRows(ReplyRows):
    """Builds the batches of one task.

    Args:
        bad: Takes rows that turn out to be broken.
        details: The file.
    """

    def __init__(self, bad: Problems, details: Details) -> None:
        super().__init__(bad)
        self._details = details
        self._rows_seen = 0

    def take(self, row: dict[str, Any]) -> int:
        """Add one row; returns the size of its texts."""
        self._rows_seen += 1
        found = _today(row) if self._details.structs else _before(row, self._details.metrics)
        item, replies = found["item"], found["replies"]
        name = self.ask(text_of(found["id"]) or item.key or f"row {self._rows_seen}", item)
        first = self.responses
        for reply in replies:
            self.reply(name, item, reply)
        self.mark(first, self._marks(mapping(found["metrics"])))
        if found["cut"]:
            self.odd["documents with fewer examples than were asked for"] += 1
        return len(item.question or "") + sum(len(r.output or "") for r in replies)

    def _marks(self, metrics: dict[str, Any]) -> Iterator[Marked]:
        for name, value in metrics.items():
            if value is None:
                continue  # Parquet has every metric in every row
            if isinstance(value, bool | int | float):
                yield Marked(name, finite(value))
            else:
                self.odd[f"{name} is not a score of single documents"] += 1


def _today(row: dict[str, Any]) -> dict[str, Any]:
    doc, response = mapping(literal(row["doc"])), mapping(literal(row["model_response"]))
    choices, gold = listed(doc.get("choices")), doc.get("gold_index")
    said = listed(response.get("text_post_processed")) or listed(response.get("text"))
    likelihoods = [] if any(said) else listed(response.get("logprobs"))
    item = _item(text_of(doc.get("query")), choices, gold, chosen=bool(likelihoods))
    meta = {
        "unconditional_logprobs": response.get("unconditioned_logprobs"),
        "truncated_tokens": response.get("truncated_tokens_count") or None,
    }
    tokens = _tokens(response)
    replies = _replies(item, said if any(said) or not likelihoods else [], likelihoods, None, meta)
    thoughts = listed(response.get("reasonings"))
    full = [
        r._replace(
            reasoning=text_of(thoughts[k]) if k < len(thoughts) else None,
            input_tokens=tokens[0],
            output_tokens=tokens[1][k] if k < len(tokens[1]) and r.output is not None else None,
        )
        for k, r in enumerate(replies)
    ]
    return {"item": item, "id": doc.get("id"), "replies": full, "metrics": literal(row["metric"]), "cut": False}


def _tokens(response: dict[str, Any]) -> tuple[int | None, list[int | None]]:
    asked, given = response.get("n_input_tokens"), response.get("n_output_tokens")
    counts = given if isinstance(given, list) else [given]
    return whole_number(asked) or None, [whole_number(c) for c in counts]


def _before(row: dict[str, Any], metrics: list[str]) -> dict[str, Any]:
    """A row of the layouts until the spring of 2025, those of the first Open LLM Leaderboard among them."""
    choices = listed(literal(row.get("choices")))
    predictions = listed(literal(row.get("predictions")))
    gold = row.get("gold_index")
    if gold in (None, []):
        gold = literal(row.get("gold"))
    while len(predictions) == 1 and isinstance(predictions[0], list) and not _is_pair(predictions[0]):
        predictions = predictions[0]
    pairs = bool(predictions) and all(map(_is_pair, predictions))
    numbers = pairs or (bool(predictions) and all(isinstance(p, int | float) for p in predictions))
    likelihoods = [p[0] for p in predictions] if pairs else predictions if numbers else []
    item = _item(text_of(row.get("example")) or text_of(row.get("query")), choices, literal(gold), chosen=numbers)
    prompt = text_of(row.get("full_prompt"))
    replies = _replies(item, [] if numbers else predictions, likelihoods, digest(prompt, 16) if prompt else None, {})
    asked, used = row.get("num_asked_few_shots"), row.get("num_effective_few_shots")
    scores = {m: row.get(m) for m in metrics} if metrics else literal(row.get("metrics"))
    return {"item": item, "id": None, "replies": replies, "metrics": scores, "cut": asked is not None and asked != used}


def _is_pair(value: Any) -> bool:
    """A log-likelihood and whether it was the likeliest continuation."""
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[1], bool)


def _item(question: str | None, choices: list[Any], gold: Any, *, chosen: bool) -> Asked:
    """The item; the choices of a task that generates are its accepted answers."""
    options = [plain(c) or "" for c in choices]
    golds = gold if isinstance(gold, list) else [gold]
    right = [g for g in golds if isinstance(g, int) and not isinstance(g, bool) and 0 <= g < len(options)]
    if right:
        targets: list[str] | None = [options[g] for g in right]
    else:
        targets = [t for g in golds if (t := plain(g)) is not None and not isinstance(g, int)] or options or None
    shown = options if chosen and options else None
    single = right[0] if shown and len(right) == 1 else None
    return Asked(item_key(question, shown or (), targets or ()), question, shown, targets, single)


def _replies(
    item: Asked, said: list[Any], likelihoods: list[Any], prompt: str | None, meta: dict[str, Any]
) -> list[Reply]:
    if said:
        texts = [plain(s) for s in said]
        state = [Delivery.MISSING if t is None else Delivery.OK for t in texts]
        return [
            Reply(sample=k, prompt_hash=prompt, delivery=d, output=t, meta=meta if k == 0 else {})
            for k, (t, d) in enumerate(zip(texts, state, strict=True))
        ]
    values = [as_float(v) for v in likelihoods]
    known = [v for v in values if v is not None]
    if not known or len(known) < len(values):
        return [Reply(prompt_hash=prompt, delivery=Delivery.MISSING, meta=meta)]
    if item.choices is None or len(known) != len(item.choices):
        # the likelihood of a whole text
        return [Reply(prompt_hash=prompt, gold_logprob=known[0] if len(known) == 1 else None, meta=meta)]
    best = known.index(max(known))
    gold = None if item.gold is None else known[item.gold]
    return [Reply(prompt_hash=prompt, answer=item.choices[best], choice_logprobs=known, gold_logprob=gold, meta=meta)]


def literal(value: Any) -> Any:
    """A value that the writer turned into text because its column held several types; others stay as they are."""
    if not isinstance(value, str) or value[:1] not in ("[", "{") or len(value) > _MAX_LITERAL:
        return value
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # {[]} is a TypeError
        return value
