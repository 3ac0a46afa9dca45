"""What every file of the real logs holds: format, version, runs, items, responses by state; made without our readers.

It imports nothing of Foreshock: json, zipfile, and zstandard for members that the standard library cannot unpack.
Usage::

    python tests/oracles/formats_oracle.py ../shared/data/logs

walks the folder and writes ``formats.json`` beside this file. A file that the script cannot place is an error, never
left out. ``README.md`` explains the states; the remarks at the end were written by hand, with the files open.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # run as a script, or collected by pytest
from formats_remarks import REMARKS

Json = dict[str, Any]
ZSTD = 93
NOT_CUT, CUT = "ok", "truncated"
HELM_FILES = {"per_instance_stats.json", "run_spec.json", "scenario.json", "scenario_state.json", "stats.json"}


def entry(kind: str, **facts: Any) -> Json:
    """One row of the table; what is not given is not in the file."""
    blank = dict.fromkeys(("version", "writer", "runs", "expected", "items", "responses", "states", "scored"))
    return {"format": kind, **blank, "aggregates": None, **facts}


def counted(states: Iterable[str]) -> Json:
    """How often each state occurs, by name."""
    return dict(sorted(Counter(states).items()))


def finite(value: Any) -> bool:
    """Whether a value is a number that says something."""
    return isinstance(value, bool | int | float) and math.isfinite(value)


# Inspect -------------------------------------------------------------------------------------------------------------


def unpacked(path: Path, info: zipfile.ZipInfo, archive: zipfile.ZipFile) -> bytes:
    """Content of a member; all its frames when it is zstd."""
    if info.compress_type != ZSTD:
        return archive.read(info)
    import zstandard

    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
        file.seek(info.header_offset + 30 + name + extra)
        with zstandard.ZstdDecompressor().stream_reader(file.read(info.compress_size), read_across_frames=True) as out:
            data: bytes = out.read()
    if len(data) != info.file_size:
        raise ValueError(f"{path}, {info.filename}: not of the size that the directory says")
    return data


def inspect_archive(path: Path) -> tuple[Json, list[Json]]:
    """Header and samples of a zip; of a sample in pieces the file ``sample.json`` is enough here."""
    with zipfile.ZipFile(path) as archive:
        parts = {i.filename: i for i in archive.infolist()}
        header: Json = json.loads(unpacked(path, parts["header.json"], archive))
        names = [n for n in parts if n.startswith("samples/") and (n.count("/") == 1 or n.endswith("/sample.json"))]
        return header, [json.loads(unpacked(path, parts[n], archive)) for n in names]


def inspect_state(sample: Json) -> str:
    """Delivery of a sample, by the rules of README.md."""
    error, output = sample.get("error"), sample.get("output") or {}
    if error:
        kind = error["message"].partition("(")[0]
        return {"CancelledError": "cancelled", "TimeoutError": "timeout"}.get(kind, "error")
    if sample.get("limit"):
        kind = sample["limit"]["type"]
        return {"time": "timeout", "working": "timeout", "operator": "cancelled"}.get(kind, CUT)
    if not output.get("choices"):
        return NOT_CUT if sample.get("scores") else "missing"
    choice = output["choices"][0]
    content = choice["message"]["content"]
    if isinstance(content, list) and any(part.get("refusal") for part in content):
        return "refused"
    reason = choice.get("stop_reason")
    if reason == "content_filter" or output.get("error"):
        return "blocked"
    return CUT if reason in ("max_tokens", "model_length", "length") else NOT_CUT


def inspect_scored(sample: Json) -> bool:
    """Whether a scorer gave a value: a number, or one of Inspect's letters."""
    values = [v for s in (sample.get("scores") or {}).values() for v in leaves(s["value"])]
    return any(finite(v) or v in ("C", "I", "P", "N") for v in values)


def leaves(value: Any) -> list[Any]:
    """The value, or those of a dictionary."""
    return [v for part in value.values() for v in leaves(part)] if isinstance(value, dict) else [value]


def inspect_expected(header: Json) -> int | None:
    """Samples that the header announces; see README.md."""
    stated = (header.get("results") or {}).get("total_samples")
    if stated:
        return int(stated)
    data, config = header["eval"]["dataset"], header["eval"]["config"]
    count = len(data.get("sample_ids") or ()) or data.get("samples")
    if count is None:
        return None
    if not data.get("sample_ids") and config.get("limit") is not None:
        count = min(count, config["limit"])
    return int(count * (config.get("epochs") or 1))


