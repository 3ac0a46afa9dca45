"""Breaks planted in Inspect logs: do they fire, does the smooth accuracy beside them not, does anything without them?

Each world is a folder of logs as Inspect writes them, one for each release of a model: names that say nothing of sizes
(``lab/agent-1.7``), a task with tool use, a right or wrong answer, and a scorer of the lab's own that gives the share
of material facts that an answer left out. Accuracy, the mean length of the longest tool chain and the omission score
each follow a straight line on their link with independent noise between releases; in half of the worlds the last two
break at a release drawn at random. The logs are added to a store, scored, and looked at after every release from the
twelfth on, as a pipeline would, with the ledger kept. What is measured is what a user of ``foreshock alarms`` sees.

Chosen before anything was measured: every number in this file (samples, noise, breaks of about five standard
deviations of what scatters between releases), and that a series fires where the ledger keeps it at the level of .05.
The null worlds are the same without breaks; there, a false alarm is any series of any metric that ever fires.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import _make_inspect_log as maker

RELEASES, SAMPLES, FIRST_LOOK = 26, 40, 12
WORLDS = 12
METRICS = ("accuracy", "longest_tool_chain", "omission")
PLANTED = METRICS[1:]
_NOISE = {"accuracy": 0.12, "longest_tool_chain": 0.05, "omission": 0.12}
_START = {"accuracy": 0.2, "longest_tool_chain": 1.1, "omission": -1.4}
_SLOPE = {"accuracy": 0.03, "longest_tool_chain": 0.01, "omission": -0.01}
_BREAK = {"longest_tool_chain": 0.5, "omission": 0.7}


class World(NamedTuple):
    """What is planted.

    Attributes:
        mean: True mean of each metric at each release, by name: share right, calls, share left out.
        at: Release at which the breaks begin, counted from 0; None in a null world.
    """

    mean: dict[str, np.ndarray]
    at: int | None


def world(rng: np.random.Generator, *, broken: bool) -> World:
    """Lines on the links with noise between releases, and the breaks."""
    at = int(rng.integers(14, 20)) if broken else None
    mean = {}
    for name in METRICS:
        z = _START[name] + _SLOPE[name] * np.arange(RELEASES) + _NOISE[name] * rng.normal(size=RELEASES)
        if at is not None:
            z[at:] += _BREAK.get(name, 0.0)
        mean[name] = np.exp(z) if name == "longest_tool_chain" else 1 / (1 + np.exp(-z))
    return World(mean, at)


def write_release(path: Path, release: int, planted: World, rng: np.random.Generator) -> None:
    """The log of one release."""
    chain = np.maximum(0, rng.poisson(planted.mean["longest_tool_chain"][release], SAMPLES))
    right = rng.random(SAMPLES) < planted.mean["accuracy"][release]
    omitted = rng.binomial(10, planted.mean["omission"][release], SAMPLES) / 10
    samples = [_sample(i + 1, int(chain[i]), bool(right[i]), float(omitted[i])) for i in range(SAMPLES)]
    created = f"2026-{1 + release // 28:02}-{1 + release % 28:02}T09:00:00+00:00"
    head = maker.header(
        SAMPLES,
        eval_id=f"eval{release}",
        run_id=f"run{release}",
        task="report",
        task_id=f"task{release}",
        created=created,
        model=f"lab/agent-1.{release}",
    )
    head["eval"]["scorers"] = [{"name": name, "options": {}} for name in ("match", "omission")]
    head["results"]["scores"] = []
    with path.open("wb") as file:
        archive = maker.ZipWriter(file)
        archive.add_json("_journal/start.json", {key: head[key] for key in ("version", "eval", "plan")})
        for one in samples:
            archive.add(f"samples/{one['id']}_epoch_1.json", json.dumps(one, separators=(",", ":")).encode())
        archive.add_json("summaries.json", [_summary(one) for one in samples])
        archive.add_json("header.json", head)
        archive.close()


def _sample(number: int, calls: int, right: bool, omitted: float) -> dict[str, Any]:
    """A question, so many tool calls in a row, and an answer with two scores."""
    question, target = f"What is {number} + {number}?", str(2 * number)
    said = target if right else str(2 * number + 1)
    messages: list[dict[str, Any]] = [{"id": f"u{number}", "role": "user", "content": question, "source": "input"}]
    for k in range(calls):
        call = {
            "id": f"c{number}-{k}",
            "function": "search",
            "arguments": {"query": f"{number} {k}"},
            "type": "function",
        }
        messages.append({"id": f"a{number}-{k}", "role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"id": f"t{number}-{k}", "role": "tool", "content": "found", "tool_call_id": call["id"]})
    reply = {"id": f"r{number}", "role": "assistant", "content": f"ANSWER: {said}", "source": "generate"}
    scores = {
        "match": {"value": "C" if right else "I", "answer": said, "explanation": None, "history": []},
        "omission": {"value": omitted, "answer": said, "explanation": None, "history": []},
    }
    return {
        "id": number,
        "epoch": 1,
        "input": question,
        "target": target,
        "messages": [*messages, reply],
        "output": {
            "model": "agent",
            "choices": [{"message": reply, "stop_reason": "stop"}],
            "completion": reply["content"],
        },
        "scores": scores,
        "metadata": {},
        "store": {},
        "events": [],
        "model_usage": {},
        "uuid": f"s{number}",
        "attachments": {},
    }


def _summary(one: dict[str, Any]) -> dict[str, Any]:
    return {**{key: one[key] for key in ("id", "epoch", "input", "target", "scores", "uuid")}, "completed": True}


class Fired(NamedTuple):
    """What fired in one world.

    Attributes:
        at: First release after which a series fired, by its metric, of those that ever did.
        series: Series that were watched, and of these the ones that never could be.
        looks: Looks that were taken.
    """

    at: dict[str, int]
    series: tuple[int, int]
    looks: int


def look_after_each(planted: World, rng: np.random.Generator, folder: Path) -> Fired:
    """Add one release after the other, and look as a pipeline does."""
    from foreshock.alarms import watch_store
    from foreshock.store import Store, add_paths

    store = Store.open(folder / "store", create=True)
    fired: dict[str, int] = {}
    watched, never = set[str](), set[str]()
    for release in range(RELEASES):
        path = folder / f"{release:02}.eval"
        write_release(path, release, planted, rng)
        add_paths(store, [path])
        if release + 1 < FIRST_LOOK:
            continue
        watch = watch_store(store)
        for one in watch.watched:
            name = one.one.series.metric
            watched.add(name)
            if watch.state(one) == "firing":
                fired.setdefault(name, release)
            if release == RELEASES - 1 and watch.state(one) == "no-data":
                never.add(name)
    return Fired(fired, (len(watched), len(never)), RELEASES - FIRST_LOOK + 1)


def _accuracy(name: str) -> bool:
    return name in ("match", "exact_match")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Look at every world."""
    worlds = args.worlds or WORLDS
    rows = []
    for number in range(worlds):
        for broken in (True, False):
            rng = np.random.default_rng([args.seed, number, int(broken)])
            planted = world(rng, broken=broken)
            with tempfile.TemporaryDirectory() as folder:
                told = look_after_each(planted, rng, Path(folder))
            rows.append(
                {"world": number, "at": planted.at, "fired": told.at, "series": told.series, "looks": told.looks}
            )
    return {"seeds": [args.seed], "worlds": worlds, "rows": rows, "withheld": _withheld(rows), **_summed(rows)}


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    broken, null = [row for row in rows if row["at"] is not None], [row for row in rows if row["at"] is None]
    found = {name: [_delay(row, name) for row in broken] for name in PLANTED}
    return {
        "found": {name: sum(delay is not None for delay in delays) for name, delays in found.items()},
        "delay": {name: [delay for delay in delays if delay is not None] for name, delays in found.items()},
        "both": sum(all(_delay(row, name) is not None for name in PLANTED) for row in broken),
        "early": sum(any(at < row["at"] for at in row["fired"].values()) for row in broken),
        "accuracy_fired": sum(any(map(_accuracy, row["fired"])) for row in rows),
        "null_worlds": len(null),
        "null_fired": sum(bool(row["fired"]) for row in null),
        "null_series": sum(row["series"][0] - row["series"][1] for row in null),
        "null_series_fired": sum(len(row["fired"]) for row in null),
    }


