"""Closed forms of the links, each against its own derivation; constants; rates of saying that a jump is explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as oracle

from foreshock.mirage import Hard, Twin
from foreshock.mirage._argmax import chances
from foreshock.mirage._beneath import Beneath, near
from foreshock.mirage._constant import fit_constant, outside_window
from foreshock.mirage._design import Design
from foreshock.mirage._links import all_of, any_of, links_for
from foreshock.mirage._through import Through, look_through
from foreshock.mirage._two import two_constants
from foreshock.simulate import World, attempt_world, choice_world, graded_world, token_world
from foreshock.stats import cloglog, joint_means, logit, loglog
from tests.mirage.panels import panel_of


def hard_of(world: World, **changes: object) -> Hard:
    hard = Hard("hard", world.link, world.chance, parts=world.parts, threshold=world.threshold)  # type: ignore[arg-type]
    return replace(hard, **changes)  # type: ignore[arg-type]


def twins_of(world: World) -> list[Twin]:
    return [
        Twin(n, n, tokens=world.tokens, high=2.0 if n == "brier" else 1.0, trials=world.trials) for n in world.twins
    ]


def through(world: World, hard: Hard | None = None, *, noise: float = 0.05, draws: int = 200) -> Through:
    """The world's hard metric through its link, as the judge would ask for it."""
    metric, twins, panel = hard or hard_of(world), twins_of(world), panel_of(world)
    twins = [t for t in twins if t.kind != "brier"]
    rng, stack = np.random.default_rng(0), np.stack([world.hard, world.twins[twins[0].name]])
    rows = np.concatenate([stack.mean(axis=2)[None], joint_means(stack, rng, draws)])
    z = twins[0].on(links_for(metric, twins[0])[0], rows[:, 1], stack.shape[2])
    design = Design.of(world.x, log=True).bent()
    beneath = Beneath.of(panel, np.arange(len(world.x)), "hard", twins)
    return look_through(rows[:, 0], z, metric, design, noise, rng, twin=twins[0], beneath=beneath)


# --- closed forms


@pytest.mark.parametrize("parts", [1, 3, 10, 300])
def test_independent_parts_multiply(parts: int) -> None:
    p = np.array([0.0, 0.3, 0.9, 0.999, 1.0])
    assert all_of(p, parts) == pytest.approx(p**parts)
    assert any_of(p, parts) == pytest.approx(1 - (1 - p) ** parts)


@pytest.mark.parametrize("p", [0.2, 0.9])
@pytest.mark.parametrize("spread", [0.05, 0.5, 3.0])
def test_spread_is_a_gamma_distribution_of_losses(p: float, spread: float) -> None:
    """By quadrature: losses over items are gamma with variance ``spread``, parts independent given the item."""
    # over quantiles, because the density of a wide gamma has a pole at zero
    items = oracle.gamma(1 / spread, scale=spread).ppf((np.arange(20000) + 0.5) / 20000)

    def mean(loss: float) -> float:
        return float(np.exp(-loss * items).mean())

    loss = optimize.brentq(lambda v: mean(v) - p, 1e-6, 1e4)
    assert all_of(p, 10, spread) == pytest.approx(mean(10 * loss), abs=1e-4)
    assert any_of(1 - p, 10, spread) == pytest.approx(1 - mean(10 * loss), abs=1e-4)


def test_between_independent_and_one() -> None:
    p = np.linspace(0.01, 0.99, 9)
    wide = np.array([all_of(p, 10, r) for r in (0, 0.01, 1, 100, 1e6)])
    assert np.all(np.diff(wide, axis=0) > 0)
    assert wide[-1] == pytest.approx(p, rel=1e-4)
    assert all_of(p, 10, 1e-6) == pytest.approx(p**10, rel=1e-3)


