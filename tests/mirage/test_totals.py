"""Totals with a twin: judged on standard errors alone, on worlds of known truth and on published tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from foreshock._base import MetricError
from foreshock.mirage import entry_of_totals, foreseeable, judge_family, resolution_rows, totals_lack, twin_of
from foreshock.series import Declared
from foreshock.simulate import token_world
from tests.mirage.totals import arithmetic, published, series_of, table, totals_of


@pytest.fixture(scope="module")
def lm_eval(shared_data: Path) -> Path:
    return shared_data / "series" / "pythia_lmeval.csv.gz"


@pytest.mark.parametrize("family", ["pythia", "pythia-deduped"])
@pytest.mark.parametrize("shots", [0, 5])
def test_lambada_has_a_verdict_from_accuracy_and_perplexity(lm_eval: Path, family: str, shots: int) -> None:
    rows = table(lm_eval, family=family, shots=shots, step=143000, task="lambada_openai")
    hard, perplexity = published(rows, "acc"), published(rows, "ppl")
    twin = twin_of(hard, [hard, perplexity])
    assert twin is perplexity
    entry = entry_of_totals(hard, twin)
    told = judge_family([entry]).judgements[0]
    assert told.verdict == "smooth"
    assert told.twin == "ppl"
    assert told.share is not None
    assert told.share.high < 0.5
    names = {one.name: one for one in told.finding.alternatives}
    assert names["unpaired totals"].status == "possible"
    assert "lm-eval the whole answer" in names["what the twin measures"].why
    assert names["few items"].status == "ruled-out"


def test_the_real_jump_of_addition_is_no_artefact_and_lacks_a_twin(shared_data: Path) -> None:
    rows = arithmetic(shared_data / "series" / "pythia_v0_arithmetic_by_operand.csv.gz", "addition", 2)
    hard = published(rows, "exact_match")
    assert [round(p.value, 3) for p in hard.points] == [0.015, 0.006, 0.017, 0.022, 0.717, 0.451, 0.687]
    assert {p.n for p in hard.points} == {5000}
    assert twin_of(hard, [hard]) is None
    entry = entry_of_totals(hard, None)
    told = judge_family([entry]).judgements[0]
    assert told.verdict == "unresolved"
    assert told.reason.startswith("no twin; the jump is not a matter of resolution")
    names = {one.name: one for one in told.finding.alternatives}
    assert names["few items"].status == "ruled-out"
    assert "not a matter of resolution" in names["few items"].why
    assert "log-probability of each token" in names["score scale"].why
    assert "log-likelihood form" in told.finding.advice
    rows = resolution_rows(told, entry.hard)
    assert not any(row["at_floor"] for row in rows)
    assert [row["jump"] for row in rows] == [None] * 4 + ["ruled out"] + [None] * 2
    foretold = foreseeable(told, entry)
    assert foretold.answer == "no"
    assert foretold.hard is not None
    assert foretold.hard.high is not None
    assert foretold.hard.high < 0.717
    assert "twin" in foretold.why


def test_draws_have_the_spread_that_the_totals_state() -> None:
    hard = series_of("exact_match", [0.0, 0.2, 0.7], n=400)
    twin = series_of("ppl", [20.0, 5.0, 2.0], stderr=[1.0, 0.2, 0.05])
    entry = entry_of_totals(hard, twin, draws=20_000)
    assert entry.draws is not None
    share, loss = entry.draws["exact_match"], -entry.draws["ppl"]
    assert share[0].tolist() == [0.0, 0.2, 0.7]
    assert share[1:, 1].std() == pytest.approx(np.sqrt(0.2 * 0.8 / 400), rel=0.03)
    # nothing right does not mean that nothing is: the draws reach to the exact bound of about 3/n
    assert 0 < np.quantile(share[1:, 0], 0.95) < 3.5 / 400
    assert loss[0] == pytest.approx(np.log([20.0, 5.0, 2.0]))
    assert loss[1:].std(axis=0) == pytest.approx([0.05, 0.04, 0.025], rel=0.03)
    assert np.abs(np.corrcoef(share[1:, 1], loss[1:, 1])[0, 1]) < 0.03
    again = entry_of_totals(hard, twin, draws=20_000)
    assert again.draws is not None
    assert all(np.array_equal(again.draws[k], entry.draws[k]) for k in entry.draws)


def test_a_standard_error_that_is_not_binomial_is_kept() -> None:
    clustered = series_of("exact_match", [0.2, 0.5], stderr=0.05, n=1000)
    entry = entry_of_totals(clustered, None, draws=5000)
    assert entry.draws is not None
    assert entry.draws["exact_match"][1:].std(axis=0) == pytest.approx([0.05, 0.05], rel=0.1)
    assert not entry.hard.binary


def verdicts(share: float, noise: float, seeds: range) -> Counter[str]:
    told: Counter[str] = Counter()
    for seed in seeds:
        world = token_world(
            np.random.default_rng(seed), points=8, items=400, lengths=8, noise=noise, share=share, start=1.4
        )
        hard, twin = totals_of(world)
        told[judge_family([entry_of_totals(hard, twin, draws=200)], replicates=200).judgements[0].verdict] += 1
    return told


def test_smooth_families_are_not_called_a_break_and_steps_are() -> None:
    smooth, broken = verdicts(0.0, 0.04, range(8)), verdicts(0.85, 0.04, range(100, 106))
    assert smooth["mirage"] + smooth["smooth"] == 8
    assert broken["break"] == 6


@pytest.mark.slow
def test_the_rates_hold_over_more_and_noisier_families() -> None:
    smooth, broken = verdicts(0.0, 0.1, range(60)), verdicts(0.85, 0.1, range(1000, 1030))
    assert smooth["break"] <= 5
    assert smooth["mirage"] + smooth["smooth"] >= 42
    assert broken["break"] >= 24
    assert broken["mirage"] + broken["smooth"] <= 1


def test_the_twin_is_found_by_declaration_then_by_name() -> None:
    hard = series_of("acc,none", [0.2, 0.6], n=100)
    others = [
        series_of("word_perplexity,none", [30.0, 9.0]),
        series_of("nll,strict", [2.0, 1.0]),
        series_of("perplexity,none", [8.0, 3.0]),
        series_of("brier,other", [0.8, 0.3]),
        series_of("f1,none", [0.2, 0.6]),
    ]
    found = twin_of(hard, others)
    assert found is not None
    assert found.metric == "perplexity,none"  # the same filter first, then the order for choices
    declared = series_of("acc,none", [0.2, 0.6], n=100, declared=Declared(twin="word_perplexity"))
    found = twin_of(declared, others)
    assert found is not None
    assert found.metric == "word_perplexity,none"
    assert twin_of(hard, [others[0], others[4]]) is None  # of the whole text, or no twin at all
    elsewhere = series_of("perplexity,none", [8.0])
    assert twin_of(hard, [elsewhere]) is None  # not of the same runs


def test_a_metric_of_unknown_name_needs_a_declared_kind() -> None:
    hard = series_of("acc", [0.1, 0.3, 0.5, 0.8], n=500)
    odd = series_of("our_score", [0.2, 0.3, 0.5, 0.7], stderr=0.01)
    assert "our_score is not known" in totals_lack(hard, odd)[0]
    assert totals_lack(hard, odd, kind="graded_score") == []
    stated = series_of("our_score", [2, 3, 5, 7], stderr=0.1, declared=Declared(kind="continuous", low=0, high=10))
    assert totals_lack(hard, stated) == []
    entry = entry_of_totals(hard, stated)
    assert (entry.twins[0].kind, entry.twins[0].high) == ("graded_score", 10.0)


@pytest.mark.parametrize(
    ("hard", "twin", "said"),
    [
        (series_of("acc", [0.1, 70.0], n=9), None, "not within 0 and 1"),
        (series_of("acc", [0.1, float("nan")], n=9), None, "not within"),
        (series_of("acc", [0.1, 0.2]), None, "neither number of items nor standard error"),
        (series_of("acc", [0.1, 0.2], n=9), series_of("ppl", [0.5, 3.0]), "not within 1 and inf"),
        (series_of("acc", [0.1, 0.2], n=9), series_of("nll", [float("inf"), 3.0]), "not within"),
    ],
)
def test_totals_that_cannot_be_are_refused_with_what_was_found(hard: object, twin: object, said: str) -> None:
    lacking = totals_lack(hard, twin)  # type: ignore[arg-type]
    assert said in lacking[0]
    with pytest.raises(MetricError, match=lacking[0].split(" at ")[0].replace("(", r"\(")):
        entry_of_totals(hard, twin)  # type: ignore[arg-type]


def test_numbers_of_items_that_agree_hold_for_models_that_state_none() -> None:
    hard = series_of("acc", [0.0, 0.2, 0.6, 0.7], n=[None, 500, 501, 500])
    assert totals_lack(hard, None) == []
    assert entry_of_totals(hard, None).items == 500
    unlike = series_of("acc", [0.0, 0.2, 0.6, 0.7], n=[None, 500, 900, 500])
    assert totals_lack(unlike, None) != []


def test_a_twin_that_some_models_lack_leaves_these_out() -> None:
    hard = series_of("acc", [0.1, 0.2, 0.4, 0.6, 0.8], n=300)
    perplexity = series_of("ppl", [9.0, 7.0, 5.0, 4.0], stderr=0.1)
    entry = entry_of_totals(hard, perplexity)
    assert entry.panel.points == ("m0", "m1", "m2", "m3")
    assert entry.draws is not None
    assert {v.shape[1] for v in entry.draws.values()} == {4}
