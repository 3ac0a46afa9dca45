"""Small stores whose every score is known."""

from __future__ import annotations

from foreshock.records import Batch, Run, item_key
from foreshock.store import Store


def run(model="m-1b", task="sums", **facts):
    return Run(run_key=f"{model}/{task}", format="test", reader="test@1", model=model, task=task, **facts)


def batches(rows, scores=()):
    """Batches of items, responses and harness scores from one mapping per response."""
    items, responses = [], []
    for number, row in enumerate(rows):
        question = row.get("input")
        key = item_key(question, row.get("choices") or (), row.get("targets") or ())
        shared = {"item_key": key, "item_id": row["item_id"]}
        items.append(shared | {name: row.get(name) for name in ("input", "choices", "targets", "gold_index")})
        given = {"row": number, "epoch": row.get("epoch", 1), "delivery": row.get("delivery", "ok")}
        own = ("output", "answer", "choice_logprobs", "gold_logprob", "gold_token_logprobs", "filter", "perturbation")
        responses.append(shared | given | {name: row.get(name) for name in own})
    found = [Batch("items", _columns(items)), Batch("responses", _columns(responses))]
    if scores:
        names = ("row", "metric_id", "value")
        columns = dict(zip(names, map(list, zip(*scores, strict=True)), strict=True))
        extra = {"source": ["harness"] * len(scores), "status": ["scored"] * len(scores)}
        found.append(Batch("scores", columns | extra))
    return found


def _columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


SUMS = [
    {"item_id": "a", "input": "2+2", "targets": ["4"], "output": "It is 4", "answer": "4"},
    {"item_id": "b", "input": "2+3", "targets": ["5"], "output": "It is 6", "answer": "6"},
    {"item_id": "c", "input": "60+63", "targets": ["123"], "output": "It is 124", "answer": "124"},
    {"item_id": "d", "input": "1+1", "targets": ["2"], "output": "I pass", "answer": None},
    {"item_id": "e", "input": "1+2", "targets": ["3"], "delivery": "error"},
]
CHOICES = [
    {
        "item_id": str(i),
        "input": f"question {i}",
        "choices": ["x", "y"],
        "targets": ["xy"[gold]],
        "gold_index": gold,
        "choice_logprobs": logprobs,
        "gold_logprob": logprobs[gold],
        "answer": "xy"[logprobs[1] > logprobs[0]],
    }
    for i, (gold, logprobs) in enumerate([(0, [-1.0, -2.0]), (1, [-1.0, -2.0]), (1, [-3.0, -0.5])])
]


def fill(folder, *, epochs=1):
    """A store with a task of free answers, scored by its harness, and one of choices."""
    store = Store.open(folder, create=True)
    with store.writer() as writer:
        rows = [row | {"epoch": e + 1} for row in SUMS for e in range(epochs)]
        graded = [
            (i, "exact_match", float(r["answer"] == r["targets"][0])) for i, r in enumerate(rows) if r.get("answer")
        ]
        writer.write(run(expected=len(rows) + 1), batches(rows, graded))
        graded = [(0, "acc", 1.0), (1, "acc", 1.0), (2, "acc", 1.0)]  # the harness is wrong about the second
        writer.write(run(task="choices"), batches(CHOICES, graded))
    return store


def scores(store, **restrict):
    """Stored scores: (item, metric name) to (value, status)."""
    frame = store.snapshot().scan(
        "scores", **({"source": "foreshock"} | restrict), columns=["item_id", "metric_id", "value", "status", "epoch"]
    )
    return {(i, m.partition("@")[0], e): (v, s) for i, m, v, s, e in frame.collect().rows()}
