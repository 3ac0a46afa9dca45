"""Breaks planted in Inspect logs: do they fire, does the smooth accuracy beside them not, does anything without them?

Each world is a folder of logs as Inspect writes them, one for each release of a model: names that say nothing of sizes
(``lab/agent-1.7``), a task with tool use, a right or wrong answer, and a scorer of the lab's own that gives the share
of material facts that an answer left out. Accuracy, the mean length of the longest tool chain and the omission score
each follow a straight line on their link with independent noise between releases. At a release drawn at random, chain
and omission break in two worlds of three: a little (about five standard deviations of what scatters between releases)
or a lot (chains of double length, omissions of .2 become .4); in the third nothing breaks. The logs are added to a
store and scored with the usual metrics and those of traces; then one release after the other is looked at from the
twelfth on, as a pipeline would, with the ledger kept. What is counted is what a user of ``foreshock alarms`` sees.

Chosen before anything was measured: samples, noise, the small break, level .05 over 60 looks. The large break, and that
breaks lie between the 17th and the 21st of 28 releases, were chosen after the first trials, in which breaks from the
15th release on, at which eight points are the baseline and six were looked at, were often found late or not at all.
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

RELEASES, SAMPLES, FIRST_LOOK = 28, 40, 12
WORLDS = 12
BREAKS = (16, 21)
"""Releases among which the break is drawn, counted from 0; the second is none."""

METRICS = ("accuracy", "longest_tool_chain", "omission")
PLANTED = METRICS[1:]
_NOISE = {"accuracy": 0.12, "longest_tool_chain": 0.05, "omission": 0.12}
_START = {"accuracy": 0.2, "longest_tool_chain": 1.1, "omission": -1.4}
_SLOPE = {"accuracy": 0.03, "longest_tool_chain": 0.01, "omission": -0.01}
_BREAK = {
    "small": {"longest_tool_chain": 0.5, "omission": 0.7},
    "large": {"longest_tool_chain": 0.69, "omission": 1.0},
    "none": {"longest_tool_chain": 0.0, "omission": 0.0},
}


class World(NamedTuple):
    """What is planted.

    Attributes:
        mean: True mean of each metric at each release, by name: share right, calls, share left out.
        at: Release at which the breaks begin, counted from 0; None in a null world.
    """

    mean: dict[str, np.ndarray]
    at: int | None


def world(rng: np.random.Generator, size: str) -> World:
    """Lines on the links with noise between releases, and the breaks."""
    at = int(rng.integers(*BREAKS))
    mean = {}
    for name in METRICS:
        z = _START[name] + _SLOPE[name] * np.arange(RELEASES) + _NOISE[name] * rng.normal(size=RELEASES)
        z[at:] += _BREAK[size].get(name, 0.0)
        mean[name] = np.exp(z) if name == "longest_tool_chain" else 1 / (1 + np.exp(-z))
    return World(mean, None if size == "none" else at)


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
        fired: First release after which a series fired, by its metric, of those that ever did.
        kept: The same of those that fired and that the ledger kept or counted.
        sure: Metrics that fired with their guarantee.
        series: Series that were watched, and of these the ones with a guarantee at the end.
        withheld: Series of the three metrics that are about something, and of these the ones without an answer.
    """

    fired: dict[str, int]
    kept: dict[str, int]
    sure: list[str]
    series: tuple[int, int]
    withheld: tuple[int, int]


def look_after_each(planted: World, rng: np.random.Generator, folder: Path) -> Fired:
    """Add and score the logs, then look at one release more each time, as a pipeline does."""
    from foreshock._base import AlarmsConfig
    from foreshock.alarms import read_memory, settle, watch_lines, watched_lines
    from foreshock.scoring import aggregate, default_metrics, score
    from foreshock.series import model_cards
    from foreshock.store import Store, add_paths

    store, settings = Store.open(folder / "store", create=True), AlarmsConfig()
    for release in range(RELEASES):
        write_release(folder / f"{release:02}.eval", release, planted, rng)
    add_paths(store, [folder])
    score(store, [*default_metrics(), *settings.metrics])
    snapshot = store.snapshot()
    runs = sorted(snapshot.runs(), key=lambda run: run.created or "")
    means = aggregate(snapshot)
    fired: dict[str, int] = {}
    kept: dict[str, int] = {}
    sure = set[str]()
    for release in range(FIRST_LOOK - 1, RELEASES):
        trails = watched_lines(runs[: release + 1], model_cards(runs[: release + 1]))
        watched = watch_lines(snapshot, trails, settings, read_memory(store), aggregates=means)
        watch = settle(store, watched, settings)
        for one in watch.watched:
            name = one.one.series.metric
            if watch.state(one) == "firing":
                fired.setdefault(name, release)
                sure |= {name} if one.alarm.guaranteed else set()
                if watch.standing(one) not in (None, "not kept"):
                    kept.setdefault(name, release)
    promised = sum(one.alarm.guaranteed for one in watch.watched)
    about = [watch.state(one) for one in watch.watched if one.one.series.metric in (*PLANTED, "match", "exact_match")]
    withheld = (len(about), about.count("no-data"))
    return Fired(fired, kept, sorted(sure), (len(watch.watched), promised), withheld)


