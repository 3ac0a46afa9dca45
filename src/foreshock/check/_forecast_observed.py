"""Models that lack a score, foretold from what they score elsewhere: the observational axis as rows of a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from foreshock._base import count_of
from foreshock.check._forecast_judge import ForecastOptions, number
from foreshock.check._forecast_lines import ForecastLine
from foreshock.check._forecast_over import ABILITY, Others
from foreshock.curves import KnownModels, ObservedForecast, observe
from foreshock.series import AXES

ROUTE, WHY = "observational", "unscored"
PROMISE = (
    "nothing for models of another kind than those that have the score: what is told is the share that such intervals "
    "held inside those"
)
_NAMED = 6


class _Models(NamedTuple):
    """Models along one axis with what they score.

    Attributes:
        line: The score to foretell, of some family.
        names: (family, label) of each model.
        x: Places on the axis, shape (models,).
        benchmarks: Scores of other tasks, NaN where missing, shape (models, tasks).
        score, items: The score to foretell and the items behind it, NaN where missing, shape (models,).
    """

    line: ForecastLine
    names: list[tuple[str | None, str]]
    x: np.ndarray
    benchmarks: np.ndarray
    score: np.ndarray
    items: np.ndarray


def observed_tables(
    lines: Sequence[ForecastLine], others: Others, options: ForecastOptions
) -> dict[str, list[dict[str, Any]]]:
    """Rows of ``forecast`` and ``curves`` for the models that lack a score and have others.

    A score between two ends is foretold from the first principal components of all other tasks, which are found on the
    models that have the score, of whatever family (:func:`foreshock.curves.observe`). Where the order of models is
    known the intervals are widened by what was shown from smaller models to larger ones.

    Args:
        lines: What is forecast; a task and metric is looked at once, over all families.
        others: Scores of all tasks.
        options: Level and seed.
    """
    found: dict[str, list[dict[str, Any]]] = {"forecast": [], "curves": []}
    for task, metric in dict.fromkeys((line.task, line.metric) for line in lines):
        mine = [o for o in others.measured if (o.task, o.metric) == (task, metric)]
        for axis in dict.fromkeys(one.axis for one in mine):
            models = _models([one for one in mine if one.axis == axis], others)
            if models is not None:
                rows, curve = _told(models, options)
                found["forecast"] += rows
                found["curves"].append(curve)
    return found


def _models(mine: Sequence[ForecastLine], others: Others) -> _Models | None:
    """All models on one axis; None where the score has an open end, or no model lacks it."""
    first = mine[0]
    if first.curve.low is None or first.curve.high is None:
        return None
    axis, task = first.axis, first.task
    beside = [o for o in others.speaking if o.axis == axis and o.task != task]
    tasks = list(dict.fromkeys(str(o.task) for o in beside))
    rows: dict[tuple[str | None, float], int] = {}
    names: list[tuple[str | None, str]] = []
    for one in (*mine, *beside):
        for x, label in zip(one.curve.x.tolist(), one.labels, strict=True):
            if rows.setdefault((one.family, x), len(names)) == len(names):
                names.append((one.family, label))
    table = np.full((len(names), len(tasks)), np.nan)
    score, items = np.full(len(names), np.nan), np.full(len(names), np.nan)
    for one in beside:
        table[[rows[one.family, x] for x in one.curve.x.tolist()], tasks.index(str(one.task))] = one.curve.y
    for one in mine:
        at = [rows[one.family, x] for x in one.curve.x.tolist()]
        score[at] = one.curve.y
        items[at] = np.nan if one.curve.items is None else one.curve.items
    if not (np.isnan(score) & ~np.isnan(table).all(axis=1)).any():
        return None
    return _Models(first, names, np.array([x for _, x in rows]), table, score, items)


def _told(models: _Models, options: ForecastOptions) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A row for each model that lacks the score, and the row of ``curves`` that they rest on."""
    line = models.line
    known = np.flatnonzero(~np.isnan(models.score))
    new = np.flatnonzero(np.isnan(models.score) & ~np.isnan(models.benchmarks).all(axis=1))
    assert line.curve.low is not None
    assert line.curve.high is not None
    training = KnownModels(
        models.benchmarks[known], models.score[known], line.curve.low, line.curve.high, models.items[known],
        [str(models.names[i][0]) for i in known], models.x[known] if line.axis in AXES and line.axis_known else None,
    )  # fmt: skip
    made = observe(training, models.benchmarks[new], level=options.level, seed=options.seed)
    placed = {**line.placed, "group": f"{line.task} · {line.metric} · models without it", "family": None}
    placed |= {"axis": ABILITY, "axis_known": True}
    where = _places(made, models.benchmarks)
    empty = dict.fromkeys(("finding_id", "persistence", "persistence_low", "persistence_high", "observed", "inside"))
    rows = [
        {
            **placed, **empty, "family": models.names[i][0], "label": models.names[i][1], "x": number(where[i]),
            "why": WHY, "route": ROUTE, "y_hat": number(made.value[k]), "low": number(made.low[k]),
            "high": number(made.high[k]), "level": options.level, "refused": made.refused or made.lacking[k],
            "enough": made.enough, "probability": None,
        }
        for k, i in enumerate(new)
    ]  # fmt: skip
    points = [
        {
            "x": float(where[i]),
            "value": float(models.score[i]),
            "label": models.names[i][1],
            "n": _whole(models.items[i]),
        }
        for i in known[np.argsort(where[known], kind="stable")]
        if np.isfinite(where[i])
    ]
    return rows, _curve_row(placed, made, points, [models.names[i][1] for i in new[made.beyond]])


def _places(made: ObservedForecast, benchmarks: np.ndarray) -> np.ndarray:
    """First component of every model, shape (models,); NaN where it is not known."""
    return np.full(len(benchmarks), np.nan) if made.abilities is None else made.abilities.of(benchmarks)[:, 0]


def _whole(items: float) -> int | None:
    return None if np.isnan(items) else int(items)


def _curve_row(
    placed: dict[str, Any],
    made: ObservedForecast,
    points: list[dict[str, Any]],
    beyond: list[str],
) -> dict[str, Any]:
    notes = []
    if made.abilities is not None:
        many, share = len(made.abilities.explained), made.abilities.explained.sum()
        notes = [
            f"foretold from the first {count_of(many, 'principal component')} of "
            f"{int(made.abilities.used.sum())} other tasks over the models that have the score, {share:.0%} of their "
            "variance; places are the first one"
        ]
    if beyond:
        more = f" and {len(beyond) - _NAMED:,} more" if len(beyond) > _NAMED else ""
        notes.append(f"outside the abilities of the models that have the score: {', '.join(beyond[:_NAMED])}{more}")
    act = "Score one of these models to see whether the intervals hold for their kind."
    if made.refused is not None:
        act = f"Nothing is foretold: {made.enough} would do." if made.enough else "Nothing is foretold."
    return {
        **placed, "finding_id": None, "log_axis": False, "link": "logit y", "points": points, "notes": notes,
        "guarantee": None if made.refused else PROMISE, "basis": made.basis or None, "refused": made.refused,
        "enough": made.enough, "data_hash": made.record.data_hash, "seed": made.record.seed, "advice": act,
    }  # fmt: skip
