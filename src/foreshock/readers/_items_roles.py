"""Which column plays which role in a table of responses: told by the user, or plain from the names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from foreshock._base import AmbiguousError, ConfigError
from foreshock.readers._json import text

ROLES = (
    *("item", "model", "task", "input", "choices", "output", "answer", "target", "gold_index", "score", "metric"),
    *("epoch", "subset", "date", "total"),
)

# Per role, names in order of preference; two names of one tier in a table are ambiguous.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "item": (
        ("question_id", "item_id", "sample_id", "example_id", "problem_id", "instance_id", "doc_id"),
        ("item", "id", "idx", "qid", "uid", "index"),
        ("test", "test_name", "test_id", "check"),
    ),
    "model": (("model", "model_name", "model_id", "llm"), ("system", "engine"), ("run", "run_id", "submission")),
    "task": (("task", "task_name"), ("benchmark", "dataset", "eval")),
    "input": (("question", "problem"), ("input", "query"), ("prompt", "instruction"), ("text",)),
    "choices": (("choices", "options", "candidates"),),
    "output": (
        ("output", "model_output", "generated_text", "generation", "completion", "response", "model_response"),
        ("reply", "raw_output", "generated"),
    ),
    "answer": (
        ("pred", "prediction", "predicted", "extracted_answer", "parsed_answer", "model_answer", "predicted_answer"),
    ),
    "target": (("target", "gold", "label", "expected", "reference", "ground_truth", "correct_answer", "gold_answer"),),
    "gold_index": (("answer_index", "gold_index", "label_index", "answer_idx", "correct_index"),),
    "score": (("score", "correct", "is_correct", "acc", "accuracy", "passed", "exact_match", "success"),),
    "metric": (("metric", "metric_name", "metric_id"),),
    "epoch": (("epoch",), ("repeat", "trial", "attempt", "sample")),
    "subset": (("category", "subject", "subset"), ("domain", "topic")),
    "date": (("date", "created", "created_at"), ("timestamp",)),
    "total": (("total", "max_score", "max_points", "out_of"),),
}
# what tells rows apart; a column of such a name is taken for it beside a mapping that does not mention it
APART = ("model", "task", "metric", "epoch", "subset")
_MAX_SHOWN = 16


class Roles(NamedTuple):
    """Role to column, and which of them the user did not name."""

    columns: dict[str, str]
    found: tuple[str, ...] = ()

    def sentence(self) -> str:
        """How the table was understood, for the user."""
        return "read as " + ", ".join(f"{role}={column}" for role, column in self.columns.items())


def told(mapping: dict[str, str], columns: Sequence[str], where: str, known: Collection[str] = ()) -> Roles:
    """Roles named by the user, and those that tell rows apart and are plain from the names of other columns.

    Args:
        mapping: Role to column.
        columns: Names of the columns.
        where: Place of the table, for messages.
        known: Roles that the user settled in another way; no column is looked for.

    Raises:
        ConfigError: A role is unknown.
        AmbiguousError: A column is not in the table, too few roles are given to read responses, or two other columns
            could be the model or the task.
    """
    unknown = sorted(mapping.keys() - set(ROLES))
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} is no role", expected=f"some of {', '.join(ROLES)}", do="see docs/readers/tables.md"
        )
    for role, whole in mapping.items():
        column = next((c for c in parts_of(role, whole, columns) if c.partition(".")[0] not in columns), None)
        if column is not None and column not in columns:
            raise AmbiguousError(
                f"no column {column!r} for the role {role}",
                expected=f"one of {shown(columns)}",
                do="correct --map",
                where=where,
            )
    found = _apart(mapping, columns, where, known)
    both = {**found, **mapping}
    return _sufficient(Roles({r: both[r] for r in ROLES if r in both}, tuple(found)), columns, where)


def _apart(mapping: dict[str, str], columns: Sequence[str], where: str, known: Collection[str]) -> dict[str, str]:
    used = {c for role, whole in mapping.items() for c in parts_of(role, whole, columns)}
    used |= {column.partition(".")[0] for column in used}
    free = [c for c in columns if c not in used]
    found = {}
    for role in APART:
        candidates = [] if role in mapping or role in known else matches(role, free)
        if len(candidates) > 1 and role in ("model", "task"):
            raise _two(role, candidates, {**mapping, role: candidates[0]}, where)
        if len(candidates) == 1 and (role != "metric" or "score" in mapping):
            found[role] = candidates[0]
    return found


def parts_of(role: str, column: str, columns: Collection[str]) -> list[str]:
    """Columns of a role: an item may be made of several, ``test+language``."""
    return column.split("+") if role == "item" and column not in columns else [column]


def _two(role: str, candidates: Sequence[str], roles: dict[str, str], where: str) -> AmbiguousError:
    return AmbiguousError(
        f"columns {' and '.join(map(repr, candidates))} could both be the {role}",
        expected="one column for each role",
        do=command(where, roles),
        where=where,
    )


def detect(columns: Sequence[str], where: str) -> Roles:
    """Roles that are plain from the names of the columns.

    Raises:
        AmbiguousError: Two columns could play one role, or a necessary role has no column; the message holds the
            command to complete.
    """
    found: dict[str, str] = {}
    for role in ROLES:
        candidates = matches(role, columns)
        if len(candidates) > 1:
            raise _two(role, candidates, {**found, role: candidates[0]}, where)
        if candidates:
            found[role] = candidates[0]
    _place_answer(found, columns)
    return _sufficient(Roles({r: found[r] for r in ROLES if r in found}), columns, where)


def matches(role: str, columns: Sequence[str]) -> list[str]:
    """Columns whose name says that they play ``role``, of the best tier that occurs."""
    names = {c: plain(c) for c in columns}
    for tier in NAMES[role]:
        hits = [c for c, name in names.items() if name in tier]
        if hits:
            return hits
    return []


def _place_answer(found: dict[str, str], columns: Sequence[str]) -> None:
    """``answer`` is the right one beside an output or a prediction, and the model's beside a target."""
    named = [c for c in columns if plain(c) == "answer"]
    if len(named) != 1:
        return
    if "target" not in found and ("output" in found or "answer" in found):
        found["target"] = named[0]
    elif "target" in found and "answer" not in found:
        found["answer"] = named[0]


