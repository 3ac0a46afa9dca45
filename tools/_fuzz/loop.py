"""The worker: break, read, judge, keep what is new."""

from __future__ import annotations

import json
import mmap
import random
import resource
import shutil
import struct
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from _fuzz.cases import Case, clear, load, size, write
from _fuzz.judge import Verdict, alike, judge, stored
from _fuzz.mutate import Mutator
from foreshock.readers import ReadOptions

BEAT = struct.Struct("<qd")
"""What a worker tells its watcher: number of the execution and when it began."""

MAX_GROWTH = 512 * 2**20
"""Resident memory that one execution may add; cases are at most a few MiB, what they expand to is bounded."""

FENCE = 3 * 2**30
"""Address space beyond what the process has at the start."""

MAX_SECONDS = 5.0
"""CPU seconds of one execution."""

TOO_SLOW = f"slow: more than {MAX_SECONDS:g} CPU seconds"

SHARE_STORED = 0.01
SHARE_FRAMES = 0.05
SHARE_TWICE = 0.01
SHARE_DIRECT = 0.08

_MAX_CORPUS = 3_000
_MAX_KEPT = 2**18
_EVERY = 500
_CLOCK = 20
OPTIONS = [
    *[ReadOptions()] * 8,
    ReadOptions(task="t", model="m"),
    ReadOptions(map={"output": "output", "target": "target", "item": "id"}),
    ReadOptions(csv={"x": "size", "y": "score", "group": "task"}),
    ReadOptions(scale=100.0, chance=0.25, n="n"),
    ReadOptions(preset="mmlu-pro"),
]


class Plan(NamedTuple):
    """What a worker is to do.

    Attributes:
        reader: The reader at issue.
        folder: Where corpus, findings and state are kept.
        seed: Of all randomness.
        executions: After how many to stop, over all workers.
        seconds: CPU seconds after which to stop, over all workers.
    """

    reader: str
    folder: Path
    seed: int
    executions: int
    seconds: float


