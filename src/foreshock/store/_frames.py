"""Column batches of readers, checked and turned into frames of the store's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from foreshock._base import StoreError
from foreshock.records import TABLES, Batch, Delivery, ScoreStatus
from foreshock.store._text import repair

_TYPES: dict[str, pl.DataType] = {
    "str": pl.String(),
    "int": pl.Int64(),
    "float": pl.Float64(),
    "bool": pl.Boolean(),
    "list[str]": pl.List(pl.String()),
    "list[float]": pl.List(pl.Float64()),
}
_ACCEPTS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "list[str]": (list, tuple),
    "list[float]": (list, tuple),
}
_WORDS = {("responses", "delivery"): frozenset(Delivery), ("scores", "status"): frozenset(ScoreStatus)}

SCHEMAS: dict[str, pl.Schema] = {
    table: pl.Schema({column.name: _TYPES[column.kind] for column in columns}) for table, columns in TABLES.items()
}
"""Column names and Polars types of every table, in the order of the files."""

LARGEST = 1e100
"""Largest size of a score that is kept as one: sums, squares and products of larger ones leave the range of floats, and
one hostile log would stop the analysis of all others."""
_TOO_LARGE = f"the score is beyond {LARGEST:g}"

_NEEDED = {
    "items": ("item_id",),
    "responses": ("row", "delivery"),
    "trace": ("row", "seq"),
    "scores": ("row", "metric_id"),
    "aggregates": ("metric_id",),
}
_KINDS = {table: {column.name: column.kind for column in columns} for table, columns in TABLES.items()}


def check(batch: Batch, where: str) -> None:
    """Make sure that a batch fits its table, so that building a frame from it later cannot fail.

    Raises:
        StoreError: A table, column, type or word is unknown, lengths differ, or a needed value is null.
    """
    kinds = _KINDS.get(batch.table)
    if kinds is None:
        raise _refuse(f"a batch of the unknown table {batch.table!r}", f"one of {', '.join(TABLES)} or runs", where)
    rows = batch.rows
    for name, values in batch.columns.items():
        kind = kinds.get(name)
        if kind is None:
            raise _refuse(f"unknown column {name!r} in a batch of {batch.table}", f"only {', '.join(kinds)}", where)
        if len(values) != rows:
            raise _refuse(f"{len(values)} values of {name} in {rows} rows of {batch.table}", f"{rows} values", where)
        _check_values(batch.table, name, kind, values, where)
    if missing := [name for name in _NEEDED[batch.table] if name not in batch.columns]:
        raise _refuse(f"a batch of {batch.table} without {', '.join(missing)}", "them in every batch", where)


def build(table: str, columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Turn checked columns into a frame with just these columns.

    NaN and infinities become null (in lists too); a score that had one, or is beyond ``LARGEST``, gets the status
    ``failed``.
    """
    frame = pl.DataFrame([_series(name, values, _KINDS[table][name]) for name, values in columns.items()])
    return _settle_scores(frame) if table == "scores" else frame


def complete(frames: Sequence[pl.DataFrame], table: str) -> pl.DataFrame:
    """One frame with every column of ``table``; what no frame has is null."""
    schema = SCHEMAS[table]
    return pl.concat([pl.DataFrame(schema=schema), *frames], how="diagonal").select(schema.names())


def finite(series: pl.Series) -> pl.Series:
    """``series`` of floats with NaN and infinities as null."""
    if series.is_finite().all():
        return series
    return series.to_frame().select(pl.when(pl.col(series.name).is_finite()).then(pl.col(series.name))).to_series()


def _series(name: str, values: Sequence[Any], kind: str) -> pl.Series:
    if kind.startswith("list"):
        return _lists(name, values, kind[5:-1])
    try:
        series = pl.Series(name, values, dtype=_TYPES[kind], strict=True)
    except UnicodeEncodeError:
        series = pl.Series(name, repair(list(values)), dtype=_TYPES[kind], strict=True)
    return finite(series) if kind == "float" else series


