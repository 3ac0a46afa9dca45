"""``foreshock.toml`` or ``[tool.foreshock]`` of ``pyproject.toml``: what a project says once, not at each call."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base._errors import ConfigError

STORE_FOLDER = ".foreshock"
"""Where the store is when nothing says otherwise: beside the configuration, never inside a folder of logs."""


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a project.

    Attributes:
        store: Folder of the store, relative to the configuration file.
        models: File that corrects model cards (``foreshock models --write`` makes it).
        select: Finding codes to show, by prefix; empty means all.
        ignore: Finding codes to leave out, by prefix.
        fail_on: What makes the exit code 1 when it fires: codes, lights of a trust card, ``break``, or ``any``.
        seed: Seed of every simulation and bootstrap.
    """

    store: str = STORE_FOLDER
    models: str = "models.toml"
    select: list[str] = []
    ignore: list[str] = []
    fail_on: list[str] = []
    seed: int = 0


def load_config(folder: Path) -> tuple[Config, Path]:
    """Find and read the nearest configuration at or above ``folder``.

    Returns:
        The settings and the folder that relative paths in them refer to (``folder`` itself when none was found).

    Raises:
        ConfigError: The file is not TOML or says something unknown.
    """
    for place in (folder, *folder.parents):
        own = place / "foreshock.toml"
        if own.is_file():
            return _convert(_toml(own), own), place
        shared = place / "pyproject.toml"
        if shared.is_file():
            table = _toml(shared).get("tool", {}).get("foreshock")
            if table is not None:
                return _convert(table, shared), place
    return Config(), folder


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"not valid TOML ({error})", expected="UTF-8 TOML", do="correct the file", where=str(path)
        ) from None


def _convert(table: dict[str, Any], path: Path) -> Config:
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        known = ", ".join(Config.__struct_fields__)
        raise ConfigError(str(error), expected=f"only {known}", do="correct the file", where=str(path)) from None
