"""Writers of Every Eval Ever files as its converters write them, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ID = "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40"


def result(name: str, metric: str, score: Any, id_: str | None = None, **doubt: Any) -> Json:
    """One result; ``doubt`` are the members of its uncertainty."""
    found: Json = {
        "evaluation_name": name,
        "source_data": {"dataset_name": name, "source_type": "other"},
        "metric_config": {
            "metric_name": metric,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {"score": score, **({"uncertainty": doubt} if doubt else {})},
    }
    return {**found, "evaluation_result_id": id_ or metric}


def log(results: list[Json], **more: Any) -> Json:
    """An aggregate file."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "demo/org_model/1750000000",
        "evaluation_timestamp": "1750000000",
        "retrieved_timestamp": "1750000001",
        "source_metadata": {
            "source_name": "Board",
            "source_type": "documentation",
            "source_organization_name": "Somebody",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "lm_eval", "version": "0.4.7"},
        "model_info": {
            "name": "model-7b",
            "id": "org/model-7b",
            "developer": "org",
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": results,
        **more,
    }


def sample(id_: str, question: str, output: str | None, target: str, score: float, **more: Any) -> Json:
    """A line for one metric of one response."""
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "demo/org_model/1750000000",
        "model_id": "org/model-7b",
        "evaluation_name": "sums",
        "evaluation_result_id": "acc",
        "sample_id": id_,
        "sample_hash": None,
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": [target]},
        "output": {"raw": [] if output is None else [output]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score == 1.0},
        **more,
    }


def write_log(folder: Path, value: Json, name: str = ID) -> Path:
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), "utf-8")
    return path


def write_samples(folder: Path, lines: list[Json], name: str = ID) -> Path:
    path = folder / f"{name}_samples.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def write_small(folder: Path) -> list[Path]:
    """Small valid files of every shape."""
    lines = [sample("q0", "2+2", "4", "4", 1.0), sample("q1", "3+1", "5", "4", 0.0)]
    return [
        write_log(folder, log([result("sums", "acc", 0.5, standard_error={"value": 0.1}, num_samples=2)])),
        write_samples(folder, lines),
        write_log(folder, log([result("mmlu", "acc", 0.6), result("gsm8k", "em", 0.4)]), "board"),
        write_samples(folder, [{**line, "model_id": "other"} for line in lines], "alone"),
    ]