def _lists(name: str, values: Sequence[Any], inner: str) -> pl.Series:
    """A list column by way of its flat elements: 5 times as fast as handing Polars a list of lists (50,000 rows)."""
    lengths = [0 if value is None else len(value) for value in values]
    elements = _series(name, list(chain.from_iterable(filter(None, values))), inner)
    row = pl.Series("row", range(len(values)), dtype=pl.UInt32)
    owner = pl.DataFrame({"row": row, "n": lengths}).select(pl.col("row").repeat_by("n").explode(empty_as_null=False))
    grouped = owner.with_columns(elements).group_by("row", maintain_order=True).agg(pl.col(name))
    empty = pl.lit([], dtype=_TYPES[f"list[{inner}]"])
    there = pl.Series("there", [value is not None for value in values])
    return (
        pl.DataFrame([row, there])
        .join(grouped, on="row", how="left", maintain_order="left")
        .select(pl.when("there").then(pl.col(name).fill_null(empty)).alias(name))
        .to_series()
    )


def _check_values(table: str, name: str, kind: str, values: Sequence[Any], where: str) -> None:
    types = set(map(type, values))
    if type(None) in types:
        if name in _NEEDED[table]:
            raise _refuse(f"column {name} of {table} is null in some row", f"{kind} in every row", where)
        types.discard(type(None))
    _check_types(f"column {name} of {table}", kind, types, where)
    if kind.startswith("list"):
        inside = set(map(type, chain.from_iterable(filter(None, values)))) - {type(None)}
        _check_types(f"lists in column {name} of {table}", kind[5:-1], inside, where)
    elif kind == "int" and any(not -(2**63) <= value < 2**63 for value in values if value is not None):
        raise _refuse(f"column {name} of {table} holds a number beyond 64 bits", "a 64-bit integer", where)
    words = _WORDS.get((table, name))
    if words and not (unknown := set(values) - {None}) <= words:
        odd = ", ".join(sorted(map(repr, unknown - words)))
        raise _refuse(f"column {name} of {table} holds {odd}", f"only {', '.join(sorted(words))}", where)


def _check_types(what: str, kind: str, types: set[type], where: str) -> None:
    for found in types:
        # True is an int to Python and to Polars; in a column of numbers it is a mistake of the reader
        if not issubclass(found, _ACCEPTS[kind]) or (found is bool and kind != "bool"):
            raise _refuse(f"{what} hold{'s' if what.startswith('column') else ''} {found.__name__}", kind, where)


def _settle_scores(frame: pl.DataFrame) -> pl.DataFrame:
    """Make value and status agree: a value is there exactly when the status says scored."""
    for name in ("value", "status"):
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(None, SCHEMAS["scores"][name]).alias(name))
    frame = _without_giants(frame)
    scored = pl.col("status").fill_null(ScoreStatus.SCORED.value) == ScoreStatus.SCORED.value
    there = pl.col("value").is_not_null()
    return frame.with_columns(
        pl.when(scored).then("value").alias("value"),
        pl.when(scored & there)
        .then(pl.lit(ScoreStatus.SCORED.value))
        .when(scored)
        .then(pl.lit(ScoreStatus.FAILED.value))
        .otherwise("status")
        .alias("status"),
    )


def _without_giants(frame: pl.DataFrame) -> pl.DataFrame:
    giant = (pl.col("value").abs() > LARGEST).fill_null(value=False)
    if not frame.select(giant.any()).item():
        return frame
    label = pl.col("label") if "label" in frame.columns else pl.lit(None, pl.String)
    return frame.with_columns(
        pl.when(~giant).then("value").alias("value"),
        pl.when(giant & (label.is_null() | (label == ""))).then(pl.lit(_TOO_LARGE)).otherwise(label).alias("label"),
    )


def _refuse(found: str, expected: str, where: str) -> StoreError:
    return StoreError(found, expected=expected, do="correct the reader that made the batch", where=where)
