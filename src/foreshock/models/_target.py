"""The log-probabilities of a given text, read off a prompt that the endpoint echoes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from foreshock.models._parse import completion_tokens, error_of, failed, member, words
from foreshock.records import Delivery, Reply, Token

UNEQUAL = "the endpoint did not echo the text, or its tokens do not add up to it"

_SPACES = str.maketrans({"\u0120": " ", "\u010a": " ", "\u2581": " "})  # byte-level and SentencePiece


def scored(value: Any, prompt: str, target: str) -> Reply:
    """The reply to prompt + target with ``echo``: the tokens that cover the target.

    A token that begins inside the prompt and ends inside the target belongs to the target: its log-probability is that
    of characters of both, which is said in the note. (End prompts without white space and begin targets with it, as
    tokenizers do, and there is none.)

    Args:
        value: Decoded body of status 200.
        prompt: What stands before the target.
        target: What is scored.
    """
    choice = member(value, "choices", 0)
    if not isinstance(choice, dict):
        return failed(error_of(value) or "the endpoint answered without a choice", value)
    tokens = completion_tokens(choice)
    if not tokens:
        return failed("the endpoint gave no log-probabilities of the text", value)
    begins = _begins(tokens, member(choice, "logprobs", "text_offset"), prompt + target)
    if begins is None:
        return failed(UNEQUAL, value)
    last = len(prompt) + len(target)
    ends = [*begins[1:], last]
    places = [i for i in range(len(tokens)) if begins[i] < last and ends[i] > len(prompt)]
    if not places:
        return failed("no token covers the target", value)
    found = tuple(tokens[i] for i in places)
    note = "a token of the target begins in the prompt" if begins[places[0]] < len(prompt) else None
    if any(token.logprob is None for token in found):
        note = "a token of the target has no log-probability"
    return _reply(value, found, note)


def counted(value: Any, before: Any, target: str) -> Reply:
    """The same where tokens are spelt without their spaces, from a second reply to the prompt alone.

    The prompt's tokens are counted there; they must be the first ones of the whole text, and what follows must be the
    target but for white space. So a token across the border is found out, and nothing is read then.

    Args:
        value: Decoded body of the reply to prompt + target.
        before: Decoded body of the reply to the prompt alone.
        target: What is scored.
    """
    whole, first = _echoed(value), _echoed(before)
    if whole is None or first is None or len(whole) <= len(first):
        return failed("the endpoint did not echo the text with its log-probabilities", value)
    same = [token.text for token in whole[: len(first)]] == [token.text for token in first]
    found = tuple(whole[len(first) :])
    if not same or _squashed("".join(token.text for token in found)) != _squashed(target):
        return failed(UNEQUAL, value)
    missing = any(token.logprob is None for token in found)
    return _reply(value, found, "a token of the target has no log-probability" if missing else None)


def _echoed(value: Any) -> list[Token] | None:
    """Tokens of the prompt; None when the endpoint's own counts say that these are not all."""
    tokens = completion_tokens(member(value, "choices", 0))
    read, written = (member(value, "usage", name) for name in ("prompt_tokens", "completion_tokens"))
    if not isinstance(read, int) or not isinstance(written, int) or read < 1 or len(tokens) != read + written:
        return None
    return list(tokens[:read])


def _squashed(text: str) -> str:
    """Text without white space and the marks by which tokenizers write it."""
    return "".join(text.translate(_SPACES).split())


def _reply(value: Any, found: tuple[Token, ...], note: str | None) -> Reply:
    model, used = words(member(value, "model")), member(value, "usage", "prompt_tokens")
    read = used if isinstance(used, int) and not isinstance(used, bool) and 0 <= used < 2**53 else None
    return Reply(delivery=Delivery.OK, target_tokens=found, model=model, input_tokens=read, note=note)


def _begins(tokens: Sequence[Token], offsets: Any, text: str) -> list[int] | None:
    """Where each token begins in ``text``; None when that cannot be known for sure."""
    texts = [token.text for token in tokens]
    if tokens[0].logprob is None and not text.startswith(texts[0]):
        texts[0] = ""  # a mark of the beginning, which is no part of the text
    joined, begins = "", []
    for piece in texts:
        begins.append(len(joined))
        if len(joined) < len(text):
            joined += piece
    if joined == text:
        return begins
    # tokens that are no whole characters are spelt in ways of their own; then the endpoint's own offsets have to do
    if not isinstance(offsets, list) or len(offsets) != len(texts):
        return None
    if not all(isinstance(o, int) and not isinstance(o, bool) and o >= 0 for o in offsets):
        return None
    rising = all(a <= b for a, b in pairwise(offsets))
    right = all(text.startswith(t[: max(0, len(text) - o)], o) or _odd(t) for t, o in zip(texts, offsets, strict=True))
    return list(offsets) if rising and right and offsets[0] == 0 and any(map(_odd, texts)) else None


def _odd(text: str) -> bool:
    """Whether a token is spelt as bytes, being no whole character."""
    return text.startswith("bytes:") or "\ufffd" in text
