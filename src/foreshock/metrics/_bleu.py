"""BLEU: n-grams of the answer that stand in the target, of one response or of a corpus."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foreshock._base import MetricError
from foreshock.metrics._edit import check_choices, unless_choices
from foreshock.metrics._mteval import Cut, bleu_cut, spell_tokens
from foreshock.metrics._pairs import WORDS_CHUNK, batch_but, best_over_targets, refuse_long
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._spelling import Vocabulary

if TYPE_CHECKING:
    from foreshock.metrics._pairs import Floats

_SMOOTHING: dict[str, float] = {"exp": 0.0, "floor": 0.1, "add-k": 1.0, "none": 0.0}
_NO_MATCH = -9999999999.0  # sacrebleu's logarithm of 0
MAX_ORDER = 20
TWINS = ("gold_logprob(per=token)", "gold_logprob", "token_similarity", "char_similarity")


@metric(
    kind="hard",
    link="all-of-N",
    needs=("answer", "targets"),
    unless=unless_choices,
    range=(0, 100),
    twins=TWINS,
)
def bleu(
    *,
    tokens: str = "13a",
    smoothing: str = "exp",
    k: float | None = None,
    effective: bool = True,
    order: int = 4,
    lowercase: bool = False,
    choices: str = "refuse",
) -> Function:
    """BLEU of one response, 0 to 100: the geometric mean of its n-gram precisions times a penalty for being short.

    Equal to ``sacrebleu.sentence_bleu`` with the same settings; the defaults are its defaults. Several targets: an
    n-gram may occur as often as in the target that has it most often, and the target of the closest length counts for
    the penalty. Papineni et al. 2002; smoothing of Chen and Cherry 2014.

    Args:
        tokens: ``13a``, ``intl``, ``zh``, ``char`` or ``none`` (white space).
        smoothing: Precision of an order without a match: ``exp`` halves it each time, ``floor`` takes ``k`` matches,
            ``add-k`` adds ``k`` to matches and totals above order 1, ``none`` leaves 0.
        k: 0.1 for ``floor`` and 1 for ``add-k`` by default.
        effective: Stop at the longest n-gram that the answer has.
        order: Longest n-gram.
        lowercase: Lower case first.
        choices: ``refuse`` items with choices, or ``allow`` them.

    Examples:
        >>> round(bleu()({"answer": "The cat sat on a mat.", "targets": ["The cat sat on the mat."]}), 2)
        48.89
    """
    check_choices(choices)
    check_bleu(smoothing, k, order, effective)
    cut = bleu_cut(tokens)

    def score(response: Given) -> float:
        return bleu_of(_statistics(response, cut, order, lowercase), order, smoothing, k, effective)

    return score


def _names(*, order: int, **_: Any) -> tuple[str, ...]:
    kinds = [f"{what}_{n}" for what in ("matches", "total") for n in range(1, order + 1)]
    return ("answer_tokens", "target_tokens", *kinds)


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
def corpus_bleu(
    *,
    tokens: str = "13a",
    smoothing: str = "exp",
    k: float | None = None,
    effective: bool = False,
    order: int = 4,
    lowercase: bool = False,
    choices: str = "refuse",
) -> Function:
    """BLEU of a run, 0 to 100, from the sums of matches, n-grams and lengths over its responses.

    Equal to ``sacrebleu.corpus_bleu`` with the same settings; the defaults are its defaults. Parameters are those of
    :func:`bleu`; an order that no answer is long enough for makes it 0 unless ``effective``.
    """
    check_choices(choices)
    check_bleu(smoothing, k, order, effective)
    cut = bleu_cut(tokens)
    return lambda response: [float(count) for count in _statistics(response, cut, order, lowercase)]


@corpus_bleu.result
def _of_corpus(stats: Floats, *, order: int, smoothing: str, k: float | None, effective: bool, **_: Any) -> float:
    return bleu_of(stats[0].tolist(), order, smoothing, k, effective)


@corpus_bleu.alone
def _of_each(stats: Floats, *, order: int, smoothing: str, k: float | None, effective: bool, **_: Any) -> Floats:
    known: dict[tuple[float, ...], float] = {}

    def value(row: list[float]) -> float:
        key = tuple(row)
        if key not in known:
            known[key] = bleu_of(row, order, smoothing, k, effective)
        return known[key]

    matched = stats[:, 2 : 2 + order].max(axis=1).nonzero()[0]
    values: Floats = stats[:, 0] * 0
    values[matched] = list(map(value, stats[matched].tolist()))
    return values


@corpus_bleu.batch
def _corpus_batch(columns: Columns, **params: Any) -> list[Any]:
    tokens, order, lowercase = params["tokens"], params["order"], params["lowercase"]

    def whole(columns: Columns) -> list[Any]:
        def work(answers: list[str], targets: list[str]) -> Floats:
            return _of_pairs(answers, targets, tokens, order, lowercase)

        return best_over_targets(columns, work, keep=slice(None), size=WORDS_CHUNK)

    return batch_but(columns, whole, corpus_bleu.make(**params), _several(columns))


@bleu.batch
def _batch(columns: Columns, **params: Any) -> list[Any]:
    tokens, order, lowercase = params["tokens"], params["order"], params["lowercase"]

    def work(answers: list[str], targets: list[str]) -> Floats:
        values: Floats = _of_each(_of_pairs(answers, targets, tokens, order, lowercase), **params)
        return values[:, None]

    def whole(columns: Columns) -> list[Any]:
        return best_over_targets(columns, work, size=WORDS_CHUNK)

    return batch_but(columns, whole, bleu.make(**params), _several(columns))


def _several(columns: Columns) -> list[int]:
    """Rows with several targets, whose n-grams must be merged: these are counted one by one."""
    targets = columns["targets"]
    return [i for i, ts in enumerate(targets) if len(ts) > 1] if max(map(len, targets), default=0) > 1 else []


def check_bleu(smoothing: str, k: float | None, order: int, effective: bool) -> None:
    """Refuse unknown settings."""
    if smoothing not in _SMOOTHING:
        raise MetricError(f"smoothing={smoothing!r} is unknown", expected=f"one of {', '.join(_SMOOTHING)}")
    if not isinstance(effective, bool):
        raise MetricError(f"effective={effective!r}", expected="True or False")
    if k is not None and (smoothing not in ("floor", "add-k") or not k > 0):
        raise MetricError(f"k={k!r} with smoothing={smoothing}", expected="k above 0 with floor or add-k")
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MAX_ORDER:
        raise MetricError(f"order={order!r}", expected=f"a whole number from 1 to {MAX_ORDER}")


def bleu_of(stats: Sequence[float], order: int, smoothing: str, k: float | None, effective: bool) -> float:
    """BLEU from lengths, matches and totals; the penalty is 0 for an empty answer, and BLEU without a match is 0."""
    answer, target = stats[0], stats[1]
    matches, totals = stats[2 : 2 + order], stats[2 + order :]
    if not any(matches):
        return 0.0
    amount = _SMOOTHING[smoothing] if k is None else k
    logs, orders, halved = [_NO_MATCH] * order, order, 1.0
    for n in range(order):
        add = amount if smoothing == "add-k" and n else 0
        matched, total = matches[n] + add, totals[n] + add
        if not total:
            break
        orders = n + 1 if effective else order
        if matched:
            logs[n] = math.log(100.0 * matched / total)
        elif smoothing == "exp":
            halved *= 2
            logs[n] = math.log(100.0 / (halved * total))
        elif smoothing == "floor":
            logs[n] = math.log(100.0 * amount / total)
    penalty = 1.0 if answer >= target else math.exp(1 - target / answer)
    return min(100.0, penalty * math.exp(sum(logs[:orders]) / orders))


def _statistics(response: Given, cut: Cut, order: int, lowercase: bool) -> list[int]:
    refuse_long(response)
    fold = str.lower if lowercase else str
    answer, *targets = (cut(fold(text)) for text in (response.answer, *response.targets))
    length = min(map(len, targets), key=lambda n: (abs(n - len(answer)), n))
    matches = [_matches(answer, targets, n) for n in range(1, order + 1)]
    return [len(answer), length, *matches, *(max(0, len(answer) - n) for n in range(order))]


def _matches(answer: list[str], targets: list[list[str]], n: int) -> int:
    given, *wanted = (Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (answer, *targets))
    return sum(min(count, max(each.get(ngram, 0) for each in wanted)) for ngram, count in given.items())


def _of_pairs(answers: list[str], targets: list[str], tokens: str, order: int, lowercase: bool) -> Floats:
    import numpy as np

    from foreshock.metrics._ngrams import ngram_totals, shared_ngrams

    texts = [*answers, *targets]
    spelt = spell_tokens(tokens, [t.lower() for t in texts] if lowercase else texts, Vocabulary())
    given, wanted = spelt[: len(answers)], spelt[len(answers) :]
    lengths = np.array([[len(a), len(t)] for a, t in zip(given, wanted, strict=True)])
    parts = (lengths, shared_ngrams(given, wanted, order), ngram_totals(lengths[:, 0], order))
    return np.concatenate(parts, axis=1).astype(np.float64)
