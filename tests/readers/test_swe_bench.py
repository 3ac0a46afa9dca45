"""SWE-bench: what was not evaluated is never a zero, and a mean over the resolved alone is never given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock.readers import read_paths
from foreshock.report import one_line
from foreshock.store import Store, add_paths

from . import _swe_bench_logs as logs
from ._read import Read, failure, read_all, read_one
from ._swe_bench_logs import ids, leaderboard, one, report, submission, write


def states(read: Read) -> dict[str, tuple[str, str]]:
    told = [json.loads(m)["state"] for m in read.column("responses", "meta")]
    names = read.column("responses", "item_id")
    return dict(zip(names, zip(read.column("responses", "delivery"), told, strict=True), strict=True))


def scores(read: Read, metric: str = "resolved") -> dict[str, float | None]:
    names = read.column("responses", "item_id")
    found = zip(*(read.column("scores", c) for c in ("row", "metric_id", "value")), strict=True)
    return {names[row]: value for row, name, value in found if name == metric}


def total(read: Read) -> list[tuple[Any, ...]]:
    return list(zip(*(read.column("aggregates", c) for c in ("value", "n", "n_scored")), strict=True))


@pytest.mark.parametrize("spelling", ["resolved_ids", "resolved"])
def test_report_of_the_harness(tmp_path: Path, spelling: str) -> None:
    read = read_one(write(tmp_path / "gpt-4.run1.json", report(resolved=spelling)))
    a = ids(1, 2, 3, 4, 5, 6, 7)
    assert states(read) == {
        a[0]: ("ok", "resolved"),
        a[1]: ("ok", "resolved"),
        a[2]: ("ok", "unresolved"),
        a[3]: ("ok", "unresolved"),
        a[4]: ("missing", "empty_patch"),
        a[5]: ("error", "error"),
        a[6]: ("missing", "incomplete"),
    }
    assert scores(read) == {a[0]: 1.0, a[1]: 1.0, a[2]: 0.0, a[3]: 0.0}, "trouble is no zero"
    assert total(read) == [(2 / 8, 8, 4)]
    run = read.run
    assert (run.model, run.meta["run_id"], run.expected) == ("gpt-4", "run1", 8)
    assert run.guesses == ["model", "task"]
    assert set(read.column("items", "subset")) == {"astropy/astropy"}


def test_the_store_counts_what_was_never_listed(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    (run,) = add_paths(store, [write(tmp_path / "gpt-4.run1.json", report())]).added
    counts = run.counts
    assert (counts.expected, counts.delivered, counts.error, counts.missing, counts.scored) == (8, 4, 1, 3, 4)
    assert run.status.value == "partial"


def test_report_of_the_first_versions(tmp_path: Path) -> None:
    old = {
        "no_generation": ids(1),
        "generated": ids(2, 3, 4, 5, 6),
        "with_logs": ids(2, 3, 4, 5),
        "install_fail": ids(3),
        "no_apply": ids(4),
        "applied": ids(2, 5),
        "test_timeout": ids(5),
        "resolved": ids(2),
    }
    read = read_one(write(tmp_path / "r.json", old), model="m", task="t")
    assert [v for _, v in sorted(states(read).items())] == [
        ("missing", "empty_patch"),
        ("ok", "resolved"),
        ("error", "error"),
        ("error", "error"),
        ("timeout", "timeout"),
        ("ok", "submitted"),
    ]
    assert scores(read) == {ids(2)[0]: 1.0}
    assert (read.run.model, read.run.task, read.guesses) == ("m", "t", [])
    assert any("1 instance handed in of which no list says" in w for w in read.warnings)
    assert total(read) == [], "without a total there is no rate"


def test_evaluated_but_not_resolved(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.json", {"completed_ids": ids(1, 2), "resolved_ids": ids(1)}))
    assert scores(read) == {ids(1)[0]: 1.0, ids(2)[0]: 0.0}


def test_the_resolved_alone_have_no_mean(tmp_path: Path) -> None:
    read = read_one(write(tmp_path / "r.json", {**leaderboard(ids(1, 2), ids(3), ids(4)), "total_instances": 10}))
    assert scores(read) == {ids(1)[0]: None, ids(2)[0]: None}
    assert set(read.column("scores", "status")) == {"needs"}
    assert read.column("scores", "label") == ["resolved", "resolved"]
    assert total(read) == [(0.2, 10, 2)]
    assert states(read)[ids(3)[0]] == ("missing", "empty_patch")
    assert states(read)[ids(4)[0]] == ("error", "error")
    assert any("a mean over the resolved alone" in w for w in read.warnings)


def test_submission_with_predictions(tmp_path: Path) -> None:
    patches = {**dict.fromkeys(ids(1, 2, 4), "diff --git"), ids(3)[0]: "", ids(5)[0]: None}
    results = leaderboard(ids(1), ids(3), ids(4))
    folder = submission(tmp_path / "evaluation" / "lite" / logs.NAME, results, patches)
    read = read_one(folder)
    a = ids(1, 2, 3, 4, 5)
    assert states(read) == {
        a[0]: ("ok", "resolved"),
        a[2]: ("missing", "empty_patch"),
        a[3]: ("error", "error"),
        a[1]: ("ok", "unresolved"),
        a[4]: ("missing", "empty_patch"),
    }
    assert scores(read) == {a[0]: 1.0, a[1]: 0.0}, "handed in, with logs, and not listed: unresolved"
    assert (
        dict(zip(read.column("responses", "item_id"), read.column("responses", "output"), strict=True))[a[1]]
        == "diff --git"
    )
    run = read.run
    assert (run.model, run.created, run.task) == ("sweagent_claude3.5sonnet", "2024-06-20", "SWE-bench/lite")
    assert (run.meta["submitter"], run.meta["name"]) == ("sweagent", "SWE-agent + Claude 3.5 Sonnet")
    assert (run.expected, run.guesses) == (300, ["expected"])
    assert total(read) == [(1 / 300, 300, 2)]


def test_submission_without_results_is_missing(tmp_path: Path) -> None:
    """multi-swe-bench/experiments#17: the folder is there, its results are not."""
    (read,) = read_all(submission(tmp_path / "evaluation" / "lite" / logs.NAME))[0]
    assert read.column("responses", "row") == []
    assert read.column("aggregates", "value") == [], "no results are no zero"
    assert (read.status, read.run.expected) == ("partial", 300)
    assert any("no results" in w for w in read.warnings)
    with_patches = read_one(submission(tmp_path / "20240101_a_b", None, {ids(1)[0]: "diff"}))
    assert states(with_patches) == {ids(1)[0]: ("ok", "submitted")}
    assert scores(with_patches) == {}
    assert with_patches.status == "partial"


