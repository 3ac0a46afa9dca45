"""Runs as Every Eval Ever: an aggregate file each, and a line for each score of each response."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from foreshock._base import Progress, StoreError, pretty, quiet, utc_now
from foreshock.export._draft import Draft
from foreshock.export._eee_line import Lines
from foreshock.export._eee_log import Results, document
from foreshock.records import Run
from foreshock.store import Snapshot

UNSCORED_SUFFIX = "_unscored.foreshock"
"""End of the name of the file of responses without a score: not .jsonl, so that no tool takes it for samples."""
_PART = 8_192
"""Responses that are held at a time."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80
# names that Windows takes for devices, whatever comes after a full stop
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)


class Exported(NamedTuple):
    """What was written.

    Attributes:
        files: Aggregate files, in the order of the runs.
        lines: Lines of samples in all.
        unscored: Responses without a score, which stand in files of their own.
        notes: What the format could not hold, as a sentence, with how often that was.
    """

    files: list[Path]
    lines: int
    unscored: int
    notes: dict[str, int]


def write_every_eval_ever(
    snapshot: Snapshot, folder: str | Path, *, runs: Iterable[str] | None = None, progress: Progress = quiet
) -> Exported:
    """Write runs in the layout of Every Eval Ever, schema 0.3.0.

    ``data/{benchmark}/{developer}/{model}/{uuid}.json`` and, where the store has responses, ``{uuid}_samples.jsonl``
    beside it. Responses without a score, of which other tools would make zeros, stand in ``{uuid}_unscored.foreshock``,
    which only Foreshock reads. The uuid follows from the ingest: the same run has the same files, which are replaced.
    What the format has no place for stands as JSON under the name ``foreshock`` in the fields that it leaves free, so
    that nothing is lost when Foreshock reads the files again; steps of traces and Foreshock's own scores are left out
    and counted.

    Args:
        snapshot: Where the runs are.
        folder: Where ``data/`` goes; made when it is not there.
        runs: Run keys; None is every run.
        progress: Told how many runs were written.

    Raises:
        StoreError: A run is not there, or a file cannot be written.
    """
    wanted = _wanted(snapshot, runs)
    moment, notes, files, lines, unscored = utc_now(), Counter[str](), [], 0, 0
    for done, run in enumerate(wanted, 1):
        try:
            path, written, apart = _write(snapshot, run, Path(folder), moment, notes)
        except OSError as error:
            raise StoreError(
                f"cannot write it ({error.strerror or error})", expected="a folder to write into", where=str(folder)
            ) from None
        files.append(path)
        lines, unscored = lines + written, unscored + apart
        progress("export", done, len(wanted))
    return Exported(files, lines, unscored, dict(notes))


def _wanted(snapshot: Snapshot, runs: Iterable[str] | None) -> list[Run]:
    known = snapshot.runs()
    if runs is None:
        return known
    asked = set(runs)
    absent = sorted(asked - {run.run_key for run in known})
    if absent:
        raise StoreError(f"no run {absent[0]!r}", expected="a run key", do="list them: foreshock ls")
    return [run for run in known if run.run_key in asked]


def file_id(run: Run) -> uuid.UUID:
    """Id of a run's files: the same for the same ingest, in the form of a random one, which the format demands."""
    return uuid.UUID(bytes=hashlib.sha256(f"foreshock {run.ingest_id}".encode()).digest()[:16], version=4)


def place(run: Run) -> tuple[str, str, str]:
    """Folders of a run: benchmark, developer and model, of letters that every file system takes.

    Examples:
        >>> place(Run(run_key="k", format="f", reader="r@1", model="org/model 7B", task="a|b:c"))
        ('a_b_c', 'org', 'model_7B')
    """
    developer, slash, model = run.model.partition("/")
    if not slash:
        developer, model = run.card.organisation or "unknown", run.model
    return _safe(run.task), _safe(developer), _safe(model)


def _safe(name: str) -> str:
    kept = _UNSAFE.sub("_", name).strip("._")[:_LONGEST].rstrip("._") or "unknown"
    return f"_{kept}" if _DEVICE.fullmatch(kept.partition(".")[0]) else kept


def _write(snapshot: Snapshot, run: Run, folder: Path, moment: str, notes: Counter[str]) -> tuple[Path, int, int]:
    parts = place(run)
    name = str(file_id(run))
    home = folder.joinpath("data", *parts)
    home.mkdir(parents=True, exist_ok=True)
    aggregates = snapshot.scan("aggregates", runs=[run.run_key]).collect().to_dicts()
    results = Results(run, aggregates, notes)
    path, samples = home / f"{name}.json", f"{name}_samples.jsonl"
    drafts: dict[bool | None, Draft] = {}
    try:
        for kind, file in ((True, samples), (False, f"{name}{UNSCORED_SUFFIX}"), (None, path.name)):
            drafts[kind] = Draft(home / file)
        if snapshot.scan("responses", runs=[run.run_key], columns=["row"]).head(1).collect().height:
            for scored, line in _lines(snapshot, run, Lines(run, results, notes), moment):
                drafts[scored].write(line)
        if drafts[True].count:
            results.samples = {
                "format": "jsonl",
                "file_path": "/".join(("data", *parts, samples)),
                "hash_algorithm": "sha256",
                "checksum": drafts[True].checksum,
                "total_rows": drafts[True].count,
            }
        drafts[None].write(pretty(document(run, results, moment)).encode())
        for draft in drafts.values():
            draft.keep()
    finally:
        for draft in drafts.values():
            draft.drop()
    return path, drafts[True].count, drafts[False].count


def _lines(snapshot: Snapshot, run: Run, writer: Lines, moment: str) -> Iterator[tuple[bool, bytes]]:
    """Lines of a run, in the order in which its log had the responses."""
    import polars as pl

    responses, scores = (snapshot.scan(table, runs=[run.run_key]) for table in ("responses", "scores"))
    last = responses.select(pl.col("row").max()).collect().item()
    own = scores.filter(pl.col("source") == "foreshock").select(pl.len()).collect().item()
    steps = snapshot.scan("trace", runs=[run.run_key]).select(pl.len()).collect().item()
    writer.left_out(own, steps)
    for start in range(0, last + 1, _PART):
        within = pl.col("row").is_between(start, start + _PART - 1)
        part = responses.filter(within).sort("row").collect()
        if not part.height:
            continue
        full = snapshot.with_items(part, [c for c in Lines.ITEM if c not in part.columns])
        given = scores.filter(within & (pl.col("source") == "harness")).collect()
        marks: dict[int, list[dict[str, Any]]] = {}
        for score in given.sort("row", "metric_id", maintain_order=True).iter_rows(named=True):
            marks.setdefault(score["row"], []).append(score)
        for row in full.iter_rows(named=True):
            yield from writer.of(row, marks.get(row["row"], []), moment)