def test_any_of_is_all_of_in_the_complement_and_so_is_its_link() -> None:
    hard, twin = Hard("pass", "any-of-T", parts=16), Twin("pass_rate", "pass_rate")
    assert links_for(hard, twin) == (cloglog, logit, loglog)
    assert links_for(Hard("em"), Twin("g", "gold_logprob")) == (loglog, logit)
    assert links_for(Hard("acc", "argmax"), twin) == links_for(Hard("acc", "threshold"), twin) == (logit, loglog)
    h = np.array([0.001, 0.02, 0.3])
    # on its own link one of 16 attempts is the rate moved by log 16; as a product of rates it would be bent
    assert cloglog.forward(any_of(h, 16)) - cloglog.forward(h) == pytest.approx(np.log(16))
    assert np.ptp(loglog.forward(any_of(h, 16)) - loglog.forward(h)) > 0.5


@pytest.mark.parametrize("link", [loglog, cloglog, logit], ids=lambda k: k.name)
def test_two_constants_are_found(link: object) -> None:
    z = np.linspace(-2, 2, 7)[None].repeat(3, axis=0)
    share = link.inverse(0.4 + 1.3 * z)  # type: ignore[attr-defined]
    respond, _ = two_constants(share, z, link)  # type: ignore[arg-type]
    # the penalty draws the slope to 1 by 1% of a point
    assert respond(z + 0.5) == pytest.approx(link.inverse(0.4 + 1.3 * (z + 0.5)), abs=0.004)  # type: ignore[attr-defined]


def world_of(link: str, hard: np.ndarray, twins: dict[str, np.ndarray], **facts: object) -> World:  # type: ignore[type-arg]
    base = token_world(np.random.default_rng(0), points=hard.shape[0], items=hard.shape[1], positions=False)
    return replace(base, hard=hard, twins=twins, replicates={}, tokens=1.0, link=link, **facts)  # type: ignore[arg-type]


def test_argmax_is_the_share_of_margins_above_zero() -> None:
    # normal margins by quantiles: at mean m and deviation s a share Phi(m / s) lies above zero
    u = oracle.norm.ppf((np.arange(2000) + 0.5) / 2000)
    off = np.array([0.3, -0.2, 0.1, 0.0, -0.3, 0.2, -0.1, 0.0])
    places = np.linspace(-2, 3, 8)
    margins = (places + off)[:, None] + 1.5 * u
    world = world_of("argmax", (margins > 0).astype(float), {"choice_margin": margins}, chance=0.25)
    told = through(world, noise=0.0)
    # the smooth curve is a cubic through the means (8 points), on the scale of the link
    t = np.linspace(0, 1, 8)
    fitted = np.polyval(np.polyfit(t, places + off, 3), t)
    assert told.curve == pytest.approx(oracle.norm.cdf(fitted / 1.5), abs=0.01)
    assert abs(told.unexplained) < 0.02
    assert "margin above zero" in told.how


def test_a_probability_of_the_right_choice_moves_with_its_lead() -> None:
    # with two choices the probability is the logistic of the margin: both twins must give one curve
    rng = np.random.default_rng(1)
    world = choice_world(rng, choices=2, noise=0.0, points=8, items=3000, start=-1.0, rise=4.0)
    margin = world.twins["choice_margin"]
    assert world.twins["choice_probability"] == pytest.approx(1 / (1 + np.exp(-margin)))
    both = through(replace(world, twins={k: world.twins[k] for k in ("choice_probability", "choice_margin")}))
    alone = through(replace(world, twins={"choice_margin": margin}))
    assert both.curve == pytest.approx(alone.curve, abs=0.025)


@pytest.mark.parametrize("known", [True, False])
def test_threshold_is_the_share_of_scores_that_pass(known: bool) -> None:
    u = oracle.norm.ppf((np.arange(2000) + 0.5) / 2000)
    places = np.linspace(-2, 2, 8)
    scores = 1 / (1 + np.exp(-(places[:, None] + 0.8 * u)))
    world = world_of("threshold", (scores >= 0.7).astype(float), {"graded_score": scores}, threshold=0.7)
    told = through(world, None if known else hard_of(world, threshold=None), noise=0.0)
    assert told.curve == pytest.approx(oracle.norm.cdf((places - np.log(0.7 / 0.3)) / 0.8), abs=0.02)
    assert "graded_score from 0.7" in told.how


