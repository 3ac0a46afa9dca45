"""Tasks that are named when emergence is retold: are they emergent, and only under their hard metric?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from foreshock._base import count_of
from foreshock.mirage._meta_emergent import Triplet
from foreshock.mirage._meta_swap import Swap, swap
from foreshock.mirage._predicted import MAJORITY, Row, cannot, more_for_share, swap_row
from foreshock.mirage._window import BEGUN
from foreshock.stats import clopper_pearson

_RETOLD = "told of the paper, not in it"


class _Claim(NamedTuple):
    """One task: how it is told, how its name looks in logs and tables, and the metrics that it is about."""

    name: str
    said: str
    task: re.Pattern[str]
    hard: re.Pattern[str]
    continuous: re.Pattern[str] | None


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


# BLEU is told as the linear metric; it is a product over n-grams itself, so it stands here by name and not by kind
_CLAIMS = (
    _Claim(
        "2-digit addition",
        "2-digit addition is emergent under its hard metric and not under a continuous one.",
        _words(r"arithmetic_2da|2[-_ ]?digit[-_ ]addition|addition[-_ ]2[-_ ]?digit"),
        _words(r"^(acc|accuracy|exact|em$|match)"),
        None,
    ),
    _Claim(
        "Persian question answering",
        "Persian question answering is emergent under its hard metric and not under a continuous one.",
        _words(r"parsinlu[-_ ]?qa|persian[-_ ]?q(uestion|a)"),
        _words(r"^(acc|accuracy|exact|em$|match|multiple_choice)"),
        None,
    ),
    _Claim(
        "IPA transliteration",
        "Transliteration from IPA is emergent under exact match and not under BLEU.",
        _words(r"ipa[-_ ]?translit|international_phonetic"),
        _words(r"exact|^em$"),
        _words(r"bleu"),
    ),
)


def named_tasks(triplets: Sequence[Triplet]) -> list[Row]:
    """Rows of the tasks that are named.

    Args:
        triplets: Of any tasks; those whose name fits are looked at.
    """
    return [_claimed(claim, triplets) for claim in _CLAIMS]


def _claimed(claim: _Claim, triplets: Sequence[Triplet]) -> Row:
    row = Row(claim.name, _RETOLD, claim.said)
    # a list names what is emergent and leaves out the families in which it is not
    mine = [one for one in triplets if one.by != "list" and claim.task.search(one.task)]
    if not mine:
        return cannot(row, "no such task here", "logs or a table of this task over at least 4 models of a family")
    made = _pairs(claim, mine)
    if made.before:
        return swap_row(row, made, "families")
    hard = [one for one in mine if claim.hard.search(one.metric) and one.emergent is not None]
    if not hard:
        longest = max(mine, key=lambda one: one.points or 0)
        return cannot(row, longest.why or "its hard metric is not here", "at least 4 models of a family")
    # where the score has not risen yet, a jump may still come: such a family is no case against one
    risen = [one for one in hard if one.rise is None or one.rise >= BEGUN]
    if not risen:
        why = f"{hard[0].metric} has not risen by {BEGUN:g} in any of {count_of(len(hard), 'family', 'families')}"
        return cannot(row, why, "larger models of these families")
    return _half(row, risen, paired=bool(made.pairs))


def _pairs(claim: _Claim, mine: Sequence[Triplet]) -> Swap:
    """The pairs that the claim is about: its own two metrics, or any hard and continuous one."""
    if claim.continuous is None:
        return swap(mine)
    first = {one.metric for one in mine if claim.hard.search(one.metric)}
    second = {one.metric for one in mine if claim.continuous.search(one.metric)}
    return swap(mine, pairs=dict(zip(sorted(first)[:1], sorted(second)[:1], strict=False)))


def _half(row: Row, hard: Sequence[Triplet], *, paired: bool) -> Row:
    """Only the first half of the claim can be looked at: is the task emergent under its hard metric at all?"""
    n, hits = len(hard), sum(bool(one.emergent) for one in hard)
    low, high = (float(x) for x in clopper_pearson(hits, n))
    unit = "share of families emergent under the hard metric"
    row = row._replace(figure=hits / n, low=low, high=high, unit=unit, n=n)
    seen = f"{hits} of {count_of(n, 'family', 'families')} that rise emergent under {hard[0].metric}"
    if high < MAJORITY:
        return row._replace(answer="contradicted", why=f"{seen}: most are not, so there is nothing to remove")
    if paired:
        return row._replace(why=f"{seen}: nothing to remove yet", enough=more_for_share(hits, n, "families"))
    return row._replace(
        why=f"{seen}; no continuous metric of the same outputs is here",
        enough="a continuous metric of the same outputs: log-probabilities of the answers, or a graded score",
    )
