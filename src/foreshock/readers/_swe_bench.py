"""Reader of SWE-bench: reports of its harness, logs of single instances, submissions as in SWE-bench/experiments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from foreshock._base import count_of, digest
from foreshock.readers._contain import reported
from foreshock.readers._json import text
from foreshock.readers._plain import meta
from foreshock.readers._protocol import Candidate, Failure, Reading, ReadOptions
from foreshock.readers._rows import Rows
from foreshock.readers._swe_bench_files import SUBMISSION, Place, left_unread, place_of
from foreshock.readers._swe_bench_load import Loaded, Loader
from foreshock.readers._swe_bench_report import RESOLVED, UNRESOLVED, Outcome
from foreshock.records import Batch, Run, RunStatus, ScoreStatus, ingest_id, run_key

TABLES = {
    "items": ("item_id", "subset"),
    "responses": ("row", "item_id", "epoch", "sample", "delivery", "output", "meta"),
    "scores": ("row", "metric_id", "source", "value", "status", "label"),
}
# instances of the public splits, by the folder of SWE-bench/experiments
_SPLITS = {"lite": 300, "verified": 500, "test": 2294, "multimodal": 517, "bash-only": 500}
_SHOWN = 5
_NAMED = 20


class SweBenchReader:
    """Reads reports and submissions; a submission is read whole, whichever of its files was given."""

    name = "swe-bench"
    version = 3

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:  # noqa: ARG002 - part of the protocol
        """Whether the file is a report, or a part of a submission that is read."""
        return place_of(candidate) is not None

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read every submission and report once."""
        loader, seen = Loader(), set[Place]()
        for candidate in candidates:
            place = place_of(candidate) or Place("report", candidate.path)
            if place in seen:
                continue
            seen.add(place)
            try:
                yield from self._place(place, loader, options)
            except BaseException as error:  # noqa: BLE001 - one bad file is not the others
                yield Failure(candidate.path, reported(error, candidate.path))

    def _place(self, place: Place, loader: Loader, options: ReadOptions) -> Iterator[Reading | Failure]:
        load = {"submission": loader.submission, "logs": loader.logs, "report": loader.report}[place.kind]
        loaded = load(place.root)
        for path, error in loaded.failed.items():
            yield Failure(path, error)
        if not loaded.sources:
            return
        run = self._run(place, loaded, options)
        yield Reading(run, _batches(loaded, run))

    def _run(self, place: Place, loaded: Loaded, options: ReadOptions) -> Run:
        named = _named(place)
        task, size = _task(place, loaded)
        guesses = [*(["model"] if named.guessed and not options.model else [])]
        guesses += [] if options.task or named.date else ["task"]
        expected = loaded.report.counts.get("total_instances")
        if expected is None and size is not None:
            expected, guesses = size, [*guesses, "expected"]
        model = options.model if named.guessed and options.model else named.model
        task = options.task or task
        key = run_key("swe-bench", task, named.model, named.run_id, named.date or "")
        found: dict[str, Any] = {"submitter": named.submitter, "name": loaded.name, "run_id": named.run_id}
        found["counts"] = loaded.report.counts
        found["notes"] = _notes(place)
        run = Run(
            run_key=key,
            format=self.name,
            reader=f"{self.name}@{self.version}",
            model=model,
            task=task,
            created=named.date,
            sources=loaded.sources,
            expected=expected,
            status=RunStatus.COMPLETE if loaded.found and not loaded.failed else RunStatus.PARTIAL,
            warnings=_warnings(loaded),
            guesses=guesses,
            meta={k: v for k, v in found.items() if v},
        )
        # what other submissions name decides which instances are unresolved here
        inferred = sorted(k for k, o in loaded.report.outcomes.items() if o.more.get("inferred"))
        said = {"model": options.model, "task": options.task, "inferred": digest(inferred) if inferred else None}
        return msgspec.structs.replace(run, ingest_id=ingest_id(key, run.sources, run.reader, said))


def _notes(place: Place) -> list[str]:
    """What lies in a submission and is passed over: trajectories, statistics, whatever has another name."""
    unread = left_unread(place.root) if place.kind == "submission" else []
    if not unread:
        return []
    more = f", and {len(unread) - _NAMED:,} more" if len(unread) > _NAMED else ""
    return [f"not read: {', '.join(text(name)[:80] for name in unread[:_NAMED])}{more}"]


class _Named(NamedTuple):
    model: str
    guessed: bool
    date: str | None = None
    submitter: str | None = None
    run_id: str = ""


