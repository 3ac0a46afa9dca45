"""Read a log with the reader under test into plain rows, and write the odd archives that no good writer makes."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import ForeshockError
from foreshock.readers._inspect import InspectReader
from foreshock.readers._protocol import Candidate, Failure, ReadOptions
from foreshock.records import MAX_ROWS, TABLES, Run

_spec = importlib.util.spec_from_file_location(
    "make_inspect_log", Path(__file__).resolve().parents[2] / "benchmarks" / "_make_inspect_log.py"
)
assert _spec is not None
assert _spec.loader is not None
maker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(maker)

Row = dict[str, Any]


@dataclass
class Read:
    """One run with its late facts merged as the store merges them, and its rows."""

    run: Run
    tables: dict[str, list[Row]] = field(default_factory=dict)

    def __getattr__(self, table: str) -> list[Row]:
        if table not in TABLES:
            raise AttributeError(table)
        return self.tables.get(table, [])

    def metas(self) -> list[Row]:
        return [json.loads(r["meta"]) for r in self.responses]

    def ids(self) -> list[tuple[Any, Any]]:
        return [(r["item_id"], r["epoch"]) for r in self.responses]


def candidate(path: Path) -> Candidate:
    with path.open("rb") as file:
        return Candidate(path, file.read(65_536), ())


def read(path: Path) -> Read:
    """The only run of a file; its failure is raised."""
    (found,) = read_all([path])
    if isinstance(found, ForeshockError):
        raise found
    return found


def read_all(paths: Sequence[Path]) -> list[Read | ForeshockError]:
    out: list[Read | ForeshockError] = []
    for found in InspectReader().read([candidate(p) for p in paths], ReadOptions()):
        if isinstance(found, Failure):
            out.append(found.error)
            continue
        read = Read(found.run)
        for batch in found.batches:
            assert batch.rows <= MAX_ROWS
            rows = [
                dict(zip(batch.columns, values, strict=True)) for values in zip(*batch.columns.values(), strict=True)
            ]
            if batch.table == "runs":
                read.run = merged(read.run, rows[0])
            else:
                known = {column.name for column in TABLES[batch.table]}
                assert set(batch.columns) <= known
                read.tables.setdefault(batch.table, []).extend(rows)
        out.append(read)
    return out


def merged(run: Run, facts: Row) -> Run:
    warnings = [*run.warnings, *facts.pop("warnings", [])]
    return msgspec.structs.replace(run, warnings=warnings, **facts)


def write_eval(path: Path, members: dict[str, Any], directory: bool = True, **kwargs: Any) -> Path:
    """A zip of JSON members (bytes are stored as they are)."""
    with path.open("wb") as file:
        archive = maker.ZipWriter(file)
        for name, value in members.items():
            if isinstance(value, bytes):
                archive.add(name, value, **kwargs)
            else:
                archive.add_json(name, value, **kwargs)
        archive.close(directory)
    return path


def small(samples: int = 3, epochs: int = 1, **spec: Any) -> dict[str, Any]:
    """Members of an ordinary log."""
    head = maker.header(samples, epochs, **spec)
    full = [maker.sample(n, e) for n in range(1, samples + 1) for e in range(1, epochs + 1)]
    return {
        "_journal/start.json": {k: head[k] for k in ("version", "eval", "plan")},
        **{f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in full},
        "summaries.json": [maker.summary(s) for s in full],
        "header.json": head,
    }
