"""The pass rate over repeats is a twin of the metric that it is made of, however often the items were answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from foreshock.check import mirage_document
from foreshock.check._lines import _same
from foreshock.records import Batch, Run, item_key
from foreshock.store import Store

ITEMS = 80
RATES = {
    size: 1 / (1 + np.exp(3.5 - k)) for k, size in enumerate(("1m", "3m", "10m", "30m", "100m", "300m", "1b", "3b"))
}


def write(
    store: Store,
    size: str,
    right: np.ndarray,
    *,
    scores: tuple[str, ...] = (),
    unread: np.ndarray | None = None,
    conditions: dict[str, str] | None = None,
) -> None:
    """One model's answers, shape (items, epochs); with ``scores`` only what the harness made of them is known."""
    items, epochs = right.shape
    places = [(i, e) for i in range(items) for e in range(epochs)]
    keys = [item_key(f"q {i}", targets=[str(i)]) for i in range(items)]
    answers: list[str | None] = [str(i) if right[i, e] else f"{i + 1}0" for i, e in places]
    if unread is not None:
        answers = [None if unread[place] else said for place, said in zip(places, answers, strict=True)]
    key = f"{size}{conditions or ''}"
    run = Run(
        run_key=key, format="inspect", reader="t@1", model=f"lab/toy-{size}", task="sums", conditions=conditions or {}
    )
    batches = []
    if not scores:
        meta = {
            "item_id": [str(i) for i in range(items)], "item_key": keys, "input": [f"q {i}" for i in range(items)],
            "targets": [[str(i)] for i in range(items)],
        }  # fmt: skip
        batches.append(Batch("items", meta))
    responses: dict[str, list[Any]] = {
        "row": list(range(len(places))), "item_id": [str(i) for i, _ in places],
        "item_key": [keys[i] for i, _ in places], "epoch": [e + 1 for _, e in places],
        "delivery": ["ok"] * len(places), "output": ["text"] * len(places),
        "answer": [None] * len(places) if scores else answers,
    }  # fmt: skip
    batches.append(Batch("responses", responses))
    for name in scores:
        rows = {
            "row": responses["row"], "metric_id": [name] * len(places), "source": ["harness"] * len(places),
            "value": [float(right[place]) for place in places], "status": ["scored"] * len(places),
        }  # fmt: skip
        batches.append(Batch("scores", rows))
    store.write(run, batches)


def drawn(epochs: int, seed: int = 3) -> dict[str, np.ndarray]:
    """What each model got right, shape (items, epochs): items differ, and repeats are drawn anew."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(0, 1, ITEMS)
    logits = {size: np.log(p / (1 - p)) for size, p in RATES.items()}
    return {size: rng.random((ITEMS, epochs)) < 1 / (1 + np.exp(-(z + lean)))[:, None] for size, z in logits.items()}


def verdict(store: Store, table: str = "verdicts") -> dict[str, Any]:
    (row,) = mirage_document(store).tables[table]
    return row


@pytest.mark.parametrize("epochs", [2, 4, 5, 10])
@pytest.mark.parametrize(
    ("scores", "twin"),
    [((), "pass_rate"), (("passed",), "pass_rate(of=harness)"), (("a", "b"), "pass_rate(of=harness(score=a))")],
)
def test_any_number_of_repeats_gives_the_same_twin(
    store: Store, epochs: int, scores: tuple[str, ...], twin: str
) -> None:
    for size, right in drawn(epochs).items():
        write(store, size, right, scores=scores)
    row = verdict(store)
    assert (row["twin"], row["verdict"], row["command"]) == (twin, "smooth", None)


@pytest.mark.parametrize("epochs", [2, 10])
def test_answers_that_could_not_be_read_are_failed_attempts(store: Store, epochs: int) -> None:
    rng = np.random.default_rng(8)
    for size, right in drawn(epochs).items():
        write(store, size, right, unread=rng.random(right.shape) < 0.2)
    row = verdict(store)
    assert row["twin"] == "pass_rate"
    lines = {line["role"]: line for line in mirage_document(store).tables["series"]}
    for hard, twin in zip(lines["hard"]["points"], lines["twin"]["points"], strict=True):
        assert hard["value"] == pytest.approx(twin["value"])


def test_repeats_that_never_differ_are_one_answer(store: Store) -> None:
    for size, right in drawn(1).items():
        write(store, size, np.repeat(right, 5, axis=1), scores=("passed",))
    row = verdict(store)
    assert row["twin"] is None
    assert "no twin" in row["reason"]


def test_a_model_without_repeats_has_no_pass_rate(store: Store) -> None:
    for size, right in drawn(5).items():
        write(store, size, right[:, : 1 if size == "30m" else 5], scores=("passed",))
    assert verdict(store)["twin"] is None


def test_the_pass_rate_is_not_read_against_itself_where_it_has_no_link(store: Store) -> None:
    # a difference is judged as it is: there the mean over attempts is the metric by another name
    for shots, seed in (("0", 3), ("5", 4)):
        for size, right in drawn(5, seed).items():
            write(store, size, right, scores=("passed",), conditions={"shots": shots})
    row = verdict(store, "conditions")
    assert row["twin"] is None
    assert row["command"] is None
    assert "epochs" not in str([one.advice for one in mirage_document(store).findings if one.id == row["finding_id"]])


def test_one_metric_by_another_name_is_told_whatever_the_rounding() -> None:
    votes = np.random.default_rng(1).random((8, 80, 7)) < 0.5
    assert not np.array_equal(votes.sum(axis=2) * (1 / 7), votes.sum(axis=2) / 7)
    assert _same(votes.sum(axis=2) * (1 / 7), votes.sum(axis=2) / 7)
    assert not _same(votes.sum(axis=2) / 7, np.minimum(votes.sum(axis=2) / 7 + 1e-3, 1.0))
