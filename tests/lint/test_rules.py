"""Each rule fires on a planted fault, is silent on a good design, and says so when the facts are not there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.lint import CODES, LintOptions, explain
from foreshock.lint._facts import Audit, Best, Denominator, Facts, Flips, Measured, Metric, Repeats, Spread
from foreshock.lint._lint import LINE_RULES, TASK_RULES, examine_facts
from foreshock.lint._told import Said
from foreshock.records import State
from foreshock.stats import paired_items, wilson
from tests.lint.benchmarks import GOOD, HARD, SOFT, benchmark, best, flips, ladder, line

OPTIONS = LintOptions()


def told(code: str, *what: object, options: LintOptions = OPTIONS) -> list[Said]:
    benchmarks = tuple(one for one in what if hasattr(one, "metrics"))
    lines = tuple(one for one in what if hasattr(one, "position"))
    said = examine_facts(Facts(benchmarks, lines, models=True), options)
    assert all(one.finding.code in CODES for one in said)
    return [one for one in said if one.finding.code == code]


def states(code: str, *what: object, options: LintOptions = OPTIONS) -> list[str]:
    return [one.finding.state.value for one in told(code, *what, options=options)]


def test_a_good_design_and_a_good_line_give_nothing() -> None:
    assert examine_facts(Facts((GOOD,), (ladder(8),), models=True), OPTIONS) == []


def test_a_design_without_models_is_told_that_they_are_not_stated() -> None:
    said = examine_facts(Facts((GOOD,), (), models=False), OPTIONS)
    assert [(one.finding.code, one.finding.state) for one in said] == [
        ("FS204", State.NO_DATA),
        ("FS207", State.NO_DATA),
    ]


@pytest.mark.parametrize("code", sorted({code for code, _ in (*TASK_RULES, *LINE_RULES)}))
def test_every_rule_can_be_chosen_and_left_out(code: str) -> None:
    bad = benchmark(metrics=(HARD,), twins=(), items=3, audit=None, options=(2, 9), sampled=True)
    facts = Facts((bad,), (line(1e7, 1e8, 1e10),), models=True)
    everything = {one.finding.code for one in examine_facts(facts, OPTIONS)}
    only = {one.finding.code for one in examine_facts(facts, LintOptions(select=[code]))}
    rest = {one.finding.code for one in examine_facts(facts, LintOptions(ignore=[code]))}
    assert only == everything & {code}
    assert rest == everything - {code}


# FS201


def test_fs201_only_hard_metrics() -> None:
    (said,) = told("FS201", benchmark(metrics=(HARD, Metric("acc_norm", "hard"))))
    assert said.finding.state is State.FIRING
    assert "acc, acc_norm" in said.finding.title
    assert "choice_probability" in said.hint


def test_fs201_names_the_best_twin_whatever_comes_first() -> None:
    choice = replace(HARD, link="argmax")
    twins = ("char_similarity", "gold_logprob(per=token)", "choice_margin", "brier")
    assert "report brier" in told("FS201", benchmark(metrics=(choice,), twins=twins))[0].hint
    whole = replace(HARD, link="all-of-N")
    assert "report gold_logprob(per=token)" in told("FS201", benchmark(metrics=(whole,), twins=twins))[0].hint


def test_fs201_does_not_know_an_unknown_metric() -> None:
    (said,) = told("FS201", benchmark(metrics=(HARD, Metric("home_made"))))
    assert said.finding.state is State.NO_DATA
    assert said.finding.needs[0].enough == 2
    assert states("FS201", benchmark(metrics=())) == ["no-data"]
    assert states("FS201", benchmark(metrics=(Metric("home_made"), SOFT))) == []


# FS202


def test_fs202_no_twin() -> None:
    assert states("FS202", benchmark(metrics=(HARD,), twins=())) == ["firing"]
    assert states("FS202", benchmark(metrics=(HARD, SOFT), twins=())) == []
    assert states("FS202", benchmark(metrics=(SOFT,), twins=())) == []
    assert states("FS202", benchmark(metrics=(replace(HARD, twin="loss"),), twins=())) == []


def test_fs202_a_similarity_that_only_ever_is_0_or_1_is_no_twin() -> None:
    binary = replace(SOFT, name="similarity", high=1, spread=Spread(500, 0))
    assert states("FS202", benchmark(metrics=(HARD, binary), twins=())) == ["firing"]
    assert states("FS202", benchmark(metrics=(HARD, replace(binary, spread=Spread(500, 200))), twins=())) == []


def test_fs202_decoded_text_alone_is_a_weak_twin() -> None:
    (said,) = told("FS202", benchmark(metrics=(HARD,), twins=("char_similarity", "numeric_closeness")))
    assert (said.finding.state, said.finding.verdict) == (State.PENDING, "weak-twin")
    assert states("FS202", benchmark(metrics=(HARD,), twins=("char_similarity", "gold_logprob(per=token)"))) == []


def test_fs202_without_known_metrics_cannot_tell() -> None:
    assert states("FS202", benchmark(metrics=(), twins=())) == ["no-data"]
    assert states("FS202", benchmark(metrics=(Metric("home_made"),), twins=())) == ["no-data"]


# FS203


def test_fs203_before_any_run_depends_on_what_is_not_known() -> None:
    assert states("FS203", benchmark(items=100)) == ["firing"]  # not even if every flip favours the better model
    assert states("FS203", benchmark(items=800)) == ["pending"]
    assert states("FS203", benchmark(items=1_568)) == []
    assert states("FS203", benchmark(items=60), options=LintOptions(difference=0.2)) == ["pending"]


def test_fs203_measured_flips_decide() -> None:
    (said,) = told("FS203", benchmark(items=300, flips=flips(0.25)))
    assert said.finding.state is State.FIRING
    assert said.finding.needs[0].enough == pytest.approx(
        782, abs=3
    )  # (1.96 sqrt(.25) + .84 sqrt(.25 - .05^2))^2 / .05^2
    assert states("FS203", benchmark(items=760, flips=flips(0.25))) == ["pending"]  # inside the interval
    assert states("FS203", benchmark(items=800, flips=flips(0.25))) == []


def test_fs203_without_a_number_says_how_many_would_do() -> None:
    (said,) = told("FS203", benchmark(items=None))
    assert said.finding.state is State.NO_DATA
    assert "155 to 1,568" in said.hint
    assert states("FS203", benchmark(items=0)) == ["firing"]


# FS204, FS205 (seeds), FS207


def test_fs204_short_lines() -> None:
    assert states("FS204", ladder(3)) == ["firing"]
    (said,) = told("FS204", ladder(5))
    assert said.finding.state is State.PENDING
    assert said.finding.needs[0].enough == 6
    assert states("FS204", ladder(6)) == []
    assert states("FS204", ladder(6), options=LintOptions(scatter=0.2)) == ["pending"]


def test_fs204_seeds_help_and_are_named() -> None:
    options = LintOptions(scatter=0.1)
    (said,) = told("FS204", ladder(6), options=options)
    seeds = next(need for need in said.finding.needs if need.what.startswith("seeds"))
    assert seeds.enough is not None
    assert states("FS204", ladder(6, seeds=int(seeds.enough)), options=options) == []
    assert states("FS204", ladder(6, seeds=int(seeds.enough) - 1), options=options) == ["pending"]


def test_lines_without_an_axis_cannot_be_judged() -> None:
    unknown = ladder(6, known=False)
    assert states("FS204", unknown) == ["no-data"]
    assert states("FS207", unknown) == ["no-data"]


def test_fs205_of_seeds() -> None:
    (said,) = told("FS205", ladder(5))
    assert (said.finding.state, said.finding.verdict) == (State.PENDING, "seeds")
    assert states("FS205", ladder(6)) == []
    assert states("FS205", ladder(5, seeds=2)) == []


def test_fs207_a_gap_hides_a_step() -> None:
    (said,) = told("FS207", line(7e7, 1.6e8, 4.1e8, 7e10))
    assert said.finding.state is State.FIRING
    assert "4.1e+08 and 7e+10" in said.finding.title
    assert "near 5.4B" in said.hint
    filled = line(7e7, 1.6e8, 4.1e8, 5.4e9, 7e10)
    assert states("FS207", filled) == []  # its own advice is enough
    assert states("FS207", ladder(4)) == []


# FS205 (repeats)


def test_fs205_of_repeats() -> None:
    (said,) = told("FS205", benchmark(sampled=True))
    assert (said.finding.state, said.finding.verdict) == (State.FIRING, "repeats")
    assert states("FS205", benchmark(sampled=True, repeats=4)) == []
    assert states("FS205", benchmark(sampled=None)) == ["no-data"]
    assert states("FS205", benchmark(repeats=None, sampled=None)) == ["no-data"]


def test_fs205_attempts_of_a_pass_at_k() -> None:
    ten = Metric("pass@10", "hard", "any-of-T", 0, 1, attempts=10)
    (said,) = told("FS205", benchmark(metrics=(ten, SOFT), repeats=5, sampled=True))
    assert said.finding.state is State.FIRING
    assert said.finding.needs[0].enough == 10
    assert states("FS205", benchmark(metrics=(ten, SOFT), repeats=10, sampled=True)) == []


def test_fs205_noisy_replies_need_more_repeats() -> None:
    noisy = benchmark(sampled=True, repeats=2, spread_of_repeats=Repeats(between=0.05, within=0.2))
    (said,) = told("FS205", noisy)
    assert (said.finding.state, said.finding.needs[0].enough) == (State.PENDING, 4)
    assert states("FS205", replace(noisy, repeats=4)) == []


# FS206


def test_fs206_options_that_differ() -> None:
    (said,) = told("FS206", benchmark(options=(2, 5), guess=0.3))
    assert said.finding.state is State.FIRING
    assert "chance = 0.3" in said.hint
    assert states("FS206", benchmark(options=(2, 5), chance=0.3)) == []
    assert states("FS206", benchmark(options=None)) == ["firing"]
    assert states("FS206", benchmark(metrics=(replace(HARD, chance=0.5), SOFT), options=(2, 5))) == []


def test_fs206_free_answers_and_unknown_metrics() -> None:
    exact = Metric("exact_match", "hard", "all-of-N", 0, 1, chance=0)
    assert states("FS206", benchmark(metrics=(exact,), options=(0, 0))) == []
    assert states("FS206", benchmark(metrics=(exact,), options=None)) == []
    assert states("FS206", benchmark(metrics=(Metric("own", "hard"),), options=None)) == ["pending"]
    assert states("FS206", benchmark(metrics=())) == ["no-data"]


# FS208


def test_fs208_without_checked_labels() -> None:
    assert states("FS208", benchmark(audit=None)) == ["pending"]
    assert states("FS208", benchmark(audit=None, best=best(0.4))) == ["pending"]
    (said,) = told("FS208", benchmark(audit=None, best=best(0.9)))
    assert said.finding.state is State.FIRING
    assert said.finding.needs[0].enough == 29  # .9^29 < .05 < .9^28
    assert states("FS208", benchmark(audit=None, ceiling=0.97, best=best(0.9))) == []
    assert states("FS208", benchmark(audit=None, best=best(1.0))) == []
    assert states("FS208", benchmark(metrics=())) == ["no-data"]


def test_fs208_above_the_declared_ceiling() -> None:
    (said,) = told("FS208", benchmark(audit=Audit(wrong=30, checked=200), best=best(0.97)))
    assert (said.finding.state, said.finding.verdict) == (State.FIRING, "above-ceiling")
    # the audit's own interval reaches above the model's
    assert states("FS208", benchmark(audit=Audit(wrong=3, checked=20), best=best(0.97))) == []


# FS209


def runs(*scored: int, expected: int | None = None, **facts: str) -> tuple[Denominator, ...]:
    return tuple(Denominator(f"r{i}", f"m{i}", n, expected, **facts) for i, n in enumerate(scored))


def test_fs209_runs_over_other_numbers_of_items() -> None:
    assert states("FS209", benchmark(observed=True, denominators=runs(1000, 1000))) == []
    assert states("FS209", benchmark(observed=True, denominators=runs(1000, 990))) == ["pending"]
    assert states("FS209", benchmark(observed=True, denominators=runs(1000, 700))) == ["firing"]
    other = (*runs(1000, conditions="shots=5"), *runs(500, conditions="shots=0"))
    assert states("FS209", benchmark(observed=True, denominators=other)) == ["no-data"]


def test_fs209_without_two_runs_cannot_tell_and_a_design_is_not_asked() -> None:
    assert states("FS209", benchmark(observed=True, denominators=runs(1000))) == ["no-data"]
    assert states("FS209", benchmark()) == []


# FS210


def test_fs210_by_perturbed_outputs() -> None:
    soft = replace(SOFT, measured=Measured(items=50, sharp=48))
    (said,) = told("FS210", benchmark(tried=(soft,)))
    assert (said.finding.state, said.finding.verdict) == (State.FIRING, "acts-hard")
    effect = said.finding.effect
    assert effect is not None
    assert effect.low is not None
    assert effect.low > 0.5
    assert states("FS210", benchmark(tried=(replace(SOFT, measured=Measured(50, 2)),))) == []
    assert states("FS210", benchmark(tried=(replace(SOFT, measured=Measured(50, 28)),))) == []  # may be one half
    (said,) = told("FS210", benchmark(tried=(replace(HARD, measured=Measured(50, 3)),)))
    assert (said.finding.state, said.finding.verdict) == (State.FIRING, "acts-continuous")
    (said,) = told("FS210", benchmark(tried=(replace(HARD, measured=Measured(5, 5, skipped=40, failed=2)),)))
    assert said.finding.state is State.NO_DATA
    assert "40 of 47 items could not be perturbed, and it failed on 2" in said.finding.title


def test_fs210_by_stored_values() -> None:
    unit = Metric("closeness", "continuous", "identity", 0, 1, source="harness")
    assert states("FS210", benchmark(tried=(replace(unit, spread=Spread(300, 0)),))) == ["firing"]
    assert states("FS210", benchmark(tried=(replace(unit, spread=Spread(300, 200)),))) == []
    (said,) = told("FS210", benchmark(tried=(replace(unit, spread=Spread(20, 0)),)))
    assert said.finding.state is State.NO_DATA
    enough = said.finding.needs[0].enough
    assert enough is not None
    assert states("FS210", benchmark(tried=(replace(unit, spread=Spread(int(enough), 0)),))) == ["firing"]
    assert states("FS210", benchmark(tried=(replace(unit, spread=Spread(int(enough) - 1, 0)),))) == ["no-data"]
    graded = replace(HARD, spread=Spread(300, 100))
    assert states("FS210", benchmark(tried=(graded,))) == ["pending"]
    assert states("FS210", benchmark(tried=(replace(graded, spread=Spread(300, 0)),))) == []


def test_findings_of_one_code_and_place_have_ids_of_their_own() -> None:
    bad = benchmark(metrics=(HARD, Metric("pass@10", "hard", "any-of-T", 0, 1, attempts=10)), sampled=True)
    said = examine_facts(Facts((bad, replace(bad, place="other")), (), models=True), OPTIONS)
    ids = [one.finding.id for one in said]
    assert len(ids) == len(set(ids)) > 4


@pytest.mark.parametrize(
    "options", [{"difference": 0.0}, {"difference": float("nan")}, {"scatter": 1.0}, {"samples": 0}]
)
def test_impossible_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="expected a"):
        LintOptions(**options)  # type: ignore[arg-type]


def test_every_code_can_be_explained_by_code_and_by_name() -> None:
    for code in CODES:
        assert explain(code).startswith(code)
    assert explain("no-twin").startswith("FS202")
    with pytest.raises(ConfigError, match="did you mean FS202"):
        explain("FS2020")


def test_fs203_without_a_scale_there_is_no_difference_to_see() -> None:
    loss = Metric("perplexity", "continuous", None, 1, None)
    assert states("FS203", benchmark(metrics=(loss,), items=10)) == ["no-data"]


def test_fs208_above_the_ceiling_keeps_its_rate_and_finds_what_is_planted() -> None:
    rng = np.random.default_rng(11)

    def fired(true: float, ceiling: float, draws: int = 400) -> float:
        hits, wrong = rng.binomial(1_000, true, draws), rng.binomial(200, 1 - ceiling, draws)
        ends = zip(*wilson(hits, np.full(draws, 1_000)), strict=True)
        made = [
            benchmark(best=Best("top", k / 1_000, float(low), float(high)), audit=Audit(int(w), 200))
            for k, w, (low, high) in zip(hits, wrong, ends, strict=True)
        ]
        return float(np.mean([bool(states("FS208", one)) for one in made]))

    assert fired(0.9, 0.9) <= 0.05
    assert fired(0.97, 0.8) >= 0.95


def test_fs203_says_too_few_only_where_they_are() -> None:
    """Worlds of two models whose flips are known: below what is needed it speaks, well above it does not."""
    rng = np.random.default_rng(12)

    def spoke(items: int, share: float, draws: int = 300) -> float:
        hits = rng.binomial(items, share, draws)
        low, high = wilson(hits, np.full(draws, items))
        made = [
            benchmark(items=items, flips=Flips(h / items, float(a), float(b), pairs=1))
            for h, a, b in zip(hits, low, high, strict=True)
        ]
        return float(np.mean([states("FS203", one) == ["firing"] for one in made]))

    needed = paired_items(0.2, 0.05)
    assert needed is not None
    assert spoke(needed, 0.2) <= 0.05  # just enough: firing would be wrong
    assert spoke(needed // 2, 0.2) >= 0.95
