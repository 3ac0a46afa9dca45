"""Expected tables of published score tables and matrices, from the cells themselves.

The standard library alone (Polars for the Parquet file); Foreshock's readers are not used. Usage::

    python tests/oracles/tables_oracle.py ../shared/data

``README.md`` explains the columns.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def rows_of(path: Path) -> list[dict[str, str]]:
    """Every row of a CSV, packed or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def digest(rows: list[list[Any]]) -> str:
    """Hash of rows, whatever their order."""
    texts = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def epoch_runs(path: Path) -> Json:
    """One row for each run: model, task, version, moment, best score in thousandths."""
    found = []
    for row in rows_of(path):
        moment = None
        if row["started_at"]:
            moment = datetime.strptime(row["started_at"], "%d %B %Y %I:%M%p").isoformat()
        best = round(float(row["Best score (across scorers)"]) * 1000)
        found.append([row["model"], row["task"], row["task version"], moment, best])
    tasks: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _, task, _, _, best in found:
        tasks[task][0] += 1
        tasks[task][1] += best
    scorers = Counter(part.partition(":")[0] for row in rows_of(path) for part in row["Scores"].split(","))
    return {"rows": len(found), "tasks": tasks, "scorers": scorers, "first": found[0], "digest": digest(found)}


def pythia(path: Path) -> Json:
    """One row for each total: model, step, shots, task, metric, value, standard error."""
    rows = rows_of(path)
    found = [
        [r["model"], int(r["step"]), r["shots"], r["task"], r["metric"], float(r["value"]), float(r["stderr"] or "nan")]
        for r in rows
    ]
    for row in found:
        row[-1] = None if row[-1] != row[-1] else row[-1]
    subjects = {(r["family"], *row[:4]) for r, row in zip(rows, found, strict=True)}
    return {
        "rows": len(found),
        "runs": len(subjects),
        "metrics": Counter(r["metric"] for r in rows),
        "digest": digest(found),
    }


def matrix(path: Path) -> Json:
    """Counts of every code for each model."""
    import polars as pl

    frame = pl.read_parquet(path)
    models = [c for c in frame.columns if c not in ("question_id", "category")]
    counts = {m: {str(k): n for k, n in sorted(Counter(frame[m].to_list()).items())} for m in models}
    return {"items": frame.height, "ids": frame["question_id"].n_unique(), "counts": counts}


def checks(path: Path) -> Json:
    """Runs of a suite of checks: sums of passed and total over (test, language)."""
    rows = rows_of(path)
    runs: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        run = runs[row["run"]]
        run[0] += 1
        run[1] += int(row["passed"])
        run[2] += int(row["total"])
    whole = sum(row["passed"] == row["total"] for row in rows)
    cells = [[row["run"], f"{row['test']}/{row['lang']}", int(row["passed"]), int(row["total"])] for row in rows]
    return {
        "rows": len(rows),
        "runs": len(runs),
        "items": len({(row["test"], row["lang"]) for row in rows}),
        "whole": whole,
        "first_run": runs["0"],
        "digest": digest(cells),
    }


def main() -> None:
    """Write the table, one line per file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    entries = {
        "series/epoch/benchmarks_runs.csv": epoch_runs,
        "series/pythia_lmeval.csv.gz": pythia,
        "items/mmlu_pro_items.parquet": matrix,
        "items/canaicode_junior_tests.csv.gz": checks,
    }
    lines = [f"{json.dumps(name)}: {json.dumps(make(folder / name))}" for name, make in entries.items()]
    out = Path(__file__).with_name("tables_expected.json")
    out.write_text('{"files": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{out.name}: {len(lines)} files")


if __name__ == "__main__":
    main()
