"""Forecasts and alarms against published figures, and on worlds whose truth is known.

    python benchmarks/forecast.py curves   [--data FOLDER] [--seed 0] [--write]
    python benchmarks/forecast.py all      [--write]

Every subcommand lives in a file of its own, ``_forecast_<name>.py``, which says in its first lines what it measures,
what was chosen before the judged data were scored and what after. ``--data`` names the folder of public data; without
it the one beside the checkout is taken, and a subcommand that needs a file which is not there says so. ``--write``
records the output in ``benchmarks/results/forecast.md`` and the figures in ``forecast.json``, each subcommand between
marks of its own, with the command, the commit, the versions, the seeds, the CPU seconds and the share withheld.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from read_logs import head_commit, section

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "forecast.md"
FIGURES = RESULTS.with_suffix(".json")
DATA = HERE.parent.parent / "shared" / "data"
PARTS = {
    "curves": "92 scaling curves with their own split: point forecasts and intervals",
    "pythia": "Pythia 70M-1.4B to 2.8B, 6.9B and 12B on 32 tasks",
    "obs": "emergent tasks of 44 models to 29 larger ones",
    "alarms": "false alarms, power and delay of the trend alarm",
    "planted": "breaks planted in logs beside a smooth accuracy",
    "sharp": "a sharp transition that no form foresees, before and after its knee",
    "speed": "CPU seconds of one curve, and of a thousand",
    "backtest": "the rolling back-test beside persistence on curves whose truth is known",
}
PACKAGES = ("numpy", "scipy", "polars")


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    """The command line; a part that has options of its own adds them by a function ``arguments``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, what in (*PARTS.items(), ("all", "every part, one after the other")):
        own = parts.add_parser(name, help=what, description=what)
        own.add_argument("--data", type=Path, default=DATA, help="folder of public data [default: beside the checkout]")
        own.add_argument("--seed", type=int, default=0)
        own.add_argument("--worlds", type=int, help="simulated worlds of each row [default: what the part says]")
        own.add_argument("--write", action="store_true", help="record the results")
        module = HERE / f"_forecast_{name}.py"
        if name != "all" and module.exists() and "\ndef arguments(" in module.read_text("utf-8"):
            import_module(module.stem).arguments(own)
    return parser.parse_args(words)


def measure(part: str, asked: argparse.Namespace) -> None:
    """Run one part, print it, and record it when asked."""
    module = import_module(f"_forecast_{part}")
    before = time.process_time()
    result: dict[str, Any] = module.run(asked)
    cpu = time.process_time() - before
    about = {
        "command": command_of(part, asked),
        "commit": head_commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "seeds": result.get("seeds", [asked.seed]),
        "cpu_seconds": round(cpu, 1),
        "withheld": result.get("withheld"),
    }
    told = [f"## {part}: {PARTS[part]}", "", *module.lines(result), "", about_line(about)]
    print("\n".join(told), flush=True)
    if asked.write:
        record(part, told, {"about": about, **result})


def command_of(part: str, asked: argparse.Namespace) -> str:
    """What to type for the same figures; the folder of the data is everyone's own."""
    own = {k: v for k, v in vars(asked).items() if k not in ("part", "data", "write") and v not in (None, False)}
    options = " ".join(f"--{k.replace('_', '-')}" + ("" if v is True else f" {v}") for k, v in sorted(own.items()))
    return f"python benchmarks/forecast.py {part} {options}".rstrip()


def about_line(about: dict[str, Any]) -> str:
    """Everything that is needed to repeat the figures, in a sentence."""
    packages = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    withheld = "none" if about["withheld"] is None else f"{about['withheld']:.1%}"
    return (
        f"`{about['command']}`, commit {about['commit']}, Python {about['python']}, {packages}; seeds "
        f"{', '.join(map(str, about['seeds']))}; {about['cpu_seconds']:g} CPU seconds; withheld: {withheld}."
    )


def record(part: str, told: list[str], result: dict[str, Any]) -> None:
    """Put the part's text and figures in place of what stood there of it."""
    if not RESULTS.exists():
        RESULTS.write_text("# Forecasts and alarms\n", "utf-8")
    section(RESULTS, part, "\n".join(told))
    kept: dict[str, Any] = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    kept[part] = result
    FIGURES.write_text(json.dumps(kept, indent=1, sort_keys=True, default=lambda value: value.tolist()) + "\n", "utf-8")


def main() -> None:
    """Measure what was asked for."""
    asked = parsed()
    for part in PARTS if asked.part == "all" else (asked.part,):
        if not (HERE / f"_forecast_{part}.py").exists():
            sys.exit(f"{part}: there is no benchmarks/_forecast_{part}.py")
        measure(part, parsed([part, *sys.argv[2:]]) if asked.part == "all" else asked)


if __name__ == "__main__":
    main()