class Worker:
    """Runs until the plan is done; whoever starts it again after a death goes on from the state on disk."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.work = plan, plan.folder / "work"
        self.corpus_folder, self.findings = plan.folder / "corpus", plan.folder / "findings"
        for folder in (self.work, self.corpus_folder, self.findings):
            folder.mkdir(parents=True, exist_ok=True)
        self.state: dict[str, Any] = read_state(plan.folder)
        self.seeds = load(plan.reader)
        self.corpus = [self._load(p) for p in sorted(self.corpus_folder.iterdir())]
        self.noise = random.Random(f"{plan.seed} {plan.reader} {self.state['starts']}")
        self.mutate = Mutator(self.noise, self.seeds)
        self.seen: set[str] = set(self.state["seen"])
        self.before = self.state["seconds"]
        self.high = 0
        self.beat = open_beat(plan.folder)

    def run(self) -> None:
        """Execute until the plan is done."""
        warnings.simplefilter("error")
        self.state["starts"] += 1
        self._fence()
        for case in self.seeds if not self.corpus else []:
            self._keep(case, self._one(case, ReadOptions()))
        while self._going():
            try:
                case = self.mutate(self._pick())
                if self.noise.random() < 0.05:
                    case = self.mutate(case) | self._pick()
            except MemoryError:  # breaking it further goes beyond the fence, which is no fault of a reader
                continue
            self._keep(case, self._one(case, self.noise.choice(OPTIONS)))
            if self.state["executions"] % _EVERY == 0:
                self.save()
        self.save()

    def save(self) -> None:
        """Put the state where the watcher, or the next worker, finds it."""
        self.state |= {"seconds": self._spent(), "seen": sorted(self.seen), "corpus": len(self.corpus)}
        path = self.plan.folder / "state.json"
        path.with_suffix(".new").write_text(json.dumps(self.state), "utf-8")
        path.with_suffix(".new").replace(path)

    def _going(self) -> bool:
        done = self.state["executions"]
        return done < self.plan.executions and (done % _CLOCK != 0 or self._spent() < self.plan.seconds)

    def _spent(self) -> float:
        return float(self.before) + time.process_time()

    def _pick(self) -> Case:
        if not self.corpus or self.noise.random() < 0.3:
            return self.noise.choice(self.seeds)
        # younger entries stand deeper and have been tried less
        return self.corpus[int(len(self.corpus) * self.noise.random() ** 0.5)]

    def _one(self, case: Case, options: ReadOptions) -> Verdict:
        clear(self.work)
        write(case, self.work)
        self.state["executions"] += 1
        self._grown()  # making the case may have taken more than reading it
        start = time.monotonic()
        BEAT.pack_into(self.beat, 0, self.state["executions"], start)
        direct, frames = self.noise.random() < SHARE_DIRECT, self.noise.random() < SHARE_FRAMES
        try:
            verdict = judge(self.work, self.plan.reader, options, direct=direct, frames=frames)
            # a call of the CPU clock costs as much as a small case; the wall clock says when it is worth one
            slow = time.monotonic() - start > MAX_SECONDS and self._slow(options, direct)
            findings = [*verdict.findings, *([TOO_SLOW] if slow else [])]
            if self.noise.random() < SHARE_TWICE:
                # at this depth of the stack again: how deep a value may nest depends on it
                again = judge(self.work, self.plan.reader, options, direct=direct, frames=frames)
                other = sorted(again.shape ^ verdict.shape)
                findings += [f"the same files gave another outcome: {other[0]}"] if other else []
            if self.noise.random() < SHARE_STORED and not direct:
                findings += self._stored(options)
        except MemoryError:
            verdict, findings = Verdict(frozenset(), [], False), ["MemoryError"]
        self.state["reached"] += verdict.reached
        if self._grown() > MAX_GROWTH:
            findings.append(f"memory: more than {MAX_GROWTH >> 20} MiB")
        BEAT.pack_into(self.beat, 0, self.state["executions"], 0.0)
        for text in findings:
            self._found(text, case, options, direct)
        return verdict

    def _slow(self, options: ReadOptions, direct: bool) -> bool:
        before = time.process_time()
        judge(self.work, self.plan.reader, options, direct=direct, frames=False)
        return time.process_time() - before > MAX_SECONDS

    def _stored(self, options: ReadOptions) -> list[str]:
        place = self.plan.folder / "store"
        shutil.rmtree(place, ignore_errors=True)
        self.state["stored"] += 1
        return stored(self.work, place, options)

    def _found(self, text: str, case: Case, options: ReadOptions, direct: bool) -> None:
        kind = alike(text)
        count = self.state["findings"].get(kind, 0)
        self.state["findings"][kind] = count + 1
        if count < 3:
            record(self.findings, text, case, options, direct)
            self.save()

    def _keep(self, case: Case, verdict: Verdict) -> None:
        new = verdict.shape - self.seen
        self.seen |= new
        if new and size(case) <= _MAX_KEPT and len(self.corpus) < _MAX_CORPUS:
            name = f"{len(self.corpus):06d}"
            (self.corpus_folder / name).write_bytes(msgspec.msgpack.encode(case))
            self.corpus.append(case)

    def _load(self, path: Path) -> Case:
        return msgspec.msgpack.decode(path.read_bytes(), type=dict[str, bytes])

    def _fence(self) -> None:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + FENCE, used + FENCE))
        self.high = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def _grown(self) -> int:
        high = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        grown, self.high = high - self.high, max(high, self.high)
        return grown


def read_state(folder: Path) -> dict[str, Any]:
    """What the workers before have done."""
    blank: dict[str, Any] = {"executions": 0, "seconds": 0.0, "starts": 0, "reached": 0, "stored": 0, "corpus": 0}
    path = folder / "state.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {**blank, "seen": [], "findings": {}, **found}


def open_beat(folder: Path) -> mmap.mmap:
    """Memory that worker and watcher share."""
    path = folder / "beat"
    if not path.is_file():
        path.write_bytes(bytes(BEAT.size))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), BEAT.size)


def record(folder: Path, text: str, case: Case, options: ReadOptions, direct: bool) -> Path:
    """Keep a case with what is wrong with it."""
    place = folder / f"{len(list(folder.iterdir())):04d}"
    (place / "case").mkdir(parents=True)
    write(case, place / "case")
    about = {"finding": text, "options": msgspec.to_builtins(options), "direct": direct}
    (place / "about.json").write_text(json.dumps(about, indent=1), "utf-8")
    (place / "case.msgpack").write_bytes(msgspec.msgpack.encode(case))
    sys.stderr.write(f"{place.name}: {text[:300]}\n")
    return place
