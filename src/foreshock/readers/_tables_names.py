"""Names under which the columns of a table of aggregates go."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.readers._tables_axis import AXES, plain_name

ROLES = (
    *("model", "task", "metric", "y", "stderr", "n", "date", "family", "shots", "seed", "subset", "condition"),
    *("version", "organisation"),
    *AXES,
    "x",
)
ALIASES = {"score": "y", "organization": "organisation", "task_version": "version"}
# these may number the rows of any table
NUMBERS = frozenset({"id", "index", "idx", "uid"})
# Per role, names in order of preference; two names of one tier in a table are ambiguous.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "model": (("model", "model_name"), ("model_version", "model_id", "llm", "ai_system"), ("name", "system")),
    "task": (("task", "task_name"), ("benchmark", "dataset", "eval")),
    "metric": (("metric", "metric_name"),),
    "y": (("score", "value"), ("accuracy", "acc", "exact_match", "em"), ("mean", "average", "overall_accuracy")),
    "stderr": (("stderr", "standard_error", "std_err", "se", "sem"),),
    "n": (("n", "n_items", "num_items", "n_samples", "num_samples"), ("items", "total", "number_of_data")),
    "date": (("date", "created", "created_at", "started_at"), ("date_added", "evaluated_at", "eval_date")),
    "family": (("family", "model_family"),),
    "shots": (("shots", "num_fewshot", "n_shot", "fewshot"), ("number_of_shots", "num_shots", "n_shots")),
    "seed": (("seed", "replicate"),),
    "subset": (("subset", "subject", "category"),),
    "version": (("task_version", "benchmark_version"),),
    "organisation": (("organisation", "organization", "developer", "author", "lab"),),
}
_ERRORS = ("standard_error", "stderr", "std_err", "se")


def matches(role: str, columns: Sequence[str]) -> list[str]:
    """Columns whose name says that they play ``role``, of the best tier that occurs."""
    hits = ([c for c in columns if plain_name(c) in tier] for tier in NAMES[role])
    return next(filter(None, hits), [])


def errors_of(columns: Sequence[str]) -> dict[str, str]:
    """Columns that hold, by their names, standard errors, each with the column of scores that they belong to.

    Examples:
        >>> errors_of(["model", "MMLU", "MMLU stderr"]), errors_of(["MMLU", "ARC stderr"])
        ({'MMLU stderr': 'MMLU'}, {})
    """
    plain = {column: plain_name(column) for column in columns}
    named = {name: column for column, name in reversed(plain.items())}
    found = {}
    for column, name in plain.items():
        before = next((name.removesuffix(f"_{end}") for end in _ERRORS if name.endswith(f"_{end}")), None)
        if before in named:
            found[column] = named[before]
    return found
