"""Expected table of the Inspect logs that ``inspect_ai`` cannot read, and a second opinion on those it can.

Only zipfile, zlib, json and zstandard: the bytes are read directly and the facts are taken from the JSON by name. The
rows have the shape of ``inspect_oracle.py`` (``README.md`` explains the columns), whose mapping is written a second
time here on purpose: every file that both can read must give equal rows, so that an error in one of them shows. Usage::

    python tests/oracles/raw_oracle.py ../shared/data/logs/inspect

reads all files, compares those in ``inspect_expected.json`` (stops at a difference) and writes the others to
``inspect_raw_expected.json``. Checked by eye on the chunked log: README.md, "What was checked by eye".
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DEFLATED, ZSTD = 8, 93
LOCAL_HEADER = 30  # bytes before the name and the extra field of a member


def member(data: bytes, info: zipfile.ZipInfo) -> bytes:
    """Content of one member, checked against the directory's size and CRC; all frames of a zstd member."""
    import zstandard

    name, extra = struct.unpack("<HH", data[info.header_offset + 26 : info.header_offset + LOCAL_HEADER])
    start = info.header_offset + LOCAL_HEADER + name + extra
    packed = data[start : start + info.compress_size]
    out = b"" if info.compress_type in {DEFLATED, ZSTD} else packed
    if info.compress_type == DEFLATED:
        out = zlib.decompress(packed, -15)
    while info.compress_type == ZSTD and packed:
        frame = zstandard.ZstdDecompressor().decompressobj()
        out += frame.decompress(packed)
        packed = frame.unused_data
    if len(out) != info.file_size or zlib.crc32(out) != info.CRC:
        raise ValueError(f"{info.filename}: size or CRC differs from the directory")
    return out


def members(path: Path) -> dict[str, Any]:
    """Parsed JSON of every member; the last of equal names wins."""
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return {i.filename: json.loads(member(data, i)) for i in archive.infolist() if i.filename.endswith(".json")}


def chunked_sample(files: dict[str, Any], folder: str) -> Json:
    """A sample written in pieces: its messages are ranges of a pool that is itself split over files."""
    sample: Json = dict(files[f"{folder}/sample.json"])
    names = [n for n in files if n.startswith(f"{folder}/messages/")]
    names.sort(key=lambda n: int(Path(n).stem))
    pool = [m for n in names for m in files[n]]
    sample["messages"] = [m for start, end in sample["message_refs"] for m in pool[start:end]]
    return sample


def samples_of(files: dict[str, Any]) -> Iterator[Json]:
    """Samples of a zip in the order of the directory, whichever way each was written."""
    for name, content in files.items():
        parts = name.split("/")
        if parts[0] == "samples" and parts[-1] == "sample.json":
            yield chunked_sample(files, name.rpartition("/")[0])
        elif parts[0] == "samples" and len(parts) == 2:
            yield content


def load(path: Path) -> Json:
    """The log as one object with its samples, from a zip or from JSON, told apart by the first bytes."""
    if path.read_bytes()[:4] != b"PK\x03\x04":
        log: Json = json.loads(path.read_text(encoding="utf-8"))
        return log
    files = members(path)
    header: Json = files["header.json"]
    samples = list(samples_of(files))
    samples.sort(key=lambda s: (s["epoch"], s["id"] if isinstance(s["id"], str) else str(s["id"]).zfill(20)))
    return {**header, "samples": samples}


def text(value: str) -> list[Any]:
    """Hash and length of a text, in place of the text."""
    return [hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16], len(value)]


def finite(value: Any) -> Any:
    """Value with NaN and infinities replaced by None, at any depth."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def completion(output: Json) -> str:
    """Stored completion, else the text parts of the first choice's message, one to a line."""
    if output.get("completion"):
        return str(output["completion"])
    content = output["choices"][0]["message"]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(p["text"] for p in content if p["type"] == "text")


def stop(output: Json) -> str | None:
    """Stop reason of the first choice in today's spelling."""
    reason = output["choices"][0].get("stop_reason", "unknown")
    return "max_tokens" if reason == "length" else reason


