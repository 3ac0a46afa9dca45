"""Is this jump real, or made by the metric?"""

from foreshock.mirage import induce
from foreshock.mirage._common import CODE as _FS302
from foreshock.mirage._common import CommonJump
from foreshock.mirage._differences import entry_of_difference, entry_of_total_difference
from foreshock.mirage._emergence import Emergence, emergence, emergence_p, emergence_scores
from foreshock.mirage._entry import Entry
from foreshock.mirage._entry_facts import EntryFacts, entry_facts
from foreshock.mirage._family import FamilyJudgement, judge, judge_family
from foreshock.mirage._finding import CODE as _FS301
from foreshock.mirage._foreseeable import Forecast, Foreseeable, foreseeable
from foreshock.mirage._judgement import Asked, Judgement, Line, Move
from foreshock.mirage._length import Conditional, from_length, judge_length, length_rows
from foreshock.mirage._measures import DECODED, Hard, Twin
from foreshock.mirage._meta import Meta, meta
from foreshock.mirage._meta_emergent import (
    KINDS,
    NO_ERRORS,
    Triplet,
    judgement_triplets,
    series_triplets,
    verdict_triplets,
)
from foreshock.mirage._meta_listed import Listed, read_listed
from foreshock.mirage._meta_store import Gathered, gather
from foreshock.mirage._meta_swap import Swap, swap
from foreshock.mirage._noise import NoisePrior
from foreshock.mirage._positions import LinkCheck, check_positions
from foreshock.mirage._predictions import predictions
from foreshock.mirage._repeats import sampled
from foreshock.mirage._resolution import Jump, jump_resolution, resolution, resolution_rows
from foreshock.mirage._share import Share
from foreshock.mirage._totals import entry_of_totals, totals_lack
from foreshock.mirage._trend import Trend, trend_of
from foreshock.series import TWIN_ORDER as ORDER
from foreshock.series import order_for, twin_of

CODES = (_FS301, _FS302)
"""The findings of this room: one line of models, and a whole family."""

__all__ = [
    "CODES",
    "DECODED",
    "KINDS",
    "NO_ERRORS",
    "ORDER",
    "Asked",
    "CommonJump",
    "Conditional",
    "Emergence",
    "Entry",
    "EntryFacts",
    "FamilyJudgement",
    "Forecast",
    "Foreseeable",
    "Gathered",
    "Hard",
    "Judgement",
    "Jump",
    "Line",
    "LinkCheck",
    "Listed",
    "Meta",
    "Move",
    "NoisePrior",
    "Share",
    "Swap",
    "Trend",
    "Triplet",
    "Twin",
    "check_positions",
    "emergence",
    "emergence_p",
    "emergence_scores",
    "entry_facts",
    "entry_of_difference",
    "entry_of_total_difference",
    "entry_of_totals",
    "foreseeable",
    "from_length",
    "gather",
    "induce",
    "judge",
    "judge_family",
    "judge_length",
    "judgement_triplets",
    "jump_resolution",
    "length_rows",
    "meta",
    "order_for",
    "predictions",
    "read_listed",
    "resolution",
    "resolution_rows",
    "sampled",
    "series_triplets",
    "swap",
    "totals_lack",
    "trend_of",
    "twin_of",
    "verdict_triplets",
]