def _delay(row: dict[str, Any], name: str) -> int | None:
    """Releases from the break to the alarm; None where it did not fire, or did before there was anything."""
    at = row["fired"].get(name)
    return None if at is None or at < row["at"] else int(at - row["at"])


def _withheld(rows: list[dict[str, Any]]) -> float:
    """Share of the watched series that said "not enough data" at the end."""
    return sum(row["series"][1] for row in rows) / max(1, sum(row["series"][0] for row in rows))


def lines(result: dict[str, Any]) -> list[str]:
    """The result in Markdown."""
    n = result["worlds"]
    told = [
        f"{n} worlds with breaks and {result['null_worlds']} without, of {RELEASES} releases of {SAMPLES} samples, "
        f"read from Inspect logs; looks after each release from the {FIRST_LOOK}th on, ledger kept, level .05.",
        "",
        "| planted in | fires | median releases after the break |",
        "| --- | --- | --- |",
    ]
    for name in PLANTED:
        delays = result["delay"][name]
        median = f"{np.median(delays):g}" if delays else "-"
        told.append(f"| {name} | {result['found'][name]} of {n} | {median} |")
    return [
        *told,
        f"| both in one world | {result['both']} of {n} | |",
        "",
        f"Accuracy, which stays smooth, fired in {result['accuracy_fired']} of {2 * n} worlds. Something fired before "
        f"the break in {result['early']} of {n}. Without a break something fired in {result['null_fired']} of "
        f"{result['null_worlds']} worlds: {result['null_series_fired']} of {result['null_series']} series that can.",
    ]
