"""Where the store and the model cards of a command are."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from foreshock._base import Config, StoreError, load_config
from foreshock.store import Store


class Places(NamedTuple):
    """Settings with every path made absolute."""

    config: Config
    store: Path
    models: Path
    base: Path


def places(store: Path | None) -> Places:
    """Find the settings above the working folder; ``--store`` wins over them."""
    config, base = load_config(Path.cwd())
    return Places(config, store if store is not None else base / config.store, base / config.models, base)


def open_store(where: Places) -> Store:
    """Open the store for reading.

    Raises:
        StoreError: There is none; the message says how to make one.
    """
    if not where.store.is_dir():
        raise StoreError(
            "there is no store here",
            expected="a folder made by foreshock add",
            do="run: foreshock add PATH",
            where=str(where.store),
        )
    return Store.open(where.store)
