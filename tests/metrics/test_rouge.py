"""ROUGE equals rouge-score, with and without stems, for odd texts, real ones and several targets."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer, _union_lcs

from foreshock._base import MetricError
from foreshock.metrics import get_metric, score_batch
from foreshock.metrics._lcs import common_places, union_hits
from foreshock.metrics._porter import stem

from ._text_pairs import TEXT, WORDS, agree, columns, odd_pairs, real_pairs

CALM = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL", "rouge_lsum": "rougeLsum"}
ENDINGS = """s sses ies ss ed eed ied ing at bl iz y ational enci izer bli alli entli eli ousli ization logi ful
ness icate ative al ance er ic able ant ement ion ou ism ate iti ous ive ize e ll"""
IRREGULAR = "sky skies dying news innings howe exceed succeed generously happy enjoy fly yyyy geology"
PARTS = {"f": "fmeasure", "precision": "precision", "recall": "recall"}


def peer(name, part="f", stemmed=False):
    scorer = RougeScorer([NAMES[name]], use_stemmer=stemmed)
    return lambda answer, *targets: getattr(scorer.score_multi(targets, answer)[NAMES[name]], PARTS[part])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("part", "stemmed"), [("f", False), ("precision", True), ("recall", False)])
def test_odd_texts_score_as_in_rouge_score(name, part, stemmed):
    spec = get_metric(name, part=part, stem=stemmed)
    agree(spec, odd_pairs(5 if part == "f" else 17), peer(name, part, stemmed))


@pytest.mark.parametrize("name", NAMES)
@CALM
@given(rows=st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_any_texts_score_as_in_rouge_score(name, rows):
    spec, oracle = get_metric(name, part="precision"), peer(name, "precision")
    found = score_batch(spec, {"answer": [a for a, _ in rows], "targets": [t for _, t in rows]})
    for (answer, targets), value in zip(rows, found.values, strict=True):
        assert value == spec({"answer": answer, "targets": targets})
        assert abs(value - oracle(answer, *targets)) <= 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_real_texts_score_as_in_rouge_score(shared_data, name):
    pairs = [(a[:500], t[:500]) for a, t in real_pairs(shared_data, 15)]
    agree(get_metric(name), pairs, peer(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stemmed", [False, True])
def test_five_thousand_real_texts_score_as_in_rouge_score(shared_data, name, stemmed):
    agree(get_metric(name, stem=stemmed), real_pairs(shared_data, 5_000), peer(name, stemmed=stemmed))


def test_stems_are_those_of_nltk():
    rng = random.Random(2)
    words = ["".join(rng.choices("aeioubcdlstwxyz1", k=rng.randint(0, 5))) for _ in range(3_000)]
    words = [w + "".join(rng.choices(ENDINGS.split(), k=rng.randint(0, 2))) for w in words]
    words += IRREGULAR.split()
    oracle = PorterStemmer()
    for word in words:
        assert stem(word) == oracle.stem(word), word
    assert stem("y" * 50_000) == oracle.stem("y" * 50_000)


@pytest.mark.slow
def test_stems_of_every_real_word_are_those_of_nltk(shared_data):
    words = {
        w for pair in real_pairs(shared_data, 12_000) for text in pair for w in re.findall("[a-z0-9]+", text.lower())
    }
    oracle = PorterStemmer()
    assert len(words) > 10_000
    assert [word for word in words if stem(word) != oracle.stem(word)] == []


@CALM
@given(st.text("abc", max_size=9), st.lists(st.text("abc", max_size=9), min_size=1, max_size=3))
def test_of_several_longest_subsequences_the_same_one_is_taken(sentence, others):
    union = sorted({place for other in others for place in common_places(sentence, other)})
    assert [sentence[i] for i in union] == _union_lcs(list(sentence), [list(other) for other in others])


def test_the_union_of_subsequences_of_the_paper():
    # Lin 2004, section 3.2: the reference w1..w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5 has union w1 w2 w3 w5
    assert union_hits(["12678", "13895"], ["12345"]) == 4
    lines = {"answer": "a c h i e\na b f g h", "targets": ["a b c d e"]}
    assert get_metric("rouge_lsum", part="recall")(lines) == 4 / 5
    assert get_metric("rouge_l", part="recall")(lines) < 4 / 5


@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l"])
def test_long_texts_take_little_time_and_longer_ones_say_so(name):
    from foreshock.metrics._pairs import LIMIT

    rng = random.Random(5)
    long, other = (" ".join(rng.choices(WORDS, k=40_000))[:100_000] for _ in range(2))
    spec = get_metric(name)
    before = time.process_time()
    values = score_batch(spec, columns([(long, other)])).values
    assert time.process_time() - before < 3
    assert 0 < values[0] < 1
    assert name == "rouge_l" or abs(values[0] - peer(name)(long, other)) <= 1e-9
    refused = score_batch(spec, columns([("x" * (LIMIT + 1), "a b"), ("a b", "a b")]))
    assert refused.statuses == ["failed", "scored"]
    assert f"{LIMIT + 1:,}" in refused.labels[0]


def test_very_many_lines_are_refused_and_many_are_not():
    lines = "\n".join(f"the {i}" for i in range(15_000))
    few = "\n".join(f"the line {i}" for i in range(300))
    before = time.process_time()
    found = score_batch(get_metric("rouge_lsum"), columns([(lines, lines), (few, few), ("a b", "a b")]))
    assert time.process_time() - before < 6
    assert found.statuses == ["failed", "scored", "scored"]
    assert "15,000 lines" in found.labels[0]
    assert found.values[1:] == [1, 1]


def test_unknown_settings_are_refused():
    for name in NAMES:
        with pytest.raises(MetricError, match="f, precision, recall"):
            get_metric(name, part="fmeasure")
        with pytest.raises(MetricError, match="refuse or allow"):
            get_metric(name, choices="maybe")
