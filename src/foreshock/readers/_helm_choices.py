"""Log-probabilities in HELM's completions: of generated tokens, of whole references, of lettered options."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from foreshock.readers._plain import Json, mapping, number, objects

# spellings of a space at the beginning of a token
_SPACES = str.maketrans({"\u2581": " ", "\u0120": " "})


def token_logprobs(completion: Json) -> list[float | None] | None:
    """Log-probability of each token.

    Clients of HELM without access to log-probabilities write 0 for every token. A model that is certain of every token
    would log the same, so that such lists are taken for absent.
    """
    found = [number(token.get("logprob")) for token in objects(completion.get("tokens"))]
    return found if any(found) else None


class Reference:
    """The end of an echoed prompt: log-probability and number of the tokens of one reference."""

    def __init__(self, logprob: float, tokens: int) -> None:
        self.logprob, self.tokens = logprob, tokens


def reference_in(completion: Json, reference: str) -> Reference | None:
    """Find the tokens of ``reference`` at the end of a completion that echoes its prompt.

    Returns:
        None when the last tokens do not spell the reference, begin in the middle of a token, or have no
        log-probabilities.
    """
    wanted = reference.strip()
    tokens = objects(completion.get("tokens"))
    if not wanted or token_logprobs(completion) is None:
        return None
    end = len(tokens)
    while end and not str(tokens[end - 1].get("text") or "").strip():
        end -= 1
    spelt = ""
    for start in range(end - 1, -1, -1):
        spelt = str(tokens[start].get("text") or "").translate(_SPACES) + spelt
        if len(spelt.strip()) < len(wanted):
            continue
        if spelt.strip() != wanted:
            return None
        values = [number(t.get("logprob")) for t in tokens[start:end]]
        known = [v for v in values if v is not None]
        return Reference(sum(known), len(known)) if len(known) == len(values) else None
    return None


def letter_logprobs(completion: Json, letters: Sequence[str]) -> list[float] | None:
    """Log-probability of each letter as the first token, from the most likely tokens that old versions log.

    Spellings of one letter (``A``, `` A``) are added up.

    Returns:
        None unless every letter is among them.
    """
    tokens = objects(completion.get("tokens"))
    top = mapping(tokens[0].get("top_logprobs")) if tokens else {}
    if not letters:
        return None
    mass = dict.fromkeys(letters, 0.0)
    for spelling, logged in top.items():
        value, letter = number(logged), spelling.translate(_SPACES).strip()
        if letter in mass and value is not None and value <= 0:
            mass[letter] += math.exp(value)
    return [math.log(m) for m in mass.values()] if all(m > 0 for m in mass.values()) else None


def first(completions: Any) -> list[Json]:
    """Completions, most likely first: the order in which HELM scores them."""
    return sorted(objects(completions), key=lambda c: -(number(c.get("logprob")) or 0.0))
