"""Which points are judged, over all draws of items."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from foreshock.mirage import Hard, judge
from foreshock.mirage._design import Design
from foreshock.mirage._excess import Curves
from foreshock.mirage._share import Windowed, judge_share
from foreshock.mirage._window import windows
from foreshock.simulate import token_world
from tests.mirage.panels import hard_of, panel_of, twins_of


def test_rare_windows_are_folded_into_the_others() -> None:
    done = np.tile(np.linspace(0, 0.9, 6), (1000, 1))
    done[:5, 3] = 0.96
    done[5:305, 4] = 0.96
    told = windows(done, np.zeros(done.shape, bool))
    assert [w.kept.size for w in told] == [6, 5]
    assert [w.weight for w in told] == pytest.approx([695 / 995, 300 / 995])


def test_leading_points_at_the_floor_are_left_out_and_later_ones_kept() -> None:
    floor = np.array([[True, True, False, True, False]])
    assert windows(np.zeros((1, 5)), floor)[0].kept.tolist() == [2, 3, 4]
    assert windows(np.zeros((1, 5)), np.ones((1, 5), bool))[0].kept.size == 0


def test_of_very_many_points_those_count_that_are_spread_over_the_axis() -> None:
    """A run of 154 checkpoints was not judged in minutes; scores have no part in which points count."""
    world = token_world(np.random.default_rng(3), points=154, lengths=4, items=200, share=0.8)
    panel = panel_of(world, trajectory=True)
    told = judge(panel, hard_of(world), twins_of(world))
    assert told.verdict == "break"
    assert "154 points, judged on 48 that are spread evenly over the axis" in told.reason
    judged = [panel.points.index(label) for label in told.lines[0].labels]
    assert (judged[0], judged[-1]) == (0, 153)
    assert set(np.diff(judged)) <= {3, 4}
    first, last = told.jump
    assert judged[first] <= world.truth.interval < judged[last]
    assert told.finding.effect.low <= told.finding.effect.value <= told.finding.effect.high


def line_and_step(points: int, seed: int) -> Curves:
    rng = np.random.default_rng(seed)
    z = 13 * (0.3 * np.linspace(0, 1, points) + 0.7 * (np.arange(points) > 3)) + rng.standard_normal(points)
    return Curves(z[None], Design.of(range(points)), np.zeros((points, points)))


def test_bounds_are_averaged_over_windows() -> None:
    a, b = line_and_step(8, 1), line_and_step(7, 2)
    one, two = judge_share(Windowed.one(a)), judge_share(Windowed.one(b))
    both = judge_share(Windowed(((0.6, a), (0.4, b))))
    assert both.p == pytest.approx(0.6 * one.p + 0.4 * two.p)
    assert min(one.low, two.low) <= both.low <= max(one.low, two.low)
    assert min(one.high, two.high) <= both.high <= max(one.high, two.high)


def test_draws_without_a_window_count_against_any_answer() -> None:
    a = line_and_step(8, 1)
    assert judge_share(Windowed(((0.97, a),))).low > 0.2
    told = judge_share(Windowed(((0.9, a),)))
    assert (told.low, told.high) == (0.0, 1.0)
    assert told.p >= 0.1


def test_a_window_that_hangs_on_the_draw_is_told() -> None:
    # the last but one model stands about where the metric has arrived
    found = []
    for k in range(20):
        w = token_world(np.random.default_rng([1, k]), points=8, items=300, rise=4.2, lengths=1, start=1.0)
        j = judge(panel_of(w), hard_of(w), twins_of(w), seed=1, replicates=200)
        found.append(j)
    several = [j for j in found if len(j.window) > 1]
    assert len(several) >= 5
    for j in several:
        assert sum(share for *_, share in j.window) == pytest.approx(1.0)
        assert j.window[0][2] == max(share for *_, share in j.window)
    rows = several[0].row(300, 8)["window"]
    assert rows[0].keys() == {"from", "to", "share"}


def test_too_few_models_in_many_draws_is_a_reason() -> None:
    w = token_world(np.random.default_rng(3), points=5, items=200, rise=5.0, lengths=1, start=1.0, noise=0.02)
    panel = panel_of(w)
    hard = panel.values["hard"].copy()
    hard[2] = np.arange(200) < 189  # .945: about as many draws lie above .95 as below
    told = judge(replace(panel, values=panel.values | {"hard": hard}), Hard("hard"), twins_of(w), replicates=200)
    assert "fewer than 4 models between floor and ceiling" in told.reason
