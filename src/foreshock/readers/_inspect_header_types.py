"""The part of an Inspect log's header that Foreshock reads, over every version since 2024; no field is required."""

from __future__ import annotations

from typing import Any

import msgspec

from foreshock.readers._inspect_types import NOTHING, Problem, Tree


class Dataset(Tree):
    """The dataset of a run; ``samples`` counts all of it, ``sample_ids`` those of the run."""

    name: str | None = None
    location: str | None = None
    samples: int | None = None
    sample_ids: list[int | str] | None = None
    shuffled: bool | None = None


class Scorer(Tree):
    """A scorer of the task; parameters are ``options`` or ``params``."""

    name: str | None = None
    options: dict[str, Any] | None = None
    params: dict[str, Any] | None = None


class Spec(Tree):
    """``eval``: what was run."""

    eval_set_id: str | None = None
    eval_id: str | None = None
    run_id: str | None = None
    created: str | None = None
    task: str | None = None
    task_id: str | None = None
    task_version: int | str | None = None
    task_file: str | None = None
    task_args: dict[str, Any] | None = None
    solver: str | None = None
    solver_args: dict[str, Any] | None = None
    tags: list[str] | None = None
    dataset: Dataset | None = None
    model: str | None = None
    model_generate_config: dict[str, Any] | None = None
    model_base_url: str | None = None
    model_args: dict[str, Any] | None = None
    model_roles: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    revision: dict[str, Any] | None = None
    packages: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    scorers: list[Scorer] | None = None


class Step(Tree):
    """One solver of the plan."""

    solver: str | None = None
    params: dict[str, Any] | None = None
    params_passed: dict[str, Any] | None = None


class Plan(Tree):
    """The solvers and their generation settings."""

    steps: list[Step] | None = None
    config: dict[str, Any] | None = None


class Metric(Tree):
    """One number of the log's own results."""

    name: str | None = None
    value: Any = None


class Result(Tree):
    """The metrics of one scorer, or of one key of its dictionary, under one reducer."""

    name: str | None = None
    scorer: str | None = None
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    metrics: dict[str, Metric] | None = None


class Results(Tree):
    """``results``: aggregates; ``scorer`` and ``metrics`` are of version 1."""

    total_samples: int | None = None
    completed_samples: int | None = None
    logged_samples: int | None = None
    scores: list[Result] | None = None
    scorer: Scorer | None = None
    metrics: dict[str, Metric] | None = None
    scorers: msgspec.Raw = NOTHING
    headline: dict[str, Any] | None = None


class Header(Tree):
    """Everything of a log but its samples."""

    version: int | None = None
    status: str | None = None
    eval: Spec | None = None
    plan: Plan | None = None
    results: Results | None = None
    error: Problem | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    invalidated: bool | None = None


class JsonLog(Header):
    """A ``.json`` log: header and samples in one object; no ``samples`` key means that none were logged."""

    samples: list[msgspec.Raw] | None = None
