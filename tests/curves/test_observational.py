"""Scores foretold from other benchmarks: components and rates on families whose truth is known, and odd tables."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError, MetricError
from foreshock.curves import KnownModels, observe
from foreshock.curves._abilities import abilities
from foreshock.stats import logit

NAN = float("nan")


def world(
    seed: int, families: int = 12, members: int = 4, *, within: float = 0.3, own: float = 0.3
) -> dict[str, object]:
    """Families along compute: two abilities, five benchmarks, and a task that needs the first one more."""
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(families), members)
    compute = rng.uniform(0, 4, family.size) + rng.uniform(0, 1.5, families)[family]
    able = np.column_stack([compute - 2.5, rng.normal(0, 0.6, families)[family] + rng.normal(0, 0.3, family.size)])
    loads = np.array([[0.8, 0.3], [1.0, 0.0], [0.6, -0.4], [1.1, 0.5], [0.5, 0.1]])
    benchmarks = logit.inverse(able @ loads.T + 0.1 * rng.standard_normal((family.size, 5)) - 0.5)
    noise = within * rng.standard_normal(families)[family] + own * rng.standard_normal(family.size)
    score = 0.1 + 0.85 * logit.inverse(1.5 * able[:, 0] + 0.5 * able[:, 1] - 1.0 + noise)
    small = compute <= np.quantile(compute, 0.6)
    return {
        "benchmarks": benchmarks,
        "score": np.round(score * 1000) / 1000,
        "family": [f"family {k}" for k in family],
        "compute": compute,
        "small": small,
    }


def known_of(made: dict[str, object], which: np.ndarray, **more: object) -> KnownModels:
    index = np.flatnonzero(which)
    told = {
        "families": [made["family"][i] for i in index],  # type: ignore[index]
        "order": made["compute"][index],  # type: ignore[index]
        "items": np.full(index.size, 1000.0),
    }
    return KnownModels(made["benchmarks"][index], made["score"][index], **(told | more))  # type: ignore[index, arg-type]


def test_components_are_those_of_the_correlation_matrix() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(50, 10, (30, 4)) @ rng.normal(0, 1, (4, 6))
    found = abilities(scores, 2)
    value, vector = np.linalg.eigh(np.corrcoef(scores.T))
    assert found.explained == pytest.approx(value[::-1][:2] / 6)
    assert np.abs(np.sum(found.loadings * vector[:, ::-1][:, :2].T, axis=1)) == pytest.approx([1, 1])
    scaled = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    assert found.of(scores) == pytest.approx(scaled @ found.loadings.T)


def test_missing_scores_are_filled_in_from_the_components() -> None:
    rng = np.random.default_rng(1)
    able = rng.normal(0, 1, 40)
    scores = logit.inverse(np.outer(able, [1.0, 0.7, 1.3, 0.9]) + 0.02 * rng.standard_normal((40, 4)))
    holes = np.where(rng.random((40, 4)) < 0.2, NAN, scores)
    holes[0] = [NAN, NAN, NAN, scores[0, 3]]
    found = abilities(holes, 1).of(holes)[:, 0]
    assert np.corrcoef(found, able)[0, 1] > 0.995


def test_benchmarks_that_say_nothing_take_no_part() -> None:
    rng = np.random.default_rng(2)
    scores = rng.random((12, 4))
    scores[:, 1] = 0.25
    scores[:8, 2] = NAN
    assert abilities(scores, 3).used.tolist() == [True, False, False, True]
    with pytest.raises(ValueError, match="no benchmark"):
        abilities(np.full((12, 2), NAN), 1)


def test_larger_models_are_foretold_from_other_benchmarks() -> None:
    made = world(3)
    small = np.asarray(made["small"])
    told = observe(known_of(made, small), made["benchmarks"][~small])  # type: ignore[index]
    came = made["score"][~small]  # type: ignore[index]
    naive = np.abs(np.mean(made["score"][small]) - came).mean()  # type: ignore[index]
    assert np.abs(told.value - came).mean() < 0.25 * naive
    assert told.wider >= 1
    assert "smaller models to larger ones" in told.basis


def test_intervals_keep_their_rate_on_larger_models_of_dependent_families() -> None:
    held = []
    for seed in range(8):
        made = world(100 + seed, within=0.4, own=0.3)
        small = np.asarray(made["small"])
        told = observe(known_of(made, small), made["benchmarks"][~small])  # type: ignore[index]
        held.append(np.mean((told.low <= made["score"][~small]) & (made["score"][~small] <= told.high)))  # type: ignore[index]
    assert np.mean(held) >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("within", [0.0, 0.3, 0.8])
def test_the_rate_by_how_much_families_differ(within: float) -> None:
    held = []
    for seed in range(60):
        made = world(1000 + seed, within=within)
        small = np.asarray(made["small"])
        told = observe(known_of(made, small), made["benchmarks"][~small])  # type: ignore[index]
        held.append(np.mean((told.low <= made["score"][~small]) & (made["score"][~small] <= told.high)))  # type: ignore[index]
    assert np.mean(held) >= 0.87


def test_a_score_that_abilities_do_not_explain_has_a_wide_interval() -> None:
    made = world(4)
    made["score"] = np.random.default_rng(5).uniform(0.1, 0.9, len(made["family"]))  # type: ignore[arg-type]
    small = np.asarray(made["small"])
    told = observe(known_of(made, small), made["benchmarks"][~small])  # type: ignore[index]
    assert np.mean(told.high - told.low) > 0.5


def test_new_models_do_not_change_each_other() -> None:
    made = world(6)
    small = np.asarray(made["small"])
    new = made["benchmarks"][~small]  # type: ignore[index]
    together, alone = observe(known_of(made, small), new), observe(known_of(made, small), new[:1])
    for name in ("value", "low", "high"):
        assert getattr(together, name)[0] == getattr(alone, name)[0]
    assert together.record.data_hash == alone.record.data_hash


def test_same_input_same_bytes() -> None:
    made = world(7)
    small = np.asarray(made["small"])
    first, again = (observe(known_of(made, small), made["benchmarks"][~small]) for _ in range(2))  # type: ignore[index]
    assert first.value.tobytes() == again.value.tobytes()
    assert first.high.tobytes() == again.high.tobytes()


def test_missing_benchmarks_and_models_without_any() -> None:
    made = world(8)
    small = np.asarray(made["small"])
    new = made["benchmarks"][~small].copy()  # type: ignore[index]
    new[0] = NAN
    new[1, :1] = NAN
    told = observe(known_of(made, small), new)
    assert np.isnan(told.value[0])
    assert told.lacking[0] == "fewer than 3 of the benchmarks"
    assert told.lacking[1] is None
    assert told.low[1] <= told.value[1] <= told.high[1]


def test_one_family_is_calibrated_by_nothing_and_says_so() -> None:
    made = world(9)
    small = np.asarray(made["small"])
    one = observe(known_of(made, small, families=["same"] * int(small.sum()), order=None), made["benchmarks"])  # type: ignore[arg-type]
    assert "not calibrated" in one.basis
    assert one.wider == 1.0
    few = observe(
        known_of(made, small, families=[f"{i % 2}" for i in range(int(small.sum()))], order=None), made["benchmarks"]
    )  # type: ignore[arg-type]
    assert "9 families would do" in few.basis


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_scores_that_are_all_nothing_or_all_right(score: float) -> None:
    made = world(10)
    small = np.asarray(made["small"])
    known = known_of(made, small)
    flat = KnownModels(known.benchmarks, np.full(int(small.sum()), score), items=known.items, order=known.order)
    told = observe(flat, made["benchmarks"][~small])  # type: ignore[index]
    assert np.isfinite([told.value, told.low, told.high]).all()
    assert (np.abs(told.value - score) < 0.1).all()
    assert ((told.low <= score) & (score <= told.high)).all()


def test_too_few_models_are_refused_with_what_would_be_enough() -> None:
    told = observe(KnownModels(np.random.default_rng(0).random((5, 3)), np.linspace(0.1, 0.5, 5)), np.full((2, 3), 0.5))
    assert told.refused == "5 models with this score and any benchmark"
    assert told.enough == "8 models"
    assert np.isnan(told.value).all()
    empty = observe(KnownModels(np.full((9, 2), 0.3), np.linspace(0, 1, 9)), np.full((1, 2), 0.5))
    assert empty.refused is not None
    assert "no benchmark" in empty.refused


def test_impossible_tables_are_refused() -> None:
    good = np.random.default_rng(0).random((9, 3))
    with pytest.raises(ConfigError, match="one row for each model"):
        KnownModels(good, np.zeros(8))
    with pytest.raises(MetricError, match="outside its scale"):
        KnownModels(good, np.full(9, 1.5))
    with pytest.raises(MetricError, match="infinite"):
        KnownModels(np.where(good > 0.9, np.inf, good), np.zeros(9))
    with pytest.raises(MetricError, match="low < high"):
        KnownModels(good, np.zeros(9), low=1.0, high=0.0)
    with pytest.raises(MetricError, match="one item"):
        KnownModels(good, np.zeros(9), items=np.zeros(9))
    known = KnownModels(good, np.linspace(0.1, 0.9, 9))
    with pytest.raises(ConfigError, match="a column a benchmark"):
        observe(known, good[:, :2])
    with pytest.raises(ConfigError, match="level of 1"):
        observe(known, good, level=1.0)
