"""Tokenizers of BLEU, as sacrebleu names them."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence

from foreshock._base import MetricError
from foreshock.metrics._spelling import Vocabulary, spell_all

Cut = Callable[[str], list[str]]

# the rules of mteval-v13a.pl, the script of the NIST evaluations that WMT used
_SYMBOLS = re.compile(r"([{-~\[-`!-&(-+:-@/])")
_MARK_AFTER = re.compile(r"([^0-9])([.,])")
_MARK_BEFORE = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"(?<=[0-9])-")
_APART = {".": " . ", ",": " , "}
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# sacrebleu writes the two supplementary planes as "\u20000" and "\u2f800", which are two characters each: compared as
# texts they take in U+2001 to U+2A6D and U+2F81 to U+2FA1 instead, and so must we, for equal scores
_CHINESE = re.compile(
    "([\u3400-\u4db5\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\u2001-\u2a6d\u2f81-\u2fa1\uff00-\uffef"
    "\u2e80-\u2eff\u3000-\u303f\u31c0-\u31ef\u2f00-\u2fdf\u2ff0-\u2fff\u3100-\u312f\u31a0-\u31bf\ufe10-\ufe1f"
    "\ufe30-\ufe4f\u2600-\u26ff\u2700-\u27bf\u3200-\u32ff\u3300-\u33ff])"
)


def _western(text: str) -> str:
    """Put spaces around symbols, and around full stops and commas outside numbers.

    Splitting and joining gives what substituting templates gives and takes a third of the time.
    """
    text = " ".join(_SYMBOLS.split(text))
    if "." in text or "," in text:
        for pattern, mark in ((_MARK_AFTER, 2), (_MARK_BEFORE, 1)):
            pieces = pattern.split(text)
            pieces[mark::3] = map(_APART.__getitem__, pieces[mark::3])
            text = "".join(pieces)
    return _DASH.sub(" - ", text)


def _unwrapped(text: str) -> str:
    return text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")


def _plain_entities(text: str) -> str:
    if "&" in text:
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
    return text


def cut_13a(text: str) -> list[str]:
    """Tokens of mteval-v13a: symbols apart, full stops and commas apart unless between digits.

    Examples:
        >>> cut_13a("It cost $3,500.20 (net).")
        ['It', 'cost', '$', '3,500.20', '(', 'net', ')', '.']
    """
    return cut_line_13a(one_line_13a(text))


def one_line_13a(text: str) -> str:
    """What :func:`cut_13a` does first: white space at the end goes, and lines are joined."""
    return _unwrapped(text.rstrip()) if "\n" in text or "<" in text else text


def cut_line_13a(line: str) -> list[str]:
    """What :func:`cut_13a` does next. Of lines joined with spaces no rule sees two: it sees neighbours."""
    return _western(f" {_plain_entities(line)} ").split()


def cut_intl(text: str) -> list[str]:
    """Tokens of mteval-v14 for all scripts: symbols apart, punctuation apart unless between digits.

    What a symbol is follows the Unicode tables of this Python.

    Examples:
        >>> cut_intl("um «3,5 km»…")
        ['um', '«', '3,5', 'km', '»', '…']
    """
    after, before, symbols = _international()
    text = symbols.sub(r" \1 ", before.sub(r" \1 \2", after.sub(r"\1 \2 ", text.rstrip())))
    return text.split()


def cut_zh(text: str) -> list[str]:
    """Chinese characters apart, the rest as in :func:`cut_13a` (sacrebleu's ``zh``).

    Examples:
        >>> cut_zh("我有3.5个apple.")
        ['我', '有', '3.5', '个', 'apple', '.']
    """
    return _western(_CHINESE.sub(r" \1 ", text.rstrip().strip())).split()


def cut_characters(text: str) -> list[str]:
    """Every character that is no white space."""
    return list("".join(text.split()))


@functools.cache
def _international() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    number, punctuation, symbol = _categories("NPS")
    return (
        re.compile(f"([^{number}])([{punctuation}])"),
        re.compile(f"([{punctuation}])([^{number}])"),
        re.compile(f"([{symbol}])"),
    )


def _categories(letters: str) -> list[str]:
    """Insides of classes of a regular expression: for each letter all code points whose category begins with it."""
    ranges: dict[str, list[list[int]]] = {letter: [] for letter in letters}
    for point, category in enumerate(map(unicodedata.category, map(chr, range(sys.maxunicode + 1)))):
        if category[0] in ranges:
            known = ranges[category[0]]
            if known and known[-1][1] == point - 1:
                known[-1][1] = point
            else:
                known.append([point, point])
    return ["".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" for a, b in ranges[letter]) for letter in letters]


CUTS: dict[str, Cut] = {
    "13a": cut_13a,
    "intl": cut_intl,
    "zh": cut_zh,
    "char": cut_characters,
    "none": str.split,
}
"""Tokenizers by sacrebleu's names."""


def bleu_cut(tokens: str) -> Cut:
    """The tokenizer of this name.

    Raises:
        MetricError: There is none.
    """
    if tokens not in CUTS:
        raise MetricError(f"BLEU has no tokens {tokens!r}", expected=f"one of {', '.join(CUTS)}")
    return CUTS[tokens]


def spell_tokens(tokens: str, texts: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Texts with one character per token."""
    if tokens == "13a":
        return spell_all([*map(one_line_13a, texts)], cut_line_13a, cut_line_13a, vocabulary)
    return spell_all(texts, str.split if tokens == "none" else None, bleu_cut(tokens), vocabulary)
