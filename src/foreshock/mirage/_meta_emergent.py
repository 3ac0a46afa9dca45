"""Is a series emergent? By the emergence score, read against a steady rise seen through the series' own noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foreshock.metrics import harness_metric
from foreshock.mirage._case import POINTS
from foreshock.mirage._design import Floats
from foreshock.mirage._emergence import emergence_p
from foreshock.mirage._judgement import Judgement, Line
from foreshock.records import Subject
from foreshock.series import TWIN_ORDER, Series
from foreshock.stats import normal_quantile

ALPHA = 0.05
"""Level at which a series counts as emergent, on its own and unadjusted: the excess over it is what is looked at."""

DRAWS = 2000
# right-or-wrong metrics that speak for a task
_SPEAK = ("multiple_choice_grade", "exact_match")
NO_ERRORS = "neither items nor standard errors"
"""Why a series of totals cannot be compared with a null."""
# the null's line must not meet the ends of [0, 1], which are no ends of a scale that was only moved there
_INSIDE = 0.25, 0.5


@dataclass(frozen=True, slots=True)
class Triplet:
    """A task, a metric and a model family, and whether the one is emergent under the other.

    Attributes:
        task, metric, family: What it is; ``family`` is None for tasks of which none was named.
        kind: ``hard``, ``continuous`` or ``unknown``.
        link: How the metric hangs on what lies beneath it; None when not known.
        emergent: None when it cannot be told.
        by: ``score``, ``verdict`` or ``list``.
        score, p: Emergence score and its p-value under a steady rise, where it rests on these.
        points: Models behind it.
        why: Why it cannot be told.
        group: Family whose models it shares: several lines of one family (sizes, conditions) move together.
        rise: Largest value less the first one, in the metric's own unit; None where it was not looked at.
    """

    task: str
    metric: str
    family: str | None
    kind: str
    link: str | None
    emergent: bool | None
    by: str = "list"
    score: float | None = None
    p: float | None = None
    points: int | None = None
    why: str = ""
    group: str | None = None
    rise: float | None = None

    @property
    def cluster(self) -> str | None:
        """Family whose models it shares with others."""
        return self.group if self.group is not None else self.family

    def row(self) -> dict[str, Any]:
        """Row of the table ``triplets``."""
        finite = self.score is not None and math.isfinite(self.score)
        return {
            "task": self.task,
            "metric": self.metric,
            "family": self.family,
            "group": self.cluster,
            "kind": self.kind,
            "link": self.link,
            "emergent": self.emergent,
            "by": self.by,
            "emergence": self.score if finite else None,
            "emergence_infinite": self.score is not None and not finite,
            "emergence_p": self.p,
            "points": self.points,
            "rise": self.rise,
            "why": self.why,
        }


def emergent(
    values: ArrayLike,
    rng: np.random.Generator,
    *,
    items: ArrayLike | None = None,
    spread: ArrayLike | None = None,
    draws: int = DRAWS,
) -> tuple[float, float]:
    """Emergence score of a series with its p-value under a steady rise.

    Args:
        values: In the order of the axis, higher is better, shape (points,).
        rng: Source of randomness.
        items: Right-or-wrong items behind each value, which then is a share of them.
        spread: Standard error of each value. Without ``items`` and ``spread`` the scatter about the straight line is
            taken for it: a jump widens that scatter itself, so fewer jumps are found than with a known error.
        draws: Monte-Carlo draws.

    Returns:
        Score (maybe infinite) and one-sided p-value.

    Examples:
        >>> score, p = emergent([0.0, 0.0, 0.0, 0.0, 0.9], np.random.default_rng(0), items=500)
        >>> score, p < 0.01
        (inf, True)
    """
    v = np.asarray(values, float)
    if items is not None and spread is None:
        return emergence_p(v, items, rng, draws=draws)
    span = float(v.max() - v.min())
    if span <= 0:
        return 0.0, 1.0
    error = _scatter(v) if spread is None else np.broadcast_to(np.asarray(spread, float), v.shape)
    low, width = _INSIDE
    moved = low + width * (v - v.min()) / span
    return emergence_p(moved, 1, rng, spread=error * width / span, draws=draws)


def _scatter(v: Floats) -> Floats:
    """Scatter about the straight line in the order of the models."""
    order = np.arange(v.size) - (v.size - 1) / 2
    rest = v - v.mean() - order * (order @ v) / (order @ order)
    return np.full(v.size, float(np.sqrt(rest @ rest / max(v.size - 2, 1))))


KINDS = {"hard": ("hard", True), "continuous": ("continuous", True), "loss": ("continuous", False)}
"""What a metric may be declared to be: its kind, and whether more of it is better."""


def series_triplets(
    series: Iterable[Series],
    *,
    alpha: float = ALPHA,
    seed: int = 0,
    groups: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    errors: str = "known",
) -> list[Triplet]:
    """Triplets of series of totals.

    Kind, link and direction are what was declared of the metric, else what is known of its name; a metric of unknown
    direction is not told. A perplexity is read as its logarithm. Each series has a generator of its own, so that a
    triplet does not depend on what else was looked at.

    Args:
        series: Series of any axis.
        alpha: Level of the emergence score's p-value.
        seed: Seed.
        groups: Family whose models a line shares, by the line's name.
        kinds: What metrics are, by name, one of :data:`KINDS`; this wins over everything else.
        errors: ``known``: series without items or standard errors are not told. ``scatter``: the scatter about the
            straight line stands for the error of every series, also where it is known: kinds of metrics can be compared
            only on equal terms, and many jumps are lost by it.

    Raises:
        ValueError: Neither.
    """
    if errors not in ("known", "scatter"):
        raise ValueError(f"errors={errors!r}, expected known or scatter")
    how = alpha, seed, errors == "scatter"
    return [_of_series(_declared(one, kinds or {}), how, groups or {}) for one in series]


def _declared(one: Series, kinds: Mapping[str, str]) -> Series:
    if one.metric not in kinds:
        return one
    kind, better = KINDS[kinds[one.metric]]
    return replace(one, declared=replace(one.declared, kind=kind, higher_is_better=better))


def _of_series(one: Series, how: tuple[float, int, bool], groups: Mapping[str, str]) -> Triplet:
    alpha, seed, scatter = how
    known, said = harness_metric(one.metric), one.declared
    kind = said.kind or (known.kind if known else None) or "unknown"
    better = said.higher_is_better if said.higher_is_better is not None else known.higher_is_better if known else None
    link, group, n = known.link if known else None, groups.get(one.family), len(one.points)
    made = Triplet(one.task, one.metric, one.family, kind, link, None, by="score", points=n, group=group)
    if lacking := _lacking(one, better):
        return replace(made, why=lacking)
    logs = known is not None and known.low == 1 and known.high is None
    values, spread = _oriented(one, better is not False, logs=logs)
    made = replace(made, rise=float(values.max() - values[0]))
    rng = _own_rng(seed, made)
    if scatter:
        score, p = emergent(values, rng)
    elif _counted(one, kind, values):
        score, p = emergent(values, rng, items=[point.n or 0 for point in one.points])
    elif spread is not None:
        score, p = emergent(values, rng, spread=spread)
    else:
        return replace(made, why=NO_ERRORS)
    return replace(made, emergent=bool(p <= alpha), score=score, p=p)


def _own_rng(seed: int, made: Triplet) -> np.random.Generator:
    name = "|".join((made.task, made.metric, made.family or ""))
    return np.random.default_rng([seed, *name.encode("utf-8", "surrogatepass")])


def _counted(one: Series, kind: str, values: Floats) -> bool:
    """Whether each value is a share of right answers: F1 and ROUGE lie in [0, 1] as well, and count none."""
    known = harness_metric(one.metric)
    averaged = known is not None and known.link is None and any(point.stderr for point in one.points)
    inside = bool(values.min() >= 0 and values.max() <= 1)
    return kind != "continuous" and inside and not averaged and all(point.n for point in one.points)


def _lacking(one: Series, better: bool | None) -> str:
    if not one.axis_known:
        return "no axis"
    if len(one.points) < POINTS:
        return f"{len(one.points)} of >= {POINTS} models"
    if better is None:
        return f"it is not known whether more of {one.metric} is better"
    if not all(math.isfinite(point.value) for point in one.points):
        return "values that are not finite"
    return ""


def _oriented(one: Series, better: bool, *, logs: bool) -> tuple[Floats, Floats | None]:
    """Values of which more is better, with their standard errors where all are known and none is 0."""
    values = np.array([point.value for point in one.points], float)
    errors = np.array([point.stderr or math.nan for point in one.points], float)
    if logs and values.min() > 0:
        values, errors = np.log(values), errors / values
    return values if better else -values, errors if np.isfinite(errors).all() else None


def judgement_triplets(judgements: Sequence[Judgement], *, alpha: float = ALPHA, seed: int = 0) -> list[Triplet]:
    """Triplets of the hard metric and of the twin of every judgement, by the emergence score.

    The standard error of each point is read from its 95% interval over items.
    """
    return [
        _of_line(line, told.finding.subject, alpha, seed)
        for told in judgements
        for line in told.lines
        if line.role in ("hard", "twin")
    ]


def _of_line(line: Line, subject: Subject, alpha: float, seed: int) -> Triplet:
    kind = "hard" if line.role == "hard" else "continuous"
    link = known.link if (known := harness_metric(line.metric)) else None
    value, spread = (
        np.asarray(line.value, float),
        np.asarray(line.high - line.low, float) / (2 * normal_quantile(0.975)),
    )
    good = np.isfinite(value)
    value, spread, n = value[good], spread[good], int(good.sum())
    made = Triplet(subject.task or "", line.metric, subject.model_family, kind, link, None, by="score", points=n)
    if n < POINTS:
        return replace(made, why=f"{n} of >= {POINTS} models")
    made = replace(made, rise=float(value.max() - value[0]))
    share = kind == "hard" and line.n > 0 and value.min() >= 0 and value.max() <= 1
    rng = _own_rng(seed, made)
    score, p = emergent(value, rng, items=line.n) if share else emergent(value, rng, spread=spread)
    return replace(made, emergent=bool(p <= alpha), score=score, p=p)


def verdict_triplets(rows: Iterable[Mapping[str, Any]]) -> list[Triplet]:
    """Triplets by verdict: the hard metric is emergent under ``mirage`` and ``break``, the twin only under ``break``.

    Nothing is said of unresolved lines. The twin alone can by this rule never be emergent, so the swap has no test.

    Args:
        rows: Rows of the table ``verdicts``.

    Examples:
        >>> row = {"task": "t", "family": "f", "hard": "acc", "twin": "nll", "verdict": "mirage", "reason": ""}
        >>> [one.emergent for one in verdict_triplets([row])]
        [True, False]
    """
    found = []
    for row in rows:
        word = row["verdict"]
        for metric, kind, words in (
            (row["hard"], "hard", ("mirage", "break")),
            (row["twin"], "continuous", ("break",)),
        ):
            if metric is not None:
                said = None if word == "unresolved" else word in words
                known = harness_metric(metric) if kind == "hard" else None
                link, why = known.link if known else None, row["reason"] if said is None else ""
                place = row["task"] or "", metric, row["family"]
                found.append(Triplet(*place, kind, link, said, by="verdict", points=row.get("points"), why=why))
    return found


def rank(metric: str, kind: str) -> tuple[int, str]:
    """Place of a metric among those that may stand for its kind; fixed before any value is looked at.

    Continuous: the order of twins. Hard: right or wrong before overlaps and averages.

    Examples:
        >>> sorted(["bleu", "acc", "exact_match"], key=lambda name: rank(name, "hard"))
        ['exact_match', 'acc', 'bleu']
    """
    base = metric.partition("(")[0]
    if kind == "continuous":
        return (TWIN_ORDER.index(base) if base in TWIN_ORDER else len(TWIN_ORDER)), metric
    if base in _SPEAK:
        return _SPEAK.index(base), metric
    known = harness_metric(metric)
    right_or_wrong = known is not None and known.link is not None and known.high == 1
    return len(_SPEAK) + (not right_or_wrong), metric
