"""chrF: character n-grams (and word n-grams, chrF++) that answer and target share, of one response or of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._pairs import batch_but, best_over_targets, refuse_long
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._spelling import SEPARATOR, Vocabulary

if TYPE_CHECKING:
    from foreshock.metrics._pairs import Floats

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_EPSILON = 1e-16
MAX_ORDER = 20
TWINS = ("gold_logprob(per=token)", "gold_logprob", "char_similarity", "token_similarity")


@metric(
    kind="hard",
    link="all-of-N",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 100),
    twins=TWINS,
)
def chrf(
    *,
    order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    whitespace: bool = False,
    smoothing: str = "effective",
    lowercase: bool = False,
    choices: str = "refuse",
) -> Function:
    """chrF of one response, 0 to 100: an F-measure of its character n-grams; ``word_order=2`` is chrF++.

    Equal to ``sacrebleu.sentence_chrf`` with the same settings; the defaults are its defaults. The best over the
    targets counts. Popovic 2015 and 2017.

    Args:
        order: Longest n-gram of characters.
        word_order: Longest n-gram of words; 0 counts none.
        beta: How many times recall weighs as much as precision.
        whitespace: Keep white space when characters are counted.
        smoothing: ``effective`` averages precision and recall over the orders that both texts have; ``epsilon``
            averages the F-measures of all orders, as chrF++.py, Moses and NLTK do.
        lowercase: Lower case first.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> round(chrf()({"answer": "the cat sat", "targets": ["the cat sits"]}), 2)
        61.03
    """
    check_choices(choices)
    check_chrf(order, word_order, beta, smoothing)

    def score(response: Given) -> float:
        refuse_long(response)
        given = [_statistics(response.answer, t, order, word_order, whitespace, lowercase) for t in response.targets]
        return max(chrf_of(stats, beta, smoothing) for stats in given)

    return score


def _names(*, order: int, word_order: int, **_: Any) -> tuple[str, ...]:
    orders = [*(f"character_{n + 1}" for n in range(order)), *(f"word_{n + 1}" for n in range(word_order))]
    return tuple(f"{each}_{what}" for each in orders for what in ("answer", "target", "matches"))


@metric(
    kind="hard",
    link="all-of-N",
    grain="run",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 100),
    statistics=_names,
    additive=True,
    twins=TWINS,
)
def corpus_chrf(
    *,
    order: int = 6,
    word_order: int = 0,
    beta: float = 2,
    whitespace: bool = False,
    smoothing: str = "effective",
    lowercase: bool = False,
    choices: str = "refuse",
) -> Function:
    """chrF of a run, 0 to 100, from the sums of n-grams and matches over its responses.

    Equal to ``sacrebleu.corpus_chrf`` with the same settings. Parameters are those of :func:`chrf`. Of several targets
    the one with the best chrF counts.
    """
    check_choices(choices)
    check_chrf(order, word_order, beta, smoothing)

    def statistics(response: Given) -> list[float]:
        refuse_long(response)
        given = [_statistics(response.answer, t, order, word_order, whitespace, lowercase) for t in response.targets]
        return [float(count) for count in max(given, key=lambda stats: chrf_of(stats, beta, smoothing))]

    return statistics


@corpus_chrf.result
def _of_corpus(stats: Floats, *, beta: float, smoothing: str, **_: Any) -> float:
    return chrf_of(stats[0].tolist(), beta, smoothing)


@corpus_chrf.alone
def _of_each(stats: Floats, *, beta: float, smoothing: str, **_: Any) -> Floats:
    return _of_all(stats, beta, smoothing)


@chrf.batch
def _batch(columns: Columns, **params: Any) -> list[Any]:
    def whole(columns: Columns) -> list[Any]:
        return best_over_targets(columns, lambda a, t: _of_pairs(a, t, **params)[:, :1])

    return batch_but(columns, whole, chrf.make(**params))


@corpus_chrf.batch
def _corpus_batch(columns: Columns, **params: Any) -> list[Any]:
    def whole(columns: Columns) -> list[Any]:
        return best_over_targets(columns, lambda a, t: _of_pairs(a, t, **params), keep=slice(1, None))

    return batch_but(columns, whole, corpus_chrf.make(**params))


def check_chrf(order: int, word_order: int, beta: float, smoothing: str) -> None:
    """Refuse unknown settings."""
    for name, value, least in (("order", order, 1), ("word_order", word_order, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_ORDER:
            raise MetricError(f"{name}={value!r}", expected=f"a whole number from {least} to {MAX_ORDER}")
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta <= 1000:
        raise MetricError(f"beta={beta!r}", expected="a number above 0, at most 1000")
    if smoothing not in ("effective", "epsilon"):
        raise MetricError(f"smoothing={smoothing!r} is unknown", expected="effective or epsilon")


def chrf_of(stats: Sequence[float], beta: float, smoothing: str) -> float:
    """chrF from three counts for each order: n-grams of the answer, of the target, and shared."""
    factor, score, precision, recall, orders = beta**2, 0.0, 0.0, 0.0, 0
    for i in range(0, len(stats), 3):
        given, wanted, matched = stats[i : i + 3]
        p = matched / given if given else _EPSILON
        r = matched / wanted if wanted else _EPSILON
        weighed = factor * p + r
        score += (1 + factor) * p * r / weighed if weighed else _EPSILON
        if given and wanted:
            precision, recall, orders = precision + p, recall + r, orders + 1
    if smoothing == "epsilon":
        return 100 * score / (len(stats) // 3)
    if not orders or not precision + recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall))


def _of_all(stats: Floats, beta: float, smoothing: str) -> Floats:
    """:func:`chrf_of` for each row, by the same operations in the same order."""
    import numpy as np

    factor = beta**2
    score, precision, recall, orders = (np.zeros(len(stats)) for _ in range(4))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(0, stats.shape[1], 3):
            given, wanted, matched = stats[:, i], stats[:, i + 1], stats[:, i + 2]
            p = np.where(given > 0, matched / given, _EPSILON)
            r = np.where(wanted > 0, matched / wanted, _EPSILON)
            weighed = factor * p + r
            score += np.where(weighed > 0, (1 + factor) * p * r / weighed, _EPSILON)
            both = (given > 0) & (wanted > 0)
            precision, recall, orders = precision + np.where(both, p, 0), recall + np.where(both, r, 0), orders + both
        p, r = precision / orders, recall / orders
        averaged = np.where(precision + recall > 0, 100 * ((1 + factor) * p * r / (factor * p + r)), 0.0)
    return averaged if smoothing == "effective" else 100 * score / (stats.shape[1] // 3)


def _prepared(text: str, whitespace: bool, lowercase: bool) -> str:
    text = text.lower() if lowercase else text
    return text if whitespace else "".join(text.split())


def _all_prepared(texts: list[str], whitespace: bool, lowercase: bool) -> list[str]:
    joined = SEPARATOR.join(texts)
    if whitespace or lowercase or joined.count(SEPARATOR) != len(texts) - 1:
        return [_prepared(text, whitespace, lowercase) for text in texts]
    return "".join(joined.split()).split(SEPARATOR)


def _words(text: str) -> list[str]:
    """Words with one punctuation mark at their end, or else at their beginning, apart."""
    words = []
    for word in text.split():
        if len(word) == 1:
            words.append(word)
        elif word[-1] in _PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif word[0] in _PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


def _statistics(answer: str, target: str, order: int, word_order: int, whitespace: bool, lowercase: bool) -> list[int]:
    stats: list[int] = []
    given, wanted = (_prepared(text, whitespace, lowercase) for text in (answer, target))
    for n in range(1, order + 1):
        stats += _counts(Counter(map("".join, _runs(given, n))), Counter(map("".join, _runs(wanted, n))))
    if word_order:
        words, others = (_words(text.lower() if lowercase else text) for text in (answer, target))
        for n in range(1, word_order + 1):
            stats += _counts(Counter(_runs(words, n)), Counter(_runs(others, n)))
    return stats


def _runs(symbols: Sequence[str], n: int) -> Any:
    return zip(*(symbols[i:] for i in range(n)), strict=False)


def _counts(given: Counter[Any], wanted: Counter[Any]) -> list[int]:
    """n-grams of answer and target, and shared; the answer's do not count where the target has none of this order."""
    matches = sum(min(count, wanted[ngram]) for ngram, count in given.items() if ngram in wanted)
    return [given.total() if wanted else 0, wanted.total(), matches]


