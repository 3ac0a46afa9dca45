"""From the specification of a HELM run to the facts of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import digest
from foreshock.readers._helm_files import RUN_SPEC, Parts
from foreshock.readers._json import text
from foreshock.readers._plain import Json, conditions, mapping, objects, texts, whole, words
from foreshock.readers._protocol import ReadOptions
from foreshock.records import Run, ingest_id, run_key

# not part of what was asked
_MODEL = ("model", "model_deployment")
_LIMITS = ("max_eval_instances", "num_outputs", "temperature", "max_tokens", "stop_sequences", "random")
_ARGUMENT = re.compile(r"(?:^|(?<=[,:]))(model|model_deployment)=([^,]*),?")
_SEPARATOR = re.compile(r"[:,]+$")


def run_of(parts: Parts, options: ReadOptions, name: str, version: int) -> Run:
    """The run; model and task come from the specification, else, as guesses, from the folder's name."""
    adapter, guesses = parts.adapter, []
    logged = text(words(parts.run_spec.get("name")) or "")
    model = text(words(adapter.get("model")) or "")
    if not model:
        model = options.model or _model_in(logged or parts.folder.absolute().name)
        guesses += [] if options.model else ["model"]
    task = task_in(logged)
    if not task:
        task = options.task or _task_in_folder(parts)
        guesses += [] if options.task else ["task"]
    suite = _suite(parts.folder)
    key = run_key("helm", suite or "", logged or f"{task} {model}", "" if logged else parts.sources[0].sha256)
    prompt, scorer = _hashes(parts)
    warnings = (
        [] if parts.run_spec else [f"no {RUN_SPEC}: {' and '.join(guesses) or 'the task'} may not be what HELM says"]
    )
    run = Run(
        run_key=key,
        format=name,
        reader=f"{name}@{version}",
        model=model,
        task=task,
        conditions=_conditions(parts),
        suite=suite,
        prompt_hash=prompt,
        scorer_hash=scorer,
        judge=_judge(parts),
        sources=parts.sources,
        warnings=warnings,
        guesses=guesses,
        meta=_meta(parts, logged),
    )
    said = {"model": options.model, "task": options.task}
    return msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, said))


def task_in(name: str) -> str:
    """The name of a run without its model.

    Examples:
        >>> task_in("mmlu:subject=anatomy,method=joint,model=org_m-1b"), task_in("narrative_qa:model=openai_gpt2")
        ('mmlu:subject=anatomy,method=joint', 'narrative_qa')
    """
    return _SEPARATOR.sub("", _ARGUMENT.sub("", name))


def _model_in(name: str) -> str:
    """The model that is named in the name of a run or its folder, where a slash became an underscore."""
    found = re.search(r"(?:^|[:,-])model=([^,]+)", name)
    return text(found[1] if found else name)


def _task_in_folder(parts: Parts) -> str:
    folder = re.sub(r"[,:-]?model=[^,]*", "", parts.folder.absolute().name)
    return text(folder or str(parts.scenario.get("name") or "unknown"))


def _suite(folder: Path) -> str | None:
    """``benchmark_output/runs/SUITE/RUN`` is where HELM writes."""
    place = folder.absolute()
    return text(place.parent.name) if place.parent.parent.name == "runs" else None


def _conditions(parts: Parts) -> dict[str, str]:
    adapter = parts.adapter
    trials = whole(adapter.get("num_train_trials"))
    specs = objects(mapping(parts.run_spec.get("data_augmenter_spec")).get("perturbation_specs"))
    perturbed = [str(p.get("name") or p.get("class_name")).rpartition(".")[2] for p in specs]
    thought = bool(words(adapter.get("chain_of_thought_prefix"))) or "chain_of_thought" in str(adapter.get("method"))
    found: Json = {
        "shots": whole(adapter.get("max_train_instances")),
        "method": adapter.get("method"),
        "temperature": adapter.get("temperature"),
        "max_tokens": adapter.get("max_tokens"),
        "chain_of_thought": "yes" if thought else None,
        "num_outputs": adapter.get("num_outputs"),
        "train_trials": trials if trials not in (None, 1) else None,
        "limit": adapter.get("max_eval_instances"),
        "perturbations": ",".join(perturbed),
    }
    return conditions(found)


def _hashes(parts: Parts) -> tuple[str | None, str | None]:
    """Identity of the prompts (but not of the model that got them) and of the scoring."""
    if not parts.run_spec:
        return None, None
    asked = {k: v for k, v in parts.adapter.items() if k not in (*_MODEL, *_LIMITS)}
    spec = parts.run_spec
    prompt = [asked, spec.get("scenario_spec"), spec.get("data_augmenter_spec")]
    return digest(prompt, 16), digest([spec.get("metric_specs"), spec.get("annotators")], 16)


def _judge(parts: Parts) -> str | None:
    """The annotators, which are the models that judge replies."""
    found = [str(a.get("class_name")).rpartition(".")[2] for a in objects(parts.run_spec.get("annotators"))]
    return text(",".join(found)) or None


def _meta(parts: Parts, logged: str) -> dict[str, Any]:
    scenario = mapping(parts.run_spec.get("scenario_spec"))
    found = {
        "run_spec": logged,
        "deployment": words(parts.adapter.get("model_deployment")),
        "scenario": words(scenario.get("class_name")),
        "groups": texts(parts.run_spec.get("groups") or []),
    }
    return {k: v for k, v in found.items() if v}
