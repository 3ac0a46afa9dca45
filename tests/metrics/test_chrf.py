"""chrF and chrF++ equal sacrebleu, for odd texts, real ones, several targets and corpora."""

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

CALM = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SETTINGS = [
    {},
    {"word_order": 2},
    {"order": 3, "word_order": 1, "beta": 1, "lowercase": True},
    {"whitespace": True, "smoothing": "epsilon"},
    {"word_order": 2, "smoothing": "epsilon", "order": 1},
]


def peer(order=6, smoothing="effective", **params):
    return sacrebleu.metrics.CHRF(char_order=order, eps_smoothing=smoothing == "epsilon", **params)


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_odd_texts_score_as_in_sacrebleu(params):
    oracle = peer(**params)
    agree(
        get_metric("chrf", **params), odd_pairs(11 if params else 3), lambda a, t: oracle.sentence_score(a, [t]).score
    )


@CALM
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_any_texts_score_as_in_sacrebleu(pairs):
    oracle = peer(word_order=2)
    agree(get_metric("chrf", word_order=2), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)


@CALM
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_the_best_of_several_targets_counts_as_in_sacrebleu(rows):
    oracle, spec = peer(), get_metric("chrf")
    found = score_batch(spec, {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]})
    for (answer, targets), value in zip(rows, found.values, strict=True):
        assert value == spec({"answer": answer, "targets": targets})
        assert abs(value - oracle.sentence_score(answer, targets).score) <= 1e-9


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_a_corpus_scores_as_in_sacrebleu(params):
    rng = random.Random(3)
    rows = [(rng.choice(ODD), [" ".join(rng.choices(WORDS, k=6)), rng.choice(ODD)]) for _ in range(120)]
    expected = peer(**params).corpus_score([a for a, _ in rows], list(zip(*(t for _, t in rows), strict=True)))
    sums_agree(get_metric("corpus_chrf", **params), rows, expected.score)


def test_real_texts_score_as_in_sacrebleu(shared_data):
    pairs = real_pairs(shared_data, 15)
    oracle = peer()
    agree(get_metric("chrf"), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)
    expected = oracle.corpus_score([a for a, _ in pairs], [[t for _, t in pairs]]).score
    sums_agree(get_metric("corpus_chrf"), [(a, [t]) for a, t in pairs], expected)


@pytest.mark.slow
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_five_thousand_real_texts_score_as_in_sacrebleu(shared_data, params):
    pairs = real_pairs(shared_data, 5_000)
    oracle = peer(**params)
    agree(get_metric("chrf", **params), pairs, lambda a, t: oracle.sentence_score(a, [t]).score)
    expected = oracle.corpus_score([a for a, _ in pairs], [[t for _, t in pairs]]).score
    sums_agree(get_metric("corpus_chrf", **params), [(a, [t]) for a, t in pairs], expected)


def test_long_texts_take_little_time_and_longer_ones_say_so():
    from foreshock.metrics._pairs import LIMIT

    rng = random.Random(5)
    long, other = (" ".join(rng.choices(WORDS, k=40_000))[:100_000] for _ in range(2))
    spec = get_metric("chrf", word_order=2)
    before = time.process_time()
    (found,) = score_batch(spec, columns([(long, other)])).values
    assert time.process_time() - before < 3
    assert abs(found - peer(word_order=2).sentence_score(long, [other]).score) <= 1e-9
    refused = score_batch(spec, columns([("x" * (LIMIT + 1), "a b"), ("a b", "a b")]))
    assert refused.statuses == ["failed", "scored"]
    assert f"{LIMIT + 1:,}" in refused.labels[0]


def test_a_value_worked_out_by_hand():
    # characters: ab, b | ab, bc; precision 1/1 of bigrams and 2/2 of letters, recall 2/3 and 1/2
    precision, recall = 1, (2 / 3 + 1 / 2) / 2
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert get_metric("chrf", order=2)({"answer": "a b", "targets": ["abc"]}) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": 0}, "from 1 to"),
        ({"word_order": -1}, "from 0 to"),
        ({"beta": 0}, "above 0"),
        ({"smoothing": "exp"}, "effective or epsilon"),
    ],
)
def test_unknown_settings_are_refused(params, message):
    for name in ("chrf", "corpus_chrf"):
        with pytest.raises(MetricError, match=message):
            get_metric(name, **params)
