"""The lines of a run's responses in Every Eval Ever: one for each score."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from foreshock.export._eee_log import OWN, SCHEMA, Results, encode, evaluation_id, model_id
from foreshock.records import Delivery, Run, ScoreStatus, item_key

UNSCORED = "a response without a score stands apart from the samples, of which the format demands a score"
_NOT_SCORED = "not scored: the format demands a score, and this 0 is none"


class Lines:
    """Writes the lines of one run.

    Args:
        run: The run.
        results: Its results, to which the lines refer.
        notes: Takes what the format could not hold.
    """

    ITEM: ClassVar[tuple[str, ...]] = (
        *("input", "choices", "targets", "gold_index", "subset", "item_date", "generator", "params"),
        *("seed", "truth", "status"),
    )
    _ITEM_OWN: ClassVar[tuple[str, ...]] = tuple(n for n in ITEM if n not in ("input", "choices", "targets"))
    _RESPONSE_OWN: ClassVar[tuple[str, ...]] = (
        *("epoch", "sample", "filter", "perturbation", "prompt_hash", "delivery", "choice_logprobs", "gold_logprob"),
        *("gold_token_logprobs", "output_token_logprobs", "reasoning_tokens", "token_unit", "seconds", "meta"),
    )

    def __init__(self, run: Run, results: Results, notes: Counter[str]) -> None:
        self._run, self._results, self._notes = run, results, notes

    def left_out(self, scores: int, steps: int) -> None:
        """Note what no line holds."""
        if scores:
            self._notes["a score of Foreshock's own is left out; score the stored responses again instead"] += scores
        if steps:
            self._notes["a step of a trace is left out: the format wants whole messages"] += steps

    def of(self, row: dict[str, Any], scores: list[dict[str, Any]], moment: str) -> Iterator[tuple[bool, bytes]]:
        """The lines of one response, and whether they hold a score; the first says everything, the others their scores.

        Args:
            row: Columns of the response and its item.
            scores: The harness's scores of it.
            moment: When the file is written.
        """
        scored = [s for s in scores if s["status"] == ScoreStatus.SCORED and s["value"] is not None]
        rest = [_score_part(s) for s in scores if s not in scored]
        first = {**self._own(row), **({"scores": rest} if rest else {})}
        base = self._base(row, moment)
        if not scored:
            self._notes[UNSCORED] += 1
            own = {**first, "score": False}
            error = base["error"] or _NOT_SCORED
            zero = {"error": error, "evaluation": {"score": 0.0, "is_correct": False}}
            yield False, self._line(base, row, own, zero)
        for place, score in enumerate(scored):
            own = dict(first) if place == 0 else {"row": row["row"]}
            if score["label"] is not None:
                own["label"] = score["label"]
            metric, value = score["metric_id"], score["value"]
            id_ = self._results.id_of(metric, row["filter"])
            self._results.note(id_, metric, value)
            judged = {"score": value, "is_correct": value == self._results.best(metric)}
            own["metric"] = metric
            yield True, self._line(base, row, own, {"evaluation_result_id": id_, "evaluation": judged})

    def _base(self, row: dict[str, Any], moment: str) -> dict[str, Any]:
        question, targets, output = row["input"] or "", row["targets"] or [], row["output"]
        shown: dict[str, Any] = {"raw": [] if output is None else [output]}
        if row["reasoning"] is not None:
            shown["reasoning_trace"] = [row["reasoning"]]
        arrived = Delivery(row["delivery"]).arrived
        found: dict[str, Any] = {
            "schema_version": SCHEMA,
            "evaluation_id": evaluation_id(self._run, moment),
            "model_id": model_id(self._run),
            "evaluation_name": self._run.task,
            "sample_id": row["item_id"] or "",
            "sample_hash": sample_hash(question, targets),
            "interaction_type": "single_turn",
            "input": {"raw": question, "reference": targets, **({"choices": row["choices"]} if row["choices"] else {})},
            "output": shown,
            "answer_attribution": _attribution(row),
            "error": None if arrived else row["delivery"],
        }
        return found | _usage(row)

    def _own(self, row: dict[str, Any]) -> dict[str, Any]:
        """Columns that the format has no place for, or not exactly."""
        item = {n: row[n] for n in self._ITEM_OWN if row.get(n) is not None}
        response = {n: row[n] for n in self._RESPONSE_OWN if row.get(n) is not None}
        # null and empty are not the same, and a key may be made of something else than the texts
        item |= {n: row[n] for n in ("input", "choices", "targets") if not row[n]}
        if row["item_key"] != item_key(row["input"], row["choices"] or (), row["targets"] or ()):
            item["item_key"] = row["item_key"]
        if row["item_id"] is None:
            item["item_id"] = None
        response |= {
            n: row[n] for n in ("input_tokens", "output_tokens", "total_tokens") if "token_usage" not in _usage(row)
        }
        # what is blank is no text to a reader of the format
        response |= {n: row[n] for n in ("output", "reasoning", "answer") if not (row[n] or "").strip()}
        for name in ("choice_logprobs", "gold_token_logprobs", "output_token_logprobs"):
            if row[name] is not None:
                self._notes[f"{name} of a response stands as JSON in its metadata"] += 1
        if row["epoch"] not in (None, 1):
            self._notes["an epoch after the first stands as JSON in its metadata"] += 1
        return {"row": row["row"], "item": item, "response": response}

    def _line(self, base: dict[str, Any], row: dict[str, Any], own: dict[str, Any], more: dict[str, Any]) -> bytes:
        metadata = {OWN: encode(own), **({"subset": row["subset"]} if row["subset"] else {})}
        line = {**base, **more, "metadata": metadata}
        return msgspec.json.encode({k: v for k, v in line.items() if v is not None}) + b"\n"


def sample_hash(question: str, targets: list[str]) -> str:
    """SHA-256 of question and references, made as the format's own converters make it.

    Examples:
        >>> sample_hash("What is 2 + 2?", ["4"])[:8]
        'd7cc70e3'
    """
    joined = json.dumps({"raw": question, "reference": "".join(targets)}, sort_keys=True)
    return hashlib.sha256(joined.encode()).hexdigest()


def _score_part(score: dict[str, Any]) -> dict[str, Any]:
    return {n: score[n] for n in ("metric_id", "value", "status", "label") if score[n] is not None}


def _attribution(row: dict[str, Any]) -> list[dict[str, Any]]:
    if row["answer"] is None:
        return []
    found = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": row["answer"],
        "extraction_method": row["filter"] or "harness",
        "is_terminal": True,
    }
    return [found]


def _usage(row: dict[str, Any]) -> dict[str, Any]:
    """Tokens, when all three counts are known, and the time."""
    found: dict[str, Any] = {}
    counts = {n: row[n] for n in ("input_tokens", "output_tokens", "total_tokens")}
    if all(isinstance(n, int) and n >= 0 for n in counts.values()):
        found["token_usage"] = counts
    if row["seconds"] is not None and row["seconds"] >= 0:
        found["performance"] = {"latency_ms": row["seconds"] * 1000}
    return found