def refusal(output: Json) -> bool:
    """Whether a part of the answer is flagged as a refusal."""
    content = output["choices"][0]["message"]["content"]
    return isinstance(content, list) and any(p["type"] == "text" and p.get("refusal") for p in content)


def state(sample: Json) -> str:
    """Delivery by the rules of README.md."""
    error, limit, output = sample.get("error"), sample.get("limit"), sample.get("output") or {}
    if error:
        if error["message"].startswith("CancelledError("):
            return "cancelled"
        return "timeout" if error["message"].startswith("TimeoutError(") else "error"
    if limit:
        if limit["type"] == "operator":
            return "cancelled"
        return "timeout" if limit["type"] in ("time", "working") else "truncated"
    if not output.get("choices"):
        return "ok" if sample.get("scores") else "missing"
    if refusal(output):
        return "refused"
    if stop(output) == "content_filter" or output.get("error"):
        return "blocked"
    return "truncated" if stop(output) in ("max_tokens", "model_length") else "ok"


def tokens(usage: Json | None) -> list[int] | None:
    """Input, output and total tokens."""
    return [usage[f"{k}_tokens"] for k in ("input", "output", "total")] if usage else None


def row(sample: Json) -> list[Any]:
    """One sample in the order of the table's columns."""
    output, error = sample.get("output") or {}, sample.get("error")
    answered = bool(output.get("choices"))
    target, messages = sample["target"], sample.get("messages") or []
    scores: Json = sample.get("scores") or {}
    answers = {k: s.get("answer") for k, s in scores.items()}
    return [
        str(sample["id"]),
        type(sample["id"]).__name__,
        sample["epoch"],
        {k: finite(s["value"]) for k, s in scores.items()},
        {k: None if a is None else text(a) for k, a in answers.items()},
        text(completion(output)) if answered else None,
        state(sample),
        error["message"].partition("(")[0] if error else None,
        sample["limit"]["type"] if sample.get("limit") else None,
        stop(output) if answered else None,
        len(messages),
        sum(len(m.get("tool_calls") or []) for m in messages),
        {k: tokens(u) for k, u in (sample.get("model_usage") or {}).items()},
        tokens(output.get("usage")),
        [text(t) for t in ([target] if isinstance(target, str) else target)],
        [text(c) for c in sample.get("choices") or []],
        text(sample["input"]) if isinstance(sample["input"], str) else None,
    ]


def planned(log: Json) -> int | None:
    """Samples announced by the header."""
    total = (log.get("results") or {}).get("total_samples")
    if total:
        return int(total)
    data, config = log["eval"]["dataset"], log["eval"]["config"]
    ids, limit = data.get("sample_ids"), config.get("limit")
    if not ids and data.get("samples") is None:
        return None
    count = len(ids) if ids else int(data["samples"])
    if not ids and limit is not None:
        count = min(count, limit[1] - limit[0] if isinstance(limit, list) else limit)
    return count * int(config.get("epochs") or 1)


def results(log: Json) -> list[list[Any]]:
    """Rows [score, scorer, reducer, metric, value, standard error] of the log's own results."""
    stored: Json = log.get("results") or {}
    scores = stored.get("scores") or []
    if "scorer" in stored:  # version 1: one scorer, its metrics beside it
        name = stored["scorer"]["name"]
        scores = [{"name": name, "scorer": name, "metrics": stored.get("metrics") or {}}]
    rows = []
    for score in scores:
        values = {k: finite(m["value"]) for k, m in score["metrics"].items()}
        error = values.pop("stderr", None)
        rows += [
            [score["name"], score["scorer"], score.get("reducer"), k, v, error if k in ("accuracy", "mean") else None]
            for k, v in values.items()
        ]
    return rows


