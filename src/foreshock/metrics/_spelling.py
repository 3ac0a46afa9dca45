"""Lists of tokens as texts of one character per token: cheap to make for many texts at once, cheap to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

SEPARATOR = "\0"


class Vocabulary(dict[str, str]):
    """Gives every token a character of its own, or every class of tokens, when ``fold`` says what they have in common.

    The separator stands for itself.
    """

    def __init__(self, fold: Callable[[str], str] | None = None) -> None:
        super().__init__({SEPARATOR: SEPARATOR})
        self._folded = Vocabulary() if fold else None
        self._fold = fold

    def __missing__(self, token: str) -> str:
        if self._folded is not None and self._fold is not None:
            character = self._folded[self._fold(token)]
        else:
            character = chr(len(self))
        self[token] = character
        return character

    def spell(self, tokens: Iterable[str]) -> str:
        """One character per token."""
        return "".join(map(self.__getitem__, tokens))


def spell_all(
    texts: Sequence[str],
    cut_joined: Callable[[str], list[str]] | None,
    cut: Callable[[str], Iterable[str]],
    vocabulary: Vocabulary,
) -> list[str]:
    """Every text with one character per token.

    Args:
        texts: Any texts.
        cut_joined: Cuts texts that are joined by a separator between spaces, which it must leave alone as a token, into
            tokens; None when there is no such form. No list is made for each text then: many lists would set off the
            garbage collector, which costs more than all the rest.
        cut: Cuts one text.
        vocabulary: Grows by the tokens that it does not know.
    """
    joined = f" {SEPARATOR} ".join(texts)
    if cut_joined is not None and joined.count(SEPARATOR) == len(texts) - 1:
        return vocabulary.spell(cut_joined(joined)).split(SEPARATOR)
    return [vocabulary.spell(cut(text)) for text in texts]
