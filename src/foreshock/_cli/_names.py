"""What a name that fits nothing may have meant."""

from __future__ import annotations

import re

from foreshock._base import ConfigError, nearest
from foreshock.store import Snapshot

_NEAR, _LISTED = 3, 8
_LOG = re.compile(r"[/\\]$|\.(eval|jsonl?|csv|tsv|zip|gz|zst|parquet)$", re.IGNORECASE)


def no_such_name(name: str, snapshot: Snapshot) -> ConfigError:
    """The error about a name that is neither a path nor a run: near names, else those that there are."""
    if _LOG.search(name):
        return ConfigError(
            f"no such file {name!r}", expected="a path, a run key or a model name", do="see: foreshock ls"
        )
    models = sorted({run.model for run in snapshot.runs()})
    near = _near(name, models)
    told = f"did you mean {' or '.join(near)}?" if near else f"there are {_list(models)}; see: foreshock ls"
    return ConfigError(f"no run {name!r}", expected="a path, a run key, its beginning, or a model name", do=told)


def _near(name: str, models: list[str]) -> list[str]:
    """Models whose last part is like the name, then those that are like it as a whole."""
    by_last: dict[str, list[str]] = {}
    for model in models:
        by_last.setdefault(model.rpartition("/")[2], []).append(model)
    last = [model for part in nearest(name, by_last) for model in by_last[part]]
    return list(dict.fromkeys([*last, *nearest(name, models)]))[:_NEAR]


def _list(models: list[str]) -> str:
    more = f" and {len(models) - _LISTED:,} more" if len(models) > _LISTED else ""
    return (", ".join(models[:_LISTED]) or "no runs yet") + more
