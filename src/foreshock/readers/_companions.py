"""Files that one call of a harness wrote together: skipped together, and one that is named brings the others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from foreshock.readers import _helm_files, _swe_bench_files

BRINGING = frozenset({"lm-eval", "lighteval", "every-eval-ever"})
"""Readers that are given what belongs to a file that was named; those of folders look there themselves."""

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
# of Every Eval Ever, behind the name that its files share
_PARTS = re.compile(r"(?:_samples\.jsonl|_unscored\.foreshock|\.json)$")
_TREES = {"results": "details", "details": "results"}


def group(path: Path) -> tuple[str, str]:
    """What the files that one call wrote have in common: a folder, and a moment or the beginning of their names."""
    moment = _MOMENT.search(path.name)
    if moment:
        return _output(path), moment[0]
    if _helm_files.together(path):
        return str(path.parent), "helm"
    submission = _swe_bench_files.together(path)
    if submission is not None:
        return str(submission), "swe-bench"
    beside = path.parent / "results.json"
    if (path.suffix == ".jsonl" and os.path.exists(beside)) or path.name == beside.name:  # noqa: PTH110
        return str(path.parent), "results"
    return str(path.parent), _PARTS.sub("", path.name)


def beside(named: Iterable[Path]) -> Iterator[Path]:
    """Files of another kind that belong to those that were named: samples to results, results to samples.

    Examples:
        >>> list(beside([Path("nowhere/results_2024-07-01T10-11-12.json")]))
        []
    """
    folders: dict[Path, dict[tuple[str, str], list[Path]]] = {}
    found: dict[Path, None] = {}
    for path in named:
        mine = group(path)
        if mine[1] == path.name:
            continue  # shared with no other
        for folder in (path.parent, *_elsewhere(path)):
            if folder not in folders:
                folders[folder] = _listed(folder)
            found |= dict.fromkeys(p for p in folders[folder].get(mine, ()) if _kind(p) != _kind(path))
    yield from found


def _listed(folder: Path) -> dict[tuple[str, str], list[Path]]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - a Path for each of 10,000 files costs ten times as much
    except (OSError, ValueError):
        return {}
    listed: dict[tuple[str, str], list[Path]] = {}
    for name in names:
        if not name.startswith("."):
            listed.setdefault(group(folder / name), []).append(folder / name)
    return listed


def _elsewhere(path: Path) -> list[Path]:
    """Where lighteval puts the other half: ``results/m/results_T.json``, ``details/m/T/details_task_T.parquet``."""
    moment, parts = _MOMENT.search(path.name), path.parent.parts
    last = _tree(parts)
    if moment is None or last is None:
        return []
    below = [part for part in parts[last + 1 :] if part != moment[0]]
    other = Path(*parts[:last], _TREES[parts[last]], *below)
    return [other, other / moment[0]]


def _tree(parts: tuple[str, ...]) -> int | None:
    return max((i for i, part in enumerate(parts) if part in _TREES), default=None)


def _kind(path: Path) -> str:
    name = path.name
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return os.path.splitext(name)[1]  # noqa: PTH122 - as above


def _output(path: Path) -> str:
    """Folder that one call of a harness wrote into: lighteval has its results and details in folders of their own."""
    parts = path.parent.parts
    last = _tree(parts)
    return str(path.parent if last is None else Path(*parts[:last]))
