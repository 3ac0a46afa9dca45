"""Damage of known size, planted in an answer: what a scorer has to notice if it is to be relied upon.

Each kind says how large the damage is, as a share of what the answer states, and when it cannot be done (there is no
number in the text). The same seed, text and item give the same damage, whatever else is damaged in the same call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from foreshock._base import ConfigError, count_of, digest
from foreshock.lint._degrade_option import Options, swap_option
from foreshock.metrics import REFUSAL_PHRASES

LIMIT = 100_000
"""Characters of an answer that is damaged; a longer one is left alone."""
_HEAD = 300  # characters in which a refusal is looked for, as the metric refusal_phrase does
_REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with this request.",
    "I am not able to help with that question.",
    "Sorry, I can't provide an answer to this.",
)
_FILLER = (
    "It is worth keeping in mind that questions like this one can be looked at in more than one way.",
    "Many people have thought about this, and it has been discussed at length elsewhere.",
    "As always, context matters, and there is more that could be said.",
    "This is a subject on which a great deal has been written.",
    "With that in mind, the above can be read again from the beginning.",
)
_SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]]))\s+(?=[^\sa-z])|\n\s*")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e|cf|approx)|\b[A-Z])\.$")
_LONGEST = 8  # characters of an abbreviation with what stands before it
_CLAUSE = re.compile(r";\s+|,\s+(?:and\s+|or\s+)?|(?<!\s)\s+and\s+")
_NO_STATEMENT = re.compile(r"[^\W\d]+!|.*:", re.DOTALL)
_WORD = re.compile(r"\S+")
_CONTENT = re.compile(r"\w")
_NUMBER = re.compile(r"(?<![\w.])(?<!\d,)\d+(?:,\d{3})*+(?:\.\d+)?(?!\w)")
_END = re.compile(r"[.!?](?=[\"'”’)\]]*$)")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_DIGITS = "0123456789"


class Degraded(NamedTuple):
    """A damaged answer.

    Attributes:
        text: The answer after the damage.
        size: Share of what the answer states that was damaged, in [0, 1]; of the new text where something was added.
        what: What was done, for a person.
    """

    text: str
    size: float
    what: str


class Undamaged(NamedTuple):
    """Why the damage cannot be done to this answer."""

    why: str


class Part(NamedTuple):
    """A piece of an answer with what separates it from the next; ``states`` says whether it may be a statement."""

    text: str
    after: str
    states: bool = True


class Answer(NamedTuple):
    """What a kind of damage looks at."""

    text: str
    targets: Sequence[str]
    options: Options


def degrade(
    kind: str,
    text: str,
    *,
    seed: int = 0,
    options: Options | None = None,
    targets: Sequence[str] = (),
    item: str = "",
) -> Degraded | Undamaged:
    """Damage one answer.

    Args:
        kind: One of :data:`DEGRADATIONS`, or ``nothing`` and ``reformat``, whose size is 0.
        text: The answer.
        seed: Seed; together with kind, item and text it decides everything that is chosen.
        options: Options of the item, for ``swap_option``.
        targets: Accepted answers: a contradicted number must not make the answer right.
        item: Key of the item, so that equal answers to different items are damaged apart.

    Returns:
        The damaged answer, or why there is none.

    Raises:
        ConfigError: There is no such kind.

    Examples:
        >>> degrade("contradict_number", "It opened in 1889.", seed=1).text
        'It opened in 1886.'
        >>> degrade("contradict_number", "It opened long ago.")
        Undamaged(why='no number in the text')
        >>> degrade("drop_fact", "It is 330 m tall. It opened in 1889. It is iron.", seed=3)
        Degraded(text='It is 330 m tall. It opened in 1889.', size=0.3333333333333333, what='1 of 3 statements dropped')
    """
    if kind not in _KINDS:
        raise ConfigError(f"there is no degradation {kind!r}", expected=f"one of {', '.join(_KINDS)}")
    if not _CONTENT.search(text):
        return Undamaged("the text is empty")
    if len(text) > LIMIT:
        return Undamaged(f"longer than {LIMIT:,} characters")
    rng = np.random.default_rng(int(digest([seed, kind, item, text], 16), 16))
    return _KINDS[kind](Answer(text, targets, options or Options()), rng)


def parts(text: str) -> list[Part]:
    """Pieces of an answer: its lines and sentences, or the clauses of its only sentence.

    An interjection (``Sure!``) and what announces a list (``Here they are:``) state nothing, unless nothing else does.

    Examples:
        >>> [p.text for p in parts("Dr. Roe lives in Lyon. She is 42.")]
        ['Dr. Roe lives in Lyon.', 'She is 42.']
        >>> [p.text for p in parts("iron, 1,024 m and red")]
        ['iron', '1,024 m', 'red']
    """
    found = _split(text, _SENTENCE)
    if len(found) < 2:
        return _split(text, _CLAUSE)
    states = [not _NO_STATEMENT.fullmatch(p.text.strip()) for p in found]
    return [p._replace(states=own) for p, own in zip(found, states, strict=True)] if any(states) else found


def _split(text: str, boundary: re.Pattern[str]) -> list[Part]:
    # looked at once from left to right, however many boundaries turn out to be none
    found, start, since, content = [], 0, 0, False
    for match in boundary.finditer(text):
        content = content or bool(_CONTENT.search(text, since, match.start()))
        since = match.end()
        if content and not _ABBREVIATION.search(text[max(start, match.start() - _LONGEST) : match.start()]):
            found.append(Part(text[start : match.start()], match[0]))
            start, content = match.end(), False
    content = content or bool(_CONTENT.search(text, since))
    return [*found, Part(text[start:], "")] if content else found


def _drop_fact(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    found = parts(answer.text)
    stated = [i for i, p in enumerate(found) if p.states]
    if len(stated) < 2:
        return Undamaged("one statement only")
    gone = stated[int(rng.integers(len(stated)))]
    kept = [p for i, p in enumerate(found) if i != gone]
    rest = "".join(p.text + p.after for p in kept[:-1]) + kept[-1].text
    end = _END.search(answer.text.rstrip())
    rest += end[0] if end and not _END.search(rest) else ""
    return Degraded(rest, 1 / len(stated), f"1 of {len(stated)} statements dropped")


def _contradict_number(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    """Another digit in one place of one number; the number keeps its length."""
    text, numbers = answer.text, list(_NUMBER.finditer(answer.text))
    if not numbers:
        return Undamaged("no number in the text")
    right = {t.strip() for t in answer.targets}
    for chosen in rng.permutation(len(numbers)):
        for changed in _other_digits(text, *numbers[int(chosen)].span(), rng):
            if changed.strip() not in right:
                count = count_of(len(numbers), "number")
                size = 1 / sum(p.states for p in parts(text))
                return Degraded(changed, size, f"one digit changed, in a text with {count}")
    return Undamaged("every other number is right as well")


def _other_digits(text: str, start: int, end: int, rng: np.random.Generator) -> Iterator[str]:
    """The text with another digit in one place between ``start`` and ``end``, in random order; no leading zero."""
    for place in rng.permutation([i for i in range(start, end) if text[i] in _DIGITS]):
        at = int(place)
        leading = at == start and end - start > 1
        for digit in rng.permutation([d for d in _DIGITS[int(leading) :] if d != text[at]]):
            yield f"{text[:at]}{digit}{text[at + 1 :]}"


def _truncate(answer: Answer, _: np.random.Generator) -> Degraded | Undamaged:
    """The first half of the words."""
    words = list(_WORD.finditer(answer.text))
    if len(words) < 2:
        return Undamaged("one word only")
    kept = words[: (len(words) + 1) // 2]
    size = 1 - sum(len(w[0]) for w in kept) / sum(len(w[0]) for w in words)
    return Degraded(answer.text[: kept[-1].end()], size, f"cut after {len(kept)} of {len(words)} words")


def _refuse(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    head = " ".join(answer.text[:_HEAD].replace("’", "'").casefold().split())
    if any(phrase in head for phrase in REFUSAL_PHRASES):
        return Undamaged("a refusal already")
    return Degraded(_REFUSALS[int(rng.integers(len(_REFUSALS)))], 1.0, "a refusal instead")


def _pad(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    """As much empty talk as there is answer, in whole sentences."""
    text, first, added = answer.text.rstrip(), int(rng.integers(len(_FILLER))), ""
    while len(added) < len(text):
        added += f" {_FILLER[first % len(_FILLER)]}"
        first += 1
    longer = text + ("" if _END.search(text) else ".") + added
    return Degraded(longer, len(added) / len(longer), f"{len(added)} characters of empty talk added")


def _swap_option(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    swapped = swap_option(answer.text, answer.options, rng)
    return Undamaged("no option that could be swapped") if swapped is None else Degraded(swapped, 1.0, "another option")


def _nothing(answer: Answer, _: np.random.Generator) -> Degraded | Undamaged:
    return Degraded(answer.text, 0.0, "the same text again")


def _reformat(answer: Answer, rng: np.random.Generator) -> Degraded | Undamaged:
    """One change of form that no reader would mind: a full stop, white space around, the case of the first letter."""
    text, bare = answer.text, answer.text.rstrip()
    ways = [bare[:-1] if bare.endswith(".") and len(bare) > 1 else f"{bare}.", f"\n {text}  \n"]
    if _LETTERS.match(text) and text[0].swapcase() != text[0]:  # ½ and 中 have no case
        ways.append(text[0].swapcase() + text[1:])
    return Degraded(ways[int(rng.integers(len(ways)))], 0.0, "another form")


_Kind = Callable[[Answer, np.random.Generator], Degraded | Undamaged]
_KINDS: dict[str, _Kind] = {
    "drop_fact": _drop_fact,
    "contradict_number": _contradict_number,
    "truncate": _truncate,
    "refuse": _refuse,
    "pad": _pad,
    "swap_option": _swap_option,
    "nothing": _nothing,
    "reformat": _reformat,
}
HARMLESS = ("nothing", "reformat")
"""Degradations of size zero: the null, and a change of form."""
DEGRADATIONS: tuple[str, ...] = tuple(kind for kind in _KINDS if kind not in HARMLESS)
"""Kinds of damage, in the order of the table."""
