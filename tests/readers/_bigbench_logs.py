"""Writers of BIG-bench results, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def entry(
    metrics: Json, *, shots: Any = 0, subtask: str = "sums", preferred: str = "exact_str_match", **more: Any
) -> Json:
    return {
        "score_dict": metrics,
        "preferred_score": preferred,
        "number_of_shots": shots,
        "low_score": 0.0,
        "high_score": 1.0,
        "subtask_description": subtask,
        **more,
    }


def model(**more: Any) -> Json:
    return {
        "model_family": "BIG-G T=1",
        "model_name": "8b",
        "total_params": 8_600_000_000,
        "non_embedding_params": 8_400_000_000,
        "flop_matched_non_embedding_params": 8_400_000_000,
        "training_batch_size": 512,
        "training_steps": 1000,
        "description": "",
        "decoding_params": {},
        "additional_details": "",
        **more,
    }


def results(*scores: Any, task: str = "sums", queries: Any = None, **more: Any) -> Json:
    return {"scores": list(scores), "task": {"task_name": task}, "model": model(**more), "queries": queries}


def generation(task: str, *samples: Any, shots: Any = 0) -> Json:
    return {"function": "generate_text", "max_length": 9, "samples": list(samples), "shots": shots, "task": task}


def choices(task: str, *samples: Any, shots: Any = 0) -> Json:
    asked = {"function": "cond_log_prob", "absolute_normalization": False, "shots": shots, "task": task}
    return {**asked, "samples": list(samples)}


def choice(asked: str, scores: list[float], right: int, **more: Any) -> Json:
    targets = [f"t{k}" for k in range(len(scores))]
    worth = {t: float(k == right) for k, t in enumerate(targets)}
    correct = float(scores.index(max(scores)) == right)
    return {"input": asked, "targets": targets, "scores": scores, "target_values": worth, "correct": correct, **more}


def text(asked: str, output: Any, target: str, **more: Any) -> Json:
    return {"input": asked, "output": output, "targets": {target: {}}, "metrics": {"exact_str_match": 1.0}, **more}


def write(path: Path, content: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), "utf-8")
    return path


def write_small(folder: Path) -> list[Path]:
    """Scores alone, and scores with a log of queries."""
    scores = [entry({"exact_str_match": 0.5, "bleu": 30.0}, shots=k) for k in (0, 1)]
    asked = [
        generation("sums", text("1+1=", "2", "2", raw_output="2\n"), text("1+2=", None, "3")),
        choices("sums", choice("1+3=", [-1.0, -0.5], 1, absolute_scores=[-2.0, -1.5])),
        choices("programmatic", {"input": "1+4=", "targets": ["5"], "scores": [-0.5]}),
    ]
    return [
        write(folder / "scores_BIG-G_T=1_8b.json", results(*scores)),
        write(folder / "full-log_BIG-G_T=1_8b.json", results(*scores, queries=asked)),
    ]
