"""What a trend alarm says of one series, and the rate that it promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from foreshock.alarms._bend import Bend
from foreshock.alarms._twin import Change, TwinView
from foreshock.records import Finding, Need, State, Subject


class Asked(NamedTuple):
    """What the caller asked for."""

    looks: int
    level: float
    baseline: int
    seed: int


@dataclass(frozen=True, slots=True)
class TrendAlarm:
    """What is said of one series.

    Attributes:
        state: ``ok``, ``pending`` (the statistic crossed, but a curve tells the points as well; or one more such look
            would fire), ``firing`` or ``no-data``.
        verdict: ``break``, ``metric-only``, ``twin undecided`` where it fires; ``bend`` where a curve does; ``none``.
        guaranteed: Whether the printed rate holds for this series as far as its own points can tell.
        unguaranteed: Why not.
        at: Place on the axis of the first look at which it fired; of a bend, of the look at which it left its line.
        statistic: Largest value of the detector so far.
        threshold: Value from which on it fires.
        e: e-value; only repeated runs of one model have one (scores of the trend rule are clipped).
        p: p-value of the largest value so far, over all looks; None where nothing is guaranteed.
        look_p: Two-sided p-value of each point after the baseline given the points before it; independent of each
            other where the guarantee holds.
        looks_used: Points after the baseline.
        direction: ``up`` or ``down``.
        size: Change in standard deviations of the noise: of the level for a jump, of the slope over the points since
            for a kink.
        change: The same with its interval, on the link.
        shape: ``jump`` or ``kink``.
        began: Place on the axis at which the change began, as far as can be told.
        bend: Curvature, where it is certain.
        twin: What the twin says.
        sentence: The rate that is promised, or why there is none.
        rule: ``trend``, ``repeats`` or ``training``.
        notes: What was done beyond the ordinary.
        needs: What would be enough, where something lacks.
        refused: Why there is no alarm at all.
        asked: Looks, level, baseline and seed.
        data_hash: Hash of the points and of what was asked: the key of this look.
        name: What the curve is called.
        unit: Unit of ``change`` in words: log-odds, log units, or the score's own.
    """

    state: State
    verdict: str
    guaranteed: bool
    sentence: str
    asked: Asked
    data_hash: str
    name: str = ""
    rule: str = "trend"
    unguaranteed: str | None = None
    at: float | None = None
    statistic: float | None = None
    threshold: float | None = None
    e: float | None = None
    p: float | None = None
    look_p: tuple[float, ...] = ()
    looks_used: int = 0
    direction: str | None = None
    size: float | None = None
    change: Change | None = None
    shape: str | None = None
    began: float | None = None
    bend: Bend | None = None
    twin: TwinView | None = None
    notes: tuple[str, ...] = ()
    needs: tuple[Need, ...] = field(default=())
    refused: str | None = None
    unit: str = "score"

    def finding(self, subject: Subject, since: str | None = None) -> Finding:
        """The alarm in the form that every room shares: FS401, or FS402 where it is a bend.

        Args:
            subject: What it is about.
            since: What the place is called at which the change began; None tells the place on the axis.
        """
        from foreshock.alarms._finding import compose

        return compose(self, subject, since)


def promise(level: float, looks: int) -> str:
    """The rate that is promised, and for what.

    Examples:
        >>> promise(0.05, 60)[:59]
        'at most 5% over the next 60 looks for this series, if score'
    """
    return (
        f"at most {100 * level:g}% over the next {looks} looks for this series, if scores follow a straight line on "
        "the link with independent noise of constant size; not for curved trends, running bests or checkpoints of one "
        "run."
    )
