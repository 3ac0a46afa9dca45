"""Is this jump real, or made by the metric?"""

from foreshock.mirage._emergence import emergence_p, emergence_scores
from foreshock.mirage._judge import judge
from foreshock.mirage._judgement import Judgement, Line, Move
from foreshock.mirage._measures import ORDER, Hard, Twin, order_for
from foreshock.mirage._positions import LinkCheck, check_positions
from foreshock.mirage._share import Share

__all__ = [
    "ORDER",
    "Hard",
    "Judgement",
    "Line",
    "LinkCheck",
    "Move",
    "Share",
    "Twin",
    "check_positions",
    "emergence_p",
    "emergence_scores",
    "judge",
    "order_for",
]
