"""What brings a twin to logs of lm-evaluation-harness, whose version 0.4 is asked for what 0.3 could not log."""

from __future__ import annotations

from collections.abc import Mapping

from foreshock.check._how import How, words
from foreshock.records import Run

# the classes of 0.3 that load a model from the hub are one in 0.4
_BACKENDS = {
    **dict.fromkeys(("gpt2", "hf-causal", "hf-causal-experimental", "hf-seq2seq"), "hf"),
    "gpt3": "openai-completions",
    "anthropic": "anthropic-completions",
}
_RENAMED = {"use_accelerate": "parallelize", "quantized": "autogptq", "add_special_tokens": "add_bos_token"}
_GONE = frozenset({"device_map_option", "gptq_use_triton", "inject_fused_attention"})
_MMLU = "hendrycksTest-"
_NEWER = "The command is one of lm-eval 0.4, which may score otherwise than 0.3: run all models with it."


def how_lm_eval(run: Run, *, totals: bool, choices: bool) -> How:
    """The run again, with its samples; generated answers need a form of the task that scores the right one."""
    old = run.meta.get("layout") == "0.3"
    asked = f"mmlu_{run.task.removeprefix(_MMLU)}" if old and run.task.startswith(_MMLU) else run.task
    task, extra, before = asked, [], _NEWER if old else ""
    if not totals and not choices:
        task = f"{asked}_loglikelihood"
        extra = ["--include_path", "."]
        before = (
            f"Generated text has no log-probability of the right answer: write {task}.yaml with `include: "
            f"{asked}.yaml`, `task: {task}` and `output_type: loglikelihood`.{' ' + before if before else ''}"
        )
    shots = run.conditions.get("shots")
    backend = str(run.meta.get("backend") or "hf")
    command = words(
        *("lm_eval", "--model", _BACKENDS.get(backend, backend) if old else backend),
        *("--model_args", _arguments(run, old=old)),
        *("--tasks", task, *(["--num_fewshot", shots] if shots else []), *extra),
        *("--log_samples", "--output_path", "logs"),
    )
    return How("the log-probability of the right answer or option", command, before)


def _arguments(run: Run, *, old: bool) -> str:
    told = run.meta.get("model_args")
    if isinstance(told, Mapping):
        pairs = [f"{key}={value}" for key, value in told.items()]
    elif isinstance(told, str) and told:
        pairs = told.split(",")
    else:
        name, _, revision = run.model.partition("@")
        pairs = [f"pretrained={name}", *([f"revision={revision}"] if revision else [])]
    return ",".join([now for pair in pairs if (now := _newer(pair))] if old else pairs)


def _newer(pair: str) -> str:
    """An argument of 0.3 as 0.4 takes it; empty where nothing takes it any more."""
    name, equals, value = pair.partition("=")
    return "" if name in _GONE else f"{_RENAMED.get(name, name)}{equals}{value}"
