"""Which column plays which role in a table of responses: told by the user, or plain from the names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from foreshock._base import AmbiguousError, ConfigError
from foreshock.readers._json import text
from foreshock.readers._tables_axis import AXES
from foreshock.readers._tables_names import NAMES as TABLE_NAMES

ROLES = (
    *("item", "model", "task", "input", "choices", "output", "answer", "target", "gold_index", "score", "metric"),
    *("epoch", "subset", "date", "total", "seed", "step", "shots", "condition"),
)
# what only the user says: a sampling seed of its own for each row would make as many runs
TOLD = ("seed", "step", "shots", "condition")

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
# what tells rows apart; a column of such a name is taken for it beside a preset that does not mention it
APART = ("model", "task", "metric", "epoch", "subset")
# beside a mapping all but two are: a moment for each row makes no runs, and a total would change the scores
BESIDE = tuple(role for role in ROLES if role not in ("date", "total", *TOLD))
SEVERAL = ("item", "score", "condition")
_SCORES = frozenset(
    {*("score", "scores", "acc", "accuracy", "correct", "passed", "pass", "em", "f1", "match", "success", "rating")}
)
_MAX_SHOWN = 16


class Roles(NamedTuple):
    """Role to column, which of them the user did not name, and what was left out because two columns could be it."""

    columns: dict[str, str]
    found: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def sentence(self) -> str:
        """How the table was understood, for the user."""
        return "read as " + ", ".join(f"{role}={shown([column])}" for role, column in self.columns.items())


def told(
    mapping: dict[str, str],
    columns: Sequence[str],
    where: str,
    known: Collection[str] = (),
    among: Sequence[str] = BESIDE,
) -> Roles:
    """Roles named by the user, and those that are plain from the names of other columns.

    Args:
        mapping: Role to column; a role without a column (``""``) is one that no column plays.
        columns: Names of the columns.
        where: Place of the table, for messages.
        known: Roles that the user settled in another way; no column is looked for.
        among: Roles that are looked for.

    Raises:
        ConfigError: A role is unknown, or several columns hold scores and one names the metric.
        AmbiguousError: A column is not in the table, too few roles are given to read responses, or two other columns
            could be the model or the task.
    """
    unknown = sorted(mapping.keys() - set(ROLES))
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} is no role", expected=f"some of {', '.join(ROLES)}", do="see docs/readers/tables.md"
        )
    known = {*known, *(role for role, column in mapping.items() if not column)}
    mapping = {role: column for role, column in mapping.items() if column}
    for role, whole in mapping.items():
        column = next((c for c in parts_of(role, whole, columns) if c.partition(".")[0] not in columns), None)
        if column is not None and column not in columns:
            raise AmbiguousError(
                f"no column {column!r} for the role {role}",
                expected=f"one of {shown(columns)}",
                do="correct --map",
                where=where,
            )
    found, doubts = _beside(mapping, columns, where, [role for role in among if role not in {*mapping, *known}])
    both = {**found, **mapping}
    if "metric" in both and len(parts_of("score", both.get("score", ""), columns)) > 1:
        raise ConfigError(
            f"several columns of scores beside the column {both['metric']!r}, which names the metrics",
            expected="the one or the other",
            do="leave role metric out of --map, or name one column of scores",
            where=where,
        )
    return _sufficient(Roles({r: both[r] for r in ROLES if r in both}, tuple(found), doubts), columns, where)


def _beside(
    mapping: dict[str, str], columns: Sequence[str], where: str, wanted: Sequence[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Roles among ``wanted`` that other columns play by their names, and in words those that two columns could play."""
    used = {c for role, whole in mapping.items() for c in parts_of(role, whole, columns)}
    used |= {column.partition(".")[0] for column in used}
    free = [c for c in columns if c not in used]
    candidates = {role: hits for role in wanted if (hits := matches(role, free))}
    found = {role: hits[0] for role, hits in candidates.items() if len(hits) == 1}
    both = {**found, **mapping}
    _place_answer(both, free, wanted)
    found = {role: column for role, column in both.items() if role not in mapping}
    scores = parts_of("score", both.get("score", ""), columns)
    if not both.get("score") or len(scores) > 1:
        found.pop("metric", None)
    doubts = []
    for role, hits in candidates.items():
        if len(hits) > 1 and role in ("model", "task"):
            raise _two(role, hits, {**found, **mapping, role: hits[0]}, where)
        if len(hits) > 1:
            doubts.append(f"columns {shown(hits)} could each be the {role}, and none is used: --map {role}=COLUMN")
    return found, tuple(doubts)


