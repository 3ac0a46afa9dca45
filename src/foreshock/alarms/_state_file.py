"""A state file from anywhere: bounded, checked against its own hash, and against what an event may say."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Annotated

import msgspec

from foreshock._base import BrokenFileError, ConfigError, digest
from foreshock.alarms._looks import Ack, Event, LineLook, Look, Mute
from foreshock.alarms._state import FORMAT, MOST_BYTES


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    sha256: str
    events: Annotated[list[Look | Ack | Mute | LineLook], msgspec.Meta(max_length=1_000_000)]


def read_state_file(path: Path) -> list[Event]:
    """The events of a state file.

    Raises:
        ConfigError: It cannot be read.
        BrokenFileError: It is no state file, larger than :data:`MOST_BYTES`, was cut off or altered, or says something
            impossible.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        # a pipe would be waited for without end
        raise ConfigError("not a regular file", expected="a file that --state wrote", where=str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", expected="a file that --state wrote", where=str(path)
        ) from None
    if len(data) > MOST_BYTES:
        raise _broken(path, f"more than {MOST_BYTES // 1024**2} MB")
    try:
        told = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _broken(path, f"no state of alarms ({error})") from None
    if told.format != FORMAT or told.version != 1:
        raise _broken(path, f"{told.format!r:.80}, version {told.version}")
    if digest([msgspec.to_builtins(event) for event in told.events]) != told.sha256:
        raise _broken(path, "a file whose content is not what its hash says: it was cut off or altered")
    for event in told.events:
        wrong = _impossible(event)
        if wrong:
            raise _broken(path, f"an event that says {wrong}")
    return list(told.events)


def _impossible(event: Event) -> str | None:
    """What an event says that none can; None where all is well."""
    if not _is_moment(event.at):
        return f"it was made at {event.at!r:.60}"
    if isinstance(event, Mute):
        return None if _is_moment(event.until) else f"muted until {event.until!r:.60}"
    if not isinstance(event, Look):
        return "a baseline that is no number" if isinstance(event, Ack) and not math.isfinite(event.baseline) else None
    new = [one.new_p for one in event.series if one.new_p is not None]
    if (event.p is None) != (not new):
        return "one p-value for its new points, and none for any series" if event.p is not None else "no p-value"
    if event.p is not None and event.p < min(new):
        # Simes is never below the smallest of its p-values
        return f"p = {event.p:g} though no series has less than {min(new):g}"
    return None


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _broken(path: Path, found: str) -> BrokenFileError:
    return BrokenFileError(
        found,
        expected="a file that foreshock alarms --state wrote",
        do="restore it, or leave it out: the look is then a first look, and what the store knows stays",
        where=str(path),
    )
