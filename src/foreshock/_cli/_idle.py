"""Options that were given and that no file that was read has a use for."""

from __future__ import annotations

from collections.abc import Iterable

from foreshock.readers import ReadOptions
from foreshock.records import Run

# by the kind of table; the names of model and task, and chance, are of every format
_MATRIX = frozenset({"--map", "--preset", "--scale", "--metric", "--kind", "--wide", "--codes"})
_RESPONSES = frozenset({"--map", "--preset", "--scale", "--metric", "--kind", "--twin"})
_COLUMNS = {"x": "--x", "y": "--y", "group": "--group", "date": "--date", "family": "--family"}


def idle(options: ReadOptions, runs: Iterable[Run]) -> list[str]:
    """The options that none of ``runs`` was read with, as they are written; none when there are no runs."""
    kinds = {_kind(run) for run in runs}
    if not kinds or "table" in kinds:  # a table of scores uses them all
        return []
    used = set[str]().union(*(_used(kind) for kind in kinds))
    return [flag for flag in _given(options) if flag not in used]


def _kind(run: Run) -> str:
    if run.format != "items":
        return run.format
    return "matrix" if isinstance(run.meta.get("read_as", {}).get("columns"), int) else "items"


def _used(kind: str) -> frozenset[str]:
    return {"matrix": _MATRIX, "items": _RESPONSES}.get(kind, frozenset())


def _given(options: ReadOptions) -> list[str]:
    flags = {
        "--map": bool(options.map) or bool(options.csv.keys() - _COLUMNS),
        "--preset": options.preset,
        "--scale": options.scale is not None,
        "--n": options.n,
        "--metric": options.metric,
        "--kind": options.kind,
        "--twin": options.twin,
        "--codes": options.codes,
        "--interval": options.interval,
        **{flag: options.csv.get(role) for role, flag in _COLUMNS.items()},
        "--wide": options.wide and "y" not in options.csv,
    }
    return [flag for flag, given in flags.items() if given]
