"""Two runs, or a board of them, on the same items: which is better, by how much, and what these items cannot tell."""

from foreshock.compare._board import Board, rank_board
from foreshock.compare._compare import CODES, compare
from foreshock.compare._options import CLUSTERS, CompareOptions, Side
from foreshock.compare._pair import PairResult, judge_pair, verdict_of

__all__ = [
    "CLUSTERS",
    "CODES",
    "Board",
    "CompareOptions",
    "PairResult",
    "Side",
    "compare",
    "judge_pair",
    "rank_board",
    "verdict_of",
]
