"""Table of what stands in recordings of OpenAI evals, made with the standard library alone.

Usage: python tests/oracles/openai_evals_oracle.py ../shared/data/logs/openai_evals
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


def recording(path: Path) -> dict[str, Any]:
    """One file whose samples have one sampling and one match each."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    (spec,) = [line["spec"] for line in lines if "spec" in line]
    (report,) = [line["final_report"] for line in lines if "final_report" in line]
    rows = []
    for match in (line for line in lines if line.get("type") == "match"):
        name, data = match["sample_id"], match["data"]
        (sampling,) = [e["data"] for e in lines if e.get("type") == "sampling" and e["sample_id"] == name]
        rows.append(
            {
                "id": name,
                "prompt": text(sampling["prompt"]),
                "sampled": text(sampling["sampled"]),
                "picked": text(data["picked"]),
                "expected": text(data["expected"]),
                "correct": data["correct"],
            }
        )
    keys = ("run_id", "eval_name", "split", "created_at", "completion_fns")
    return {**{k: spec[k] for k in keys}, "seed": spec["run_config"]["seed"], "report": report, "rows": rows}


if __name__ == "__main__":
    table = {p.name: recording(p) for p in sorted(Path(sys.argv[1]).glob("*.jsonl"))}
    out = Path(__file__).with_name("openai_evals_expected.json")
    out.write_text(json.dumps({"files": table}, indent=1) + "\n", "utf-8")
