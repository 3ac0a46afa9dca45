"""What Foreshock adds to the files of Every Eval Ever that it writes, in the fields that the format leaves free.

One member ``foreshock`` of ``additional_details``, ``details`` or ``metadata``, with JSON as text: columns that the
format has no place for. ``foreshock.export`` writes it; docs/export.md describes it.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from foreshock.records import TABLES, Delivery, ScoreStatus

OWN = "foreshock"
_KINDS = {table: {column.name: column.kind for column in columns} for table, columns in TABLES.items()}
_WORDS = {("responses", "delivery"): frozenset(Delivery), ("scores", "status"): frozenset(ScoreStatus)}
_MAX_INT = 2**63


def own_of(details: dict[str, Any]) -> dict[str, Any]:
    """What Foreshock added; empty when it added nothing, or what is there is no JSON object."""
    given = details.get(OWN)
    if not isinstance(given, str):
        return {}
    try:
        found = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def fitted(table: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values that the columns of a table can hold, with their columns."""
    kinds = _KINDS[table]
    found = {k: v for k, v in values.items() if k in kinds and (v is None or _fits(kinds[k], v))}
    return {k: v for k, v in found.items() if (table, k) not in _WORDS or v in _WORDS[table, k]}


def _fits(kind: str, value: Any) -> bool:
    if kind.startswith("list"):
        return isinstance(value, list) and all(_fits(kind[5:-1], v) for v in value)
    if kind == "str":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind == "int":
        return isinstance(value, int) and -_MAX_INT <= value < _MAX_INT
    return abs(value) < _MAX_INT if isinstance(value, int) else math.isfinite(value)
