"""The readers that come with the package, imported when they are first needed, and those of other packages."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, cast

from foreshock._base import load_plugins
from foreshock.readers._protocol import Reader

OWN = (
    "foreshock.readers._inspect:InspectReader",
    "foreshock.readers._lm_eval:LmEvalReader",
    "foreshock.readers._helm:HelmReader",
    "foreshock.readers._openai_evals:OpenAiEvalsReader",
    "foreshock.readers._bigbench:BigBenchReader",
    "foreshock.readers._every_eval_ever:EveryEvalEverReader",
    "foreshock.readers._lighteval:LightevalReader",
    "foreshock.readers._promptfoo:PromptfooReader",
    "foreshock.readers._deepeval:DeepEvalReader",
    "foreshock.readers._swe_bench:SweBenchReader",
)
# these take any table whose columns are understood, so every other reader is asked before them
GENERAL = (
    "foreshock.readers._tables:TableReader",
    "foreshock.readers._items:ItemReader",
)


def readers() -> dict[str, Reader]:
    """Every reader by name, in the order in which they are asked: built in, other packages', general."""
    found: dict[str, Reader] = {}
    for reader in (*map(_load, OWN), *_others(), *map(_load, GENERAL)):
        found.setdefault(reader.name, reader)
    return found


def _load(place: str) -> Reader:
    module, _, name = place.partition(":")
    return cast("Reader", getattr(import_module(module), name)())


def _others() -> list[Reader]:
    found = []
    for name, loaded in load_plugins("readers").items():
        reader = _made(name, loaded)
        if reader is not None:
            found.append(reader)
    return found


def _made(name: str, loaded: Any) -> Reader | None:
    """An instance, whether the entry point names a class or an object; a broken one is left out with a warning."""
    try:
        reader = loaded() if isinstance(loaded, type) else loaded
        if all(hasattr(reader, part) for part in ("name", "version", "claims", "read")):
            return cast("Reader", reader)
        reason = "it lacks name, version, claims or read"
    except Exception as error:  # noqa: BLE001 - a stranger's constructor may raise anything
        reason = f"{type(error).__name__}: {error}"
    warnings.warn(f"plugin {name!r} of readers is left out: {reason}", RuntimeWarning, stacklevel=2)
    return None
