"""The ledger: what a look keeps, what a repeated one costs, and whether rates hold over suites of series."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.special import ndtr

from foreshock._base import StoreError
from foreshock.alarms._account import account
from foreshock.alarms._ledger import adjusted, decide, new_p, take_look
from foreshock.alarms._looks import Look
from foreshock.alarms._online import e_of_p, early, lord_level
from foreshock.alarms._state import Memory, read_memory
from foreshock.store import Store
from tests.alarms._seen import seen

LEVEL = 0.05


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def test_the_first_look_claims_nothing_and_spends_nothing(store: Store) -> None:
    told = take_look(store, [seen("a", 9, p=1e-6, state="firing")], LEVEL, release="r1")
    assert told.first
    assert told.sentence.startswith("first look")
    assert told.account.tested == ()
    assert told.account.shares == 0
    assert (told.rows()[0]["firing"], told.rows()[0]["kept"], told.rows()[0]["found"]) == (1, 1, [])
    assert told.q == {seen("a", 9).look.id: 1e-6}
    assert told.rows()[0]["release"] == "r1"
    assert told.budget()["lord_next_level"] == pytest.approx(lord_level(LEVEL, []))


def test_the_next_looks_get_the_levels_of_the_rules(store: Store) -> None:
    take_look(store, [seen("a", 9), seen("b", 9)], LEVEL)
    second = take_look(store, [seen("a", 10, p=0.3), seen("b", 10, p=0.9)], LEVEL)
    assert not second.first
    assert [row["lord_level"] for row in second.rows()] == [None, pytest.approx(lord_level(LEVEL, []))]
    # Simes over the two new points
    assert second.rows()[1]["p"] == pytest.approx(0.6)
    third = take_look(store, [seen("a", 11, p=1e-9, state="firing"), seen("b", 11, p=0.9)], LEVEL)
    assert third.rows()[2]["discovery"]
    assert third.rows()[2]["found"] == [seen("a", 11).look.id]
    assert third.q[seen("a", 11).look.id] == pytest.approx(2e-9)
    assert third.rows()[2]["e_lond_share"] == pytest.approx(early(2))
    assert third.rows()[2]["counted"] == [seen("a", 11).look.id]
    assert third.budget()["lord_discoveries"] == 1
    assert third.budget()["e_lond_next_level"] == pytest.approx(LEVEL * early(3) * 2)
    assert "e-LOND counts 1 series" in third.sentence
    assert "LORD++ finds something at 1 of 2 looks" in third.sentence


def test_a_counted_alarm_is_not_counted_again_until_its_baseline_changes(store: Store) -> None:
    take_look(store, [seen("a", 9)], LEVEL)
    for points in (10, 11):
        take_look(store, [seen("a", points, p=1e-9, state="firing")], LEVEL)
    assert [len(row["counted"]) for row in take_look(store, [], LEVEL).rows()] == [0, 1, 0]
    take_look(store, [seen("a", 9, baseline=11.0)], LEVEL)
    last = take_look(store, [seen("a", 10, baseline=11.0, p=1e-9, state="firing")], LEVEL)
    assert last.rows()[-1]["counted"] == [seen("a", 10).look.id]


def test_a_repeated_look_spends_nothing(store: Store) -> None:
    take_look(store, [seen("a", 9)], LEVEL)
    once = take_look(store, [seen("a", 10)], LEVEL)
    before = [path.read_bytes() for path in sorted((store.folder / "state" / "ledger").iterdir())]
    again = take_look(store, [seen("a", 10)], LEVEL)
    assert again.repeated
    assert again.budget() | {"repeated": False} == once.budget()
    assert [path.read_bytes() for path in sorted((store.folder / "state" / "ledger").iterdir())] == before
    # of two series only the one with new data is a look
    more = take_look(store, [seen("a", 10), seen("b", 9)], LEVEL)
    assert [one.task for one in more.looks[-1].series] == ["b"]


def test_new_points_are_told_from_those_that_were_looked_at() -> None:
    before = seen("a", 9).look
    assert new_p(seen("a", 10, point_p=(0.001, 0.2)), before) == 0.2
    far = seen("a", 12, point_p=(0.001, 0.5, 0.1, 0.4))._replace(prefix=before.prefix)
    assert new_p(far, before) == pytest.approx(0.3)
    assert new_p(seen("a", 10), None) is None
    assert new_p(seen("a", 10)._replace(prefix="0" * 16), before) is None  # an old point was measured anew
    assert new_p(seen("a", 10, baseline=3.0), before) is None
    assert new_p(seen("a", 10, p=None)._replace(point_p=()), before) is None


def test_series_without_a_guarantee_are_seen_and_take_no_part() -> None:
    told = decide(Memory(), [seen("a", 9, p=None, state="firing"), seen("b", 9, p=0.04)], LEVEL)
    assert told.q == {seen("b", 9).look.id: 0.04}
    assert [one.e is None for one in told.looks[0].series if one.task == "a"] == [True]


def test_adjusted_is_benjamini_hochberg() -> None:
    found = adjusted([seen("a", 9, p=0.01), seen("b", 9, p=0.02), seen("c", 9, p=0.5), seen("d", 9, p=None)])
    assert sorted(found.values()) == pytest.approx([0.03, 0.03, 0.5])


def test_what_counts_is_decided_by_the_look_before(store: Store) -> None:
    """A guarantee that the new points withdraw does not take them out, nor does one that they give bring them in."""
    take_look(store, [seen("a", 9), seen("b", 9, p=None)], LEVEL)
    told = take_look(store, [seen("a", 10, p=None, point_p=(1e-9,)), seen("b", 10, p=1e-9)], LEVEL)
    assert told.rows()[1]["found"] == [seen("a", 10).look.id]
    assert told.rows()[1]["p"] == 1e-9


def test_an_altered_record_is_seen(store: Store) -> None:
    for points in (9, 10, 11):
        take_look(store, [seen("a", points)], LEVEL)
    record = store.folder / "state" / "ledger" / "1.json"
    record.write_bytes(record.read_bytes().replace(b'"points":10', b'"points":99'))
    with pytest.raises(StoreError, match="record"):
        take_look(store, [seen("a", 12)], LEVEL)


def test_what_is_no_look_is_refused(store: Store) -> None:
    store.stream("ledger").append({"type": "look", "seq": -1})
    with pytest.raises(StoreError, match="no event of an alarm"):
        read_memory(store)


def _append(folder: Path, name: str) -> int:
    store = Store.open(folder)
    for points in range(9, 14):
        take_look(store, [seen(name, points)], LEVEL)
    return 5


def test_two_processes_append(store: Store) -> None:
    with ProcessPoolExecutor(2) as pool:
        assert sum(pool.map(_append, [store.folder] * 2, ["a", "b"])) == 10
    memory = read_memory(store)
    assert len(memory.looks) == 10
    # every look knew all before it: no place in the order is taken twice, and only one was the first
    assert [look.seq for look in memory.looks] == list(range(10))
    assert [look.first for look in memory.looks] == [True] + [False] * 9


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_the_rate_holds_over_series_and_looks(shared: float) -> None:
    """Twelve series, twenty looks, nothing ever happens: with one common shock at each look, and with none."""
    rng, worlds, series, looks = np.random.default_rng(1), 150, 12, 20
    shock = np.sqrt(shared) * rng.normal(size=(worlds, looks, 1))
    p = 2 * ndtr(-np.abs(shock + np.sqrt(1 - shared) * rng.normal(size=(worlds, looks, series))))
    # what a running maximum over so many looks has: valid at whichever look one stops
    over = 1 - (1 - np.minimum.accumulate(p, axis=1)) ** looks
    simes = (np.sort(p, axis=2) * series / np.arange(1, series + 1)).min(axis=2)
    e = e_of_p(over)
    template = [seen(f"s{i}", 9).look for i in range(series)]
    counted, found = [], []
    for world in range(worlds):
        told = [
            Look(
                seq=t,
                at="2026-01-01",
                level=LEVEL,
                first=t == 0,
                series=[replace(one, e=float(e[world, t, i])) for i, one in enumerate(template)],
                p=float(simes[world, t]),
            )
            for t in range(looks)
        ]
        entries = account(told, LEVEL).entries
        counted.append(any(entry.counted for entry in entries))
        found.append(any(entry.discovery for entry in entries))
    assert np.mean(counted) <= LEVEL
    # independent over looks, so LORD++ keeps its rate whatever hangs together within one
    assert np.mean(found) <= LEVEL + 2 * np.sqrt(LEVEL / worlds)


def test_a_planted_break_is_counted_among_many() -> None:
    looks: list[Look] = []
    for points in range(9, 15):
        ones = [seen(f"s{i}", points, p=0.3 + i / 100) for i in range(20)]
        ones.append(seen("broken", points, p=1e-12 if points >= 12 else 0.4, state="firing" if points >= 12 else "ok"))
        told = decide(Memory(tuple(looks), clock=len(looks) - 1), ones, LEVEL)
        assert told.look is not None
        looks.append(told.look)
    rows = account(looks, LEVEL).entries
    assert [len(entry.counted) for entry in rows] == [0, 0, 0, 1, 0, 0]
    assert [entry.discovery for entry in rows] == [False, False, False, True, True, True]
