"""Runs that lost responses: how many, and when the loss decides the answer, so that no gate passes what broke."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.compare._judge import Compared, Verdict
from foreshock.compare._options import CompareOptions
from foreshock.compare._pair import verdict_of
from foreshock.compare._words import amount
from foreshock.stats import benjamini_hochberg, holm

WORD = "incomplete"
"""Verdict of a run that is worse than the baseline only because responses did not arrive or have no score."""


def lost_of(one: Compared, place: int) -> int:
    """Responses of a side that did not arrive, also those that its log announces and does not list.

    Args:
        one: A comparison.
        place: Row of the sheet.
    """
    counts, runs = one.sheet.counts[place], one.match.runs[place]
    expected = asked_of(one, place)
    unlisted = 0 if expected is None else expected - counts.responses
    return counts.undelivered + max(0, min(unlisted, sum(run.counts.missing for run in runs)))


def unscored_of(one: Compared, place: int) -> int:
    """Responses of a side that arrived and have no score.

    Args:
        one: A comparison.
        place: Row of the sheet.
    """
    return one.sheet.counts[place].unscored


def lack_of(one: Compared) -> str:
    """What the responses lack that the two sides lost: ``did not arrive``, ``have no score``, or both.

    Args:
        one: A comparison.
    """
    places = (0, one.place)
    arrival, score = (any(count(one, place) for place in places) for count in (lost_of, unscored_of))
    if score:
        return "did not arrive or have no score" if arrival else "have no score"
    return "did not arrive"


def asked_of(one: Compared, place: int) -> int | None:
    """Responses that the runs of a side announce for one answer filter; None where one of them does not."""
    expected = [run.counts.expected for run in one.match.runs[place]]
    return None if None in expected else sum(n or 0 for n in expected) // one.chosen.filters


def settle(compared: Sequence[Compared], verdicts: Sequence[Verdict], options: CompareOptions) -> list[Verdict]:
    """Verdicts with the adjusted p-values of the other way to treat what was lost, and ``incomplete`` among them.

    Both ways are adjusted for all comparisons of the call. A run that is no regression on the items that both have, but
    would be one were its lost responses wrong, is ``incomplete``.
    """
    judged = [number for number, one in enumerate(compared) if (one.other or one.result).items]
    p = [(compared[number].other or compared[number].result).p for number in judged]
    adjusted = (holm(p) if options.adjust == "holm" else benjamini_hochberg(p)).tolist()
    known = dict(zip(judged, adjusted, strict=True))
    found = []
    for number, (one, verdict) in enumerate(zip(compared, verdicts, strict=True)):
        with_other = verdict._replace(other=known.get(number, 1.0))
        loses = options.missing == "drop" and other_word(one, with_other, options) == "regression"
        found.append(with_other._replace(word=WORD) if loses and verdict.word != "regression" else with_other)
    return found


def other_word(one: Compared, verdict: Verdict, options: CompareOptions) -> str | None:
    """The verdict when what was lost is treated the other way; None where nothing was."""
    if one.other is None:
        return None
    rising = one.chosen.measure.rising
    return verdict_of(one.other, verdict.other, alpha=options.alpha, margin=verdict.margin, rising=rising)


def title(one: Compared, first: str, second: str) -> str:
    """One sentence about a run whose loss decides."""
    assert one.other is not None
    size = amount(abs(one.other.difference), one.chosen.measure)
    said = f"{second} {loss_of(one)}; counted as wrong, they make it worse than {first} by {size}"
    if not one.result.items:
        return f"{said}, and no item is left that both have"
    kept = amount(one.result.difference, one.chosen.measure, signed=True)
    return f"{said}; on the {one.result.items:,} items that both have the difference is {kept}"


def loss_of(one: Compared) -> str:
    """What the other side lost, in words that follow its name.

    Args:
        one: A comparison in which it lost something.
    """
    lost, unscored, asked = lost_of(one, one.place), unscored_of(one, one.place), asked_of(one, one.place)
    of = f" of {asked:,}" if asked is not None else ""
    if not unscored:
        return f"lost {lost:,}{of} responses"
    also = f"lost {lost:,} and " if lost else ""
    return f"{also}has no score for {unscored:,}{of} responses"


def advice(one: Compared, second: str) -> str:
    """What to do about it."""
    if unscored_of(one, one.place):
        lead = f"find out why responses of {second} {lack_of(one)} (the scorer may have failed) and score or run these "
    else:
        lead = f"find out why responses of {second} did not arrive and run these "
    return (
        f"{lead}items again; until then claim neither that it is as good nor that it is worse (--missing wrong counts "
        "them as wrong)"
    )