def parts_of(role: str, column: str, columns: Collection[str]) -> list[str]:
    """Columns of a role: ``test+language`` is one item, and there may be several scores and conditions."""
    return column.split("+") if role in SEVERAL and column not in columns else [column]


def scores_left(columns: Sequence[str], row: Mapping[str, Any], roles: Roles) -> str | None:
    """In words which columns look like scores, by their name and their first cell, and play no role."""
    used = {c for role, whole in roles.columns.items() for c in parts_of(role, whole, columns)}
    free = [c for c in columns if c not in used and _SCORES & {*plain(c).split("_")} and _scorelike(row.get(c))]
    if not free:
        return None
    both = "+".join([*parts_of("score", roles.columns["score"], columns), *free] if "score" in roles.columns else free)
    verb, pronoun = ("looks like scores and is", "it") if len(free) == 1 else ("look like scores and are", "them")
    names = ("column " if len(free) == 1 else "columns ") + shown(free)
    return f"{names} {verb} not used; to read {pronoun}: --map score={shown([both])}"


def _scorelike(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in ("true", "false", "yes", "no") or bool(
            re.fullmatch(r"-?\d*\.?\d+%?", cell.strip())
        )
    return isinstance(cell, int | float)


def _two(role: str, candidates: Sequence[str], roles: dict[str, str], where: str) -> AmbiguousError:
    return AmbiguousError(
        f"columns {' and '.join(map(repr, candidates))} could both be the {role}",
        expected="one column for each role, or several scores" if role == "score" else "one column for each role",
        do=command(where, roles),
        where=where,
    )


def detect(columns: Sequence[str], where: str) -> Roles:
    """Roles that are plain from the names of the columns.

    Raises:
        AmbiguousError: Two columns could play one role, or a necessary role has no column; the message holds the
            command to complete.
    """
    candidates = {role: hits for role in ROLES if (hits := matches(role, columns))}
    found = {role: hits[0] for role, hits in candidates.items() if len(hits) == 1}
    for role, hits in candidates.items():
        if len(hits) > 1:
            raise _two(role, hits, {**found, role: "+".join(hits) if role == "score" else hits[0]}, where)
    _place_answer(found, columns, ROLES)
    return _sufficient(Roles({r: found[r] for r in ROLES if r in found}), columns, where)


def matches(role: str, columns: Sequence[str]) -> list[str]:
    """Columns whose name says that they play ``role``, of the best tier that occurs."""
    names = {c: plain(c) for c in columns}
    for tier in NAMES.get(role, ()):
        hits = [c for c, name in names.items() if name in tier]
        if hits:
            return hits
    return []


def _place_answer(found: dict[str, str], columns: Sequence[str], wanted: Sequence[str]) -> None:
    """``answer`` is the right one beside an output or a prediction, and the model's beside a target."""
    named = [c for c in columns if plain(c) == "answer"]
    if len(named) != 1:
        return
    if "target" in wanted and "target" not in found and ("output" in found or "answer" in found):
        found["target"] = named[0]
    elif "answer" in wanted and "target" in found and "answer" not in found:
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


def series_role(column: str) -> str | None:
    """The role of a column that by its name sets runs of one model apart.

    Examples:
        >>> series_role("train_seed"), series_role("seed"), series_role("Checkpoint"), series_role("num_fewshot")
        (None, 'seed', 'step', 'shots')
    """
    name = plain(column)
    if name in AXES["step"]:
        return "step"
    return next((role for role in ("seed", "shots") if any(name in tier for tier in TABLE_NAMES[role])), None)


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


def task_note(task: str, path: Path) -> str:
    """That a task was guessed from where the file lies, and how to say another."""
    place = "the name of its folder" if task == parent_name(path) else "its name"
    return f"the task, {task[:60]!r}, was taken from {place}; to say another: --task-name NAME"
