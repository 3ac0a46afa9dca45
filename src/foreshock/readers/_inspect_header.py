"""From the header of an Inspect log to the facts of a run."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from foreshock._base import canonical, digest
from foreshock.readers._inspect_header_types import Header, Plan, Results, Spec
from foreshock.readers._inspect_log import Log
from foreshock.readers._protocol import ReadOptions
from foreshock.records import Run, RunStatus, Source, ingest_id, run_key

NAME, VERSION = "inspect", 1
KNOWN_VERSIONS = (1, 2, 3)

_GENERATE = re.findall(
    r"\w+",
    "temperature top_p top_k max_tokens num_choices best_of frequency_penalty presence_penalty stop_seqs seed "
    "reasoning_effort reasoning_tokens reasoning_mode effort verbosity system_message internal_tools",
)
_CONFIG = re.findall(
    r"\w+",
    "limit sample_id epochs epochs_reducer sample_shuffle message_limit token_limit turn_limit time_limit "
    "working_limit cost_limit score_on_error",
)
_SECRET = ("api_key", "apikey", "access_key", "_token", "secret", "password", "auth", "credential")
_LONG = 200
_MAX_ARGS = 50
_MAX_META = 8_192

_STATUS = {
    "success": RunStatus.COMPLETE,
    "cancelled": RunStatus.CANCELLED,
    "error": RunStatus.ERROR,
    "started": RunStatus.STARTED,
}


def run_of(log: Log, source: Source, notes: list[str], options: ReadOptions) -> Run:
    """The run of a log; ``notes`` are put in front of its warnings, ``options`` name what the log does not."""
    header = log.header
    spec = header.eval or Spec()
    key = _key(spec, source)
    named = {"model": None if spec.model else options.model, "task": None if spec.task else options.task}
    used = {k: v for k, v in named.items() if v}
    warnings = [*notes, *log.damage, *_warnings(log)]
    return Run(
        run_key=key,
        ingest_id=ingest_id(key, [source], f"{NAME}@{VERSION}", used or None),
        format=NAME,
        reader=f"{NAME}@{VERSION}",
        writer=_writer(spec),
        model=spec.model or options.model or "unknown",
        task=spec.task or options.task or "unknown",
        task_version=None if spec.task_version is None else str(spec.task_version),
        conditions=conditions(spec, header.plan or Plan()),
        seed=_seed(spec, header.plan or Plan()),
        created=_utc(spec.created),
        prompt_hash=_prompt_hash(header.plan),
        scorer_hash=_scorer_hash(spec),
        judge=_judge(spec),
        sources=[source],
        expected=expected(header),
        status=_run_status(log),
        warnings=warnings,
        guesses=[name for name in named if not getattr(spec, name) and name not in used],
        meta=meta(header, spec),
    )


def expected(header: Header) -> int | None:
    """Responses the header announces: the results' own total, else items times epochs; None when it does not say."""
    results, spec = header.results or Results(), header.eval or Spec()
    if results.total_samples and 0 < results.total_samples < 2**53:
        return results.total_samples
    if spec.dataset is None:
        return None
    config = spec.config or {}
    count = len(spec.dataset.sample_ids) if spec.dataset.sample_ids else None
    if count is None:
        count = _limited(spec.dataset.samples, config.get("limit"))
    epochs = config.get("epochs")
    epochs = epochs if isinstance(epochs, int) and epochs > 0 else 1
    return None if count is None or not 0 <= count * epochs < 2**53 else count * epochs


def _limited(count: int | None, limit: object) -> int | None:
    """Size of a dataset of which a run takes the first ``n`` items or a range of them."""
    if count is None or count < 0:
        return None
    if isinstance(limit, list) and len(limit) == 2 and all(isinstance(v, int) for v in limit):
        limit = limit[1] - limit[0]
    return min(count, max(0, limit)) if isinstance(limit, int) else count


def conditions(spec: Spec, plan: Plan) -> dict[str, str]:
    """What the run was done under, as text; only what the header states."""
    generate = {**(spec.model_generate_config or {}), **_set(plan.config)}
    config = spec.config or {}
    out = {k: _text(generate[k]) for k in _GENERATE if generate.get(k) is not None}
    out |= {k: _text(config[k]) for k in _CONFIG if config.get(k) is not None}
    out |= {f"task.{k[:_LONG]}": _text(v) for k, v in _scalars(spec.task_args).items()}
    solver = spec.solver or " > ".join(s.solver for s in plan.steps or [] if s.solver)
    if solver:
        out["solver"] = _text(solver)
    return out


def _set(config: dict[str, Any] | None) -> dict[str, Any]:
    return {k: v for k, v in (config or {}).items() if v is not None}


def _text(value: object) -> str:
    """A value as text; a long one as its hash, since only equality matters."""
    text = value if isinstance(value, str) else canonical(value).decode()
    return text if len(text) <= _LONG else f"sha256:{digest(value, 16)}"


