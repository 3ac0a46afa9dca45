"""A difference between two conditions as a line to be judged.

It is judged on the scale on which it was measured (identity), because it can be negative, and no link takes negative
values. A straight map of a smooth twin is smooth, so through this link a metric alone never makes a jump: the verdict
is ``break``, ``smooth`` or ``unresolved``, never ``mirage``. Where the hard metric's difference jumps and its twin's
does not, the jump may be the metric's or not, and nothing here could tell; it stays ``unresolved``. The order of twins
and what may carry a break are those of the metrics under either condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from foreshock._base import MetricError
from foreshock.mirage._design import Floats
from foreshock.mirage._entry import Entry
from foreshock.mirage._measures import Hard, Twin
from foreshock.series import ConditionPair, Difference

# twins that fall with ability
_FALLING = frozenset({"brier"})


def entry_of_difference(difference: Difference, hard: Hard, twins: tuple[Twin, ...] = ()) -> Entry:
    """Item-paired differences as a line to be judged.

    Args:
        difference: What :func:`foreshock.series.condition_panel` made; its values must have the hard metric.
        hard: The hard metric as it is judged under one condition.
        twins: Its twins; those without values are passed over.
    """
    panel = difference.panel
    there = [twin for twin in twins if twin.name in panel.values]
    falling = {twin.name for twin in there if twin.kind in _FALLING}
    panel = replace(
        panel,
        values={name: -v if name in falling else v for name, v in panel.values.items()},
        replicates={n: [-r for r in v] if n in falling else v for n, v in panel.replicates.items()},
    )
    how = "each item is its own control: both conditions were scored on the same items"
    return Entry(
        panel=panel,
        hard=_as_difference(hard, difference.baseline),
        twins=tuple(_twin(twin) for twin in there),
        checks={"other items": ("ruled-out", how)},
    )


def entry_of_total_difference(pair: ConditionPair, first: Entry, second: Entry) -> Entry:
    """Differences of totals as a line to be judged: each condition drawn apart, then subtracted.

    Args:
        pair: The two conditions.
        first: Totals under the baseline, as :func:`entry_of_totals` makes them.
        second: Totals under the other condition, of the same metrics.

    Raises:
        MetricError: The two have no model or no metric in common.
    """
    if first.draws is None or second.draws is None or first.hard.name != second.hard.name:
        raise MetricError(
            f"{pair.task}: the two conditions have no totals of one metric",
            expected="the same hard metric under both",
            do="score both with one harness",
        )
    columns = _common(pair, first, second)
    twins = [t for t in first.twins if t.name in second.draws and t.kind != "difference"]
    draws = {first.hard.name: _less(first, second, first.hard.name, columns)}
    for twin in twins:
        draws[twin.name] = (-1 if twin.kind in _FALLING else 1) * _less(first, second, twin.name, columns)
    rows = [i for i, _ in columns]
    panel = replace(
        first.panel,
        task=pair.task,
        family=pair.family,
        points=tuple(first.panel.points[i] for i in rows),
        x=first.panel.x[rows],
        replicates={},
        runs=tuple(first.panel.runs[i] + second.panel.runs[j] for i, j in columns),
    )
    how = "totals under each condition were drawn apart; the same items make their difference more certain than is said"
    return Entry(
        panel=panel,
        hard=_as_difference(first.hard, first.draws[first.hard.name][0, rows]),
        twins=tuple(_twin(twin) for twin in twins),
        checks={"unpaired conditions": ("possible", how)},
        draws=draws,
        items=min(first.items or 1, second.items or 1),
    )


def _common(pair: ConditionPair, first: Entry, second: Entry) -> list[tuple[int, int]]:
    """Points of both entries that are one point of the pair."""
    places = [_by_run(entry) for entry in (first, second)]
    found = []
    for one, other in zip(pair.first.stops, pair.second.stops, strict=True):
        i = next((places[0][g[0].run_key] for g in one.groups if g[0].run_key in places[0]), None)
        j = next((places[1][g[0].run_key] for g in other.groups if g[0].run_key in places[1]), None)
        if i is not None and j is not None:
            found.append((i, j))
    if not found:
        raise MetricError(
            f"{pair.task}: no model has totals under both conditions",
            expected="at least one model with both",
            do="see what there is: foreshock ls",
        )
    return found


def _by_run(entry: Entry) -> Mapping[str, int]:
    return {key: i for i, keys in enumerate(entry.panel.runs) for key in keys}


def _less(first: Entry, second: Entry, metric: str, columns: list[tuple[int, int]]) -> Floats:
    assert first.draws is not None
    assert second.draws is not None
    one, other = first.draws[metric], second.draws[metric]
    rows = min(len(one), len(other))
    return np.asarray(other[:rows][:, [j for _, j in columns]] - one[:rows][:, [i for i, _ in columns]])


def _as_difference(hard: Hard, baseline: Floats) -> Hard:
    """A difference begins at 0 and can reach what the lowest baseline leaves of the scale."""
    room = hard.ceiling - float(np.min(baseline))
    ceiling = room if room > 0 else hard.ceiling
    return Hard(hard.name, "identity", chance=0.0, ceiling=ceiling, binary=False, was=hard.link)


def _twin(twin: Twin) -> Twin:
    return Twin(twin.name, "difference", was=twin.kind)
