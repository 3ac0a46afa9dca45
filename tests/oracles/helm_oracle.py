"""Table of what stands in HELM run folders, made with the standard library alone.

Usage: python tests/oracles/helm_oracle.py ../shared/data/logs/helm
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any


def text(value: str | None) -> list[Any] | None:
    """First 16 hex digits of the SHA-256 and number of code points."""
    return None if value is None else [hashlib.sha256(value.encode()).hexdigest()[:16], len(value)]


def run(folder: Path) -> dict[str, Any]:
    """One run: a row for each request, its statistics, and the means of the run."""
    log = {p.name: json.loads(p.read_text("utf-8")) for p in folder.glob("*.json")}
    adapter = log["run_spec.json"]["adapter_spec"]
    rows = []
    for state in log["scenario_state.json"]["request_states"]:
        instance, (completion,) = state["instance"], state["result"]["completions"]
        texts = [r["output"]["text"] for r in instance["references"]]
        right = [k for k, r in enumerate(instance["references"]) if "correct" in r["tags"]]
        letters = state.get("output_mapping")
        (stats,) = [e["stats"] for e in log["per_instance_stats.json"] if e["instance_id"] == instance["id"]]
        rows.append(
            {
                "id": instance["id"],
                "split": instance["split"],
                "trial": state["train_trial_index"],
                "input": text(instance["input"]["text"]),
                "references": [text(t) for t in texts],
                "right": right,
                "output": text(completion["text"]),
                "picked": text(letters.get(completion["text"].strip())) if letters else None,
                "tokens": len(completion["tokens"]),
                "logprobs": [t["logprob"] for t in completion["tokens"]],
                "seconds": state["result"]["request_time"],
                "examples": state["num_train_instances"],
                "stats": sorted([s["name"]["name"], s["name"]["split"], s["count"], s.get("mean")] for s in stats),
            }
        )
    means = []
    for stat in log["stats.json"]:
        name = stat["name"]
        perturbation = name.get("perturbation") or {}
        where = [name["name"], name.get("split"), perturbation.get("name"), perturbation.get("computed_on")]
        means.append([*where, stat["count"], stat.get("mean")])
    return {
        "name": log["run_spec.json"]["name"],
        "model": adapter["model"],
        "deployment": adapter["model_deployment"],
        "shots": adapter["max_train_instances"],
        "method": adapter["method"],
        "rows": rows,
        "means": means,
    }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    table = {p.name: run(p) for p in sorted(place.iterdir()) if p.is_dir()}
    out = Path(__file__).with_name("helm_expected.json")
    out.write_text(json.dumps({"files": table}, indent=None, separators=(",", ":")) + "\n", "utf-8")
