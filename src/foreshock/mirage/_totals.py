"""Totals with a twin: published tables and logs that kept no responses, judged on their standard errors alone.

A total has no items to resample, so its uncertainty is drawn from what is said of it: a share of right answers from its
count (binomial, with Jeffreys's prior, which does not collapse at 0), anything else from its standard error. Models and
metrics are drawn apart. Their errors rise and fall together, because they answered the same items; drawn apart,
differences look less certain than they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from foreshock._base import MetricError, count_of
from foreshock.metrics import harness_metric
from foreshock.mirage._design import Floats
from foreshock.mirage._entry import Entry
from foreshock.mirage._measures import Hard, HardLink, Twin
from foreshock.mirage._resolution import jump_resolution
from foreshock.mirage._total_shares import (
    Shares,
    counts_of,
    highest,
    is_count,
    point_at,
    share_draws,
    shares_of,
    stream,
    twin_draws,
    worth,
)
from foreshock.series import Panel, Point, Reading, Series, reading


def totals_lack(hard: Series, twin: Series | None, *, kind: str | None = None) -> list[str]:
    """Why totals cannot be judged; empty when they can.

    Args:
        hard: Totals of the hard metric.
        twin: Totals of its twin; None is no reason, the verdict then says that there is none.
        kind: Kind of the twin, where its name does not tell.
    """
    reasons = []
    high = highest(hard)
    outside = [p for p in hard.points if not 0 <= p.value <= high]
    if outside:
        reasons.append(f"{hard.metric} of {outside[0].value:g} at {outside[0].label} is not within 0 and {high:g}")
    bare = [p for p, n in zip(hard.points, counts_of(hard), strict=True) if n is None and not p.stderr]
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
    link: HardLink | None = None,
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
    shares = shares_of(hard, twin)
    rows, replicates = _drawn(shares, hard, (twin, told), (seed, draws))
    word, assumed = _link(hard, link)
    known = harness_metric(hard.metric)
    checks = _checks(hard, twin, told, assumed=assumed)
    return Entry(
        panel=_panel(hard, shares.points, replicates),
        hard=Hard(
            hard.metric,
            word,
            chance=chance if chance is not None else hard.declared.chance or 0.0,
            ceiling=shares.high,
            binary=all(is_count(p, n, shares.high) for p, n in shares.each),
            parts=known.attempts if known is not None and word == "any-of-T" else None,
        ),
        twins=() if twin is None or told is None else (Twin(twin.metric, told.kind, high=told.high),),
        checks=checks,
        draws=rows,
        items=min((n for p, k in shares.each if (n := worth(p, k, shares.high))), default=1),
        remarks=_remarks(checks["few items"], twin),
    )


def _drawn(
    shares: Shares, hard: Series, beside: tuple[Series | None, Reading | None], how: tuple[int, int]
) -> tuple[dict[str, Floats], dict[str, list[Floats]]]:
    """Draws and replicates of both metrics."""
    (twin, told), (seed, draws) = beside, how
    rows = {hard.metric: share_draws(shares, stream(hard, seed), draws)}
    replicates = {hard.metric: [np.asarray(p.replicates or (p.value,), float) for p in shares.points]}
    if twin is not None and told is not None:
        there = [p for point in shares.points if (p := point_at(twin, point)) is not None]
        rows[twin.metric] = twin_draws(there, told, stream(twin, seed), draws)
        replicates[twin.metric] = [told.mean(np.asarray(p.replicates or (p.value,), float)) for p in there]
    return rows, replicates


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


def _link(hard: Series, given: HardLink | None) -> tuple[HardLink, bool]:
    """The link, and whether it had to be assumed."""
    known = harness_metric(hard.metric)
    found: Any = given or (known.link if known else None)
    return found or "all-of-N", found is None


def _checks(hard: Series, twin: Series | None, told: Reading | None, *, assumed: bool) -> dict[str, tuple[str, str]]:
    checks = {"few items": _few_items(hard)}
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
    # the places are told beside "few items": lines that lack the same are listed together by these words
    return ("the jump is not a matter of resolution: log-probabilities of the right answer by token would tell more",)


def _few_items(hard: Series) -> tuple[str, str]:
    """Exact comparison of the two models between which the hard metric jumps most."""
    high, values = highest(hard), [p.value for p in hard.points]
    if len(values) < 2:
        return "unchecked", "there is one model"
    i = int(np.argmax(np.diff(values)))
    n = [worth(p, k, high) for p, k in zip(hard.points, counts_of(hard), strict=True)]
    ends: list[Any] = [values[i] / high, n[i], values[i + 1] / high, n[i + 1]]
    jump = jump_resolution(*ends, looks=len(values) - 1)
    status = {"ruled out": "ruled-out", "possible": "possible"}.get(jump.answer, "unchecked")
    return status, f"{hard.points[i].label} to {hard.points[i + 1].label}: {jump.why}"
