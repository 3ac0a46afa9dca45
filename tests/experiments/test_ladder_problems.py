"""Held-out problems, training batches and the 4-choice rendering."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.arithmetic_ladder import data, plan
from experiments.arithmetic_ladder.choices import choices
from experiments.arithmetic_ladder.problems import (
    PAD,
    PROMPT,
    VOCABULARY,
    Problems,
    answer_tokens,
    carries,
    decode,
    held_out_additions,
    held_out_keys,
    held_out_multiplications,
    prompt_text,
    prompt_tokens,
)

KINDS = ("learn", *data.CONTROLS)


def _text(row: np.ndarray) -> str:
    return "".join(VOCABULARY[t] for t in row).replace("_", "")


def _parse(row: np.ndarray) -> tuple[int, int, bool, int]:
    """Operands, sign and answer, read back from the tokens by string handling alone."""
    question, answer = _text(row).split("=")
    product = "*" in question
    a, b = question.split("*" if product else "+")
    assert answer.endswith("$")
    return int(a), int(b), product, int(answer[:-1][::-1])


def _batch(kind: str, steps: int = 40) -> list[tuple[int, int, bool, int]]:
    rows = np.concatenate([data.batch(kind, 7, step, 64, 64) for step in range(steps)])
    return [_parse(row) for row in rows]


def test_tokens_spell_the_problem() -> None:
    a, b = np.array([5, 9999, 57, 0]), np.array([1234, 9999, 8, 0])
    problems = Problems(a, b, np.array([False, False, True, True]))
    prompts, answers = prompt_tokens(problems), answer_tokens(problems.answers())
    assert [_text(p) for p in prompts] == ["5+1234=", "9999+9999=", "57*8=", "0*0="]
    assert [decode(r) for r in answers] == ["9321", "89991", "654", "0"]
    assert (prompts[:, -1] == VOCABULARY.index("=")).all()
    assert prompts.shape[1] == PROMPT
    assert prompts[0, 0] == PAD
    assert prompt_text(5, 1234, False) == "5+1234="


def test_held_out_sets_are_fixed_and_distinct() -> None:
    sums, products = held_out_additions(), held_out_multiplications()
    assert len(np.unique(sums.keys())) == len(np.unique(products.keys())) == 500
    assert sums.a.min() >= 1000
    assert sums.b.max() <= 9999
    assert products.a.min() >= 10
    assert products.b.max() <= 99
    # Pinned: another draw would make every stored log and weight file disagree with the code.
    assert (int(sums.a.sum()), int(sums.b.sum())) == (2782434, 2757165)
    assert (int(products.a.sum()), int(products.b.sum())) == (28490, 27335)


def test_a_third_of_the_sums_carry_often() -> None:
    sums = held_out_additions()
    counted = [
        sum(int(a) % 10**k + int(b) % 10**k >= 10**k for k in range(1, 5)) for a, b in zip(sums.a, sums.b, strict=True)
    ]
    assert np.array_equal(carries(sums), counted)
    assert np.sum(np.array(counted) >= 3) == 166


@pytest.mark.parametrize("kind", ["learn", "shuffled", "little-data", "random-labels"])
def test_training_never_shows_a_held_out_problem(kind: str) -> None:
    keys = set(held_out_keys().tolist())
    for a, b, product, _ in _batch(kind):
        key = Problems(np.array([a]), np.array([b]), np.array([product])).keys()[0]
        assert int(key) not in keys


def test_the_filter_is_what_keeps_them_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it held-out products come up by the dozen: the test above can fail."""
    keys = set(held_out_keys().tolist())
    monkeypatch.setattr(data, "_HELD_OUT", np.array([-1]))
    found = data.draw(np.random.default_rng(0), 0, 5000).keys()
    assert sum(int(k) in keys for k in found) > 50


def test_learners_see_true_answers_of_all_lengths() -> None:
    batch = _batch("learn")
    assert all(answer == (a * b if product else a + b) for a, b, product, answer in batch)
    sums = [(len(str(a)), len(str(b))) for a, b, product, _ in batch if not product]
    assert set(sums) == {(i, j) for i in range(1, 5) for j in range(1, 5)}
    assert 0.45 < np.mean([pair == (4, 4) for pair in sums]) < 0.65


@pytest.mark.parametrize("kind", ["shuffled", "random-labels"])
def test_shuffled_answers_are_unrelated_but_have_the_right_marginals(kind: str) -> None:
    batch = _batch(kind)
    right = [answer == (a * b if product else a + b) for a, b, product, answer in batch]
    assert np.mean(right) < 0.05  # 1 / 64 expected by the shuffle itself, more where 0 * x repeats
    lengths = np.bincount([len(str(answer)) for *_, answer in batch], minlength=6)
    true = np.bincount([len(str(a * b if p else a + b)) for a, b, p, _ in _batch(kind)], minlength=6)
    assert np.array_equal(lengths, true) or kind == "random-labels"


def test_random_labels_are_the_same_at_every_step() -> None:
    answers: dict[tuple[int, int, bool], set[int]] = {}
    for a, b, product, answer in _batch("random-labels"):
        answers.setdefault((a, b, product), set()).add(answer)
    assert len(answers) <= data.LITTLE
    # A problem drawn twice into the little set may hold two labels; all others hold one.
    assert np.mean([len(v) == 1 for v in answers.values()]) > 0.9


def test_hidden_low_leaves_the_high_digits() -> None:
    visible = [
        abs(answer // 100 - (a // 100 + b // 100)) <= 1 for a, b, product, answer in _batch("hidden-low") if not product
    ]
    assert all(visible)
    exact = [answer == a + b for a, b, product, answer in _batch("hidden-low") if not product]
    assert np.mean(exact) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_batches_depend_on_seed_and_step_alone(kind: str) -> None:
    again = data.batch(kind, 7, 3, 8, 8)
    assert np.array_equal(again, data.batch(kind, 7, 3, 8, 8))
    assert not np.array_equal(again, data.batch(kind, 8, 3, 8, 8))
    assert not np.array_equal(again, data.batch(kind, 7, 4, 8, 8))


def test_choices_are_four_of_one_length_with_the_answer_anywhere() -> None:
    golds = []
    for problems in (held_out_additions(), held_out_multiplications()):
        for a, b, product in zip(problems.a.tolist(), problems.b.tolist(), problems.product.tolist(), strict=True):
            four = choices(a, b, product)
            assert len(set(four.values)) == 4
            assert len({len(str(v)) for v in four.values}) == 1
            assert four.values[four.gold] == (a * b if product else a + b)
            golds.append(four.gold)
    assert np.bincount(golds, minlength=4).min() > 200


def test_the_plan_is_what_the_report_says() -> None:
    assert len(plan.WIDTHS) >= 6
    assert len(plan.SEEDS) >= 3
    assert len(plan.CHECKPOINTS) >= 20
    assert plan.CHECKPOINTS[0] == 0
    assert len(plan.controls()) >= 19
    runs = plan.all_runs()
    assert len({r.name for r in runs}) == len({r.random_seed for r in runs}) == len(runs)
