"""Which damage a scorer notices: the table by hand, the null at its rate, planted blind spots found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import beta, binomtest

from foreshock._base import ConfigError, MetricError, ModelError, NotEnoughDataError
from foreshock.lint._blind import BlindReport, blind
from foreshock.lint._blind_cell import answers_needed, cell, least_answers, noise_bound, noticed, word
from foreshock.lint._degrade import DEGRADATIONS
from foreshock.metrics import Response
from foreshock.records import State

from .blind_world import answers, recall, truth

SCORERS: dict[str, Any] = {
    "exact_match": "exact_match",
    "char_similarity": "char_similarity(choices=allow)",
    "truth": truth,
    "recall": recall,
}


@pytest.fixture(scope="module")
def report() -> BlindReport:
    return blind(answers(), SCORERS, seed=7)


@pytest.fixture(scope="module")
def expected(repo_root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((repo_root / "tests/oracles/blind_expected.json").read_text("utf-8"))
    return found


def test_the_table_equals_the_one_made_by_hand(report: BlindReport, expected: dict[str, Any]) -> None:
    assert list(DEGRADATIONS) == expected["columns"]
    for told in report.matrix():
        words = [told[kind] for kind in DEGRADATIONS]
        assert words == expected[told["scorer"]]["words"], told["scorer"]
    assert [m["scorer"] for m in report.matrix()] == list(SCORERS)
    for row in report.rows:
        if row.degradation in DEGRADATIONS:
            place = DEGRADATIONS.index(row.degradation)
            assert [row.cell.n, row.cell.seen] == expected[row.scorer]["counts"][place], (row.scorer, row.degradation)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_table_does_not_hang_on_the_seed(seed: int, report: BlindReport) -> None:
    assert blind(answers(), SCORERS, seed=seed).matrix() == report.matrix()


def test_the_same_seed_gives_the_same_bytes(report: BlindReport) -> None:
    assert blind(answers(), SCORERS, seed=7).table() == report.table()


def test_a_changed_form_is_no_damage_and_shows_who_is_brittle(report: BlindReport) -> None:
    harmless = {row.scorer: row for row in report.rows if row.said == "harmless"}
    assert harmless["truth"].cell.seen == 0
    assert harmless["exact_match"].cell.seen > 0  # a full stop is enough


def test_intervals_are_exact(report: BlindReport) -> None:
    row = next(r for r in report.rows if (r.scorer, r.degradation) == ("truth", "drop_fact"))
    assert row.cell.high == pytest.approx(beta.ppf(0.975, 1, 40))
    low, high = binomtest(13, 40).proportion_ci(0.95, "exact")
    first, after = np.ones(40), np.r_[np.zeros(13), np.ones(27)]
    found = cell(first, after, np.full(40, 0.5), 0.0, 0.0)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.effect == pytest.approx(13 / 40)


def test_noticing_is_measured_against_what_the_damage_is_worth() -> None:
    first, size = np.full(5, 0.8), np.full(5, 0.5)
    # worth: half of the 0.6 above the lowest value; half of it is 0.15
    after = 0.8 - np.array([0.0, 0.149, 0.15, 0.3, -0.2])
    assert noticed(first, after, size, 0.2, 0.0).tolist() == [False, False, True, True, False]
    assert noticed(first, after, size, 0.2, 0.2).tolist() == [False, False, False, True, False]


def test_the_bound_of_noise_is_the_order_statistic() -> None:
    falls = np.arange(1.0, 100.0)  # 99 values: (99 + 1) x .95 = the 95th
    assert noise_bound(falls, np.zeros(99)) == 95.0
    assert noise_bound(np.r_[falls, np.nan], np.zeros(100)) == 95.0
    assert noise_bound(-falls, np.zeros(99)) == 0.0
    assert np.isinf(noise_bound(np.ones(least_answers() - 1), np.ones(least_answers() - 1)))


@pytest.mark.parametrize("shape", ["normal", "rounded", "heavy"])
@pytest.mark.parametrize("n", [19, 60])
def test_a_second_scoring_is_noticed_at_most_at_its_rate(shape: str, n: int) -> None:
    rng = np.random.default_rng(n)
    rates = []
    for _ in range(400):
        true = rng.uniform(0, 1, n)

        def judge(true: np.ndarray = true) -> np.ndarray:
            noise = rng.standard_t(2, n) if shape == "heavy" else rng.standard_normal(n)
            scores = true + 0.2 * noise
            return np.round(scores * 5) / 5 if shape == "rounded" else scores

        first, again, null = judge(), judge(), judge()
        rates.append(noticed(first, null, np.zeros(n), -5.0, noise_bound(first, again)).mean())
    # 400 means of 19 or 60 answers each; three standard errors above the stated rate
    assert np.mean(rates) <= 0.05 + 3 * np.std(rates) / 20
    if shape == "normal":
        assert np.mean(rates) > 0.02  # a bound that lets nothing through would pass the line above


class Noisy:
    """A judge with noise of its own that notices a share of the contradicted numbers."""

    def __init__(self, seed: int, catches: float, noise: float) -> None:
        self.rng, self.catches, self.noise = np.random.default_rng(seed), catches, noise

    def __call__(self, output: str, item: Response) -> float:
        assert item.targets
        index = int((item.item_key or "0").split("-")[1])
        wrong = truth(output, item) < 1 and (index * 0.618034) % 1 < self.catches
        return float(1.0 - wrong + self.noise * self.rng.standard_normal())


@pytest.mark.parametrize(("catches", "said"), [(0.0, "blind"), (0.5, "partly"), (1.0, "sees")])
def test_planted_shares_are_found_under_noise(catches: float, said: str) -> None:
    rows = [r for r in answers() if not r.choices]
    rows = [msgspec.structs.replace(r, item_key=f"n-{i}") for i, r in enumerate(rows * 3)]
    found = blind(rows, {"judge": Noisy(3, catches, 0.05)}, degradations=["contradict_number"], seed=1)
    row = found.rows[0]
    assert row.said == said
    assert row.noise is not None
    assert 0.05 < row.noise < 0.25
    assert row.cell.effect == pytest.approx(catches, abs=0.12) or said != "sees"
    null = next(r for r in found.rows if r.said == "null")
    assert null.cell.share <= 0.12  # 120 answers at a rate of .05


def test_a_judge_that_throws_dice_sees_nothing() -> None:
    rng = np.random.default_rng(5)
    found = blind(answers(), {"dice": lambda output, item: rng.uniform()}, seed=1)
    assert {row["said"] for row in found.table() if row["degradation"] in DEGRADATIONS} == {"blind"}


def test_a_scorer_in_other_units_and_below_zero_is_judged_by_its_own_range() -> None:
    found = blind(answers(), {"recall": lambda output, item: 300 * recall(output, item) - 1000}, seed=7)
    assert [found.matrix()[0][k] for k in DEGRADATIONS] == ["sees", "sees", "sees", "sees", "blind", "sees"]


def test_a_scorer_that_never_moves_is_at_its_top_or_at_its_bottom() -> None:
    found = blind(answers(), {"always": lambda output, item: 3}, seed=1)
    assert {r.cell.why for r in found.rows} == {"it gives every answer the same score, damaged or not"}
    assert set(found.matrix()[0].values()) == {"always", "cannot tell"}


def test_wrong_answers_cannot_fall_and_are_counted() -> None:
    rows = answers()
    wrong = [Response(answer="no idea", output="no idea", targets=["17"], item_key=f"w-{i}") for i in range(25)]
    found = blind(rows + wrong, ["exact_match"], seed=7)
    assert found.floor == {"exact_match": 25}
    assert found.rows[1].cell.n == 40
    only = blind(wrong, ["exact_match"], seed=7)
    assert {r.said for r in only.rows} == {"cannot tell", "null", "harmless"}
    assert "no answer scores above" in only.rows[0].cell.why


def test_an_answer_that_cannot_be_read_counts_as_the_lowest() -> None:
    rows = [Response(answer=f"{i}", output=f"{i}", targets=[f"{i}"], item_key=f"{i}") for i in range(100, 130)]
    found = {r.degradation: r for r in blind(rows, ["numeric_closeness"], seed=7).rows}
    assert found["refuse"].said == "sees"  # no number: unparsed, 0 in the mean
    assert found["pad"].said == "blind"
    assert found["truncate"].said == "cannot tell"
    assert found["truncate"].cell.why == "one word only (30 of 30 answers)"


def test_lower_is_better_is_turned_round() -> None:
    found = {r.degradation: r.said for r in blind(answers()[:40], ["character_error_rate"], seed=7).rows}
    assert found["refuse"] == "sees"
    assert found["contradict_number"] == "blind"


def test_few_answers_are_not_enough_and_it_says_how_many_are() -> None:
    rows = answers()[:18]
    found = blind(rows, {"truth": truth}, seed=7)
    assert {r.said for r in found.rows} == {"cannot tell", "null", "harmless"}
    assert found.rows[1].cell.enough == 19
    [finding] = found.findings()
    assert (finding.state, finding.code) == (State.NO_DATA, "FS250")
    assert (finding.needs[0].have, finding.needs[0].enough) == (18, 19)
    assert blind(answers()[:19], {"truth": truth}, seed=7).rows[0].said == "blind"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.62, 0.9, 1.0])
def test_what_is_said_to_be_enough_is_enough(share: float) -> None:
    n = answers_needed(share)
    assert n is not None
    low, high = binomtest(round(share * n), n).proportion_ci(0.95, "exact")
    assert word(low, high) != "cannot tell"


def test_findings_name_the_blind_spots_and_who_sees_them(report: BlindReport) -> None:
    found = {f.subject.metric: f for f in report.findings()}
    assert set(found) == {"char_similarity", "truth", "recall"}
    assert "contradicted numbers (0 of 40 noticed, at most 9%)" in found["char_similarity"].title
    assert "contradicted numbers: read exact_match beside it" in found["char_similarity"].advice
    assert all(f.state is State.FIRING and f.effect and f.effect.value == 0 for f in found.values())


def test_the_rate_of_a_false_blind_is_the_stated_one() -> None:
    """A scorer that notices just a quarter is called blind in at most 2.5% of runs."""
    rng = np.random.default_rng(1)
    hits = rng.binomial(60, 0.25, 2000)
    said = [cell(np.ones(60), np.r_[np.zeros(k), np.ones(60 - k)], np.ones(60), 0.0, 0.0).said for k in np.unique(hits)]
    wrong = sum((hits == k).sum() for k, s in zip(np.unique(hits), said, strict=True) if s == "blind")
    assert wrong / 2000 <= 0.025 + 3 * np.sqrt(0.025 / 2000)


def test_metrics_that_read_no_text_say_so() -> None:
    rows = [Response(answer="a", output="a", targets=["a"], gold_logprob=-1.0, item_key=str(i)) for i in range(30)]
    found = blind(rows, ["gold_logprob"], seed=1)
    assert {r.cell.why for r in found.rows} == {"it reads no text of an answer"}


def test_a_scorer_without_a_score_is_no_mistake() -> None:
    rows = [Response(answer="a", output="a", targets=["a"], item_key=str(i)) for i in range(30)]
    given = {"none": lambda output, item: None, "numeric": "numeric_closeness", "exact": "exact_match"}
    found = {(r.scorer, r.degradation): r for r in blind(rows, given, seed=1).rows}
    assert found["none", "refuse"].cell.why == "it gives no answer a score"
    assert found["numeric", "refuse"].cell.why == "no target is a number"
    assert found["exact", "refuse"].said == "sees"


def test_a_judge_is_given_the_damaged_output_and_no_stale_answer() -> None:
    seen: list[tuple[str, str | None, str | None]] = []

    def scorer(output: str, item: Response) -> float:
        seen.append((output, item.output, item.answer))
        return float(len(output))

    rows = [Response(output=f"So it is {i}. Done now.", answer=str(i), item_key=str(i)) for i in range(20, 40)]
    blind(rows, {"s": scorer}, degradations=["truncate"], seed=1)
    assert all(output == held for output, held, _ in seen)
    assert {answer for output, _, answer in seen} == {None}


@pytest.mark.parametrize(
    ("scorers", "error", "told"),
    [
        (["no_such_metric"], MetricError, "no_such_metric"),
        ({"broken": lambda output, item: 1 / 0}, MetricError, "ZeroDivisionError"),
        ([], MetricError, "no scorer"),
        ([truth, truth], MetricError, "two scorers"),
        ({"x": 3}, MetricError, "int is no scorer"),
        (["output_length"], MetricError, "better"),
    ],
)
def test_mistakes_are_told(scorers: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        blind(answers(), scorers)


def test_no_answers_and_no_such_damage() -> None:
    with pytest.raises(NotEnoughDataError):
        blind([], ["exact_match"])
    with pytest.raises(ConfigError, match="no degradation 'burn'"):
        blind(answers(), ["exact_match"], degradations=["burn"])


def test_errors_of_our_own_are_not_swallowed() -> None:
    def judge(output: str, item: Response) -> float:
        raise ModelError("the endpoint is gone")

    with pytest.raises(ModelError):
        blind(answers(), {"judge": judge})


def test_a_mapping_is_a_sample() -> None:
    rows = [{"output": f"It is {i} m tall. It is old.", "item_id": str(i), "unknown": 1} for i in range(30)]
    found = blind(rows, {"words": lambda output, item: len(output.split())}, seed=1)
    assert found.matrix()[0]["truncate"] == "sees"
