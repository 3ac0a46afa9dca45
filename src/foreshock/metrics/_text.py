"""Normalisations and tokenizers: each has a name, does one stated thing, and nothing is done that was not asked for."""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from foreshock._base import MetricError

Normalise = Callable[[str], str]
Tokenizer = Callable[[str], Sequence[str]]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.IGNORECASE)
_LOWER_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _nfkc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _fold_space(text: str) -> str:
    return " ".join(text.split())


def _drop_punctuation(text: str) -> str:
    text = text.translate(_PUNCTUATION)
    return text if text.isascii() else "".join(c for c in text if unicodedata.category(c)[0] != "P")


def _drop_articles(text: str) -> str:
    return _ARTICLES.sub(" ", text)


def _squad(text: str) -> str:
    return " ".join(_LOWER_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


NORMALISATIONS: dict[str, Normalise] = {
    "strip": str.strip,
    "casefold": str.casefold,
    "spaces": _fold_space,
    "nfc": _nfc,
    "nfkc": _nfkc,
    "punctuation": _drop_punctuation,
    "articles": _drop_articles,
    "squad": _squad,
}
"""Steps by name: ``strip`` white space at both ends; ``casefold`` (Unicode); ``spaces`` folds runs of white space to
one space and strips; ``nfc``, ``nfkc`` Unicode normal forms; ``punctuation`` deletes ASCII punctuation and symbols and
every character of Unicode category P; ``articles`` replaces the words a, an, the by a space;
``squad`` is what SQuAD's evaluation does: lower case, no ASCII punctuation, no articles, single spaces."""

TOKENIZERS: dict[str, Tokenizer] = {
    "words": str.split,
    "wordpunct": _WORD_OR_MARK.findall,
    "characters": list,
    "bytes": lambda text: [chr(b) for b in text.encode("utf-8", "surrogatepass")],
}
"""Ways to cut text: ``words`` are maximal runs without Unicode white space; ``wordpunct`` are runs of letters and
digits, and each other visible character by itself; ``characters``; ``bytes`` of UTF-8."""


@functools.cache
def normaliser(steps: str) -> Normalise:
    """The function for steps joined by ``+``, done from left to right; ``none`` does nothing.

    Raises:
        MetricError: A step is unknown.

    Examples:
        >>> normaliser("punctuation+casefold+articles+spaces")("The  answer is: FOUR.")
        'answer is four'
    """
    names = [] if steps == "none" else str(steps).split("+")
    unknown = [name for name in names if name not in NORMALISATIONS]
    if unknown:
        raise MetricError(
            f"there is no normalisation {unknown[0]!r}",
            expected=f"none, or some of {', '.join(NORMALISATIONS)} joined by +",
        )
    functions = [NORMALISATIONS[name] for name in names]
    if len(functions) == 1:
        return functions[0]
    return lambda text: functools.reduce(lambda done, step: step(done), functions, text)


@functools.cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name, or the function at ``module:name``.

    Raises:
        MetricError: There is none.

    Examples:
        >>> tokenizer("wordpunct")("it's 3.5")
        ['it', "'", 's', '3', '.', '5']
    """
    if name in TOKENIZERS:
        return TOKENIZERS[name]
    module, colon, attribute = str(name).partition(":")
    try:
        found: Any = functools.reduce(getattr, attribute.split("."), import_module(module)) if colon else None
    except (ImportError, AttributeError):
        found = None
    if not callable(found):
        raise MetricError(
            f"there is no tokenizer {name!r}",
            expected=f"one of {', '.join(TOKENIZERS)}, a function, or 'module:function' that can be imported",
        )
    return found  # type: ignore[no-any-return]
