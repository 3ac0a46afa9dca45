"""What the rows of a table of aggregates are about: model, task, place on an axis, conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from foreshock._base import BrokenFileError
from foreshock.readers._items_table import Table
from foreshock.readers._tables_axis import Axis
from foreshock.readers._tables_layout import Layout, parts_of
from foreshock.readers._tables_numbers import figure, is_blank

Texts = Mapping[str, str | None]
_REMEMBERED = 65_536


class Subject(NamedTuple):
    """What makes rows belong to one run; texts as they stand in the table."""

    model: str | None
    axes: tuple[tuple[str, float | None], ...]
    task: str | None
    family: str | None
    date: str | None
    shots: str | None
    seed: str | None
    conditions: tuple[tuple[str, str], ...]
    version: str | None
    organisation: str | None
    repeat: int = 0


class _Places(NamedTuple):
    """Places on the axes, and the name of the model when the x axis holds names."""

    places: tuple[tuple[str, float | None], ...]
    named: str | None


class Subjects:
    """Finds the subject of every row.

    Args:
        table: The table, for messages.
        layout: How it is to be read.
        axes: Its axes by role.

    Attributes:
        filled: Rows whose model is named by the second best column.
        nameless: Lines without a model, of a board where these are left out.
    """

    def __init__(self, table: Table, layout: Layout, axes: Mapping[str, Axis]) -> None:
        self.filled = 0
        self.nameless: list[int] = []
        self._table, self._layout, self._axes = table, layout, axes
        self._known: dict[tuple[str | None, ...], _Places] = {}
        column = layout.roles.get("condition")
        whole = column is not None and column in table.data.columns
        self._conditions = [] if column is None else [column] if whole else parts_of("condition", column)

    def of(self, texts: Texts, row: Texts, line: int) -> Subject | None:
        """The subject of a row; None when it has no model and is left out.

        Args:
            texts: Its cells by role.
            row: Its cells by column.
            line: Its number.

        Raises:
            BrokenFileError: There is neither a model nor a place on an axis, or a place is no number.
        """
        model = texts.get("model")
        if self._layout.fill is not None and is_blank(model):
            model = row.get(self._layout.fill)
            self.filled += model is not None
        found = self._places(texts, line)
        model = _clean(model) or found.named
        if model is None and all(place is None for _, place in found.places):
            if self._layout.lenient:
                self.nameless.append(line)
                return None
            raise BrokenFileError(
                "no model and no place on the axis",
                expected="one of them in every row",
                do="fill it in, or remove the row",
                where=self._table.at(line),
            )
        conditions = tuple((c, text) for c in self._conditions if (text := row.get(c)) is not None)
        shots = texts.get("shots")
        return Subject(
            *(model, found.places, _clean(texts.get("task")), _clean(texts.get("family")), texts.get("date")),
            *(None if shots is None else shots_of(shots), texts.get("seed"), conditions),
            *(texts.get("version"), texts.get("organisation")),
        )

    def _places(self, texts: Texts, line: int) -> _Places:
        key = tuple(map(texts.get, self._axes))
        found = self._known.get(key)
        if found is None:
            found = self._read_places(texts, line)
            if len(self._known) < _REMEMBERED:
                self._known[key] = found
        return found

    def _read_places(self, texts: Texts, line: int) -> _Places:
        places: list[tuple[str, float | None]] = []
        named = None
        for role, axis in self._axes.items():
            text = texts.get(role)
            place = None if text is None or is_blank(text) else axis.value(text)
            if text is not None and not is_blank(text) and place is None:
                if role != "x" or "model" in self._layout.roles:
                    raise BrokenFileError(
                        f"{text[:40]!r} is no number (column {axis.column!r})",
                        expected="a number such as 1.4e9 or 1.4B",
                        where=self._table.at(line),
                    )
                named = text
            places.append((role, place))
        return _Places(tuple(places), named)


def shots_of(text: str) -> str:
    """The number of examples in ``25-shot``; other words as they are.

    Examples:
        >>> shots_of("25-shot"), shots_of("few "), shots_of("0.0")
        ('25', 'few', '0')
    """
    plain = text.strip().lower()
    for ending in ("-shots", "-shot", " shots", " shot", "shots", "shot"):
        plain = plain.removesuffix(ending)
    number = figure(plain)
    return f"{number.value:g}" if number and number.value.is_integer() else plain or text.strip()


def _clean(text: str | None) -> str | None:
    return None if text is None else text.strip() or None
