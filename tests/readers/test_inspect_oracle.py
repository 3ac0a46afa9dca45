"""Every real log against the tables made by ``inspect_ai`` itself and from the raw bytes (tests/oracles/README.md)."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import ForeshockError
from foreshock.readers._inspect import InspectReader
from foreshock.readers._inspect_scores import number
from foreshock.readers._protocol import ReadOptions
from foreshock.records import RunStatus

from ._logs import Read, candidate, read, read_all

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
THEIRS = json.loads((ORACLES / "inspect_expected.json").read_text("utf-8"))
RAW = json.loads((ORACLES / "inspect_raw_expected.json").read_text("utf-8"))
COLUMNS = THEIRS["columns"]
TABLE = {**{n: e for n, e in THEIRS["files"].items() if "unreadable" not in e}, **RAW["files"]}
READABLE = sorted(n for n, e in TABLE.items() if "unreadable" not in e)
UNREADABLE = sorted(n for n, e in TABLE.items() if "unreadable" in e)
CUT = 500  # answers of further scorers are kept up to this length


def sign(text: str) -> list[Any]:
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16], len(text)]


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "logs" / "inspect"


def test_the_tables_cover_the_folder(folder: Path) -> None:
    assert sorted(TABLE) == sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert len(READABLE) == 26
    assert UNREADABLE == ["LICENSE", "test_eval_log/log_invalid.txt"]


@pytest.mark.parametrize("name", READABLE)
def test_claimed(folder: Path, name: str) -> None:
    assert InspectReader().claims(candidate(folder / name), ReadOptions())


@pytest.mark.parametrize("name", UNREADABLE)
def test_not_claimed_and_an_error_if_tried(folder: Path, name: str) -> None:
    assert not InspectReader().claims(candidate(folder / name), ReadOptions())
    (error,) = read_all([folder / name])
    assert isinstance(error, ForeshockError)
    assert name in str(error)
    assert "not valid JSON (line" in str(error)


@pytest.mark.parametrize("name", READABLE)
def test_run(folder: Path, name: str) -> None:
    want, run = TABLE[name], read(folder / name).run
    assert (run.model, run.task, run.writer, run.expected) == tuple(
        want[k] for k in ("model", "task", "writer", "expected")
    )
    assert (run.meta["run_id"], run.meta["task_id"]) == (want["run_id"], want["task_id"])
    assert run.created is not None
    assert datetime.fromisoformat(run.created) == datetime.fromisoformat(want["created"])
    assert run.meta.get("log_version") == RAW["versions"][name]
    missing, state = want["absent"]
    logged = missing and not want["unlogged"]
    if logged:
        assert (run.meta["absent"], run.meta["absent_state"]) == (missing, state)
        assert run.meta.get("absent_ids", []) == want.get("absent_ids", run.meta.get("absent_ids", []))
    else:
        assert "absent" not in run.meta
    complete = RunStatus.PARTIAL if logged else RunStatus.COMPLETE
    assert (
        run.status == {"success": complete, "cancelled": RunStatus.CANCELLED, "error": RunStatus.ERROR}[want["status"]]
    )


@pytest.mark.parametrize("name", READABLE)
def test_aggregates(folder: Path, name: str) -> None:
    found = []
    for row in read(folder / name).aggregates:
        raw = json.loads(row["raw"])
        found.append([raw["name"], raw["scorer"], row["reducer"], raw["metric"], row["value"], row["stderr"]])
        assert (row["stderr_kind"] is None) == (row["stderr"] is None)
    assert found == TABLE[name]["results"]


def by_key(got: Read) -> dict[tuple[str, int], dict[str, Any]]:
    """Responses with their scores, meta, item and number of tool steps, by (id, epoch)."""
    items = {(r["item_id"], r["item_key"]): r for r in got.items}
    out = {}
    for row, meta in zip(got.responses, got.metas(), strict=True):
        scores = {s["metric_id"]: s for s in got.scores if s["row"] == row["row"]}
        steps = [s for s in got.trace if s["row"] == row["row"]]
        item = items[row["item_id"], row["item_key"]]
        out[row["item_id"], row["epoch"]] = {**row, "meta": meta, "scores": scores, "steps": steps, "item": item}
    return out


@pytest.mark.parametrize("name", READABLE)
def test_samples(folder: Path, name: str) -> None:
    got = read(folder / name)
    rows = by_key(got)
    want = [dict(zip(COLUMNS, row, strict=True)) for row in TABLE[name]["samples"]]
    assert len(got.responses) == len(want) == len(rows)
    assert sorted(rows) == sorted((w["id"], w["epoch"]) for w in want)
    for w in want:
        same_sample(rows[w["id"], w["epoch"]], w, got.run.model)


def same_sample(row: dict[str, Any], want: dict[str, Any], model: str) -> None:
    assert row["delivery"] == want["delivery"]
    assert (row["output"] is None) == (want["output"] is None)
    if row["output"] is not None:
        assert sign(row["output"]) == want["output"]
    assert row["meta"].get("stop_reason", "") in (want["stop_reason"] or "", "length")
    assert (row["meta"].get("error") or "").partition("(")[0] == (want["error"] or "")
    assert row["meta"].get("limit") == want["limit"]
    same_item(row["item"], want)
    same_scores(row["scores"], want["scores"])
    same_answers(row, want["answers"])
    same_usage(row, want, model)
    if want["output"] is not None:  # the one sample without output has tool replies but no calls
        assert sum(s["kind"] == "tool" for s in row["steps"]) == want["tool_calls"]


def same_item(item: dict[str, Any], want: dict[str, Any]) -> None:
    assert [sign(t) for t in item["targets"] or []] == want["target"]
    assert [sign(c) for c in item["choices"] or []] == want["choices"]
    if want["input"] is not None:
        assert sign(item["input"]) == want["input"]
    assert item["input"]


def same_scores(rows: dict[str, Any], want: dict[str, Any]) -> None:
    flat = {}
    for scorer, value in want.items():
        parts = {f"{scorer}/{k}": v for k, v in value.items()} if isinstance(value, dict) else {scorer: value}
        flat.update(parts)
    assert sorted(rows) == sorted(flat)
    for metric, value in flat.items():
        row = rows[metric]
        assert row["source"] == "harness"
        if isinstance(value, str):
            assert row["label"] == value
            assert row["value"] == {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}.get(value, number(value).value)
        else:
            assert row["value"] == value
        assert row["status"] == ("failed" if row["value"] is None else "scored")


def same_answers(row: dict[str, Any], want: dict[str, Any]) -> None:
    others = row["meta"].get("answers", {})
    given = {k: v for k, v in want.items() if v is not None}
    first = [k for k in given if k not in others]
    assert len(first) == (1 if given else 0)
    assert (row["answer"] is None) == (not first)
    for scorer in first:
        assert sign(row["answer"]) == given[scorer]
    for scorer, text in others.items():
        if given[scorer][1] <= CUT:
            assert sign(text) == given[scorer]
        else:
            assert len(text) == CUT


def same_usage(row: dict[str, Any], want: dict[str, Any], model: str) -> None:
    used = row["meta"].get("usage", {})
    counts = [row["input_tokens"], row["output_tokens"], row["total_tokens"]]
    if not used and want["usage"]:
        used = {row["token_unit"]: counts}
    assert used == want["usage"]
    own = want["usage"].get(model, want["out_usage"])
    assert counts == (own or [None, None, None])
    assert row["token_unit"] == (None if own is None else model)
    if want["out_usage"] is not None:
        assert row["meta"].get("last_usage", counts) == want["out_usage"]


def test_the_chunked_log_gives_the_rows_of_its_run_in_one_piece_each(folder: Path) -> None:
    chunked = read(folder / "generated" / "chunked_0.3.285_3epochs_status_error.eval")
    whole = read(folder / "generated" / "zstd_0.3.285_3epochs_status_error.eval")
    assert chunked.run.run_key == whole.run.run_key
    assert chunked.run.ingest_id != whole.run.ingest_id
    a, b = by_key(chunked), by_key(whole)
    for key in a:
        for part in ("row", "item"):
            a[key].pop(part), b[key].pop(part)
        for step in [*a[key]["steps"], *b[key]["steps"], *a[key]["scores"].values(), *b[key]["scores"].values()]:
            step.pop("row")
    assert a == b
