"""The pass rate over repeats: what a metric that is 0 or 1 for each answer says when each item was answered often.

It is the mean of the metric over the attempts at an item, and over items that is the metric's own curve. What it adds
is the scale: the share of attempts that pass is a probability, and is judged on the link on which such probabilities
move evenly. Two or more attempts make it one, however their mean is rounded. An answer that could not be extracted is
a failed attempt, as it is under the metric itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from foreshock.check._measures import Measure, Measures
from foreshock.mirage import ORDER
from foreshock.mirage import Twin as MirageTwin
from foreshock.series import Block, Panel

KIND = "pass_rate"
REPEATED = 0.95
"""Share of each model's items that must have been answered twice or more; a single answer is a rate of 0 or 1."""


def with_pass_rate(found: Measures, blocks: Sequence[Block]) -> Measures:
    """The measures of a task with the pass rate of its main metric, in place of the pass rate of any other.

    Args:
        found: What has scores. A main metric that has more values than 0 and 1, or is made of several attempts itself
            (pass@k), keeps the pass rates that were scored.
        blocks: Scores of all runs. One run with repeats is enough here; see :func:`pass_rate_of` for a line.
    """
    main = found.main
    if main is None or not main.judged or not main.binary or main.link == "any-of-T":
        return found
    twins = [twin for twin in found.twins if twin.base != KIND]
    if any(_attempts(main, block, [run]) for block in blocks for run in block.runs):
        twins.append(main._replace(name=_name(main, found.all), base=KIND, kind="continuous", link=None))
        twins.sort(key=lambda twin: ORDER.index(twin.base))
    return found._replace(twins=twins)


def pass_rate_of(main: Measure, twin: Measure, made: Panel, block: Block) -> tuple[Panel, MirageTwin] | None:
    """A line's panel with the pass rate of its main metric, and the rate as a twin; None without repeats on the line.

    Args:
        main: Main metric, by whose name its values stand in the panel.
        twin: Its pass rate, as :func:`with_pass_rate` made it.
        made: The line.
        block: Scores of the line's runs.
    """
    shown = {key for keys in made.runs for key in keys}
    trials = _attempts(main, block, [run for run in block.runs if run in shown])
    if not trials or main.name not in made.values:
        return None
    values = {**made.values, twin.name: made.values[main.name]}
    replicates = {**made.replicates, twin.name: made.replicates[main.name]}
    return replace(made, values=values, replicates=replicates), MirageTwin(twin.name, KIND, trials=trials)


def _attempts(main: Measure, block: Block, runs: Sequence[str]) -> int:
    """Median attempts at an item; 0 where some run has none, or where no attempt differs from the others.

    Repeats that never differ were not drawn anew (greedy decoding), and say no more than one of them.
    """
    if main.id not in block.counts or not runs:
        return 0
    rows = [block.runs.index(run) for run in runs]
    counts, values = block.counts[main.id][rows], block.values[main.id][rows]
    answered = counts > 0
    repeated = (counts > 1).sum(axis=1) >= REPEATED * np.maximum(answered.sum(axis=1), 1)
    if not repeated.all() or np.isin(values[answered], (0.0, 1.0)).all():
        return 0
    return int(np.median(counts[answered]))


def _name(main: Measure, every: Sequence[Measure]) -> str:
    """The metric that ``foreshock score`` would call so."""
    if main.source == "foreshock":
        return KIND if main.name == "exact_match" else f"{KIND}(of={main.name})"
    alone = sum(measure.source == "harness" for measure in every) == 1
    return f"{KIND}(of=harness)" if alone else f"{KIND}(of=harness(score={main.name}))"
