"""Expected table of the lm-evaluation-harness logs, by the standard library alone.

It imports nothing of Foreshock and its readers are not used. Usage::

    python tests/oracles/lm_eval_oracle.py ../shared/data/logs

reads every ``.json`` and ``.jsonl`` below ``lm_eval_0.3`` and ``lm_eval_0.4`` and writes ``lm_eval_expected.json``
beside this file. No item text enters it: only ids, counts, means and hashes. ``README.md`` explains the shapes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FOLDERS = ("lm_eval_0.3", "lm_eval_0.4")
ENDS = 3  # ids kept from the start and from the end of a samples file


def number(value: Any) -> float | None:
    """A number; None for ``N/A``, an empty list, NaN and other text."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def aggregate_rows(results: Json) -> list[list[Any]]:
    """Rows [task, metric, filter, value, stderr]; the filter is None in the 0.3 layout, which has none."""
    rows = []
    for task, metrics in results.items():
        for key, value in metrics.items():
            metric, comma, name = key.partition(",")
            if metric == "alias" or metric.endswith("_stderr"):
                continue
            error = metrics.get(f"{metric}_stderr{comma}{name}")
            rows.append([task, metric, name if comma else None, number(value), number(error)])
    return rows


def shots(log: Json, task: str) -> int | None:
    """Few-shot examples of a task: per task, else in the task's configuration, else of the whole run."""
    if task in (log.get("n-shot") or {}):
        return int(log["n-shot"][task])
    config = (log.get("configs") or {}).get(task) or log["config"]
    found = config.get("num_fewshot")
    return None if found is None else int(found)


def results_entry(log: Json) -> Json:
    """A results file of either generation."""
    config, sizes = log["config"], log.get("n-samples") or {}
    tasks = list(log["results"])
    rows = aggregate_rows(log["results"])
    named = {"num_fewshot": {t: shots(log, t) for t in tasks}, "versions": {t: log["versions"].get(t) for t in tasks}}
    return {
        "kind": "results-0.4" if any(r[2] is not None for r in rows) else "results-0.3",
        "model": config["model"],
        "model_args": config["model_args"],
        "model_name": log.get("model_name"),
        "lm_eval_version": log.get("lm_eval_version"),
        "git_hash": log.get("git_hash"),
        "date": log.get("date"),
        "config": {k: config.get(k) for k in ("batch_size", "device", "limit", "bootstrap_iters")},
        **{k: next(iter(v.values())) if len(set(v.values())) == 1 else v for k, v in named.items()},
        "groups": sorted(log.get("groups") or {}),
        "n": {t: s["effective"] for t, s in sizes.items()},
        "rows": rows,
    }


def mean(values: list[Any]) -> Any:
    """Mean of scalars, exact; None when a value is not a number."""
    if not values or any(number(v) is None for v in values):
        return None
    return float(sum(Fraction(v) for v in values) / len(values))


def digest(value: Any) -> str:
    """Hash of a JSON value, in place of the value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def samples_entry(lines: list[Json]) -> Json:
    """A file of logged samples: one line per document and filter."""
    filters = Counter(line.get("filter") for line in lines)
    means = {}
    for name in filters:
        chosen = [line for line in lines if line.get("filter") == name]
        metrics = sorted({m for line in chosen for m in line.get("metrics") or []})
        means[str(name)] = {m: [mean([line[m] for line in chosen]), len(chosen)] for m in metrics}
    ids = [line["doc_id"] for line in lines]
    return {
        "kind": "samples-0.4",
        "lines": len(lines),
        "doc_ids": len(set(ids)),
        "filters": {str(k): v for k, v in filters.items()},
        "means": means,
        "first_ids": ids[:ENDS],
        "last_ids": ids[-ENDS:],
        "doc_hashes": len({line["doc_hash"] for line in lines}),
        "target": [digest(line["target"]) for line in lines],
        "output": [digest(line["filtered_resps"]) for line in lines],
    }


def item_entry(lines: list[Json]) -> Json:
    """Item-level answers of a chat API with their own ``correct``: not a harness format."""
    key = "id" if "id" in lines[0] else "idx"
    replies = [line["response"] for line in lines]
    ids = [line[key] for line in lines]
    return {
        "kind": "chat-items",
        "items": len(lines),
        "distinct_ids": len(set(ids)),
        "id_key": key,
        "first_ids": ids[:ENDS],
        "last_ids": ids[-ENDS:],
        "correct": sum(line["correct"] for line in lines),
        "model": sorted({r["model"] for r in replies}),
        "finish_reasons": dict(Counter(r["choices"][0]["finish_reason"] for r in replies)),
        "empty_outputs": sum(not r["choices"][0]["message"]["content"] for r in replies),
        "tokens": [sum(r["usage"][f"{k}_tokens"] for r in replies) for k in ("prompt", "completion", "total")],
        "outputs": digest([r["choices"][0]["message"]["content"] for r in replies]),
    }


def file_entry(path: Path) -> Json:
    """Everything expected of one file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return results_entry(json.loads(text))
    lines = [json.loads(line) for line in text.split("\n") if line]
    kind: Callable[[list[Json]], Json] = samples_entry if "doc_id" in lines[0] else item_entry
    return kind(lines)


def main() -> None:
    """Write the table, one line per file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    files = sorted(p for f in FOLDERS for p in (folder / f).rglob("*") if p.suffix in {".json", ".jsonl"})
    table = {p.relative_to(folder).as_posix(): file_entry(p) for p in files}
    lines = [f"{json.dumps(k)}:{json.dumps(v, allow_nan=False, separators=(',', ':'))}" for k, v in table.items()]
    out = Path(__file__).with_name("lm_eval_expected.json")
    out.write_text('{"files":{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{out.name}: {len(files)} files, {dict(Counter(v['kind'] for v in table.values()))}")


if __name__ == "__main__":
    main()
