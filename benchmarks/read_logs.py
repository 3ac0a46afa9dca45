"""CPU seconds and peak memory to read big logs, and to commit them to a store, beside inspect_ai on the same log.

    python benchmarks/read_logs.py [--samples 50000] [--runs 3] [--peer-python PATH] [--write]

Two logs are made in a temporary folder (or taken from ``--folder``, made there when absent): an Inspect ``.eval`` with
zstd members of 8-10 kB of JSON a sample, and 400 MB of lm-evaluation-harness samples with four choices a document.

Every measurement is a process of its own: user and system seconds of all its threads and its peak resident memory,
imports included; the least time and the most memory of ``--runs``. A fixed loop of plain Python runs before and after
each, on the same clock. On a quiet machine its time is always the same, so that a larger one beside a figure means that
the machine was busy.
All that read a log must find the same samples and the same number of right answers, else nothing is printed.

``--peer-python`` names an interpreter that has inspect_ai and pandas; without it that row says so. ``--write`` records
the table in its section of ``benchmarks/results.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

# This file imports nothing large: a child's peak memory as the kernel counts it begins with that of its parent.
HERE = Path(__file__).resolve().parent
CALIBRATION = 2_000_000


class Job(NamedTuple):
    """One row of the table; targets are CPU seconds and MB for 50,000 samples."""

    log: str
    what: str
    work: str
    seconds: float | None = None
    memory: float | None = None


JOBS = (
    Job("Inspect `.eval`", "read", "read"),
    Job("Inspect `.eval`", "read and committed", "commit", 6, 300),
    Job("Inspect `.eval`", "inspect_ai `samples_df` (summaries only)", "peer"),
    Job("lm-eval samples", "read", "read"),
    Job("lm-eval samples", "read and committed", "commit", 4, 200),
)


class Measured(NamedTuple):
    """The best of some runs, with the most memory of any; in MB (10^6 bytes), ``right`` counts harness scores of 1."""

    cpu: float
    memory: float
    calibration: float
    samples: int
    right: int


class Done(NamedTuple):
    """CPU seconds and memory (MB) of some work, taken before its outcome was counted, and that outcome."""

    cpu: float
    memory: float
    samples: int
    right: int


def read(path: Path) -> Done:
    """Read a log and drop the rows."""
    from foreshock.readers import Failure, read_paths

    samples = right = 0
    for found in read_paths([path]):
        if isinstance(found, Failure):
            raise found.error
        for batch in found.batches:
            if batch.table == "responses":
                samples += batch.rows
            elif batch.table == "scores":
                right += batch.columns["value"].count(1.0)
    return Done(*usage(), samples, right)


def commit(path: Path) -> Done:
    """What ``foreshock add`` does."""
    from foreshock.store import Store, add_paths

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        store = Store.open(Path(folder) / "store", create=True)
        added = add_paths(store, [path])
        for failure in added.failures:
            raise failure.error
        spent = usage()
        scores = store.snapshot().scan("scores").collect()
        return Done(*spent, sum(run.counts.delivered for run in added.added), int((scores["value"] == 1).sum()))


def peer(path: Path) -> Done:
    """The peer's shortest way to a table of samples and scores."""
    from inspect_ai.analysis import samples_df

    frame = samples_df(str(path), quiet=True)
    spent = usage()
    right = sum(int((frame[name] == "C").sum()) for name in frame.columns if name.startswith("score_"))
    return Done(*spent, len(frame), right)


