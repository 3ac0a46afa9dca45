"""Which column of a table of aggregates plays which role: told by the user, or plain from names and cells."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from foreshock._base import AmbiguousError, ConfigError
from foreshock.readers import _items_roles
from foreshock.readers._protocol import ReadOptions
from foreshock.readers._tables_axis import AXES, kind_of, plain_name
from foreshock.readers._tables_layout import Layout, Value, parts_of
from foreshock.readers._tables_names import ALIASES, NAMES, NUMBERS, ROLES, matches
from foreshock.readers._tables_wide import Rows, benchmarks, binary, chosen, values_of

_ITEM_SCORES = frozenset({"", "0", "1", "0.0", "1.0", "true", "false"})


def told(options: ReadOptions, columns: Sequence[str], rows: Rows, where: str) -> Layout:
    """The layout that the user named, completed by what is plain from the names.

    Raises:
        ConfigError: A role is unknown.
        AmbiguousError: A column is not in the table, or no column holds the score.
    """
    given = {ALIASES.get(role, role): column for role, column in {**options.map, **options.csv}.items()}
    group = given.pop("group", None)
    unknown = sorted(given.keys() - set(ROLES))
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} is no role", expected=f"some of {', '.join(ROLES)}, group", do="see docs/readers/tables.md"
        )
    if group is not None:
        given["family" if "task" in given else "task"] = group
    _refuse_absent(given, columns, where)
    wide = chosen(options.wide, columns, rows, where) if options.wide else []
    taken = {*given.values(), *wide, *([options.twin] if options.twin else [])}
    free = [c for c in columns if c not in taken]
    # what the user left out is filled in only where nothing has to be chosen
    rest = {role: hits[0] for role in NAMES if role not in given and len(hits := matches(role, free)) == 1}
    x = given.pop("x", None)
    if x is not None:
        given[kind_of(x) or "x"] = x
    rest |= {kind: c for c in free if (kind := kind_of(c)) and kind not in given}
    found = {**rest, **given}
    if wide:
        found.pop("y", None)
        tasks = "task" not in found and options.task is None
        return _layout(found, values_of(wide, columns, tasks=tasks), columns, where)
    return _layout(found, _single(found), columns, where)


def detect(columns: Sequence[str], rows: Rows, where: str) -> Layout:
    """The layout that is plain from names and cells.

    Raises:
        AmbiguousError: Two columns could play one role, or a necessary role has no column.
    """
    found: dict[str, str] = {}
    for role in NAMES:
        hits = matches(role, columns)
        if len(hits) > 1:
            raise AmbiguousError(
                f"columns {' and '.join(map(repr, hits))} could both be the {'score' if role == 'y' else role}",
                expected="one column for each role",
                do=command(where, {**found, role: hits[0]}),
                where=where,
            )
        if hits:
            found[role] = hits[0]
    for column in columns:
        kind = kind_of(column)
        if kind and kind in found:
            raise AmbiguousError(
                f"columns {found[kind]!r} and {column!r} could both be the {kind}",
                expected="one column for each role",
                do=command(where, {**found, "x": column}),
                where=where,
            )
        if kind:
            found[kind] = column
    values = _single(found)
    if not values:
        values = values_of(benchmarks(columns, rows), columns, tasks="task" not in found)
    return _layout(found, values, columns, where)


def is_aggregates(columns: Sequence[str], rows: Rows) -> bool:
    """Whether this is plainly a table of aggregates: a score, what orders or names models, and no item.

    A column ``id`` may number the rows of such a table, or be the item; then the scores tell: those of single items
    are 0 or 1.
    """
    items = any(_items_roles.matches(r, columns) for r in ("output", "answer", "target", "choices", "input"))
    named = any(matches("model", columns)) or any(map(kind_of, columns)) or any(matches("family", columns))
    y = matches("y", columns)
    if items or _has_item(columns) or not named or not y:
        return False
    if not any(plain_name(c) in NUMBERS for c in columns):
        return True
    cells = {row[columns.index(y[0])].lower() for row in rows if len(row) == len(columns)}
    return not cells <= _ITEM_SCORES


def is_wide(columns: Sequence[str], rows: Rows) -> bool:
    """Whether this looks like one column for each benchmark: models, then numbers under other names."""
    answers = any(_items_roles.matches(r, columns) for r in ("output", "answer", "choices"))
    return (
        any(matches("model", columns))
        and not answers
        and not _has_item(columns)
        and not matches("y", columns)
        and bool(benchmarks(columns, rows))
        and not binary(columns, rows)
    )


def _has_item(columns: Sequence[str]) -> bool:
    names = {plain_name(c) for c in _items_roles.matches("item", columns)}
    return bool(names - NUMBERS)


def _single(found: Mapping[str, str]) -> tuple[Value, ...]:
    """The one column of scores; its name is the metric when it says one, and there is no column of metrics."""
    if "y" not in found:
        return ()
    return (Value(found["y"], stderr=found.get("stderr")),)


def _refuse_absent(given: Mapping[str, str], columns: Sequence[str], where: str) -> None:
    for role, column in given.items():
        for part in [column] if column in columns else parts_of(role, column):
            if part not in columns:
                raise AmbiguousError(
                    f"no column {part!r} for the role {role}",
                    expected=f"one of {_items_roles.shown(columns)}",
                    do="correct the option",
                    where=where,
                )


def _layout(found: dict[str, str], values: tuple[Value, ...], columns: Sequence[str], where: str) -> Layout:
    missing = []
    if not values:
        missing.append("score (--y)")
    if not {"model", "x", *AXES} & found.keys():
        missing.append("model or axis (--x)")
    if missing:
        raise AmbiguousError(
            f"no column is plainly the {' and the '.join(missing)}; the columns are {_items_roles.shown(columns)}",
            expected="a table of aggregates: models or sizes, and scores",
            do=command(where, found),
            where=where,
        )
    roles = {role: found[role] for role in ROLES if role in found and role not in ("y", "stderr")}
    return Layout(roles, values, fill=filler(roles, columns))


def filler(roles: Mapping[str, str], columns: Sequence[str]) -> str | None:
    """The column that names the model where the best one is blank: the next name that a model may go under."""
    model = roles.get("model")
    if model is None:
        return None
    tiers = NAMES["model"]
    own = next((i for i, tier in enumerate(tiers) if plain_name(model) in tier), None)
    if own is None:
        return None
    used = {*roles.values()}
    lower = {name for tier in tiers[own + 1 :] for name in tier if name not in ("system", "model_id")}
    return next((c for c in columns if plain_name(c) in lower and c not in used), None)


def command(where: str, known: Mapping[str, str]) -> str:
    """The command to complete, with the roles known so far filled in."""
    x = known.get("x") or next((known[k] for k in AXES if k in known), known.get("model", "COLUMN"))
    options = {"--x": x, "--y": known.get("y", "COLUMN"), "--group": known.get("task", "COLUMN")}
    words = [f"{option} {shlex.quote(value)}" for option, value in options.items()]
    path = where.split(", member ", maxsplit=1)[0]
    return f"say it: foreshock check --csv {shlex.quote(path)} {' '.join(words)}"