def _of_pairs(  # noqa: PLR0913
    answers: list[str],
    targets: list[str],
    *,
    order: int,
    word_order: int,
    beta: float,
    whitespace: bool,
    smoothing: str,
    lowercase: bool,
    **_: Any,
) -> Floats:
    """chrF and its statistics for each pair: shape (n, 1 + 3 * orders)."""
    import numpy as np

    given, wanted = (_all_prepared(texts, whitespace, lowercase) for texts in (answers, targets))
    parts = _count_all(given, wanted, order)
    if word_order:
        vocabulary = Vocabulary()
        folded = ([t.lower() for t in texts] if lowercase else texts for texts in (answers, targets))
        words, others = ([vocabulary.spell(_words(t)) for t in texts] for texts in folded)
        parts += _count_all(words, others, word_order)
    stats = np.stack(parts, axis=1).astype(np.float64)
    return np.concatenate((_of_all(stats, beta, smoothing)[:, None], stats), axis=1)


def _count_all(given: list[str], wanted: list[str], orders: int) -> list[Any]:
    import numpy as np

    from foreshock.metrics._ngrams import ngram_totals, shared_ngrams

    lengths = (np.fromiter(map(len, texts), np.int64, len(texts)) for texts in (given, wanted))
    of_given, of_wanted = (ngram_totals(each, orders) for each in lengths)
    matches = shared_ngrams(given, wanted, orders)
    of_given *= of_wanted > 0
    return [counts[:, n] for n in range(orders) for counts in (of_given, of_wanted, matches)]
