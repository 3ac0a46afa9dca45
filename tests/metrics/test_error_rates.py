"""Error rates and distances equal the textbook table, and corpus rates weigh by length."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock.metrics import get_metric, score_batch

from ._text_pairs import TEXT, columns, odd_pairs, sums_agree

CALM = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CUTS = {"words": str.split, "characters": str.strip, "bytes": lambda t: t.strip().encode("utf-8", "surrogatepass")}


def levenshtein(a, b):
    """Textbook dynamic programme, one row of the table at a time."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def rate(answer, targets, cut):
    """Smallest rate and its counts, or None."""
    given, found = cut(answer), []
    for target in map(cut, targets):
        if target or not given:
            edits = levenshtein(given, target)
            found.append((edits / len(target) if target else 0.0, edits, len(target)))
    return min(found, key=lambda each: each[0]) if found else None


ROWS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


@pytest.mark.parametrize(("name", "tokens"), [("word_error_rate", "words"), ("character_error_rate", "characters")])
@CALM
@given(rows=ROWS)
def test_rates_are_those_of_the_textbook(name, tokens, rows):
    cut = CUTS[tokens]
    table = {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]}
    found, corpus = (score_batch(get_metric(each), table) for each in (name, f"corpus_{name}"))
    for i, (answer, targets) in enumerate(rows):
        expected = rate(answer, targets, cut)
        if expected is None:
            assert found.statuses[i] == corpus.statuses[i] == "needs"
            assert found.labels[i] == corpus.labels[i] == "the targets are empty"
        else:
            row = {"answer": answer, "targets": targets}
            assert found.values[i] == corpus.values[i] == expected[0] == get_metric(name)(row)
            assert get_metric(f"corpus_{name}")(row) == list(expected[1:])


@pytest.mark.parametrize("tokens", CUTS)
@CALM
@given(rows=ROWS)
def test_distances_are_those_of_the_textbook(tokens, rows):
    table = {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]}
    spec, cut = get_metric("edit_distance", tokens=tokens), CUTS[tokens]
    expected = [min(levenshtein(cut(a), cut(t)) for t in ts) for a, ts in rows]
    assert score_batch(spec, table).values == expected
    assert [spec({"answer": a, "targets": t}) for a, t in rows] == expected
    assert spec.unit == tokens


def test_bytes_are_compared_as_the_tokens_of_that_name():
    pairs = odd_pairs(5)
    one, other = get_metric("byte_similarity"), get_metric("token_similarity", tokens="bytes")
    values = score_batch(one, columns(pairs)).values
    assert values == score_batch(other, columns(pairs)).values
    assert values == [one({"answer": a, "targets": [t]}) for a, t in pairs]


def test_a_corpus_weighs_by_length():
    rng = random.Random(1)
    rows = [(" ".join(rng.choices("abc", k=rng.randint(0, 9))), [" ".join(rng.choices("abc", k=5))]) for _ in range(90)]
    edits = sum(levenshtein(a.split(), t.split()) for a, (t,) in rows)
    sums_agree(get_metric("corpus_word_error_rate"), rows, edits / (5 * 90))
    spec = get_metric("corpus_word_error_rate")
    table = {"answer": ["x", "a b c d"], "targets": [["y"], ["a b c d"]]}
    assert spec.result(np.array([[1.0, 1.0], [0.0, 4.0]])) == 0.2
    assert score_batch(spec, table).values == [1, 0]


def test_a_rate_can_exceed_one_and_less_is_better():
    spec = get_metric("word_error_rate")
    assert spec({"answer": "a b c", "targets": ["x"]}) == 3
    assert (spec.low, spec.high, spec.higher_is_better) == (0, None, False)


def test_long_texts_are_refused_alone():
    from foreshock.metrics._edit import LIMIT

    long = "ab" * LIMIT
    pairs = [(long, "a"), ("a", "a")]
    for name in ("character_error_rate", "corpus_character_error_rate", "edit_distance", "byte_similarity"):
        found = score_batch(get_metric(name), columns(pairs))
        assert found.statuses == ["failed", "scored"]
        assert f"{2 * LIMIT:,}" in found.labels[0]
    words = score_batch(get_metric("word_error_rate"), columns(pairs))  # one long word is no long list of words
    assert words.values == [1, 0]
