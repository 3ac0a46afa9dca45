"""The part of a sample of an Inspect log that Foreshock reads, over every version since 2024.

Everything else is skipped while parsing, which is what makes 50,000 samples cost seconds. Fields whose type differs
between versions or kinds of event are kept encoded (``Raw``) until somebody needs them. No field is required.
"""

from __future__ import annotations

from typing import Any

import msgspec

NOTHING = msgspec.Raw(b"")


class Tree(msgspec.Struct, gc=False):
    # parsed JSON is a tree, so the collector of cycles need not look at it
    pass


class Usage(Tree):
    """Tokens of one model."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    input_tokens_cache_write: int | None = None
    input_tokens_cache_read: int | None = None
    reasoning_tokens: int | None = None


class Part(Tree):
    """A piece of a message; ``type`` says which of the fields it has."""

    type: str | None = None
    text: str | None = None
    refusal: bool | None = None
    reasoning: str | None = None
    summary: str | None = None
    redacted: bool | None = None
    image: str | None = None
    audio: str | None = None
    video: str | None = None
    document: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class ToolCall(Tree):
    """A tool call that the model asked for."""

    id: str | None = None
    function: str | None = None
    arguments: msgspec.Raw = NOTHING
    parse_error: str | None = None


class Problem(Tree):
    """An error of a sample, a retry or a tool; the traceback stays in the log."""

    message: str | None = None
    type: str | None = None


class Message(Tree):
    """One message; ``reasoning`` and ``tool_error`` are old."""

    role: str | None = None
    id: str | None = None
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    function: str | None = None
    error: Problem | None = None
    tool_error: str | None = None
    reasoning: str | None = None


class Logprob(Tree):
    """Log-probability of one token."""

    logprob: float | None = None


class Logprobs(Tree):
    """Log-probabilities of the generated tokens."""

    content: list[Logprob] | None = None


class Choice(Tree):
    """One of the completions of a generation."""

    message: Message | None = None
    stop_reason: str | None = None
    logprobs: Logprobs | None = None


class Output(Tree):
    """The last generation of a sample."""

    choices: list[Choice] | None = None
    completion: str | None = None
    usage: Usage | None = None
    error: str | None = None


class Score(Tree):
    """What one scorer gave; value and answer are whatever the scorer likes."""

    value: Any = None
    answer: Any = None


class Limit(Tree):
    """The limit that ended a sample."""

    type: str | None = None
    limit: float | None = None
    reason: str | None = None


class Reply(Tree):
    """The message of a generation, as its event knows it."""

    id: str | None = None


class Generated(Tree):
    """One completion of a generation, as its event knows it."""

    message: Reply | None = None


class Generation(Tree):
    """The output of a model event."""

    choices: list[Generated] | None = None
    usage: Usage | None = None


class Event(Tree):
    """One step of the transcript; only model, tool, error and limit events are looked into.

    ``output`` is a text in sandbox events; ``error`` is one in model events.
    """

    event: str | None = None
    function: str | None = None
    working_time: float | None = None
    id: msgspec.Raw = NOTHING
    type: msgspec.Raw = NOTHING
    message: msgspec.Raw = NOTHING
    error: str | Problem | None = None
    output: str | Generation | None = None


class Transcript(Tree):
    """Old place of events and attachments."""

    events: list[Event] | None = None
    content: msgspec.Raw = NOTHING


class Sample(Tree):
    """One sample in one epoch; ``score`` and ``transcript`` are old, ``message_refs`` is of chunked samples."""

    id: int | str | None = None
    epoch: int | None = None
    input: str | list[Message] | None = None
    choices: list[str] | None = None
    target: str | list[str] | None = None
    messages: list[Message] | None = None
    message_refs: list[list[int]] | None = None
    output: Output | None = None
    scores: dict[str, Score] | None = None
    score: Score | None = None
    metadata: msgspec.Raw = NOTHING
    events: list[Event] | None = None
    transcript: Transcript | None = None
    attachments: msgspec.Raw = NOTHING
    model_usage: dict[str, Usage] | None = None
    started_at: str | None = None
    total_time: float | None = None
    working_time: float | None = None
    uuid: str | None = None
    error: Problem | None = None
    error_retries: list[Problem] | None = None
    limit: Limit | None = None
    invalidation: msgspec.Raw = NOTHING


class Summary(Tree):
    """What ``summaries.json`` says about a sample; enough to name one whose own member is damaged."""

    id: int | str | None = None
    epoch: int | None = None
