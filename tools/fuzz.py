"""Break small valid logs at random and read them: nothing but a ``ForeshockError`` may come out, in bounds.

Usage::

    python tools/fuzz.py READER --minutes 10 --executions 1000000 --seed 1

ends after that many executions or CPU minutes, whichever is first. What was found lies in ``--folder`` with the case
that shows it; ``--replay N`` reads it again with a traceback, ``--reduce N`` makes it small. ``READER`` is one of
``tests/readers/seeds.py``, or ``all``, one after the other. Equal seeds give equal cases as long as no worker dies.
``--giants`` reads files of hundreds of megabytes instead; ``--write`` records what was done in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "src")]

from _fuzz import giants, record, reduce  # noqa: E402
from _fuzz.cases import seeds, write  # noqa: E402
from _fuzz.loop import Plan, Worker, read_state  # noqa: E402
from _fuzz.watch import listen, watch  # noqa: E402


def main() -> int:
    """Run, or look at what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader")
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU minutes")
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to keep what was found (default: in /dev/shm)")
    parser.add_argument("--giants", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--record", action="store_true", help="record the last run of this seed, run nothing")
    parser.add_argument("--resume", action="store_true", help="go on where the last run of this seed ended")
    parser.add_argument("--replay", metavar="N")
    parser.add_argument("--reduce", metavar="N")
    parser.add_argument("--cpu-seconds", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--giant", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.giant:
        giants.read(given.giant)
    if given.worker:
        listen()
        Worker(Plan(given.reader, given.worker, given.seed, given.executions, given.cpu_seconds)).run()
        return 0
    if given.replay or given.reduce:
        return look(folder_of(given, given.reader) / "findings", given.reader, given.replay, given.reduce)
    names = list(seeds()) if given.reader == "all" else [given.reader]
    return max([(big if given.giants else small)(name, given) for name in names])


def folder_of(given: argparse.Namespace, reader: str) -> Path:
    """Where what is found for a reader lies."""
    folder: Path = given.folder / reader if given.folder else Path("/dev/shm") / f"fuzz-{reader}-{given.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def small(reader: str, given: argparse.Namespace) -> int:
    """Small logs for as long as was asked for."""
    start = time.monotonic()
    if not (given.resume or given.record):
        shutil.rmtree(folder_of(given, reader))
    plan = Plan(reader, folder_of(given, reader), given.seed, given.executions, 60 * given.minutes)
    if not given.record:
        record.begin(plan)
    state = read_state(plan.folder) if given.record else watch(plan)
    shown = {key: state[key] for key in ("executions", "reached", "stored", "starts", "corpus", "findings")}
    print(json.dumps({"reader": reader, **shown, "shapes": len(state["seen"])}, indent=1))
    print(f"{state['seconds'] / 60:.1f} CPU minutes, {(time.monotonic() - start) / 60:.1f} minutes", flush=True)
    if given.write or given.record:
        record.fuzzed(plan, state)
    return 1 if state["findings"] else 0


def big(reader: str, given: argparse.Namespace) -> int:
    """Giants, each once."""
    found = []
    for one in giants.giants(reader):
        print(one, flush=True)
        found.append(one)
    if given.write:
        record.giant(reader, found)
    return int(any(one.said.startswith("died") for one in found))


def look(folder: Path, reader: str, again: str | None, reduced: str | None) -> int:
    """One finding again, or made small."""
    if reduced:
        place = folder / reduced
        case = reduce.smaller(place, reader)
        write(case, place / "small")
        print({name: data[:400] for name, data in case.items()})
        return 0
    print(reduce.recorded(folder / str(again)))
    print(*reduce.replay(folder / str(again), reader), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
