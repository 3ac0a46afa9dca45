"""What a store shows about its benchmarks: one set of facts per task, and its lines of models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from foreshock._base import Progress
from foreshock.lint import _shown as shown
from foreshock.lint._facts import Benchmark, Facts, Measured, Metric, ModelLine, Spread
from foreshock.lint._kinds import measurable, measure, scorer_of
from foreshock.lint._metric_rules import acts_hard
from foreshock.lint._options import LintOptions
from foreshock.lint._reported import reported, speaking, twins_of
from foreshock.lint._samples import load_samples
from foreshock.lint._sampling import is_sampled
from foreshock.metrics import MetricSpec, Response, get_metric
from foreshock.records import ModelCard, Run, RunStatus
from foreshock.scoring import Aggregate, aggregate, stored_specs
from foreshock.series import Line, lines
from foreshock.store import Snapshot

_ADVICE = {
    # the log-probabilities that it logs are those of what the model wrote, not of the right answer
    "inspect": "run again with --epochs 10 --temperature 0.7 for a pass rate",
    "helm": "keep per_instance_stats.json and scenario_state.json of the runs beside stats.json",
}
_LM_EVAL_TOTALS = "run again with --log_samples: the log-likelihoods of the choices are then in the samples"
_LM_EVAL = "add a multiple_choice or loglikelihood form of the task, or set repeats and do_sample for a pass rate"
_ANY_ADVICE = "log the log-probability of the right answer, or ask each item several times (pass rate)"


Function = Callable[[str, Response], float | None]


class Asked(NamedTuple):
    """What is measured besides what the store shows: metrics named in the options, and functions of the user."""

    options: LintOptions
    scorers: Mapping[str, Function]


def store_facts(
    snapshot: Snapshot,
    runs: Sequence[Run],
    cards: Mapping[str, ModelCard],
    asked: Asked,
    progress: Progress,
) -> Facts:
    """Facts of every task of some runs.

    Args:
        snapshot: A store that is scored.
        runs: Runs to look at.
        cards: Their model cards.
        asked: Which metrics are measured, and on how many items.
        progress: Told about tasks.
    """
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    specs = stored_specs(snapshot)
    values: dict[str, list[Aggregate]] = defaultdict(list)
    for row in aggregate(snapshot, tasks=by_task, runs=[run.run_key for run in runs]):
        if row.perturbation is None:
            values[row.task].append(row)
    found = []
    for done, (task, members) in enumerate(sorted(by_task.items())):
        progress("lint", done, len(by_task))
        found.append(_Task(snapshot, task, members, values[task], specs, asked).facts())
    progress("lint", len(by_task), len(by_task))
    return Facts(tuple(found), model_lines(lines(runs, cards)), models=True)


def model_lines(found: Sequence[Line]) -> tuple[ModelLine, ...]:
    """Lines of models, each once: tasks on which the same models stand at the same places share one."""
    alike: dict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line in found:
        seeds = tuple(len(stop.groups) for stop in line.stops)
        key = (line.family, line.axis, line.conditions, line.axis_known, tuple(stop.x for stop in line.stops), seeds)
        alike[key].append(line)
    return tuple(_line(members) for _, members in sorted(alike.items(), key=lambda kv: repr(kv[0])) if members[0].stops)


def _line(members: Sequence[Line]) -> ModelLine:
    first = members[0]
    return ModelLine(
        family=first.family,
        axis=first.axis,
        position=shown.positions([stop.x for stop in first.stops], log=first.log_axis),
        values=tuple(stop.x for stop in first.stops),
        labels=tuple(stop.label for stop in first.stops),
        # several models that share a place are no seeds of one
        seeds=tuple(1 if stop.mixed else len(stop.groups) for stop in first.stops),
        log=first.log_axis,
        known=first.axis_known,
        conditions=first.conditions,
        tasks=tuple(sorted({line.task for line in members})),
    )


class _Task:
    """One task while its facts are gathered."""

    def __init__(
        self,
        snapshot: Snapshot,
        name: str,
        runs: Sequence[Run],
        values: Sequence[Aggregate],
        specs: Mapping[str, MetricSpec],
        asked: Asked,
    ) -> None:
        self.snapshot, self.name, self.specs, self.asked = snapshot, name, specs, asked
        # an unfinished run says nothing about the design
        self.runs = [run for run in runs if run.status is RunStatus.COMPLETE] or list(runs)
        self.keys = sorted(run.run_key for run in self.runs)
        self.values = [row for row in values if row.run_key in set(self.keys)]

    def facts(self) -> Benchmark:
        """Everything that the rules look at."""
        snapshot, name, keys = self.snapshot, self.name, self.keys
        spreads = shown.spreads(snapshot, name, keys, self.specs)
        totals = shown.totals(snapshot, self.runs)
        metrics = reported(self.runs, self.values, totals, spreads, self.specs)
        main = speaking(self.values, metrics, self.specs)
        rows = [row for row in self.values if main is not None and (row.source, row.metric_id) == main]
        rows = shown.first_filter(rows)
        options, guess = shown.options_of(snapshot, name)
        delivered = any(run.counts.delivered for run in self.runs)
        return Benchmark(
            place=name,
            task=name,
            metrics=metrics,
            tried=(*self._measured(), *self._stored(spreads, metrics)),
            twins=twins_of(self.values, rows, spreads, self.specs),
            twin_advice=self._advice(delivered),
            items=shown.items_of(rows, totals, self.runs),
            repeats=shown.repeats_of(rows, self.runs),
            sampled=is_sampled(self.runs, metrics),
            options=options if delivered else None,
            guess=guess,
            chance=next((run.chance for run in self.runs if run.chance is not None), None),
            flips=shown.flips(snapshot, name, keys, main) if main is not None and len(rows) > 1 else None,
            spread_of_repeats=shown.repeat_spread(snapshot, name, keys, main) if main is not None else None,
            best=shown.best(self.runs, rows, totals),
            denominators=shown.denominators(self.runs, rows),
            observed=True,
            runs=tuple(keys),
        )

    def _advice(self, delivered: bool) -> str:
        """What would give a twin with this harness; where samples are logged already, logging them is no advice."""
        name = self.runs[0].format
        if name.startswith("lm-eval"):
            return _LM_EVAL if delivered else _LM_EVAL_TOTALS
        return _ADVICE.get(name, _ANY_ADVICE)

    def _measured(self) -> list[Metric]:
        """Metrics of the user's own, and those asked for, measured on perturbed outputs of this task."""
        own = [spec for spec in self.specs.values() if not spec.factory.origin.startswith("foreshock.")]
        scored = {row.metric_id for row in self.values if row.source == "foreshock"}
        specs = [spec for spec in own if spec.id in scored]
        specs += [get_metric(name) for name in self.asked.options.metrics]
        specs = [spec for spec in dict.fromkeys(specs) if measurable(spec)]
        seed, most = self.asked.options.seed, self.asked.options.samples
        rows = load_samples(self.snapshot, self.name, self.keys, most, seed) if specs or self.asked.scorers else []
        if not rows:
            return []
        found = [self._as_declared(s, measured=measure(rows, scorer_of(s), s.needs, seed)) for s in specs]
        for name, function in self.asked.scorers.items():
            seen = measure(rows, lambda row, own=function: own(row.output or "", row), (), seed)  # type: ignore[misc]
            found.append(Metric(name, measured=seen))
        return found

    def _stored(self, spreads: Mapping[tuple[str, str], Spread], metrics: Sequence[Metric]) -> list[Metric]:
        """Our continuous metrics whose values on this task only ever lie at the ends."""
        told = {metric.name for metric in metrics}
        found = []
        for (metric_id, source), spread in spreads.items():
            spec = self.specs.get(metric_id)
            if source == "foreshock" and spec is not None and spec.kind == "continuous" and acts_hard(spread):
                found.append(self._as_declared(spec, spread=spread))
        return [metric for metric in found if metric.name not in told]

    @staticmethod
    def _as_declared(spec: MetricSpec, *, measured: Measured | None = None, spread: Spread | None = None) -> Metric:
        facts = Metric(str(spec), spec.kind, spec.link, spec.low, spec.high, source="foreshock")
        return replace(facts, measured=measured, spread=spread)
