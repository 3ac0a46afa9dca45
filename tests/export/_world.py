"""Runs to write out, made at random, and what a store holds as plain rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from foreshock.records import Batch, Delivery, ModelCard, Run, item_key
from foreshock.store import Store

TABLES = ("items", "responses", "scores", "aggregates")
Rows = list[dict[str, Any]]

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
MAYBE = st.none() | WORDS
COUNTS = st.none() | st.integers(0, 10**6)


@st.composite
def items(draw: st.DrawFn, number: int) -> dict[str, Any]:
    question, choices = draw(MAYBE), draw(st.none() | st.lists(WORDS, min_size=2, max_size=3))
    targets = draw(st.none() | st.lists(WORDS, max_size=2))
    # a reader may identify an item by something else than its texts
    key = draw(st.sampled_from([item_key(question, choices or (), targets or ()), "f" * 64, None]))
    return {
        "item_key": key,
        "item_id": f"q{number}",
        "input": question,
        "choices": choices,
        "targets": targets,
        "gold_index": draw(st.none() | st.integers(0, 2)),
        "subset": draw(st.none() | st.sampled_from(["a", "b"])),
        "seed": draw(COUNTS),
        "truth": draw(MAYBE),
    }


@st.composite
def responses(draw: st.DrawFn, row: int, item: dict[str, Any]) -> dict[str, Any]:
    return {
        "row": row,
        "item_key": item["item_key"],
        "item_id": item["item_id"],
        "epoch": draw(st.integers(1, 3)),
        "sample": draw(st.integers(0, 2)),
        "filter": draw(st.none() | st.sampled_from(["strict", "loose"])),
        "perturbation": draw(MAYBE),
        "prompt_hash": draw(MAYBE),
        "delivery": draw(st.sampled_from(sorted(Delivery))).value,
        "output": draw(MAYBE),
        "reasoning": draw(MAYBE),
        "answer": draw(MAYBE),
        "choice_logprobs": draw(st.none() | st.lists(NUMBERS, max_size=3)),
        "gold_logprob": draw(st.none() | NUMBERS),
        "gold_token_logprobs": draw(st.none() | st.lists(NUMBERS, max_size=3)),
        "output_token_logprobs": draw(st.none() | st.lists(NUMBERS, max_size=3)),
        "input_tokens": draw(COUNTS),
        "output_tokens": draw(COUNTS),
        "reasoning_tokens": draw(COUNTS),
        "total_tokens": draw(COUNTS),
        "token_unit": draw(MAYBE),
        "seconds": draw(st.none() | st.floats(0, 1e4)),
        "meta": draw(st.none() | st.just('{"a":1}')),
    }


@st.composite
def scores(draw: st.DrawFn, row: int, metric: str) -> dict[str, Any]:
    value = draw(st.none() | st.sampled_from([0.0, 1.0]) | NUMBERS)
    status = "scored" if value is not None else draw(st.sampled_from(["failed", "unparsed", "needs"]))
    return {
        "row": row,
        "metric_id": metric,
        "source": "harness",
        "value": value,
        "status": status,
        "label": draw(MAYBE),
    }


@st.composite
def aggregates(draw: st.DrawFn, metric: str) -> dict[str, Any]:
    return {
        "subset": draw(st.none() | st.just("a")),
        "metric_id": metric,
        "filter": draw(st.none() | st.just("strict")),
        "reducer": draw(st.none() | st.just("mean")),
        "value": draw(st.none() | NUMBERS),
        "stderr": draw(st.none() | st.floats(0, 1)),
        "stderr_kind": draw(st.none() | st.just("bootstrap")),
        "n": draw(COUNTS),
        "n_scored": draw(COUNTS),
        "low": draw(st.none() | st.just(0.0)),
        "high": draw(st.none() | st.sampled_from([1.0, 100.0])),
        "higher_is_better": draw(st.none() | st.booleans()),
        "source": draw(st.sampled_from(["harness", "table"])),
        "raw": draw(st.none() | st.just('"N/A"')),
    }


@st.composite
def runs(draw: st.DrawFn) -> tuple[Run, list[Batch]]:
    task, model = (
        draw(st.sampled_from(["a|b:c/d", "sums", "..", "日本"])),
        draw(st.sampled_from(["org/m 7B", "m", "a/b/c"])),
    )
    run = Run(
        run_key="k0",
        ingest_id="i0",
        format="lm-eval",
        reader="lm-eval@1",
        writer=draw(st.none() | st.just("0.4.7")),
        model=model,
        card=draw(st.sampled_from([ModelCard(), ModelCard(parameters=7e9, step=3)])),
        task=task,
        task_version=draw(st.none() | st.just("2")),
        conditions=draw(st.sampled_from([{}, {"shots": "5", "temperature": "0.5", "max_tokens": "none"}])),
        created=draw(st.none() | st.just("2024-07-01T10:11:12.000013+02:00")),
        chance=draw(st.none() | st.just(0.25)),
        judge=draw(MAYBE),
        guesses=draw(st.sampled_from([[], ["model"]])),
        warnings=draw(st.sampled_from([[], ["odd"]])),
    )
    asked = [draw(items(k)) for k in range(draw(st.integers(0, 3)))]
    replied = [
        draw(responses(k, asked[k % len(asked)])) for k in range(len(asked) + draw(st.integers(0, 2)) if asked else 0)
    ]
    marks = [
        draw(scores(r["row"], m)) for r in replied for m in draw(st.sets(st.sampled_from(["acc", "f1", "acc norm"])))
    ]
    means = [draw(aggregates(m)) for m in draw(st.lists(st.sampled_from(["acc", "f1"]), max_size=3, unique=True))]
    return run, batches(asked, replied, marks, means)


def batches(*tables: Rows) -> list[Batch]:
    """Rows as columns."""
    pairs = zip(TABLES, tables, strict=True)
    return [Batch(name, {c: [row[c] for row in rows] for c in rows[0]}) for name, rows in pairs if rows]


def stored(store: Store) -> dict[str, Rows]:
    """What a store holds, without the ids that say how it came there."""
    snapshot = store.snapshot()
    found = {}
    for table in TABLES:
        rows = snapshot.scan(table).collect().to_dicts()
        kept = [{k: v for k, v in row.items() if k != "ingest_id"} for row in rows]
        found[table] = sorted(kept, key=repr)
    return found


def make(folder: Path, run: Run, rows: list[Batch]) -> Store:
    store = Store.open(folder, create=True)
    store.write(run, rows)
    return store
