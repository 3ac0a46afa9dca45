"""Is this jump real, or made by the metric?"""

from foreshock.mirage._common import CODE as _FS302
from foreshock.mirage._common import CommonJump
from foreshock.mirage._emergence import emergence_p, emergence_scores
from foreshock.mirage._entry import Entry
from foreshock.mirage._family import FamilyJudgement, judge, judge_family
from foreshock.mirage._finding import CODE as _FS301
from foreshock.mirage._foreseeable import Forecast, Foreseeable, Trend, foreseeable, trend_of
from foreshock.mirage._judgement import Judgement, Line, Move
from foreshock.mirage._length import Conditional, from_length, judge_length, length_rows
from foreshock.mirage._measures import ORDER, Hard, Twin, order_for
from foreshock.mirage._noise import NoisePrior
from foreshock.mirage._positions import LinkCheck, check_positions
from foreshock.mirage._repeats import sampled
from foreshock.mirage._resolution import Jump, jump_resolution, resolution, resolution_rows
from foreshock.mirage._share import Share
from foreshock.mirage._totals import entry_of_totals, totals_lack, twin_of

CODES = (_FS301, _FS302)
"""The findings of this room: one line of models, and a whole family."""

__all__ = [
    "CODES",
    "ORDER",
    "CommonJump",
    "Conditional",
    "Entry",
    "FamilyJudgement",
    "Forecast",
    "Foreseeable",
    "Hard",
    "Judgement",
    "Jump",
    "Line",
    "LinkCheck",
    "Move",
    "NoisePrior",
    "Share",
    "Trend",
    "Twin",
    "check_positions",
    "emergence_p",
    "emergence_scores",
    "entry_of_totals",
    "foreseeable",
    "from_length",
    "judge",
    "judge_family",
    "judge_length",
    "jump_resolution",
    "length_rows",
    "order_for",
    "resolution",
    "resolution_rows",
    "sampled",
    "totals_lack",
    "trend_of",
    "twin_of",
]
