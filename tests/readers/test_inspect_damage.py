"""Damaged, hostile and merely odd content: one message, the rest of the log read, nothing lost silently."""

from __future__ import annotations

import copy
import json
import math
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock._base import BrokenFileError, ForeshockError, ReadError
from foreshock.readers import _inspect_json, _inspect_log
from foreshock.records import TABLES, RunStatus

from ._logs import Read, candidate, maker, read, read_all, small, write_eval

BAD = "samples/2_epoch_1.json"


def deep(levels: int) -> bytes:
    return b'{"id": 2, "epoch": 1, "metadata": ' + b"[" * levels + b"]" * levels + b"}"


def spoilt(content: Any) -> dict[str, Any]:
    return {**small(), BAD: content}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "not valid JSON (line 1, column 1"),
        (b'{"id": 2, "epoch": 1, "input"', "not valid JSON (line 1"),
        (deep(1_000), "nested too deeply"),
        (deep(100_000), "nested too deeply"),
        (b'{"id": ' + b"9" * 5_000 + b"}", "not usable JSON"),
        (b"[1, 2]", "another shape"),
        (b"null", "another shape"),
        (b"\xff\xfe{\x00}\x00", "not valid JSON"),
        (b"PK\x03\x04", "not valid JSON"),
    ],
)
def test_one_bad_sample_leaves_the_others(tmp_path: Path, content: bytes, found: str) -> None:
    got = read(write_eval(tmp_path / "a.eval", spoilt(content)))
    assert got.ids() == [("1", 1), ("2", 1), ("3", 1)]  # named by the summaries
    assert [r["delivery"] for r in got.responses] == ["ok", "missing", "ok"]
    assert got.run.status == RunStatus.PARTIAL
    warning = got.run.warnings[0]
    assert warning.startswith(f"1 sample(s) cannot be read and are listed as missing: {BAD} (")
    assert found in warning
    assert got.metas()[1]["member"] == BAD
    assert [s["row"] for s in got.scores] == [0, 0, 2, 2]
    assert got.run.expected == len(got.responses)


def test_a_bad_sample_that_no_summary_names_has_no_id(tmp_path: Path) -> None:
    members = spoilt(b"{")
    members["summaries.json"] = b"[1, {"
    got = read(write_eval(tmp_path / "a.eval", members))
    assert (None, None) in got.ids()
    assert any("summaries.json (not valid JSON" in w for w in got.run.warnings)


def test_many_bad_samples_are_counted_and_three_are_named(tmp_path: Path) -> None:
    members = small(9)
    for n in range(1, 6):
        members[f"samples/{n}_epoch_1.json"] = b"{"
    got = read(write_eval(tmp_path / "a.eval", members))
    (warning,) = got.run.warnings
    assert warning.startswith("5 sample(s) cannot be read")
    assert warning.count("samples/") == 3
    assert warning.endswith(", …")
    assert [r["delivery"] for r in got.responses].count("missing") == 5


def test_a_checksum_that_does_not_match(tmp_path: Path) -> None:
    path = write_eval(tmp_path / "a.eval", small(), method=maker.STORED)
    data = path.read_bytes()
    at = data.index(b'"id": 2' if b'"id": 2' in data else b'"id":2')
    path.write_bytes(data[:at] + b'"id":8' + data[at + 6 :])
    got = read(path)
    assert "the checksum does not match" in got.run.warnings[0]
    assert got.ids() == [("1", 1), ("2", 1), ("3", 1)]


def test_a_bomb_among_the_samples(tmp_path: Path) -> None:
    members = spoilt(b'{"id": 2, "metadata": "' + bytes(64 * 2**20).replace(b"\0", b" ") + b'"}')
    path = write_eval(tmp_path / "a.eval", members)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        got = read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "expands" in got.run.warnings[0]
    assert len(got.responses) == 3
    assert peak < 4 * 2**20


