"""The smallest document that fills every field, so that a changed field can be looked for in what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from foreshock.records import Document

FINDING: dict[str, Any] = {
    "id": "abc123",
    "code": "FS301",
    "state": "firing",
    "verdict": "break",
    "title": "a title",
    "subject": {
        "task": "a task",
        "suite": "a suite",
        "model_family": "a family",
        "model": "a model",
        "release": "a release",
        "metric": "a metric",
        "axis": "an axis",
        "generator": "a generator",
        "runs": ["run one"],
    },
    "effect": {"name": "share", "unit": "fraction", "value": 0.31, "low": 0.21, "high": 0.41, "level": 0.95},
    "p": 0.011,
    "q": 0.022,
    "e": 3.5,
    "null": "a null",
    "replicates": 1999,
    "rate": {"stated": 0.05, "measured": 0.043, "n": 2000},
    "dummy": [{"name": "a dummy", "value": 0.5, "gain": 0.25}],
    "needs": [{"what": "things", "have": 3.0, "enough": 4.0}],
    "alternatives": [{"name": "an alternative", "status": "possible", "why": "a reason"}],
    "evidence": [{"run": "run two", "item": "item two", "epoch": 2, "what": "evidence"}],
    "evidence_total": 7,
    "fit": {"data_hash": "feed", "seed": 5, "starts": 8, "objective": -41.5},
    "advice": "an advice",
}
COUNTS = {"expected": 11, "delivered": 12, "parsed": 13, "scored": 14, "refused": 15, "error": 16, "missing": 17}
TABLES: dict[str, list[dict[str, Any]]] = {
    "opening": [{"kind": "can", "text": "do this", "do": "a command"}],
    "trust": [{"task": "trusted task", "lights": {"delivered": {"state": "ok", "text": "all there"}}}],
    "models": [
        {
            "task": "task m",
            "model": "model m",
            "family": "family m",
            "axis": "parameters",
            "x": 1.4e9,
            "metric": "metric m",
            "unit": "fraction",
            "value": 0.62,
            "low": 0.52,
            "high": 0.72,
            "level": 0.9,
            "n": 101,
            "expected": 110,
            "delivered": 109,
            "parsed": 108,
            "unparsed_share": 0.03,
            "refused": 21,
            "error": 22,
            "missing": 23,
            "value_expected": 0.58,
            "harness_value": 0.63,
            "status": "partial",
            "replicates": 2,
            "note": "a note",
        }
    ],
    "series": [
        {
            "finding_id": "abc123",
            "task": "task s",
            "family": "family s",
            "axis": "parameters",
            "axis_known": True,
            "log_axis": True,
            "metric": "metric s",
            "role": "hard",
            "unit": "fraction",
            "chance": 0.25,
            "points": [
                {"label": "point one", "x": 1e9, "value": 0.3, "low": 0.2, "high": 0.4, "n": 500},
                {"label": "point two", "x": 4e9, "value": 0.6, "low": 0.5, "high": 0.7, "n": 501},
            ],
        }
    ],
    "verdicts": [
        {
            "finding_id": "abc123",
            "task": "task v",
            "family": "family v",
            "axis": "parameters",
            "verdict": "break",
            "reason": "because",
            "points": 8,
            "items": 5000,
            "hard": "hard v",
            "twin": "twin v",
            "share": 0.84,
            "share_low": 0.71,
            "share_high": 0.93,
            "emergence": 12.4,
            "emergence_infinite": False,
            "emergence_p": 0.013,
            "link_gap": 0.021,
        }
    ],
    "moved": [
        {
            "finding_id": "abc123",
            "task": "a task",
            "family": "a family",
            "item": "item one",
            "question": "a question",
            "target": "a target",
            "from_model": "model before",
            "to_model": "model after",
            "from_output": "output before",
            "to_output": "output after",
            "from_score": 0.125,
            "to_score": 0.875,
        }
    ],
    "runs": [
        {
            "run_key": "key r",
            "model": "model r",
            "task": "task r",
            "status": "complete",
            "created": "2026-01-01",
            "format": "lm-eval",
            "writer": "0.4.7",
            "expected": 201,
            "delivered": 202,
            "parsed": 203,
            "scored": 204,
            "refused": 205,
            "error": 206,
            "missing": 207,
            "warnings": ["a warning"],
        }
    ],
    "failures": [{"path": "a path", "message": "a message"}],
    "unknown": [{"left": "a value", "right": 4.25}],
}
SMALL: dict[str, Any] = {
    "schema": 1,
    "foreshock": "0.1.0",
    "command": ["check"],
    "generated_at": "2026-01-01T00:00:00Z",
    "counts": COUNTS,
    "findings": [FINDING],
    "tables": TABLES,
}


def build(raw: dict[str, Any]) -> Document:
    return msgspec.convert(raw, Document)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all strings and numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    else:
        yield path


def changed(path: tuple[Any, ...]) -> Document:
    """The small document with one leaf replaced by another of its kind."""
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    place = raw
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = _other(path[-1], place[path[-1]])
    return build(raw)


def _other(name: Any, value: Any) -> Any:
    closed = {
        "state": "pending",
        "kind": "needs",
        "role": "twin",
        "axis_known": False,
        "log_axis": False,
        "emergence_infinite": True,
    }
    if name == "state" and value == "ok":
        return "warn"
    if name in closed:
        return closed[name]
    if isinstance(value, str):
        return value + " changed"
    return value * 1.1 if isinstance(value, float) else value + 1
