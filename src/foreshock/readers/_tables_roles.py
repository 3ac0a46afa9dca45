"""Which column of a table of aggregates plays which role."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from foreshock._base import AmbiguousError, ConfigError
from foreshock.readers import _items_roles
from foreshock.readers._tables_axis import AXES, kind_of, number, plain_name

ROLES = (
    *("model", "task", "metric", "y", "stderr", "n", "date", "family", "shots", "seed", "subset", "condition"),
    *AXES,
    "x",
)
ALIASES = {"score": "y"}
GENERIC = frozenset({"score", "value", "mean", "result", "y"})
# these may number the rows of any table
_NUMBERS = frozenset({"id", "index", "idx", "uid"})
_ITEM_SCORES = frozenset({"", "0", "1", "0.0", "1.0", "true", "false"})
# Per role, names in order of preference; two names of one tier in a table are ambiguous.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "model": (("model", "model_name"), ("model_version", "model_id", "llm"), ("name",)),
    "task": (("task", "task_name"), ("benchmark", "dataset", "eval")),
    "metric": (("metric", "metric_name"),),
    "y": (("score", "value"), ("accuracy", "acc", "exact_match", "em"), ("mean", "average", "overall_accuracy")),
    "stderr": (("stderr", "standard_error", "std_err", "se", "sem"),),
    "n": (("n", "n_items", "num_items", "n_samples", "num_samples"), ("items", "total")),
    "date": (("date", "created", "created_at", "started_at"),),
    "family": (("family", "model_family"),),
    "shots": (("shots", "num_fewshot", "n_shot", "fewshot"),),
    "seed": (("seed", "replicate"),),
    "subset": (("subset", "subject", "category"),),
}


def told(mapping: dict[str, str], columns: Sequence[str], where: str) -> dict[str, str]:
    """Roles named by the user, completed by what is plain from the names.

    Raises:
        ConfigError: A role is unknown.
        AmbiguousError: A column is not in the table, or no column holds the score.
    """
    given = {ALIASES.get(role, role): column for role, column in mapping.items()}
    group = given.pop("group", None)
    unknown = sorted(given.keys() - set(ROLES))
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} is no role", expected=f"some of {', '.join(ROLES)}, group", do="see docs/readers/tables.md"
        )
    if group is not None:
        given["family" if "task" in given else "task"] = group
    for role, column in given.items():
        if column not in columns:
            raise AmbiguousError(
                f"no column {column!r} for the role {role}",
                expected=f"one of {_items_roles.shown(columns)}",
                do="correct the option",
                where=where,
            )
    free = [c for c in columns if c not in given.values()]
    # what the user left out is filled in only where nothing has to be chosen
    rest = {role: found[0] for role in NAMES if role not in given and len(found := matches(role, free)) == 1}
    x = given.pop("x", None)
    if x is not None:
        given[kind_of(x) or "x"] = x
    rest |= {kind: c for c in free if (kind := kind_of(c)) and kind not in given}
    return _sufficient({**rest, **given}, columns, where)


def detect(columns: Sequence[str], where: str) -> dict[str, str]:
    """Roles that are plain from the names.

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
    return _sufficient(found, columns, where)


def matches(role: str, columns: Sequence[str]) -> list[str]:
    """Columns whose name says that they play ``role``, of the best tier that occurs."""
    hits = ([c for c in columns if plain_name(c) in tier] for tier in NAMES[role])
    return next(filter(None, hits), [])


def is_aggregates(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether this is plainly a table of aggregates: a score, what orders or names models, and no item.

    A column ``id`` may number the rows of such a table, or be the item; then the scores tell: those of single items
    are 0 or 1.
    """
    items = any(_items_roles.matches(r, columns) for r in ("output", "answer", "target", "choices", "input"))
    named = any(matches("model", columns)) or any(map(kind_of, columns)) or any(matches("family", columns))
    y = matches("y", columns)
    if items or _has_item(columns) or not named or not y:
        return False
    if not any(plain_name(c) in _NUMBERS for c in columns):
        return True
    cells = {row[columns.index(y[0])].lower() for row in rows if len(row) == len(columns)}
    return not cells <= _ITEM_SCORES


def is_wide(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether this looks like one column for each benchmark: models or sizes, then numbers under other names."""
    named = any(matches("model", columns)) or any(map(kind_of, columns))
    return named and not _has_item(columns) and not matches("y", columns) and len(_benchmarks(columns, rows)) >= 2


def _benchmarks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of numbers whose names say nothing."""
    whole = [row for row in rows if len(row) == len(columns)]
    return [
        column
        for place, column in enumerate(columns)
        if not any(matches(r, [column]) for r in NAMES)
        and not kind_of(column)
        and plain_name(column) not in _NUMBERS
        and any(row[place] for row in whole)
        and all(number(row[place].removesuffix("%")) for row in whole if row[place])
    ]


def _has_item(columns: Sequence[str]) -> bool:
    names = {plain_name(c) for c in _items_roles.matches("item", columns)}
    return bool(names - _NUMBERS)


def wide_error(columns: Sequence[str], rows: Sequence[Sequence[str]], where: str) -> AmbiguousError:
    """The refusal of a wide table, with the way to read one column of it."""
    plain = _benchmarks(columns, rows)
    x = next((c for c in columns if kind_of(c)), None) or "COLUMN"
    return AmbiguousError(
        f"a wide table, with one column for each of {_items_roles.shown(plain)}",
        expected="a long table: one row for each score, with columns such as model, size, task, score",
        do="reshape it, or read one column: "
        f"foreshock check --csv {shlex.quote(where)} --x {shlex.quote(x)} --y COLUMN",
        where=where,
    )


def _sufficient(found: dict[str, str], columns: Sequence[str], where: str) -> dict[str, str]:
    missing = []
    if "y" not in found:
        missing.append("score (--y)")
    if not {"model", "x", *AXES} & found.keys():
        missing.append("model or axis (--x)")
    if missing:
        raise AmbiguousError(
            f"no column is plainly the {' and the '.join(missing)}; the columns are {_items_roles.shown(columns)}",
            expected="a long table of aggregates",
            do=command(where, found),
            where=where,
        )
    return {role: found[role] for role in ROLES if role in found}


def command(where: str, known: dict[str, str]) -> str:
    """The command to complete, with the roles known so far filled in."""
    x = known.get("x") or next((known[k] for k in AXES if k in known), "COLUMN")
    options = {"--x": x, "--y": known.get("y", "COLUMN"), "--group": known.get("task", "COLUMN")}
    words = [f"{option} {shlex.quote(value)}" for option, value in options.items()]
    return f"say it: foreshock check --csv {shlex.quote(where)} {' '.join(words)}"