def meta(header: Header, spec: Spec) -> dict[str, Any]:
    """What else is worth keeping, bounded; nothing that looks like a credential."""
    results, data = header.results or Results(), spec.dataset
    revision = spec.revision or {}
    found = {
        "log_version": header.version,
        "run_id": spec.run_id,
        "task_id": spec.task_id,
        "eval_id": spec.eval_id,
        "eval_set_id": spec.eval_set_id,
        "task_file": spec.task_file,
        "commit": revision.get("commit"),
        "origin": revision.get("origin"),
        "dataset": data and _set({"name": data.name, "location": data.location, "samples": data.samples}),
        "shuffled": data and data.shuffled,
        "completed_samples": results.completed_samples,
        "logged_samples": results.logged_samples,
        "error": header.error and header.error.message,
        "tags": header.tags or spec.tags,
        "metadata": header.metadata or spec.metadata,
        "model_args": {k: v for k, v in _scalars(spec.model_args).items() if len(str(v)) <= _LONG},
        "model_roles": _roles(spec),
    }
    return {k: _bounded(v) for k, v in found.items() if v not in (None, [], {}, "")}


def _scalars(args: dict[str, Any] | None) -> dict[str, Any]:
    """Arguments that are one value; whole outputs and whatever is named like a credential stay in the log."""
    found = {
        k: v
        for k, v in (args or {}).items()
        if isinstance(v, str | int | float | bool) and not any(word in k.lower() for word in _SECRET)
    }
    return dict(list(found.items())[:_MAX_ARGS])


def _bounded(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _MAX_META:
        return value[:_MAX_META] + "…"
    size = len(msgspec.json.encode(value))
    return value if size <= _MAX_META * 4 else {"left_out_bytes": size}


def _key(spec: Spec, source: Source) -> str:
    if spec.run_id and spec.task_id:
        return run_key(NAME, spec.run_id, spec.task_id)
    return run_key(NAME, spec.model, spec.task, spec.created, source.sha256)


def _writer(spec: Spec) -> str | None:
    version = (spec.packages or {}).get("inspect_ai")
    return version if isinstance(version, str) else None


def _utc(created: str | None) -> str | None:
    """ISO 8601 in UTC; a time without an offset is UTC already, as Inspect reads it."""
    if created is None:
        return None
    try:
        moment = datetime.fromisoformat(created)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def _seed(spec: Spec, plan: Plan) -> int | None:
    seed = {**(spec.model_generate_config or {}), **_set(plan.config)}.get("seed")
    return seed if isinstance(seed, int) and abs(seed) < 2**63 else None


def _prompt_hash(plan: Plan | None) -> str | None:
    """Identity of the solvers with what was passed to them: templates, system messages, few-shot settings."""
    if plan is None or not plan.steps:
        return None
    return digest([[s.solver, s.params if s.params_passed is None else s.params_passed] for s in plan.steps], 16)


def _scorer_hash(spec: Spec) -> str | None:
    if not spec.scorers:
        return None
    return digest([[s.name, s.options or s.params or {}] for s in spec.scorers], 16)


def _judge(spec: Spec) -> str | None:
    """The grading model: the role of that name, else a scorer's parameter ``model``."""
    named = [_roles(spec).get("grader")]
    named += [(s.options or s.params or {}).get("model") for s in spec.scorers or []]
    return next((n[:_LONG] for n in named if isinstance(n, str) and n), None)


def _roles(spec: Spec) -> dict[str, str]:
    roles = {}
    for role, value in list((spec.model_roles or {}).items())[:_MAX_ARGS]:
        first = value[0] if isinstance(value, list) and value else value
        name = first.get("model") if isinstance(first, dict) else first
        if isinstance(name, str):
            roles[role] = name[:_LONG]
    return roles


def _run_status(log: Log) -> RunStatus:
    if log.salvaged:
        return RunStatus.PARTIAL
    if log.started:
        return RunStatus.STARTED
    return _STATUS.get(log.header.status or "", RunStatus.PARTIAL)


def _warnings(log: Log) -> list[str]:
    header, out = log.header, []
    spec = header.eval or Spec()
    if header.version not in KNOWN_VERSIONS:
        shown = "no version" if header.version is None else f"version {header.version}"
        out.append(f"the log says {shown}; versions 1 to 3 are known, so newer content may be missed")
    if not log.started and (header.status or "") not in _STATUS:
        out.append(f"the status {_text(header.status)} is not known; the run counts as partial")
    if spec.created is not None and _utc(spec.created) is None:
        out.append(f"the creation time {_text(spec.created)} is not a date and was left out")
    if log.unlogged:
        out.append("no samples were logged: only the log's own aggregates are known")
    if header.results and bytes(header.results.scorers):
        out.append("the results are in a form that was never released (results.scorers) and are not read")
    return out
