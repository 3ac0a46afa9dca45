"""Porter's stemmer with the changes of NLTK, which is what rouge-score stems with."""

from __future__ import annotations

import functools

_IRREGULAR = {
    **dict.fromkeys(("sky", "skies"), "sky"),
    **dict.fromkeys(("inning", "innings"), "inning"),
    **dict.fromkeys(("outing", "outings"), "outing"),
    **dict.fromkeys(("canning", "cannings"), "canning"),
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    **{word: word for word in ("news", "howe", "proceed", "exceed", "succeed")},
}
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"), ("logi", "log")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate"),
    *("iti", "ous", "ive", "ize"),
)
_REMEMBERED = 40  # letters; longer words are not kept, so that the cache stays small


def stem(word: str) -> str:
    """The stem of a word of lower-case letters and digits, as NLTK's ``PorterStemmer`` gives it. Porter 1980.

    Examples:
        >>> [stem(word) for word in ("relational", "happily", "dying", "hopping", "as")]
        ['relat', 'happili', 'die', 'hop', 'as']
    """
    return _known_stem(word) if len(word) <= _REMEMBERED else _stem(word)


@functools.lru_cache(maxsize=1 << 16)
def _known_stem(word: str) -> str:
    return _stem(word)


def _stem(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    return _last_e(_step_4(_step_3(_step_2(word))))


def _shape(word: str) -> str:
    """``c`` and ``v`` for each letter; a y after a consonant is a vowel, and a digit is a consonant."""
    shape = []
    last = "v"
    for letter in word:
        last = "v" if letter in "aeiou" or (letter == "y" and last == "c") else "c"
        shape.append(last)
    return "".join(shape)


def _measure(word: str) -> int:
    """Porter's m: how often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """Ends consonant, vowel, consonant, the last one not w, x or y; or is a vowel and a consonant."""
    shape = _shape(word)
    return shape == "vc" or (shape.endswith("cvc") and word[-1] not in "wxy")


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            return _mended(word[: -len(suffix)])
    return word


def _mended(word: str) -> str:
    """What is left when -ed or -ing is gone, made a word again."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):
        return _step_2(word[:-2])
    for suffix, other in _STEP_2:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest + "l" if suffix == "logi" else rest) else word
    return word


def _step_3(word: str) -> str:
    for suffix, other in _STEP_3:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest) else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest if _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st") else word
    return word


def _last_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_cvc(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