@pytest.mark.parametrize("part", ["sample.json", "messages/0.json", "events/0.json", "attachments/0.json"])
def test_a_bad_piece_of_a_chunked_sample(tmp_path: Path, part: str) -> None:
    sample = maker.sample(2)
    messages, sample["message_refs"] = sample.pop("messages"), [[0, 3]]
    sample["input"] = "attachment://0"
    pieces = {"sample.json": sample, "messages/0.json": messages, "events/0.json": sample.pop("events")}
    pieces |= {"attachments/0.json": ["the question"], "metadata.json": b"{nonsense"}
    pieces[part] = b'[{"role": '
    members = {k: v for k, v in small().items() if k != BAD}
    members |= {f"samples/2_epoch_1/{k}": v for k, v in pieces.items()}
    got = read(write_eval(tmp_path / "a.eval", members))
    assert sorted(got.ids()) == [("1", 1), ("2", 1), ("3", 1)]
    assert any(f"samples/2_epoch_1/{part}" in w or "samples/2_epoch_1 (" in w for w in got.run.warnings)
    state = {r["item_id"]: r["delivery"] for r in got.responses}["2"]
    assert state == ("missing" if part == "sample.json" else "ok")


def test_a_chunked_sample_without_its_shell(tmp_path: Path) -> None:
    members = {**small(), "samples/x_epoch_1/messages/0.json": []}
    got = read(write_eval(tmp_path / "a.eval", members))
    assert "its sample.json is absent" in got.run.warnings[0]
    assert len(got.responses) == 4


@pytest.mark.parametrize("refs", [[[0, 10**18]], [[-(10**18), 3]], [[0]], [[3, 0]], [["a", 1]], 7, [[0, 3]] * 90_000])
def test_references_to_messages_that_are_not_there(tmp_path: Path, refs: Any) -> None:
    sample = {**maker.sample(2), "message_refs": refs}
    pieces = {"sample.json": sample, "messages/0.json": sample.pop("messages")}
    members = {k: v for k, v in small().items() if k != BAD}
    members |= {f"samples/2_epoch_1/{k}": v for k, v in pieces.items()}
    got = read(write_eval(tmp_path / "a.eval", members))
    assert len(got.responses) == 3


# Numbers that are not JSON


def test_nan_and_infinity_tokens(tmp_path: Path) -> None:
    members = small()
    members[BAD]["scores"]["match"]["value"] = math.nan
    members[BAD]["scores"]["includes"]["value"] = {"a": -math.inf, "b": 1.0}
    members[BAD]["metadata"] = {"loss": math.nan}
    members[BAD]["working_time"] = math.nan
    members["header.json"]["results"]["scores"][0]["metrics"]["accuracy"]["value"] = math.nan
    for name, write in {"a.eval": write_eval, "a.json": write_json}.items():
        got = read(write(tmp_path / name, members))
        rows = [(s["metric_id"], s["value"], s["status"], s["label"]) for s in got.scores if s["row"] == 1]
        assert rows == [
            ("match", None, "failed", "NaN"),
            ("includes/a", None, "failed", "-Infinity"),
            ("includes/b", 1.0, "scored", None),
        ]
        assert got.responses[1]["seconds"] is None
        assert got.metas()[1]["metadata"] == {"loss": None}
        assert got.responses[1]["output"] == members[BAD]["output"]["completion"]
        assert [a["value"] for a in got.aggregates] == [None, 0.5]
        assert len(got.run.warnings) == 2
        assert got.run.status == RunStatus.COMPLETE
        assert no_nan(got)


def write_json(path: Path, members: dict[str, Any]) -> Path:
    samples = [v for k, v in members.items() if k.startswith("samples/")]
    path.write_text(json.dumps({**members["header.json"], "samples": samples}), "utf-8")
    return path


def no_nan(got: Read) -> bool:
    values = [v for rows in got.tables.values() for row in rows for v in row.values()]
    return all(math.isfinite(v) for v in values if isinstance(v, float))


# Text


def test_broken_text_is_repaired_and_said(tmp_path: Path) -> None:
    plain = json.dumps(maker.sample(2))
    for old, new in ((b'"mes', b'"\xff\xfe": 1, "mes'), (b'"comp', b'"x": "\\ud83d", "comp')):
        got = read(write_eval(tmp_path / "a.eval", spoilt(plain.encode().replace(old, new, 1))))
        assert got.ids() == [("1", 1), ("2", 1), ("3", 1)]
    content = plain.replace("ANSWER:", "ANSWER\\udc00:").encode()
    got = read(write_eval(tmp_path / "a.eval", spoilt(content)))
    assert "ANSWER\ufffd:" in got.responses[1]["output"]
    content = plain.encode().replace(b"ANSWER:", b"ANSWER\xe9:")
    got = read(write_eval(tmp_path / "a.eval", spoilt(content)))
    assert "ANSWER\ufffd:" in got.responses[1]["output"]
    assert any("not UTF-8 (repaired)" in w for w in got.run.warnings)
    assert all(json.loads(r["meta"]) is not None for r in got.responses)


