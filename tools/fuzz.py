"""Break small valid logs at random and read them: nothing but a ``ForeshockError`` may come out, in bounds.

Usage::

    python tools/fuzz.py READER --minutes 10 --executions 1000000 --seed 1

ends after that many executions or CPU minutes, whichever is first. What was found lies in ``--folder`` with the case
that shows it; ``--replay N`` reads it again with a traceback, ``--reduce N`` makes it small. ``READER`` is one of
``tests/readers/seeds.py``. Equal seeds give equal cases as long as no worker dies.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "src")]

from _fuzz import giants, reduce  # noqa: E402
from _fuzz.cases import write  # noqa: E402
from _fuzz.loop import Plan, Worker  # noqa: E402
from _fuzz.watch import listen, watch  # noqa: E402


def main() -> int:
    """Run, or look at what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader")
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU minutes")
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to keep what was found (default: in /dev/shm)")
    parser.add_argument("--replay", metavar="N")
    parser.add_argument("--reduce", metavar="N")
    parser.add_argument("--cpu-seconds", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--giant", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.giant:
        giants.read(given.giant)
    seconds = given.cpu_seconds or 60 * given.minutes
    folder = given.worker or given.folder or Path("/dev/shm") / f"fuzz-{given.reader}-{given.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(given.reader, folder, given.seed, given.executions, seconds)
    if given.worker:
        listen()
        Worker(plan).run()
        return 0
    if given.replay or given.reduce:
        return look(folder / "findings", given.reader, given.replay, given.reduce)
    start = time.monotonic()
    state = watch(plan)
    shown = {key: state[key] for key in ("executions", "reached", "stored", "starts", "corpus", "findings")}
    print(json.dumps({"reader": given.reader, **shown, "shapes": len(state["seen"])}, indent=1))
    print(f"{state['seconds'] / 60:.1f} CPU minutes, {(time.monotonic() - start) / 60:.1f} minutes")
    return 1 if state["findings"] else 0


def look(folder: Path, reader: str, again: str | None, small: str | None) -> int:
    """One finding again, or made small."""
    if small:
        place = folder / small
        case = reduce.smaller(place, reader)
        write(case, place / "small")
        print({name: data[:400] for name, data in case.items()})
        return 0
    print(reduce.recorded(folder / str(again)))
    print(*reduce.replay(folder / str(again), reader), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
