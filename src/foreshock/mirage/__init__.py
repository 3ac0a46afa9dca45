"""Is this jump real, or made by the metric?"""

from foreshock.mirage._common import CODE as _FS302
from foreshock.mirage._common import CommonJump
from foreshock.mirage._emergence import emergence_p, emergence_scores
from foreshock.mirage._entry import Entry
from foreshock.mirage._family import FamilyJudgement, judge, judge_family
from foreshock.mirage._finding import CODE as _FS301
from foreshock.mirage._judgement import Judgement, Line, Move
from foreshock.mirage._measures import ORDER, Hard, Twin, order_for
from foreshock.mirage._noise import NoisePrior
from foreshock.mirage._positions import LinkCheck, check_positions
from foreshock.mirage._share import Share

CODES = (_FS301, _FS302)
"""The findings of this room: one line of models, and a whole family."""

__all__ = [
    "CODES",
    "ORDER",
    "CommonJump",
    "Entry",
    "FamilyJudgement",
    "Hard",
    "Judgement",
    "Line",
    "LinkCheck",
    "Move",
    "NoisePrior",
    "Share",
    "Twin",
    "check_positions",
    "emergence_p",
    "emergence_scores",
    "judge",
    "judge_family",
    "order_for",
]
