"""Writers of OpenAI evals recordings, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
RUN = "230417220821DPM75QNS"


def spec(**more: Any) -> Json:
    evaluated = {"cls": "evals.elsuite.basic.match:Match", "args": {"samples_jsonl": "x.jsonl", "num_few_shot": 2}}
    return {
        "spec": {
            "completion_fns": ["gpt-3.5-turbo"],
            "eval_name": "capitals.dev.v0",
            "base_eval": "capitals",
            "split": "dev",
            "run_config": {"eval_spec": evaluated, "seed": 7, "max_samples": 4, "command": "oaieval"},
            "created_by": "",
            "run_id": RUN,
            "created_at": "2023-04-17 22:08:21.904498",
            **more,
        }
    }


def model_graded(args: Json | None = None, **more: Any) -> Json:
    made = spec(**more)
    made["spec"]["run_config"]["eval_spec"] = {
        "cls": "evals.elsuite.modelgraded.classify:ModelBasedClassify",
        "args": {"modelgraded_spec": "fact", **(args or {})},
    }
    return made


def event(sample: object, kind: str, run: str | None = RUN, **data: Any) -> Json:
    known = {} if run is None else {"run_id": run, "event_id": 0}
    return {**known, "sample_id": sample, "type": kind, "data": data, "created_by": "", "created_at": "2023-04-17"}


def sampling(sample: object, sampled: Any, prompt: Any = None, **more: Any) -> Json:
    asked = f"Capital of {sample}?" if prompt is None else prompt
    return event(sample, "sampling", prompt=asked, sampled=sampled, **more)


def match(sample: object, correct: Any, **more: Any) -> Json:
    return event(sample, "match", correct=correct, expected="Paris", picked="Paris" if correct else None, **more)


def report(**numbers: Any) -> Json:
    return {"final_report": numbers}


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def write_small(folder: Path) -> list[Path]:
    """A recording of every shape that is read."""
    plain = [
        spec(),
        report(accuracy=0.5, boostrap_std=0.1),
        sampling("a", "Paris", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}),
        match("a", True, sampled="Paris", options=["Paris", "Rome"]),
        sampling("b", ["Rome"], [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]),
        match("b", False),
        event("c", "error", type="ValueError", message="x"),
        event("d", "metrics", accuracy=1.0, f1_score=0.5),
    ]
    graded = [model_graded(), sampling("a", "text"), sampling("a", "Y"), event("a", "metrics", choice="Y", score=1.0)]
    weighed = [
        spec(run_id="r2"),
        *(event("a", "cond_logp", "r2", prompt="p", completion=c, logp=v) for c, v in (("x", -1.0), ("y", -2.0))),
        event("b", "pick_option", "r2", prompt="p", options=["x", "y"], picked="x"),
        report(accuracy=1.0, nested={"a": 1}),
    ]
    old = [{"spec": {**spec()["spec"], "completion_fns": None, "model_names": {"completions": ["davinci"]}}}]
    return [
        write(folder / "plain.jsonl", *plain),
        write(folder / "graded.jsonl", *graded),
        write(folder / "weighed.jsonl", *weighed),
        write(folder / "old.jsonl", *old, *(e for e in plain[2:4])),
    ]
