"""Totals with a twin: published tables and logs that kept no responses, judged on their standard errors alone.

A total has no items to resample, so its uncertainty is drawn from what is said of it: a share of right answers from its
count (binomial, with Jeffreys's prior, which does not collapse at 0), anything else from its standard error. Models and
metrics are drawn apart. Their errors rise and fall together, because they answered the same items; drawn apart,
differences look less certain than they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from foreshock._base import MetricError, count_of
from foreshock.metrics import harness_metric
from foreshock.mirage._design import Floats
from foreshock.mirage._entry import Entry
from foreshock.mirage._measures import Hard, Twin, order_for
from foreshock.mirage._readings import Reading, base_name, reading
from foreshock.mirage._resolution import jump_resolution
from foreshock.series import Panel, Point, Series

# a logged standard error is that of n items that are right or wrong when it is this near to theirs
_NEAR = 0.1
# rounded standard errors give the number of items of a task to this
_SAME_N = 0.02


def twin_of(hard: Series, others: Iterable[Series]) -> Series | None:
    """The continuous total that stands beside a hard one: the declared twin, else a known one of the same runs.

    Known are those whose names tell that they measure the answers that the hard metric counts (perplexity, nll, Brier
    score, probability of the right option, ...), in the order that holds for twins of items. Word and byte perplexity,
    bits per byte and losses may be of whole texts and are taken only when they were declared.

    Args:
        hard: Totals of the hard metric.
        others: Totals of the same task, family, axis and conditions.
    """
    there = [one for one in others if one.metric != hard.metric and one.points and _same_runs(hard, one)]
    if hard.declared.twin is not None:
        named = [one for one in there if hard.declared.twin in (one.metric, base_name(one.metric))]
        return min(named, key=lambda one: (_filter(one) != _filter(hard), one.metric), default=None)
    order = order_for(_link(hard, None)[0])
    known = [(found, one) for one in there if (found := reading(one)) is not None and found.automatic]
    ranked = sorted(known, key=lambda k: (_filter(k[1]) != _filter(hard), order.index(k[0].kind), k[1].metric))
    return ranked[0][1] if ranked else None


def _same_runs(hard: Series, other: Series) -> bool:
    if (hard.task, hard.family, hard.axis) != (other.task, other.family, other.axis):
        return False
    keys = {point.run_key for point in other.points}
    return all(point.run_key in keys for point in hard.points)


def _filter(series: Series) -> str:
    return series.metric.partition(",")[2]


def totals_lack(hard: Series, twin: Series | None, *, kind: str | None = None) -> list[str]:
    """Why totals cannot be judged; empty when they can.

    Args:
        hard: Totals of the hard metric.
        twin: Totals of its twin; None is no reason, the verdict then says that there is none.
        kind: Kind of the twin, where its name does not tell.
    """
    reasons = []
    high = _high(hard)
    outside = [p for p in hard.points if not 0 <= p.value <= high]
    if outside:
        reasons.append(f"{hard.metric} of {outside[0].value:g} at {outside[0].label} is not within 0 and {high:g}")
    bare = [p for p, n in zip(hard.points, _counts(hard), strict=True) if n is None and not p.stderr]
    if bare:
        reasons.append(f"neither number of items nor standard error of {hard.metric} at {bare[0].label}")
    if twin is not None:
        found = reading(twin, kind)
        if found is None:
            reasons.append(f"{twin.metric} is not known to be a measurement of the right answer")
        elif wrong := found.impossible(twin):
            reasons.append(wrong)
    return reasons


def entry_of_totals(
    hard: Series,
    twin: Series | None,
    *,
    link: str | None = None,
    chance: float | None = None,
    kind: str | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Entry:
    """A line of totals in the form in which lines are judged.

    Args:
        hard: Totals of the hard metric.
        twin: Totals of its twin, as :func:`twin_of` finds it.
        link: Link of the hard metric; by its name where not given (``all-of-N`` where that does not tell).
        chance: Score of guessing; what was declared where not given, else 0.
        kind: Kind of the twin; by its name where not given.
        draws: Parametric draws.
        seed: Seed.

    Raises:
        MetricError: The totals cannot be judged; :func:`totals_lack` says why.
    """
    if lacking := totals_lack(hard, twin, kind=kind):
        raise MetricError(
            f"{hard.task}: {'; '.join(lacking)}",
            expected="totals with standard errors or numbers of items, and a twin on its own scale",
            do="log the responses, or give --n and --twin to foreshock add",
        )
    told = None if twin is None else reading(twin, kind)
    points = hard.points if twin is None else tuple(p for p in hard.points if _at(twin, p) is not None)
    word, assumed = _link(hard, link)
    guess = chance if chance is not None else hard.declared.chance or 0.0
    counts = [n for p, n in zip(hard.points, _counts(hard), strict=True) if p in points]
    high = _high(hard)
    rows = {hard.metric: _hard_draws(points, counts, high, (_stream(hard, seed), draws))}
    values = {hard.metric: [np.asarray(p.replicates or (p.value,), float) for p in points]}
    twins: tuple[Twin, ...] = ()
    if twin is not None and told is not None:
        beside = [p for point in points if (p := _at(twin, point)) is not None]
        rows[twin.metric] = _twin_draws(beside, told, (_stream(twin, seed), draws))
        values[twin.metric] = [told.mean(np.asarray(p.replicates or (p.value,), float)) for p in beside]
        twins = (Twin(twin.metric, told.kind, high=told.high),)
    checks = _checks(hard, twin, told, _counts(hard), assumed)
    binary = all(_binomial(p, n, high) for p, n in zip(points, counts, strict=True))
    return Entry(
        panel=_panel(hard, points, values),
        hard=Hard(hard.metric, word, chance=guess, ceiling=high, binary=binary),  # type: ignore[arg-type]
        twins=twins,
        checks=checks,
        draws=rows,
        remarks=_remarks(checks["few items"], twin),
        items=min((n for p, k in zip(points, counts, strict=True) if (n := _worth(p, k, high))), default=1),
    )


def _panel(hard: Series, points: tuple[Point, ...], replicates: dict[str, list[Floats]]) -> Panel:
    several = any(len(p.replicates) > 1 for p in points)
    return Panel(
        task=hard.task,
        family=hard.family,
        axis=hard.axis,
        axis_known=hard.axis_known,
        log_axis=hard.log_axis,
        points=tuple(p.label for p in points),
        x=np.array([p.x for p in points], float),
        items=(),
        values={},
        replicates=replicates if several else {},
        runs=tuple((p.run_key,) for p in points),
        trajectory=hard.axis == "step",
    )


def _at(series: Series, point: Point) -> Point | None:
    return next((p for p in series.points if p.run_key == point.run_key and p.x == point.x), None)


def _high(hard: Series) -> float:
    known = harness_metric(hard.metric)
    told = hard.declared.high if hard.declared.high is not None else known.high if known else None
    return float(told) if told else 1.0


def _link(hard: Series, given: str | None) -> tuple[str, bool]:
    """The link, and whether it had to be assumed."""
    known = harness_metric(hard.metric)
    found = given or (known.link if known else None)
    return found or "all-of-N", found is None


def _counts(hard: Series) -> list[int | None]:
    """Items behind each point; where all that are known agree, they hold for the others too: it is one task."""
    known = [p.n for p in hard.points if p.n]
    alike = bool(known) and max(known) - min(known) <= _SAME_N * max(known)
    return [p.n or (min(known) if alike else None) for p in hard.points]


def _worth(point: Point, n: int | None, high: float) -> int | None:
    """Items behind a point; from a standard error the number of 0/1 items that it is worth."""
    p = point.value / high
    if n or not point.stderr or not 0 < p < 1:
        return n
    return max(1, round(p * (1 - p) / (point.stderr / high) ** 2))


def _binomial(point: Point, n: int | None, high: float) -> bool:
    """Whether the total is one of ``n`` items that are right or wrong, as far as its standard error tells."""
    if not n:
        return False
    p = point.value / high
    expected = np.sqrt(p * (1 - p) / max(n - 1, 1))
    return point.stderr is None or abs(point.stderr / high - expected) <= _NEAR * expected + 1e-12


def _stream(series: Series, seed: int) -> np.random.Generator:
    """Randomness of its own for each series: tasks and conditions drawn alike would look as if they moved together."""
    name = "\0".join([series.task, series.family, series.metric, *(p.run_key for p in series.points)])
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _hard_draws(
    points: tuple[Point, ...], counts: list[int | None], high: float, how: tuple[np.random.Generator, int]
) -> Floats:
    rng, draws = how
    rows = np.empty((draws + 1, len(points)))
    for i, (point, n) in enumerate(zip(points, counts, strict=True)):
        rows[0, i] = point.value
        if n and _binomial(point, n, high):
            hits = point.value / high * n
            rows[1:, i] = high * rng.beta(hits + 0.5, n - hits + 0.5, draws)
        else:
            rows[1:, i] = np.clip(point.value + (point.stderr or 0.0) * rng.standard_normal(draws), 0.0, high)
    return rows


def _twin_draws(points: list[Point], told: Reading, how: tuple[np.random.Generator, int]) -> Floats:
    """A twin without a standard error is taken as it is: its sampling is then seen in the scatter of models only."""
    rng, draws = how
    value = np.array([p.value for p in points], float)
    error = told.error(value, np.array([p.stderr or 0.0 for p in points], float))
    return np.concatenate([told.mean(value)[None], told.mean(value) + error * rng.standard_normal((draws, value.size))])


def _checks(
    hard: Series, twin: Series | None, told: Reading | None, counts: list[int | None], assumed: bool
) -> dict[str, tuple[str, str]]:
    checks = {"few items": _few_items(hard, counts)}
    checks["unpaired totals"] = (
        "possible",
        "no item scores: each total was drawn from its own count or standard error, models and metrics apart; "
        "with shared items differences would be more certain than is said here",
    )
    if twin is None:
        checks["score scale"] = (
            "possible",
            f"{hard.metric} may be all or nothing for answers of several tokens, and jump although no token does: the "
            "log-probability of each token of the right answer, or the share of right digits, would tell",
        )
    elif told is not None:
        checks["what the twin measures"] = ("unchecked", f"{twin.metric}: {told.says}")
        bare = sum(not p.stderr for p in twin.points)
        if bare:
            checks["sampling of the twin"] = ("unchecked", f"{count_of(bare, 'point')} without a standard error")
    if assumed:
        checks["link"] = ("unchecked", f"the link of {hard.metric} is not known; all-of-N was assumed")
    return checks


def _remarks(few_items: tuple[str, str], twin: Series | None) -> tuple[str, ...]:
    """What stands in the title of a line without a twin: that counting does not make the jump, and what would tell."""
    if twin is not None or few_items[0] != "ruled-out":
        return ()
    place = few_items[1].partition(":")[0]
    return (f"{place}: not a matter of resolution; log-probabilities of the right answer by token would tell of what",)


def _few_items(hard: Series, counts: list[int | None]) -> tuple[str, str]:
    """Exact comparison of the two models between which the hard metric jumps most."""
    high, values = _high(hard), [p.value for p in hard.points]
    if len(values) < 2:
        return "unchecked", "there is one model"
    i = int(np.argmax(np.diff(values)))
    n = [_worth(p, k, high) for p, k in zip(hard.points, counts, strict=True)]
    ends: list[Any] = [values[i] / high, n[i], values[i + 1] / high, n[i + 1]]
    jump = jump_resolution(*ends, looks=len(values) - 1)
    status = {"ruled out": "ruled-out", "possible": "possible"}.get(jump.answer, "unchecked")
    return status, f"{hard.points[i].label} to {hard.points[i + 1].label}: {jump.why}"
