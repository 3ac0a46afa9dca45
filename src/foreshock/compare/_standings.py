"""Finding FS902 and the rows of the table ``board``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from foreshock.compare._board import SPLITS, Board, rank_board
from foreshock.compare._judge import random_of
from foreshock.compare._load import Sheet
from foreshock.compare._match import Match
from foreshock.compare._measure import Chosen
from foreshock.compare._options import CompareOptions, Side
from foreshock.records import Effect, Finding, Fit, Need, Rate, State, Subject

CODE = "FS902"


def board_of(
    match: Match, chosen: Chosen, sheet: Sheet, sides: Sequence[Side], options: CompareOptions, data_hash: str
) -> tuple[Finding, list[dict[str, Any]]] | None:
    """FS902 and its rows; None with fewer than three sides."""
    labels = [sides[side].label for side in match.sides]
    if len(labels) < 3:
        return None
    rows = sheet.scores if options.missing == "drop" else sheet.filled
    subject = Subject(
        task=match.task,
        metric=chosen.measure.name + (f",{chosen.filter}" if chosen.filter else ""),
        runs=[run.run_key for runs in match.runs for run in runs],
    )
    if np.isnan(rows).any(axis=0).all():
        return _empty(subject), []
    board = rank_board(
        rows,
        random_of(options, sheet, 0),
        clusters=sheet.clusters,
        repeated=sheet.repeated,
        repeats=sheet.repeats if rows is sheet.scores else sheet.asked,
        bound=chosen.measure.bound,
        alpha=options.alpha,
        rising=chosen.measure.rising,
    )
    names = [labels[row] for row in board.order]
    finding = _finding(board, names, subject, options, data_hash)
    return finding, [_row(board, place, names, finding, match, chosen) for place in range(len(names))]


def _finding(board: Board, names: list[str], subject: Subject, options: CompareOptions, data_hash: str) -> Finding:
    tied = board.worst[0] - 1
    alone = tied == 0
    rest = f"{tied} other{'s' if tied > 1 else ''}"
    stays = (
        "" if math.isnan(board.first_stays) else f"; it stays first in {board.first_stays:.0%} of random half splits"
    )
    title = (
        f"{names[0]} is first, apart from all others{stays}"
        if alone
        else f"{names[0]} is first by value, but {rest} cannot be told from it{stays}"
    )
    apart = int(np.sum(np.triu(board.adjusted <= options.alpha, 1)))
    pairs = len(names) * (len(names) - 1) // 2
    return Finding(
        code=CODE,
        subject=subject,
        state=State.OK if alone else State.NO_DATA,
        verdict="separated" if alone else "tied",
        title=f"{title} ({apart} of {pairs} pairs are told apart)",
        effect=None
        if math.isnan(board.first_stays)
        else Effect(
            name="half splits in which the first stays first",
            unit="share",
            value=board.first_stays,
            low=None,
            high=None,
        ),
        null="any two are equally good: swapping their names changes no probability; unit: the cluster of items; "
        "Holm's correction over all pairs",
        replicates=SPLITS,
        rate=Rate(stated=options.alpha),
        needs=[] if alone else [Need(what="pairs of models that are told apart", have=apart, enough=pairs)],
        fit=Fit(data_hash=data_hash, seed=options.seed),
        advice="publish the tie groups beside the ranks; two that share a letter have no order",
    )


def _empty(subject: Subject) -> Finding:
    return Finding(
        code=CODE,
        subject=subject,
        state=State.NO_DATA,
        verdict="tied",
        title="no item has a score from every one of these runs",
        null="nothing was tested",
        needs=[Need(what="items that all have a score for", have=0, enough=None)],
        advice="leave out the run that shares no items with the others",
    )


def _row(
    board: Board, place: int, names: Sequence[str], finding: Finding, match: Match, chosen: Chosen
) -> dict[str, Any]:
    side = board.order[place]
    return {
        "finding_id": finding.id,
        "task": match.task,
        "metric": finding.subject.metric,
        "unit": chosen.measure.unit,
        "rank": place + 1,
        "model": names[place],
        "runs": [run.run_key for run in match.runs[side]],
        "value": board.means[place],
        "letters": board.letters[place],
        "best_rank": board.best[place],
        "worst_rank": board.worst[place],
        "p_next": float(board.adjusted[place, place + 1]) if place + 1 < len(names) else None,
        "items": board.items,
        "clusters": board.clusters,
        "first_stays": None if math.isnan(board.first_stays) else board.first_stays,
    }
