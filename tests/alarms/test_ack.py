"""What people decide: acknowledged with a reason, muted until a day; and who is meant by an id."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from foreshock._base import ConfigError
from foreshock.alarms import acknowledge, mute, read_memory, take_look
from foreshock.alarms._ack import find_alarm
from foreshock.alarms._mute import muted_until
from foreshock.store import Store
from tests.alarms._seen import seen

LEVEL = 0.05


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One series that fires and one that does not."""
    store = Store.open(tmp_path / "store", create=True)
    take_look(store, [seen("a", 12, p=1e-4, state="firing"), seen("b", 12)], LEVEL)
    return store


def test_an_alarm_that_fires_is_acknowledged_once(store: Store) -> None:
    name = seen("a", 12).look.id
    ack = acknowledge(store, name[:5], "  a new scorer ")
    assert (ack.id, ack.baseline, ack.label, ack.reason) == (name, 12.0, "m12", "  a new scorer ")
    assert acknowledge(store, name, "once more") == ack
    assert [entry.value["reason"] for entry in store.stream("alarms").read()] == ["  a new scorer "]
    assert read_memory(store).ack(name) == ack
    # it fires again, on other data: that is another alarm
    take_look(store, [seen("a", 13, p=1e-4, state="firing")], LEVEL)
    assert acknowledge(store, name, "again").baseline == 13.0
    assert read_memory(store).ack(name).baseline == 13.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("b", "why", "nothing to acknowledge"),
        ("a", "  ", "no reason"),
        ("nobody", "why", "no alarm 'nobody'"),
    ],
)
def test_what_cannot_be_acknowledged(store: Store, name: str, reason: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        acknowledge(store, seen(name, 12).look.id if len(name) == 1 else name, reason)
    assert store.stream("alarms").read() == []


def test_a_beginning_means_one_alarm_or_none() -> None:
    from msgspec.structs import replace

    ones = [replace(seen("a", 9).look, id=name) for name in ("abcd1111", "abcd2222")]
    assert find_alarm(ones, "abcd1") is ones[0]
    for name, said in (("abcd", "beginning of 2"), ("abc", "no alarm"), ("", "no alarm"), ("x" * 5000, "no alarm")):
        with pytest.raises(ConfigError, match=said):
            find_alarm(ones, name)


def test_a_mute_holds_to_its_day_and_the_last_one_counts(store: Store) -> None:
    name = seen("b", 12).look.id
    mute(store, name, "2027-01-31", "later")
    memory = read_memory(store)
    assert muted_until(memory, {}, name, date(2027, 1, 31)) == "2027-01-31"
    assert muted_until(memory, {}, name, date(2027, 2, 1)) is None
    assert muted_until(memory, {}, seen("a", 12).look.id, date(2027, 1, 1)) is None
    mute(store, name, "2026-01-01")
    assert muted_until(read_memory(store), {}, name, date(2026, 6, 1)) is None
    # the configuration mutes as well, by the beginning of an id, and the later day counts
    assert muted_until(read_memory(store), {name[:6]: "2026-12-31"}, name, date(2026, 6, 1)) == "2026-12-31"
    assert muted_until(read_memory(store), {name[:2]: "2026-12-31"}, name, date(2026, 6, 1)) is None
    with pytest.raises(ConfigError, match="no day"):
        mute(store, name, "soon")