def _accuracy(name: str) -> bool:
    return name in ("match", "exact_match")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """Look at every world."""
    worlds = args.worlds or WORLDS
    rows = []
    for number in range(worlds):
        for k, size in enumerate(_BREAK):
            rng = np.random.default_rng([args.seed, number, k])
            planted = world(rng, size)
            with tempfile.TemporaryDirectory() as folder:
                told = look_after_each(planted, rng, Path(folder))
            rows.append({"world": number, "break": size, "at": planted.at, **told._asdict()})
    withheld = sum(row["withheld"][1] for row in rows) / max(1, sum(row["withheld"][0] for row in rows))
    sizes = {size: _summed([row for row in rows if row["break"] == size]) for size in _BREAK}
    return {"seeds": [args.seed], "worlds": worlds, "rows": rows, "withheld": withheld, "sizes": sizes}


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    found = {name: [_delay(row, "at", name) for row in rows] for name in PLANTED}
    return {
        "found": {name: sum(delay is not None for delay in delays) for name, delays in found.items()},
        "sure": {name: sum(name in row["sure"] for row in rows) for name in PLANTED},
        "kept": {name: sum(_delay(row, "kept", name) is not None for row in rows) for name in PLANTED},
        "delay": {name: [delay for delay in delays if delay is not None] for name, delays in found.items()},
        "both": sum(all(_delay(row, "at", name) is not None for name in PLANTED) for row in rows),
        "early": sum(any(row["at"] is not None and at < row["at"] for at in row["fired"].values()) for row in rows),
        "accuracy": sum(any(map(_accuracy, row["fired"])) for row in rows),
        "any": sum(bool(row["fired"]) for row in rows),
        "series": sum(row["series"][1] for row in rows),
        "series_fired": sum(len(row["fired"]) for row in rows),
        "series_kept": sum(len(row["kept"]) for row in rows),
    }


def _delay(row: dict[str, Any], what: str, name: str) -> int | None:
    """Releases from the break to the alarm; None where it did not fire, or did before there was anything."""
    at = row["fired" if what == "at" else what].get(name)
    return None if at is None or row["at"] is None or at < row["at"] else int(at - row["at"])


def lines(result: dict[str, Any]) -> list[str]:
    """The result in Markdown."""
    n = result["worlds"]
    told = [
        f"{n} worlds of each kind, of {RELEASES} releases of {SAMPLES} samples, read from Inspect logs; looks after "
        f"each release from the {FIRST_LOOK}th on, ledger kept, level .05; breaks at one of the releases "
        f"{BREAKS[0] + 1} to {BREAKS[1]}.",
        "",
        "| break | planted in | fires | with guarantee | kept by the ledger | median releases after the break |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for size in ("small", "large"):
        here = result["sizes"][size]
        for name in PLANTED:
            delays = here["delay"][name]
            median = f"{np.median(delays):g}" if delays else "-"
            counts = f"{here['found'][name]} of {n} | {here['sure'][name]} | {here['kept'][name]}"
            told.append(f"| {size} | {name} | {counts} | {median} |")
        told.append(f"| {size} | both in one world | {here['both']} of {n} | | | |")
    none, sizes = result["sizes"]["none"], result["sizes"].values()
    return [
        *told,
        "",
        f"Accuracy, which stays smooth, fired in {sum(here['accuracy'] for here in sizes)} of {3 * n} worlds. "
        f"Something fired before the break in {sum(here['early'] for here in sizes)} of {2 * n}. Without a break "
        f"something fired in {none['any']} of {n} worlds: {none['series_fired']} of {none['series']} series with a "
        f"guarantee, of which the ledger kept {none['series_kept']}.",
    ]
