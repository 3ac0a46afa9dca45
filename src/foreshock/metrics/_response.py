"""What a metric looks at: one response together with its item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec


class Step(NamedTuple):
    """One step inside a response, as the trace table has it.

    Attributes:
        seq: Order inside the response, from 0.
        turn: Assistant turn that it belongs to, from 0; None when it belongs to none.
        kind: ``turn``, ``tool``, ``reasoning``, ``error``, ``limit``, ``probe``, ...
        name: Tool or role.
        ok: Whether it succeeded; None when it cannot fail, or when its outcome is not in the log.
        tokens: Size, in ``unit``.
        unit: ``tokens`` or ``characters``.
        seconds: Duration.
        value: Short content: arguments, error; bounded by the reader.
    """

    seq: int
    turn: int | None = None
    kind: str | None = None
    name: str | None = None
    ok: bool | None = None
    tokens: int | None = None
    unit: str | None = None
    seconds: float | None = None
    value: str | None = None


class Response(msgspec.Struct, frozen=True, gc=False):
    """One response joined with its item; whatever the log does not say is None.

    Attributes:
        answer: Extracted answer; None when nothing could be extracted.
        targets: Accepted answers.
        output: Final text of the model, without reasoning.
        reasoning: Reasoning text kept apart from the answer.
        choices: Options of a multiple-choice item.
        gold_index: Index of the right option.
        choice_logprobs: Log-likelihood of each option, natural log.
        gold_logprob: Log-probability of the gold answer, natural log.
        gold_token_logprobs: Teacher-forced log-probability of each gold token.
        output_token_logprobs: Log-probability of each generated token.
        input: The question.
        subset: Category of the item.
        delivery: How the response arrived.
        epoch: Repetition of the item in the run, from 1.
        sample: Sample inside one request, from 0.
        filter: Answer-extraction filter of the harness.
        input_tokens, output_tokens, reasoning_tokens, total_tokens: Counts as logged, in ``token_unit``.
        token_unit: Whose tokens.
        seconds: Working time.
        meta: JSON of what else the log says.
        trace: Steps in order of ``seq``; None or empty when the log has none for this response.
        harness_scores: The harness's own values of this response, by metric id; only those with a value.
        task, run_key, item_key, item_id: Where it belongs.
    """

    answer: str | None = None
    targets: list[str] | None = None
    output: str | None = None
    reasoning: str | None = None
    choices: list[str] | None = None
    gold_index: int | None = None
    choice_logprobs: list[float] | None = None
    gold_logprob: float | None = None
    gold_token_logprobs: list[float] | None = None
    output_token_logprobs: list[float] | None = None
    input: str | None = None
    subset: str | None = None
    delivery: str | None = None
    epoch: int | None = None
    sample: int | None = None
    filter: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    token_unit: str | None = None
    seconds: float | None = None
    meta: str | None = None
    trace: list[Step] | None = None
    harness_scores: dict[str, float] | None = None
    task: str | None = None
    run_key: str | None = None
    item_key: str | None = None
    item_id: str | None = None


Given = Any
"""A :class:`Response` as a metric gets it: the fields that the metric needs are not None, which types cannot say."""

FIELDS: tuple[str, ...] = Response.__struct_fields__
"""Every column that a metric may look at."""

LISTS = frozenset(
    {
        "targets",
        "choices",
        "choice_logprobs",
        "gold_token_logprobs",
        "output_token_logprobs",
        "trace",
        "harness_scores",
    }
)
"""Columns of lists and mappings: an empty one says as little as None."""


def as_response(row: Response | Mapping[str, Any]) -> Response:
    """Take a mapping as a response; keys that no metric may look at are left out."""
    if isinstance(row, Response):
        return row
    return Response(**{name: row[name] for name in FIELDS if name in row})
