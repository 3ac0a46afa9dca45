"""The tables of the store as plain data: name, kind and meaning of every column.

Columns are only ever added, and every added column may be null. A null is "missing"; NaN never enters a table.
``store`` maps the kinds to Polars types; readers fill a subset of the columns and the rest becomes null.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["str", "int", "float", "bool", "list[str]", "list[float]"]

SCHEMA_VERSION = 1
"""Version of the tables; a store with a larger one is refused, a smaller one is read."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    doc: str


_KEY = (
    Column("ingest_id", "str", "which ingest the row came with; filled by the store"),
    Column("row", "int", "number of the response inside its ingest, from 0"),
)

ITEMS: tuple[Column, ...] = (
    Column("item_key", "str", "SHA-256 of question, choices and targets; null without text"),
    Column("task", "str", "task the item belongs to; filled by the store from the run when null"),
    Column("item_id", "str", "the harness's own id, as text"),
    Column("input", "str", "question without few-shot prefix or template"),
    Column("choices", "list[str]", "answer options of a multiple-choice item"),
    Column("targets", "list[str]", "accepted answers"),
    Column("gold_index", "int", "index into choices"),
    Column("subset", "str", "category or subject"),
    Column("item_date", "str", "ISO date of the item"),
    Column("generator", "str", "item family that wrote it"),
    Column("params", "str", "JSON of the generator's knobs"),
    Column("seed", "int", "seed of the generator"),
    Column("truth", "str", "how the answer is known"),
    Column("status", "str", "active, retired, invalid"),
)

RESPONSES: tuple[Column, ...] = (
    *_KEY,
    Column("run_key", "str", "filled by the store"),
    Column("task", "str", "filled by the store"),
    Column("item_key", "str", "see items"),
    Column("item_id", "str", "the harness's own id, as text"),
    Column("epoch", "int", "repetition of the item in the run, from 1"),
    Column("sample", "int", "sample inside one request, from 0"),
    Column("filter", "str", "answer-extraction filter of the harness"),
    Column("perturbation", "str", "HELM perturbation and the like"),
    Column("prompt_hash", "str", "hash of the full prompt, when the log has it"),
    Column("delivery", "str", "one of Delivery"),
    Column("output", "str", "final text of the model, without reasoning"),
    Column("reasoning", "str", "reasoning text kept apart from the answer"),
    Column("answer", "str", "extracted answer; null when nothing could be extracted"),
    Column("choice_logprobs", "list[float]", "log-likelihood of each choice, natural log"),
    Column("gold_logprob", "float", "log-probability of the gold answer, natural log"),
    Column("gold_token_logprobs", "list[float]", "teacher-forced log-probability of each gold token"),
    Column("output_token_logprobs", "list[float]", "log-probability of each generated token"),
    Column("input_tokens", "int", "tokens read"),
    Column("output_tokens", "int", "tokens written, reasoning included where the log adds it"),
    Column("reasoning_tokens", "int", "tokens of reasoning"),
    Column("total_tokens", "int", "as logged"),
    Column("token_unit", "str", "whose tokens: the model or tokenizer that counted"),
    Column("seconds", "float", "working time of the sample"),
    Column("meta", "str", "JSON of what else the log says about this response"),
)

TRACE: tuple[Column, ...] = (
    *_KEY,
    Column("seq", "int", "order inside the response, from 0"),
    Column("turn", "int", "assistant turn the step belongs to, from 0"),
    Column("kind", "str", "turn, tool, reasoning, error, limit, probe, ..."),
    Column("name", "str", "tool or role"),
    Column("ok", "bool", "whether the step succeeded; null when it cannot fail"),
    Column("tokens", "int", "size of the step"),
    Column("unit", "str", "unit of tokens: tokens or characters"),
    Column("seconds", "float", "duration"),
    Column("value", "str", "short content: arguments, error; bounded by the reader"),
)

SCORES: tuple[Column, ...] = (
    *_KEY,
    Column("metric_id", "str", "name@version+hash of parameters; a harness metric keeps its own name"),
    Column("source", "str", "foreshock or harness"),
    Column("value", "float", "null unless status is scored"),
    Column("status", "str", "one of ScoreStatus"),
    Column("label", "str", "the value in the harness's own words (C, I, P, ...)"),
)

AGGREGATES: tuple[Column, ...] = (
    Column("run_key", "str", "filled by the store"),
    Column("ingest_id", "str", "filled by the store"),
    Column("task", "str", "filled by the store from the run when null"),
    Column("subset", "str", "category, when the value is of a part of the task"),
    Column("metric_id", "str", "as in scores"),
    Column("filter", "str", "answer-extraction filter"),
    Column("reducer", "str", "epoch reducer"),
    Column("value", "float", "in raw units of the metric, [0, 1] for rates"),
    Column("stderr", "float", "null when unknown or written as N/A"),
    Column("stderr_kind", "str", "harness, bootstrap, derived, ..."),
    Column("n", "int", "items behind the value"),
    Column("n_scored", "int", "items that had a score"),
    Column("low", "float", "smallest possible value"),
    Column("high", "float", "largest possible value"),
    Column("higher_is_better", "bool", "direction"),
    Column("source", "str", "harness, table, scalar or foreshock"),
    Column("raw", "str", "JSON of the value as it stood in the log"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "items": ITEMS,
    "responses": RESPONSES,
    "trace": TRACE,
    "scores": SCORES,
    "aggregates": AGGREGATES,
}
"""Column tables, by name. Runs are the sixth table; they live in the commits as :class:`Run` records."""
