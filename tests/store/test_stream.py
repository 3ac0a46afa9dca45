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
