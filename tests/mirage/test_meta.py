"""Emergence over many tasks: the figures of a published list, units that move together, the swap, rates and power."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar  # type: ignore[import-untyped]

from foreshock.mirage import Meta, Triplet, meta, read_listed, series_triplets, swap, verdict_triplets
from foreshock.mirage._meta_emergent import emergent
from foreshock.mirage._meta_units import over_families, tables_by_family, whole_tasks
from foreshock.series import Declared, Point, Series

TWO = ["multiple_choice_grade", "exact_str_match"]


def listed(shared_data: Path, **where: str) -> list[Triplet]:
    folder = shared_data / "metrics"
    names = folder / "wei_2022_bigbench_partial.csv", folder / "bigbench_preferred_metric.csv"
    return read_listed(*names, where=where).triplets


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Meta:
    return meta(listed(shared_data), named=[TWO])


def test_the_published_list_against_all_other_tasks(published: Meta) -> None:
    row = published.rows()[0]
    assert (row["emergent_of_kind"], row["emergent"], row["others_of_kind"], row["others"]) == (44, 47, 114, 160)
    assert row["share_emergent"] == pytest.approx(0.936, abs=5e-4)
    assert row["share_others"] == pytest.approx(0.7125)
    assert row["share_all"] == pytest.approx(0.763, abs=5e-4)
    assert row["odds_ratio"] == pytest.approx(5.92, abs=5e-3)
    assert row["p"] == pytest.approx(0.00085, abs=5e-6)


def test_the_same_list_against_the_tasks_declared_in_json(shared_data: Path) -> None:
    row = meta(listed(shared_data, declared_in="json"), named=[TWO]).rows()[0]
    assert (row["emergent_of_kind"], row["emergent"], row["others_of_kind"], row["others"]) == (44, 47, 105, 121)
    assert row["odds_ratio"] == pytest.approx(2.2, abs=0.05)
    assert row["p"] == pytest.approx(0.28, abs=5e-3)


def test_the_list_hangs_on_few_families(published: Meta) -> None:
    row = published.rows()[0]
    assert set(row["by_family"]) == {"gpt-3", "lamda", "palm"}
    assert row["p_families"] == 0.25, "three families can give no less"
    assert row["without_one_low"] < row["odds_ratio"]


def test_the_odds_ratio_is_that_of_scipy(published: Meta) -> None:
    from scipy.stats import fisher_exact
    from scipy.stats.contingency import odds_ratio

    one = published.contrasts[0]
    assert one.odds is not None
    oracle = odds_ratio(np.array(one.table))
    assert one.odds.p == pytest.approx(fisher_exact(one.table).pvalue, rel=1e-9)
    assert one.odds.conditional == pytest.approx(oracle.statistic, rel=1e-9)
    ends = oracle.confidence_interval()
    assert (one.odds.low, one.odds.high) == pytest.approx((ends.low, ends.high), rel=1e-9)


def world(rng: np.random.Generator, effect: float = 0.0, spread: float = 1.5) -> tuple[np.ndarray, ...]:
    """60 tasks of one kind each under 5 families; tasks and families differ in how often they are emergent."""
    kind = rng.random(60) < 0.6
    log_odds = spread * rng.standard_normal((60, 1)) + spread * rng.standard_normal(5) + effect * kind[:, None]
    emergence = rng.random((60, 5)) < 1 / (1 + np.exp(-log_odds))
    task, family = np.meshgrid(np.arange(60), np.arange(5), indexing="ij")
    return np.repeat(kind, 5), emergence.ravel(), task.ravel(), np.zeros(300, int), family.ravel()


def rejections(rng: np.random.Generator, worlds: int, effect: float = 0.0) -> tuple[float, float]:
    """Share of worlds in which whole tasks reject, and in which triplets taken as independent do."""
    from foreshock.stats import exact_odds

    whole = apart = 0
    for _ in range(worlds):
        kind, emergence, task, metric, family = world(rng, effect)
        told = whole_tasks(kind, emergence, (task, metric, family), rng, 199)
        whole += told.p is not None and told.p <= 0.05
        apart += exact_odds(tables_by_family(kind, emergence, family)).p <= 0.05
    return whole / worlds, apart / worlds


def test_whole_tasks_keep_the_rate_that_triplets_lose() -> None:
    whole, apart = rejections(np.random.default_rng(11), 120)
    assert whole <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)
    assert apart > 0.08, "were this at .05 as well, nothing would be gained by exchanging whole tasks"


def test_a_planted_kind_is_found_with_whole_tasks() -> None:
    whole, _ = rejections(np.random.default_rng(12), 25, effect=2.0)
    assert whole >= 0.8


def test_kinds_change_places_inside_a_task_that_has_both() -> None:
    """Tasks differ as much as one likes: with both kinds in every task only the difference inside counts."""
    rng = np.random.default_rng(3)
    easy = rng.random(40) < 0.5
    task, metric = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    kind = metric == 0
    told = whole_tasks(kind, np.repeat(easy, 2), (task, metric, np.zeros(80, int)), rng, 999)
    assert told.p == 1.0
    assert told.effect == pytest.approx(0.0, abs=1e-9)
    apart = whole_tasks(kind, np.repeat(easy, 2) & kind, (task, metric, np.zeros(80, int)), rng, 999)
    assert apart.p is not None
    assert apart.p < 0.01


def test_the_families_as_units() -> None:
    agree = np.array([[[6, 2], [2, 6]]] * 6)
    told = over_families(agree)
    assert (told.told, told.above, told.p) == (6, 6, 2 * 0.5**6)
    assert told.low == told.high == pytest.approx(9.0)
    one = over_families(np.array([[[6, 2], [2, 6]], [[2, 6], [6, 2]]]))
    assert (one.above, one.p) == (1, 1.0)
    assert (one.low, one.high) == pytest.approx((1 / 9, 9.0))


def test_rules_are_not_mixed_and_one_kind_is_nothing_to_compare() -> None:
    one = Triplet("t", "acc", "f", "hard", "argmax", emergent=True, by="score")
    with pytest.raises(ValueError, match="several rules"):
        meta([one, Triplet("t", "acc", "f", "hard", "argmax", emergent=True)])
    row = meta([one, Triplet("u", "acc", "f", "hard", "argmax", emergent=False, by="score")]).rows()[0]
    assert row["odds_ratio"] is None
    assert row["note"]
    assert meta([]).told == 0


def test_looks_are_counted_once_and_adjusted() -> None:
    triplets = [
        Triplet(f"{metric}{i}", metric, None, kind, link, i < hits)
        for metric, kind, link, hits in (
            ("acc", "hard", "argmax", 8),
            ("em", "hard", "all-of-N", 3),
            ("nll", "continuous", None, 1),
        )
        for i in range(10)
    ]
    found = meta(triplets, named=[["acc"], ["em", "acc"]])
    # {em, acc} picks the same triplets as "hard", {acc} the same as its link
    assert [one.name for one in found.contrasts] == ["acc", "em + acc", "hard, link all-of-N"]
    assert found.contrasts[0].odds is not None
    assert found.contrasts[0].adjusted == pytest.approx(min(1.0, 3 * found.contrasts[0].odds.p))


def pair(task: str, hard: bool | None, other: bool | None, family: str = "f") -> list[Triplet]:
    return [
        Triplet(task, "acc", family, "hard", "argmax", hard, by="score"),
        Triplet(task, "brier", family, "continuous", "identity", other, by="score"),
    ]


def test_the_swap_is_mcnemars_exact_test() -> None:
    cells = [(True, True)] * 3 + [(True, False)] * 9 + [(False, True)] * 2 + [(False, False)] * 5 + [(None, True)]
    found = swap([one for i, (h, c) in enumerate(cells) for one in pair(f"t{i}", h, c)])
    assert (found.both, found.removed, found.gained, found.neither, found.silent) == (3, 9, 2, 5, 1)
    oracle = statsmodels_mcnemar([[3, 9], [2, 5]], exact=True).pvalue
    assert found.test is not None
    assert found.test.p == pytest.approx(oracle, rel=1e-9)
    row = found.row()
    assert row["share_removed"] == 0.75
    assert row["share_removed_low"] < 0.75 < row["share_removed_high"]


def test_the_swap_takes_the_pair_that_is_named() -> None:
    extra = Triplet("t0", "aaa", "f", "continuous", None, emergent=True, by="score")
    triplets = [*pair("t0", hard=True, other=False), extra]
    assert swap(triplets).removed == 1, "brier comes before a metric that is not a twin"
    assert swap(triplets, pairs={"acc": "aaa"}).both == 1
    assert not swap(triplets, pairs={"acc": "not there"}).pairs


def test_right_or_wrong_stands_before_overlaps() -> None:
    bleu = Triplet("t0", "bleu", "f", "hard", None, emergent=False, by="score")
    assert swap([bleu, *pair("t0", hard=True, other=False)]).removed == 1


def test_families_of_pairs_move_together() -> None:
    triplets = [one for i in range(12) for one in pair(f"t{i}", hard=True, other=False, family=f"f{i % 2}")]
    row = swap(triplets).row()
    assert row["p"] < 0.001
    assert row["p_families"] == 0.5, "two families can give no less"


def test_by_verdict_there_is_no_test_of_the_swap() -> None:
    words = ["mirage"] * 7 + ["break", "smooth", "unresolved"]
    rows = [
        {"task": f"t{i}", "family": "f", "hard": "acc", "twin": "brier", "verdict": word, "reason": "no twin"}
        for i, word in enumerate(words)
    ]
    found = swap(verdict_triplets(rows))
    assert (found.removed, found.both, found.neither, found.gained, found.silent) == (7, 1, 1, 0, 1)
    assert found.test is None
    assert "by verdict" in found.row()["note"]


def series(values: list[float], metric: str = "acc", **said: object) -> Series:
    told = {"stderr": None, "n": None, "declared": Declared(), "task": "t", "axis_known": True, **said}
    points = tuple(
        Point(f"m{i}", 10.0**i, value, told["stderr"], told["n"], f"r{i}")  # type: ignore[arg-type]
        for i, value in enumerate(values)
    )
    place = (str(told["task"]), "f", metric, "parameters", bool(told["axis_known"]), True)
    return Series(*place, points, "test", told["declared"])  # type: ignore[arg-type]


JUMP = [0.01, 0.012, 0.011, 0.013, 0.7, 0.71]


def test_a_jump_is_emergent_and_a_steady_rise_is_not() -> None:
    jump, steady = series_triplets([series(JUMP, n=500), series([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], n=500)])
    assert jump.emergent is True
    assert steady.emergent is False
    assert jump.kind == "hard"


def test_lower_is_better_is_turned_and_a_perplexity_is_read_as_its_logarithm() -> None:
    loss = [-value for value in JUMP]
    assert series_triplets([series([3 + v for v in loss], "nll", stderr=0.005)])[0].emergent is True
    halved = [1024.0, 512.0, 256.0, 128.0, 64.0, 32.0]
    told = series_triplets([series(halved, "perplexity", stderr=0.1)])[0]
    assert told.score == pytest.approx(5.0), "equal steps of the logarithm"
    assert told.emergent is False


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (series([0.1, 0.2, 0.9], n=100), "3 of >= 4"),
        (series(JUMP, n=100, axis_known=False), "no axis"),
        (series(JUMP), "neither items nor standard errors"),
        (series(JUMP, "mystery", n=100), "better"),
        (series([math.nan, *JUMP[1:]], n=100), "finite"),
    ],
)
def test_what_cannot_be_told_says_why(one: Series, why: str) -> None:
    told = series_triplets([one])[0]
    assert told.emergent is None
    assert why in told.why


def test_scatter_puts_all_series_on_equal_terms() -> None:
    known, unknown = series(JUMP, n=500), series(JUMP)
    first, second = series_triplets([known, unknown], errors="scatter")
    assert first.p == second.p
    with pytest.raises(ValueError, match="scatter"):
        series_triplets([known], errors="other")


def test_what_a_metric_is_can_be_declared() -> None:
    told = series_triplets([series(JUMP, "mystery", n=100)], kinds={"mystery": "loss"})[0]
    assert (told.kind, told.emergent) == ("continuous", None), "its number of items says nothing of a graded score"
    assert series_triplets([series(JUMP, "mystery", n=100)], kinds={"mystery": "hard"})[0].emergent is True


@pytest.mark.parametrize(("points", "items"), [(8, 200), (5, 1000), (12, 20)])
def test_the_rate_of_emergence_on_a_steady_rise(points: int, items: int) -> None:
    rng = np.random.default_rng(points)
    line = np.linspace(0.1, 0.6, points)
    hits = sum(emergent(rng.binomial(items, line) / items, rng, items=items, draws=199)[1] <= 0.05 for _ in range(200))
    assert hits / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["known", "scatter"])
@pytest.mark.parametrize(("points", "error"), [(5, 0.02), (8, 0.1), (5, 0.3)])
def test_the_rate_of_graded_scores_is_at_most_a_tenth(kind: str, points: int, error: float) -> None:
    """The line and the scatter are estimated from the series itself, which costs up to .04 where noise is large."""
    rng = np.random.default_rng(points)
    line = np.linspace(0, 1, points)
    hits = 0
    for _ in range(2000):
        seen = line + error * rng.standard_normal(points)
        hits += emergent(seen, rng, spread=error if kind == "known" else None, draws=199)[1] <= 0.05
    assert hits / 2000 <= 0.1


def test_a_triplet_does_not_depend_on_its_company() -> None:
    one = series([0.1, 0.2, 0.35, 0.4, 0.55, 0.6], n=60)
    alone = series_triplets([one])[0]
    assert series_triplets([series(JUMP, n=50, task="u"), one])[1] == alone
    assert series_triplets([one], seed=1)[0].p != alone.p
