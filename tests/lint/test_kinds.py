"""Metrics on perturbed outputs: every metric of ours is what it declares, and a misdeclared one is found."""

from __future__ import annotations

import re

import numpy as np
import pytest

from foreshock.lint._kinds import acts, measurable, measure, scorer_of
from foreshock.lint._perturb import STEPS, characters, numbers, sharpness, ways, words
from foreshock.metrics import Response, get_metric, list_metrics
from foreshock.stats import clopper_pearson

TEXT = re.findall(r"\w+", "the quick brown fox jumps over lazy dogs while seventy small cats watch from a garden wall")
# an n-gram is right only when all of its words are, which makes these nonlinear; how sharp they are on a given text
# hangs on its length, so what they act like is not theirs to declare. ROUGE-L is linear in words replaced whole and
# counts as hard because the paper on mirages names it among the sharp ones. Refusals and lengths have no right answer
GRADED_HARD = {"chrf", "rouge_2", "rouge_l", "rouge_lsum", "pass_at_k_exact"}
NO_TRUTH = {"refusal_phrase", "output_length"}


def rows(n: int = 40) -> list[Response]:
    rng = np.random.default_rng(4)
    shared = {"choices": list("abcd"), "gold_logprob": -2.0, "gold_token_logprobs": [-0.5] * 4, "input": "q"}
    return [
        Response(
            answer="no",
            output="I say no",
            targets=[" ".join(rng.choice(TEXT, 9))],
            gold_index=i % 4,
            choice_logprobs=rng.normal(-3, 1, 4).tolist(),
            **shared,
        )
        for i in range(n)
    ]


def numeric(n: int = 40) -> list[Response]:
    rng = np.random.default_rng(5)
    return [Response(answer="1", output="1", targets=[str(t)]) for t in rng.integers(10, 9_999, n)]


NAMES = [s.name for s in list_metrics() if measurable(s) and s.name not in GRADED_HARD | NO_TRUTH]


@pytest.mark.parametrize("name", NAMES)
def test_our_metrics_are_what_they_declare(name: str) -> None:
    spec = get_metric(name)
    sample = numeric() if name == "numeric_closeness" else rows()
    if spec.unless:
        sample = [Response(answer=r.answer, output=r.output, targets=r.targets) for r in sample]
    seen = measure(sample, scorer_of(spec), spec.needs, 0)
    assert seen.items >= 6
    assert acts(seen) == spec.kind


def exact(row: Response) -> float:
    return float(row.answer == (row.targets or [""])[0])


def test_a_threshold_on_a_similarity_is_found_to_jump() -> None:
    spec = get_metric("char_similarity(choices=allow)")
    soft = scorer_of(spec)
    assert acts(measure(rows(), soft, spec.needs, 0)) == "continuous"
    assert acts(measure(rows(), lambda row: float((soft(row) or 0) > 0.5), spec.needs, 0)) == "hard"


def test_a_mixture_is_called_by_what_it_does_on_most_items() -> None:
    spec = get_metric("char_similarity(choices=allow)")
    soft = scorer_of(spec)
    sample = rows(80)
    for share, said in ((0.1, "continuous"), (0.9, "hard")):
        sharp = {row.targets[0] for row in sample[: int(share * 80)] if row.targets}

        def mixed(row: Response, sharp: set[str] = sharp) -> float:
            return exact(row) if row.targets and row.targets[0] in sharp else float(soft(row) or 0)

        assert acts(measure(sample, mixed, spec.needs, 0)) == said


def test_an_even_mixture_is_rarely_called_either() -> None:
    """The null: a metric that is sharp on exactly half of the items. Each word is wrong in at most 2.5% of samples."""
    rng = np.random.default_rng(6)
    sharp = rng.binomial(40, 0.5, 20_000)
    low, high = clopper_pearson(sharp, np.full(sharp.size, 40))
    assert (low > 0.5).mean() <= 0.025
    assert (high < 0.5).mean() <= 0.025


def test_items_that_cannot_be_perturbed_are_counted_and_errors_do_not_stop() -> None:
    short = [Response(answer="a", output="a", targets=["b"]) for _ in range(7)]
    assert measure(short, exact, [], 0) == (seen := measure(short, exact, [], 0))
    assert (seen.items, seen.skipped) == (0, 7)

    def broken(row: Response) -> float:
        raise ValueError("no")

    assert measure(rows(9), broken, [], 0).failed == 9
    assert acts(measure(short, exact, [], 0)) is None


