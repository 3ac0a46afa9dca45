"""Published tables in the long form that `foreshock meta --csv` takes: a row for each model, task and metric.

Nothing is computed here but what each function says; no value is left out unless it is marked as missing in its source.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from foreshock.records import parse_model

Rows = Iterator[dict[str, object]]

# sizes as their makers publish them; models whose size is not public (gpt-4, code) are left out
SIZES = {
    "t5-small": 60e6,
    "google/flan-t5-small": 80e6,
    "gpt2": 124e6,
    "Rachneet/gpt2-alpaca": 124e6,
    "t5-large": 770e6,
    "google/flan-t5-large": 780e6,
    "gpt2-xl": 1.5e9,
    "Rachneet/gpt2-xl-alpaca": 1.5e9,
    "EleutherAI/gpt-j-6b": 6e9,
    "togethercomputer/GPT-JT-6B-v1": 6e9,
    "models--llama/7B": 7e9,
    "chavinlo/alpaca-native": 7e9,
    "tiiuae/falcon-7b": 7e9,
    "tiiuae/falcon-7b-instruct": 7e9,
    "models--llama/13B": 13e9,
    "chavinlo/alpaca-13b": 13e9,
    "models--llama/30B": 30e9,
    "tiiuae/falcon-40b": 40e9,
    "tiiuae/falcon-40b-instruct": 40e9,
    "davinci": 175e9,
    "text-davinci-001": 175e9,
    "text-davinci-003": 175e9,
}
TUNED = ("alpaca", "flan", "instruct", "JT", "text-davinci")
MISSING = "-100"
ABSENT = -2

# the leaderboard from which these columns come reports these metrics; TruthfulQA's is a share of probability (mc2)
LEADERBOARD = {
    "MMLU": "acc",
    "ARC-C": "acc_norm",
    "HellaSwag": "acc_norm",
    "Winograd": "acc",
    "TruthfulQA": "mc2",
    "GSM8K": "exact_match",
    "XWinograd": "acc",
    "HumanEval": "pass@1",
}


def emergent_tasks(data: Path) -> Rows:
    """ObsScaling's tasks that are called emergent, with family and compute from the table beside it.

    The number of items is the smallest that makes every score of a column a whole number of right answers.
    """
    folder = data / "series" / "obsscaling"
    models = {row["Model"]: row for row in _rows(folder / "base_llm_benchmark_eval.csv")}
    table = _rows(folder / "base_llm_emergent_capability_eval.csv")
    columns = [name for name in table[0] if name != "Model"]
    items = {name: _items([row[name] for row in table if row[name]]) for name in columns if "bleu" not in name}
    for row in table:
        known = models[row["Model"]]
        if not known["FLOPs (1E21)"]:
            continue
        for name in columns:
            if row[name]:
                task, _, metric = name.partition("_2_")
                value = float(row[name]) / (100 if metric == "bleu" else 1)
                yield {
                    "model": row["Model"],
                    "family": known["Model Family"],
                    "flops": float(known["FLOPs (1E21)"]) * 1e21,
                    "task": task,
                    "metric": metric,
                    "value": value,
                    "n": items.get(name) or "",
                }


def _items(values: Iterable[str], most: int = 5000) -> int | None:
    """The smallest number of items of which every value is a share, but for at most one in twenty."""
    shares = [float(value) for value in values]
    for n in range(2, most):
        odd = sum(abs(share * n - round(share * n)) > 1e-4 for share in shares)
        if odd <= len(shares) / 20 and n > 20:
            return n
    return None


def leaderboard(data: Path) -> Rows:
    """ObsScaling's base models on the usual benchmarks, by compute."""
    for row in _rows(data / "series" / "obsscaling" / "base_llm_benchmark_eval.csv"):
        if not row["FLOPs (1E21)"]:
            continue
        for task, metric in LEADERBOARD.items():
            if row[task]:
                yield {
                    "model": row["Model"],
                    "family": row["Model Family"],
                    "flops": float(row["FLOPs (1E21)"]) * 1e21,
                    "task": task,
                    "metric": metric,
                    "value": float(row[task]),
                }


