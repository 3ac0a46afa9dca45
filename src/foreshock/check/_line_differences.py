"""Differences between two conditions along a line of models: in-context learning, chain of thought, a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from foreshock._base import MetricError
from foreshock.check._line_totals import TotalLine, total_lines
from foreshock.check._lines import Held, ItemLine, Judged, Place, named, runs_of, series_rows, verdict_row
from foreshock.check._twin_command import How
from foreshock.mirage import Entry, Judgement, entry_of_difference, entry_of_total_difference
from foreshock.records import Finding, Need, Rate, Run, State, Subject
from foreshock.series import ConditionPair, Line, Shelf, aggregate_series, condition_pairs, condition_panel, panel
from foreshock.store import Snapshot

NOTHING_SHARED = "no shared items"


class DifferenceLine(NamedTuple):
    """A difference between two conditions that waits to be judged.

    Attributes:
        pair: The two conditions.
        sides: The line under each: with items, or totals of one metric.
    """

    pair: ConditionPair
    sides: tuple[ItemLine, ItemLine] | tuple[TotalLine, TotalLine]

    @property
    def metric(self) -> str:
        """The hard metric whose difference it is."""
        first = self.sides[0]
        if isinstance(first, TotalLine):
            return first.series.metric
        return first.plan.measures.main.name if first.plan.measures.main is not None else ""

    @property
    def place(self) -> Place:
        """What it is judged together with: the differences of a family, apart from its scores."""
        first = self.sides[0]
        metric = first.metric if isinstance(first, ItemLine) else None
        return Place(self.pair.family, self.pair.first.axis, metric, "differences")

    def entry(self, shelf: Shelf) -> Entry | None:
        """Load both sides; None where they share no model, no item or no metric."""
        made = self._entry(shelf)
        return None if made is None else replace(made, how_twin=self.how.sentence.removesuffix("."))

    def _entry(self, shelf: Shelf) -> Entry | None:
        first, second = self.sides
        if isinstance(first, ItemLine):
            return self._of_items(first, shelf)
        one, other = first.entry(shelf), second.entry(shelf)
        if one is None or other is None:
            return None
        try:
            return entry_of_total_difference(self.pair, one, other)
        except MetricError:
            return None

    def _of_items(self, side: ItemLine, shelf: Shelf) -> Entry | None:
        block = side.block(shelf, [*runs_of(self.pair.first), *runs_of(self.pair.second)])
        made = condition_panel(self.pair, block, side.plan.ids) if block is not None else None
        if block is None or made is None:
            return None
        made = made._replace(panel=named(made.panel, side.plan, None))
        main = side.plan.measures.main
        if main is None or main.name not in made.panel.values:
            return None
        return entry_of_difference(made, *side.plan.metrics(made.panel, block))

    def undecided(self, shelf: Shelf) -> Judged | None:
        """The difference where both conditions have scores and no item in common; None where one has none."""
        side = self.sides[0]
        if not isinstance(side, ItemLine):
            return None
        block = side.block(shelf, [*runs_of(self.pair.first), *runs_of(self.pair.second)])
        if block is None:
            return None
        made = [panel(line, block, side.plan.ids) for line in (self.pair.first, self.pair.second)]
        if not all(one.items for one in made) or {*made[0].items} & {*made[1].items}:
            return None
        finding = self._finding(side, [len(one.items) for one in made])
        row = {
            "finding_id": finding.id,
            "task": self.pair.task,
            "family": self.pair.family,
            "axis": self.pair.first.axis,
            "verdict": "unresolved",
            "reason": NOTHING_SHARED,
            "points": len(made[0].points),
            "items": 0,
            "hard": finding.subject.metric,
            "condition": self.pair.name,
            "before": self.pair.before,
            "after": self.pair.after,
            "paired": True,
        }
        return Judged(finding, row, [], None, None, difference=True)

    def _finding(self, side: ItemLine, items: list[int]) -> Finding:
        main = side.plan.measures.main
        keys = sorted(run.run_key for line in (self.pair.first, self.pair.second) for run in runs_of(line))
        told = f"{items[0]} items under {self.pair.name} {self.pair.before}, {items[1]} under {self.pair.after}"
        return Finding(
            code="FS301",
            subject=Subject(
                task=self.pair.task,
                model_family=self.pair.family,
                metric=main.name if main is not None else None,
                axis=self.pair.first.axis,
                runs=keys,
            ),
            state=State.NO_DATA,
            verdict="unresolved",
            title=f"unresolved: {NOTHING_SHARED}",
            null=f"not tested: {told}, none of them the same",
            rate=Rate(),
            needs=[Need(what="items answered under both conditions", have=0, enough=10)],
            advice=f"{told}: none is known to be the same question. Where they are the same, log the question as a "
            "field of its own, apart from the prompt, in which the condition stands.",
        )

    @property
    def how(self) -> How:
        """How a twin would come to be, or a better one."""
        return self.sides[0].how_of(rates=False)

    def told(self, held: Held, judgement: Judgement) -> Judged:
        """The difference with its answer; its row belongs into ``conditions``."""
        how = self.how
        row = {
            **verdict_row(held, judgement, how),
            "condition": self.pair.name,
            "before": self.pair.before,
            "after": self.pair.after,
            "paired": isinstance(self.sides[0], ItemLine),
        }
        rows = series_rows(held, judgement)
        return Judged(judgement.finding, row, rows, held.labels, judgement, how, difference=True)


def differences_of_items(lines: list[ItemLine]) -> list[DifferenceLine]:
    """Pairs among the lines of one task under its primary answer filter."""
    first = [line for line in lines if line.first]
    return [
        DifferenceLine(pair, (first[0]._replace(line=pair.first), first[0]._replace(line=pair.second)))
        for pair in condition_pairs([line.line for line in first])
    ]


def differences_of_totals(snapshot: Snapshot, trails: list[Line], run: Run, seed: int) -> list[DifferenceLine]:
    """Pairs among the lines of a task of which only totals are known, one for each hard metric that both have."""
    found = []
    for pair in condition_pairs(trails):
        first, second = (
            total_lines([one for one in aggregate_series(snapshot, [line]) if one.points], run, seed, None)
            for line in (pair.first, pair.second)
        )
        others = {line.series.metric: line for line in second if not line.continuous}
        found += [
            DifferenceLine(pair, (line, others[line.series.metric]))
            for line in first
            if not line.continuous and line.series.metric in others
        ]
    return found
