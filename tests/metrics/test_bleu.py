"""BLEU equals sacrebleu, for odd texts, real ones, several targets and corpora."""

from __future__ import annotations

import random
import time

import pytest
import sacrebleu
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock._base import MetricError
from foreshock.metrics import get_metric, score_batch

from ._text_pairs import ODD, TEXT, WORDS, agree, columns, odd_pairs, real_pairs, sums_agree

CALM = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
OURS = {"tokens": "tokenize", "smoothing": "smooth_method", "k": "smooth_value", "effective": "effective_order"}
SETTINGS = [
    {},
    {"tokens": "none", "smoothing": "none"},
    {"tokens": "intl", "smoothing": "floor"},
    {"tokens": "char", "effective": False},
    {"tokens": "zh", "smoothing": "add-k"},
    {"smoothing": "add-k", "k": 0.5, "order": 2, "lowercase": True},
    {"smoothing": "floor", "k": 0.01, "order": 6, "effective": False},
]


def peer(corpus=False, **params):
    given = {OURS.get(name, "max_ngram_order" if name == "order" else name): value for name, value in params.items()}
    return sacrebleu.metrics.BLEU(**{"effective_order": not corpus, **given}, force=True)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_odd_texts_score_as_in_sacrebleu(params):
    oracle = peer(**params)
    agree(
        get_metric("bleu", **params), odd_pairs(11 if params else 3), lambda a, t: oracle.sentence_score(a, [t]).score
    )


@CALM
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_any_texts_score_as_in_sacrebleu(pairs):
    oracle = peer()
    agree(get_metric("bleu"), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)


@CALM
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_several_targets_are_merged_as_in_sacrebleu(rows):
    oracle, spec = peer(), get_metric("bleu")
    found = score_batch(spec, {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]})
    for (answer, targets), value in zip(rows, found.values, strict=True):
        assert value == spec({"answer": answer, "targets": targets})
        assert abs(value - oracle.sentence_score(answer, targets).score) <= 1e-9


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_a_corpus_scores_as_in_sacrebleu(params):
    rng = random.Random(3)
    rows = [(rng.choice(ODD), [" ".join(rng.choices(WORDS, k=6)), rng.choice(ODD)]) for _ in range(120)]
    rows += [(" ".join(rng.choices(WORDS, k=9)), [" ".join(rng.choices(WORDS, k=9))] * 2) for _ in range(80)]
    expected = peer(corpus=True, **params).corpus_score(
        [a for a, _ in rows], list(zip(*(t for _, t in rows), strict=True))
    )
    sums_agree(get_metric("corpus_bleu", **params), rows, expected.score)


def test_real_texts_score_as_in_sacrebleu(shared_data):
    pairs = real_pairs(shared_data, 20)
    oracle = peer()
    agree(get_metric("bleu"), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)
    expected = peer(corpus=True).corpus_score([a for a, _ in pairs], [[t for _, t in pairs]]).score
    sums_agree(get_metric("corpus_bleu"), [(a, [t]) for a, t in pairs], expected)


@pytest.mark.slow
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_five_thousand_real_texts_score_as_in_sacrebleu(shared_data, params):
    pairs = real_pairs(shared_data, 5_000)
    oracle = peer(**params)
    agree(get_metric("bleu", **params), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)
    expected = peer(corpus=True, **params).corpus_score([a for a, _ in pairs], [[t for _, t in pairs]]).score
    sums_agree(get_metric("corpus_bleu", **params), [(a, [t]) for a, t in pairs], expected)


def test_long_texts_take_little_time_and_longer_ones_say_so():
    from foreshock.metrics._pairs import LIMIT

    rng = random.Random(5)
    long, other = (" ".join(rng.choices(WORDS, k=40_000))[:100_000] for _ in range(2))
    before = time.process_time()
    agree(get_metric("bleu"), [(long, other)], lambda a, t: peer().sentence_score(a, [t]).score)
    assert time.process_time() - before < 10  # the oracle included
    found = score_batch(get_metric("bleu"), columns([("x" * (LIMIT + 1), "a b"), ("a b", "a b")]))
    assert found.statuses == ["failed", "scored"]
    assert f"{LIMIT + 1:,}" in found.labels[0]


def test_a_value_worked_out_by_hand():
    # matches 2 of 3, 1 of 2; shorter than the target by one token
    spec = get_metric("bleu", order=2, tokens="none")
    expected = 100 * 2.718281828459045 ** (1 - 4 / 3) * (2 / 3 * 1 / 2) ** 0.5
    assert spec({"answer": "a b x", "targets": ["a b c d"]}) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tokens": "13b"}, "13a, intl, zh, char, none"),
        ({"smoothing": "add"}, "exp, floor, add-k, none"),
        ({"k": 1}, "with floor or add-k"),
        ({"smoothing": "floor", "k": 0}, "above 0"),
        ({"order": 0}, "from 1 to"),
        ({"effective": "yes"}, "True or False"),
    ],
)
def test_unknown_settings_are_refused(params, message):
    for name in ("bleu", "corpus_bleu"):
        with pytest.raises(MetricError, match=message):
            get_metric(name, **params)
