"""How far what was lost could move an answer: all of it right on one side, wrong on the other."""

from __future__ import annotations

import numpy as np

from foreshock.compare._judge import Compared, Verdict, random_of
from foreshock.compare._options import CompareOptions
from foreshock.compare._pair import PairResult, judge_pair, verdict_of


def extremes(one: Compared, options: CompareOptions) -> tuple[PairResult, PairResult] | None:
    """The comparison with the missing responses of the second side worst and those of the first best, and the reverse.

    Responses may be missing because of what they would have been, so that no single way to fill them in rules them out.

    Returns:
        None where the metric has no range.
    """
    measure, sheet = one.chosen.measure, one.sheet
    bound = measure.bound
    if bound is None:
        return None
    rows = [0, one.place]
    worst, asked = sheet.filled[rows], sheet.asked[rows]
    lost = np.where(asked > 0, (asked - sheet.repeats[rows]) / np.maximum(asked, 1), 0.0)
    best = worst + (bound if measure.rising else -bound) * lost
    found = [
        judge_pair(
            first,
            second,
            random_of(options, sheet, one.place),
            clusters=sheet.clusters,
            repeated=sheet.repeated,
            repeats=asked,
            alpha=options.alpha,
            bound=bound,
        )
        for first, second in ((best[0], worst[1]), (worst[0], best[1]))
    ]
    return found[0], found[1]


def words_of(one: Compared, verdict: Verdict, results: tuple[PairResult, ...], options: CompareOptions) -> list[str]:
    """Verdicts of these results, with p-values scaled for many comparisons as that of the verdict was."""
    scale = max(1.0, verdict.used / one.result.p if one.result.items and one.result.p else 1.0)
    return [
        verdict_of(
            result,
            min(1.0, result.p * scale),
            alpha=options.alpha,
            margin=verdict.margin,
            rising=one.chosen.measure.rising,
        )
        for result in results
    ]
