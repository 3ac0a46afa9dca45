"""Another option in the place of the one that an answer gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# a label alone, with or without brackets, full stop or colon; or a label in front of its option
_LABEL = re.compile(r"(?P<before>\s*\(?)(?P<label>[A-Z])(?P<after>[).:]*)(?P<rest>\s*|\s+\S.*)", re.DOTALL)
_SAID = re.compile(
    r"\b(?:answer|option|choice)\b(?:\s{1,3}is)?\s{0,3}:?\s{0,3}\*{0,2}\(?(?P<label>[A-Z])\b(?!')", re.IGNORECASE
)
_PAIRS = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_FIRST_WORD = re.compile(r"\s*(?P<word>[A-Za-z]+)\b")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an item.

    Attributes:
        texts: In the order of their labels A, B, C, ...
        gold: Index of the right one, which a wrong answer must not become by the swap; None when unknown.
    """

    texts: Sequence[str] = ()
    gold: int | None = None


def swap_option(text: str, options: Options, rng: np.random.Generator) -> str | None:
    """The answer with another, wrong option in the place of its own; None when no option is found in it.

    Found are, in this order: an option's own text; a label alone or before its option (``B``, ``(B)``, ``B. Lyon``); a
    label that is said (``the answer is B``), the last one; the only option whose text occurs in the answer. An item
    without options has those of its answer when this begins with yes, no, true or false.

    Examples:
        >>> swap_option("The answer is (B).", Options(["Lyon", "Paris"], 1), np.random.default_rng(0))
        'The answer is (A).'
        >>> swap_option("Yes, it is.", Options(), np.random.default_rng(0))
        'No, it is.'
    """
    if not options.texts:
        return _other_word(text)
    for find in (_whole, _label, _said, _within):
        found = find(text, options.texts)
        if found is not None:
            here, replace = found
            others = [i for i in range(len(options.texts)) if i not in (here, options.gold)]
            return replace(others[int(rng.integers(len(others)))]) if others else None
    return None


class _Splice:
    """Replaces parts of a text, given as (start, end, what stands there for each option)."""

    def __init__(self, text: str, places: Sequence[tuple[int, int, Sequence[str]]]) -> None:
        self.text, self.places = text, places

    def __call__(self, option: int) -> str:
        out, at = "", 0
        for start, end, texts in self.places:
            out += self.text[at:start] + texts[option]
            at = end
        return out + self.text[at:]


_Found = tuple[int, _Splice] | None


def _labels(texts: Sequence[str]) -> list[str]:
    return [chr(ord("A") + i) for i in range(min(26, len(texts)))]


def _whole(text: str, texts: Sequence[str]) -> _Found:
    bare = text.strip()
    same = [i for i, option in enumerate(texts) if option.strip().casefold() == bare.casefold()]
    start = text.find(bare)
    return (same[0], _Splice(text, [(start, start + len(bare), [t.strip() for t in texts])])) if same else None


def _label(text: str, texts: Sequence[str]) -> _Found:
    match, labels = _LABEL.fullmatch(text), _labels(texts)
    if not match or match["label"] not in labels or len(labels) < len(texts):
        return None
    here, rest = labels.index(match["label"]), match["rest"].strip()
    places: list[tuple[int, int, Sequence[str]]] = [(*match.span("label"), labels)]
    if rest:
        if rest.rstrip(".").casefold() != texts[here].strip().rstrip(".").casefold():
            return None
        start = text.index(rest, match.end("after"))
        places.append((start, start + len(rest), [t.strip() for t in texts]))
    return here, _Splice(text, places)


def _said(text: str, texts: Sequence[str]) -> _Found:
    labels = _labels(texts)
    matches = [m for m in _SAID.finditer(text) if m["label"] in labels]
    if not matches or len(labels) < len(texts):
        return None
    return labels.index(matches[-1]["label"]), _Splice(text, [(*matches[-1].span("label"), labels)])


def _within(text: str, texts: Sequence[str]) -> _Found:
    found = []
    for i, option in enumerate(texts):
        if option.strip():
            seen = list(re.finditer(rf"(?<!\w){re.escape(option.strip())}(?!\w)", text, re.IGNORECASE))
            found += [(i, m) for m in seen]
    if len({i for i, _ in found}) != 1:
        return None
    bare = [t.strip() for t in texts]
    return found[0][0], _Splice(text, [(m.start(), m.end(), bare) for _, m in found])


def _other_word(text: str) -> str | None:
    match = _FIRST_WORD.match(text)
    other = _PAIRS.get(match["word"].casefold()) if match else None
    if match is None or other is None:
        return None
    word = match["word"]
    same_case = other.upper() if word.isupper() and len(word) > 1 else other.title() if word[0].isupper() else other
    return text[: match.start("word")] + same_case + text[match.end("word") :]
