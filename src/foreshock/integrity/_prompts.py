"""Were the items that runs share asked in the same words? Read from the hash of each response's own prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from foreshock.records import Run
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

TEMPLATE = "chat_template"
"""Condition of a run whose prompts went through the model's chat template, and fact of its meta that says which."""

_MAY_BE_TEMPLATED = frozenset({"every-eval-ever", "lighteval"})
"""Formats whose logged prompts may be those after the chat template, and do not say so."""


class Prompts(NamedTuple):
    """How the prompts of several runs of one task differ on the items that they share.

    Attributes:
        shared: Items of which at least two runs log the prompt.
        differ: Of those, the ones of which no prompt is common to all runs that have it.
        odd: Of each run apart from the one that agrees most with the rest, by run key: the items that it shares with
            that one, and on how many of them no prompt is the same; runs without such items are left out.
        first: Key of the run that the others are held against.
    """

    shared: int
    differ: int
    odd: dict[str, tuple[int, int]]
    first: str


def prompts_of(snapshot: Snapshot, task: str, runs: Sequence[Run]) -> Prompts | None:
    """Compare the prompts of runs of a task item by item; an item is its text where the log has it, else its id.

    A run may ask an item in several ways (repeats with other examples): its prompts are the same as another's when they
    have one in common. Memory is bounded by the keys of the task's responses.

    Returns:
        None where no two runs log the prompt of one item.
    """
    import polars as pl

    keys = [run.run_key for run in runs]
    columns = ["run_key", "item_key", "item_id", "prompt_hash"]
    item = pl.coalesce("item_key", pl.concat_str(pl.lit("id:"), "item_id")).alias("item")
    rows = snapshot.scan("responses", tasks=[task], runs=keys, columns=columns).select("run_key", item, "prompt_hash")
    told = rows.drop_nulls().unique().collect()
    told = told.filter(pl.col("run_key").n_unique().over("item") > 1)
    if told.is_empty():
        return None
    told = told.with_columns(alike=pl.len().over("item", "prompt_hash"), runs=pl.col("run_key").n_unique().over("item"))
    per_item = told.group_by("item").agg((pl.col("alike").max() < pl.col("runs").first()).alias("differs"))
    first = _first(told, runs)
    return Prompts(per_item.height, int(per_item["differs"].sum()), _odd(told, first), first)


def _first(told: pl.DataFrame, runs: Sequence[Run]) -> str:
    """The run whose prompts most others share, of several the oldest."""
    import polars as pl

    sums = dict(told.group_by("run_key").agg((pl.col("alike") - 1).sum()).iter_rows())
    there = [run for run in runs if run.run_key in sums]
    return min(there, key=lambda run: (-sums[run.run_key], run.created or "", run.run_key)).run_key


def _odd(told: pl.DataFrame, first: str) -> dict[str, tuple[int, int]]:
    import polars as pl

    mine = told.filter(pl.col("run_key") == first)
    rest = told.filter(pl.col("run_key") != first).filter(pl.col("item").is_in(mine["item"].unique().implode()))
    same = rest.join(mine.select("item", "prompt_hash"), on=["item", "prompt_hash"], how="semi")
    shared = dict(rest.group_by("run_key").agg(pl.col("item").n_unique()).iter_rows())
    equal = dict(same.group_by("run_key").agg(pl.col("item").n_unique()).iter_rows())
    found = {key: (n, n - equal.get(key, 0)) for key, n in sorted(shared.items())}
    return {key: (n, differ) for key, (n, differ) in found.items() if differ}


def stated_conditions(run: Run, left_out: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Conditions of a run that must be equal; of a chat template, which is the model's own, only whether there is one.

    Args:
        run: The run.
        left_out: Conditions that do not matter.
    """
    told = {key: "yes" if key == TEMPLATE else value for key, value in run.conditions.items() if key not in left_out}
    return tuple(sorted(told.items()))


def template_of(run: Run) -> str | None:
    """Which chat template the prompts of a run went through; None without one, or where the log does not say which."""
    told = run.meta.get(TEMPLATE) or run.conditions.get(TEMPLATE)
    return str(told) if told and told != "yes" else None


def explained(prompts: Prompts, runs: Sequence[Run]) -> str:
    """Why other prompts may be due to the models' own chat templates, in words; empty where they cannot be."""
    by_key = {run.run_key: run for run in runs}
    first = by_key[prompts.first]
    odd = [by_key[key] for key in prompts.odd]
    pairs = [(template_of(first), template_of(run)) for run in odd]
    if odd and all(one != other and one and other for one, other in pairs):
        kinds: dict[str, list[str]] = defaultdict(list)
        for run in (first, *odd):
            kinds[str(template_of(run))].append(run.model)
        named = ", ".join(f"{kind[:8]} of {models[0]}" for kind, models in list(kinds.items())[:3])
        return f"the chat templates differ ({named}): a template is the model's own"
    may_be = all(TEMPLATE in run.conditions or run.format in _MAY_BE_TEMPLATED for run in (first, *odd))
    unsaid = any(None in pair for pair in pairs)
    if may_be and unsaid and all(run.model != first.model for run in odd):
        return "the prompts may hold each model's own chat template; the logs do not say which one"
    return ""