def three_metrics(data: Path, prompt: str = "closed", shots: str = "0") -> Rows:
    """24 models on 23 tasks: exact match, BERTScore accuracy and similarity, and edit distance of the same outputs.

    The mean over three seeds, of one kind of prompt. No family has four sizes, so base models of all families are one
    line and instruction-tuned ones another: what is emergent along it may be the difference between two families.
    """
    metrics = {
        "exact_match_accuracy": "exact_match",
        "bert_score_accuracy": "bert_score_accuracy",
        "edit_distance": "edit_distance",
        "single_bert_score": "single_bert_score",
    }
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    items: dict[tuple[str, str, str], int] = {}
    for row in _rows(data / "metrics" / "evaluation_scores.csv"):
        if row["model"] not in SIZES or (row["prompt_type"], row["number_of_shots"]) != (prompt, shots):
            continue
        for column, metric in metrics.items():
            if row[column] not in (MISSING, ""):
                place = row["model"], row["filename"].split("/")[0], metric
                found[place].append(float(row[column]))
                items[place] = int(row["number_of_data"])
    for (model, task, metric), values in found.items():
        counted = metric in ("exact_match", "bert_score_accuracy")
        yield {
            "model": model,
            "family": "tuned" if any(mark in model for mark in TUNED) else "base",
            "params": SIZES[model],
            "task": task,
            "metric": metric,
            "value": sum(values) / len(values),
            "n": items[model, task, metric] if counted else "",
        }


def arithmetic(data: Path) -> Rows:
    """Pythia v0 on addition and multiplication, last checkpoint: right answers over all first operands."""
    right: dict[tuple[str, float, str, str], float] = defaultdict(float)
    items: dict[tuple[str, float, str, str], int] = defaultdict(int)
    rows = _rows(data / "series" / "pythia_v0_arithmetic_by_operand.csv.gz")
    last = max(int(row["checkpoint"]) for row in rows)
    for row in rows:
        if int(row["checkpoint"]) == last:
            place = row["model"], float(row["params"]), row["op"], row["shots"]
            right[place] += float(row["acc"]) * int(row["n"])
            items[place] += int(row["n"])
    for (model, size, task, shots), hits in right.items():
        place = model, size, task, shots
        score = {"metric": "acc", "value": hits / items[place], "n": items[place]}
        yield {"model": model, "family": "pythia-v0", "params": size, "task": task, "shots": shots, **score}


def categories(data: Path) -> Rows:
    """MMLU-Pro by category, for the models that state their size, as one line over all families of a training recipe.

    An answer that could not be parsed is wrong; an item that is absent was not asked.
    """
    import polars as pl

    frame = pl.read_parquet(data / "items" / "mmlu_pro_items.parquet")
    models = [name for name in frame.columns if name not in ("question_id", "category")]
    for name in models:
        size = parse_model(name).parameters
        if size is None:
            continue
        asked = frame.filter(pl.col(name) > ABSENT)
        counts = asked.group_by("category").agg((pl.col(name) == 1).sum().alias("right"), pl.len().alias("n"))
        for category, right, n in counts.sort("category").iter_rows():
            place = {"model": name, "family": "models of known size", "params": size, "task": f"mmlu_pro {category}"}
            yield {**place, "metric": "acc", "value": right / n, "n": n}


TABLES = {
    "categories": categories,
    "emergent_tasks": emergent_tasks,
    "leaderboard": leaderboard,
    "three_metrics": three_metrics,
    "arithmetic": arithmetic,
}


def write(data: Path, folder: Path) -> None:
    """Write every table as CSV into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in TABLES.items():
        rows = list(make(data))
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, list(rows[0]))
            out.writeheader()
            out.writerows(rows)


def _rows(path: Path) -> list[dict[str, str]]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
