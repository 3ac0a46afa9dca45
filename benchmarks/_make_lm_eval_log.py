"""Write logged samples of lm-evaluation-harness, four choices each, with the results file beside them; our words.

    python benchmarks/_make_lm_eval_log.py FOLDER --samples 50000

The layout is that of 0.4.7 to today. A line has about 8 kB: the harness repeats the prompt, few-shot examples and all,
in the request of every choice, so that 50,000 documents take 400 MB, most of it four times the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from pathlib import Path
from typing import Any

from _make_inspect_log import prose

TASK, MOMENT = "word_choice", "2026-11-30T09-00-00.000000"
SHOTS = 4
LETTERS = "ABCD"


def digest(text: str) -> str:
    """What the harness calls ``doc_hash``, ``prompt_hash`` and ``target_hash``."""
    return hashlib.sha256(text.encode()).hexdigest()


def document(rng: random.Random, number: int) -> dict[str, Any]:
    """One record of the data set."""
    choices = [prose(rng, 4) for _ in LETTERS]
    return {
        "id": number,
        "subject": "abc"[number % 3],
        "question": f"{prose(rng, 30)}?",
        "choices": choices,
        "answer": rng.randrange(4),
    }


def rendered(doc: dict[str, Any]) -> str:
    """A document as the template shows it."""
    options = "\n".join(f"{letter}. {choice}" for letter, choice in zip(LETTERS, doc["choices"], strict=True))
    return f"Question: {doc['question']}\n{options}\nAnswer:"


def line(number: int, examples: str, seed: int = 0) -> dict[str, Any]:
    """One line of samples: a document with one request for each of its choices."""
    rng = random.Random(f"{seed}/{number}")
    doc = document(rng, number)
    prompt = examples + rendered(doc)
    logprobs = [rng.gauss(-8, 3) for _ in LETTERS]
    replies = [[str(value), str(value == max(logprobs))] for value in logprobs]
    chosen = max(range(4), key=logprobs.__getitem__)
    lengths = [len(choice) for choice in doc["choices"]]
    normed = max(range(4), key=lambda k: logprobs[k] / lengths[k])
    requests = {f"gen_args_{k}": {"arg_0": prompt, "arg_1": f" {choice}"} for k, choice in enumerate(doc["choices"])}
    return {
        "doc_id": number,
        "doc": doc,
        "target": str(doc["answer"]),
        "arguments": requests,
        "resps": [[reply] for reply in replies],
        "filtered_resps": replies,
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "doc_hash": digest(json.dumps(doc, indent=2)),
        "prompt_hash": digest(prompt),
        "target_hash": digest(str(doc["answer"])),
        "acc": float(chosen == doc["answer"]),
        "acc_norm": float(normed == doc["answer"]),
    }


def results(samples: int, means: dict[str, float]) -> dict[str, Any]:
    """The file of results that stands beside the samples."""
    metrics = [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in means]
    values = {f"{name},none": mean for name, mean in means.items()}
    spread = {f"{name}_stderr,none": (mean * (1 - mean) / (samples - 1)) ** 0.5 for name, mean in means.items()}
    config = {"task": TASK, "output_type": "multiple_choice", "num_fewshot": SHOTS, "metric_list": metrics}
    return {
        "results": {TASK: {"alias": TASK, **values, **spread}},
        "group_subtasks": {TASK: []},
        "configs": {TASK: {**config, "target_delimiter": " ", "metadata": {"version": 1.0}}},
        "versions": {TASK: 1.0},
        "n-shot": {TASK: SHOTS},
        "higher_is_better": {TASK: dict.fromkeys(means, True)},
        "n-samples": {TASK: {"original": samples, "effective": samples}},
        "config": {"model": "hf", "model_args": "pretrained=lab/model-1b", "limit": None, "bootstrap_iters": 100000},
        "date": 1796029200.0,
        "model_source": "hf",
        "model_name": "lab/model-1b",
        "model_name_sanitized": "lab__model-1b",
        "task_hashes": {},
    }


def write_logs(folder: Path, samples: int, seed: int = 0) -> Path:
    """Write both files into ``folder``, named as the harness names them; returns the path of the samples."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(seed)
    shots = [document(rng, k) for k in range(SHOTS)]
    examples = "".join(f"{rendered(doc)} {doc['choices'][doc['answer']]}\n\n" for doc in shots)
    path = folder / f"samples_{TASK}_{MOMENT}.jsonl"
    right = {"acc": 0.0, "acc_norm": 0.0}
    with path.open("w", encoding="utf-8") as file:
        for number in range(samples):
            found = line(number, examples, seed)
            file.write(json.dumps(found, ensure_ascii=False) + "\n")
            right = {name: total + found[name] for name, total in right.items()}
    summary = results(samples, {name: total / samples for name, total in right.items()})
    (folder / f"results_{MOMENT}.json").write_text(json.dumps(summary, indent=2), encoding="utf-8")
    return path


def main() -> None:
    """Write the logs that the speed benchmark reads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=50_000)
    asked = parser.parse_args()
    size = write_logs(asked.folder, asked.samples).stat().st_size
    print(f"{asked.folder}: {asked.samples} lines of {size / asked.samples:.0f} bytes, {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
