"""Writers of lm-evaluation-harness files in the layouts of its versions, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DATE_ID = "2024-07-01T10-11-12.000013"


def choice_line(doc_id: int, gold: int, lls: list[float], *, texts: bool = True, **more: Any) -> Json:
    """A four-choice sample as 0.4.3 writes it (``texts``) or as 0.4.0 does."""
    choices = [f"choice {doc_id}.{k}" for k in range(len(lls))]
    context = f"Example?\nAnswer: x\n\nQuestion {doc_id}?\nAnswer:"
    pairs: list[Any] = [[str(ll), "False"] if texts else [ll, False] for ll in lls]
    arguments: Any = [[context, f" {c}"] for c in choices]
    if texts:
        arguments = {f"gen_args_{k}": {"arg_0": a, "arg_1": b} for k, (a, b) in enumerate(arguments)}
    best = max(range(len(lls)), key=lambda k: lls[k])
    return {
        "doc_id": doc_id,
        "doc": {"question": f"Question {doc_id}?", "choices": choices, "answer": gold, "subject": f"s{doc_id % 3}"},
        "target": str(gold) if texts else gold,
        "arguments": arguments,
        "resps": [[p] for p in pairs],
        "filtered_resps": pairs,
        "acc": float(best == gold),
        **more,
    }


def text_line(doc_id: int, output: str, answer: str, target: str, **more: Any) -> Json:
    """A generated sample as 0.4.3 writes it."""
    return {
        "doc_id": doc_id,
        "doc": {"question": f"Question {doc_id}?", "answer": target},
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": f"Q: Question {doc_id}?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[output]],
        "filtered_resps": [answer],
        "exact_match": float(answer == target),
        **more,
    }


def results(task: str, metrics: Json, *, n: int | None = None, config: Json | None = None, **more: Any) -> Json:
    """A results file of 0.4.3."""
    return {
        "results": {task: {"alias": task, **metrics}},
        "configs": {task: {"task": task, "num_fewshot": 5, **(config or {})}},
        "versions": {task: 1.0},
        "n-shot": {task: 5},
        **({"n-samples": {task: {"original": n, "effective": n}}} if n else {}),
        "config": {"model": "hf", "model_args": "pretrained=org/model-1b,revision=step3000", "limit": None},
        "git_hash": "abc1234",
        "date": 1719828672.5,
        "model_name": "org/model-1b",
        "lm_eval_version": "0.4.7",
        **more,
    }


def write_lines(path: Path, lines: list[Json]) -> Path:
    """JSON Lines, as Python writes them (NaN included)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def write_pair(folder: Path, task: str, header: Json, lines: list[Json]) -> tuple[Path, Path]:
    """Results and samples of one call."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"results_{DATE_ID}.json"
    place.write_text(json.dumps(header), "utf-8")
    return place, write_lines(folder / f"samples_{task}_{DATE_ID}.jsonl", lines)
