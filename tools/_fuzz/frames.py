"""Parquet files that are sound and odd: columns of other types, nulls, nested values, names twice."""

# ruff: noqa: ARG001 - every change of one kind takes the same arguments

from __future__ import annotations

import io
import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_MAX_ROWS = 64
_ODD: tuple[Any, ...] = (
    None, 0, -1, 2**62, 1.5, float("nan"), float("inf"), "", "x", "\x00", "a" * 5_000, True, b"\xff\x00", [], [1],
    ["a"], [None], [["a"]], {"a": 1}, {"a": [None, "b"]}, [{"a": "b"}], date(1, 1, 1), datetime(9999, 12, 31),
    timedelta(days=-1), Decimal("1.10"),
)  # fmt: skip


def mutate(data: bytes, noise: random.Random, names: list[str]) -> bytes:
    """The table with some of its columns changed, written again.

    Raises:
        ValueError: ``data`` is not Parquet, or the change cannot be written.
    """
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(data), use_pyarrow=False, glob=False)
        for _ in range(noise.choice((1, 1, 2, 4))):
            frame = noise.choice(_CHANGES)(frame, noise, names)
        out = io.BytesIO()
        frame.write_parquet(out, row_group_size=noise.choice((None, 1, 3)))
    except BaseException as error:  # what Polars cannot change or write is no case; its panics are no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise ValueError(str(error)) from None
    return out.getvalue()


def _column(frame: pl.DataFrame, noise: random.Random) -> str:
    return noise.choice(frame.columns)


def _odd(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    import polars as pl

    value = noise.choice(_ODD)
    values = [value] * frame.height if noise.random() < 0.5 else [None, *[value] * (frame.height - 1)][: frame.height]
    return frame.with_columns(pl.Series(_column(frame, noise), values, strict=False))


def _cast(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    import polars as pl

    kinds = (
        pl.String,
        pl.Int8,
        pl.UInt64,
        pl.Float32,
        pl.Boolean,
        pl.Categorical,
        pl.Binary,
        pl.Date,
        pl.Null,
    )
    return frame.with_columns(pl.col(_column(frame, noise)).cast(noise.choice(kinds), strict=False))


def _wrap(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    import polars as pl

    name = _column(frame, noise)
    if noise.random() < 0.5:
        return frame.with_columns(pl.concat_list(pl.col(name)).alias(name))
    return frame.with_columns(pl.struct(pl.col(name).alias(noise.choice(names) or "x")).alias(name))


def _unwrap(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    import polars as pl

    structs = [n for n, kind in frame.schema.items() if isinstance(kind, pl.Struct)]
    if not structs:
        return frame
    name = noise.choice(structs)
    fields: list[str] = [field.name for field in frame.schema[name].fields]  # type: ignore[attr-defined]
    inner = noise.choice(fields)
    how = noise.random()
    if how < 0.4:
        return frame.with_columns(pl.col(name).struct.field(inner).alias(name))
    if how < 0.7:
        rest = [pl.col(name).struct.field(field) for field in fields if field != inner]
        return frame.with_columns(pl.struct(rest).alias(name)) if rest else frame
    odd = pl.Series(inner, [noise.choice(_ODD)] * frame.height, strict=False)
    return frame.with_columns(pl.col(name).struct.with_fields(odd))


def _name(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    return frame.rename({_column(frame, noise): noise.choice(names)})


def _drop(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    return frame.drop(_column(frame, noise)) if frame.width > 1 else frame


def _rows(frame: pl.DataFrame, noise: random.Random, names: list[str]) -> pl.DataFrame:
    import polars as pl

    how = noise.random()
    if how < 0.3:
        return frame.head(noise.choice((0, 1)))
    if how < 0.7 and frame.height < _MAX_ROWS:
        return pl.concat([frame, frame])
    return frame.sample(fraction=1.0, shuffle=True, seed=noise.randrange(2**32))


_CHANGES: tuple[Callable[[pl.DataFrame, random.Random, list[str]], pl.DataFrame], ...] = (
    _odd, _odd, _odd, _cast, _cast, _wrap, _unwrap, _unwrap, _name, _drop, _rows,
)  # fmt: skip
