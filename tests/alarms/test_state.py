"""The memory of alarms: carried in a file, laid together, and refused where it is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import BrokenFileError, ConfigError, ForeshockError, digest
from foreshock.alarms import _state as state
from foreshock.alarms._ledger import take_look
from foreshock.alarms._mute import mute
from foreshock.alarms._state import export_state, import_state, read_memory
from foreshock.store import Store
from tests.alarms._seen import seen

LEVEL = 0.05


def new(folder: Path) -> Store:
    return Store.open(folder, create=True)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """State after two looks at two series."""
    store = new(tmp_path / "base")
    for points in (9, 10):
        take_look(store, [seen("a", points), seen("b", points)], LEVEL)
    export_state(store, tmp_path / "base.json")
    return tmp_path / "base.json"


def branch(base: Path, folder: Path, name: str) -> tuple[Store, Path]:
    """The base with a look of its own, and one that the other branch makes as well."""
    store = new(folder)
    import_state(store, base)
    take_look(store, [seen("a", 11)], LEVEL)
    take_look(store, [seen(name, 9)], LEVEL)
    take_look(store, [seen(name, 10, p=1e-9, state="firing")], LEVEL)
    export_state(store, folder.with_suffix(".json"))
    return store, folder.with_suffix(".json")


def test_what_goes_out_comes_in(base: Path, tmp_path: Path) -> None:
    store = new(tmp_path / "other")
    assert import_state(store, base) == 2
    assert import_state(store, base) == 0
    assert export_state(store, tmp_path / "again.json") == 2
    assert (tmp_path / "again.json").read_bytes() == base.read_bytes()
    # the memory is there: the next look is none without a past
    assert not take_look(store, [seen("a", 11)], LEVEL).first
    assert take_look(new(tmp_path / "empty"), [seen("a", 11)], LEVEL).first


def test_two_branches_are_laid_together_whichever_comes_first(base: Path, tmp_path: Path) -> None:
    left, left_file = branch(base, tmp_path / "left", "c")
    right, right_file = branch(base, tmp_path / "right", "d")
    import_state(left, right_file)
    import_state(right, left_file)
    one, other = read_memory(left), read_memory(right)
    assert one.looks == other.looks
    export_state(left, tmp_path / "1.json")
    export_state(right, tmp_path / "2.json")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    assert import_state(left, right_file) == 0
    # both looked at the same eleventh point of a: it is one look
    assert sum(one.points == 11 for look in one.looks for one in look.series) == 1
    keys = [one.key for look in one.looks for one in look.series]
    assert len(keys) == len(set(keys))
    # nothing that either knew is lost, and the account is that of one ledger
    assert {one.task for look in one.looks for one in look.series} == {"a", "b", "c", "d"}
    told = take_look(left, [], LEVEL)
    assert told.account == take_look(right, [], LEVEL).account
    assert len(told.account.counted) == 2


def test_a_file_that_is_there_is_kept_and_joined(base: Path, tmp_path: Path) -> None:
    _, left = branch(base, tmp_path / "left", "c")
    right, _ = branch(base, tmp_path / "right", "d")
    export_state(right, left)
    tasks = {one["task"] for event in json.loads(left.read_text())["events"] for one in event["series"]}
    assert tasks == {"a", "b", "c", "d"}


def test_what_people_decided_travels_too(base: Path, tmp_path: Path) -> None:
    store = new(tmp_path / "one")
    import_state(store, base)
    mute(store, seen("a", 9).look.id, "2999-01-01", "known")
    export_state(store, base)
    other = new(tmp_path / "two")
    import_state(other, base)
    found = read_memory(other).mute(seen("a", 9).look.id)
    assert found is not None
    assert found.reason == "known"


def written(path: Path, change: Any = None, **fields: Any) -> Path:
    """The file with its events changed and a hash that fits them again, or other fields."""
    told = json.loads(path.read_text())
    if change is not None:
        change(told["events"])
        told["sha256"] = digest(told["events"])
    path.write_text(json.dumps({**told, **fields}))
    return path


def test_an_altered_file_is_seen(base: Path, tmp_path: Path) -> None:
    base.write_bytes(base.read_bytes().replace(b'"points": 10', b'"points": 11'))
    with pytest.raises(BrokenFileError, match="cut off or altered"):
        import_state(new(tmp_path / "other"), base)


HOSTILE = {
    "another file": {"format": "else"},
    "a later version": {"version": 2},
    "no list": {"events": {}},
    "more": {"surprise": 1},
}


@pytest.mark.parametrize("fields", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_is_none_is_refused(base: Path, tmp_path: Path, fields: dict[str, Any]) -> None:
    store = new(tmp_path / "other")
    with pytest.raises(BrokenFileError, match="--state"):
        import_state(store, written(base, **fields))
    assert read_memory(store).looks == ()


def first(**fields: Any) -> Any:
    return lambda events: events[0].update(fields)


def series(**fields: Any) -> Any:
    return lambda events: events[0]["series"][0].update(fields)


IMPOSSIBLE = {
    "place": first(seq=-1),
    "level": first(level=1.5),
    "moment": first(at="yesterday"),
    "long": first(release="x" * 501),
    "one p": first(p=0.01),
    "kind": first(type="other"),
    "unknown": first(also=1),
    "p": series(p=1.1),
    "state": series(state="green"),
    "id": series(id="../../etc"),
    "name": series(task="x" * 501),
    "number": series(points=1e300),
    "mute": lambda events: events.append({"type": "mute", "seq": 9, "at": "2026-01-01", "id": "0" * 12, "until": "x"}),
}


@pytest.mark.parametrize("change", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_event_can_say_is_refused(base: Path, tmp_path: Path, change: Any) -> None:
    store = new(tmp_path / "other")
    with pytest.raises(BrokenFileError):
        import_state(store, written(base, change))
    assert read_memory(store).looks == ()


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[" * 100_000, b'{"format":', b"null"])
def test_bytes_that_are_nothing_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "state.json").write_bytes(data)
    with pytest.raises(BrokenFileError):
        import_state(new(tmp_path / "store"), tmp_path / "state.json")


def test_a_file_too_large_is_not_read(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foreshock.alarms._state_file.MOST_BYTES", 100)
    with pytest.raises(BrokenFileError, match="more than"):
        import_state(new(tmp_path / "store"), base)


def test_places_that_cannot_be_written_or_read(base: Path, tmp_path: Path) -> None:
    store = new(tmp_path / "store")
    with pytest.raises(ConfigError, match="cannot write"):
        export_state(store, tmp_path / "no" / "state.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        import_state(store, tmp_path / "absent.json")
    assert not list(tmp_path.glob(".*draft"))
    assert issubclass(BrokenFileError, ForeshockError)
    assert state.MOST_BYTES > 2**20


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ConfigError, match="not a regular file"):
        import_state(new(tmp_path / "s"), tmp_path / "pipe")


def test_a_file_with_the_last_place_in_the_order_does_not_end_the_memory(base: Path, tmp_path: Path) -> None:
    told = json.loads(base.read_text("utf-8"))
    told["events"][-1]["seq"] = 1_000_000_000
    told["sha256"] = digest(told["events"])
    base.write_text(json.dumps(told), "utf-8")
    store = new(tmp_path / "s")
    import_state(store, base)
    name = told["events"][-1]["series"][0]["id"]
    mute(store, name, "2999-01-01")
    mute(store, name, "2999-02-01")
    kept = read_memory(store).mute(name)
    assert kept is not None
    assert kept.seq == 1_000_000_000
