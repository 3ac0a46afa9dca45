"""How a person names a run."""

from __future__ import annotations

from foreshock._base import ConfigError
from foreshock.records import Run
from foreshock.store import Snapshot

_SHORTEST = 4


def find_runs(snapshot: Snapshot, names: list[str]) -> list[Run]:
    """Runs by key, unambiguous beginning of a key, or model name.

    Raises:
        ConfigError: A name fits nothing, or several runs where one was meant.
    """
    runs = snapshot.runs()
    found: dict[str, Run] = {}
    for name in names:
        exact = [run for run in runs if name in (run.run_key, run.model)]
        near = exact or [run for run in runs if len(name) >= _SHORTEST and run.run_key.startswith(name)]
        if not near:
            raise ConfigError(
                f"no run {name!r}", expected="a run key, its beginning, or a model name", do="see: foreshock ls"
            )
        if not exact and len(near) > 1:
            raise ConfigError(
                f"{name!r} is the beginning of {len(near)} run keys", expected="one run", do="write more of the key"
            )
        found |= {run.run_key: run for run in near}
    return list(found.values())
