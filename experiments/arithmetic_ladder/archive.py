"""From finished outcomes to log files: all of them into a folder, or the slice that ships with the package.

``python -m experiments.arithmetic_ladder.archive logs DIR`` writes every evaluated checkpoint with all items (1.6 MB
each). ``python -m experiments.arithmetic_ladder.archive slice`` writes ``src/foreshock/demo/ladder.tar.xz``: the last
checkpoint of every size and seed and the whole trajectory of one run, over the first 300 items, every field kept.

The slice is a tar.xz and not a zip because most of a log repeats from run to run: zip compresses each file alone and
needed 117 kB a checkpoint for 250 items with two of three hashes left out, xz over files sorted by task 34 kB for 300.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from . import lm_eval_layout as layout
from . import plan, weights
from .outcome import TASKS, held_out, load, outcome_path

SLICE = plan.HERE.parents[1] / "src" / "foreshock" / "demo" / "ladder.tar.xz"
SLICE_ITEMS = 300
SLICE_TRAJECTORY = plan.Run("learn", 48, 1)


@cache
def training_commit() -> str:
    """The commit of the training code, from the record kept beside the results."""
    record = json.loads((plan.RESULTS / "training.json").read_text())
    return str(record["commit"])


def checkpoint(run: plan.Run, step: int) -> layout.Checkpoint:
    """Header facts of one checkpoint."""
    arrays = weights.read(run, step)
    count = sum(v.size for v in arrays.values())
    return layout.Checkpoint(run, step, count, weights.digest(arrays), training_commit())


def log_files(run: plan.Run, step: int, n: int) -> dict[str, bytes]:
    """All files of one checkpoint, over the first ``n`` items."""
    outcomes = load(outcome_path(run, step))
    samples: dict[str, list[layout.Json]] = {}
    for task in TASKS:
        samples |= layout.task_samples(task, outcomes[task], n)
    return layout.files(checkpoint(run, step), samples)


def evaluated() -> Iterator[tuple[plan.Run, int]]:
    """Checkpoints with an outcome, in the order of the plan."""
    for run in plan.all_runs():
        for step in plan.CHECKPOINTS:
            if outcome_path(run, step).exists():
                yield run, step


def in_slice(run: plan.Run, step: int) -> bool:
    """Whether the package ships this checkpoint."""
    return run == SLICE_TRAJECTORY or (run in plan.learners() and step == plan.STEPS)


def _tar(contents: dict[str, bytes]) -> bytes:
    """An uncompressed tar without clock, user or file system in it; files of one task lie side by side."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(contents, key=lambda n: (n.split("/")[1].rsplit("_", 1)[0], n)):
            member = tarfile.TarInfo(name)
            member.size = len(contents[name])
            member.mtime = int(layout.FIRST_DATE.timestamp())
            tar.addfile(member, io.BytesIO(contents[name]))
    return out.getvalue()


def write_slice(path: Path) -> int:
    """Write the slice (same outcomes, same bytes) and return the number of checkpoints in it."""
    contents: dict[str, bytes] = {}
    chosen = [(run, step) for run, step in evaluated() if in_slice(run, step)]
    for run, step in chosen:
        contents |= log_files(run, step, SLICE_ITEMS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(_tar(contents), preset=9))
    return len(chosen)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("logs").add_argument("folder", type=Path)
    commands.add_parser("slice")
    arguments = parser.parse_args()
    if arguments.command == "slice":
        n = write_slice(SLICE)
        print(f"{n} checkpoints, {SLICE.stat().st_size / 1e6:.2f} MB in {SLICE}")
        return
    for run, step in evaluated():
        layout.write(arguments.folder, log_files(run, step, len(held_out(TASKS[0]))))


if __name__ == "__main__":
    main()
