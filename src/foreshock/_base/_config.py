"""``foreshock.toml`` or ``[tool.foreshock]`` of ``pyproject.toml``: what a project says once, not at each call."""

from __future__ import annotations

import tomllib
from datetime import datetime
from math import isfinite
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


class MirageConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table ``mirage`` of the settings: what ``foreshock mirage`` judges.

    Attributes:
        hard: Metrics whose jumps are judged, by name or glob pattern; empty means the one that speaks for each task.
    """

    hard: list[str] = []


class Threshold(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line that a score must not cross: one entry of the table ``alarms.thresholds``.

    Attributes:
        above: Alarm when the score may come to lie above this.
        below: Alarm when the score may come to lie below this.
        metric: Only of this metric (a glob pattern); None means the main one of the task.
        family: Only of these model families (a glob pattern).
        probability: Share of the interval whose end must not reach the line, such as 0.9.
    """

    above: float | None = None
    below: float | None = None
    metric: str | None = None
    family: str = "*"
    probability: _Share = 0.9


class AlarmsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table ``alarms`` of the settings: what is watched, and how often a false alarm is put up with.

    Attributes:
        level: Highest rate of false alarms: of one series over ``looks`` looks, and among all that the ledger counts.
        looks: Looks at one series for which its rate is stated; a new baseline begins them anew.
        metrics: Metrics, or groups of metrics, that responses are scored with beside the usual ones, to be watched.
        ignore: Series that are not watched: glob patterns of ``task``, or of ``task:metric``.
        muted: Alarm id to the day (ISO 8601) until which it is muted.
        thresholds: Task (a glob pattern) to the line that its score must not cross; a number is ``above``.
    """

    level: _Share = 0.05
    looks: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 60
    metrics: list[str] = msgspec.field(default_factory=lambda: ["trace"])
    ignore: list[str] = []
    muted: dict[str, str] = {}
    thresholds: dict[str, float | Threshold] = {}


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
        mirage: What ``foreshock mirage`` judges.
        alarms: What is watched for breaks of trend.
    """

    store: str = STORE_FOLDER
    models: str = "models.toml"
    select: list[str] = []
    ignore: list[str] = []
    fail_on: list[str] = []
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    imports: list[str] = msgspec.field(name="import", default_factory=list)
    lint: LintConfig = LintConfig()
    mirage: MirageConfig = MirageConfig()
    alarms: AlarmsConfig = AlarmsConfig()


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
    _check_alarms(config.alarms, path)
    return config


def _check_alarms(alarms: AlarmsConfig, path: Path) -> None:
    for name, line in alarms.thresholds.items():
        ends = (line.above, line.below) if isinstance(line, Threshold) else (line, None)
        if (ends[0] is None) == (ends[1] is None) or not all(end is None or isfinite(end) for end in ends):
            raise ConfigError(
                f"alarms.thresholds.{name!r:.80} has {sum(end is not None for end in ends)} finite lines",
                expected="a number, or one of above and below",
                do='for example "bio*" = 0.2, or { below = 0.9, metric = "refused" }',
                where=str(path),
            )
    for name, day in alarms.muted.items():
        try:
            datetime.fromisoformat(day)
        except ValueError:
            raise ConfigError(
                f"alarms.muted.{name!r:.80} is {day!r:.80}", expected="a day such as 2027-01-31", where=str(path)
            ) from None


def _wrong(found: str, path: Path) -> ConfigError:
    known = ", ".join(Config.__struct_encode_fields__)
    return ConfigError(found, expected=f"only {known}", do="correct the file", where=str(path))
