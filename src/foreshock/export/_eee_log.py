"""The aggregate file of a run in Every Eval Ever."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from foreshock import __version__
from foreshock.records import ModelCard, Run

SCHEMA = "0.3.0"
OWN = "foreshock"
"""Name under which JSON stands that the format has no place for; the reader of this format knows it."""
_LIBRARIES = {"inspect": "inspect_ai", "lm-eval": "lm_eval"}
_NUMBERS = ("temperature", "top_p", "top_k", "max_tokens")
# columns of the aggregates that have a place of their own in the format
_PLACED = frozenset({"value", "stderr", "n"})
_FILLED = frozenset({"ingest_id", "run_key", "task"})
# of a run, what is made anew when the file is read
_MADE = frozenset({"ingest_id", "schema", "sources", "counts", "format", "reader"})


class Results:
    """The results of a run, to which its lines refer.

    Args:
        run: The run.
        aggregates: Its logged means.
        notes: Takes what the format could not hold.

    Attributes:
        samples: What the file says about its samples.
    """

    def __init__(self, run: Run, aggregates: list[dict[str, Any]], notes: Counter[str]) -> None:
        self._run, self._notes = run, notes
        self.samples: dict[str, Any] | None = None
        self.without: list[dict[str, Any]] = []
        self._logged: list[tuple[str, dict[str, Any]]] = []
        self._sums: dict[str, tuple[list[float], str]] = {}
        taken: Counter[str] = Counter()
        for row in aggregates:
            kept = {k: v for k, v in row.items() if k not in _FILLED and v is not None}
            if row["value"] is None:
                self.without.append(kept)
                notes["a mean without a value stands beside the results, for a result must have one"] += 1
                continue
            id_ = ":".join(str(row[k]) for k in ("metric_id", "subset", "filter", "reducer") if row[k] is not None)
            taken[id_] += 1
            self._logged.append((id_ if taken[id_] == 1 else f"{id_} #{taken[id_]}", row))
        self._known = frozenset(id_ for id_, _ in self._logged)
        self._plain = {row["metric_id"]: id_ for id_, row in reversed(self._logged)}

    def id_of(self, metric: str, filter_: str | None) -> str:
        """The result that a score of a metric under a filter belongs to; one is made where the log has no mean."""
        for id_, row in self._logged:
            if row["metric_id"] == metric and row["filter"] in (filter_, None) and row["subset"] is None:
                return id_
        return f"{metric}:{filter_}" if filter_ is not None else metric

    def note(self, id_: str, metric: str, value: float) -> None:
        """Remember a score whose metric may have no mean in the log."""
        if id_ not in self._known:
            self._sums.setdefault(id_, ([], metric))[0].append(value)

    def best(self, metric: str) -> float:
        """The score that counts as correct: the highest possible one, or the lowest where lower is better; else 1."""
        row = next((row for _, row in self._logged if row["metric_id"] == metric), None)
        if row is None:
            return 1.0
        if row["higher_is_better"] is False:
            return row["low"] if row["low"] is not None else 0.0
        return row["high"] if row["high"] is not None else 1.0

    def listed(self) -> list[dict[str, Any]]:
        """Every result as the format has it."""
        found = [self._logged_result(id_, row) for id_, row in self._logged]
        for id_, (values, metric) in sorted(self._sums.items()):
            self._notes["a mean was made of the scores of a metric that the log gave no mean of"] += 1
            found.append(self._made(id_, metric, values))
        return found

    def _logged_result(self, id_: str, row: dict[str, Any]) -> dict[str, Any]:
        # nulls as well: the reader would fill them from what the format demands
        own = {k: v for k, v in row.items() if k not in _FILLED | _PLACED}
        if row["higher_is_better"] is None:
            self._notes["the direction of a metric is not known; the format demands one, and higher is better"] += 1
        doubt: dict[str, Any] = {}
        if row["stderr"] is not None:
            doubt["standard_error"] = {"value": row["stderr"], "method": row["stderr_kind"] or "unknown"}
        if row["n"] is not None:
            doubt["num_samples"] = row["n"]
        details = {"score": row["value"], "details": {OWN: encode(own)}, **({"uncertainty": doubt} if doubt else {})}
        limits = (row["low"], row["high"])
        return self._result(id_, row["metric_id"], limits, details, lower=row["higher_is_better"] is False)

    def _made(self, id_: str, metric: str, values: list[float]) -> dict[str, Any]:
        mean = math.fsum(values) / len(values)
        details = {
            "score": mean,
            "details": {OWN: encode({"made": True})},
            "uncertainty": {"num_samples": len(values)},
        }
        return self._result(id_, metric, (None, None), details, lower=False)

    def _result(
        self, id_: str, metric: str, limits: tuple[Any, Any], details: dict[str, Any], *, lower: bool
    ) -> dict[str, Any]:
        config: dict[str, Any] = {"metric_id": metric, "metric_name": metric, "lower_is_better": lower}
        known = {k: v for k, v in zip(("min_score", "max_score"), limits, strict=True) if v is not None}
        # the format's validator refuses a continuous score without both limits, which its schema allows
        config |= {**known, **({"score_type": "continuous"} if len(known) == len(limits) else {})}
        return {
            "evaluation_result_id": id_,
            "evaluation_name": self._run.task,
            "source_data": {"dataset_name": self._run.task, "source_type": "other"},
            "metric_config": config,
            "score_details": details,
            **_generation(self._run),
        }


def evaluation_id(run: Run, moment: str) -> str:
    """The format's name for a run at the moment of writing."""
    return f"{run.task}/{model_id(run)}/{seconds(moment)}"