def test_scores_at_the_ends_stay_there_and_few_levels_do_not_shift() -> None:
    rng = np.random.default_rng(2)
    rates = np.linspace(0.2, 0.9, 8)
    scores = rng.binomial(12, rates[:, None], (8, 600)) / 12
    scores[:, :200] = 0.0
    world = world_of("threshold", (scores >= 0.6).astype(float), {"sub_scores": scores}, threshold=0.6)
    told = through(world, noise=0.3)
    # however far the others move, a third of the items cannot pass
    assert told.curve.max() <= 2 / 3 + 1e-9
    assert told.high.max() <= 2 / 3 + 1e-9
    assert told.curve == pytest.approx(world.hard.mean(axis=1), abs=0.1)
    few = np.round(3 * scores) / 3
    assert "offset and slope" in through(world_of("threshold", (few >= 0.6) * 1.0, {"sub_scores": few})).how


@pytest.mark.parametrize(("lengths", "tied"), [(10, 0.0), ([1, 2, 4, 7, 10], 0.0), (10, 0.35)], ids=str)
def test_answers_are_products_over_their_tokens(lengths: object, tied: float) -> None:
    world = token_world(np.random.default_rng(3), items=4000, lengths=lengths, dependence=tied, noise=0.0)  # type: ignore[arg-type]
    told = through(world, noise=0.0)
    assert told.curve == pytest.approx(world.hard.mean(axis=1), abs=0.02)
    assert told.unexplained_low < 0.1
    found = float(told.how.split("dependence ")[1].split()[0])
    assert found == pytest.approx(tied, abs=0.04)
    assert "estimated outside the onset" in told.how


def greedy_world(rng: np.random.Generator, tokens: int = 6) -> World:
    """Answers whose every token is the most likely of five: right when the gold one leads everywhere."""
    base = token_world(rng, points=8, items=600, rise=3.5, noise=0.1, positions=False)
    lead = base.truth.ability + 0.1 * rng.standard_normal(8) - 0.5
    scores = 0.6 * rng.gumbel(size=(8, 600, tokens, 5))
    scores[..., 0] += lead[:, None, None] - 0.8 * rng.standard_normal((600, 1))
    logprob = scores[..., 0] - np.log(np.exp(scores).sum(axis=-1))
    hard = (scores.argmax(axis=-1) == 0).all(axis=-1).astype(float)
    twins = {"gold_logprob": logprob.sum(axis=-1)}
    return replace(base, hard=hard, twins=twins, replicates={}, tokens=float(tokens))


@pytest.mark.parametrize("per_token", [False, True])
def test_greedy_answers_are_told_from_sampled_ones(per_token: bool) -> None:
    for k in range(4):
        world = greedy_world(np.random.default_rng([13, k]))
        if per_token:
            world = replace(world, tokens=1.0, twins={"gold_logprob": world.twins["gold_logprob"] / 6})
        told = through(world, draws=100)
        assert told.how.startswith(("share of items by gold_logprob", "share of items with gold_logprob"))
        assert told.unexplained_low < 0.2
        sampled = token_world(np.random.default_rng([14, k]), lengths=6, positions=False)
        assert through(sampled, draws=100).how.startswith("product over 6 parts")


def test_an_unknown_number_of_parts_is_estimated() -> None:
    world = token_world(np.random.default_rng(4), items=4000, lengths=6, noise=0.0)
    one = replace(world, tokens=1.0, twins={"gold_logprob": world.twins["gold_logprob"] / 6})
    found = float(through(one).how.split("over ")[1].split()[0])
    assert found == pytest.approx(6, rel=0.06)
    assert "product over 6 parts" in through(one, hard_of(one, parts=6)).how


