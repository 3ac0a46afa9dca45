"""Expected table of the Inspect logs, read by ``inspect_ai`` itself.

Run by hand, in an environment of its own, whenever the logs or the pinned release change::

    python3.11 -m venv inspect-env
    inspect-env/bin/pip install inspect-ai==0.3.285
    inspect-env/bin/python tests/oracles/inspect_oracle.py ../shared/data/logs/inspect

It imports nothing of Foreshock and its readers are not used. Text is stored as ``[sha256[:16], characters]``: no item
text enters the repository. ``raw_oracle.py`` computes the same rows from the bytes without ``inspect_ai`` and compares.
The columns and the delivery mapping are explained in ``README.md`` beside this file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
from pathlib import Path
from typing import Any

COLUMNS = [
    "id",  # as text
    "id_type",  # of the JSON value: int or str
    "epoch",
    "scores",  # {scorer: value}; NaN is null
    "answers",  # {scorer: [sha, length] or null}
    "output",  # [sha, length] of the completion; null without any choice
    "delivery",
    "error",  # name of the exception, null without
    "limit",  # type of the limit that ended the sample
    "stop_reason",
    "messages",  # number of messages
    "tool_calls",  # number of tool calls in them
    "usage",  # {model: [input, output, total]} of the whole sample, graders included
    "out_usage",  # [input, output, total] of the last generation
    "target",  # [sha, length] of each target
    "choices",  # [sha, length] of each choice
    "input",  # [sha, length] of an input that is plain text, null for a list of messages
]


def text(value: str) -> list[Any]:
    """Hash and length of a text, in place of the text."""
    return [hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16], len(value)]


def plain(value: Any) -> Any:
    """Value with NaN and infinities replaced by None, at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def delivery(sample: Any) -> str:
    """Delivery of one sample; the rules of README.md in their order."""
    if sample.error is not None:
        kinds = {"CancelledError": "cancelled", "TimeoutError": "timeout"}
        return kinds.get(sample.error.message.split("(")[0], "error")
    if sample.limit is not None:
        kinds = {"time": "timeout", "working": "timeout", "operator": "cancelled"}
        return kinds.get(sample.limit.type, "truncated")
    if not sample.output.choices:
        return "ok" if sample.scores else "missing"
    choice = sample.output.choices[0]
    parts = choice.message.content if isinstance(choice.message.content, list) else []
    if any(p.type == "text" and p.refusal for p in parts):
        return "refused"
    if choice.stop_reason == "content_filter" or sample.output.error is not None:
        return "blocked"
    return "truncated" if choice.stop_reason in {"max_tokens", "model_length"} else "ok"


def usage(value: Any) -> list[int] | None:
    """Input, output and total tokens."""
    return None if value is None else [value.input_tokens, value.output_tokens, value.total_tokens]


def sample_row(sample: Any) -> list[Any]:
    """One sample in the order of ``COLUMNS``."""
    choices = sample.output.choices
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    scores = sample.scores or {}
    return [
        str(sample.id),
        type(sample.id).__name__,
        sample.epoch,
        {k: plain(s.value) for k, s in scores.items()},
        {k: None if s.answer is None else text(s.answer) for k, s in scores.items()},
        text(sample.output.completion) if choices else None,
        delivery(sample),
        sample.error.message.split("(")[0] if sample.error else None,
        sample.limit.type if sample.limit else None,
        choices[0].stop_reason if choices else None,
        len(sample.messages),
        sum(len(m.tool_calls or []) for m in sample.messages if m.role == "assistant"),
        {k: usage(u) for k, u in sample.model_usage.items()},
        usage(sample.output.usage),
        [text(t) for t in targets],
        [text(c) for c in sample.choices or []],
        text(sample.input) if isinstance(sample.input, str) else None,
    ]


