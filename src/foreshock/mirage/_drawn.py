"""What a report draws of one line: curves with their intervals, the items that moved, the emergence score."""

from __future__ import annotations

import numpy as np

from foreshock.mirage._case import Case
from foreshock.mirage._design import Floats
from foreshock.mirage._emergence import emergence_p
from foreshock.mirage._judgement import Line, Move
from foreshock.stats import percentile_interval

_SHOWN = 20


def lines_of(case: Case) -> tuple[Line, ...]:
    """Hard metric, twin and counterfactual, as far as they exist."""
    panel, out = case.panel, []

    def line(role: str, name: str, unit: str, value: Floats, ends: tuple[Floats, Floats]) -> Line:
        return Line(role, name, unit, panel.points, panel.x, value, ends[0], ends[1], case.items)

    hard = case.draws.get(case.hard.name)
    if hard is not None:
        out.append(line("hard", case.hard.name, "score", hard[0], percentile_interval(hard[1:])))
    if case.twin is not None:
        shown = case.twin.shown(case.draws[case.twin.name])
        out.append(line("twin", case.twin.name, case.twin.unit, shown[0], percentile_interval(shown[1:])))
    if case.through is not None and case.kept is not None:
        full = np.full((3, len(panel.points)), np.nan)
        full[:, case.kept] = case.through.curve, case.through.low, case.through.high
        out.append(line("counterfactual", case.hard.name, "score", full[0], (full[1], full[2])))
    return tuple(out)


def emergence_of(case: Case, rng: np.random.Generator) -> tuple[float | None, float | None]:
    """Emergence score of the hard metric and its p-value under a steady rise; None below two points."""
    hard = case.draws.get(case.hard.name)
    if hard is None or hard.shape[1] < 2:
        return None, None
    spread = None if case.hard.binary and case.by_items else hard[1:].std(axis=0) / case.hard.ceiling
    each = (~np.isnan(case.panel.values[case.hard.name])).sum(axis=1) if case.by_items else np.array(case.items)
    return emergence_p(np.clip(hard[0] / case.hard.ceiling, 0, 1), each, rng, spread=spread)


def find_moves(case: Case) -> None:
    """Items that changed most across the break, else across the hard metric's largest jump.

    Ties go to those the twin saw move most. The two places need not be the same: a step of the twin while the hard
    metric is still at its floor shows there only later.
    """
    hard = case.draws.get(case.hard.name)
    if hard is None or hard.shape[1] < 2:
        return
    i = int(np.argmax(np.diff(hard[0])))
    if case.verdict == "break" and case.share is not None and case.kept is not None:
        i = int(case.kept[case.share.interval])
    case.jump = (i, i + 1)
    if not case.by_items:
        return
    scores = case.panel.values[case.hard.name]
    change = np.nan_to_num(scores[i + 1] - scores[i])
    tie = np.zeros(change.size)
    if case.twin is not None:
        twin = case.panel.values[case.twin.name]
        with np.errstate(invalid="ignore"):
            tie = np.abs(np.nan_to_num(twin[i + 1] - twin[i], posinf=0.0, neginf=0.0))
    order = np.lexsort((np.arange(change.size), -tie, -np.abs(change)))[:_SHOWN]
    told = [Move(case.panel.items[k], i, i + 1, float(scores[i, k]), float(scores[i + 1, k])) for k in order]
    case.moved = int(np.count_nonzero(change))
    case.moves = [m for m in told if m.from_score != m.to_score]
