from __future__ import annotations

import pytest

from foreshock._base import StoreError
from foreshock.store import Store


def test_records_are_numbered_and_chained(store: Store) -> None:
    stream = store.stream("ledger")
    assert stream.read() == []
    written = [stream.append({"p": i / 10}) for i in range(3)]
    assert [entry.n for entry in written] == [0, 1, 2]
    assert store.stream("ledger").read() == written
    assert store.stream("alarms").read() == []


def test_append_after_what_was_read(store: Store) -> None:
    stream = store.stream("ledger")
    stream.append("first", after=-1)
    with pytest.raises(StoreError, match="came in between"):
        stream.append("second", after=-1)
    assert stream.append("second", after=0).n == 1


@pytest.mark.parametrize("name", ["", "../x", "a/b", "Ledger", "a b", "x" * 65])
def test_names_that_could_leave_the_folder_are_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="stream"):
        store.stream(name)


def test_altered_missing_and_torn_records_are_found(store: Store) -> None:
    stream = store.stream("ledger")
    for i in range(3):
        stream.append(i)
    folder = store.folder / "state" / "ledger"
    whole = (folder / "1.json").read_bytes()
    for data in (whole.replace(b'"value":1', b'"value":7'), whole[:-3], None):
        (folder / "1.json").unlink()
        if data is not None:
            (folder / "1.json").write_bytes(data)
        with pytest.raises(StoreError, match="record"):
            stream.read()
        with pytest.raises(StoreError, match="record"):
            stream.append(3)
        assert len(store.verify()) == 1
        (folder / "1.json").write_bytes(whole)
    assert [entry.value for entry in stream.read()] == [0, 1, 2]


def test_a_file_system_without_links_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    with pytest.raises(StoreError, match="hard links"):
        store.stream("ledger").append(1)
    assert list((store.folder / "tmp").iterdir()) == []


@pytest.mark.parametrize("deleted", [True, False])
def test_the_last_record_is_not_lost_or_altered_unseen(store: Store, deleted: bool) -> None:
    stream = store.stream("ledger")
    for i in range(3):
        stream.append(i)
    last = store.folder / "state" / "ledger" / "2.json"
    if deleted:
        last.unlink()
    else:
        last.write_bytes(last.read_bytes().replace(b'"value":2', b'"value":7'))
    for attempt in (stream.read, lambda: stream.append(3)):
        with pytest.raises(StoreError, match=r"2\.json.*head\.json"):
            attempt()
    assert len(store.verify()) == 1


def test_a_head_may_lag_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = store.stream("ledger")
    stream.append(0)
    head = store.folder / "state" / "ledger" / "head.json"
    old = head.read_bytes()
    stream.append(1)
    head.write_bytes(old)
    assert [entry.value for entry in stream.read()] == [0, 1]
    # an append whose head cannot be written has been made nevertheless

    def full(*_: object) -> None:
        raise StoreError("cannot write")

    monkeypatch.setattr("foreshock.store._stream.write_file", full)
    assert stream.append(2).n == 2
    # streams that an earlier version wrote have none
    head.unlink()
    assert [entry.value for entry in stream.read()] == [0, 1, 2]
    head.write_bytes(b"{")
    with pytest.raises(StoreError, match=r"head\.json"):
        stream.read()


@pytest.mark.parametrize("name", ["\u0663.json", "00.json", "notes.txt"])
def test_what_is_no_record_is_not_read_but_told(store: Store, name: str) -> None:
    store.stream("ledger").append(0)
    (store.folder / "state" / "ledger" / name).write_bytes(b"{}")
    assert store.stream("ledger").append(1).n == 1
    assert ["no record" in str(error) for error in store.verify()] == [True]


def test_a_folder_or_a_deep_value_in_place_of_a_record_is_told(store: Store) -> None:
    stream = store.stream("ledger")
    stream.append(0)
    folder = store.folder / "state" / "ledger"
    (folder / "1.json").mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        stream.read()
    (folder / "1.json").rmdir()
    (folder / "1.json").write_bytes(b'{"n":1,"previous":"","created":"","value":' + b"[" * 100_000)
    with pytest.raises(StoreError, match="not a record"):
        stream.append(1)
