"""A simulated suite as logs of lm-evaluation-harness: half of the tasks have one answer, half have four choices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from foreshock.simulate import World, choice_world, suite_world, token_world

MOMENT = "2026-11-30T09-00-00.000000"
WORDS = ["stone", "river", "lamp", "orchard", "window", "ladder", "harbour", "candle", "meadow", "barrel"]
OPTIONS = 4


def suite_worlds(rng: np.random.Generator, tasks: int, points: int, items: int) -> list[World]:
    """Tasks that differ in noise, shape, kind and length of answers; three of ten have a step."""
    each: list[dict[str, Any]] = [
        {"shape": shape, **own}
        for shape in ("linear", "sigmoid", "soft knee", "loss floor")
        for own in ({"lengths": [1, 2, 4, 7], "start": 1.2}, {"kind": "choices"})
    ]
    noise = rng.uniform(0.05, 0.2, tasks)
    return suite_world(rng, make=_world, tasks=tasks, points=points, items=items, noise=noise, breaking=0.3, each=each)


def _world(rng: np.random.Generator, *, kind: str = "answer", **knobs: Any) -> World:
    return choice_world(rng, **knobs) if kind == "choices" else token_world(rng, positions=False, **knobs)


def write_suite(folder: Path, worlds: list[World]) -> int:
    """Write a folder of logs for each model, as the harness does; returns the bytes written."""
    points = len(worlds[0].x)
    size = 0
    for point in range(points):
        model = f"pretrained=lab/model-{1e6 * worlds[0].x[point]:.0f}m"
        own = folder / f"lab__model-{point}"
        own.mkdir(parents=True)
        results: dict[str, dict[str, Any]] = {}
        for number, world in enumerate(worlds):
            name = f"task_{number:03}"
            path = own / f"samples_{name}_{MOMENT}.jsonl"
            path.write_text("".join(lines(world, point, number)), encoding="utf-8")
            size += path.stat().st_size
            results[name] = {"acc": float(world.hard[point].mean()), "choices": world.link == "argmax"}
        text = json.dumps(summary(results, model, worlds[0].hard.shape[1]), indent=1)
        (own / f"results_{MOMENT}.json").write_text(text, encoding="utf-8")
        size += len(text)
    return size


def lines(world: World, point: int, task: int) -> Iterator[str]:
    """Samples of one model on one task."""
    right = world.hard[point].tolist()
    if world.link != "argmax":
        values = world.twins["gold_logprob"][point].tolist()
        for item, (score, value) in enumerate(zip(right, values, strict=True)):
            reply = [f"{value!r}", str(score == 1)]
            yield _line(task, item, {"text": _question(task, item)}, _answer(task, item), [reply], score)
        return
    margin = world.twins["choice_margin"][point]
    gold = np.log(world.twins["choice_probability"][point])
    rest = np.log(np.maximum((1 - np.exp(gold) - np.exp(gold - margin)) / (OPTIONS - 2), 1e-300))
    each = np.stack([gold, gold - margin, *[rest] * (OPTIONS - 2)], axis=1)
    for item, (score, row) in enumerate(zip(right, each.tolist(), strict=True)):
        turned = [row[(k - item) % OPTIONS] for k in range(OPTIONS)]
        best = max(turned)
        replies = [[repr(value), str(value == best)] for value in turned]
        doc = {
            "question": _question(task, item),
            "choices": [f"{_answer(task, item)} {k}" for k in range(OPTIONS)],
            "answer": item % OPTIONS,
        }
        yield _line(task, item, doc, str(item % OPTIONS), replies, score)


def _line(task: int, item: int, doc: dict[str, Any], target: str, replies: list[list[str]], score: float) -> str:
    prompt = next(iter(doc.values()))
    options = [f" {choice}" for choice in doc.get("choices", [target])]
    body = {
        "doc_id": item,
        "doc": doc,
        "target": target,
        "arguments": {f"gen_args_{k}": {"arg_0": prompt, "arg_1": option} for k, option in enumerate(options)},
        "resps": [[reply] for reply in replies],
        "filtered_resps": replies,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"{task:032x}{item:032x}",
        "prompt_hash": f"{task:032x}{item:032x}",
        "target_hash": f"{task:032x}{item:032x}",
        "acc": score,
    }
    return json.dumps(body) + "\n"


def _question(task: int, item: int) -> str:
    words = [WORDS[(item // 10**k) % 10] for k in range(4)]
    return f"In story {task} the {' and the '.join(words)} of chapter {item} stand before the"


def _answer(task: int, item: int) -> str:
    return f"{WORDS[(task + item) % 10]} {WORDS[(task + 3 * item) % 10]}"


def summary(results: dict[str, dict[str, Any]], model: str, items: int) -> dict[str, Any]:
    """The file of results that stands beside the samples."""
    metrics = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]
    kinds = {name: "multiple_choice" if row["choices"] else "loglikelihood" for name, row in results.items()}
    return {
        "results": {
            name: {
                "alias": name,
                "acc,none": row["acc"],
                "acc_stderr,none": (row["acc"] * (1 - row["acc"]) / (items - 1)) ** 0.5,
            }
            for name, row in results.items()
        },
        "group_subtasks": {name: [] for name in results},
        "configs": {
            name: {"task": name, "output_type": kind, "num_fewshot": 0, "metric_list": metrics}
            for name, kind in kinds.items()
        },
        "versions": dict.fromkeys(results, 1.0),
        "n-shot": dict.fromkeys(results, 0),
        "higher_is_better": {name: {"acc": True} for name in results},
        "n-samples": {name: {"original": items, "effective": items} for name in results},
        "config": {"model": "hf", "model_args": model, "limit": None, "bootstrap_iters": 100000},
        "date": 1796029200.0,
        "model_source": "hf",
        "model_name": model.partition("=")[2],
        "model_name_sanitized": model.partition("=")[2].replace("/", "__"),
        "task_hashes": {},
    }
