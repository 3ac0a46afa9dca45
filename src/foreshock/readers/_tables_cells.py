"""Cells of scores turned into means: scale, percent signs, intervals, codes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from foreshock._base import AmbiguousError, BrokenFileError
from foreshock.readers._items_values import scale_told
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import plain_name
from foreshock.readers._tables_layout import GENERIC, Value
from foreshock.readers._tables_mean import Mean, Nature, interval_of, items_of, nature_of
from foreshock.readers._tables_numbers import Decimal, Figure, Separators, figure, is_blank

# half the width of a 95% interval in standard errors
Z95 = 1.96
_SCORER = re.compile(r"\s*([^:,]+):([^,]+)")


class ValueCells:
    """How the numbers of one column of scores are written; first every cell is seen, then each is read.

    Args:
        value: The column.
        options: What the user said.
    """

    def __init__(self, value: Value, options: ReadOptions) -> None:
        self.value, self._options = value, options
        self._separators = {c: Separators(c) for c in (value.column, value.stderr) if c is not None}
        self._decimals: dict[str, Decimal] = {}
        self._signed: tuple[str, str] | None = None
        self._bare: tuple[str, str] | None = None
        self._largest = self._bounded = 0.0
        self._negative: dict[str, str] = {}
        self._natures: dict[str, Nature] = {}
        self._free = value.free or nature_of(value.column).unbounded
        self.unexplained: str | None = None

    @property
    def largest(self) -> float:
        """The largest number of the column."""
        return self._largest

    def see(self, cells: Mapping[str, str | None], metric: str | None, where: str) -> None:
        """Take note of a row of ``metric``, when the row names one."""
        for column, found in self._separators.items():
            text = cells.get(column)
            if text is not None:
                found.see(text, where)
        text = cells.get(self.value.column)
        number = None if text is None or self.state(text) else figure(text)
        if text is None or number is None:
            return
        self._largest = max(self._largest, abs(number.value))
        if number.value < 0 and len(self._negative) < 2:
            self._negative.setdefault(text.strip(), where)
        bounded = not self._nature(metric or self.value.column).unbounded
        self._bounded = max(self._bounded, number.value) if bounded else self._bounded
        if number.percent:
            self._signed = self._signed or (text, where)
        elif number.value and bounded:
            self._bare = self._bare or (text, where)

    def settle(self, where: str) -> None:
        """Decide how the column is to be read.

        Raises:
            AmbiguousError: It may be read in two ways.
        """
        self._decimals = {column: found.decimal() for column, found in self._separators.items()}
        self._refuse_sentinel()
        if self._signed and self._bare and self._options.scale is None:
            raise AmbiguousError(
                f"{self._signed[0]!r} ({self._signed[1]}) has a percent sign and {self._bare[0]!r} has none "
                f"(column {self.value.column!r})",
                expected="one scale in a column",
                do="write the sign everywhere or nowhere, or say the scale of the others: --scale 1",
                where=self._bare[1],
            )
        doubtful = self.value.percent and self._bare and not self._signed and 0 < self._largest <= 1
        if doubtful and self._options.scale is None:
            raise AmbiguousError(
                f"the column {self.value.column!r} says percent and holds nothing above 1",
                expected="percentages, or shares",
                do="say it: --scale 100 for percentages, --scale 1 for shares",
                where=where,
            )

    def _refuse_sentinel(self) -> None:
        """Refuse -100 and the like: one whole negative number, again and again, in a column without any other."""
        if len(self._negative) != 1:
            return
        ((text, where),) = self._negative.items()
        if text.removeprefix("-").isdecimal() and text not in self._options.codes:
            raise AmbiguousError(
                f"{text} is the only negative number of the column {self.value.column!r}",
                expected="a score, or to be told that it stands for none",
                do=f"say it: --codes {text}=missing, or --codes {text}=score when it is a score",
                where=where,
            )

    def state(self, text: str) -> str | None:
        """What a cell stands for that is no score."""
        found = self._options.codes.get(text.strip())
        return None if found == "score" else found

    def means(self, row: Mapping[str, str | None], metric: str | None, line: int, where: str) -> list[Mean]:
        """The aggregates of one row: none when the cell is blank, several when it names scorers.

        Args:
            row: Texts of the row's cells by column, ``n`` and ``subset`` by role under ``\\0n`` and ``\\0subset``.
            metric: Metric that the row names.
            line: Its number.
            where: Its place, for messages.

        Raises:
            AmbiguousError: The score is not on the scale.
            BrokenFileError: It is no number.
        """
        text = row.get(self.value.column)
        if text is None or is_blank(text) or self.state(text):
            return []
        name = metric or self.value.metric or self._options.metric or self._own_name()
        found = self._one(name, text, row.get(self.value.stderr or ""), row, line, where)
        scorers = row.get(self.value.scorers or "")
        return [found] if scorers is None else self._scorers(found, scorers)

    def _nature(self, metric: str) -> Nature:
        found = self._natures.get(metric)
        if found is None:
            found = self._natures[metric] = nature_of(metric)
        return found

    def _own_name(self) -> str:
        column = self.value.column
        return "score" if self.value.task is not None or plain_name(column) in GENERIC else column

    def _one(
        self, name: str, text: str, error: str | None, row: Mapping[str, str | None], line: int, where: str
    ) -> Mean:
        nature = self._nature(name)
        free = self._free or nature.unbounded
        number = figure(text, self._decimals.get(self.value.column, "."))
        if number is None:
            raise BrokenFileError(
                f"the score {text[:40]!r} is no number (column {self.value.column!r})",
                expected="a number, a percentage, or value ± error",
                do="leave the cell blank, or say what it stands for: --codes TEXT=missing",
                where=where,
            )
        factor = self._factor(number, free)
        value = number.value * factor
        if not free and not 0 <= value <= 1:
            raise self._off_scale(text, name, where, below=value < 0)
        told = self._interval(number, factor) or self._stated(error, factor)
        stderr, kind, ulp = told or (None, None, 0.0)
        n = items_of(row.get("\0n"), self._options, where)
        rate = not free and (nature.rate or self.value.kind == "hard")
        return Mean(
            *(name, self.value.answer_filter, row.get("\0subset"), value, stderr, kind, n, not free),
            *(nature.higher, text, line, self.value.column, rate, number.ulp * factor, ulp),
        )

    def _factor(self, number: Figure, free: bool) -> float:
        if number.percent:
            return 0.01
        if self._options.scale is not None:
            return 1.0 if free else 1 / self._options.scale
        return 0.01 if self.value.percent else 1.0

    def _off_scale(self, text: str, name: str, where: str, *, below: bool) -> AmbiguousError:
        column = "" if name == self.value.column else f" (column {self.value.column!r})"
        return AmbiguousError(
            f"the score {text[:40]} of {name!r}{column} is not on the scale from 0 to 1",
            expected="shares, or the highest score said" if self._options.scale is None else "scores within --scale",
            do="leave the cell blank, or say what it stands for: --codes TEXT=missing"
            if below
            else scale_told(self._bounded, percent=True),
            where=where,
        )

    def _interval(self, number: Figure, factor: float) -> tuple[float, str, float] | None:
        """Standard error behind a ``±``, if anybody says what it is."""
        if number.error is None:
            return None
        meaning = self.value.interval or self._options.interval or interval_of(self.value.column)
        if meaning is None:
            self.unexplained = self.unexplained or self.value.column
            return None
        part = factor / (Z95 if meaning == "ci95" else 1.0)
        kind = "ci95" if meaning == "ci95" else "stated"
        return number.error * part, kind, number.error_ulp * part

    def _stated(self, text: str | None, factor: float) -> tuple[float, str, float] | None:
        # N/A and the like are what harnesses write where there is none
        number = None if text is None else figure(text, self._decimals.get(self.value.stderr or "", "."))
        if number is None or number.value < 0:
            return None
        factor = 0.01 if number.percent else factor
        return number.value * factor, "stated", number.ulp * factor

    def _scorers(self, best: Mean, text: str) -> list[Mean]:
        """Aggregates of every scorer that a cell names; the best of them gets the digits of ``best``."""
        parts = [(m[1].strip(), figure(m[2])) for m in _SCORER.finditer(text)]
        if not parts or any(number is None for _, number in parts):
            return [best]
        found = []
        for name, number in parts:
            if number is None:
                continue
            same = abs(number.value - best.value) <= number.ulp + best.ulp
            told = self._interval(number, 1.0) or (None, None, 0.0)
            whole = best if same else best._replace(value=number.value, ulp=number.ulp, raw=text)
            found.append(whole._replace(metric=name, stderr=told[0], stderr_kind=told[1], stderr_ulp=told[2]))
        top = max(found, key=lambda mean: mean.value)
        return [top, *(mean for mean in found if mean is not top)] if top.value == best.value else [best, *found]
