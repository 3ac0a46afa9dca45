"""The trend alarm of one series: did it leave its own straight line on the link?"""

from __future__ import annotations

from dataclasses import replace

from foreshock._base import digest
from foreshock.alarms._alarm import Asked, TrendAlarm
from foreshock.alarms._judged import judged
from foreshock.alarms._prepared import Prepared, prepare
from foreshock.alarms._repeats import repeats_alarm
from foreshock.alarms._residuals import design_of, recursion
from foreshock.alarms._threshold import check_asked
from foreshock.alarms._training import training_alarm
from foreshock.curves import Curve
from foreshock.records import State

BASELINE = 8
"""Points from which the trend is learned before the first look, where nothing else is asked for."""


def trend_alarm(  # noqa: PLR0913 - what is asked for and what is known of the series
    curve: Curve,
    *,
    twin: Curve | None = None,
    looks: int = 60,
    level: float = 0.05,
    baseline_from: float | None = None,
    baseline: int = BASELINE,
    repeats: bool = False,
    running_best: bool = False,
    seed: int = 0,
) -> TrendAlarm:
    """Look at one series.

    Args:
        curve: The series.
        twin: Its continuous twin along the same axis.
        looks: Looks over which the rate is promised.
        level: Share of false alarms in all of them together.
        baseline_from: Place on the axis from which the trend is learned; None is the first point.
        baseline: Points from which it is learned before the first look.
        repeats: Whether the points are repeated runs of one model on the same items: then, with counts, the exact rule
            for a rate that does not change applies, and no trend is learned.
        running_best: Whether each score is the best so far; such a series is refused.
        seed: Kept in the record; nothing is drawn that depends on it.

    Raises:
        ConfigError: Looks, level or baseline are outside what was simulated.

    Examples:
        >>> import numpy as np
        >>> x = np.arange(1.0, 31.0)
        >>> noise = 0.1 * np.cos(9 * x)
        >>> calm, jump = Curve(x, noise, log_x=False), Curve(x, noise + 0.9 * (x > 26), log_x=False)
        >>> str(trend_alarm(calm).state), str(trend_alarm(jump).state), trend_alarm(jump).at
        ('ok', 'firing', 29.0)
    """
    check_asked(baseline, looks, level)
    asked = Asked(looks, level, baseline, seed)
    since = curve if baseline_from is None else curve.take(curve.x >= baseline_from)
    key = digest(
        [since.data_hash, None if twin is None else twin.data_hash, *asked, repeats, running_best, baseline_from], 16
    )
    start = TrendAlarm(State.NO_DATA, "none", False, "", asked, key, curve.name, unit=unit_of_change(since))
    if repeats and since.items is not None:
        return repeats_alarm(since, start)
    ready = prepare(since, baseline, running_best=running_best)
    if ready.refused:
        return _refused(start, ready)
    if since.trajectory:
        return training_alarm(since, ready, start)
    scores = recursion(ready.z, design_of(ready.x), ready.root**2).scores(ready.floor)[baseline:]
    return judged(since, ready, start, scores, twin)


def unit_of_change(curve: Curve) -> str:
    """Unit in which a change of a curve is told.

    Examples:
        >>> import numpy as np
        >>> x = np.array([1.0, 2.0])
        >>> [unit_of_change(Curve(x, x / 4, low=0.0, high=high)) for high in (1.0, None)]
        ['log-odds', 'log units']
    """
    if curve.low is None and curve.high is None:
        return "score"
    return "log units" if curve.low is None or curve.high is None else "log-odds"


def _refused(start: TrendAlarm, ready: Prepared) -> TrendAlarm:
    return replace(
        start,
        refused=ready.refused,
        unguaranteed=ready.refused,
        sentence=f"no alarm: {ready.refused}",
        needs=tuple(ready.needs),
    )
