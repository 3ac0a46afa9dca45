"""Comparisons as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.report._compare import (
    board_note,
    boards,
    details,
    difference,
    interval_head,
    order,
    ranks,
    used_p,
    values,
)
from foreshock.report._format import count, probability, quantity
from foreshock.report._markdown_text import safe, table
from foreshock.report._rows import Tables
from foreshock.report._rows_compare import BoardRow
from foreshock.report._words import mark

_MOST = 50


def compare_parts(tables: Tables) -> list[str]:
    """Tables of comparisons and boards; empty without any."""
    parts: list[str] = []
    rows = order(tables.compare)
    if rows:
        head = ["verdict", "task, metric", "against", "scores", interval_head(rows), "p", "items"]
        body = [
            [
                f"{mark(row.verdict).glyph} {mark(row.verdict).word}",
                safe(f"{row.task}, {row.metric}" if row.metric else row.task, 120),
                safe(f"{row.second} against {row.first}", 160),
                safe(values(row)),
                safe(difference(row)),
                safe(probability(used_p(row))),
                count(row.items),
            ]
            for row in rows[:_MOST]
        ]
        parts += ["### Compared", table(head, body)]
        if len(rows) > _MOST:
            parts.append(f"{_MOST} of {count(len(rows))} comparisons shown.")
        told = ["- " + safe(said, 1_000) for row in rows[:3] for said in details(row, len(rows))]
        parts.append("<details><summary>What stands behind it</summary>\n\n" + "\n".join(told) + "\n\n</details>")
    for board in boards(tables.board):
        parts += _board(board)
    return parts


def _board(places: Sequence[BoardRow]) -> list[str]:
    body = [
        [
            count(row.rank),
            safe(row.model, 120),
            safe(quantity(row.value, unit=row.unit)),
            safe(row.letters),
            safe(ranks(row)),
        ]
        for row in places[:_MOST]
    ]
    notes = "\n".join(f"- {safe(said, 1_000)}" for said in board_note(places))
    return [f"### Board: {safe(places[0].task, 80)}", table(["rank", "model", "score", "tied", "ranks"], body), notes]
