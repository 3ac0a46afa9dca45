"""What a name that fits nothing may have meant."""

from __future__ import annotations

import re

from foreshock._base import ConfigError
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
    """Models that hold the name, then those that are spelled like it."""
    import difflib

    low = name[:200].lower()
    last = {model: model.rpartition("/")[2].lower() for model in models}
    whole = [model for model in models if last[model] == low]
    inside = [model for model in models if len(low) > 2 and low in model.lower()]
    alike = difflib.get_close_matches(low, [model.lower() for model in models[:10_000]], _NEAR, 0.7)
    alike += difflib.get_close_matches(low, list(last.values())[:10_000], _NEAR, 0.7)
    spelled = [model for text in alike for model in models if text in (model.lower(), last[model])]
    return list(dict.fromkeys([*whole, *inside, *spelled]))[:_NEAR]


def _list(models: list[str]) -> str:
    more = f" and {len(models) - _LISTED:,} more" if len(models) > _LISTED else ""
    return (", ".join(models[:_LISTED]) or "no runs yet") + more
