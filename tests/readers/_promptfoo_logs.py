"""Writers of promptfoo files in the layouts of its versions, for tests."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
TEMPLATE = "Answer shortly: {{question}}"
ECHO = {"type": "contains", "value": "4"}


def result(
    test: int, question: str, output: str | None, passed: bool, provider: str = "openai:gpt-4o", **more: Any
) -> Json:
    """One result as version 3 writes it; a failed assertion writes ``error`` as well."""
    reason = "Assertion passed" if passed else 'Expected output to contain "4"'
    score = float(passed)
    part = {"pass": passed, "score": score, "reason": reason, "assertion": ECHO}
    found = {
        "cost": 0.001,
        "gradingResult": {
            "pass": passed,
            "score": score,
            "reason": reason,
            "namedScores": {},
            "tokensUsed": {"total": 0},
            "componentResults": [part],
            "assertion": None,
        },
        "id": f"r{test}",
        "latencyMs": 1500,
        "namedScores": {},
        "prompt": {"raw": TEMPLATE.replace("{{question}}", question), "label": TEMPLATE},
        "promptId": hashlib.sha256(TEMPLATE.encode()).hexdigest(),
        "promptIdx": 0,
        "provider": {"id": provider, "label": ""},
        "response": {
            "output": output,
            "tokenUsage": {"total": 12, "prompt": 9, "completion": 3, "completionDetails": {"reasoning": 2}},
            "cached": False,
            "finishReason": "stop",
        },
        "score": score,
        "success": passed,
        "testCase": {"vars": {"question": question}, "assert": [ECHO], "options": {}, "metadata": {}},
        "testIdx": test,
        "vars": {"question": question},
        "metadata": {"_promptfooFileMetadata": {}},
        "failureReason": 0 if passed else 1,
    }
    if not passed:
        found["error"] = reason
    return {**found, **more}


def failed(test: int, question: str, error: str, **more: Any) -> Json:
    """A call that ended in an error."""
    broken = {"error": error, "failureReason": 2, "response": {"error": error}, "gradingResult": None}
    return result(test, question, None, False, **{**broken, **more})


def prompt(provider: str, passed: int, missed: int, errors: int = 0) -> Json:
    """A provider and prompt as the summary counts them."""
    counts = {"testPassCount": passed, "testFailCount": missed, "testErrorCount": errors, "score": float(passed)}
    return {"raw": TEMPLATE, "label": TEMPLATE, "provider": provider, "metrics": counts}


def document(results: list[Json], prompts: list[Json], **more: Any) -> Json:
    """A file of version 3."""
    stats = {"successes": 0, "failures": 0, "errors": 0}
    summary = {
        "version": 3,
        "timestamp": "2025-10-01T20:08:11.168Z",
        "prompts": prompts,
        "results": results,
        "stats": stats,
    }
    providers = [{"id": p["provider"], "config": {"temperature": 0.2}} for p in prompts]
    found = {
        "evalId": "eval-abc-2025-10-01T20:08:11",
        "results": summary,
        "config": {"description": "sums", "providers": providers},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.118.0"},
    }
    return {**found, **more}


def table() -> Json:
    """A file of version 2 that holds only the table to look at."""
    cell = {"pass": True, "score": 1, "text": "4", "prompt": "2+2", "namedScores": {}, "latencyMs": 10, "cost": 0}
    row = {"outputs": [cell, {**cell, "pass": False, "score": 0, "text": "5"}], "vars": ["2+2"], "test": {"assert": []}}
    heads = [{"raw": "{{q}}", "label": "{{q}}", "provider": p} for p in ("openai:a", "openai:b")]
    summary = {"version": 2, "timestamp": "2024-05-01T00:00:00.000Z", "results": [], "stats": {}}
    return {"results": {**summary, "table": {"head": {"prompts": heads, "vars": ["q"]}, "body": [row]}}, "config": {}}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def write_lines(path: Path, lines: list[Json]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def write_small(folder: Path) -> list[Path]:
    """Small valid files of every layout."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [result(0, "2+2", "4", True), result(1, "3+1", "5", False), failed(2, "1+3", "API error: 500")]
    two = document([*rows, result(0, "2+2", "4", True, "openai:mini", promptIdx=1)], [prompt("openai:gpt-4o", 1, 1, 1)])
    return [
        write(folder / "v3.json", two),
        write(folder / "v2.json", table()),
        write_lines(folder / "lines.jsonl", rows),
    ]
