"""Two rows that say different things of one score."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import islice

from foreshock._base import AmbiguousError
from foreshock.readers._items_roles import shown
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import as_text
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import AXES
from foreshock.readers._tables_layout import Layout
from foreshock.readers._tables_numbers import figure

_ROWS = 10_000
_FEW = 4


def clash(
    table: Table, laid: tuple[Layout, ReadOptions], lines: tuple[int, int], metric: str, different: Sequence[str]
) -> AmbiguousError:
    """The refusal of two rows of one model, task and metric, with the command that tells them apart.

    Args:
        table: Where they stand.
        laid: How the table was understood, and what was said about it.
        lines: Their numbers.
        metric: What both are of.
        different: Columns in which they differ.
    """
    layout, options = laid
    used = layout.used
    unused = [c for c in different if c not in used]
    what = f"{table.data.unit}s {lines[0]} and {lines[1]} are both {metric} of one model on one task"
    if not unused:
        return AmbiguousError(
            f"{what}, with different values in {shown(different)}",
            expected="one row for each model, task and metric",
            do="remove or correct one of them",
            where=table.where,
        )
    return AmbiguousError(
        f"{what} and differ in {shown(unused)}",
        expected="one row for each model, task and metric",
        do=f"say which columns tell rows apart, for example: {ready(table, layout, options, **_apart(table, layout))}",
        where=table.where,
    )


def _apart(table: Table, layout: Layout) -> dict[str, str]:
    """Roles for the columns that tell the rows apart: one of texts is the task if there is none, others conditions."""
    taken = layout.used
    free = [c for c in table.data.columns if c not in taken]
    used = [c for c in table.data.columns if c in {*layout.roles.values()}]
    rows = [{c: as_text(cell(row, c)) or "" for c in (*free, *used)} for _, row in islice(table.data.rows(), _ROWS)]
    chosen = _enough(rows, used, free)
    texts = [c for c in chosen if not all(figure(row[c]) for row in rows if row[c])]
    more: dict[str, str] = {}
    if "task" not in layout.roles and layout.task is None and texts:
        more["task"] = max(texts, key=lambda c: len({row[c] for row in rows}))
    rest = [c for c in chosen if c != more.get("task")]
    return more | ({"condition": "+".join(rest)} if rest else {})


def _enough(rows: Sequence[dict[str, str]], used: Sequence[str], free: Sequence[str]) -> list[str]:
    """Few columns that make the rows different, those that number the rows last."""
    chosen: list[str] = []

    def kinds(columns: Sequence[str]) -> int:
        return len({tuple(row[c] for c in columns) for row in rows})

    varying = {c: n for c in free if (n := kinds([c])) > 1}
    numbering = {c for c, n in varying.items() if n > len(rows) // 2}
    for candidates in ([c for c in varying if c not in numbering], list(varying)):
        while candidates and len(chosen) < _FEW and (have := kinds([*used, *chosen])) < len(rows):
            best = max(candidates, key=lambda c: (kinds([*used, *chosen, c]), -varying[c]))
            if kinds([*used, *chosen, best]) == have:
                break
            chosen.append(best)
    return chosen


def given(options: ReadOptions) -> list[str]:
    """The options that were given beside the columns, as words of a command."""
    codes = ",".join(f"{code}={state}" for code, state in options.codes.items())
    told = {
        "--scale": None if options.scale is None else f"{options.scale:g}",
        "--n": options.n,
        "--chance": None if options.chance is None else f"{options.chance:g}",
        "--codes": codes or None,
        "--interval": options.interval,
        "--metric": options.metric,
        "--kind": options.kind,
        "--twin": options.twin,
        "--task-name": options.task,
        "--model-name": options.model,
    }
    return [word for option, text in told.items() if text is not None for word in (option, shlex.quote(text))]


def ready(table: Table, layout: Layout, options: ReadOptions, **more: str) -> str:
    """The command that reads a table as ``layout`` and ``options`` do, with further roles."""
    roles = {**layout.roles, **more}
    words = ["foreshock", "add", "--csv", shlex.quote(str(table.path))]
    axis = next((role for role in ("x", *AXES) if role in roles), None)
    own = {"--x": roles.pop(axis) if axis else None, "--group": roles.pop("task", None)}
    for option, column in own.items():
        if column is not None:
            words += [option, shlex.quote(column)]
    many = len(layout.values) > 12
    for value in layout.values[:1] if many else layout.values:
        if value.column != options.twin:
            words += ["--wide"] if many else ["--y", shlex.quote(value.column)]
    if options.n is not None:
        roles.pop("n", None)  # it stands among what was given
    for role in ("date", "family", "n"):
        if role in roles:
            words += [f"--{role}", shlex.quote(roles.pop(role))]
    if roles:
        words += ["--map", shlex.quote(",".join(f"{role}={column}" for role, column in roles.items()))]
    return " ".join([*words, *given(options)])
