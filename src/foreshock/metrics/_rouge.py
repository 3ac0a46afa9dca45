"""ROUGE: words, pairs of words and subsequences of words that answer and target share."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._lcs import union_hits
from foreshock.metrics._pairs import WORDS_CHUNK, batch_but, best_over_targets, refuse_long
from foreshock.metrics._porter import stem as porter
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Factory, Function, metric
from foreshock.metrics._spelling import SEPARATOR, Vocabulary, spell_all

if TYPE_CHECKING:
    from foreshock.metrics._pairs import Floats

_WORD = re.compile(r"[a-z0-9]+")
_NO_WORD = re.compile(rf"[^a-z0-9{SEPARATOR}]+")
_TO_SPACES = bytes(b if chr(b) in f"{string.ascii_lowercase}{string.digits}{SEPARATOR}" else 32 for b in range(256))
_PARTS = ("f", "precision", "recall")
_STEMMED = 4  # letters; rouge-score leaves shorter words as they are
TWINS = ("gold_logprob(per=token)", "gold_logprob", "token_similarity", "char_similarity")


@metric(kind="continuous", needs=("answer", "targets"), unless=unless_choices, range=(0, 1))
def rouge_1(*, part: str = "f", stem: bool = False, choices: str = "refuse") -> Function:
    """ROUGE-1: the F-measure of the words that answer and target share, each as often as both have it.

    Equal to rouge-score's ``rouge1``. Words are runs of ASCII letters and digits in lower case, so it says nothing
    about other scripts: a text without such words has ROUGE 0. The target with the best F-measure counts. Lin 2004.

    Args:
        part: ``f``, ``precision`` (share of the answer's words) or ``recall`` (share of the target's).
        stem: Cut words of more than three letters down to their Porter stem (rouge-score's ``use_stemmer=True``).
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> rouge_1()({"answer": "The cat sat", "targets": ["the cats sat down"]})
        0.5714285714285715
        >>> rouge_1(stem=True, part="precision")({"answer": "The cat sat", "targets": ["the cats sat down"]})
        1.0
    """
    return _function(part, stem, choices, lambda given, wanted: _ngram_counts(given, wanted, 1))


@metric(kind="hard", link="all-of-N", needs=("answer", "targets"), unless=unless_choices, range=(0, 1), twins=TWINS)
def rouge_2(*, part: str = "f", stem: bool = False, choices: str = "refuse") -> Function:
    """ROUGE-2: the F-measure of the pairs of neighbouring words that answer and target share.

    Equal to rouge-score's ``rouge2``; parameters as in :func:`rouge_1`.
    """
    return _function(part, stem, choices, lambda given, wanted: _ngram_counts(given, wanted, 2))


@metric(kind="hard", link="all-of-N", needs=("answer", "targets"), unless=unless_choices, range=(0, 1), twins=TWINS)
def rouge_l(*, part: str = "f", stem: bool = False, choices: str = "refuse") -> Function:
    """ROUGE-L: the F-measure of the longest common subsequence of words.

    Equal to rouge-score's ``rougeL``; parameters as in :func:`rouge_1`.
    """
    return _function(part, stem, choices, _subsequence)


@metric(kind="hard", link="all-of-N", needs=("answer", "targets"), unless=unless_choices, range=(0, 1), twins=TWINS)
def rouge_lsum(*, part: str = "f", stem: bool = False, choices: str = "refuse") -> Function:
    """ROUGE-Lsum: as ROUGE-L, with the union of the common subsequences of a target's lines with all of the answer's.

    Equal to rouge-score's ``rougeLsum`` (without ``split_summaries``): lines are sentences. Parameters as in
    :func:`rouge_1`. Texts of very many lines are refused.
    """
    check_choices(choices)
    _check(part)

    def score(response: Given) -> float:
        refuse_long(response)
        pairs = [_line_counts(response.answer, target, stem) for target in response.targets]
        return max((measures(*pair) for pair in pairs), key=lambda found: found[0])[_PARTS.index(part)]

    return score


def measures(hits: int, given: int, wanted: int) -> tuple[float, float, float]:
    """F-measure, precision and recall; 0 where a text has nothing."""
    precision, recall = hits / max(given, 1), hits / max(wanted, 1)
    f = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return f, precision, recall


def words(text: str, stemmed: bool) -> list[str]:
    """Words as rouge-score cuts them."""
    found: list[str] = _WORD.findall(text.lower())
    return list(map(_stemmed, found)) if stemmed else found


def _stemmed(word: str) -> str:
    return porter(word) if len(word) >= _STEMMED else word


def _spaced(joined: str) -> str:
    """Words with spaces between, and separators left alone."""
    lower = joined.lower()
    if lower.isascii():  # four times as fast
        return lower.encode().translate(_TO_SPACES).decode()
    return _NO_WORD.sub(" ", lower)


def _joined_words(joined: str) -> list[str]:
    return _spaced(joined).split()


def _lines_of_words(texts: list[str]) -> list[str]:
    joined = SEPARATOR.join(texts)
    if joined.count(SEPARATOR) == len(texts) - 1:
        return _spaced(joined).split(SEPARATOR)
    return [_spaced(text.replace(SEPARATOR, " ")) for text in texts]


def _check(part: str) -> None:
    if part not in _PARTS:
        raise MetricError(f"part={part!r} is unknown", expected=f"one of {', '.join(_PARTS)}")


def _function(part: str, stem: bool, choices: str, count: Callable[[list[str], list[str]], Any]) -> Function:
    check_choices(choices)
    _check(part)

    def score(response: Given) -> float:
        refuse_long(response)
        answer, *targets = (words(text, stem) for text in (response.answer, *response.targets))
        found = [measures(*count(answer, target)) for target in targets]
        return max(found, key=lambda each: each[0])[_PARTS.index(part)]

    return score


def _ngram_counts(answer: list[str], target: list[str], n: int) -> tuple[int, int, int]:
    given, wanted = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (answer, target))
    return (given & wanted).total(), given.total(), wanted.total()


def _subsequence(answer: list[str], target: list[str]) -> tuple[int, int, int]:
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(answer, target), len(answer), len(target)


def _line_counts(answer: str, target: str, stem: bool) -> tuple[int, int, int]:
    if "\n" not in answer and "\n" not in target:
        return _subsequence(words(answer, stem), words(target, stem))
    spell = Vocabulary().spell
    given, wanted = ([spell(words(line, stem)) for line in text.split("\n") if line] for text in (answer, target))
    return union_hits(given, wanted), sum(map(len, given)), sum(map(len, wanted))


def _batch_of(factory: Factory, n: int | None) -> None:
    """Give ``factory`` a form over columns: by n-grams, or by subsequences when ``n`` is None."""

    @factory.batch
    def batch(columns: Columns, *, part: str, stem: bool, **params: Any) -> list[Any]:
        def work(answers: list[str], targets: list[str]) -> Floats:
            if n is None:
                return _of_subsequences(answers, targets, stem, part)
            vocabulary = Vocabulary(_stemmed if stem else None)
            spelt = spell_all([*answers, *targets], _joined_words, lambda text: words(text, False), vocabulary)
            return _of_ngrams(spelt[: len(answers)], spelt[len(answers) :], n, part)

        def whole(columns: Columns) -> list[Any]:
            return best_over_targets(columns, work, keep=1, size=WORDS_CHUNK)

        apart = _rows_of_lines(columns) if factory is rouge_lsum else ()
        return batch_but(columns, whole, factory.make(part=part, stem=stem, **params), apart)


for _factory, _n in ((rouge_1, 1), (rouge_2, 2), (rouge_l, None), (rouge_lsum, None)):
    _batch_of(_factory, _n)


def _rows_of_lines(columns: Columns) -> list[int]:
    pairs = enumerate(zip(columns["answer"], columns["targets"], strict=True))
    return [i for i, (answer, targets) in pairs if "\n" in answer or any("\n" in target for target in targets)]


def _of_ngrams(given: list[str], wanted: list[str], n: int, part: str) -> Floats:
    """F-measure, and the part that was asked for, of pairs of one character per word: shape (n, 2)."""
    import numpy as np

    from foreshock.metrics._ngrams import ngram_totals, shared_ngrams

    lengths = (np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (given, wanted))
    of_given, of_wanted = (ngram_totals(each, n)[:, n - 1] for each in lengths)
    return _all_measures(shared_ngrams(given, wanted, n)[:, n - 1], of_given, of_wanted, part)


def _of_subsequences(answers: list[str], targets: list[str], stem: bool, part: str) -> Floats:
    """The same by subsequences. Lists of words are compared as they are: giving them characters would cost more."""
    import numpy as np
    from rapidfuzz.distance import LCSseq

    lines = _lines_of_words([*answers, *targets])
    stems = _Stems()
    counts: list[int] = []
    for answer, target in zip(lines[: len(answers)], lines[len(answers) :], strict=True):
        given = answer.split()
        if answer == target:
            counts += (len(given),) * 3
            continue
        wanted = target.split()
        if stem:
            given, wanted = [stems[word] for word in given], [stems[word] for word in wanted]
        counts += (LCSseq.similarity(given, wanted), len(given), len(wanted))
    hits, of_given, of_wanted = np.array(counts, np.float64).reshape(-1, 3).T
    return _all_measures(hits, of_given, of_wanted, part)


class _Stems(dict[str, str]):
    def __missing__(self, word: str) -> str:
        found = self[word] = _stemmed(word)
        return found


def _all_measures(hits: Any, given: Any, wanted: Any, part: str) -> Floats:
    """:func:`measures` of every pair."""
    import numpy as np

    precision, recall = (hits / np.maximum(each, 1) for each in (given, wanted))
    both = precision + recall
    f = np.divide(2 * precision * recall, both, out=np.zeros(len(hits)), where=both > 0)
    return np.stack((f, {"f": f, "precision": precision, "recall": recall}[part]), axis=1)
