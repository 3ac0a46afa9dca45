"""Forecasts: what they promise, when there is none, and that the same input gives the same answer."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock._base import ConfigError, NotEnoughDataError
from foreshock.curves import Calibration, Curve, calibrate, forecast
from foreshock.curves._calibrate import calibrated, known_curve
from foreshock.curves._calibration import shipped
from foreshock.curves._combine import ALL_FORMS, FEATURES, Candidates
from foreshock.curves._conformal import curves_needed
from foreshock.curves._learn import Known, Rule
from foreshock.curves._support import distance_of
from foreshock.simulate import scaling_curve

X = np.geomspace(1e6, 1e9, 14)


def law(seed: int = 0, noise: float = 0.01) -> Curve:
    rng = np.random.default_rng(seed)
    return Curve(X, (1.2 + 300 * X**-0.35) * np.exp(noise * rng.normal(size=X.size)), low=0.0, name="law", group="g")


def drawn_known(count: int, seed: int) -> list[Known]:
    """Curves of four groups with forecasts that need no fits."""
    rng = np.random.default_rng(seed)
    return [
        Known(
            Candidates(ALL_FORMS, rng.normal(size=(len(ALL_FORMS), 3)), 0.0, np.ones(3), np.ones(3)),
            rng.normal(size=3),
            np.full(3, 0.1),
            str(number % 4),
        )
        for number in range(count)
    ]


def test_a_law_is_continued_and_beats_persistence() -> None:
    found = forecast(law(), [1.5e9, 3e9])
    truth = 1.2 + 300 * found.at**-0.35
    assert found.refused is None
    assert (np.abs(np.log(found.value / truth)) < np.abs(np.log(found.persistence / truth))).all()
    assert ((found.low < truth) & (truth < found.high)).all()
    assert found.high[1] - found.low[1] > found.high[0] - found.low[0]
    assert sum(found.weights.values()) == pytest.approx(1.0)
    assert "simulated" in found.basis
    assert found.forms is not None
    assert found.record.data_hash == law().data_hash


def test_the_same_input_gives_the_same_answer() -> None:
    one, two = (forecast(law(), [3e9, 1.5e9], seed=3, identify=False) for _ in range(2))
    assert one.rows() == two.rows()
    turned = forecast(law(), [1.5e9, 3e9], seed=3, identify=False)
    assert turned.value.tolist() == one.value[::-1].tolist()


def test_a_flat_curve_is_hardly_moved() -> None:
    """Forms must not be let loose on noise: the forecast is never much worse than staying where one is."""
    error, still = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = 2.0 * np.exp(0.01 * rng.normal(size=X.size))
        found = forecast(Curve(X, y, low=0.0), [2e9, 5e9], identify=False)
        error.append(np.mean(np.abs(np.log(found.value / 2))))
        still.append(np.mean(np.abs(np.log(found.persistence / 2))))
    assert np.mean(error) < np.mean(still) + 0.01
    assert max(error) < 0.06


@pytest.mark.parametrize(
    ("curve", "at", "why", "enough"),
    [
        (Curve(X[:3], np.array([3.0, 2.0, 1.5]), low=0.0), 2e7, "3 different places", "4 different places"),
        (Curve(np.ones(0), np.ones(0), low=0.0), 2.0, "0 different places", "4"),
        (Curve(X, np.full(14, 2.0), low=0.0), 2e9, "all scores are equal", "digits"),
        (Curve(X, np.linspace(1, 0, 14), low=0.0), 2e9, "end of its scale", "items"),
        (law(), 1e14, "further beyond", "places up to"),
        (law(), 1e7, "not beyond", "places up to"),
    ],
)
def test_no_forecast_says_why_and_what_would_be_enough(curve: Curve, at: float, why: str, enough: str) -> None:
    found = forecast(curve, [at])
    assert found.refused is not None
    assert why in found.refused
    assert enough in str(found.enough)
    assert np.isnan(found.value).all()
    assert np.isnan(found.probability_above(1.0)).all()
    assert found.rows()[0]["value"] is None
    if curve.points:
        assert found.persistence[0] == curve.y[-1]


def test_a_place_too_far_is_refused_alone_with_the_interval_about_persistence() -> None:
    found = forecast(law(), [2e9, 1e14], identify=False)
    assert found.refused is None
    assert found.lacking[0] is None
    assert "further" in str(found.lacking[1])
    assert np.isnan(found.value[1])
    assert np.isfinite(found.persistence).all()
    assert np.isfinite(found.persistence_high).tolist() == [True, False]


def test_what_is_asked_wrongly_is_the_users_mistake() -> None:
    for at, level in (([np.nan], 0.9), ([-1.0], 0.9), ([2e9], 1.0)):
        with pytest.raises(ConfigError):
            forecast(law(), at, level=level)
    with pytest.raises(ConfigError, match="kind"):
        forecast(law(), [2e9], calibration=shipped("share"))


def test_probability_and_interval_tell_one_story() -> None:
    found = forecast(law(), [2e9], identify=False)
    above = [float(found.probability_above(line)[0]) for line in (found.low[0], found.value[0], found.high[0])]
    assert above[0] > above[1] > above[2]
    assert above[0] - above[2] == pytest.approx(0.9, abs=0.06)
    assert found.probability_above(-1.0)[0] == 1.0


def test_scores_between_two_ends_stay_there() -> None:
    x = np.geomspace(7e7, 1.4e9, 5)
    curve = Curve(x, np.array([0.3, 0.34, 0.4, 0.44, 0.5]), np.full(5, 1000.0), low=0.0, high=1.0)
    found = forecast(curve, [2.8e9, 6.9e9])
    assert found.refused is None
    assert ((found.low > 0) & (found.high < 1) & (found.value > 0.5)).all()
    nothing = forecast(Curve(x, np.zeros(5), np.full(5, 100.0), low=0.0, high=1.0), [2.8e9])
    assert nothing.low[0] == 0.0
    assert 0 < nothing.high[0] < 0.2


def test_levels_nest() -> None:
    narrow, wide = (forecast(law(), [2e9], level=level, identify=False) for level in (0.5, 0.95))
    assert wide.low[0] < narrow.low[0] < narrow.high[0] < wide.high[0]


@pytest.mark.slow
def test_new_curves_of_the_prior_are_covered_by_the_shipped_calibration() -> None:
    """Fresh curves of the same prior: the shipped one must not have been learned on them."""
    inside = []
    for number in range(150):
        drawn = scaling_curve(np.random.default_rng([77, number]))
        found = forecast(Curve(drawn.x, drawn.y, low=0.0), drawn.ahead_x[-1:], identify=False)
        if found.refused is None:
            inside.append(bool(found.low[0] <= drawn.ahead_y[-1] <= found.high[0]))
    assert len(inside) >= 140
    assert np.mean(inside) >= 0.84


def exact_calibration(curves: int, rng: np.random.Generator) -> Calibration:
    parts = np.eye(len(FEATURES))[0]
    scores = tuple(rng.normal(size=1) for _ in range(curves))
    far = tuple(np.full(1, 0.1) for _ in range(curves))
    return Calibration("open", Rule({"last value": 1.0}, parts, parts), scores, scores, far, ("g",) * curves, "made")


def test_a_calibration_survives_its_text() -> None:
    made = exact_calibration(40, np.random.default_rng(0))
    again = Calibration.from_json(made.to_json())
    assert again.to_json() == Calibration.from_json(again.to_json()).to_json()
    one, two = (forecast(law(), [2e9], calibration=c, identify=False) for c in (made, again))
    assert one.low[0] == pytest.approx(two.low[0], rel=1e-4)
    for text in ("", "{}", "[]", '{"format": 9}', made.to_json().replace('"format": 1', '"format": 2')):
        with pytest.raises(ConfigError, match="no calibration"):
            Calibration.from_json(text)


def test_too_few_calibration_curves_are_no_interval() -> None:
    made = exact_calibration(8, np.random.default_rng(0))
    found = forecast(law(), [2e9], calibration=made, identify=False)
    assert "8 calibration curves" in str(found.refused)
    assert str(curves_needed(0.9)) in str(found.enough)
    with pytest.raises(NotEnoughDataError):
        calibrate([(law(seed), np.array([2e9]), np.array([1.4])) for seed in range(8)])


def test_a_group_is_scored_with_a_rule_that_has_not_seen_it() -> None:
    known = drawn_known(60, 5)
    made = calibrated(known, seed=0)
    other = [Known(k.found, k.came + (100.0 if k.group == "2" else 0.0), k.distance, k.group) for k in known]
    moved = calibrated(other, seed=0)
    # a jump of group 2 alone is no change of the rule by which it is scored: its scores move by the jump in units of
    # one and the same scale, while the scale of all others grows with it
    mine, rest = ([i for i, k in enumerate(known) if (k.group == "2") == own] for own in (True, False))
    shift = np.concatenate([moved.scores[i] - made.scores[i] for i in mine])
    size = [np.mean([np.abs(c.scores[i]).mean() for i in rest]) for c in (made, moved)]
    assert shift.min() > 20
    assert size[1] < 0.5 * size[0]
    assert moved.coverage()["2"] == 0.0
    assert made.coverage().keys() == {"0", "1", "2", "3"}
    assert "4 groups" in made.basis()


def test_a_curve_is_fitted_once_for_all_groups_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = known_curve(law(41), np.array([1.5e9]), np.array([1.4]))

    def fitted(*_: object, **__: object) -> None:
        raise AssertionError("fitted again")

    monkeypatch.setattr("foreshock.curves._calibrate.candidates", fitted)
    assert known_curve(law(41), np.array([1.5e9]), np.array([1.4])) is made
    with pytest.raises(AssertionError, match="again"):
        known_curve(law(41), np.array([1.5e9]), np.array([1.4]), seed=1)


def test_known_curves_are_on_the_link() -> None:
    known = known_curve(law(), np.array([1.5e9, 3e9]), np.array([1.4, 1.3]))
    np.testing.assert_allclose(known.came, np.log([1.4, 1.3]))
    assert known.distance[0] == pytest.approx(np.log(1.5) / np.log(1e3))
    assert known.group == "g"


def test_far_places_are_held_against_far_places() -> None:
    rng = np.random.default_rng(1)
    near, far = [rng.normal(size=1) for _ in range(100)], [5 * rng.normal(size=1) for _ in range(100)]
    parts = np.eye(len(FEATURES))[0]
    distances = (np.full(1, 0.1),) * 100 + (np.full(1, 0.9),) * 100
    rule = Rule({"last value": 1.0}, parts, parts)
    made = Calibration("open", rule, (*near, *far), (*near, *far), distances, ("g",) * 200, "made")
    bands = made.band(np.array([0.1, 0.9, 0.05]), 0.9)
    assert [inside.tolist() for inside, _, _ in bands] == [[True, False, True], [False, True, False]]
    assert np.abs(bands[1][1].score).mean() > 3 * np.abs(bands[0][1].score).mean()


def test_distance_is_in_lengths_of_the_history() -> None:
    assert distance_of(Curve(np.array([1.0, 10.0, 100.0]), np.ones(3)), np.array([1000.0]))[0] == pytest.approx(0.5)


def test_a_higher_level_is_never_narrower_and_a_probability_does_not_depend_on_it() -> None:
    history = law(3, noise=0.02)
    told = [forecast(history, [1.4e10], level=level, identify=False) for level in (0.5, 0.9, 0.99, 0.994, 0.995, 0.999)]
    lows, highs = [one.low[0] for one in told], [one.high[0] for one in told]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)
    assert len({one.probability_above(1.3)[0] for one in told}) == 1


def test_a_score_at_its_floor_is_forecast_for_the_next_step_only() -> None:
    x = np.geomspace(1e8, 1e10, 7)
    flat = Curve(x, np.full(7, 0.01), np.full(7, 300.0), low=0.0, high=1.0)
    step = float(x[1] / x[0])
    found = forecast(flat, [x[-1] * step, x[-1] * step**3])
    assert found.lacking[0] is None
    assert "floor" in str(found.lacking[1])
    assert np.isnan(found.value[1])
    assert np.isfinite(found.persistence_high[1])
    guessing = Curve(x, np.full(7, 0.26), np.full(7, 300.0), low=0.0, high=1.0, chance=0.25)
    assert "floor" in str(forecast(guessing, [x[-1] * step**3]).refused)


def test_a_score_that_leaves_its_floor_is_forecast() -> None:
    x = np.geomspace(1e8, 1e10, 7)
    y = np.array([0.01, 0.01, 0.02, 0.02, 0.04, 0.06, 0.09])
    found = forecast(Curve(x, y, np.full(7, 300.0), low=0.0, high=1.0), [5e10])
    assert found.refused is None
    assert found.value[0] > 0.09
