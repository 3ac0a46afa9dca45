"""Which metrics a task reports, which one speaks for it, and which twins its responses give."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foreshock.lint._facts import Kind, Metric, Spread
from foreshock.lint._metric_rules import RARE, acts_hard
from foreshock.metrics import MetricSpec, get_metric, harness_metric
from foreshock.records import Run
from foreshock.scoring import Aggregate
from foreshock.stats import clopper_pearson

PRIMARY = ("multiple_choice_grade", "exact_match")
COVERED = 0.95
"""Share of the hard metric's items that a twin must have a score on."""
_RATES = ("pass_rate", "pass_rate(of=harness)")
"""Twins that repeats of the items give: of exact match, and of the harness's own score."""
_SUMMARY = re.compile("[/:]")

Spreads = Mapping[tuple[str, str], Spread]


def attempts_of(name: str) -> int | None:
    """The k of a pass@k; None for other metrics, and for k = 1.

    Examples:
        >>> attempts_of("pass@10"), attempts_of("pass_at_5"), attempts_of("pass@1"), attempts_of("acc")
        (10, 5, None, None)
    """
    known = harness_metric(name)
    return known.attempts if known is not None and known.link == "any-of-T" else None


def named_metric(name: str, source: Any = "design") -> Metric:
    """A metric of a harness by its name; what the name does not tell stays unknown."""
    known = harness_metric(name)
    if known is None:
        return Metric(name, source=source)
    chance = 0.0 if known.link == "all-of-N" else None
    return Metric(
        name, known.kind, known.link, known.low, known.high, chance, source=source, attempts=attempts_of(name)
    )


def reported(
    runs: Sequence[Run],
    values: Iterable[Aggregate],
    totals: Iterable[Mapping[str, Any]],
    spreads: Spreads,
    specs: Mapping[str, MetricSpec],
) -> tuple[Metric, ...]:
    """Metrics that the harness reports, by name; where it reports none, our own hard ones."""
    rows = list(values)
    declared = _declared(runs)
    own = [row.metric_id for row in rows if row.source == "harness"]
    names = list(dict.fromkeys(own))
    heads = {name.casefold() for name in names}
    logged = dict.fromkeys(str(total["metric_id"]) for total in totals)
    # of a metric whose item scores are there, means and errors of the log are no further metrics
    names += [name for name in logged if heads.isdisjoint((name.casefold(), _SUMMARY.split(name)[0].casefold()))]
    found = [
        _with_facts(named_metric(name, "harness"), declared.get(name), spreads.get((name, "harness"))) for name in names
    ]
    if found:
        return tuple(found)
    hard = [specs[m] for m in dict.fromkeys(row.metric_id for row in rows) if m in specs and specs[m].name in PRIMARY]
    return tuple(_own(spec, spreads.get((spec.id, "foreshock"))) for spec in hard)


def _own(spec: MetricSpec, spread: Spread | None) -> Metric:
    return Metric(
        str(spec), spec.kind, spec.link, spec.low, spec.high, spec.chance(None), source="foreshock", spread=spread
    )


def _declared(runs: Iterable[Run]) -> dict[str, dict[str, Any]]:
    """What was said about metrics when tables were read (``--kind``, ``--twin``); contradictions are left out."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        facts = run.meta.get("metrics")
        for name, told in facts.items() if isinstance(facts, dict) else ():
            if isinstance(told, dict):
                mine = found.setdefault(name, dict(told))
                for key in [key for key in mine if mine[key] != told.get(key)]:
                    del mine[key]
    return found


def _with_facts(metric: Metric, told: Mapping[str, Any] | None, spread: Spread | None) -> Metric:
    said = (told or {}).get("kind")
    kind: Kind | None = said if said in ("hard", "continuous") else metric.kind
    twin = (told or {}).get("twin")
    metric = replace(metric, kind=kind, twin=twin if isinstance(twin, str) else None, spread=spread)
    if metric.kind is None and spread is not None:
        # what nobody declares is taken for what its values are, where they are enough to say so
        if acts_hard(spread):
            return replace(metric, kind="hard", low=0.0, high=1.0)
        if spread.scored and float(clopper_pearson(spread.between, spread.scored)[0]) > RARE:
            return replace(metric, kind="continuous")
    if spread is not None and metric.low is None and metric.high is None:
        return replace(metric, low=0.0, high=1.0)  # a spread is only told of values from 0 to 1
    return metric


def speaking(
    values: Sequence[Aggregate], metrics: Sequence[Metric], specs: Mapping[str, MetricSpec]
) -> tuple[str, str] | None:
    """Source and id of the stored metric that speaks for the task: the harness's hard one, else ours, else any."""
    kinds = {metric.name: metric.kind for metric in metrics}
    rows = [row for row in values if row.n_scored]
    theirs = [row for row in rows if row.source == "harness"]
    hard = [row for row in theirs if kinds.get(row.metric_id) == "hard"]
    ours = [row for row in rows if row.metric_id in specs and specs[row.metric_id].name in PRIMARY]
    for among in (hard, ours, theirs):
        if among:
            best = min(among, key=lambda row: (-row.n_scored, row.metric_id))
            return best.source, best.metric_id
    return None


def twins_of(
    values: Sequence[Aggregate], main: Sequence[Aggregate], spreads: Spreads, specs: Mapping[str, MetricSpec]
) -> tuple[str, ...]:
    """Our continuous metrics that the stored responses give for nearly all items, first choice first."""
    needed = {row.run_key: row.n_items for row in main if row.n_items}
    order = list(dict.fromkeys([*(twin for name in PRIMARY for twin in get_metric(name).twins), *_RATES]))
    names = {get_metric(name).id: name for name in order}
    found: dict[str, set[str]] = {}
    for row in values:
        if (
            row.source != "foreshock"
            or row.metric_id not in names
            or row.n_items < COVERED * needed.get(row.run_key, 1)
        ):
            continue
        if specs[row.metric_id].kind == "continuous" and not acts_hard(spreads.get((row.metric_id, row.source))):
            found.setdefault(row.metric_id, set()).add(row.run_key)
    whole = {metric for metric, runs in found.items() if not needed or runs >= needed.keys()}
    return tuple(name for metric, name in names.items() if metric in whole)
