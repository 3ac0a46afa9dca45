"""Aggregate files of Every Eval Ever: who ran what, and the results."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, digest
from foreshock.readers._every_eval_ever_own import OWN, fitted, own_of
from foreshock.readers._every_eval_ever_samples import task_and_filter
from foreshock.readers._files import whole
from foreshock.readers._json import check_encoding
from foreshock.readers._lm_eval_line import finite
from foreshock.readers._plain import mapping
from foreshock.readers._replies import listed, loaded, plain, text_of, whole_number
from foreshock.records import Run

# a JSON Schema of the format has these names, too, but no texts there
_MARKS = (re.compile(rb'"schema_version"\s*:\s*"'), re.compile(rb'"evaluation_id"\s*:\s*"'))
_PARTS = (b'"source_metadata"', b'"evaluation_results"', b'"model_info"', b'"eval_library"')
_UNKNOWN = frozenset({"", "unknown"})
_SETTINGS = ("temperature", "top_p", "top_k", "max_tokens", "reasoning", "max_attempts")
_MAX_CONDITION = 200
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_COLUMNS = (
    *("subset", "metric_id", "filter", "reducer", "value", "stderr", "stderr_kind", "n", "n_scored", "low", "high"),
    *("higher_is_better", "source", "raw"),
)


def is_log(head: bytes) -> bool:
    """Whether a file begins like an aggregate file."""
    return head.startswith(b"{") and all(m.search(head) for m in _MARKS) and sum(p in head for p in _PARTS) > 1


class Result(NamedTuple):
    """One result of an evaluation.

    Attributes:
        id: What samples refer to it by.
        metric: Its metric.
        row: Row of the aggregates; None for a mean that was made while the file was written.
        unknown: Whether a sample's score of -1 means that it has none.
    """

    id: str | None
    metric: str
    row: dict[str, Any] | None
    unknown: bool


class Log:
    """One aggregate file.

    Args:
        found: The document.

    Attributes:
        model_id: The model.
        evaluation_id: The format's own id of this evaluation.
        samples: Name of the file of samples, when it names one.
        tasks: The evaluations in it.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        model = mapping(found.get("model_info"))
        self.model_id = text_of(model.get("id")) or text_of(model.get("name")) or "unknown"
        developer = text_of(model.get("developer"))
        self.developer = None if developer in _UNKNOWN else developer
        self.evaluation_id = text_of(found.get("evaluation_id")) or ""
        place = text_of(mapping(found.get("detailed_evaluation_results")).get("file_path"))
        self.samples = place.replace("\\", "/").rpartition("/")[2] if place else None
        library = mapping(found.get("eval_library"))
        version, name = text_of(library.get("version")), text_of(library.get("name"))
        self.version = None if version in _UNKNOWN else version
        self._library = None if name in _UNKNOWN else name
        self._results: dict[str, list[dict[str, Any]]] = {}
        for result in map(mapping, listed(found.get("evaluation_results"))):
            name = text_of(result.get("evaluation_name"))
            if name is not None:
                task, _ = task_and_filter(name, text_of(result.get("evaluation_result_id")))
                self._results.setdefault(task, []).append(result)
        own = self.own
        if not self._results and own:
            self._results[str(mapping(own.get("run")).get("task"))] = []
        self.tasks = list(self._results)

    @property
    def own(self) -> dict[str, Any]:
        """What Foreshock added when it wrote the file."""
        return own_of(mapping(mapping(self._found.get("source_metadata")).get("additional_details")))

    def results(self, task: str) -> list[Result]:
        """Results of one evaluation."""
        found = self._results.get(task, [])
        names = [(_metric(mapping(r.get("metric_config")), r), _filter(r)) for r in found]
        rows = []
        for name, result in zip(names, found, strict=True):
            id_ = text_of(result.get("evaluation_result_id"))
            # two results of one metric, of two scorers say: their ids tell them apart
            metric = id_ if id_ and names.count(name) > 1 and not _is_own(result) else name[0]
            rows.append(_result(metric, id_, result))
        kept = [fitted("aggregates", mapping(row)) for row in listed(self.own.get("aggregates"))]
        return rows + [
            Result(None, str(row.get("metric_id")), {c: row.get(c) for c in _COLUMNS}, False) for row in kept
        ]

    def created(self, task: str) -> str | None:
        """When the evaluation ran, as ISO 8601."""
        stated = [r.get("evaluation_timestamp") for r in self._results.get(task, [])]
        given = (moment(v) for v in (*stated, self._found.get("evaluation_timestamp")))
        return next((m for m in given if m), None)

    def conditions(self, task: str) -> dict[str, str]:
        """Settings of the generation and what else is said about it, as text; long ones as a hash."""
        config = self._config(task)
        given = {k: v for k, v in mapping(config.get("generation_args")).items() if k in _SETTINGS}
        more = {k: v for k, v in mapping(config.get("additional_details")).items() if isinstance(k, str)}
        if "num_fewshot" in more:
            more["shots"] = more.pop("num_fewshot")
        shown = {k: plain(v) for k, v in {**given, **more}.items() if k != OWN}
        return {k: v if len(v) <= _MAX_CONDITION else f"sha256:{digest(v, 16)}" for k, v in shown.items() if v}

    def prompt_hash(self, task: str) -> str | None:
        """Hash of the prompt's template."""
        template = mapping(self._config(task).get("generation_args")).get("prompt_template")
        return digest(template, 16) if text_of(template) else None

    def scorer_hash(self, task: str) -> str | None:
        """Hash of the configuration of the metrics; None when it says no more than their names."""
        told = ("metric_id", "metric_parameters", "llm_scoring", "score_type", "level_names")
        configs = [mapping(r.get("metric_config")) for r in self._results.get(task, [])]
        kept = [{k: c[k] for k in told if k in c} for c in configs]
        return digest(sorted(kept, key=digest), 16) if any(len(k) > 1 for k in kept) else None

    def judge(self, task: str) -> str | None:
        """Names of the judging models."""
        names = []
        for result in self._results.get(task, []):
            scoring = mapping(mapping(result.get("metric_config")).get("llm_scoring"))
            infos = [mapping(mapping(j).get("model_info")) for j in listed(scoring.get("judges"))]
            names += [text_of(i.get("id")) or text_of(i.get("name")) for i in infos]
        return ", ".join(sorted({n for n in names if n})) or None

    def meta(self) -> dict[str, Any]:
        """Where the numbers come from."""
        origin = mapping(self._found.get("source_metadata"))
        told = {k: text_of(origin.get(f"source_{k}")) for k in ("name", "type", "organization_name")}
        found = {
            "evaluation_id": self.evaluation_id,
            "library": self._library,
            "schema_version": text_of(self._found.get("schema_version")),
            "evaluator_relationship": text_of(origin.get("evaluator_relationship")),
            **{f"source_{k}": v for k, v in told.items()},
        }
        return {k: v for k, v in found.items() if v}

    def _config(self, task: str) -> dict[str, Any]:
        configs = (mapping(r.get("generation_config")) for r in self._results.get(task, []))
        return next((c for c in configs if c), {})


