"""Writers of lighteval files in the layouts of its versions, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MOMENT = "2025-09-03T10-57-04.203304"
MODEL = "org/model-7b"


def choice_row(number: int, gold: int, lls: list[float], **metric: Any) -> Json:
    """A document of a task that chooses, as 0.13 writes it."""
    best = max(range(len(lls)), key=lambda k: lls[k])
    doc = {
        "query": f"Question {number}?",
        "choices": [f" choice {number}.{k}" for k in range(len(lls))],
        "gold_index": gold,
        "id": str(number),
        "task_name": "mmlu:law|5",
        "fewshot_samples": [{"query": "an example"}],
        "instruction": None,
    }
    response = {
        "input": "the whole prompt",
        "input_tokens": [1, 2, 3],
        "output_tokens": [[4]] * len(lls),
        "text": [],
        "text_post_processed": None,
        "reasonings": [],
        "logprobs": lls,
        "argmax_logits_eq_gold": [False] * len(lls),
        "unconditioned_logprobs": None,
        "truncated_tokens_count": 0,
    }
    return {"doc": doc, "model_response": response, "metric": {"acc": int(best == gold), **metric}}


def text_row(number: int, outputs: list[str], target: str, **more: Any) -> Json:
    """A document of a task that generates; its choices are the accepted answers."""
    row = choice_row(number, 0, [-1.0])
    response = {**row["model_response"], "text": outputs, "logprobs": [], "output_tokens": [[4, 5]] * len(outputs)}
    doc = {**row["doc"], "choices": [target], "task_name": "gsm8k|0"}
    metric = {"extractive_match": float(outputs[0] == target)}
    return {"doc": doc, "model_response": {**response, **more}, "metric": metric}


def old_row(number: int, gold: int, lls: list[float], **more: Any) -> Json:
    """A document as the versions before 0.9 wrote it."""
    best = max(range(len(lls)), key=lambda k: lls[k])
    return {
        "example": f"Question {number}?",
        "instruction": "",
        "full_prompt": f"An example.\n\nQuestion {number}?",
        "num_effective_few_shots": 25,
        "num_asked_few_shots": 25,
        "predictions": lls,
        "input_tokens": [[1, 2]],
        "cont_tokens": [[3]],
        "truncated": [0],
        "padded": [0],
        "gold": [],
        "pred_logits": [],
        "choices": [f" choice {number}.{k}" for k in range(len(lls))],
        "gold_index": [gold],
        "metrics": {"acc": float(best == gold), "acc_norm": float(best == gold)},
        "specifics": None,
        **more,
    }


def leaderboard_row(number: int, gold: int, lls: list[float]) -> Json:
    """A document of the first Open LLM Leaderboard: metrics are columns of their own."""
    row = old_row(number, gold, lls)
    metrics = row.pop("metrics")
    del row["gold_index"]
    return {**row, "gold": gold, **metrics}


def results(tasks: dict[str, Json], sizes: dict[str, int] = {}, **more: Any) -> Json:  # noqa: B006 - never changed
    """A results file."""
    config = {"model_name": MODEL, "generation_parameters": {"temperature": 0.5, "max_new_tokens": None}}
    general = {"lighteval_sha": "abc123", "max_samples": None, "model_config": config, "model_name": MODEL}
    return {
        "config_general": general,
        "results": {**tasks, "all": next(iter(tasks.values()))},
        "versions": dict.fromkeys(tasks, 0),
        "config_tasks": {
            task: {"effective_num_docs": n, "prompt_function": "<function mmlu at 0x7f00>", "hf_repo": "cais/mmlu"}
            for task, n in sizes.items()
        },
        "summary_tasks": {},
        "summary_general": {},
        **more,
    }


def write_results(folder: Path, value: Json, moment: str = MOMENT) -> Path:
    path = folder / "results" / MODEL / f"results_{moment}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), "utf-8")
    return path


def write_details(folder: Path, task: str, rows: list[Json], moment: str = MOMENT) -> Path:
    import polars as pl

    path = folder / "details" / MODEL / moment / f"details_{task}_{moment}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    return path


def write_small(folder: Path) -> list[Path]:
    """Small valid files of every layout."""
    lls = [-4.5, -1.25, -3.0]
    rows = [choice_row(k, k % 3, lls) for k in range(3)]
    value = results({"mmlu:law|5": {"acc": 1 / 3, "acc_stderr": 0.3}}, {"mmlu:law|5": 3})
    other = "2023-07-19T13-48-53.093937"
    return [
        write_results(folder, value),
        write_details(folder, "mmlu:law|5", rows),
        write_details(folder, "gsm8k|0", [text_row(0, ["4"], "4")]),
        write_details(folder, "leaderboard|arc:challenge|25", [old_row(k, 1, lls) for k in range(2)], other),
        write_details(folder, "harness|arc:challenge|25", [leaderboard_row(0, 1, lls)], other),
    ]
