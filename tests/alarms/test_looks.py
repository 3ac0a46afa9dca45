"""Keys of looks: the same for the same data, another for anything that a decision hangs on."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.alarms._looks import LONGEST, Ack, Look, cut, event_id, look_key, prefix_of
from foreshock.alarms._state import memory_of
from foreshock.curves import Curve
from tests.alarms._seen import seen


def curve(**fields: object) -> Curve:
    told = {"x": np.arange(5.0), "y": np.linspace(0.2, 0.4, 5), "low": 0.0, "high": 1.0, "log_x": False}
    return Curve(**{**told, **fields})  # type: ignore[arg-type]


def test_the_same_data_have_the_same_key_whatever_they_are_called() -> None:
    assert look_key("s", curve(), None) == look_key("s", curve(name="other", group="g"), None)


@pytest.mark.parametrize(
    "other",
    [
        ("t", curve(), None),
        ("s", curve(y=np.linspace(0.2, 0.41, 5)), None),
        ("s", curve(x=np.arange(5.0) + 1), None),
        ("s", curve(items=np.full(5, 100.0)), None),
        ("s", curve(high=None), None),
        ("s", curve(), 2.0),
        ("s", curve(), None, "twin"),
    ],
)
def test_other_data_have_another_key(other: tuple[str, Curve, float | None]) -> None:
    assert look_key(*other) != look_key("s", curve(), None)


def test_a_prefix_is_of_the_first_points_only() -> None:
    changed = curve(y=np.r_[curve().y[:4], 0.9])
    assert prefix_of(curve(), 4) == prefix_of(changed, 4)
    assert prefix_of(curve(), 5) != prefix_of(changed, 5)


def test_the_earliest_look_at_the_same_data_counts() -> None:
    def look(seq: int, at: str, *names: str) -> Look:
        return Look(seq=seq, at=at, level=0.05, series=[seen(name, 9).look for name in names])

    early, late = look(0, "2026-01-01T00:00:00Z", "a"), look(1, "2026-01-01T00:00:00Z", "a", "b")
    for events in ([early, late], [late, early], [late, early, late]):
        told = memory_of(events)
        assert [[one.task for one in each.series] for each in told.looks] == [["a"], ["b"]]
        assert told.clock == 1
    assert [len(each.series) for each in memory_of([late, look(2, "2026-01-01T00:00:00Z", "b")]).looks] == [2]
    # the same place in the order: the moment decides, then the content
    one, other = look(5, "2026-01-02T00:00:00Z", "a"), look(5, "2026-01-01T00:00:00Z", "b")
    assert [each.at[:10] for each in memory_of([one, other]).looks] == ["2026-01-02", "2026-01-01"][::-1]


def test_events_are_told_apart_by_all_they_say() -> None:
    ack = Ack(seq=1, at="2026-01-01", id="0" * 12, baseline=3.0, label="m3", key="0" * 16, reason="why")
    again = Ack(seq=1, at="2026-01-01", id="0" * 12, baseline=3.0, label="m3", key="0" * 16, reason="because")
    assert event_id(ack) != event_id(again)
    assert memory_of([ack, again, ack]).ack("0" * 12) is not None


def test_names_are_cut() -> None:
    assert len(cut("x" * 10_000)) == LONGEST
    assert cut("short") == "short"