# --- the constant


def test_the_constant_is_taken_outside_the_onset() -> None:
    hard = np.array([0.0, 0.01, 0.5, 0.95, 1.0])
    assert outside_window(hard).tolist() == [True, True, False, True, True]
    t = np.linspace(0, 1, 8)
    truth = 0.3 * t + 0.7 * t**6
    rng = np.random.default_rng(5)
    seen = truth.copy()
    seen[4:6] += 0.25  # a jump of its own inside the window must not move the constant
    rows = np.concatenate([seen[None], seen + 0.01 * rng.standard_normal((300, 8))])
    grid = np.linspace(0, 1, 51)
    told = fit_constant(lambda d: d * t + (1 - d) * t**6, grid, rows)
    assert told.outside
    assert told.value == pytest.approx(0.3, abs=0.05)


def test_where_the_ends_say_nothing_all_models_count() -> None:
    # 0 and 1 at either end, whatever the constant
    t = np.array([0.0, 0.0, 0.4, 0.6, 1.0, 1.0])
    rows = np.concatenate([(t**2)[None], t**2 + 0.01 * np.random.default_rng(6).standard_normal((300, 6))])
    told = fit_constant(lambda n: t**n, np.linspace(0.5, 4, 36), rows)
    assert not told.outside
    assert told.value == pytest.approx(2.0, abs=0.1)


def test_shapes_come_from_models_near() -> None:
    weight = near(Design.of(range(9)))
    assert weight.sum(axis=1) == pytest.approx(1.0)
    assert np.all(weight.argmax(axis=1) == np.arange(9))
    assert weight[0, 8] < 0.01 * weight[0, 0]


# --- whether a jump is explained: rates

WORLDS: dict[str, Callable[[np.random.Generator], World]] = {
    "all-of-N": lambda rng: token_world(rng, items=800, lengths=[2, 5, 8], positions=False),
    "all-of-N, tied": lambda rng: token_world(rng, items=800, lengths=8, dependence=0.3, positions=False),
    "all-of-N, parts": lambda rng: graded_world(rng, items=800, parts=6, threshold=1.0, start=0.5),
    "any-of-T": lambda rng: attempt_world(rng, items=800, attempts=6),
    "any-of-T, repeats": lambda rng: attempt_world(rng, items=800, attempts=4, of=12, linked="logit"),
    "argmax": lambda rng: choice_world(rng, items=800, start=-0.5, rise=3.5),
    "threshold": lambda rng: graded_world(rng, items=800, parts=8, threshold=0.75),
}


def jumped(world: World) -> World:
    """From the middle on the scorer passes half of what it failed before; the model has not moved."""
    rng, middle = np.random.default_rng(7), world.hard.shape[0] // 2
    hard = world.hard.copy()
    lifted = rng.random(hard[middle:].shape) < 0.5
    hard[middle:] = np.where(lifted, np.maximum(hard[middle:], 1.0), hard[middle:])
    return replace(world, hard=hard)


@pytest.mark.parametrize("name", WORLDS)
def test_what_a_twin_explains_and_what_not(name: str) -> None:
    plain = [through(WORLDS[name](np.random.default_rng([8, k])), draws=100) for k in range(8)]
    planted = [through(jumped(WORLDS[name](np.random.default_rng([8, k]))), draws=100) for k in range(8)]
    assert sum(t.unexplained_low > 0.25 for t in plain) <= 1
    assert sum(t.unexplained_low > 0.25 for t in planted) >= 6


