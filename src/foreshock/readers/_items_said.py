"""What was said of the scores of a table of responses: refused where it says nothing, else kept with the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from foreshock._base import AmbiguousError, ConfigError, ForeshockError
from foreshock.readers._items_roles import Roles, parts_of
from foreshock.readers._items_table import Table, cell
from foreshock.readers._items_values import largest_score, scale_told
from foreshock.readers._protocol import ReadOptions


def suit(error: AmbiguousError, table: Table, roles: Roles) -> None:
    """Suggest the scale that holds every score of a table, not only the first that did not fit."""
    columns = parts_of("score", roles.columns["score"], table.data.columns)
    with suppress(ForeshockError):
        largest = largest_score([cell(row, c) for c in columns] for _, row in table.data.rows())
        error.do = scale_told(-1 if largest is None else largest)


def declared(scores: Sequence[str], options: ReadOptions, table: Table) -> dict[str, dict[str, str]]:
    """What was said of the columns of scores: their kind, and which of them is the twin of the others.

    Raises:
        ConfigError: The twin is no column of scores.
    """
    twin = options.twin
    if twin is not None and (twin not in scores or len(scores) < 2):
        raise ConfigError(
            f"--twin {twin!r} is no column of scores",
            expected=f"one of several; the columns of scores are {', '.join(scores)}",
            do=f"name both: --map score=COLUMN,score={twin}",
            where=table.where,
        )
    kind = {"kind": options.kind} if options.kind is not None else {}
    beside = {"twin": twin} if twin is not None else {}
    return {score: {"kind": "continuous"} if score == twin else kind | beside for score in scores}


def refuse_idle(roles: Roles, options: ReadOptions, table: Table) -> None:
    """Refuse what is said of a metric where there is none, or where a column names several."""
    said = next((name for name in ("kind", "metric") if getattr(options, name) is not None), None)
    if said is None or ("score" in roles.columns and "metric" not in roles.columns):
        several = parts_of("score", roles.columns.get("score", ""), table.data.columns)
        if said == "metric" and len(several) > 1:
            raise ConfigError(
                f"--metric of a table with {len(several)} columns of scores",
                expected="one column of scores",
                do="leave --metric out: each column names a metric",
                where=table.where,
            )
        return
    column = roles.columns.get("metric")
    raise ConfigError(
        f"--{said} of a table whose column {column!r} names the metrics"
        if column and "score" in roles.columns
        else f"--{said} of a table of responses without a column of scores",
        expected="one column of scores",
        do=f"leave --{said} out" if column else f"name the scores, --map score=COLUMN, or leave --{said} out",
        where=table.where,
    )