@pytest.mark.parametrize(("encoding", "found"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_json_in_another_encoding(tmp_path: Path, encoding: str, found: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps(maker.header(1)).encode(encoding))
    (error,) = read_all([path])
    assert isinstance(error, BrokenFileError)
    assert f"the file is {found}" in str(error)
    assert "iconv" in str(error)


# Files


def test_a_file_without_a_directory_is_partial(tmp_path: Path) -> None:
    got = read(write_eval(tmp_path / "a.eval", small(), directory=False))
    assert got.run.status == RunStatus.PARTIAL
    assert len(got.responses) == 3
    assert "no central directory" in got.run.warnings[0]
    assert "6 members were found" in got.run.warnings[0]


def test_a_file_cut_at_any_place_gives_what_is_whole(tmp_path: Path) -> None:
    members = small(4)
    data = write_eval(tmp_path / "a.eval", members).read_bytes()
    path = tmp_path / "cut.eval"
    seen = set()
    for stop in range(0, len(data), len(data) // 97):
        path.write_bytes(data[:stop])
        (got,) = read_all([path])
        if isinstance(got, ForeshockError):
            assert stop < data.index(b"samples/1_epoch_1.json") + 10
            assert str(path) in str(got)
            continue
        assert got.run.status == RunStatus.PARTIAL
        assert got.run.expected == 4
        assert got.run.meta.get("absent", 0) == 4 - len(got.responses)
        assert any("members were found by walking" in w for w in got.run.warnings)
        seen.add(len(got.responses))
    assert seen == {0, 1, 2, 3, 4}


def test_neither_header_nor_journal(tmp_path: Path) -> None:
    members = {k: v for k, v in small().items() if k.startswith("samples/")}
    path = write_eval(tmp_path / "a.eval", members)
    (error,) = read_all([path])
    assert isinstance(error, BrokenFileError)
    assert "model and task are not known" in str(error)
    assert "inspect log recover" in str(error)


def test_a_broken_header_falls_back_on_the_journal(tmp_path: Path) -> None:
    got = read(write_eval(tmp_path / "a.eval", {**small(), "header.json": b'{"version": 2, "sta'}))
    assert got.run.status == RunStatus.STARTED
    assert got.run.model == "lab/model-1b"
    assert got.run.warnings[0].startswith("1 part(s) of the log's header are damaged: header.json (not valid JSON")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "not valid JSON"),
        (b"{}", "no section eval"),
        (b"[]", "not an object"),
        (b'{"version": 1, "status": ', "not valid JSON (line 1, column 26"),
        (b'{"eval": ' + b"[" * 5_000, "nested too deeply"),
        (b'{"eval": ' + b'{"a":' * 2_000 + b"1" + b"}" * 2_000 + b"}", "nested too deeply"),
        (b'{"eval": "x"}', "no section eval"),
        (b'{"eval": {"task": "\xe9"', "not valid JSON"),
        (b"PK\x05\x06" + bytes(18), "no whole member"),
        (b"PK\x03\x04", "no whole member"),
    ],
)
def test_files_that_are_no_logs(tmp_path: Path, content: bytes, found: str) -> None:
    path, good = tmp_path / "a.json", write_eval(tmp_path / "b.eval", small())
    path.write_bytes(content)
    error, got = read_all([path, good])
    assert isinstance(error, ReadError)
    assert str(error).startswith(str(path))
    assert found in str(error)
    assert "\n" not in str(error)
    assert isinstance(got, Read)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    from foreshock.readers._inspect import InspectReader
    from foreshock.readers._protocol import Failure, ReadOptions

    path = write_eval(tmp_path / "a.eval", small())
    gone = candidate(path)
    path.unlink()
    (found,) = InspectReader().read([gone], ReadOptions())
    assert isinstance(found, Failure)
    assert "No such file" in str(found.error)


def test_limits_are_said_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_json(tmp_path / "a.json", small())
    monkeypatch.setattr(_inspect_log, "MAX_JSON", 1_000)
    (error,) = read_all([path])
    assert "inspect log convert" in str(error)
    monkeypatch.setattr(_inspect_json, "MAX_SLOW", 1_000)
    members = small()
    members[BAD]["working_time"] = math.nan
    got = read(write_eval(tmp_path / "a.eval", members))
    assert "too large to repair" in got.run.warnings[0]


