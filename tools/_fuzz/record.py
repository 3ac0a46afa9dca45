"""What was run, kept as JSON and shown as a table in ``benchmarks/results/fuzz.md``."""

from __future__ import annotations

import json
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from _fuzz.cases import ROOT
from _fuzz.giants import KEYS, MEMORY, SECONDS, Giant
from _fuzz.loop import FENCE, MAX_GROWTH, MAX_SECONDS, Plan
from _fuzz.watch import MAX_WALL

RESULTS = ROOT / "benchmarks" / "results"
PAGE, DATA = RESULTS / "fuzz.md", RESULTS / "fuzz.json"
BEGIN, END = "<!-- fuzz -->", "<!-- end of fuzz -->"
_LIBRARIES = ("polars", "msgspec", "zstandard")


def versions() -> dict[str, str]:
    """Day, commit and versions of a run; a commit with changes beside it is marked."""
    copied = ROOT / "COMMIT"  # of an exported tree
    commit = copied.read_text("utf-8").strip() if copied.is_file() else _git("rev-parse", "--short=12", "HEAD")
    commit += "+" if _git("status", "--porcelain", "src") and not copied.is_file() else ""
    found = {"day": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "Python": platform.python_version()}
    return {**found, **{name: version(name) for name in _LIBRARIES}}


def begin(plan: Plan) -> None:
    """Note what is run, before it is: the working copy may be another one when the run ends."""
    (plan.folder / "versions.json").write_text(json.dumps(versions()), "utf-8")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def fuzzed(plan: Plan, state: dict[str, Any]) -> None:
    """Keep what one reader was put through."""
    ran = json.loads((plan.folder / "versions.json").read_text("utf-8"))
    kept = {key: state[key] for key in ("executions", "reached", "stored", "corpus", "starts", "findings")}
    facts = {**kept, "minutes": round(state["seconds"] / 60, 1), "seed": plan.seed, "shapes": len(state["seen"])}
    _put("readers", plan.reader, {**facts, **ran})


def giant(reader: str, found: list[Giant]) -> None:
    """Keep how a reader took its giants."""
    rows = [[g.what, g.seconds, g.megabytes, g.said] for g in found]
    _put("giants", reader, {"rows": rows, **versions()})


def _put(part: str, reader: str, facts: dict[str, Any]) -> None:
    data: dict[str, Any] = json.loads(DATA.read_text("utf-8")) if DATA.is_file() else {}
    data.setdefault(part, {})[reader] = facts
    DATA.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", "utf-8")
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(data)}\n{END}{after}", "utf-8")


def table(data: dict[str, Any]) -> str:
    """Both tables."""
    lines = [
        "",
        f"Bounds of an execution: {MAX_SECONDS:g} CPU seconds, {MAX_WALL:g} seconds of wall time, "
        f"{MAX_GROWTH >> 20} MiB more of resident memory, {FENCE >> 30} GiB of address space.",
        "",
        "| reader | executions | CPU minutes | reached the reader | stored and verified | corpus | outcomes | deaths "
        "| findings left | commit | seed |",
        f"|{' --- |' * 11}",
    ]
    for reader, f in data.get("readers", {}).items():
        share = f"{f['reached'] / max(1, f['executions']):.0%}"
        cells = [reader, f"{f['executions']:,}", f["minutes"], share, f"{f['stored']:,}", f["corpus"], f["shapes"]]
        cells += [f["starts"] - 1, sum(f["findings"].values()), f["commit"], f["seed"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [*_libraries(data.get("readers", {})), "", *_giants(data.get("giants", {}))]
    return "\n".join(lines)


def _libraries(readers: dict[str, Any]) -> list[str]:
    keys = ("day", "Python", *_LIBRARIES)
    kinds = {", ".join(f"{f[key]}" if key == "day" else f"{key} {f[key]}" for key in keys) for f in readers.values()}
    return ["", *sorted(kinds)] if kinds else []


def _giants(giants: dict[str, Any]) -> list[str]:
    rows = [
        f"| {reader} | {what} | {seconds} | {megabytes} | {said[:110].replace('|', '/')} |"
        for reader, facts in giants.items()
        for what, seconds, megabytes, said in facts["rows"]
    ]
    head = ["| reader | what | CPU s | MB | what was said |", f"|{' --- |' * 5}"]
    text = (
        f"Giants, each in a process of its own with {MEMORY >> 30} GiB of address space and {SECONDS} CPU seconds; "
        f"{KEYS:,} keys are about 150 MB. MB is resident memory above what the imports take."
    )
    return [text, "", *head, *rows]
