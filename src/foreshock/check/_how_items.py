"""What brings a twin to a table of responses: a role that none of its columns plays yet, or answers that it lacks."""

from __future__ import annotations

from collections.abc import Mapping

from foreshock.check._how import NO_RATE, REPEATS, How, words
from foreshock.records import Run

_CLOSENESS = "the closeness of answers"
_RATE = f"the pass rate of each item over {REPEATS} answers"
_TEXTS = "Where {output} holds whole texts, add a column of the answers in them and name that one instead."
_COLUMNS = "The table has to hold {columns}."
_REPEATED = f"The table has to hold {REPEATS} answers to each item, drawn anew each time, numbered in a column"
_PLACES = {"answer": "ANSWERS", "target": "TARGETS"}
_MEANS = {"answer": "extracted answers, say ANSWERS", "target": "right answers, say TARGETS"}


def how_items(run: Run, *, choices: bool, rates: bool) -> How:
    """The least that is missing: answers and targets for a closeness, else repeats for a pass rate.

    Args:
        run: A run of the table; what its columns were read as stands in it.
        choices: Whether the items offer options, of which none is closer than another.
        rates: Whether a pass rate would do.
    """
    roles = _roles(run)
    lacking = [] if choices else [role for role in _PLACES if role not in roles]
    if not lacking and not rates:
        return NO_RATE
    if not lacking:
        column = roles.get("epoch")
        before = f"{_REPEATED}{f' ({column})' if column else ', say REPEATS'}."
        return How(_RATE, _command(run, roles, {} if column else {"epoch": "REPEATS"}), before)
    added = {role: _PLACES[role] for role in lacking}
    first: list[str] = []
    if "answer" in added and "output" in roles:
        added["answer"] = roles["output"]
        first.append(_TEXTS.format(output=roles["output"]))
    absent = [_MEANS[role] for role in lacking if added[role] == _PLACES[role]]
    if absent:
        noun = "a column of " if len(absent) == 1 else "columns of "
        first.insert(0, _COLUMNS.format(columns=noun + " and of ".join(absent)))
    return How(_CLOSENESS, _command(run, roles, added), " ".join(first))


def _roles(run: Run) -> dict[str, str]:
    told = run.meta.get("read_as")
    columns = told if isinstance(told, Mapping) else {}
    return {str(role): column for role, column in columns.items() if isinstance(column, str) and column}


def _command(run: Run, roles: Mapping[str, str], added: Mapping[str, str]) -> str:
    """Reading the table again, with the roles that its columns were given and do not show by their names."""
    moved = set(added.values())
    kept = {role: column for role, column in roles.items() if role != column.lower() and column not in moved}
    pairs = ",".join(f"{role}={column}" for role, column in {**kept, **added}.items())
    path = run.sources[0].path if run.sources else "TABLE"
    return words("foreshock", "check", path, *(["--map", pairs] if pairs else []))
