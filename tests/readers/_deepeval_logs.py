"""Writers of deepeval files, as its ``TestRun.save`` and ``EvaluationResult`` write them, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def metric(name: str, score: float | None, *, threshold: float = 0.5, **more: Any) -> Json:
    """What a metric said; without a score it failed."""
    passed = None if score is None else score >= threshold
    found = {"name": name, "threshold": threshold, "success": passed, "score": score, "reason": f"because {name}"}
    judge = {"strictMode": False, "evaluationModel": "gpt-4.1", "evaluationCost": 0.01}
    return {k: v for k, v in {**found, **judge, **more}.items() if v is not None}


def case(number: int, question: str, output: str | None, target: str, *metrics: Json, **more: Any) -> Json:
    """A test case; members without a value are left out, as deepeval does."""
    found = {
        "name": f"test_case_{number}",
        "input": question,
        "actualOutput": output,
        "expectedOutput": target,
        "context": ["arithmetic"],
        "success": all(m.get("success") for m in metrics),
        "metricsData": list(metrics),
        "runDuration": 1.25,
        "order": number,
    }
    return {k: v for k, v in {**found, **more}.items() if v is not None}


def conversation(number: int, turns: list[tuple[str, str]], *metrics: Json) -> Json:
    """A conversational test case; the assistant calls a tool in each of its turns."""
    call = [{"name": "search", "inputParameters": {"q": "x"}, "type": "FUNCTION"}]
    shown = [
        {"role": role, "content": text, "order": k, **({"toolsCalled": call} if role == "assistant" else {})}
        for k, (role, text) in enumerate(turns)
    ]
    return {
        "name": f"conversational_test_case_{number}",
        "success": True,
        "metricsData": list(metrics),
        "runDuration": 0.5,
        "turns": shown,
        "order": number,
        "scenario": f"Somebody asks {number}",
        "expectedOutcome": "An answer",
    }


def run_of(cases: list[Json], conversations: list[Json] = [], **more: Any) -> Json:  # noqa: B006 - never changed
    """A whole test run."""
    return {
        "testCases": cases,
        "conversationalTestCases": conversations,
        "metricsScores": [],
        "identifier": "nightly",
        "hyperparameters": {"model": "org/model-7b", "temperature": 0.2, "prompt template": "Answer: {input}"},
        "testPassed": 1,
        "testFailed": 1,
        "runDuration": 3.0,
        "datasetAlias": "sums",
        "official": False,
        **more,
    }


def results(cases: list[Json]) -> Json:
    """What ``evaluate`` returns, dumped in Python's spelling."""
    names = {"actualOutput": "actual_output", "expectedOutput": "expected_output", "metricsData": "metrics_data"}
    shown = [{names.get(k, k): v for k, v in found.items() if k not in ("order", "runDuration")} for found in cases]
    return {"test_results": [{**s, "conversational": False} for s in shown], "confident_link": None}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def write_small(folder: Path) -> list[Path]:
    """Small valid files of every shape."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = [
        case(0, "2+2", "4", "4", metric("Correctness [GEval]", 0.9), metric("Bias", 0.0)),
        case(1, "3+1", "5", "4", metric("Correctness [GEval]", None, error="judge timed out")),
    ]
    turns = conversation(0, [("user", "hi"), ("assistant", "hello")], metric("Role Adherence", 1.0))
    return [
        write(folder / "test_run_20260430_120000.json", run_of(cases, [turns])),
        write(folder / "latest.json", {"testRunData": run_of(cases)}),
        write(folder / "results.json", results(cases)),
    ]
