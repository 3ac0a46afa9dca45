"""Each light of a trust card turns for the reason it names, and grey is never green."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from foreshock.check import Standing, TaskFacts, trust_card
from foreshock.check._facts import with_prompts
from foreshock.records import Counts, Effect, Finding, Light, State, Subject

FULL = Counts(expected=400, delivered=400, parsed=400, scored=400)


def standing(value: float, *, counts: Counts = FULL, n: int = 400, model: str = "m") -> Standing:
    error = (value * (1 - value) / n) ** 0.5
    return Standing(model, value, value - 1.96 * error, value + 1.96 * error, error, n, counts)


def facts(**changes: Any) -> TaskFacts:
    base: dict[str, Any] = {
        "task": "t", "metric": "exact_match", "kind": "hard", "scale": 100.0, "twins": ["gold_logprob"],
        "missing_twin": "Add logprobs.", "floor": 0.0, "ceiling": 1.0, "standings": [standing(0.3), standing(0.5)],
        "pair_error": 0.02, "agreement": ("exact_match", 800, 800), "differences": [], "incomplete": 0,
        "trends": [(Light.OK, "smooth")], "known": ["task version"],
    }  # fmt: skip
    return TaskFacts(**{**base, **changes})


def light(name: str, **changes: Any) -> tuple[str, str]:
    told = trust_card(facts(**changes)).lights[name]
    return told["state"], told["text"]


def test_a_task_without_a_fault_is_green_throughout() -> None:
    assert {told["state"] for told in trust_card(facts()).lights.values()} == {"ok"}


@pytest.mark.parametrize(
    ("lost", "state"), [(0, "ok"), (4, "warn"), (100, "firing")], ids=["none", "within the error", "beyond the error"]
)
def test_lost_responses_are_measured_against_the_scores_own_error(lost: int, state: str) -> None:
    counts = msgspec.structs.replace(FULL, delivered=400 - lost, parsed=400 - lost, error=lost)
    assert light("delivered", standings=[standing(0.5, counts=counts)])[0] == state


def test_what_was_not_announced_cannot_be_known_to_have_arrived() -> None:
    unknown = Counts(delivered=400, parsed=400)
    assert light("delivered", standings=[standing(0.5, counts=unknown)])[0] == "no-data"
    assert light("delivered", standings=[standing(0.5), standing(0.6, counts=unknown)])[0] == "no-data"


@pytest.mark.parametrize(("value", "side"), [(1.0, "below the ceiling"), (0.0, "above the floor")])
def test_models_that_are_all_right_or_all_wrong_leave_no_headroom(value: float, side: str) -> None:
    """The sample has no spread; the next items may, and the number of items is known."""
    ends = [Standing(model, value, value - 0.005, value + 0.005, 0.0, 400, FULL) for model in "ab"]
    state, text = light("headroom", standings=ends, pair_error=None)
    assert (state, text) == ("firing", f"The best model is 0.0 points {side}, which is within its margin of error.")
    state, text = light("resolution", standings=ends, pair_error=None)
    # Agresti and Coull: 402 of 404 right; z(.975) + z(.80) of two such errors
    step = 2.8016 * (2 * (402 / 404) * (2 / 404) / 404) ** 0.5
    assert (state, text.split(" is found")[0]) == (
        "warn",
        f"With 400 items a true difference of {100 * step:.1f} points",
    )


def test_what_is_not_known_is_named() -> None:
    alike = [Standing(model, 1.0, None, None, 0.0, 400, FULL) for model in "ab"]
    assert "error of the scores" in light("resolution", standings=alike, pair_error=None, scale=None)[1]
    unknown = [Standing("a", 1.0, None, None, None, None, FULL)]
    assert "number of items" in light("headroom", standings=unknown, pair_error=None)[1]


def test_prompts_of_single_items_that_differ_are_no_common_prompt() -> None:
    effect = Effect(name="share", unit="fraction", value=1.0, low=None, high=None)
    fault = Finding(
        code="FS105", subject=Subject(task="t"), state=State.FIRING, title="", null="", effect=effect, advice=""
    )
    told = with_prompts(facts(known=["task version", "prompt"]), [fault])
    assert told.known == ["task version"]
    state, text = light("comparable", known=told.known, differences=told.differences)
    assert (state, "prompt (other words for 100% of the shared items)" in text) == ("warn", True)
    other = msgspec.structs.replace(fault, subject=Subject(task="another"))
    assert with_prompts(facts(known=["prompt"]), [other]).known == ["prompt"]


def test_runs_whose_logs_state_nothing_cannot_be_called_comparable() -> None:
    assert light("comparable", known=[])[0] == "no-data"


def test_of_a_loss_less_is_better_and_no_headroom_is_claimed() -> None:
    assert light("headroom", rising=False)[0] == "no-data"


def test_totals_say_nothing_about_delivery() -> None:
    assert light("delivered", standings=[standing(0.5, counts=Counts())])[0] == "no-data"


def test_a_hard_metric_without_a_twin_warns_and_says_what_to_do() -> None:
    assert light("metric", twins=[]) == (
        "warn",
        "exact_match is all-or-nothing and has no continuous twin here. Add logprobs.",
    )


def test_a_metric_of_unknown_kind_is_grey_and_says_what_to_do() -> None:
    state, text = light("metric", kind=None, say_kind="Say it with --kind. ")
    assert state == "no-data"
    assert "--kind" in text


def test_disagreement_with_the_harness_is_counted() -> None:
    state, text = light("metric", agreement=("exact_match", 180, 200))
    assert state == "warn"
    assert "20 of 200" in text


def test_resolution_is_the_difference_that_is_found_with_80_percent_power() -> None:
    # 2.8016 x .02 = 5.6 points: neighbours 20 points apart are far enough, 3 points apart are not
    assert light("resolution")[0] == "ok"
    state, text = light("resolution", standings=[standing(0.30), standing(0.33)])
    assert (state, "5.6 points" in text) == ("warn", True)
    assert (
        light("resolution", pair_error=None, standings=[Standing("m", 0.5, None, None, None, None, FULL)])[0]
        == "no-data"
    )


def test_one_item_has_no_standard_error_and_lights_nothing() -> None:
    alone = [Standing("m", 0.0, 0.0, 0.79, float("nan"), 1, FULL)]
    assert light("resolution", pair_error=None, standings=alone)[0] == "no-data"
    assert light("headroom", pair_error=None, standings=alone)[0] == "no-data"


@pytest.mark.parametrize(
    ("best", "state"), [(0.5, "ok"), (0.91, "ok"), (0.97, "warn"), (0.995, "firing"), (0.03, "warn"), (0.005, "firing")]
)
def test_headroom_fires_within_the_margin_of_error_and_warns_within_a_step(best: float, state: str) -> None:
    assert light("headroom", standings=[standing(0.001), standing(best)])[0] == state


def test_what_differs_between_runs_is_named() -> None:
    assert light("comparable", differences=["task version (1 / 2)"])[0] == "warn"
    assert light("comparable", standings=[standing(0.5)])[0] == "no-data"


def test_the_most_telling_trend_is_shown_and_grey_is_not_green() -> None:
    trends = [(Light.NO_DATA, "unresolved"), (Light.OK, "smooth"), (Light.FIRING, "break")]
    assert light("trend", trends=trends) == ("firing", "2 of 3 lines judged. break")
    assert light("trend", trends=trends[:1])[0] == "no-data"
    # one calm line does not speak for another that could not be judged
    assert light("trend", trends=trends[:2]) == ("no-data", "1 of 2 lines judged. smooth")
    assert light("trend", trends=[])[0] == "no-data"


def test_one_response_is_told_in_the_singular() -> None:
    one = Counts(expected=1, delivered=1, parsed=1)
    assert (
        light("delivered", standings=[standing(0.5, counts=one)])[1] == "The one response arrived and gave an answer."
    )
    unknown = Counts(delivered=1, parsed=1)
    assert light("delivered", standings=[standing(0.5, counts=unknown)])[1].startswith("1 response arrived;")