def test_what_is_passed_over_in_a_submission_is_named(tmp_path: Path) -> None:
    folder = submission(tmp_path / logs.NAME, leaderboard(ids(1)), {ids(1)[0]: "diff"})
    (note,) = read_one(folder).run.meta["notes"]
    assert note == "not read: README.md, resolved_by_repo.json, trajs/"
    write(folder / "my preds.json", {})
    (folder / ".cache").mkdir()
    assert read_one(folder).run.meta["notes"] == ["not read: README.md, my preds.json, resolved_by_repo.json, trajs/"]
    for number in range(30):
        write(folder / f"more{number}.json", {})
    (note,) = read_one(folder).run.meta["notes"]
    assert note.endswith(", and 14 more")


def test_names_that_are_no_words_are_told_as_they_are(tmp_path: Path) -> None:
    folder = submission(tmp_path / "20240620_odd\n\x1b[2Jname", leaderboard(ids(1)), {ids(1)[0]: "diff"})
    for name in (b"\x1b[2J.json", b"line\nbreak.csv", b"\xff.json"):
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(b"{}")
    read = read_one(folder)
    assert read.run.model == "odd\n\x1b[2Jname"
    (note,) = read.run.meta["notes"]
    for name in ("\x1b[2J.json,", "line\nbreak.csv,", "\ufffd.json"):
        assert name in note
    shown = one_line(note)
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_reports_of_single_instances(tmp_path: Path) -> None:
    a = ids(1, 2, 3)
    said = [one(a[0], True, 2, 0), one(a[1], False, 1, 3), one(a[2], False, patch_successfully_applied=False)]
    read = read_one(submission(tmp_path / logs.NAME, leaderboard([a[0]]), None, *said))
    assert scores(read) == {a[0]: 1.0, a[1]: 0.0}
    assert scores(read, "fail_to_pass") == {a[0]: 1.0, a[1]: 0.25}, "the share beneath all or nothing"
    assert scores(read, "pass_to_pass") == {a[0]: 1.0, a[1]: 1.0}
    assert states(read)[a[2]] == ("error", "error")
    fewer = read_one(submission(tmp_path / "20240102_a_b", leaderboard(a[:2]), None, said[0]))
    assert set(scores(fewer).values()) == {None}, "not every resolved one has its report, so not every other one has"
    contrary = submission(tmp_path / "20240101_a_b", report(), None, one(ids(1)[0], False))
    assert any("1 instance judged otherwise" in w for w in read_one(contrary).warnings)
    assert scores(read_one(contrary))[ids(1)[0]] == 1.0


def test_logs_of_the_harness(tmp_path: Path) -> None:
    for log in (one(ids(1)[0], True), one(ids(2)[0], False), one(ids(3)[0], False, patch_is_None=True)):
        (instance,) = log
        write(tmp_path / "logs" / "run_evaluation" / "run1" / "org__model" / instance / "report.json", log)
    read = read_one(tmp_path)
    assert (read.run.model, read.run.meta["run_id"]) == ("org/model", "run1")
    assert scores(read) == {ids(1)[0]: 1.0, ids(2)[0]: 0.0}
    assert states(read)[ids(3)[0]] == ("missing", "empty_patch")
    assert len(read.run.sources) == 3


