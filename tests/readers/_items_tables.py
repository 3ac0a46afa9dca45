"""One table of responses in every container."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import polars as pl

ROWS = [
    {
        "question_id": f"q/{i}",
        "question": f"{i} + {i}?",
        "output": f"It is {2 * i}.",
        "pred": str(2 * i),
        "gold": "4",
        "correct": i == 2,
    }
    for i in range(4)
]


DICT = dict[str, Any]


def as_csv(rows: list[DICT], delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def as_jsonl(rows: list[DICT]) -> bytes:
    return "".join(json.dumps(r) + "\n" for r in rows).encode()


def as_parquet(rows: list[DICT]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(rows).write_parquet(stream)
    return stream.getvalue()


def zipped(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
        archive.writestr("__MACOSX/x.json", b"{")
    return stream.getvalue()
