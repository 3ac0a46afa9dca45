"""Axes as strangers give them: huge, tiny, crowded, infinite. A verdict comes of it, and no warning of arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from foreshock.mirage import Entry, Hard, Twin, judge, judge_family
from foreshock.mirage._design import places
from foreshock.mirage._prepare import orderly
from foreshock.series import Panel
from foreshock.simulate import token_world

AXES = {
    "huge": [1e3, 1e100, 1e200, 1e250, 1e300, 1.7e308],
    "tiny": [5e-324, 1e-320, 1e-310, 1e-300, 1.0, 2.0],
    "crowded": [1.0, 1.0000001, 1.0000002, 1e12, 1e13, 1e14],
    "from below nothing": [-1e308, -1.0, 0.0, 1.0, 5.0, 1e308],
    "infinite": [1.0, 2.0, 3.0, 4.0, 5.0, np.inf],
    "unknown": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan],
    "one place": [2.0] * 6,
}


def panel(x: list[float], *, log: bool, trajectory: bool = False) -> Panel:
    world = token_world(np.random.default_rng(1), points=len(x), items=40, lengths=4)
    return Panel(
        task="t",
        family="f",
        axis="parameters",
        axis_known=True,
        log_axis=log,
        points=tuple(f"m{i}" for i in range(len(x))),
        x=np.array(x),
        items=tuple(map(str, range(40))),
        values={"hard": world.hard, **world.twins},
        trajectory=trajectory,
    )


TWINS = (Twin("gold_logprob", "gold_logprob", tokens=4.0),)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("log", [True, False])
def test_no_axis_makes_arithmetic_fail(name: str, log: bool) -> None:
    made = panel(AXES[name], log=log)
    told = judge(made, Hard("hard"), list(TWINS), replicates=200)
    assert told.verdict in ("smooth", "mirage", "break", "unresolved")
    judge_family([Entry(made, Hard("hard"), TWINS)] * 2, replicates=200)


def test_points_closer_than_the_axis_can_show_stand_at_one_place() -> None:
    made, notes, groups = orderly(panel(AXES["crowded"], log=True))
    assert made.points == ("m0 + m1 + m2", "m3", "m4", "m5")
    assert [g.tolist() for g in groups] == [[0, 1, 2], [3], [4], [5]]
    assert notes == ["6 points stand at 4 places; those at one place count as replicates"]
    assert [r.size for r in made.replicates["hard"]] == [3, 1, 1, 1]
    assert np.allclose(made.values["hard"][0], panel(AXES["crowded"], log=True).values["hard"][:3].mean(axis=0))


def test_checkpoints_at_one_place_are_no_replicates() -> None:
    made, notes, _ = orderly(panel(AXES["crowded"], log=True, trajectory=True))
    assert [r.size for r in made.replicates["hard"]] == [1, 1, 1, 1]
    assert notes == ["6 points stand at 4 places; those at one place count as one point"]


def test_what_has_no_place_is_left_out_and_said() -> None:
    made, notes, groups = orderly(panel([0.0, 1.0, 2.0, 4.0, 8.0, np.inf], log=True))
    assert made.points == ("m1", "m2", "m3", "m4")
    assert [g.tolist() for g in groups] == [[1], [2], [3], [4]]
    assert notes == [
        "1 point without a finite place on the axis left out",
        "1 point at or below 0 left out of a log axis",
    ]


def test_an_ordinary_ladder_stays_as_it_is() -> None:
    plain = panel([7e7, 1.6e8, 4.1e8, 1e9, 1.4e9, 2.8e9], log=True)
    made, notes, _ = orderly(plain)
    assert made is plain
    assert notes == []
    assert np.unique(places(plain.x, log=True)).size == 6
    assert orderly(replace(plain, log_axis=False))[1] == []