def model_id(run: Run) -> str:
    """The model, as the log names it."""
    return run.model


def document(run: Run, results: Results, moment: str) -> dict[str, Any]:
    """The aggregate file.

    Args:
        run: The run.
        results: Its results, after all its lines were written.
        moment: When the file is written.
    """
    developer, slash, _ = run.model.partition("/")
    own: dict[str, Any] = {"run": _facts(run)}
    if results.without:
        own["aggregates"] = results.without
    found: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation_id(run, moment),
        "retrieved_timestamp": seconds(moment),
        "source_metadata": {
            "source_name": "foreshock",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"written_by": f"foreshock {__version__}", OWN: encode(own)},
        },
        "eval_library": {"name": _LIBRARIES.get(run.format, run.format), "version": run.writer or "unknown"},
        "model_info": {
            "name": run.model,
            "id": model_id(run),
            "developer": developer if slash and developer else run.card.organisation or "unknown",
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": results.listed(),
    }
    if run.created is not None and (when := _epoch(run.created)) is not None:
        found["evaluation_timestamp"] = when
    if results.samples is not None:
        found["detailed_evaluation_results"] = results.samples
    return found


def encode(value: Any) -> str:
    """JSON as text, for the fields that hold only texts."""
    return msgspec.json.encode(value, order="sorted").decode()


def seconds(moment: str) -> str:
    """ISO 8601 as seconds since 1970."""
    return _epoch(moment) or "0"


def _epoch(moment: str) -> str | None:
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        return None
    return str(int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()))


def _facts(run: Run) -> dict[str, Any]:
    """What is known of a run, with the names of the fields of its record; a made-up card is made up again."""
    found = {k: v for k, v in msgspec.to_builtins(run).items() if k not in _MADE and v not in (None, [], {})}
    found["meta"] = {**run.meta, "exported_from": {"format": run.format, "reader": run.reader}}
    if run.card == ModelCard():
        found.pop("card", None)
    return {**found, "format": run.format, "reader": run.reader}


def _generation(run: Run) -> dict[str, Any]:
    given = {k: v for k, v in ((k, _number(k, run.conditions.get(k))) for k in _NUMBERS) if v is not None}
    more = {k: v for k, v in run.conditions.items() if k not in given}
    if not run.conditions:
        return {}
    return {"generation_config": {"generation_args": given, **({"additional_details": more} if more else {})}}


def _number(name: str, text: str | None) -> float | int | None:
    """A setting as the number that the format wants; None when it is none."""
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    if not math.isfinite(value) or (name == "max_tokens" and not (value >= 1 and value.is_integer())):
        return None
    return int(value) if name == "max_tokens" else value
