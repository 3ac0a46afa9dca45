"""``foreshock.toml`` or ``[tool.foreshock]`` of ``pyproject.toml``: what a project says once, not at each call."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec

from foreshock._base._errors import ConfigError

STORE_FOLDER = ".foreshock"
"""Where the store is when nothing says otherwise: beside the configuration, never inside a folder of logs."""


_Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]


class LintConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table ``lint`` of the settings: what ``foreshock lint`` looks for.

    Attributes:
        select: Finding codes to show, by prefix; empty means all.
        ignore: Finding codes to leave out, by prefix.
        difference: Smallest difference between two models that matters, in units of the score.
        scatter: Standard deviation of one model about the trend that is assumed, as a share of the whole rise.
        samples: Most items on which metrics are tried.
    """

    select: list[str] = []
    ignore: list[str] = []
    difference: _Share = 0.05
    scatter: _Share = 0.05
    samples: Annotated[int, msgspec.Meta(ge=1)] = 200


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a project.

    Attributes:
        store: Folder of the store, relative to the configuration file.
        models: File that corrects model cards (``foreshock models --write`` makes it).
        select: Finding codes to show, by prefix; empty means all.
        ignore: Finding codes to leave out, by prefix.
        fail_on: What makes the exit code 1 when it fires: codes, lights of a trust card, ``break``, or ``any``.
        seed: Seed of every simulation and bootstrap, from 0.
        imports: ``import`` in the file: Python files or modules that define metrics of the user's own.
        lint: What ``foreshock lint`` looks for.
    """

    store: str = STORE_FOLDER
    models: str = "models.toml"
    select: list[str] = []
    ignore: list[str] = []
    fail_on: list[str] = []
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    imports: list[str] = msgspec.field(name="import", default_factory=list)
    lint: LintConfig = LintConfig()


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
            return _convert(read_toml(own), own), place
        shared = place / "pyproject.toml"
        if shared.is_file():
            tool = read_toml(shared).get("tool", {})
            if not isinstance(tool, dict):
                raise _wrong(f"tool is {tool!r:.80}", shared)
            if "foreshock" in tool:
                return _convert(tool["foreshock"], shared), place
    return Config(), folder


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigError: It cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", expected="a file", do="correct it, or take it away", where=str(path)
        ) from None
    except RecursionError:
        raise ConfigError(
            "brackets are nested too deeply", expected="UTF-8 TOML", do="correct the file", where=str(path)
        ) from None
    except ValueError as error:  # also bytes that are not UTF-8, and numbers of more digits than Python converts
        raise ConfigError(
            f"not valid TOML ({error})", expected="UTF-8 TOML", do="correct the file", where=str(path)
        ) from None


def _convert(table: object, path: Path) -> Config:
    try:
        config = msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), path) from None
    for name in ("store", "models"):
        if "\0" in getattr(config, name):
            raise _wrong(f"{name} holds a NUL character", path)
    return config


def _wrong(found: str, path: Path) -> ConfigError:
    known = ", ".join(Config.__struct_encode_fields__)
    return ConfigError(found, expected=f"only {known}", do="correct the file", where=str(path))
