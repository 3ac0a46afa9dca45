"""How long work tells whoever called it where it is; a room never prints."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called now and then by long work."""

    def __call__(self, stage: str, done: int, total: int | None, /) -> None:
        """Report that ``done`` of ``total`` units (None: not known) of ``stage`` are finished."""


def quiet(stage: str, done: int, total: int | None, /) -> None:
    """A progress callback that says nothing."""
