"""What a reader is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from foreshock._base import ConfigError, ForeshockError
from foreshock.records import Batch, Delivery, Run

CODED = frozenset({"score", "unparsed", *(state.value for state in Delivery)})
"""What a cell may stand for: a score all the same, an answer that could not be read, or what became of the response."""


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the user said about how to read; part of the identity of an ingest.

    Attributes:
        map: Role to column name, for item files (``{"output": "generated_text", "item": "question_id"}``); ``""`` is
            no column, ``"em+f1"`` several columns of scores.
        preset: Named set of the above (``mmlu-pro``).
        task: Task name where the file has none.
        model: Model name where the file has none.
        csv: Role to column name, for tables of aggregates (``{"x": "size", "y": "score", "group": "task"}``).
        scale: Largest score of the file's scale (100 for percentages), None when not said.
        chance: Score of guessing, of whatever is read.
        n: Items behind each aggregate: a number, or the name of a column.
        metric: Name of the metric of the scores, where the file has none.
        kind: ``hard`` or ``continuous``: what the scores are.
        twin: Column of a continuous score of the same runs, the twin of the scores.
        wide: Columns that each hold the scores of one benchmark, as names or patterns; ``*`` is every column of
            numbers under a name of its own. With ``map``, a matrix of models and items.
        codes: What a cell stands for that is no score: ``{"-100": "missing", "-1": "unparsed"}``.
        interval: What stands behind ``±``: ``stderr``, or ``ci95`` (half of a 95% interval).
    """

    map: dict[str, str] = {}
    preset: str | None = None
    task: str | None = None
    model: str | None = None
    csv: dict[str, str] = {}
    scale: float | None = None
    chance: float | None = None
    n: str | None = None
    metric: str | None = None
    kind: str | None = None
    twin: str | None = None
    wide: list[str] = []
    codes: dict[str, str] = {}
    interval: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no file could be read with, before any is.

        Raises:
            ConfigError: No preset has that name, chance is no share and not on the scale, or a code stands for no
                state.
        """
        if self.preset is not None:
            from foreshock.readers._presets import refuse_unknown

            refuse_unknown(self.preset)
        self._check_chance()
        unknown = sorted({*self.codes.values()} - CODED)
        if unknown:
            raise ConfigError(
                f"--codes: {unknown[0]!r} is no state", expected=f"one of {', '.join(sorted(CODED))}", do="correct it"
            )

    def _check_chance(self) -> None:
        highest = max(1.0, self.scale or 1.0)
        if self.chance is not None and not 0 <= self.chance <= highest:
            on = "a share from 0 to 1" if highest == 1 else f"a share from 0 to 1, or a score up to {highest:g}"
            more = ", or say --scale" if self.scale is None and self.chance > 1 else ""
            raise ConfigError(f"--chance {self.chance:g}", expected=on, do=f"such as --chance 0.25{more}")


class Reading(NamedTuple):
    """One run and the rows that come with it; the batches must be used up before the next reading is asked for."""

    run: Run
    batches: Iterator[Batch]


class Failure(NamedTuple):
    """A file that could not be read; the rest went on."""

    path: Path
    error: ForeshockError


class Candidate(NamedTuple):
    """A file on disk with the bytes that tell what it is.

    Attributes:
        path: Where it is.
        head: Its first bytes (64 KiB at most).
        members: Names in its central directory when it is a readable zip, else empty.
        beside: Nobody named it or its folder: it belongs to a file that was named, and only that is asked for.
    """

    path: Path
    head: bytes
    members: tuple[str, ...]
    beside: bool = False


class Reader(Protocol):
    """One log format.

    ``claims`` looks at content, never at the name alone, and must be cheap. ``read`` gets every file that the reader
    claimed in one call of ``add`` (a results file and its samples belong together) and yields readings and failures;
    it never raises for one bad file.
    """

    name: str
    version: int

    def claims(self, candidate: Candidate, options: ReadOptions) -> bool:
        """Whether this reader knows the format of ``candidate``."""

    def read(self, candidates: Iterable[Candidate], options: ReadOptions) -> Iterator[Reading | Failure]:
        """Read the claimed files."""