def test_details_of_every_instance(tmp_path: Path) -> None:
    root = tmp_path / "evaluation" / "bash-only" / "20250101_mini_x"
    submission(root)
    write(
        root / "per_instance_details.json", {ids(1)[0]: {"cost": 0.5, "resolved": True}, ids(2)[0]: {"resolved": False}}
    )
    read = read_one(root)
    assert scores(read) == {ids(1)[0]: 1.0, ids(2)[0]: 0.0}
    assert json.loads(read.column("responses", "meta")[0])["cost"] == 0.5
    assert (read.run.task, read.run.expected) == ("SWE-bench/bash-only", 500)


def test_other_submissions_name_the_unresolved(tmp_path: Path) -> None:
    lite = tmp_path / "evaluation" / "lite"
    mine = submission(lite / logs.NAME, leaderboard(ids(1, 2), ids(5)))
    before = read_one(mine)
    assert set(scores(before).values()) == {None}
    submission(lite / "20240701_other_gpt4", leaderboard(ids(2, 3), [], ids(4)))
    read = read_one(mine)
    assert scores(read) == dict(zip(ids(1, 2, 3, 4), (1.0, 1.0, 0.0, 0.0), strict=True))
    assert any("2 instances not listed but named by other submissions" in w for w in read.warnings)
    assert json.loads(read.column("responses", "meta")[-1]) == {"state": "unresolved", "inferred": True}
    assert read.run.run_key == before.run.run_key
    assert read.run.ingest_id != before.run.ingest_id, "another reading of the same bytes"


def test_a_submission_is_read_and_skipped_as_one(tmp_path: Path) -> None:
    patches = dict.fromkeys(ids(1, 2), "diff")
    folder = submission(tmp_path / logs.NAME, leaderboard(ids(1)), patches, one(ids(1)[0], True))
    run = read_one(folder).run
    names = {Path(s.path).name for s in run.sources}
    assert names == {"results.json", "all_preds.jsonl", "report.json", "metadata.yaml"}
    for part in ("results/results.json", "all_preds.jsonl", "metadata.yaml"):
        assert read_one(folder / part).run == run, part
    assert not list(read_paths([folder], skip=lambda p: p.name in names))
    assert len(list(read_paths([folder], skip=lambda p: p.name in names - {"all_preds.jsonl"}))) == 1
    assert "no reader" in failure(folder / "trajs" / "a.json"), "a file that is named itself is never passed over"


def test_a_multilingual_split(tmp_path: Path) -> None:
    run = read_one(submission(tmp_path / "evaluation" / "java" / "verified" / logs.NAME, report(91))).run
    assert (run.task, run.expected, run.guesses) == ("SWE-bench/java/verified", 91, [])


def test_contradictions_are_told(tmp_path: Path) -> None:
    made = {**report(), "error_ids": ids(1), "resolved_instances": 9, "unresolved_ids": [*ids(3, 3, 4), 5, None]}
    read = read_one(write(tmp_path / "r.json", made))
    assert states(read)[ids(1)[0]] == ("ok", "resolved")
    assert any(w.startswith("1 instance listed as resolved and as something else") for w in read.warnings)
    assert any("9 resolved instances are announced and 2 are listed" in w for w in read.warnings)


def test_numbers_without_lists(tmp_path: Path) -> None:
    counts = {"total_instances": 300, "submitted_instances": 300, "resolved_instances": 60}
    read = read_one(write(tmp_path / "m.r.json", counts))
    assert total(read) == [(0.2, 300, None)]
    assert read.column("responses", "row") == []
    assert read.run.task == "SWE-bench/lite"


def test_damage(tmp_path: Path) -> None:
    folder = submission(tmp_path / logs.NAME, leaderboard(ids(1)), {ids(2)[0]: "diff"}, one(ids(1)[0], True))
    (folder / "results" / "results.json").write_text('{"resolved": [', "utf-8")
    with (folder / "all_preds.jsonl").open("a") as stream:
        stream.write('{"model_patch": "x"}\n[1]\n{"instance_id": "a')
    (read,), (problem,) = read_all(folder)
    assert problem.path.name == "results.json"
    assert scores(read) == {ids(1)[0]: 1.0}
    assert states(read)[ids(2)[0]] == ("ok", "submitted"), "without the list nothing says how it went"
    assert read.status == "partial"
    assert any("3 predictions could not be read" in w for w in read.warnings)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.integers(0, 60), st.sampled_from(["resolved", "unresolved", "empty_patch", "error", "incomplete"])
    )
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, table: dict[int, str]) -> None:
    lists = {
        f"{state}_ids": [i for n, s in table.items() if s == state for i in ids(n)]
        for state in ("resolved", "unresolved", "empty_patch", "error", "incomplete")
    }
    read = read_one(write(tmp_path_factory.mktemp("r") / "m.r.json", {**lists, "total_instances": len(table) + 1}))
    assert {i: s for i, (_, s) in states(read).items()} == {ids(n)[0]: s for n, s in table.items()}
    wanted = {ids(n)[0]: float(s == "resolved") for n, s in table.items() if s in ("resolved", "unresolved")}
    assert scores(read) == wanted
