"""One aggregate of a table, and what names of metrics and columns say about it."""

from __future__ import annotations

from typing import NamedTuple

from foreshock._base import BrokenFileError
from foreshock.readers._items_values import as_int
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import plain_name
from foreshock.readers._tables_layout import LOWER, Interval, is_rate, is_unbounded, words_of


class Mean(NamedTuple):
    """One aggregate.

    Attributes:
        metric, answer_filter, subset: What it is of.
        value, stderr: On the scale of the metric, shares from 0 to 1.
        stderr_kind: ``stated``, or ``ci95`` for half of an interval.
        n: Items, when stated.
        bounded: From 0 to 1.
        higher: Whether more is better; None when nobody says.
        raw: The cell.
        line: Its line.
        column: Its column.
        rate: It is the share of items that were right, by its name or because it was declared hard.
        ulp, stderr_ulp: Half a unit of the last digit written of both.
    """

    metric: str
    answer_filter: str | None
    subset: str | None
    value: float
    stderr: float | None
    stderr_kind: str | None
    n: int | None
    bounded: bool
    higher: bool | None
    raw: str
    line: int
    column: str
    rate: bool
    ulp: float = 0.0
    stderr_ulp: float = 0.0


class Nature(NamedTuple):
    """What the name of a metric says about its values.

    Attributes:
        unbounded: There is no highest one.
        rate: They are shares of items that were right.
        higher: Whether more is better; None when nobody says.
    """

    unbounded: bool
    rate: bool
    higher: bool | None


def nature_of(metric: str) -> Nature:
    """What the name of a metric says.

    Examples:
        >>> nature_of("accuracy"), nature_of("word_perplexity").higher
        (Nature(unbounded=False, rate=True, higher=True), False)
    """
    rate = is_rate(metric)
    return Nature(is_unbounded(metric), rate, False if words_of(metric) & LOWER else True if rate else None)


def interval_of(column: str) -> Interval | None:
    """What the name of a column says about a ``±`` in its cells.

    Examples:
        >>> interval_of("Accuracy (%) ± CI"), interval_of("acc ± SE"), interval_of("score")
        ('ci95', 'stderr', None)
    """
    words = words_of(column)
    if {"ci", "ci95", "confidence"} & words:
        return "ci95"
    return "stderr" if {"se", "stderr", "sem"} & words or "standard_error" in plain_name(column) else None


def items_of(text: str | None, options: ReadOptions, where: str) -> int | None:
    """The number of items that a cell, or the user, states.

    Raises:
        BrokenFileError: It is no whole number above 0.
    """
    if text is None and options.n is not None and options.n.isdecimal():
        text = options.n
    if text is None:
        return None
    n = as_int(text.replace(",", ""))
    if n is None or n <= 0:
        raise BrokenFileError(f"n is {text[:40]!r}", expected="a whole number of items", where=where)
    return n
