"""How often the verdicts and boards are wrong, and how often they find what was planted."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.compare import compare, judge_pair, rank_board, verdict_of
from foreshock.stats import mcnemar, paired_items
from foreshock.store import Store
from tests.compare.conftest import sides, write_run

WORLDS = 200


def passages(rng: np.random.Generator, clusters: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two equally good models; each has good and bad passages of its own."""
    labels = np.repeat(np.arange(clusters), size)
    chance = 0.5 + 0.35 * rng.choice([-1, 1], (2, clusters))
    scores = (rng.random((2, labels.size)) < chance[:, labels]).astype(float)
    return scores[0], scores[1], labels


def null_rate(worlds: int, seed: int, *, aware: bool) -> float:
    """Share of null worlds with clustered items in which one model is called better."""
    rng = np.random.default_rng(seed)
    called = 0
    for _ in range(worlds):
        a, b, labels = passages(rng, 40, 5)
        result = judge_pair(a, b, rng, clusters=labels if aware else None)
        called += verdict_of(result, result.p, alpha=0.05, margin=0.01) in ("improvement", "regression")
    return called / worlds


def test_null_and_the_mutation_that_forgets_the_clusters() -> None:
    assert null_rate(WORLDS, 1, aware=True) <= 0.085
    assert null_rate(WORLDS, 1, aware=False) > 0.15


@pytest.mark.slow
def test_null_over_many_worlds() -> None:
    rate = null_rate(3_000, 2, aware=True)
    assert rate == pytest.approx(0.05, abs=0.012)


def test_null_through_the_store(store: Store) -> None:
    rng = np.random.default_rng(3)
    worlds = 8
    first, second = [], []
    for number in range(worlds):
        a, b, labels = passages(rng, 30, 4)
        told = [
            f"{'Passage ' + str(label) + ' of many words. ':<30}" * 9 + f"Question {i}?"
            for i, label in enumerate(labels)
        ]
        for model, scores, runs in (("a", a, first), ("b", b, second)):
            runs.append(write_run(store, model, scores.tolist(), task=f"w{number}", questions=told))
    rows = compare(store, sides(first, second)).tables["compare"]
    assert [r["clusters"] for r in rows] == [30] * worlds
    assert sum(r["p"] <= 0.05 for r in rows) <= 2
    assert sum(r["p_mcnemar"] < r["p"] for r in rows) >= 6  # the reference that takes all items for independent
    assert not any(r["verdict"] in ("improvement", "regression") for r in rows)


def test_planted_difference_is_found_at_the_predicted_power() -> None:
    rng = np.random.default_rng(4)
    gain, loss = 0.20, 0.14
    n = paired_items(gain + loss, gain - loss)
    assert n is not None
    found = 0
    for _ in range(400):
        kind = rng.random(n)
        result = judge_pair((kind > 1 - loss) * 1.0, (kind < gain) * 1.0, rng)
        found += verdict_of(result, result.p, alpha=0.05, margin=0.001) == "improvement"
    assert found / 400 == pytest.approx(0.8, abs=0.06)


def test_equal_is_said_of_what_differs_by_the_margin_at_no_more_than_its_rate() -> None:
    rng = np.random.default_rng(5)
    said = {"at the margin": 0, "no difference": 0}
    for _ in range(400):
        for world, shift in (("at the margin", 0.03), ("no difference", 0.0)):
            kind = rng.random(2_000)
            a, b = (kind > 1 - 0.05) * 1.0, (kind < 0.05 + shift) * 1.0
            result = judge_pair(a, b, rng)
            said[world] += verdict_of(result, result.p, alpha=0.05, margin=0.03) == "no-difference"
    assert said["at the margin"] / 400 <= 0.05
    assert said["no difference"] / 400 > 0.9


def test_a_margin_is_no_excuse_for_few_items() -> None:
    result = judge_pair(np.ones(12), np.ones(12), np.random.default_rng(0))
    assert verdict_of(result, result.p, alpha=0.05, margin=0.01) == "undecided"


def test_board_of_equal_models_is_one_group() -> None:
    rng = np.random.default_rng(6)
    told_apart = 0
    for _ in range(WORLDS):
        ability = rng.random(90)
        labels = np.repeat(np.arange(30), 3)
        shift = rng.choice([-0.3, 0.3], (4, 30))[:, labels]
        board = rank_board(
            (rng.random((4, 90)) < np.clip(ability + shift, 0, 1)) * 1.0, rng, clusters=labels, splits=20
        )
        told_apart += len(board.groups) > 1
    assert told_apart / WORLDS <= 0.085


def test_board_separates_what_is_far_and_keeps_ranks_honest() -> None:
    rng = np.random.default_rng(7)
    scores = (rng.random((4, 800)) < np.array([0.3, 0.8, 0.31, 0.6])[:, None]) * 1.0
    board = rank_board(scores, rng)
    assert board.order[:2] == [1, 3]
    assert board.letters[:2] == ["a", "b"]
    assert board.letters[2] == board.letters[3] == "c"
    assert (board.best, board.worst) == ([1, 2, 3, 3], [1, 2, 4, 4])
    assert board.first_stays == 1.0
    falling = rank_board(scores, rng, rising=False)
    assert falling.order[-1] == 1


def test_first_of_two_equals_does_not_stay_first() -> None:
    rng = np.random.default_rng(8)
    scores = (rng.random((2, 500)) < 0.5) * 1.0
    scores[1, :250], scores[0, :250] = scores[0, 250:], scores[1, 250:]
    board = rank_board(scores, rng)
    assert 0.3 < board.first_stays < 0.8
    assert board.letters == ["a", "a"]


def test_pair_of_binary_scores_is_mcnemar_and_of_graded_ones_is_not() -> None:
    rng = np.random.default_rng(9)
    a, b = (rng.random((2, 200)) < 0.5) * 1.0
    told = judge_pair(a, b, rng)
    assert told.p == mcnemar(told.up, told.down).p
    assert told.test == "mcnemar"
    graded = judge_pair(a * 0.5, b, rng)
    assert (graded.test, graded.mcnemar) == ("sign-flip", None)
    assert judge_pair(a, b, rng, repeated=True).test == "sign-flip"
