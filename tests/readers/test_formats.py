"""Every real log against a table of what it holds that was made without the readers (tests/oracles/formats_oracle.py).

The table of ``docs/formats.md`` is written from the same rows. What stands inside the files, row by row, is compared by
the tests of each reader; here nothing may be left out: a file that no row names fails as well.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foreshock.readers import Failure, Reading, read_paths
from foreshock.records import Run

Facts = dict[str, Any]
TABLE: dict[str, Facts] = json.loads((Path(__file__).parent.parent / "oracles" / "formats.json").read_text("utf-8"))[
    "files"
]
# of one reading that comes from two files, the file of the items holds the rows
ROWS = ("items", "responses", "states", "scored")
# 60,000 rows take 11 CPU s to read: test_mmlu_pro_oracle.py, which has read them, compares their rows as well
ELSEWHERE = "mmlu_pro"
COMPARED = ("writer", "runs", "expected", *ROWS, "aggregates")
NO_LOGS = ("none", "unreadable")
HERE = [name for name in TABLE if not name.startswith(ELSEWHERE)]


class Ours:
    """What our readers found in one file, or in one folder of HELM."""

    def __init__(self) -> None:
        self.formats: set[str] = set()
        self.facts: Facts = {"runs": 0, "aggregates": 0, "items": 0, "responses": 0, "scored": 0}
        self.states: Counter[str] = Counter()
        self.writers: set[str | None] = set()
        self.expected: list[int | None] = []
        self.log_versions: set[Any] = set()

    def table(self) -> Facts:
        (writer,) = self.writers
        known = [n for n in self.expected if n is not None]
        states = dict(sorted((+self.states).items()))
        return {**self.facts, "writer": writer, "expected": sum(known) if known else None, "states": states}


@cache
def everything(folder: Path) -> tuple[dict[str, Ours], dict[str, str]]:
    """Of every file what was read, or why it was not."""
    found: dict[str, Ours] = {}
    failed: dict[str, str] = {}
    for outcome in read_paths([folder], skip=lambda path: path.parent.name == ELSEWHERE):
        if isinstance(outcome, Failure):
            failed[outcome.path.relative_to(folder).as_posix()] = str(outcome.error)
        else:
            add(found, outcome, folder)
    return found, failed


def add(found: dict[str, Ours], reading: Reading, folder: Path) -> None:
    run = reading.run
    names = [Path(s.path).relative_to(folder.resolve()) for s in run.sources]
    files = dict.fromkeys(n.parent.as_posix() if run.format == "helm" else n.as_posix() for n in names)
    items_in = next((f for f in files if f.endswith(".jsonl")), next(iter(files)))
    means_in = next((f for f in files if f.endswith(".json")), next(iter(files)))
    counts, states, scored, ids = Counter[str](), Counter[str](), set(), set()
    for batch in reading.batches:
        counts[batch.table] += batch.rows
        if batch.table == "runs":
            run = msgspec.structs.replace(run, **{k: v[0] for k, v in batch.columns.items()})
        elif batch.table == "items":
            ids.update(batch.columns["item_id"])
        elif batch.table == "responses":
            states.update(batch.columns["delivery"])
        elif batch.table == "scores":
            given = zip(*(batch.columns[c] for c in ("row", "source", "status")), strict=True)
            scored.update(row for row, source, status in given if (source, status) == ("harness", "scored"))
    states[run.meta.get("absent_state", "missing")] += absent(run, counts["responses"])
    for name in files:
        ours = found.setdefault(name, Ours())
        ours.formats.add(run.format)
        ours.writers.add(run.writer)
        ours.log_versions.add(run.meta.get("log_version"))
        ours.facts["runs"] += 1
    found[means_in].facts["aggregates"] += counts["aggregates"]
    rows = found[items_in]
    rows.expected.append(run.expected)
    rows.states += states
    for key, number in (("items", len(ids)), ("responses", counts["responses"]), ("scored", len(scored))):
        rows.facts[key] += number


def absent(run: Run, logged: int) -> int:
    """Responses that were announced and are not in the log, where it ever held any."""
    if "absent" in run.meta:
        return int(run.meta["absent"])
    return max(0, (run.expected or 0) - logged) if logged else 0


@pytest.fixture(scope="module")
def logs(shared_data: Path) -> Path:
    return shared_data / "logs"


def test_the_table_covers_the_folder(logs: Path) -> None:
    folders = {name for name, row in TABLE.items() if row["format"] == "helm"}
    files = {p.relative_to(logs) for p in logs.rglob("*") if p.is_file()}
    named = {p.parent.as_posix() if p.parent.as_posix() in folders else p.as_posix() for p in files}
    assert named == TABLE.keys()
    assert sum(len(row.get("files", "1")) for row in TABLE.values()) == len(files)


def test_nothing_is_read_or_refused_that_the_table_does_not_say(logs: Path) -> None:
    found, failed = everything(logs)
    wanted = {name for name in HERE if TABLE[name]["format"] not in NO_LOGS}
    assert found.keys() == wanted
    # a licence does not look like data and is passed over
    refused = {name for name in HERE if TABLE[name]["format"] in NO_LOGS and not name.endswith("LICENSE")}
    assert failed.keys() == refused


@pytest.mark.parametrize("name", [n for n in HERE if TABLE[n]["format"] not in NO_LOGS])
def test_a_file_holds_what_the_table_says(logs: Path, name: str) -> None:
    found, _ = everything(logs)
    row = TABLE[name]
    assert found[name].formats == {row["format"]}
    ours = found[name].table()
    shared = {key for key in COMPARED if key in row}
    assert {key: ours[key] for key in shared} == {key: row[key] for key in shared}
    if row["format"] == "inspect":
        assert found[name].log_versions == {row.get("version")}
    # what the table leaves blank is not in the file, so the readers may not have found it there
    assert not any(ours[key] for key in ROWS if key not in row)
    assert ("writer" in row) == (ours["writer"] is not None)


def test_the_tables_of_single_formats_agree_with_this_one(repo_root: Path) -> None:
    """Two scripts each, written apart."""
    oracles = repo_root / "tests" / "oracles"
    inspect = json.loads((oracles / "inspect_expected.json").read_text("utf-8"))["files"]
    compared = 0
    for name, theirs in inspect.items():
        row = TABLE[f"inspect/{name}"]
        if "unreadable" not in theirs:
            compared += 1
            assert row.get("expected") == theirs["expected"], name
            assert row["responses"] == len(theirs["samples"]), name
            assert row["aggregates"] == len(theirs["results"]), name
    assert compared == 24
    lm_eval = json.loads((oracles / "lm_eval_expected.json").read_text("utf-8"))["files"]
    for name, theirs in lm_eval.items():
        row = TABLE[name]
        if theirs["kind"].startswith("results"):
            assert (row["version"], row["aggregates"]) == (theirs["kind"].replace("-", " "), len(theirs["rows"])), name
        else:
            assert row["responses"] == theirs.get("lines", theirs.get("items")), name