def _sufficient(roles: Roles, columns: Sequence[str], where: str) -> Roles:
    has = roles.columns
    missing = []
    if "item" not in has and "input" not in has:
        missing.append("item (or input)")
    nothing = not {"output", "answer", "score"} & has.keys()
    if nothing:
        missing.append("output, answer or score")
    if missing:
        raise AmbiguousError(
            f"no column is plainly the {' and the '.join(missing)}; the columns are {shown(columns)}",
            expected="a table of responses, or of aggregates with --csv",
            do=command(where, has),
            where=where,
        )
    return roles


def command(where: str, known: dict[str, str]) -> str:
    """The command to complete, with the roles known so far filled in."""
    needed = [] if "item" in known or "input" in known else ["item"]
    needed += [] if {"output", "answer", "score"} & known.keys() else ["output", "target"]
    roles = {**{r: "COLUMN" for r in needed if r not in known}, **known}
    pairs = ",".join(f"{r}={roles[r]}" for r in ROLES if r in roles)
    path = where.split(", member ", maxsplit=1)[0]
    return f"say it: foreshock add {shlex.quote(path)} --map {shlex.quote(pairs)}"


def shown(columns: Sequence[str]) -> str:
    """Names for a message, in bounded length."""
    names = [c if len(c) <= 60 and c.isprintable() else ascii(c[:60]) for c in columns[:_MAX_SHOWN]]
    return ", ".join(names) + (f", ... ({len(columns)} in all)" if len(columns) > _MAX_SHOWN else "")


def plain(name: str) -> str:
    if name.isascii() and name.isalnum():  # most names: a table of 20,000 columns asks 20 times for each
        return name.lower()
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def shots_in(stem: str) -> tuple[str, str | None]:
    """A name without ``_5-shot`` or ``_5shots`` at its end, and the number.

    Examples:
        >>> shots_in("eus_exams_eu_5-shot")
        ('eus_exams_eu', '5')
    """
    found = re.search(r"[_-](\d+)[-_]?shots?$", stem)
    return (stem[: found.start()], found[1]) if found else (stem, None)


def parent_name(path: Path) -> str:
    """Name of the folder of a file."""
    return text(path.absolute().parent.name or path.stem)
