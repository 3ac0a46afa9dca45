"""Everything `check` knows about one task before it judges anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from foreshock.check._lights import Standing
from foreshock.check._measures import (
    PRIMARY,
    Measure,
    Measures,
    chance_level,
    choice_count,
    declared_kinds,
    declared_twins,
    measures,
)
from foreshock.check._pass_rate import with_pass_rate
from foreshock.check._whole_texts import WholeTexts
from foreshock.mirage import DECODED
from foreshock.records import ModelCard, Run
from foreshock.scoring import Agreement
from foreshock.series import Block, Line, Shelf
from foreshock.stats import clustered_stderr, mean_interval, wilson
from foreshock.store import Snapshot

Floats = np.ndarray


class Scored(NamedTuple):
    """One run's score on one metric.

    Attributes:
        run: The run.
        measure: The metric.
        value: Mean over the items that have a score; an answer that could not be extracted counts as 0 for a hard one.
        low, high: 95% interval: Wilson for 0/1 scores, t over items otherwise.
        stderr: Standard error over items.
        n: Items.
        total: Sum over all scored responses.
        value_parsed: Mean over the items whose answer could be extracted (hard metrics only).
    """

    run: Run
    measure: Measure
    value: float
    low: float
    high: float
    stderr: float
    n: int
    total: float
    value_parsed: float | None


class Task(NamedTuple):
    """One task with its runs, scores and lines.

    Attributes:
        name: Task.
        runs: Its runs, incomplete ones included.
        cards: Model card of each run, by run key.
        lines: Its lines.
        measures: Its metrics.
        blocks: Scores, one block per answer filter and perturbation; the first one is the primary.
        choices: Whether its items offer options.
        chance: Score of guessing on the main metric.
        scored: Score of every run on the main metric, under the primary filter.
        agreed: Responses on which our hard metric equals the harness's own score, and how many were compared, by run.
    """

    name: str
    runs: list[Run]
    cards: Mapping[str, ModelCard]
    lines: list[Line]
    measures: Measures
    blocks: list[Block]
    choices: bool
    chance: float | None
    scored: list[Scored]
    agreed: Mapping[str, tuple[int, int]]


def load_task(
    shelf: Shelf,
    name: str,
    runs: list[Run],
    *,
    cards: Mapping[str, ModelCard],
    lines: list[Line],
    options: Sequence[int],
    texts: WholeTexts,
) -> Task:
    """Load the scores of a task.

    Args:
        shelf: Where scores come from.
        name: The task.
        runs, cards, lines: As in :class:`Task`.
        options: Numbers of options that its items offer; see :func:`option_counts`.
        texts: Whether what stands for its answers are whole texts.
    """
    keys = [run.run_key for run in runs]
    scores = shelf.scores(name)
    agreed = agreed_by_run(shelf.agreement(name))
    trusted = all(equal == n for equal, n in agreed.values()) if agreed else None
    found = measures(scores.seen, shelf.specs, trusted, declared_kinds(runs), declared_twins(runs))
    found = of_answers(found, texts, name)
    blocks = scores.blocks({m.id: m.kind == "hard" for m in found.all}, keys)
    found = with_pass_rate(found, blocks)
    parsed = scores.blocks({found.main.id: False}, keys) if found.main is not None else []
    chance = next((run.chance for run in runs if run.chance is not None), None)
    if chance is None and found.main is not None:
        chance = chance_level(found.main, choice_count(options))
    scored = _scored(blocks[0], parsed, found.main, runs) if blocks and found.main is not None else []
    return Task(name, runs, cards, lines, found, blocks, any(options), chance, scored, agreed)


def of_answers(found: Measures, texts: WholeTexts, task: str) -> Measures:
    """The measures without twins of decoded text, where what stands for the answers are whole texts."""
    if found.twins and all(twin.base in DECODED for twin in found.twins) and texts.of(task):
        return found._replace(twins=[])
    return found


def agreed_by_run(agreed: Sequence[Agreement]) -> dict[str, tuple[int, int]]:
    """Responses on which our hard metric equals the harness's own score, and how many were compared, by run key.

    Where the harness gave several scores, one that by its name measures the same counts before one that may not.
    """
    found: dict[str, tuple[bool, int, int]] = {}
    for told in agreed:
        if told.n and told.metric in PRIMARY:
            found[told.run_key] = max(found.get(told.run_key, (False, 0, 0)), (told.comparable, told.agree, told.n))
    return {key: (agree, n) for key, (_, agree, n) in found.items()}


def option_counts(snapshot: Snapshot, tasks: Collection[str]) -> dict[str, list[int]]:
    """Numbers of options that the items of tasks offer, in ascending order; 0 where an item has none."""
    import polars as pl

    found: dict[str, set[int]] = {task: set() for task in tasks}
    count = pl.col("choices").list.len().fill_null(0).alias("options")
    for segment in snapshot.segments("items"):
        frame = snapshot.lazy(segment, ["task", "choices"]).filter(pl.col("task").is_in(sorted(found)))
        for task, options in frame.select("task", count).unique().collect().iter_rows():
            found[task].add(options)
    return {task: sorted(counts) for task, counts in found.items()}


def _scored(block: Block, parsed: Sequence[Block], measure: Measure, runs: Sequence[Run]) -> list[Scored]:
    way = (block.filter, block.perturbation)
    alone = next((one for one in parsed if (one.filter, one.perturbation) == way), None)
    rows = []
    for run in runs:
        values = block.row(measure.id, run.run_key)
        values = values[~np.isnan(values)]
        if values.size:
            own = alone.row(measure.id, run.run_key) if alone is not None else values[:0]
            own = own[~np.isnan(own)]
            told = float(own.mean()) if measure.kind == "hard" and own.size else None
            total = block.total(measure.id, run.run_key)
            rows.append(Scored(run, measure, *interval(values), values.size, total, told))
    return rows


def interval(values: Floats) -> tuple[float, float, float, float]:
    """Mean, lower end, upper end and standard error of item scores, shape (items,)."""
    error = clustered_stderr(values)
    if np.isin(values, (0.0, 1.0)).all():
        ends = wilson(values.sum(), values.size)
        return float(values.mean()), float(ends[0]), float(ends[1]), error
    return *mean_interval(values), error


def standings(rows: Sequence[Scored]) -> list[Standing]:
    """Scores as the lights take them."""
    return [Standing(r.run.model, r.value, r.low, r.high, r.stderr, r.n, r.run.counts) for r in rows]


def pair_error(task: Task, rows: Sequence[Scored]) -> float | None:
    """Median standard error of the difference between neighbours in score, on the items both answered."""
    main = task.measures.main
    if main is None or len(rows) < 2:
        return None
    ordered = sorted(rows, key=lambda row: (row.value, row.run.run_key))
    block = task.blocks[0]
    errors = []
    for one, other in pairwise(ordered):
        gap = block.row(main.id, other.run.run_key) - block.row(main.id, one.run.run_key)
        gap = gap[~np.isnan(gap)]
        if gap.size > 1:
            errors.append(clustered_stderr(gap))
    known = [error for error in errors if np.isfinite(error) and error > 0]
    return float(np.median(known)) if known else None