def read_log(path: Path) -> Log:
    """Read an aggregate file.

    Raises:
        BrokenFileError: It is no JSON object.
    """
    data = whole(path)
    check_encoding(data, str(path))
    found = loaded(data, str(path))
    if not isinstance(found, dict):
        raise BrokenFileError("no object", expected="an aggregate file of Every Eval Ever", where=str(path))
    log = Log(found)
    if not log.tasks:
        raise BrokenFileError(
            "no evaluation in it", expected="evaluation_results with evaluation_name", do="remove it", where=str(path)
        )
    return log


def restored(log: Log, task: str) -> Run | None:
    """The run as it stood in the store that the file was written from; None when another tool wrote it."""
    facts = mapping(log.own.get("run"))
    if not facts or facts.get("task") != task:
        return None
    try:
        return msgspec.convert(facts, Run)
    except msgspec.ValidationError as error:
        raise BrokenFileError(f"what Foreshock added to it is damaged ({error})") from None


def moment(value: Any) -> str | None:
    """A moment as ISO 8601, from seconds or milliseconds since 1970 or from ISO 8601.

    Examples:
        >>> moment("1750000000"), moment("2025-06-15T15:06:40Z"), moment("June")
        ('2025-06-15T15:06:40Z', '2025-06-15T15:06:40Z', None)
    """
    shown = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if _DIGITS.fullmatch(shown):
        seconds = float(shown)
        seconds = seconds / 1000 if seconds > 1e11 else seconds
        if seconds > 1e11:
            return None
        return datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    try:
        datetime.fromisoformat(shown)
    except ValueError:
        return None
    return shown


def _metric(config: dict[str, Any], result: dict[str, Any]) -> str:
    names = (config.get("metric_name"), config.get("metric_id"), result.get("evaluation_result_id"))
    return next((found for name in names if (found := text_of(name))), "score")


def _filter(result: dict[str, Any]) -> str | None:
    return task_and_filter(str(result.get("evaluation_name")), text_of(result.get("evaluation_result_id")))[1]


def _is_own(result: dict[str, Any]) -> bool:
    return bool(own_of(mapping(mapping(result.get("score_details")).get("details"))))


def _result(metric: str, id_: str | None, result: dict[str, Any]) -> Result:
    config, details = mapping(result.get("metric_config")), mapping(result.get("score_details"))
    unknown = config.get("has_unknown_level") is True
    own = own_of(mapping(details.get("details")))
    if own.get("made") is True:
        return Result(id_, metric, None, unknown)
    doubt = mapping(details.get("uncertainty"))
    error = doubt.get("standard_error")
    value, stderr = finite(details.get("score")), finite(mapping(error).get("value", error))
    lower = config.get("lower_is_better")
    row: dict[str, Any] = dict.fromkeys(_COLUMNS)
    row |= {
        "metric_id": metric,
        "filter": _filter(result),
        "value": value if not isinstance(details.get("score"), bool) else None,
        "stderr": stderr,
        "stderr_kind": None if stderr is None else text_of(mapping(error).get("method")) or "harness",
        "n": whole_number(doubt.get("num_samples")),
        "low": finite(config.get("min_score")),
        "high": finite(config.get("max_score")),
        "higher_is_better": not lower if isinstance(lower, bool) else None,
        "source": "harness",
        "raw": msgspec.json.encode(details).decode(),
    }
    return Result(
        id_, metric, {**row, **{k: v for k, v in fitted("aggregates", own).items() if k in _COLUMNS}}, unknown
    )
