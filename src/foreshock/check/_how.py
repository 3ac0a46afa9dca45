"""How something that logs lack would come to be: the exact command, and what has to be done first."""

from __future__ import annotations

import shlex
from typing import NamedTuple

REPEATS = 10
"""Answers per item for a pass rate: with ten, a share of a twentieth of the items is already told from none."""


class How(NamedTuple):
    """How a twin would come to be.

    Attributes:
        gives: What it would be, as the end of a sentence.
        command: What to run, complete for the run in hand; None where no option of the harness does it.
        before: What has to be done first, one sentence; empty where nothing has.
    """

    gives: str
    command: str | None
    before: str = ""

    @property
    def sentence(self) -> str:
        """All of it for a person."""
        do = f"run `{self.command}`" if self.command else "add logs that hold it"
        return f"{self.before + ' ' if self.before else ''}To get {self.gives}: {do}."

    @property
    def general(self) -> str:
        """The same for several tasks and models, without the command."""
        do = "run the following, once for each task and model" if self.command else "add logs that hold it"
        return f"{self.before + ' ' if self.before else ''}To get {self.gives}: {do}."


NO_RATE = How("a graded score of the same answers, or log-probabilities", None)
"""Where a pass rate says nothing new and no option of the harness brings another twin."""


def words(*parts: str) -> str:
    """Words of a command, quoted where a shell would take them apart."""
    return shlex.join(parts)