def inspect_log(path: Path) -> Json:
    """An Inspect log, a zip or one JSON object."""
    if zipfile.is_zipfile(path):
        header, samples = inspect_archive(path)
    else:
        header = json.loads(path.read_bytes())
        samples = header.get("samples") or []
    expected, states = inspect_expected(header), counted(map(inspect_state, samples))
    # a log without the key never held responses; an archive always could
    logged = zipfile.is_zipfile(path) or "samples" in header
    absent = max(0, (expected or 0) - len(samples)) if logged else 0
    if absent:
        name = "cancelled" if header["status"] == "cancelled" else "missing"
        states = dict(sorted((Counter(states) + Counter({name: absent})).items()))
    results = header.get("results") or {}
    groups = results.get("scores") or ([results] if results.get("metrics") else [])
    metrics = [m for g in groups for m in (g["metrics"].values() if isinstance(g["metrics"], dict) else g["metrics"])]
    return entry(
        "inspect",
        version=header.get("version"),
        writer=(header["eval"].get("packages") or {}).get("inspect_ai"),
        status=header["status"],
        runs=1,
        expected=expected,
        items=len({(type(s["id"]), s["id"]) for s in samples}),
        responses=len(samples),
        states=states,
        scored=sum(map(inspect_scored, samples)),
        # the standard error belongs to the mean beside it
        aggregates=sum(m["name"] != "stderr" for m in metrics),
    )


# lm-evaluation-harness -----------------------------------------------------------------------------------------------


def lm_eval_writer(log: Json) -> str | None:
    """Version of the harness, else the commit of whoever's working copy it ran in."""
    commit = log.get("git_hash")
    return log.get("lm_eval_version") or (f"git {commit}" if commit else None)


def lm_eval_results(path: Path) -> Json:
    """A results file: means per task and group, no items."""
    log = json.loads(path.read_bytes())
    tasks = {**log["results"], **(log.get("groups") or {})}
    values = [k for metrics in tasks.values() for k in metrics if k != "alias" and "_stderr" not in k]
    return entry(
        "lm-eval",
        version="results 0.4" if any("," in k for k in values) else "results 0.3",
        writer=lm_eval_writer(log),
        runs=len(tasks),
        aggregates=len(values),
    )


def lm_eval_samples(path: Path, lines: list[Json]) -> Json:
    """Logged samples; how many there should be stands in the results file of the same moment."""
    task, moment = path.stem.removeprefix("samples_").rsplit("_", 1)
    results = json.loads((path.parent / f"results_{moment}.json").read_bytes())
    expected = results["n-samples"][task]["effective"]
    states = Counter(NOT_CUT if line["resps"] and line["resps"][0] else "missing" for line in lines)
    states["missing"] += expected - len(lines)
    return entry(
        "lm-eval",
        version="samples 0.4.7" if all("filter" in line for line in lines) else "samples 0.4",
        writer=lm_eval_writer(results),
        runs=1,
        expected=expected,
        items=len({line["doc_id"] for line in lines}),
        responses=len(lines),
        states=dict(sorted((+states).items())),
        scored=sum(any(finite(line[m]) for m in line["metrics"]) for line in lines),
    )


# HELM, OpenAI evals, Every Eval Ever ---------------------------------------------------------------------------------


def helm_run(folder: Path) -> Json:
    """The folder of one HELM run: one request for each instance, trial and perturbation."""
    log = {p.name: json.loads(p.read_bytes()) for p in folder.iterdir()}
    if log.keys() != HELM_FILES:
        raise ValueError(f"{folder}: other files than expected")
    states, scored = [], 0
    for request in log["scenario_state.json"]["request_states"]:
        result = request["result"]
        states.append(NOT_CUT if result["success"] and result["completions"] else "error")
        key = request["instance"]["id"], request["train_trial_index"], request["instance"].get("perturbation")
        stats = [
            s
            for part in log["per_instance_stats.json"]
            if (part["instance_id"], part["train_trial_index"], part.get("perturbation")) == key
            for s in part["stats"]
        ]
        scored += any(s["count"] and "exact_match" in s["name"]["name"] for s in stats)
    instances = {r["instance"]["id"] for r in log["scenario_state.json"]["request_states"]}
    return entry(
        "helm",
        runs=1,
        files=sorted(log),
        items=len(instances),
        responses=len(states),
        states=counted(states),
        scored=scored,
        aggregates=len(log["stats.json"]),
    )


def openai_evals(lines: list[Json]) -> Json:
    """A recording: one line that says what is run, events, a report."""
    events = [line for line in lines if "type" in line]
    samples = {e["sample_id"] for e in events}
    sampled = {e["sample_id"] for e in events if e["type"] == "sampling" and e["data"]["sampled"]}
    return entry(
        "openai-evals",
        runs=sum("spec" in line for line in lines),
        items=len(samples),
        responses=len(samples),
        states=counted(NOT_CUT if s in sampled else "missing" for s in samples),
        scored=len({e["sample_id"] for e in events if e["type"] == "match"}),
        aggregates=sum(len(line["final_report"]) for line in lines if "final_report" in line),
    )