def usage() -> tuple[float, float]:
    """CPU seconds and peak memory in MB of this process so far."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024
    return spent.ru_utime + spent.ru_stime, spent.ru_maxrss * unit / 1e6


def work(name: str, path: Path) -> None:
    """What a child does: the work, then its figures as one line of JSON."""
    print(json.dumps({"read": read, "commit": commit, "peer": peer}[name](path)))


def calibrate() -> float:
    """CPU seconds of a fixed amount of plain Python."""
    start, total = time.process_time(), 0
    for k in range(CALIBRATION):
        total += k * k & 7
    return time.process_time() - start


def measure(job: Job, path: Path, python: str, runs: int) -> Measured:
    """The run with the least CPU time, with the most memory of all runs."""
    found = []
    for _ in range(runs):
        before = calibrate()
        command = [python, str(Path(__file__).resolve()), "--work", job.work, str(path)]
        reply = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1]
        done = Done(*json.loads(reply))
        found.append(Measured(done.cpu, done.memory, max(before, calibrate()), done.samples, done.right))
        print(f"{job.log}, {job.what}: {done.cpu:.2f} CPU s, {done.memory:.0f} MB", file=sys.stderr)
    if len({(m.samples, m.right) for m in found}) > 1:
        raise SystemExit(f"{job.log}: runs found different things: {found}")
    return min(found)._replace(memory=max(m.memory for m in found))


def logs(folder: Path, samples: int) -> dict[str, Path]:
    """Both logs, made by processes of their own unless they are there."""
    inspect, harness = folder / f"inspect_{samples}.eval", folder / f"lm_eval_{samples}"
    for path, script in ((inspect, "_make_inspect_log.py"), (harness, "_make_lm_eval_log.py")):
        if not path.exists():
            subprocess.run([sys.executable, str(HERE / script), str(path), "--samples", str(samples)], check=True)
    return {"Inspect `.eval`": inspect, "lm-eval samples": harness}


def row(job: Job, found: Measured | None, base: Measured | None, samples: int) -> str:
    """One line of the table; ``base`` is our own commit of the same log."""
    if found is None or base is None:
        return f"| {job.log} | {job.what} | not measured: no `--peer-python` | – | – | – | – | – |"
    target, met = "–", "–"
    if job.seconds is not None and job.memory is not None:
        target = f"{job.seconds:g} s, {job.memory:g} MB"
        ok = found.cpu <= job.seconds and found.memory <= job.memory
        met = "only for 50,000" if samples != 50_000 else "met" if ok else "missed"
    ratios = f"{found.cpu / base.cpu:.2f} | {found.memory / base.memory:.2f}"
    return (
        f"| {job.log} | {job.what} | {found.cpu:.2f} | {found.memory:.0f} | {ratios} | "
        f"{found.calibration:.2f} | {target}: {met} |"
    ).replace("–: –", "–")


def table(found: dict[Job, Measured], samples: int) -> str:
    """All rows; ratios are to our own commit of the same log.

    Raises:
        SystemExit: Two ways of reading one log found different things.
    """
    lines = [
        "| log | what | CPU s | peak MB | CPU ratio | memory ratio | loop s | target |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for log in dict.fromkeys(job.log for job in JOBS):
        seen = {job.what: (m.samples, m.right) for job, m in found.items() if job.log == log}
        if len(set(seen.values())) != 1:
            raise SystemExit(f"{log}: samples and right answers differ: {seen}")
    for job in JOBS:
        base = next((m for other, m in found.items() if other.log == job.log and other.work == "commit"), None)
        lines.append(row(job, found.get(job), base, samples))
    return "\n".join(lines)


def versions(peer_python: str | None) -> str:
    """What was measured with what."""
    names = ("foreshock", "polars", "msgspec", "zstandard")
    parts = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)]
    if peer_python:
        ask = "from importlib.metadata import version as v; print('inspect_ai', v('inspect_ai'))"
        parts.append(
            subprocess.run([peer_python, "-c", ask], capture_output=True, check=True, text=True).stdout.strip()
        )
    return ", ".join(parts)


def head_commit() -> str:
    """The commit that is checked out, and whether files of the package differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, check=True, text=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + (" and changes" if git("status", "-s", "--", "../src") else "")


def section(place: Path, name: str, body: str) -> None:
    """Put ``body`` between the marks of ``name`` in ``place``, in place of what stood there."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = place.read_text("utf-8") if place.exists() else "# Results\n"
    fresh = f"{begin}\n{body.strip()}\n{end}"
    old = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    text = old.sub(lambda _: fresh, text) if old.search(text) else f"{text.rstrip()}\n\n{fresh}\n"
    place.write_text(text, "utf-8")


def main() -> None:
    """Measure, print, and record when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the logs are, or are made")
    parser.add_argument("--peer-python", help="an interpreter with inspect_ai and pandas")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work[0], Path(asked.work[1]))
        return
    with tempfile.TemporaryDirectory() as spare:
        paths = logs(asked.folder or Path(spare), asked.samples)
        found: dict[Job, Measured] = {}
        for job in JOBS:
            python = asked.peer_python if job.work == "peer" else sys.executable
            if python:
                found[job] = measure(job, paths[job.log], python, asked.runs)
    report(found, asked)


def report(found: dict[Job, Measured], asked: Any) -> None:
    """Print the table; with ``--write``, record it with what is needed to repeat it."""
    shown = table(found, asked.samples)
    print(shown)
    if not asked.write:
        return
    tail = " --peer-python PEER" if asked.peer_python else ""
    command = f"python benchmarks/read_logs.py --samples {asked.samples} --runs {asked.runs}{tail} --write"
    facts = f"{datetime.now(UTC):%Y-%m-%d}, commit {head_commit()}, {versions(asked.peer_python)}"
    notes = "Ratios are to our own commit of the same log; `loop s` is a fixed loop of Python beside it."
    section(HERE / "results.md", "read_logs", f"## Reading logs\n\n`{command}`\n\n{facts}. {notes}\n\n{shown}")


if __name__ == "__main__":
    main()
