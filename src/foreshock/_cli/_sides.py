"""What a person names on a command line as runs to compare: paths, beginnings of keys, model names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from foreshock._base import ConfigError, Progress
from foreshock._cli._names import no_such_name
from foreshock._cli._out import console
from foreshock._cli._places import Places, open_store
from foreshock._cli._report_added import exit_code, show_added
from foreshock._cli._runs import find_runs
from foreshock.compare import Side
from foreshock.readers import ReadOptions
from foreshock.records import Run
from foreshock.report import one_line
from foreshock.store import Snapshot, Store, add_paths


class Named(NamedTuple):
    """Names as given, tables that are added beside them, how both are read, and the folder that --store named."""

    names: Sequence[str]
    tables: Sequence[Path]
    options: ReadOptions
    store: Path | None


def find_sides(
    where: Places, named: Named, *, talk: bool, progress: Progress
) -> tuple[list[Side], list[tuple[str, str]]]:
    """One side for every name; logs that are not in the store yet are added first.

    Returns:
        Sides in the order of the names, and (path, message) of files that could not be read.

    Raises:
        ConfigError: A name stands for nothing, or for runs of several models; or two names stand for the same runs.
    """
    known = open_store(where).snapshot() if where.store.is_dir() else None
    fresh = [str(table) for table in named.tables]
    fresh += [name for name in named.names if _is_path(name, known) and not _unchanged(name, known, named)]
    failures: list[tuple[str, str]] = []
    from_path: dict[str, list[Run]] = {}
    if fresh:
        store = Store.open(where.store, create=True)
        for name in fresh:
            from_path[name] = _add(store, name, named, failures, talk=talk, progress=progress)
        known = store.snapshot()
    snapshot = known if known is not None else open_store(where).snapshot()
    found = [(name, _runs(name, snapshot, from_path)) for name in named.names]
    replaced = {name: told for name, _ in found if (told := _replaced(name, snapshot))}
    failures += [(name, f"{told}; that one is compared") for name, told in replaced.items()]
    return _labelled(found, replaced), failures


def _is_path(name: str, known: Snapshot | None) -> bool:
    if not os.path.exists(name):  # noqa: PTH110 - says no to a name too long for a path, where that of Path raises
        return False
    taken = known is not None and any(name in (run.model, run.run_key) for run in known.runs())
    if taken and Path(name).name == name:
        raise ConfigError(
            f"{name!r} is a path here and a name in the store",
            expected="one of the two",
            do=f"write ./{name} or its run key",
        )
    return True


def _unchanged(name: str, known: Snapshot | None, named: Named) -> bool:
    """Whether a file was read before, has not changed, and nobody says how to read it now."""
    path = Path(name)
    if known is None or not path.is_file() or named.options != ReadOptions():
        return False
    stat = path.stat()
    return known.sources().get(str(path.absolute())) == (stat.st_size, stat.st_mtime_ns)


def _add(
    store: Store, name: str, named: Named, failures: list[tuple[str, str]], *, talk: bool, progress: Progress
) -> list[Run]:
    added = add_paths(store, [Path(name)], named.options, progress=progress)
    if exit_code(added, console(stderr=True), asked=named.store):
        raise ConfigError("nothing in it could be read", expected="a log", do="see: foreshock add --help", where=name)
    failures += [(str(failure.path), str(failure.error)) for failure in added.failures]
    if talk and added.added:
        show_added(console(stderr=True), added, store.folder, asked=named.store)
    return [*added.added, *added.unchanged]


def _runs(name: str, snapshot: Snapshot, from_path: dict[str, list[Run]]) -> list[Run]:
    known = snapshot.runs()
    if not os.path.exists(name) or any(name in (run.model, run.run_key) for run in known):  # noqa: PTH110
        if not any(name in (run.model, run.run_key) or run.run_key.startswith(name) for run in known):
            raise no_such_name(name, snapshot)
        return find_runs(snapshot, [name])
    keys = {run.run_key for run in (*from_path.get(name, ()), *_superseded(name, snapshot))}
    inside = [run for run in known if run.run_key in keys or _is_of(run, name)]
    if not inside:
        raise ConfigError("no run comes from it", expected="a log", do="run: foreshock ls --all", where=name)
    return inside


def _is_of(run: Run, name: str) -> bool:
    """Whether a run was read from this file or folder."""
    place = str(Path(name).absolute())
    return any(source.path == place or source.path.startswith(place + "/") for source in run.sources)


def _superseded(name: str, snapshot: Snapshot) -> list[Run]:
    """Readings of this path in whose place another one counts, as long as none of it does."""
    live = {run.run_key for run in snapshot.runs() if _is_of(run, name)}
    readings = (ingest.run for ingest in snapshot.ingests.values() if ingest.state == "superseded")
    return [run for run in readings if run.run_key not in live and _is_of(run, name)]


def _replaced(name: str, snapshot: Snapshot) -> str:
    """What a log lacks of which the store has a fuller reading; empty where it lacks nothing."""
    if not os.path.exists(name):  # noqa: PTH110
        return ""
    live = {run.run_key: run for run in snapshot.runs()}
    for run in _superseded(name, snapshot):
        fuller = live.get(run.run_key)
        if fuller is not None and fuller.counts.delivered > run.counts.delivered:
            why = "".join(f"{one_line(warning, 300)}; " for warning in run.warnings[:1])
            return (
                f"{why}{_share(run)} of run {run.run_key[:8]} arrived here, and the store has a fuller log of the same "
                f"run: {_share(fuller)} in {fuller.sources[0].path if fuller.sources else 'the store'}"
            )
    return ""


def _share(run: Run) -> str:
    of = "" if run.counts.expected is None else f" of {run.counts.expected:,}"
    return f"{run.counts.delivered:,}{of} responses"


def _labelled(found: Sequence[tuple[str, list[Run]]], replaced: Mapping[str, str]) -> list[Side]:
    """Sides named by their model; where two have the same model, by the model and what tells them apart."""
    for name, runs in found:
        models = sorted({run.model for run in runs})
        if len(models) > 1:
            raise ConfigError(
                f"{name} holds runs of {len(models)} models ({', '.join(models[:3])}{', ...' if models[3:] else ''})",
                expected="one model for each name",
                do="add it with foreshock add, then name the models",
            )
    keys = [frozenset(run.run_key for run in runs) for _, runs in found]
    if twice := [name for place, (name, _) in enumerate(found) if keys[place] in keys[:place]]:
        if told := [(name, replaced[name]) for name, _ in found if name in replaced]:
            raise ConfigError(told[0][1], expected="logs of different runs", do="name another run", where=told[0][0])
        raise ConfigError(f"{twice[0]} stands for the same runs as a name before it", expected="different runs")
    shared = Counter(runs[0].model for _, runs in found)
    files = Counter(Path(name).name for name, _ in found)
    return [Side(_label(name, runs, shared[runs[0].model] > 1, files), runs) for name, runs in found]


def _label(name: str, runs: Sequence[Run], shared: bool, files: Mapping[str, int]) -> str:
    model, path = runs[0].model, Path(name)
    if not shared:
        return model
    file = path.name if files[path.name] == 1 else "/".join(path.absolute().parts[-2:])
    return f"{model} ({runs[0].run_key[:8] if len(runs) == 1 else file})"
