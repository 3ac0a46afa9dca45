"""Inspect logs with values that no writer of good faith puts there: one sample suffers, not the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import _inspect_sample
from foreshock.records import RunStatus

from ._logs import maker, read, read_all, small, write_eval
from ._read import read_one

BAD = "samples/2_epoch_1.json"


def with_sample(**fields: Any) -> dict[str, Any]:
    return {**small(), BAD: {**maker.sample(2, 1), **fields}}


@pytest.mark.parametrize("levels", [150, 250, 495, 700, 900])
def test_deep_nesting_beside_nan_loses_the_field_alone(tmp_path: Path, levels: int) -> None:
    deep: Any = float("nan")
    for _ in range(levels):
        deep = [deep]
    got = read(write_eval(tmp_path / "a.eval", with_sample(metadata={"x": deep})))
    before, there, after = (r["delivery"] for r in got.responses)
    assert (before, after) == ("ok", "ok")
    assert there == "ok" or levels > 500  # the recursion limit, of which the callers take their part
    assert levels < 200 or any("metadata" in w or "nested too deeply" in w for w in got.run.warnings)


def test_a_deep_score_is_no_number(tmp_path: Path) -> None:
    for levels in (150, 300, 700, 900):
        deep: Any = 1
        for _ in range(levels):
            deep = [deep]
        got = read(write_eval(tmp_path / "a.eval", with_sample(scores={"s": {"value": deep}})))
        assert [r["delivery"] for r in got.responses][::2] == ["ok", "ok"]
        assert len(got.responses) == 3


@pytest.mark.parametrize("odd", [None, True, [], {}, 1.5])
def test_a_sample_without_a_usable_id_goes_by_its_place(tmp_path: Path, odd: Any) -> None:
    got = read(write_eval(tmp_path / "a.eval", with_sample(id=odd)))
    assert [r["delivery"] for r in got.responses] == ["ok"] * 3
    found = got.ids()[1][0]
    assert found == ("1.5" if odd == 1.5 else "2")
    assert None not in [i["item_id"] for i in got.items]
    assert odd == 1.5 or any("1 sample(s) have no usable id" in w and BAD in w for w in got.run.warnings)


def test_integers_beyond_64_bits_become_null_with_a_note(tmp_path: Path) -> None:
    usage = {"input_tokens": 2**64, "output_tokens": 3}
    event = {"event": "model", "output": {"choices": [{"message": {"id": "m"}}], "usage": {"output_tokens": 2**70}}}
    messages = [{"role": "assistant", "id": "m", "content": "x"}]
    changed = {"epoch": 2**63, "model_usage": {"org/model": usage}, "events": [event], "messages": messages}
    sample = {**maker.sample(2, 1), **changed, "output": {**maker.sample(2, 1)["output"], "usage": usage}}
    got = read(write_eval(tmp_path / "a.eval", {**small(), BAD: sample}))
    row = got.responses[1]
    assert (row["epoch"], row["input_tokens"], row["output_tokens"]) == (None, None, 3)
    (turn,) = [t for t in got.trace if t["row"] == 1 and t["kind"] == "turn"]
    assert (turn["tokens"], turn["unit"]) == (1, "characters")
    assert any("more than 64 bits" in w for w in got.run.warnings)


def test_a_fault_in_one_sample_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = _inspect_sample.note_facts

    def faulty(sample: Any, meta: Any) -> None:
        if sample.id == 2:
            raise ZeroDivisionError("a fault of ours")
        real(sample, meta)

    monkeypatch.setattr(_inspect_sample, "note_facts", faulty)
    got = read(write_eval(tmp_path / "a.eval", small()))
    assert got.ids() == [("1", 1), ("2", 1), ("3", 1)]
    assert [r["delivery"] for r in got.responses] == ["ok", "missing", "ok"]
    assert {s["row"] for s in got.scores} == {t["row"] for t in got.trace} == {0, 2}
    assert [r["row"] for r in got.responses] == [0, 1, 2]
    assert got.run.status == RunStatus.PARTIAL
    (told,) = [w for w in got.run.warnings if "cannot be read" in w]
    assert "unexpected ZeroDivisionError: a fault of ours; please report it" not in told  # one clause of it
    assert "unexpected ZeroDivisionError: a fault of ours" in told
    assert not any("repeat an id" in w for w in got.run.warnings)


def test_member_names_that_are_not_utf8(tmp_path: Path) -> None:
    name = b"samples/\xd2\xff_epoch_1.json".decode("utf-8", "surrogateescape")
    path = write_eval(tmp_path / "a.eval", {**small(), "samples/XX_epoch_1.json": b"{bad"})
    path.write_bytes(path.read_bytes().replace(b"samples/XX", b"samples/\xd2\xff"))
    got = read(path)
    assert [r["delivery"] for r in got.responses] == ["ok", "ok", "ok", "missing"]
    assert got.metas()[3]["member"] == name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@pytest.mark.parametrize("whole_first", [True, False])
def test_a_sample_that_is_whole_and_in_pieces_counts_as_repeated(tmp_path: Path, whole_first: bool) -> None:
    pieces = {f"{BAD}/sample.json": {**maker.sample(2, 1), "uuid": "pieces"}}
    whole = {BAD: {**maker.sample(2, 1), "uuid": "whole"}}
    others = {name: value for name, value in small().items() if name != BAD}
    members = {**whole, **pieces, **others} if whole_first else {**pieces, **whole, **others}
    got = read(write_eval(tmp_path / "a.eval", members))
    assert sorted(got.ids()) == [("1", 1), ("2", 1), ("3", 1)]
    (read_as,) = [m for m in got.metas() if m.get("uuid") in ("whole", "pieces")]
    assert read_as["uuid"] == "whole"
    assert any("replaced by a later one" in w and BAD in w for w in got.run.warnings)


def test_an_endless_id_is_bounded(tmp_path: Path) -> None:
    ids = ["x" * 20_000 + end for end in "ab"]
    members = small(2, dataset={"name": "d", "samples": 2, "sample_ids": [*ids, "c"]})
    for number, long in enumerate(ids, 1):
        members[f"samples/{number}_epoch_1.json"] = {**maker.sample(number, 1), "id": long}
    got = read(write_eval(tmp_path / "a.eval", members))
    found = [r["item_id"] for r in got.responses]
    assert len(set(found)) == 2
    assert all(len(i) < 300 and i.startswith("xxx") for i in found)
    assert got.run.meta.get("absent_ids", [["c", 1]]) == [["c", 1]]


def test_why_a_header_cannot_be_read(tmp_path: Path) -> None:
    members = {**small(), "header.json": b"{bad", "_journal/start.json": {"version": 2}}
    (error,) = read_all([write_eval(tmp_path / "a.eval", members)])
    assert "header.json: not valid JSON (line 1, column 2" in str(error)
    assert "_journal/start.json: no section eval" in str(error)


def test_aggregates_of_impossible_counts(tmp_path: Path) -> None:
    members = small()
    for score in members["header.json"]["results"]["scores"]:
        score["scored_samples"] = 2**70
    path = write_eval(tmp_path / "a.eval", members)
    found = read_one(path)
    assert set(found.column("aggregates", "n_scored")) == {None}