def _named(place: Place) -> _Named:
    """Who was evaluated: by the name of the submission, of the folder of logs, or of the report."""
    if place.kind == "submission":
        found = SUBMISSION.fullmatch(place.root.name)
        assert found is not None
        year, month, day, system = found.groups()
        return _Named(text(system), False, f"{year}-{month}-{day}", text(system.partition("_")[0]))
    if place.kind == "logs":
        return _Named(text(place.root.name.replace("__", "/")), True, run_id=text(place.root.parent.name))
    # the harness writes {model}.{run id}.json
    model, _, run_id = place.root.stem.rpartition(".")
    return _Named(text((model or run_id).replace("__", "/")), True, run_id=text(run_id if model else ""))


def _task(place: Place, loaded: Loaded) -> tuple[str, int | None]:
    """The benchmark, and its size when the path names a public split."""
    parts = place.root.absolute().parts[:-1]
    if place.kind == "submission" and "evaluation" in parts:
        below = parts[len(parts) - parts[::-1].index("evaluation") :]
        return text("/".join(("SWE-bench", *below))), _SPLITS.get(below[0]) if len(below) == 1 else None
    total = loaded.report.counts.get("total_instances")
    split = next((name for name, size in _SPLITS.items() if size == total), None)
    return (f"SWE-bench/{split}" if split else "SWE-bench"), None


def _warnings(loaded: Loaded) -> list[str]:
    report, found = loaded.report, [*loaded.report.warnings]
    found += [f"{path.name} is not read: {error.found}" for path, error in list(loaded.failed.items())[:_SHOWN]]
    if not loaded.found:
        found.append("no results: whether anything was resolved is not known")
    elif not _scorable(loaded):
        found.append(
            "only the resolved instances are listed, not the unresolved ones: none has a score, since a mean over the "
            "resolved alone would be 1"
        )
    if loaded.inferred:
        found.append(
            f"{count_of(loaded.inferred, 'instance')} not listed but named by other submissions beside this one: "
            "taken for unresolved"
        )
    unknown = sum(o.state == "submitted" for o in report.outcomes.values())
    if unknown and loaded.found:
        found.append(f"{count_of(unknown, 'instance')} handed in of which no list says how it went")
    return found


def _scorable(loaded: Loaded) -> bool:
    """Whether scores of the listed instances are those of all: else they are of the resolved alone."""
    report = loaded.report
    total = report.counts.get("total_instances")
    return report.lists_unresolved or (total is not None and len(report.outcomes) >= total)


def _batches(loaded: Loaded, run: Run) -> Iterator[Batch]:
    rows = Rows(TABLES)
    item, response, score = map(rows.appender, TABLES)
    scorable = _scorable(loaded)
    for row, (instance, outcome) in enumerate(loaded.report.outcomes.items()):
        patch = loaded.patches.get(instance)
        item((instance, instance.rpartition("-")[0].replace("__", "/") or None))
        told = meta({"state": outcome.state, **outcome.more})
        response((row, instance, 1, 0, outcome.delivery.value, patch or None, told))
        for one in _scores(outcome, scorable):
            score((row, *one))
        rows.grow(len(patch or "") + len(instance))
        if rows.full:
            yield from rows.flush()
    yield from rows.flush()
    if loaded.found and (total := _total(loaded, run)) is not None:
        yield total


def _scores(outcome: Outcome, scorable: bool) -> Iterator[tuple[Any, ...]]:
    if outcome.state in (RESOLVED, UNRESOLVED):
        if scorable:
            yield RESOLVED, "harness", float(outcome.state == RESOLVED), ScoreStatus.SCORED.value, outcome.state
        else:
            yield RESOLVED, "harness", None, ScoreStatus.NEEDS.value, outcome.state
        for name, share in outcome.tests.items():
            yield name, "harness", share, ScoreStatus.SCORED.value, None


def _total(loaded: Loaded, run: Run) -> Batch | None:
    """The harness's own figure: resolved over all instances, whatever became of them."""
    report = loaded.report
    resolved = sum(o.state == RESOLVED for o in report.outcomes.values())
    if not report.outcomes:
        resolved = report.counts.get("resolved_instances", 0)
    if not run.expected or resolved > run.expected:
        return None
    scored = sum(o.state in (RESOLVED, UNRESOLVED) for o in report.outcomes.values())
    return Batch(
        "aggregates",
        {
            "metric_id": [RESOLVED],
            "value": [resolved / run.expected],
            "n": [run.expected],
            "n_scored": [scored if report.outcomes else None],
            "low": [0.0],
            "high": [1.0],
            "higher_is_better": [True],
            "source": ["harness"],
            "raw": [msgspec.json.encode({"resolved": resolved, "total": run.expected}).decode()],
        },
    )