def test_a_scorer_that_only_follows_the_margin_gets_a_curve_in_it() -> None:
    world = choice_world(np.random.default_rng(11), items=800)
    other = np.where(np.random.default_rng(12).random(world.hard.shape) < 0.2, 1 - world.hard, world.hard)
    told = through(replace(world, hard=other))
    assert told.how.startswith("share of items by their margin")
    assert told.unexplained_low < 0.2
    lifted = through(jumped(replace(world, hard=other)))
    assert lifted.how.startswith("share of items by their margin")


@pytest.mark.parametrize("name", ["argmax", "threshold", "greedy"])
def test_means_over_seeds_are_explained_as_each_seed_is(name: str) -> None:
    # three models at each size: scores are thirds, and no cut parts them
    make = {"greedy": greedy_world} | {k: WORLDS[k] for k in ("argmax", "threshold")}
    low = []
    for k in range(4):
        one, two, three = (make[name](np.random.default_rng([15, k, s])) for s in range(3))
        mean = {t: (one.twins[t] + two.twins[t] + three.twins[t]) / 3 for t in one.twins}
        told = through(replace(one, hard=(one.hard + two.hard + three.hard) / 3, twins=mean), draws=100)
        assert "offset" not in told.how
        low.append(told.unexplained_low)
    assert np.mean(np.asarray(low) > 0.25) <= 0.25


def test_chances_are_those_of_logistic_regression() -> None:
    rng = np.random.default_rng(16)
    value = rng.normal(1.0, 2.0, (5, 2000))
    truth = 1 / (1 + np.exp(-(0.7 * value - 1.2)))
    found = chances(value, (rng.random(value.shape) < truth).astype(float))
    at = np.linspace(-4, 6, 11)
    assert found(at) == pytest.approx(1 / (1 + np.exp(-(0.7 * at - 1.2))), abs=0.02)
    # where a cut is perfect the curve is as steep as can be told, and finite
    steep = chances(value, (value > 0.5).astype(float))(np.array([-0.5, 1.5, -np.inf, np.inf]))
    assert steep == pytest.approx([0, 1, 0, 1], abs=0.01)


def test_items_that_jump_alone_are_not_explained_by_the_mean() -> None:
    # a third of the items is learned between two models, the others not at all: the mean margin cannot tell why
    rng = np.random.default_rng(9)
    world = choice_world(rng, items=2000, noise=0.02, start=-3.0, rise=1.0, difficulty=0.5)
    margin = world.twins["choice_margin"].copy()
    margin[4:, ::3] = np.abs(margin[4:, ::3]) * 0.4
    told = through(world_of("argmax", (margin > 0).astype(float), {"choice_margin": margin}, chance=0.25))
    assert told.unexplained_low > 0.25


# --- whether the metric is sharp


@pytest.mark.parametrize(
    ("make", "sharp"),
    [
        (lambda rng: token_world(rng, lengths=10, difficulty=0.0, surprise=0.0, start=1.5), True),
        (lambda rng: token_world(rng, lengths=1, difficulty=0.0, surprise=0.0, start=1.5), False),
        (lambda rng: choice_world(rng, difficulty=0.1, surprise=0.3, start=-1.5, rise=4.0), True),
        (lambda rng: choice_world(rng, difficulty=1.0, surprise=0.7, start=-0.5, rise=3.0), False),
        (lambda rng: graded_world(rng, difficulty=0.2, surprise=0.2), True),
        (lambda rng: graded_world(rng, difficulty=1.5, surprise=1.0), False),
        (lambda rng: attempt_world(rng, attempts=100, start=3e-5, rise=9.0, difficulty=0.2, surprise=0.1), True),
        (lambda rng: attempt_world(rng, attempts=8), False),
    ],
    ids=lambda v: str(v) if isinstance(v, bool) else "world",
)
def test_sharp_where_the_noise_free_curve_is(make: Callable[[np.random.Generator], World], sharp: bool) -> None:
    said = [through(make(np.random.default_rng([10, k])), draws=100).sharp(2.0) for k in range(6)]
    assert np.mean(said) >= 0.8 if sharp else np.mean(said) <= 0.2
