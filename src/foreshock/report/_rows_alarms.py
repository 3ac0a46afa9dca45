"""Rows of the tables about alarms: every metric against its own trend, and what many looks are worth."""

from __future__ import annotations

from typing import Any

import msgspec


class AlarmRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one line of models against its own trend.

    Attributes:
        id: Its name over time, which ``foreshock alarms ack`` and ``mute`` take.
        state: ``firing``, ``pending``, ``ok``, ``no-data`` or ``muted``.
        own_state: What its own rule says before all series are looked at together.
        verdict: ``break``, ``metric-only``, ``twin undecided``, ``bend`` or ``none``.
        title: The finding in a sentence.
        task, family, metric, axis: What is watched.
        metric_id: The metric as the store knows it.
        also: Metrics with the very same values.
        source: ``foreshock``, ``harness`` or totals.
        unit: Unit of its values.
        points: Points of the series.
        since, since_x: Where the change began.
        fired_at: First look at which it fired.
        baseline, baseline_label: From where its trend is learned, where that was acknowledged.
        acknowledged: When and why.
        muted_until: Last day on which it is muted.
        remeasured: Whether points that an earlier look saw have other values now.
        statistic, threshold: Largest value of the detector, and from which on it fires.
        looks_used: Looks since the baseline.
        direction: ``up`` or ``down``.
        size: Change in standard deviations of the noise.
        shape: ``jump`` or ``kink``.
        rule: ``trend``, ``repeats`` or ``training``.
        twin: Metric that it was read against.
        guaranteed: Whether the stated rate holds as far as its points can tell.
        unguaranteed: Why not.
        p, q, e: p-value over all looks; the same adjusted for all series of this look; e-value.
        ledger: Rules that keep an alarm that fires (``BH``, ``LORD++``, ``e-LOND``), or ``not kept``.
        found, counted: Whether LORD++ and e-LOND keep it over looks.
        key: Hash of the look: the same data are no second look.
        sentence: What is promised, with its assumptions.
        measured, measured_n: Rate of false alarms in simulated series, the worst over what was simulated, and how many.
        code: ``FS401``, or ``FS402`` for a bend.
        notes: What was done beyond the ordinary.
        needs: What would be enough.
        advice: What to do now.
    """

    id: str
    state: str
    own_state: str | None = None
    verdict: str | None = None
    title: str | None = None
    task: str | None = None
    family: str | None = None
    metric: str | None = None
    axis: str | None = None
    metric_id: str | None = None
    also: list[str] = []
    source: str | None = None
    unit: str | None = None
    points: int | None = None
    since: str | None = None
    since_x: float | None = None
    fired_at: str | None = None
    baseline: float | None = None
    baseline_label: str | None = None
    acknowledged: dict[str, str] | None = None
    muted_until: str | None = None
    remeasured: bool = False
    statistic: float | None = None
    threshold: float | None = None
    looks_used: int | None = None
    direction: str | None = None
    size: float | None = None
    shape: str | None = None
    rule: str | None = None
    twin: str | None = None
    guaranteed: bool = False
    unguaranteed: str | None = None
    p: float | None = None
    q: float | None = None
    e: float | None = None
    ledger: str | None = None
    found: bool = False
    counted: bool = False
    key: str | None = None
    sentence: str | None = None
    measured: float | None = None
    measured_n: int | None = None
    code: str | None = None
    notes: list[str] = []
    needs: list[dict[str, Any]] = []
    advice: str | None = None


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One look of the past.

    Attributes:
        look: Its number.
        at: When it was taken.
        release: What the user calls it.
        first: Whether nothing was known before it.
        series: Series looked at.
        firing, kept: Of these, firing by themselves, and left among all of them.
        found: Ids of alarms that LORD++ kept there.
        p: p-value of the look as a whole.
        lord_level, discovery: Level that LORD++ gave it, and whether it was reached.
        e_lond_share, e_lond_series: What e-LOND gave each series, and how many it looked at.
        counted: Ids of alarms that e-LOND counted there.
    """

    look: int
    at: str | None = None
    release: str | None = None
    first: bool = False
    series: int | None = None
    firing: int | None = None
    kept: int | None = None
    found: list[str] = []
    p: float | None = None
    lord_level: float | None = None
    discovery: bool | None = None
    e_lond_share: float | None = None
    e_lond_series: int | None = None
    counted: list[str] = []


class BudgetRow(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent of the rate of false alarms, and what the next look gets.

    Attributes:
        level: Rate over looks that is kept.
        looks: Looks so far.
        first_look: Whether this is the first: then no rate over looks is claimed.
        repeated: Whether the data were looked at before; that spends nothing.
        lord_looks, lord_discoveries, lord_spent, lord_next_level: Of LORD++.
        e_lond_discoveries, e_lond_spent, e_lond_next_level: Of e-LOND.
        sentence: All of it in a sentence.
    """

    level: float | None = None
    looks: int | None = None
    first_look: bool = False
    repeated: bool = False
    lord_looks: int | None = None
    lord_discoveries: int | None = None
    lord_spent: float | None = None
    lord_next_level: float | None = None
    e_lond_discoveries: int | None = None
    e_lond_spent: float | None = None
    e_lond_next_level: float | None = None
    sentence: str | None = None
