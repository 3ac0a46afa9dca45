"""Runs `foreshock meta` over the published list and tables and keeps what it says.

python -m experiments.meta.run --data ../shared/data
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.meta.tables import write

from foreshock.demo import unpack

RESULTS = Path(__file__).parent / "results"
LIST = [
    "--list",
    "{data}/metrics/wei_2022_bigbench_partial.csv",
    "--base",
    "{data}/metrics/bigbench_preferred_metric.csv",
]
SCORERS = (
    "verification_code manual_inspection model_graded model_graded_equiv normalized_string_match sympy_equiv "
    "model_extracted_exact_match swe_bench_scorer"
)
EPOCH = [f"{name}=hard" for name in SCORERS.split()] + ["Average progress=continuous", "Accuracy=continuous"]
SIMILAR = "bert_score_accuracy=hard,single_bert_score=continuous"

RUNS: dict[str, list[str]] = {
    "list": [*LIST, "--together", "multiple_choice_grade+exact_str_match"],
    "list_json": [*LIST, "--together", "multiple_choice_grade+exact_str_match", "--base-where", "declared_in=json"],
    "pythia_lmeval": ["--csv", "{data}/series/pythia_lmeval.csv.gz"],
    "arithmetic": ["--csv", "{tables}/arithmetic.csv"],
    "emergent_tasks": ["--csv", "{tables}/emergent_tasks.csv", "--axis", "flops"],
    "emergent_tasks_scatter": ["--csv", "{tables}/emergent_tasks.csv", "--axis", "flops", "--errors", "scatter"],
    "leaderboard": ["--csv", "{tables}/leaderboard.csv", "--axis", "flops", "--errors", "scatter"],
    "three_metrics": [
        *("--csv", "{tables}/three_metrics.csv", "--errors", "scatter", "--kinds", SIMILAR),
        *("--swap", "exact_match=edit_distance"),
    ],
    "three_metrics_similarity": [
        *("--csv", "{tables}/three_metrics.csv", "--errors", "scatter", "--kinds", SIMILAR),
        *("--swap", "exact_match=single_bert_score"),
    ],
    "epoch": ["{data}/series/epoch", "--axis", "released", "--errors", "scatter", "--kinds", ",".join(EPOCH)],
    "ladder": ["{ladder}"],
    "ladder_verdict": ["{ladder}", "--by", "verdict"],
    "mmlu_pro": ["{data}/items/mmlu_pro_items.parquet"],
    "mmlu_pro_categories": ["--csv", "{tables}/categories.csv"],
}
ENVIRONMENT = {"COLUMNS": "110", "PATH": "", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
KEPT = ("meta", "swap", "predictions", "notes")


def main() -> None:
    """Run everything, or what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="Folder of the published tables.")
    parser.add_argument("names", nargs="*", help="Only these runs.")
    asked = parser.parse_args()
    names = asked.names or list(RUNS)
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder)
        write(asked.data, tables)
        places = {"data": asked.data.resolve(), "tables": tables, "ladder": unpack(tables / "ladder")}
        for name in names:
            run(name, places)
    summarise()


def run(name: str, places: dict[str, Path]) -> None:
    """One call, its tables and its words."""
    arguments = [part.format(**places) for part in RUNS[name]]
    out = places["tables"] / f"{name}.json"
    if not name.startswith("list"):
        arguments += ["--store", str(places["tables"] / f"store_{name.partition('_verdict')[0]}")]
    start = time.monotonic()
    command = [sys.executable, "-m", "foreshock", "meta", *arguments]
    said = subprocess.run([*command, "--json", str(out)], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    document: dict[str, Any] = json.loads(out.read_text("utf-8"))
    triplets = document["tables"]["triplets"]
    result = {
        "command": ["foreshock", "meta", *RUNS[name]],
        "seconds": round(time.monotonic() - start, 1),
        "triplets": len(triplets),
        "told": sum(row["emergent"] is not None for row in triplets),
        "emergent": sum(bool(row["emergent"]) for row in triplets),
        **{key: document["tables"][key] for key in KEPT},
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    words = said.stdout
    for place, path in places.items():
        words = words.replace(str(path), f"{{{place}}}")
    (RESULTS / f"{name}.txt").write_text("\n".join(line.rstrip() for line in words.splitlines()) + "\n", "utf-8")


def summarise() -> None:
    """One line for each run that there is."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    made = [f"{name} {version(name)}" for name in ("foreshock", "numpy", "scipy", "polars")]
    lines = [
        "# Results",
        "",
        f"`python -m experiments.meta.run --data DATA` at commit {head.stdout.strip()}; "
        f"Python {platform.python_version()}, {', '.join(made)}. The words of each run are in its `.txt`, every figure "
        "in its `.json`.",
        "",
        "| run | triplets told | emergent | kind | emergent of kind | others of kind | odds ratio | p | whole tasks |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in RUNS:
        path = RESULTS / f"{name}.json"
        if path.exists():
            told = json.loads(path.read_text("utf-8"))
            lines += [_line(name, told, row) for row in told["meta"]]
    lines += [
        "",
        "The swap, where a task has both kinds:",
        "",
        "| run | pairs | both | removed | gained | neither | p |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for name in RUNS:
        path = RESULTS / f"{name}.json"
        row = json.loads(path.read_text("utf-8"))["swap"][0] if path.exists() else {"pairs": 0}
        if row["pairs"]:
            cells = [row[key] for key in ("pairs", "both", "removed", "gained", "neither")]
            p = "none" if row["p"] is None else f"{row['p']:.2g}"
            lines.append(f"| {name} | {' | '.join(map(str, cells))} | {p} |")
    (RESULTS / "summary.md").write_text("\n".join(lines) + "\n", "utf-8")


def _line(name: str, told: dict[str, Any], row: dict[str, Any]) -> str:
    def end(x: float | None) -> str:
        return "inf" if x is None else f"{x:.3g}"

    odds = "-"
    if row["odds_ratio_low"] is not None:
        odds = f"{end(row['odds_ratio'])} ({end(row['odds_ratio_low'])} to {end(row['odds_ratio_high'])})"
    p, whole = ("-" if row[key] is None else f"{row[key]:.2g}" for key in ("p", "p_tasks"))
    counts = f"{row['emergent_of_kind']} of {row['emergent']} | {row['others_of_kind']} of {row['others']}"
    first = f"{name} | {told['told']} of {told['triplets']} | {told['emergent']}"
    return f"| {first} | {row['kind']} | {counts} | {odds} | {p} | {whole} |"


if __name__ == "__main__":
    main()
