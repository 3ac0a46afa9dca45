"""A curve is refused where it is none, and its link, noise and hash are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from foreshock._base import ConfigError, ForeshockError, MetricError
from foreshock.curves import Curve, curve_of
from foreshock.series import Declared, Point, Series

X = np.array([1e6, 1e7, 1e8])


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"y": [1, np.nan, 2]}, MetricError, "not a number"),
        ({"y": [1, np.inf, 2]}, MetricError, "not a number"),
        ({"y": [1, 2, 1e200]}, MetricError, "not a number"),
        ({"y": ["a", "b", "c"]}, MetricError, "no number"),
        ({"y": [1, 2]}, ConfigError, "2 values for 3 places"),
        ({"x": [3, 2, 1]}, ConfigError, "x falls"),
        ({"x": [0, 1, 2]}, ConfigError, "0 or below on a log axis"),
        ({"x": [1, np.inf, np.inf]}, ConfigError, "not a number"),
        ({"x": [[1, 2, 3]]}, ConfigError, "shape"),
        ({"low": 2.5}, MetricError, "expected scores from 2.5 to open"),
        ({"low": 5, "high": 1}, MetricError, "expected low < high"),
        ({"low": np.nan}, MetricError, "not finite"),
        ({"low": 0, "high": 9, "chance": 10}, MetricError, "chance 10 is outside"),
        ({"items": [1, 0, 1]}, MetricError, "items holds an impossible value"),
        ({"stderr": [0, -1, 0]}, MetricError, "stderr holds an impossible value"),
    ],
)
def test_what_is_no_curve_is_refused_in_words(changed: dict[str, Any], error: type[ForeshockError], words: str) -> None:
    with pytest.raises(error, match=words):
        Curve(**{"x": X, "y": [1, 2, 3], **changed})


def test_too_many_points_are_refused_before_anything_is_done_with_them() -> None:
    with pytest.raises(ConfigError, match="up to 100,000 points"):
        Curve(np.arange(1, 100_002), np.ones(100_001))


def test_a_name_of_any_length_stays_a_short_message() -> None:
    with pytest.raises(MetricError) as caught:
        Curve(X, [1, 2, np.nan], name="n" * 10_000)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("low", "high", "y", "z"),
    [
        (None, None, 3.0, 3.0),
        (0.0, None, np.e, 1.0),
        (1.0, None, 1 + np.e, 1.0),
        (None, 0.0, -np.e, -1.0),
        (None, 5.0, 5 - np.e, -1.0),
        (0.0, 1.0, 0.75, np.log(3)),
        (0.0, 100.0, 75.0, np.log(3)),
    ],
)
def test_the_link_follows_the_scale_and_comes_back(low: float | None, high: float | None, y: float, z: float) -> None:
    link = Curve(X, [y, y, y], low=low, high=high).link
    assert link.forward(np.array([y]))[0] == pytest.approx(z)
    assert link.inverse(np.array([z]))[0] == pytest.approx(y)
    assert link.forward(np.array([y]))[0] < link.forward(np.array([y + 0.01]))[0]


def test_an_end_of_the_scale_stands_at_half_an_item_where_items_are_known_and_nowhere_else() -> None:
    known = Curve(X, [0.0, 0.5, 1.0], items=[50, np.nan, 50], low=0, high=1)
    assert known.z == pytest.approx([np.log(0.01 / 0.99), 0.0, np.log(99)])
    assert np.isneginf(Curve(X, [0.0, 0.5, 1.0], low=0, high=1).z[0])


def test_sampling_is_what_was_stated_else_binomial_else_unknown() -> None:
    curve = Curve(X, [0.5, 0.2, 0.0], items=[100, np.nan, 50], stderr=[np.nan, 0.07, 0.0], low=0, high=1)
    # a harness states 0 at 0 of 50, which is not certainty
    assert curve.sampling == pytest.approx([0.05, 0.07, np.sqrt(0.01 * 0.99 / 50)])
    assert np.isnan(Curve(X, [1.0, 2.0, 3.0]).sampling).all()


def test_the_hash_is_of_all_that_a_fit_sees_and_of_no_name() -> None:
    one = Curve(X, [1, 2, 3], name="a", group="g")
    assert one.data_hash == Curve(X.copy(), [1.0, 2.0, 3.0], name="b").data_hash
    others = [{"y": [1, 2, 4]}, {"low": 0.0}, {"log_x": False}, {"stderr": [0, 0, 1]}, {"trajectory": True}]
    assert len({one.data_hash, *(Curve(**{"x": X, "y": [1, 2, 3], **o}).data_hash for o in others)}) == 6


def test_arrays_cannot_be_changed_behind_the_hash() -> None:
    given = np.array([1.0, 2.0, 3.0])
    curve = Curve(X, given)
    given[0] = 9
    assert curve.y[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        curve.y[0] = 9


def test_some_points_are_a_curve_again() -> None:
    curve = Curve(X, [1, 2, 3], items=[5, 6, 7], low=0, name="n")
    part = curve.take(slice(None, 2))
    assert (part.points, part.items is not None and part.items.tolist(), part.low, part.name) == (2, [5, 6], 0, "n")


def series(values: list[float], x: list[float], axis: str, declared: Declared) -> Series:
    points = tuple(Point(f"p{i}", at, v, None, 10, f"r{i}") for i, (at, v) in enumerate(zip(x, values, strict=True)))
    return Series("task", "family", "acc", axis, True, axis != "released", points, "foreshock", declared)


def test_a_series_becomes_a_curve_without_points_that_have_no_place() -> None:
    curve = curve_of(series([0.1, 0.3, np.nan, 0.2], [0, 512, 700, 128], "step", Declared("hard", None, 0.25, 0, 1)))
    assert curve.x.tolist() == [128, 512]
    assert curve.y.tolist() == [0.2, 0.3]
    assert (curve.trajectory, curve.chance, curve.group, curve.items is not None) == (True, 0.25, "family", True)


def test_declared_facts_come_before_given_ones_and_counts_only_where_scores_are_hits() -> None:
    told = curve_of(series([1, 2], [1, 2], "released", Declared(low=0)), low=-5, high=9)
    assert (told.low, told.high, told.items, told.log_x, told.trajectory) == (0, 9, None, False, False)
    with pytest.raises(MetricError, match="a score is 2"):
        curve_of(series([1, 2], [1, 2], "released", Declared(high=1)))
