"""Outcomes as lm-evaluation-harness 0.4.7 writes them: one results file and one sample file per task.

The harness itself did not run; ``lm_eval_version`` says so by its local part. Two things differ from its own files:
each ``generate_until`` sample carries ``gold_token_logprobs`` (one float per answer token, the end token included), and
the dates are not of the clock but follow the order of runs and checkpoints: the same weights give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from . import plan
from .outcome import TASKS, Outcome, exact, held_out, held_out_choices
from .problems import PAD, answer_text, answer_tokens, decode, prompt_text

ORGANISATION = "foreshock-ladder"
LM_EVAL_VERSION = "0.4.7+foreshock.ladder"
FIRST_DATE = datetime(2026, 11, 1, tzinfo=UTC)
TASK_VERSION = 1.0
GENERATION = {"until": ["$"], "do_sample": False, "temperature": 0.0, "max_gen_toks": 6}
Json = dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """What the headers need to know of the model."""

    run: plan.Run
    step: int
    parameters: int
    sha: str
    git_hash: str

    @property
    def date(self) -> datetime:
        """A date that orders runs and, inside a run, checkpoints."""
        order = plan.all_runs().index(self.run)
        return FIRST_DATE + timedelta(hours=order, minutes=plan.CHECKPOINTS.index(self.step))

    @property
    def date_id(self) -> str:
        """The date as the harness puts it into file names."""
        return self.date.strftime("%Y-%m-%dT%H-%M-%S.%f")


def sha256(text: str) -> str:
    """Hexadecimal SHA-256, as the harness hashes documents, prompts and targets."""
    return hashlib.sha256(text.encode()).hexdigest()


def _hashes(doc: Json, arguments: tuple[object, ...], target: str) -> Json:
    return {
        "doc_hash": sha256(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": sha256(str(arguments[0])),
        "target_hash": sha256(target),
    }


def _round(value: float) -> float:
    return round(float(value), 5) + 0.0  # no "-0.0"


def generation_samples(task: str, outcome: Outcome, n: int) -> Iterator[Json]:
    """Sample lines of the first ``n`` problems, written greedily."""
    problems, right = held_out(task), exact(task, outcome)
    real = answer_tokens(problems.answers()) != PAD
    for i in range(n):
        a, b, product = int(problems.a[i]), int(problems.b[i]), bool(problems.product[i])
        target = answer_text(a * b if product else a + b)
        doc = {"a": a, "b": b, "question": prompt_text(a, b, product), "answer": target}
        text = decode(outcome.greedy[i])
        yield {
            "doc_id": i,
            "doc": doc,
            "target": target,
            "arguments": {"gen_args_0": {"arg_0": doc["question"], "arg_1": GENERATION}},
            "resps": [[text]],
            "filtered_resps": [text],
            "filter": "none",
            "metrics": ["exact_match", "gold_token_logprobs"],
            **_hashes(doc, (doc["question"],), target),
            "exact_match": float(right[i]),
            "gold_token_logprobs": [_round(v) for v in outcome.logprob[i][real[i]]],
        }


def choice_samples(task: str, outcome: Outcome, n: int) -> Iterator[Json]:
    """Sample lines of the first ``n`` problems as four choices; numbers as text, as the harness leaves them."""
    problems, (values, gold) = held_out(task), held_out_choices(task)
    for i in range(n):
        a, b, product = int(problems.a[i]), int(problems.b[i]), bool(problems.product[i])
        question, texts = prompt_text(a, b, product), [answer_text(int(v)) for v in values[i]]
        doc = {"a": a, "b": b, "question": question, "choices": texts, "gold": int(gold[i])}
        pairs = [
            [str(_round(ll)), str(bool(is_greedy))]
            for ll, is_greedy in zip(outcome.choice_logprob[i], outcome.choice_greedy[i], strict=True)
        ]
        yield {
            "doc_id": i,
            "doc": doc,
            "target": str(gold[i]),
            "arguments": {f"gen_args_{k}": {"arg_0": question, "arg_1": text} for k, text in enumerate(texts)},
            "resps": [[pair] for pair in pairs],
            "filtered_resps": pairs,
            "filter": "none",
            "metrics": ["acc"],
            **_hashes(doc, (question,), str(gold[i])),
            "acc": float(outcome.choice_logprob[i].argmax() == gold[i]),
        }


def task_samples(task: str, outcome: Outcome, n: int) -> dict[str, list[Json]]:
    """Both renderings of a task by the names they have in the logs."""
    return {
        f"ladder_{task}": list(generation_samples(task, outcome, n)),
        f"ladder_{task}_mc": list(choice_samples(task, outcome, n)),
    }


def _task_config(name: str) -> Json:
    choice = name.endswith("_mc")
    metric = "acc" if choice else "exact_match"
    config: Json = {
        "task": name,
        "dataset_path": "foreshock/arithmetic_ladder",
        "test_split": "test",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{gold}}" if choice else "{{answer}}",
        **({"doc_to_choice": "{{choices}}"} if choice else {}),
        "description": "",
        "target_delimiter": "",
        "fewshot_delimiter": "\n\n",
        "num_fewshot": 0,
        "metric_list": [{"metric": metric, "aggregation": "mean", "higher_is_better": True}],
        "output_type": "multiple_choice" if choice else "generate_until",
        **({} if choice else {"generation_kwargs": GENERATION}),
        "repeats": 1,
        "should_decontaminate": False,
        "metadata": {"version": TASK_VERSION},
    }
    return config


def _mean_and_error(name: str, samples: list[Json]) -> Json:
    metric = "acc" if name.endswith("_mc") else "exact_match"
    values = np.array([s[metric] for s in samples])
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return {"alias": name, f"{metric},none": float(values.mean()), f"{metric}_stderr,none": error}


def results(checkpoint: Checkpoint, samples: dict[str, list[Json]]) -> Json:
    """The results file of one checkpoint."""
    n_all = len(held_out(TASKS[0]))
    model = f"{ORGANISATION}/{checkpoint.run.name}"
    return {
        "results": {name: _mean_and_error(name, lines) for name, lines in samples.items()},
        "group_subtasks": {name: [] for name in samples},
        "configs": {name: _task_config(name) for name in samples},
        "versions": dict.fromkeys(samples, TASK_VERSION),
        "n-shot": dict.fromkeys(samples, 0),
        "higher_is_better": {n: {"acc" if n.endswith("_mc") else "exact_match": True} for n in samples},
        "n-samples": {name: {"original": n_all, "effective": len(lines)} for name, lines in samples.items()},
        "config": {
            "model": "foreshock-ladder",
            "model_args": f"pretrained={model},revision=step{checkpoint.step}",
            "model_num_parameters": checkpoint.parameters,
            "model_dtype": "torch.float16",
            "model_revision": f"step{checkpoint.step}",
            "model_sha": checkpoint.sha,
            "batch_size": n_all,
            "batch_sizes": [],
            "device": "cpu",
            "use_cache": None,
            "limit": None if len(next(iter(samples.values()))) == n_all else float(len(next(iter(samples.values())))),
            "bootstrap_iters": 0,
            "gen_kwargs": None,
            "random_seed": 0,
            "numpy_seed": 1234,
            "torch_seed": 1234,
            "fewshot_seed": 1234,
        },
        "git_hash": checkpoint.git_hash,
        "date": checkpoint.date.timestamp(),
        "lm_eval_version": LM_EVAL_VERSION,
        "upper_git_hash": None,
        "task_hashes": {n: sha256("".join(s["doc_hash"] for s in lines)) for n, lines in samples.items()},
        "model_source": "foreshock-ladder",
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": False,
        "chat_template": None,
        "chat_template_sha": None,
    }


def files(checkpoint: Checkpoint, samples: dict[str, list[Json]]) -> dict[str, bytes]:
    """Paths, relative to the log folder, and contents of all files of one checkpoint."""
    folder = f"{ORGANISATION}__{checkpoint.run.name}"
    head = json.dumps(results(checkpoint, samples), indent=2, ensure_ascii=False)
    out = {f"{folder}/results_{checkpoint.date_id}.json": head.encode()}
    for name, lines in samples.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        out[f"{folder}/samples_{name}_{checkpoint.date_id}.jsonl"] = text.encode()
    return out


def write(folder: Path, contents: dict[str, bytes]) -> None:
    """Write ``files`` below a folder."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