def every_eval(log: Json) -> Json:
    """An evaluation in the unified schema: aggregates; its items are in the file that it names."""
    names = {r["evaluation_name"] for r in log["evaluation_results"]}
    return entry(
        "every-eval-ever",
        version=log["schema_version"],
        runs=len(names),
        aggregates=len(log["evaluation_results"]),
    )


def every_eval_items(lines: list[Json]) -> Json:
    """The items of such an evaluation."""
    answered = [NOT_CUT if any(line["output"]["raw"]) and not line.get("error") else "missing" for line in lines]
    return entry(
        "every-eval-ever",
        version=lines[0]["schema_version"],
        runs=len({line["evaluation_name"] for line in lines}),
        items=len({line["sample_id"] for line in lines}),
        responses=len(lines),
        states=counted(answered),
        scored=sum(finite(line["evaluation"]["score"]) for line in lines),
    )


# items ---------------------------------------------------------------------------------------------------------------


def chat_items(lines: list[Json]) -> Json:
    """Answers of a chat API, a line each, with the verdict of whoever asked."""
    key = "id" if "id" in lines[0] else "idx"
    reasons = {"stop": NOT_CUT, "length": CUT, "content_filter": "blocked"}
    return entry(
        "items",
        runs=1,
        items=len({line[key] for line in lines}),
        responses=len(lines),
        states=counted(reasons[line["response"]["choices"][0]["finish_reason"]] for line in lines),
        scored=sum(finite(line["correct"]) for line in lines),
    )


def mmlu_pro(path: Path) -> Json:
    """A zip with one JSON array: text, answer and predicted letter, but no score."""
    with zipfile.ZipFile(path) as archive:
        (member,) = archive.infolist()
        rows = json.loads(archive.read(member))
    return entry(
        "items",
        runs=1,
        items=len({row["question_id"] for row in rows}),
        responses=len(rows),
        states=counted(NOT_CUT if isinstance(row["generated_text"], str) else "missing" for row in rows),
        scored=0,
    )


# the walk ------------------------------------------------------------------------------------------------------------


def lines_of(path: Path) -> list[Json]:
    """The objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


LINES: tuple[tuple[str, Callable[[list[Json]], Json]], ...] = (
    ("spec", openai_evals),
    ("evaluation_id", every_eval_items),
    ("response", chat_items),
)


def place(path: Path) -> Json:
    """The row of one file, found by what is in it."""
    if path.name == "LICENSE":
        return entry("none")
    if path.suffix == ".jsonl":
        lines = lines_of(path)
        if "doc_id" in lines[0]:
            return lm_eval_samples(path, lines)
        return next(read(lines) for key, read in LINES if key in lines[0])
    if zipfile.is_zipfile(path):
        return mmlu_pro(path) if path.suffix == ".zip" else inspect_log(path)
    try:
        log = json.loads(path.read_bytes())
    except ValueError as error:
        return entry("unreadable", why=str(error))
    if "eval" in log:
        return inspect_log(path)
    if "$schema" in log:
        return entry("none")
    return every_eval(log) if "schema_version" in log else lm_eval_results(path)


def table(folder: Path) -> dict[str, Json]:
    """Every file below ``folder``, the five of a HELM run as one."""
    runs = {p.parent for p in folder.rglob("run_spec.json")}
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.parent not in runs)
    found = {p.relative_to(folder).as_posix(): helm_run(p) for p in sorted(runs)}
    found |= {p.relative_to(folder).as_posix(): place(p) for p in files}
    unknown = REMARKS.keys() - found.keys()
    if unknown:
        raise ValueError(f"remarks on files that are not there: {sorted(unknown)}")
    rows = {name: {k: v for k, v in found[name].items() if v is not None} for name in sorted(found)}
    return {name: {**row, **({"remark": REMARKS[name]} if name in REMARKS else {})} for name, row in rows.items()}


def main() -> None:
    """Write the table, one line per file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    found = table(parser.parse_args().folder)
    lines = [f"{json.dumps(name)}: {json.dumps(row, allow_nan=False)}" for name, row in found.items()]
    out = Path(__file__).with_name("formats.json")
    out.write_text('{"files": {\n' + ",\n".join(lines) + "\n}}\n", "utf-8")
    print(f"{out.name}: {len(found)} rows, {dict(Counter(row['format'] for row in found.values()))}")


if __name__ == "__main__":
    main()
