"""Writers of SWE-bench reports, logs and submissions, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
NAME = "20240620_sweagent_claude3.5sonnet"


def ids(*numbers: int, repo: str = "astropy__astropy") -> list[str]:
    return [f"{repo}-{n}" for n in numbers]


def report(total: int = 8, resolved: str = "resolved_ids") -> Json:
    """A report of the harness; 2 of ``total`` resolved, 2 not, one of each kind of trouble, the rest not handed in."""
    lists = {
        resolved: ids(1, 2),
        "unresolved_ids": ids(3, 4),
        "completed_ids": ids(1, 2, 3, 4),
        "empty_patch_ids": ids(5),
        "error_ids": ids(6),
        "incomplete_ids": ids(7),
        "submitted_ids": ids(1, 2, 3, 4, 5, 6),
    }
    counts = {"total_instances": total, "submitted_instances": 6, "resolved_instances": 2, "unresolved_instances": 2}
    return {**counts, **lists, "schema_version": 2}


def one(instance: str, resolved: bool, passed: int = 1, failed: int = 1, **more: Any) -> Json:
    """The report of a single instance."""
    to_pass = {"success": [f"t{k}" for k in range(passed)], "failure": [f"f{k}" for k in range(failed)]}
    status = {"FAIL_TO_PASS": to_pass, "PASS_TO_PASS": {"success": ["x"], "failure": []}}
    said = {"patch_is_None": False, "patch_exists": True, "patch_successfully_applied": True, "resolved": resolved}
    return {instance: {**said, "tests_status": status, **more}}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=4), "utf-8")
    return path


def write_predictions(path: Path, patches: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"instance_id": k, "model_name_or_path": "m", "model_patch": v} for k, v in patches.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def submission(folder: Path, results: Any = None, patches: dict[str, Any] | None = None, *logs: Json) -> Path:
    """A submission as in SWE-bench/experiments, with the files that nobody reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata.yaml").write_text("name: SWE-agent + Claude 3.5 Sonnet\noss: true\nsite: x\n", "utf-8")
    (folder / "README.md").write_text("# Submission", "utf-8")
    if results is not None:
        write(folder / "results" / "results.json", results)
        write(folder / "results" / "resolved_by_repo.json", {"astropy/astropy": {"resolved": 1, "total": 2}})
    if patches is not None:
        write_predictions(folder / "all_preds.jsonl", patches)
    for log in logs:
        (instance,) = log
        write(folder / "logs" / instance / "report.json", log)
        (folder / "logs" / instance / "test_output.txt").write_text('{"a": 1}', "utf-8")
    write(folder / "trajs" / "a.json", {"steps": []})
    return folder


def leaderboard(resolved: list[str], empty: list[str] | None = None, without: list[str] | None = None) -> Json:
    """A report of the leaderboard: the unresolved are what is left of the split."""
    return {"no_generation": empty or [], "no_logs": without or [], "resolved": resolved}


def write_small(folder: Path) -> list[Path]:
    """A report, logs of instances, and submissions with and without each part."""
    lite = folder / "evaluation" / "lite"
    submission(lite / NAME, leaderboard(ids(1), ids(3)), dict.fromkeys(ids(1, 2), "diff"), one(ids(1)[0], True))
    submission(lite / "20240701_other_gpt4", leaderboard(ids(2, 4)))
    submission(lite / "20240702_third_gpt4")
    details = {ids(1)[0]: {"cost": 0.5, "api_calls": 3, "resolved": True}, ids(2)[0]: {"resolved": False}}
    write(folder / "evaluation" / "bash-only" / "20250101_mini_x" / "metadata.yaml", "name: mini")
    write(folder / "evaluation" / "bash-only" / "20250101_mini_x" / "per_instance_details.json", details)
    write(folder / "gpt-4.run1.json", report())
    old = {
        "no_generation": ids(1),
        "generated": ids(2, 3),
        "with_logs": ids(2, 3),
        "applied": ids(2),
        "resolved": ids(2),
    }
    write(folder / "old.json", old)
    for log in (one(ids(1)[0], True), one(ids(2)[0], False)):
        (instance,) = log
        write(folder / "logs" / "run_evaluation" / "run1" / "org__model" / instance / "report.json", log)
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in {".json", ".jsonl", ".yaml"})