def expected(log: Any) -> int | None:
    """Number of samples that the header announces: the results' own total, else items times epochs."""
    if log.results is not None and log.results.total_samples > 0:
        return int(log.results.total_samples)
    data, config = log.eval.dataset, log.eval.config
    items = len(data.sample_ids) if data.sample_ids else data.samples
    if items is None:
        return None
    if not data.sample_ids and config.limit is not None:
        width = config.limit if isinstance(config.limit, int) else config.limit[1] - config.limit[0]
        items = min(items, width)
    return int(items) * (config.epochs or 1)


def absent(log: Any, announced: int | None) -> dict[str, Any]:
    """How many announced samples are not in the log, in which state, and which, where the header tells."""
    seen = {(str(s.id), s.epoch) for s in log.samples or []}
    gone = max(0, (announced or 0) - len(seen))
    out: dict[str, Any] = {"absent": [gone, "cancelled" if log.status == "cancelled" else "missing"]}
    planned = [(str(i), e + 1) for e in range(log.eval.config.epochs or 1) for i in log.eval.dataset.sample_ids or []]
    if gone and seen and len(planned) == announced:
        out["absent_ids"] = [[i, e] for i, e in planned if (i, e) not in seen]
    return out


def metrics(log: Any) -> list[list[Any]]:
    """Rows [score, scorer, reducer, metric, value, standard error]; the error belongs to accuracy and mean."""
    rows = []
    for score in log.results.scores if log.results else []:
        error = plain(score.metrics["stderr"].value) if "stderr" in score.metrics else None
        for name, metric in score.metrics.items():
            if name != "stderr":
                stderr = error if name in {"accuracy", "mean"} else None
                rows.append([score.name, score.scorer, score.reducer, name, plain(metric.value), stderr])
    return rows


def read_one(path: Path) -> tuple[Any, str]:
    """The log and the call that read it; a suffix that ``inspect_ai`` does not know is read as JSON."""
    from inspect_ai.log import read_eval_log

    if path.suffix in {".eval", ".json"}:
        return read_eval_log(str(path)), "read_eval_log(path)"
    return read_eval_log(str(path), format="json"), "read_eval_log(path, format='json')"


def file_entry(path: Path) -> dict[str, Any]:
    """Everything expected of one file, or why ``inspect_ai`` could not read it."""
    try:
        log, via = read_one(path)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the fact to record
        return {"unreadable": f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"}
    announced = expected(log)
    return {
        "via": via,
        "version": log.version,
        "status": log.status,
        "model": log.eval.model,
        "task": log.eval.task,
        "run_id": log.eval.run_id,
        "task_id": log.eval.task_id,
        "created": str(log.eval.created),
        "writer": log.eval.packages.get("inspect_ai"),
        "dataset_samples": log.eval.dataset.samples,
        "epochs": log.eval.config.epochs or 1,
        "expected": announced,
        "unlogged": log.samples is None,
        **absent(log, announced),
        "results": metrics(log),
        "samples": [sample_row(s) for s in log.samples or []],
    }


def main() -> None:
    """Write the table of every file below a folder."""
    import inspect_ai

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("inspect_expected.json"))
    args = parser.parse_args()
    files = sorted(p for p in args.folder.rglob("*") if p.is_file())
    table = {
        "made_with": {"inspect_ai": inspect_ai.__version__, "python": platform.python_version()},
        "columns": COLUMNS,
        "files": {p.relative_to(args.folder).as_posix(): file_entry(p) for p in files},
    }
    args.out.write_text(dump(table), encoding="utf-8")
    print(f"{args.out}: {len(files)} files")


def dump(table: dict[str, Any]) -> str:
    """JSON with one line per sample, so that a change is readable as a difference."""
    lines = ["{"]
    for key, value in table.items():
        if key != "files":
            lines.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)},")
    lines.append('"files": {')
    for number, (name, entry) in enumerate(table["files"].items()):
        rows = entry.pop("samples", [])
        head = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        body = ",\n".join(json.dumps(r, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for r in rows)
        tail = "," if number + 1 < len(table["files"]) else ""
        lines.append(f'{json.dumps(name)}: {head[:-1]}, "samples": [\n{body}\n]}}{tail}')
    return "\n".join([*lines, "}}"]) + "\n"


if __name__ == "__main__":
    main()
