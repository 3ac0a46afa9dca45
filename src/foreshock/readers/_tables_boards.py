"""Boards that many people have: tables of scores recognised by their header."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foreshock._base import AmbiguousError
from foreshock.readers._items_roles import shown
from foreshock.readers._tables_axis import plain_name
from foreshock.readers._tables_layout import Layout, Value
from foreshock.readers._tables_roles import filler

_EPOCH_PREFIX = "external_benchmark_"
# what Epoch's tables of other people's results name their score, best first
_EPOCH_SCORES = (
    *("EM", "Overall accuracy", "Accuracy", "Score", "Score (AVG@5)", "Average", "Challenge score"),
    *("Average progress", "Percent correct", "Unguided % Solved", "ACW Country %"),
)
_EPOCH_ERRORS = {"Average progress": "Average Standard error"}
_EPOCH_PARTS = ("Tools", "Edit format")


def epoch(columns: Sequence[str], stem: str) -> Layout | None:
    """Epoch AI's tables: its own runs (``benchmarks_runs.csv``), and those of others (``external_benchmark_*.csv``)."""
    best = "Best score (across scorers)"
    if {"model", "task", best, "started_at"} <= {*columns}:
        roles = _there(columns, {"model": "model", "task": "task", "date": "started_at", "version": "task version"})
        scorers = "Scores" if "Scores" in columns else None
        # Inspect's standard error, as the logs behind the links hold it
        return Layout(roles, (Value(best, scorers=scorers, interval="stderr"),), preset="epoch", lenient=True)
    if not {"id", "Model version", "Source"} <= {*columns}:
        return None
    score = next((c for c in _EPOCH_SCORES if c in columns), None)
    if score is None:
        return None
    apart = [c for c in ("Source", *_EPOCH_PARTS) if c in columns]
    roles = _there(columns, {"model": "Model version", "shots": "Shots", "date": "Date added"})
    roles["condition"] = "+".join(apart)
    error = _EPOCH_ERRORS.get(score)
    return Layout(
        roles,
        (Value(score, stderr=error if error in columns else None),),
        fill=filler(roles, columns),
        task=stem.removeprefix(_EPOCH_PREFIX),
        lenient=True,
        preset="epoch",
        notes=("results of several sources: the source is a condition, since each measured in its own way",),
    )


def arc_agi(columns: Sequence[str], stem: str) -> Layout | None:  # noqa: ARG001 - the same for all boards
    """The board of ARC-AGI: a system in each row, its share of tasks solved under ARC-AGI-1 and ARC-AGI-2."""
    plain = {plain_name(c): c for c in columns}
    model = plain.get("ai_system") or plain.get("system")
    scores = [c for name, c in plain.items() if name.startswith("arc_agi_") and name[8:9].isdigit()]
    scores = [c for c in scores if not {"cost", "task"} & {*plain_name(c).split("_")}]
    if model is None or not scores:
        return None
    found = {"model": model}
    for role, names in {"organisation": ("author", "organization", "lab"), "condition": ("system_type",)}.items():
        column = next((plain[name] for name in names if name in plain), None)
        if column is not None:
            found[role] = column
    values = [Value(c, task=c, metric="solved", kind="hard") for c in scores]
    cost = next((c for name, c in plain.items() if "cost" in name.split("_")), None)
    notes = ("cost is not read: it is a property of the run, not a score",) if cost else ()
    return Layout(found, tuple(values), preset="arc-agi", notes=notes, lenient=True)


def hle(columns: Sequence[str], stem: str) -> Layout | None:  # noqa: ARG001 - the same for all boards
    """The board of Humanity's Last Exam: accuracy in percent with half of its 95% interval, and calibration error."""
    plain = {plain_name(c): c for c in columns}
    model = plain.get("model")
    accuracy = next((c for name, c in plain.items() if name.startswith("accuracy")), None)
    calibration = next((c for name, c in plain.items() if name.startswith("calibration_error")), None)
    if model is None or accuracy is None or calibration is None:
        return None
    return Layout(
        {"model": model},
        (
            Value(accuracy, metric="accuracy", interval="ci95", kind="hard"),
            Value(calibration, metric="calibration_error", kind="continuous", hundred=True),
        ),
        task="hle",
        preset="hle",
    )


BOARDS: dict[str, Callable[[Sequence[str], str], Layout | None]] = {"arc-agi": arc_agi, "epoch": epoch, "hle": hle}
"""Name of a preset to the function that lays a table out, or says that it is no such board."""


def recognised(columns: Sequence[str], stem: str) -> Layout | None:
    """The layout of a known board, or None."""
    return next((found for board in BOARDS.values() if (found := board(columns, stem)) is not None), None)


def asked(name: str, columns: Sequence[str], stem: str, where: str) -> Layout:
    """The layout of the board that the user named.

    Raises:
        AmbiguousError: The table does not have its columns.
    """
    found = BOARDS[name](columns, stem)
    if found is None:
        raise AmbiguousError(
            f"not laid out like the preset {name}; the columns are {shown(columns)}",
            expected=(BOARDS[name].__doc__ or "").partition("\n")[0],
            do="leave --preset out, or name the columns: --x COLUMN --y COLUMN --group COLUMN",
            where=where,
        )
    return found


def _there(columns: Sequence[str], roles: dict[str, str]) -> dict[str, str]:
    return {role: column for role, column in roles.items() if column in columns}
