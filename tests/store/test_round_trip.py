"""Whatever a reader may hand on comes back, and nothing else."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreshock.records import TABLES, Batch, Delivery, Run, ScoreStatus
from foreshock.store import Store

from .conftest import make_run

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "str": st.text(max_size=12),
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(),
    "bool": st.booleans(),
    "list[str]": st.lists(st.none() | st.text(max_size=5), max_size=3),
    "list[float]": st.lists(st.none() | st.floats() | st.integers(-9, 9), max_size=3),
}
SPECIAL = {
    ("responses", "delivery"): st.sampled_from([word.value for word in Delivery]),
    ("scores", "status"): st.none() | st.sampled_from([word.value for word in ScoreStatus]),
}
FILLED = ("ingest_id", "run_key", "task")


@st.composite
def batches(draw: st.DrawFn, table: str, first: int) -> Batch:
    n = draw(st.integers(1, 4))
    needed = {"row": list(range(first, first + n)), "item_id": [f"i{k}" for k in range(n)], "metric_id": ["m"] * n}
    columns: dict[str, list[Any]] = {}
    for column in TABLES[table]:
        if column.name in FILLED:
            continue
        must = column.name in ("row", "delivery", "seq") or (column.name, table) in (
            ("metric_id", "scores"),
            ("metric_id", "aggregates"),
            ("item_id", "items"),
        )
        if not must and draw(st.booleans()):
            continue
        if column.name == "row" or (must and column.name in needed):
            columns[column.name] = needed[column.name]
            continue
        values = SPECIAL.get((table, column.name), KINDS[column.kind])
        columns[column.name] = draw(st.lists(values if must else st.none() | values, min_size=n, max_size=n))
    return Batch(table, columns)


@st.composite
def runs(draw: st.DrawFn, name: str) -> tuple[Run, list[Batch]]:
    found = []
    for table in TABLES:
        first = 0
        for _ in range(draw(st.integers(0, 2))):
            found.append(draw(batches(table, first)))
            first += found[-1].rows
    return make_run(name, task=draw(st.text(max_size=6))), found


def clean(value: Any) -> Any:
    """The rule in the plainest words: no NaN, no infinity, whole numbers in float columns are floats."""
    if isinstance(value, list):
        return [clean(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def expected_rows(run: Run, batch: Batch) -> list[dict[str, Any]]:
    rows = []
    for i in range(batch.rows):
        row = {column.name: None for column in TABLES[batch.table]}
        row |= {name: clean(values[i]) for name, values in batch.columns.items()}
        fixed = {"ingest_id": run.ingest_id, "run_key": run.run_key, "task": run.task}
        row |= {name: value for name, value in fixed.items() if name in row}
        if batch.table == "scores":
            giant = row["value"] is not None and abs(row["value"]) > 1e100
            if giant:
                row |= {"value": None, "label": row["label"] or "the score is beyond 1e+100"}
            status = row["status"] or "scored"
            row["status"] = "failed" if status == "scored" and row["value"] is None else status
            row["value"] = row["value"] if row["status"] == "scored" else None
        rows.append(row)
    return rows


def text_of(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr({k: [float(x) if isinstance(x, int) else x for x in v] if isinstance(v, list) else v
                        for k, v in row.items()}) for row in rows)  # fmt: skip


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(runs("a"), runs("b"))
def test_every_row_comes_back_equal(
    tmp_path_factory: Any, first: tuple[Run, list[Batch]], second: tuple[Run, list[Batch]]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("store"), create=True)
    store.write(*first)
    store.write(*second)
    for _ in range(2):
        snapshot = store.snapshot()
        for table in ("responses", "trace", "scores", "aggregates"):
            given_rows = [row for run, found in (first, second) for batch in found if batch.table == table
                          for row in expected_rows(run, batch)]  # fmt: skip
            frame = snapshot.scan(table).collect()
            assert text_of(frame.to_dicts()) == text_of(given_rows), table
        kept = [snapshot.frame(segment).to_dicts() for segment in snapshot.segments("items")]
        items = [row for run, found in (first, second) for batch in found if batch.table == "items"
                 for row in expected_rows(run, batch)]  # fmt: skip
        assert set(text_of([row for rows in kept for row in rows])) <= set(text_of(items))
        keys = {(row["task"], row["item_key"], row["item_id"]) for row in items}
        assert sorted(map(repr, snapshot.scan("items", columns=["task", "item_key", "item_id"]).collect().rows())) == (
            sorted(map(repr, keys))
        )
        store.compact()