def test_a_metric_that_never_moves_is_not_called_anything() -> None:
    seen = measure(rows(), lambda _: 1.0, [], 0)
    assert (seen.items, seen.skipped) == (0, 40)
    nan = measure(rows(), lambda _: float("nan"), [], 0)
    assert nan.items == 0


def test_the_same_seed_perturbs_alike() -> None:
    spec = get_metric("bleu(choices=allow)")
    assert measure(rows(), scorer_of(spec), spec.needs, 3) == measure(rows(), scorer_of(spec), spec.needs, 3)


def test_characters_go_one_after_the_other() -> None:
    rng = np.random.default_rng(0)
    way = characters("Twenty-four thousand, 1234", rng)
    assert len(way) == STEPS + 1
    wrong = [sum(a != b for a, b in zip(way[0], text, strict=True)) for text in way]
    assert wrong == sorted(wrong)
    assert wrong[0] == 0
    assert wrong[-1] == sum(letter.isalnum() for letter in way[0])
    assert [letter for letter in way[-1] if not letter.isalnum()] == ["-", " ", ",", " "]
    assert characters("too short", rng) == []


def test_words_and_numbers_move_evenly() -> None:
    rng = np.random.default_rng(0)
    way = words("one two three four five six", rng)
    right = [sum(a == b for a, b in zip(way[0].split(), text.split(), strict=True)) for text in way]
    assert right == [6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0]
    values = [float(text) for text in numbers("1,200")[1:]]
    assert np.diff(values) == pytest.approx(np.full(STEPS - 1, 200))
    assert numbers("0") == numbers("nan") == numbers("1e400") == []


def test_probabilities_fall_and_the_others_stay() -> None:
    row = Response(choice_logprobs=[-1.0, -2.0, -3.0], gold_index=1)
    for kind, way in ways(row, np.random.default_rng(0)):
        assert kind == "probability"
        chances = []
        for step in way:
            assert step.choice_logprobs is not None
            assert (step.choice_logprobs[0], step.choice_logprobs[2]) == (-1.0, -3.0)
            p = np.exp(step.choice_logprobs)
            chances.append(p[1] / p.sum())
        assert chances[0] == pytest.approx(0.95)
        assert chances[-1] == pytest.approx(0.05)
        assert np.all(np.diff(chances) < 0)


def test_an_answer_inside_an_output_is_replaced_where_it_stands() -> None:
    row = Response(answer="12", output="so 12, I think 12.", targets=["250"])
    (_, way), *_ = ways(row, np.random.default_rng(0))
    assert way[0].output == "so 12, I think 250."
    assert way[0].answer == "250"


def test_sharpness_of_known_curves() -> None:
    x = np.linspace(0, 1, STEPS + 1)
    assert sharpness(x) == 0.25
    assert sharpness(x > 0.6) == 1.0
    assert sharpness(1 - x**4) == pytest.approx(1 - 0.75**4)
    assert sharpness([0, 1] * 6 + [0]) < 0.2  # back and forth carries nothing
    assert np.isnan(sharpness(np.ones(STEPS + 1)))


@pytest.mark.parametrize(
    ("name", "bent"),
    [("rouge_2", True), ("chrf", True), ("bleu", True), ("token_f1", False), ("rouge_1", False), ("rouge_l", False)],
)
def test_nonlinear_is_not_the_same_as_sharp(name: str, bent: bool) -> None:
    """With words replaced one by one at random, n-grams fall faster than words do; the longest subsequence does not."""
    spec = get_metric(f"{name}(choices=allow)")
    rng = np.random.default_rng(8)
    share, words_in = np.linspace(0, 1, 9), 24
    means = []
    for right in share:
        scores = []
        for _ in range(30):
            target = rng.permutation(400)[:words_in]
            answer = np.where(rng.random(words_in) < right, target, rng.integers(400, 800, words_in))
            texts = (" ".join(f"w{i}" for i in row) for row in (answer, target))
            response = Response(answer=next(texts), output="", targets=[next(texts)])
            scores.append(float(spec(response)))
        means.append(np.mean(scores))
    curve = (np.array(means) - means[0]) / (means[-1] - means[0])
    departure = float(np.abs(curve - share).max())
    assert (departure > 0.1) == bent, departure


def test_one_of_several_attempts_bends() -> None:
    spec = get_metric("pass_at_k_exact(k=10)")
    p = np.linspace(0.001, 0.999, 9)
    values = np.array([float(spec(Response(gold_logprob=float(np.log(x))))) for x in p])
    assert np.abs((values - values[0]) / (values[-1] - values[0]) - np.linspace(0, 1, 9)).max() > 0.3
