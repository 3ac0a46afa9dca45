"""Writers of HELM run folders in the shapes of its adapters, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DIALECT: Json = {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed", "prob": 1.0}
OPTIONS = ("Paris", "Rome", "Oslo")


def adapter(method: str = "generation", **more: Any) -> Json:
    return {
        "method": method,
        "model": "org/model-1b",
        "model_deployment": "host/model-1b",
        "max_train_instances": 5,
        "max_eval_instances": 10,
        "num_outputs": 1,
        "num_train_trials": 1,
        "temperature": 0.0,
        "max_tokens": 5,
        "chain_of_thought_prefix": "",
        **more,
    }


def run_spec(method: str = "generation", name: str = "capitals:subject=all,model=org_model-1b", **more: Any) -> Json:
    return {
        "name": name,
        "scenario_spec": {"class_name": "helm.CapitalScenario", "args": {}},
        "adapter_spec": adapter(method),
        "metric_specs": [{"class_name": "helm.BasicMetric", "args": {}}],
        "data_augmenter_spec": {"perturbation_specs": []},
        "groups": ["capitals"],
        **more,
    }


def instance(number: int, gold: int = 0, options: tuple[str, ...] = OPTIONS, **more: Any) -> Json:
    references = [{"output": {"text": t}, "tags": ["correct"] if k == gold else []} for k, t in enumerate(options)]
    return {
        "input": {"text": f"Capital number {number}?"},
        "references": references,
        "split": "test",
        "id": f"id{number}",
        **more,
    }


def completion(text: str, logprobs: list[float], tokens: list[str] | None = None, **more: Any) -> Json:
    pieces = tokens or [text]
    listed = [{"text": t, "logprob": p} for t, p in zip(pieces, logprobs, strict=True)]
    return {"text": text, "logprob": sum(logprobs), "tokens": listed, **more}


def state(asked: Json, *completions: Json, **more: Any) -> Json:
    return {
        "instance": asked,
        "train_trial_index": 0,
        "request": {"prompt": f"Q: {asked['input'].get('text')}\nA:", "model": "org/model-1b"},
        "result": {
            "success": True,
            "completions": list(completions),
            "cached": False,
            "request_time": 0.5,
            "request_datetime": 1_700_000_000,
        },
        "num_train_instances": 5,
        "prompt_truncated": False,
        **more,
    }


def refused(asked: Json, error: str, **more: Any) -> Json:
    result = {"success": False, "completions": [], "embedding": [], "cached": False, "error": error}
    return state(asked, result=result, **more)


def stat(name: str, mean: float | None, split: str = "test", perturbation: Json | None = None) -> Json:
    what = {"name": name, "split": split, **({"perturbation": perturbation} if perturbation else {})}
    if mean is None:
        return {"name": what, "count": 0, "sum": 0, "sum_squared": 0}
    return {"name": what, "count": 1, "sum": mean, "sum_squared": mean * mean, "mean": mean, "variance": 0.0}


def measured(asked: Json, *stats: Json, trial: int = 0) -> Json:
    perturbation = {"perturbation": asked["perturbation"]} if "perturbation" in asked else {}
    return {"instance_id": asked["id"], **perturbation, "train_trial_index": trial, "stats": list(stats)}


def write_run(
    folder: Path,
    spec: Json | None,
    states: list[Json] | None,
    per_instance: list[Json] | None = None,
    stats: list[Json] | None = None,
    **more: Any,
) -> Path:
    """A run folder; None is a file that is not there, ``more`` names others without their suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    known = (spec or {}).get("adapter_spec") or adapter()
    files = {
        "run_spec": spec,
        "scenario_state": None if states is None else {"adapter_spec": known, "request_states": states},
        "per_instance_stats": per_instance,
        "stats": stats,
        **more,
    }
    for name, content in files.items():
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return folder


def generation_run(folder: Path, n: int = 3) -> Path:
    asked = [instance(k) for k in range(n)]
    states = [state(a, completion(" Paris", [-0.25], finish_reason={"reason": "stop"})) for a in asked]
    entries = [measured(a, stat("exact_match", 1.0), stat("num_output_tokens", 1.0)) for a in asked]
    means = [stat("exact_match", 1.0), stat("num_instances", float(n))]
    return write_run(folder, run_spec(), states, entries, means, scenario={"name": "capitals", "definition_path": "x"})


def joint_run(folder: Path) -> Path:
    letters = dict(zip("ABC", OPTIONS, strict=True))
    right = state(instance(0), completion(" A", [-0.5]), output_mapping=letters)
    lost = state(instance(1), completion(" Z", [-0.5]), output_mapping=letters)
    return write_run(folder, run_spec("multiple_choice_joint"), [right, lost])


def echoed(asked: Json, reference: int, logprobs: list[float], mode: str = "original") -> Json:
    """The request for one reference: the prompt comes back with it, and every token has a log-probability."""
    text = asked["references"][reference]["output"]["text"]
    tokens = ["Q: ", "Capital", "?\n", "A:", f" {text[:2]}", text[2:]]
    filled = [-9.0, -8.0, -7.0, -6.0][: len(tokens) - len(logprobs)] + logprobs
    return state(asked, completion("".join(tokens), filled, tokens), reference_index=reference, request_mode=mode)


def separate_run(folder: Path, method: str = "multiple_choice_separate_original") -> Path:
    asked = instance(0, gold=1)
    values = [[-2.0, -1.0], [-0.5, -0.25], [-3.0, -3.0]]
    states = [echoed(asked, k, v) for k, v in enumerate(values)]
    if method.endswith("calibrated"):
        states += [echoed(asked, k, [-0.5 * (k + 1), -0.5], "calibration") for k in range(len(values))]
    return write_run(folder, run_spec(method), states, [measured(asked, stat("exact_match", 1.0))])


def language_run(folder: Path) -> Path:
    asked = {"input": {"text": "A story."}, "references": [], "split": "test", "id": "id0"}
    first = state(asked, completion("A st", [0.0, -1.0], ["A", " st"]), num_conditioning_tokens=1)
    then = state(asked, completion(" story.", [-9.0, -0.5, -0.25], [" st", "ory", "."]), num_conditioning_tokens=1)
    return write_run(folder, run_spec("language_modeling"), [first, then])


def slim_run(folder: Path) -> Path:
    asked = [instance(k) for k in range(2)]
    entries = [measured(a, stat("exact_match", 0.0)) for a in asked]
    return write_run(folder, run_spec(), None, per_instance_stats_slim=entries, instances=asked)


def write_small(folder: Path) -> list[Path]:
    """One folder of every shape that is read; returns their files."""
    makers = (generation_run, joint_run, separate_run, language_run, slim_run)
    made = [maker(folder / maker.__name__) for maker in makers]
    made.append(separate_run(folder / "calibrated", "multiple_choice_separate_calibrated"))
    return sorted(p for place in made for p in place.iterdir())
