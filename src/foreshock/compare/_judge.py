"""Every comparison of a match: the two runs, the twin beside it, the other way to treat what was lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock._base import digest
from foreshock.compare._load import Counts, Sheet
from foreshock.compare._match import Match
from foreshock.compare._measure import Chosen
from foreshock.compare._options import MARGIN, CompareOptions
from foreshock.compare._pair import PairResult, judge_pair, verdict_of
from foreshock.stats import benjamini_hochberg, holm, paired_detectable, paired_items

Floats = NDArray[np.float64]


class Compared(NamedTuple):
    """One comparison of the baseline with another side.

    Attributes:
        match, chosen, sheet: What was compared; ``place`` is the other side's row of the sheet.
        result: The comparison that the verdict rests on.
        other: The same with what did not arrive or has no score treated the other way; None where nothing was lost.
        twin: The same on the twin; None without one.
        only_first, only_second: Items that only one of the two has a response to; what it lost is not among them.
    """

    match: Match
    chosen: Chosen
    sheet: Sheet
    place: int
    result: PairResult
    other: PairResult | None
    twin: PairResult | None
    only_first: int
    only_second: int


class Verdict(NamedTuple):
    """The word for a comparison, and what it rests on.

    Attributes:
        word: ``regression``, ``incomplete``, ``improvement``, ``no-difference`` or ``undecided``.
        holm, bh: Adjusted p-values.
        used: The one that the word rests on.
        margin: Difference that does not matter; None where every one does.
        needed: Items that would show a difference of the margin in four of five cases.
        detectable: The smallest difference that these items would show so often.
        other: Adjusted p-value with what was lost treated the other way.
    """

    word: str
    holm: float
    bh: float
    used: float
    margin: float | None
    needed: int | None
    detectable: float | None
    other: float = 1.0


def judge_match(match: Match, chosen: Chosen, sheet: Sheet, options: CompareOptions) -> list[Compared]:
    """Compare the baseline with each other side of a match."""
    found = []
    bound = chosen.measure.bound
    rows, others = (sheet.scores, sheet.filled) if options.missing == "drop" else (sheet.filled, sheet.scores)
    for place in range(1, len(match.sides)):
        behind, beside = (sheet.repeats, sheet.asked) if options.missing == "drop" else (sheet.asked, sheet.repeats)
        result = _pair(rows, behind, place, sheet, bound, options)
        same = all(np.array_equal(rows[side], others[side], equal_nan=True) for side in (0, place))
        other = None if same else _pair(others, beside, place, sheet, bound, options)
        twin = None
        if sheet.twin is not None and chosen.twin is not None:
            twin = _pair(sheet.twin, None, place, sheet, chosen.twin.bound, options)
        first, second = sheet.there[0], sheet.there[place]
        found.append(
            Compared(
                match=match,
                chosen=chosen,
                sheet=sheet,
                place=place,
                result=result,
                other=None if other is None or _alike(result, other) else other,
                twin=twin if twin is not None and twin.items else None,
                only_first=int(np.sum(first & ~second)),
                only_second=int(np.sum(second & ~first)),
            )
        )
    return found


def _pair(
    rows: Floats, repeats: Counts | None, place: int, sheet: Sheet, bound: float | None, options: CompareOptions
) -> PairResult:
    return judge_pair(
        rows[0],
        rows[place],
        random_of(options, sheet, place),
        clusters=sheet.clusters,
        repeated=sheet.repeated,
        repeats=None if repeats is None else repeats[[0, place]],
        alpha=options.alpha,
        bound=bound,
    )


def _alike(one: PairResult, two: PairResult) -> bool:
    return (one.items, one.up, one.down, one.difference) == (two.items, two.up, two.down, two.difference)


def random_of(options: CompareOptions, sheet: Sheet, place: int) -> np.random.Generator:
    """A generator of its own for each comparison: what else is compared does not change it."""
    return np.random.default_rng([options.seed, int(digest(sheet.labels[:1], 8), 16), place])


def give_verdicts(compared: list[Compared], options: CompareOptions) -> list[Verdict]:
    """Words for all comparisons of one call; they share one allowance for false alarms."""
    judged = [number for number, one in enumerate(compared) if one.result.items]
    p = [compared[number].result.p for number in judged]
    adjusted = dict(zip(judged, zip(holm(p).tolist(), benjamini_hochberg(p).tolist(), strict=True), strict=True))
    looks = max(1, len(judged))
    return [_verdict(one, adjusted.get(number, (1.0, 1.0)), looks, options) for number, one in enumerate(compared)]


def _verdict(one: Compared, adjusted: tuple[float, float], looks: int, options: CompareOptions) -> Verdict:
    used = adjusted[0] if options.adjust == "holm" else adjusted[1]
    bound = one.chosen.measure.bound
    margin = options.margin if options.margin is not None else None if bound is None else MARGIN * bound
    word = verdict_of(one.result, used, alpha=options.alpha, margin=margin, rising=one.chosen.measure.rising)
    level = options.alpha / looks  # the first step of Holm's rule: what a single difference has to pass
    discordant = one.result.discordant
    return Verdict(
        word=word,
        holm=adjusted[0],
        bh=adjusted[1],
        used=used,
        margin=margin,
        needed=None if margin is None else paired_items(discordant, margin, level),
        detectable=paired_detectable(discordant, one.result.items, level),
    )