def created(value: str) -> str:
    """Time in UTC; without an offset it is UTC already."""
    time = datetime.fromisoformat(value)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def entry(path: Path) -> Json:
    """Everything expected of one file, or why it is not a readable log."""
    try:
        log = load(path)
    except (ValueError, UnicodeDecodeError) as error:
        return {"unreadable": f"not a log: {type(error).__name__}: {error}"}
    spec, epochs, announced = log["eval"], int(log["eval"]["config"].get("epochs") or 1), planned(log)
    rows = [row(s) for s in log.get("samples") or []]
    seen = {(r[0], r[2]) for r in rows}
    gone = max(0, (announced or 0) - len(seen))
    out = {
        "version": log.get("version"),
        "status": log["status"],
        "model": spec["model"],
        "task": spec["task"],
        "run_id": spec["run_id"],
        "task_id": spec["task_id"],
        "created": created(spec["created"]),
        "writer": (spec.get("packages") or {}).get("inspect_ai"),
        "dataset_samples": spec["dataset"].get("samples"),
        "epochs": epochs,
        "expected": announced,
        "unlogged": log.get("samples") is None,
        "absent": [gone, "cancelled" if log["status"] == "cancelled" else "missing"],
    }
    ids = [(str(i), e) for e in range(1, epochs + 1) for i in spec["dataset"].get("sample_ids") or []]
    if gone and seen and len(ids) == announced:
        out["absent_ids"] = [list(k) for k in ids if k not in seen]
    return {**out, "results": results(log), "samples": rows}


def differences(name: str, ours: Json, theirs: Json) -> list[str]:
    """Where two readings of one file differ, except in what ``inspect_ai`` rewrites on reading."""
    keys = (set(ours) | set(theirs)) - {"via", "version", "samples"}
    out = [f"{name}: {k}: {ours.get(k)} != {theirs.get(k)}" for k in sorted(keys) if ours.get(k) != theirs.get(k)]
    pairs = zip(ours["samples"], theirs["samples"], strict=True)
    return out + [f"{name}: sample {a} != {b}" for a, b in pairs if a != b]


def twin_differences(name: str, ours: Json, theirs: Json) -> list[str]:
    """Where the samples of a file differ from those ``inspect_ai`` read in another file of the same run."""
    key = [ours[name].get("run_id"), ours[name].get("task_id")]
    twins = [t for t in theirs.values() if "unreadable" not in t and [t["run_id"], t["task_id"]] == key]
    return [f"{name}: not the samples of its run" for t in twins if t["samples"] != ours[name]["samples"]]


def main() -> None:
    """Compare what both can read, write what ``inspect_ai`` cannot."""
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    other = json.loads((here / "inspect_expected.json").read_text(encoding="utf-8"))
    ours = {p.relative_to(folder).as_posix(): entry(p) for p in sorted(folder.rglob("*")) if p.is_file()}
    both = [n for n, e in ours.items() if "unreadable" not in e and "unreadable" not in other["files"][n]]
    found = [d for n in both for d in differences(n, ours[n], other["files"][n])]
    found += [d for n in ours if n not in both for d in twin_differences(n, ours, other["files"])]
    if found:
        raise SystemExit("\n".join(found))
    print(f"{len(both)} files equal in both tables")
    table = {
        "columns": other["columns"],
        "versions": {n: e["version"] for n, e in ours.items() if "version" in e},
        "files": {n: e for n, e in ours.items() if n not in both},
    }
    (here / "inspect_raw_expected.json").write_text(dump(table), encoding="utf-8")
    print(f"inspect_raw_expected.json: {len(table['files'])} files")


def dump(table: Json) -> str:
    """JSON with one line per sample, so that a change is readable as a difference."""
    lines = ["{", *(f"{json.dumps(k)}: {json.dumps(v, indent=0)}," for k, v in table.items() if k != "files")]
    lines.append('"files": {')
    for number, (name, found) in enumerate(table["files"].items()):
        rows = [json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in found.pop("samples", [])]
        head = json.dumps(found, ensure_ascii=False)[:-1]
        tail = "," if number + 1 < len(table["files"]) else ""
        lines.append(f'{json.dumps(name)}: {head}, "samples": [\n' + ",\n".join(rows) + f"\n]}}{tail}")
    return "\n".join([*lines, "}}"]) + "\n"


if __name__ == "__main__":
    main()
