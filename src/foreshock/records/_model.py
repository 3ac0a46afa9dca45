"""How a model is asked and what it gives back, whatever stands behind it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import msgspec

from foreshock._base import digest
from foreshock.records._states import Delivery


class Message(msgspec.Struct, frozen=True):
    """One turn of a chat; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question to a model: a text to go on from, or the turns of a chat.

    With a ``target`` nothing is generated: the model says how likely it finds the target after the prompt, token by
    token (teacher forcing).

    Attributes:
        prompt: Text that the model continues; None when there are ``messages``.
        messages: Turns of a chat; empty when there is a ``prompt``.
        target: Text to be scored right after the prompt, leading space included; None means: generate.
        stop: Texts at which generation ends; they are not part of the answer.
        max_tokens: Tokens to generate at the most.
        temperature: Of sampling; 0 takes the likeliest token.
        seed: Of sampling, where the endpoint knows one.
        logprobs: Alternatives wanted beside each token's log-probability; None wants no log-probabilities.
        sample: Number of the repeat, from 0. It is not sent; it keeps recorded repeats apart.

    Examples:
        >>> Request(prompt="1 + 1 =", target=" 2").key == Request(prompt="1 + 1 =", target=" 3").key
        False
    """

    prompt: str | None = None
    messages: tuple[Message, ...] = ()
    target: str | None = None
    stop: tuple[str, ...] = ()
    max_tokens: int = 256
    temperature: float = 0.0
    seed: int | None = None
    logprobs: int | None = None
    sample: int = 0

    @property
    def key(self) -> str:
        """Identity of the question, as 32 hexadecimal digits."""
        return digest(self, 32)


class Token(msgspec.Struct, frozen=True, omit_defaults=True):
    """One token with its log-probability (natural log, at most 0; None where not given) and its alternatives."""

    text: str
    logprob: float | None = None
    top: dict[str, float] = {}


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came back. Whatever went wrong is a delivery, never an empty answer.

    Attributes:
        delivery: Whether and how the answer arrived.
        text: What the model wrote; None when nothing arrived. For a request with a target: None.
        tokens: Generated tokens, where log-probabilities were asked for and given.
        target_tokens: Tokens of the target, where it was asked for and the endpoint can score a given text.
        stop_reason: Why generation ended, in the endpoint's own word.
        input_tokens: Tokens read.
        output_tokens: Tokens written.
        model: The model as the endpoint names it.
        seconds: Time that the successful try took.
        note: What went wrong or is missing, in one clause.
        final: Whether asking again would give the same; False after a timeout or a busy server.
    """

    delivery: Delivery
    text: str | None = None
    tokens: tuple[Token, ...] = ()
    target_tokens: tuple[Token, ...] = ()
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None
    seconds: float | None = None
    note: str | None = None
    final: bool = True

    @property
    def logprobs(self) -> list[float] | None:
        """Log-probability of each generated token; None when one is missing, so that positions keep their meaning."""
        return _whole(self.tokens)

    @property
    def target_logprobs(self) -> list[float] | None:
        """Log-probability of each token of the target; None when one is missing.

        Examples:
            >>> Reply(delivery=Delivery.OK, target_tokens=(Token("1", -0.5), Token("2", None))).target_logprobs is None
            True
        """
        return _whole(self.target_tokens)


class Model(Protocol):
    """Anything that answers requests.

    Calling it may take long and may happen in several threads at once. It raises a ``ForeshockError`` when no request
    can succeed (a wrong key, an unknown model); what concerns one request is a reply that says so.

    Attributes:
        name: Name of the model, as it is written into runs.
        identity: What must not change between compared answers: kind of access, model, place, version; without secrets.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> Mapping[str, str]: ...

    def __call__(self, request: Request, /) -> Reply:
        """Answer one request."""


def _whole(tokens: tuple[Token, ...]) -> list[float] | None:
    values = [token.logprob for token in tokens]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return known if known and len(known) == len(values) else None
