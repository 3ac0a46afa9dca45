"""Token F1 equals the evaluation script of SQuAD 2.0, written out here."""

from __future__ import annotations

import collections
import re
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock._base import MetricError
from foreshock.metrics import get_metric, score_batch

from ._text_pairs import TEXT, agree, odd_pairs, real_pairs

CALM = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def squad_tokens(text):
    kept = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split()).split()


def f1(answer, target, cut=squad_tokens, part=0):
    given, wanted = cut(answer), cut(target)
    if not given or not wanted:
        return float(given == wanted)
    same = sum((collections.Counter(given) & collections.Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(given), same / len(wanted)
    return ((2 * precision * recall) / (precision + recall), precision, recall)[part]


def test_odd_texts_score_as_in_squad():
    agree(get_metric("token_f1", normalise="squad"), odd_pairs(3), f1, tolerance=0)


@CALM
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_any_texts_score_as_by_hand(pairs):
    agree(get_metric("token_f1"), pairs, lambda a, t: f1(a, t, str.split), tolerance=0)
    recall = get_metric("token_f1", part="recall", tokens="characters", normalise="none")
    agree(recall, pairs, lambda a, t: f1(a, t, list, 2), tolerance=0)


@CALM
@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_the_best_target_counts(rows):
    spec = get_metric("token_f1")
    found = score_batch(spec, {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]})
    assert found.values == [max(f1(a, t, str.split) for t in ts) for a, ts in rows]


def test_real_texts_score_as_in_squad(shared_data):
    agree(get_metric("token_f1", normalise="squad"), real_pairs(shared_data, 200), f1, tolerance=0)


def test_exact_match_takes_the_normalisation_of_squad():
    exact = get_metric("exact_match", normalise="squad")
    assert exact({"answer": "The  Cat.", "targets": ["a cat"]}) == 1
    assert exact({"answer": "The «Cat»", "targets": ["cat"]}) == 0  # SQuAD knows ASCII punctuation only


def test_unknown_settings_are_refused():
    with pytest.raises(MetricError, match="f, precision, recall"):
        get_metric("token_f1", part="f1")