# Types


def test_odd_fields_are_left_out_and_named(tmp_path: Path) -> None:
    members = small()
    members[BAD] |= {
        "target": 7,
        "choices": ["a", 2, None],
        "error_retries": "none",
        "working_time": "long",
        "uuid": ["u"],
        "model_usage": {"lab/model-1b": {"output_tokens": "many", "input_tokens": 5.0}, "x": 3},
        "messages": [*members[BAD]["messages"], 3, {"role": "user", "content": {"a": 1}}],
    }
    got = read(write_eval(tmp_path / "a.eval", members))
    row, item = got.responses[1], got.items[1]
    assert (row["delivery"], row["output"]) == ("ok", members[BAD]["output"]["completion"])
    assert (row["input_tokens"], row["output_tokens"], row["seconds"]) == (5, None, None)
    assert (item["targets"], item["choices"]) == (["7"], ["a", "2"])
    (warning,) = got.run.warnings
    assert "unexpected type" in warning
    assert warning.startswith("8 field(s)")
    assert f"{BAD}: choices" in warning


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just("attachment://0"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from places(part, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    out = copy.deepcopy(value)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return out


def rich() -> dict[str, Any]:
    """A sample with every field that the reader looks at."""
    sample = maker.sample(2)
    part = {"type": "reasoning", "reasoning": "hm", "summary": "s", "redacted": False}
    call = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}
    sample["messages"] += [
        {"role": "assistant", "content": [part, {"type": "text", "text": "x", "refusal": False}], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "y", "error": {"type": "timeout", "message": "m"}},
    ]
    sample["input"] = [{"role": "user", "content": [{"type": "image", "image": "attachment://0"}]}]
    sample["choices"] = ["a", "b"]
    sample["limit"] = {"type": "token", "limit": 5.0, "reason": "r"}
    sample["error_retries"] = [{"message": "again"}]
    sample["invalidation"] = {"author": "a"}
    sample["score"] = {"value": "C"}
    sample["transcript"] = {"events": [{"event": "error", "error": {"message": "m"}}], "content": {"0": "text"}}
    sample["output"]["choices"][0]["logprobs"] = {"content": [{"token": "a", "logprob": -0.5}]}
    sample["events"] += [
        {"event": "tool", "id": "c1", "function": "bash", "working_time": 0.1, "error": None},
        {"event": "sample_limit", "type": "token", "message": "m"},
    ]
    return sample


RICH = rich()
PLACES = list(places(RICH))
HEADER = maker.header(3)
HEADER_PLACES = list(places(HEADER))


def check(got: Read) -> None:
    """Every value is one that its column can hold."""
    kinds = {"str": str, "int": int, "float": (int, float), "bool": bool, "list[str]": list, "list[float]": list}
    for table, rows in got.tables.items():
        columns = {c.name: c.kind for c in TABLES[table]}
        for row in rows:
            for name, value in row.items():
                assert value is None or isinstance(value, kinds[columns[name]]), (table, name, value)
                if isinstance(value, str):
                    value.encode()
                if columns[name] == "int":
                    assert value is None or -(2**63) <= value < 2**63
    assert no_nan(got)
    got.metas()


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=2))
def test_any_value_anywhere_in_a_sample(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[tuple[Any, ...], Any]]
) -> None:
    sample = RICH
    for path, new in changes:
        try:
            sample = replaced(sample, path, new)
        except (KeyError, IndexError, TypeError):
            continue
    got = read(write_eval(tmp_path_factory.getbasetemp() / "fuzz.eval", spoilt(sample)))
    assert len(got.responses) == 3
    check(got)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(HEADER_PLACES), JSON)
def test_any_value_anywhere_in_the_header(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], new: Any
) -> None:
    members = {**small(), "header.json": replaced(HEADER, path, new)}
    got = read(write_eval(tmp_path_factory.getbasetemp() / "fuzz.eval", members))
    assert len(got.responses) == 3
    check(got)
    assert got.run.model
    json.dumps(got.run.meta)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 10**6))
def test_any_bytes_in_a_sample(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    data = bytearray(json.dumps(RICH).encode())
    start = at % len(data)
    data[start : start + len(junk)] = junk
    got = read(write_eval(tmp_path_factory.getbasetemp() / "fuzz.eval", spoilt(bytes(data))))
    assert len(got.responses) == 3
    check(got)
