"""The verdict on worlds of known truth, and every way in which it is withheld."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from foreshock.mirage import Hard, Judgement, Twin, judge
from foreshock.mirage._design import Design
from foreshock.mirage._needs import Noise, enough
from foreshock.series import Panel
from foreshock.simulate import World, choice_world, token_world
from foreshock.stats import item_weights, weighted_means
from tests.mirage.panels import first, hard_of, panel_of, twins_of, with_values

MIXED = [1, 2, 4, 7, 10]
# equal items: the textbook p^10, sharp on its own scale
SHARP = {"difficulty": 0.0, "surprise": 0.0, "start": 1.5, "points": 6}


def told(world: World, **knobs: object) -> Judgement:
    return judge(panel_of(world), hard_of(world), twins_of(world), replicates=300, **knobs)  # type: ignore[arg-type]


def bare(world: World) -> Judgement:
    """Without the check of positions, on which no verdict rests and which takes half of the time."""
    panel = replace(panel_of(world), positions=None)
    return judge(panel, hard_of(world), twins_of(world), replicates=300)


def verdicts(make: object, worlds: int, **knobs: object) -> Counter[str]:
    assert callable(make)
    return Counter(bare(make(np.random.default_rng([11, k]), **knobs)).verdict for k in range(worlds))


def test_positions_inside_items_do_not_change_a_verdict() -> None:
    for share in (0.0, 0.8):
        world = token_world(np.random.default_rng([11, 0]), share=share, points=6, lengths=MIXED)
        whole = told(world)
        assert whole.link_check is not None
        assert (whole.verdict, whole.share) == (bare(world).verdict, bare(world).share)


def test_a_planted_break_is_found() -> None:
    said = verdicts(token_world, 30, share=0.8, points=6, lengths=MIXED)
    assert said["break"] >= 25
    assert said["mirage"] == said["smooth"] == 0


def test_a_break_at_the_end_says_that_it_rests_on_one_model() -> None:
    w = token_world(np.random.default_rng(21), share=0.85, at=0.95, points=6, noise=0.05, lengths=MIXED)
    j = told(w)
    assert j.verdict == "break"
    assert "one model only on one side of the break" in j.finding.title
    j = told(token_world(np.random.default_rng(21), share=0.85, at=0.5, points=6, noise=0.05, lengths=MIXED))
    assert "one model only" not in j.finding.title


def test_a_planted_break_is_found_among_choices() -> None:
    said = verdicts(choice_world, 20, share=0.8)
    assert said["break"] >= 17
    assert said["mirage"] == said["smooth"] == 0


def test_smooth_worlds_do_not_break_and_get_an_answer() -> None:
    said = verdicts(token_world, 40, lengths=MIXED)
    assert said["break"] <= 1
    assert said["smooth"] >= 34


def test_a_sharp_metric_over_a_smooth_twin_is_a_mirage() -> None:
    said = verdicts(token_world, 30, **SHARP)
    assert said["mirage"] >= 26
    assert said["break"] == 0


def test_a_short_answer_over_the_same_twin_is_not_a_mirage() -> None:
    said = verdicts(token_world, 30, **(SHARP | {"lengths": 1}))
    assert said["mirage"] <= 1
    assert said["smooth"] >= 26


def test_seeds_bring_power() -> None:
    one = verdicts(token_world, 15, share=0.8, points=5, noise=0.2, lengths=MIXED)
    three = verdicts(token_world, 15, share=0.8, points=5, noise=0.2, lengths=MIXED, seeds=3)
    assert three["break"] >= 13
    assert one["break"] <= three["break"] - 4


def test_shuffled_along_the_axis_nothing_is_found() -> None:
    said: Counter[str] = Counter()
    for k in range(15):
        world = token_world(np.random.default_rng([12, k]), share=0.8, points=8, lengths=MIXED)
        order = np.random.default_rng(k).permutation(8)
        p = replace(panel_of(world), positions=None)
        mixed = {n: v[order] for n, v in p.values.items()}
        said[
            judge(replace(p, values=mixed, replicates={}), hard_of(world), twins_of(world), replicates=200).verdict
        ] += 1
    assert said["break"] + said["mirage"] + said["smooth"] <= 2


def unpaired(values: np.ndarray, rng: np.random.Generator, draws: int = 1000) -> np.ndarray:  # type: ignore[type-arg]
    """The joint bootstrap with its pairing dropped: every model and metric draws its own items."""
    rows = values.reshape(-1, values.shape[-1])
    columns = [weighted_means(row[None], item_weights(rng, draws, row.size))[:, 0] for row in rows]
    return np.stack(columns, axis=1).reshape(draws, *values.shape[:-1])


def test_dropping_the_pairing_of_items_costs_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    # few items that differ much, answered alike by all models: only paired they say anything about the models
    def low() -> float:
        bounds = []
        for k in range(10):
            w = token_world(
                np.random.default_rng([13, k]), share=0.8, items=40, difficulty=2.5, surprise=0.1, noise=0.03, lengths=2
            )
            share = bare(w).share
            bounds.append(0.0 if share is None else share.low)
        return float(np.median(bounds))

    assert low() > 0.5
    monkeypatch.setattr(
        "foreshock.mirage._weights.Weights.means",
        lambda self, values: unpaired(values, np.random.default_rng(0)),
    )
    assert low() < 0.35


# --- withheld


@pytest.fixture(scope="module")
def world() -> World:
    return token_world(np.random.default_rng(0), points=6, lengths=MIXED)


def test_reasons_are_joined(world: World) -> None:
    j = judge(first(panel_of(world), 3), hard_of(world), [])
    assert (j.verdict, j.reason) == ("unresolved", "3 of >= 4 models; no twin")
    assert j.finding.title == "unresolved: 3 of >= 4 models; no twin"
    assert j.finding.state == "no-data"
    assert [(n.what, n.have, n.enough) for n in j.finding.needs] == [
        ("models on the axis", 3, 4),
        ("twin on the same responses", 0, 1),
    ]
    assert "--log_samples" in j.finding.advice
    assert "--epochs" in j.finding.advice
    assert "1 or more models of simulated" in j.finding.advice


def test_one_point_and_two_points_are_no_error(world: World) -> None:
    for n in (1, 2):
        j = judge(first(panel_of(world), n), hard_of(world), twins_of(world), replicates=50)
        assert j.reason == f"{n} of >= 4 models"
        assert (j.emergence is None) == (n == 1)


def test_no_axis(world: World) -> None:
    j = judge(replace(panel_of(world), axis="created", axis_known=False), hard_of(world), twins_of(world))
    assert j.reason == "no axis"
    assert "models.toml" in j.finding.advice


def test_few_items(world: World) -> None:
    p = panel_of(world)
    few = replace(p, items=p.items[:6], values={k: v[:, :6] for k, v in p.values.items()}, positions=None)
    assert judge(few, hard_of(world), twins_of(world), replicates=50).reason == "6 of >= 10 items"


def test_all_at_floor() -> None:
    j = told(token_world(np.random.default_rng(1), start=8.0, rise=0.3, points=6, lengths=10))
    assert j.reason == "no onset"


def test_a_metric_that_does_not_rise(world: World) -> None:
    p = panel_of(world)
    j = judge(with_values(p, hard=1 - p.values["hard"]), hard_of(world), twins_of(world), replicates=200)
    assert j.reason == "the hard metric does not rise along the axis"


def test_points_past_the_ceiling_do_not_count() -> None:
    # solved from the third of seven models on: the rest is certainty growing
    w = token_world(np.random.default_rng(2), points=7, start=3.0, rise=18.0, noise=0.05, lengths=3, difficulty=0.2)
    j = told(w)
    assert j.reason == "3 of >= 4 models between floor and ceiling; 4 points at floor or ceiling left out"


def test_infinite_values_are_told(world: World) -> None:
    p = panel_of(world)
    bad = p.values["gold_logprob"].copy()
    bad[2, 5] = -np.inf
    j = judge(with_values(p, gold_logprob=bad), hard_of(world), twins_of(world), replicates=50)
    assert j.reason == "1 infinite value of gold_logprob"


def test_a_twin_without_values_at_some_point_is_no_twin(world: World) -> None:
    p = panel_of(world)
    gone = p.values["gold_logprob"].copy()
    gone[0] = np.nan
    assert judge(with_values(p, gold_logprob=gone), hard_of(world), twins_of(world), replicates=50).reason == "no twin"


def test_decoded_text_may_not_say_break() -> None:
    w = token_world(np.random.default_rng(3), share=0.9, points=6, noise=0.03, lengths=10)
    assert w.positions is not None
    p = with_values(panel_of(w, seeds=False), char_similarity=np.nanmean(w.positions, axis=2))
    j = judge(p, hard_of(w), [Twin("char_similarity", "char_similarity")], replicates=200)
    assert j.reason.startswith("the twin is decoded text and jumps too")
    # Inspect logs the log-probabilities of what the model wrote, which are no twin
    assert "--log_samples" in j.finding.advice
    assert "--logprobs" not in j.finding.advice
    both = judge(p, hard_of(w), [Twin("char_similarity", "char_similarity"), *twins_of(w)], replicates=200)
    assert (both.verdict, both.twin) == ("break", "gold_logprob")
    assert [(o.name, o.answer, o.why) for o in both.others] == [("char_similarity", "not asked", "decoded text")]


def test_a_jump_that_the_twin_does_not_give_is_not_its_mirage() -> None:
    # from the fourth model on the scorer fails every second answer no more: the model has not moved there
    w = token_world(np.random.default_rng(4), points=8, noise=0.03, lengths=1, start=0.7, rise=1.0, difficulty=0.2)
    p = panel_of(w, seeds=False)
    hard = p.values["hard"].copy()
    hard[:4, ::2] *= 0.0
    hard[:4, 1::2] *= np.random.default_rng(5).random(hard[:4, 1::2].shape) < 0.3
    j = judge(with_values(p, hard=hard), hard_of(w), twins_of(w), replicates=300)
    assert j.verdict == "unresolved"
    assert "does not move the hard metric" in j.reason
    scale = next(a for a in j.finding.alternatives if a.name == "score scale")
    assert scale.status == "possible"


def test_another_twin_can_only_take_a_verdict_back() -> None:
    w = choice_world(np.random.default_rng(6), share=0.85, noise=0.05)
    smooth = choice_world(np.random.default_rng(7), noise=0.05)
    p = panel_of(w, seeds=False)
    agreed = judge(p, hard_of(w), twins_of(w), replicates=200)
    assert agreed.verdict == "break"
    assert agreed.others
    assert {o.answer for o in agreed.others} <= {"agrees", "cannot tell"}
    assert all(o.low is not None and o.low > 0.25 for o in agreed.others if o.answer == "agrees")
    disagree = with_values(p, choice_margin=smooth.twins["choice_margin"])
    j = judge(disagree, hard_of(w), twins_of(w), replicates=200)
    assert (j.verdict, j.reason) == (
        "unresolved",
        "twins disagree: choice_probability says break, choice_margin the opposite",
    )
    (against,) = (o for o in j.others if o.name == "choice_margin")
    assert against.answer == "disagrees"
    assert against.high is not None
    assert against.high < 0.5
    assert "choice_margin disagrees (" in j.finding.null
    assert {"twin": "choice_margin", "answer": "disagrees"}.items() <= j.row(1, 1)["twins"][-1].items()


def test_twins_are_not_asked_where_the_primary_one_says_nothing() -> None:
    w = choice_world(np.random.default_rng(7), points=4, noise=0.6)
    j = judge(panel_of(w, seeds=False), hard_of(w), twins_of(w), replicates=100)
    assert j.verdict == "unresolved"
    assert {(o.answer, o.why) for o in j.others} == {("not asked", "the primary twin gives no verdict to agree with")}


def test_what_would_be_enough_is_computed() -> None:
    w = token_world(np.random.default_rng(15), points=5, noise=0.35, lengths=MIXED)
    j = told(w)
    assert j.verdict == "unresolved"
    assert j.enough is not None
    assert j.enough.power < 0.8
    assert j.enough.seeds is not None
    assert f"{j.enough.seeds} seeds per model" in j.finding.advice


@pytest.mark.parametrize("share", [0.0, 0.8])
def test_what_is_enough_is_enough(share: float) -> None:
    # on a family whose noise is known (models .35, on a rise of 2.6 and of 3.4 log-odds): 5 models, one seed each
    design = Design.of(range(5))
    needed = enough(design, Noise(0.35 / 2.6, 0.02), [Noise(0.35 / 2.6, 0.02), Noise(0.55 / 3.4, 0.02)], 2)
    assert needed.power < 0.8
    assert needed.seeds is not None
    said = verdicts(token_world, 20, points=5, noise=0.35, lengths=MIXED, seeds=needed.seeds, share=share)
    # promised 80%; over 80 worlds 81% were found, and fewer than 12 of 20 has probability .01
    assert said["break" if share else "smooth"] >= 12


# --- form


def test_replicates_at_one_place_are_merged() -> None:
    w = token_world(np.random.default_rng(8), points=8, lengths=MIXED)
    p = replace(panel_of(w, seeds=False), x=np.repeat(w.x[::2], 2))
    j = judge(p, hard_of(w), twins_of(w), replicates=100)
    assert "8 points stand at 4 places; those at one place count as replicates" in j.reason
    assert len(j.lines[0].x) == 4
    assert "spread among replicates (4 degrees of freedom)" in str(j.finding.null)


def test_a_log_axis_cannot_show_zero(world: World) -> None:
    p = replace(panel_of(world), x=np.array([0.0, 1, 10, 100, 1000, 10000]))
    j = judge(p, hard_of(world), twins_of(world), replicates=100)
    assert "1 point at or below 0 left out of a log axis" in j.reason
    assert len(j.lines[0].x) == 5


def test_checkpoints_get_an_autoregressive_null(world: World) -> None:
    j = judge(panel_of(world, trajectory=True, seeds=False), hard_of(world), twins_of(world), replicates=100)
    assert "autoregressive" in str(j.finding.null)
    recipe = next(a for a in j.finding.alternatives if a.name == "architecture or training recipe")
    assert recipe.status == "ruled-out"


def test_a_finding_is_whole(world: World) -> None:
    broken = token_world(np.random.default_rng(9), share=0.85, points=6, lengths=MIXED)
    j = told(broken, checks={"prompt change": ("ruled-out", "prompt hashes are equal")})
    f = j.finding
    assert (f.code, f.state, f.verdict) == ("FS301", "firing", "break")
    assert f.effect is not None
    assert f.effect.low is not None
    assert f.effect.high is not None
    assert f.effect.value is not None
    assert 0.25 < f.effect.low <= f.effect.value <= f.effect.high <= 1
    assert f.rate.stated == 0.05
    assert f.rate.measured is not None
    assert f.rate.n is not None
    assert {a.name: a.status for a in f.alternatives}["prompt change"] == "ruled-out"
    assert f.evidence_total == j.moved > 0
    assert len(f.evidence) <= 20
    top = j.moves[0]
    assert (top.from_point, top.to_point) == j.jump == (2, 3)
    assert top.from_score != top.to_score
    assert msgspec.json.decode(msgspec.json.encode(f))["effect"]["level"] == 0.9
    assert [line.role for line in j.lines] == ["hard", "twin", "counterfactual"]
    row = j.row(items=1000, points=6)
    assert row["verdict"] == "break"
    assert row["link_gap"] is not None
    msgspec.json.encode([line.points() for line in j.lines])


def test_same_input_same_seed_same_bytes(world: World) -> None:
    a, b, c = (told(world, seed=s) for s in (1, 1, 2))
    assert msgspec.json.encode(a.finding) == msgspec.json.encode(b.finding)
    assert a.lines[0].low.tobytes() == b.lines[0].low.tobytes()
    assert a.lines[0].low.tobytes() != c.lines[0].low.tobytes()
    assert a.finding.id == c.finding.id


def test_the_data_hash_sees_every_score(world: World) -> None:
    p = panel_of(world)
    other = p.values["hard"].copy()
    other[0, 0] = 1 - other[0, 0]
    a, b = (judge(q, hard_of(world), twins_of(world), replicates=50) for q in (p, with_values(p, hard=other)))
    assert a.finding.fit is not None
    assert b.finding.fit is not None
    assert a.finding.fit.data_hash != b.finding.fit.data_hash


def test_pass_rate_floor_points_are_left_out() -> None:
    rng = np.random.default_rng(10)
    p_of = np.exp(-np.array([30.0, 20.0, 5.0, 3.2, 2.0, 1.2, 0.8, 0.5]))
    rate = rng.binomial(20, p_of[:, None], (8, 300)) / 20
    panel = Panel(
        task="t", family="f", axis="parameters", axis_known=True, log_axis=True, points=tuple("abcdefgh"),
        x=10.0 ** np.arange(8), items=tuple(map(str, range(300))), values={"hard": rate, "pass_rate": rate},
    )  # fmt: skip
    j = judge(panel, Hard("hard", binary=False), [Twin("pass_rate", "pass_rate", trials=20)], replicates=200)
    assert "2 points at floor or ceiling left out" in j.reason
    assert j.verdict in ("smooth", "mirage")
