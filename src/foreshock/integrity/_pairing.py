"""Can the items of runs be paired? FS104: duplicates inside a run, and items that only some runs have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from foreshock._base import count_of, digest
from foreshock.integrity._told import CERTAIN, EVIDENCE, models, some
from foreshock.records import Evidence, Finding, Run, State, Subject
from foreshock.store import Snapshot

if TYPE_CHECKING:
    import polars as pl

_PLACE = ("run_key", "item_key", "item_id", "epoch", "sample", "filter", "perturbation")


class Pairing(NamedTuple):
    """How the items of the runs of one task fit together.

    Attributes:
        task: The task.
        items: Number of items of each run, by run key.
        shared: Items that every run has.
        any: Items that at least one run has.
        repeated: Responses beyond the first that stand at one and the same place (item, epoch, sample, filter,
            perturbation) of a run, by run key; runs without any are left out.
        conflicting: Of those, the ones whose output, answer or score is another, by run key.
        examples: Some of the repeated items: run key, item.
    """

    task: str
    items: Mapping[str, int]
    shared: int
    any: int
    repeated: Mapping[str, int]
    conflicting: Mapping[str, int]
    examples: tuple[tuple[str, str], ...]


def pairing(snapshot: Snapshot, task: str, runs: Sequence[Run]) -> Pairing:
    """Count how the items of some runs of a task fit together; an item is its text where the log has it, else its id.

    Memory is bounded by the keys of the task's responses.
    """
    import polars as pl

    keys = sorted(run.run_key for run in runs)
    frame = snapshot.scan("responses", tasks=[task], runs=keys, columns=_PLACE)
    rows = frame.with_columns(_item().alias("item")).filter(pl.col("item").is_not_null()).collect()
    sets = {str(key): set(group["item"].to_list()) for (key,), group in rows.group_by("run_key")}
    twice = rows.filter(pl.struct(_PLACE).is_duplicated())
    if twice.height:
        twice = _said(snapshot, task, twice)
    examples = twice.select("run_key", pl.col("item_id").fill_null(pl.col("item"))).head(EVIDENCE)
    return Pairing(
        task=task,
        items={key: len(sets.get(key, ())) for key in keys},
        shared=len(set.intersection(*sets.values())) if len(sets) == len(keys) and sets else 0,
        any=len(set.union(*sets.values())) if sets else 0,
        repeated=_sums(twice, pl.col("n") - 1) if twice.height else {},
        conflicting=_sums(twice.filter(pl.col("kinds") > 1), pl.col("kinds") - 1) if twice.height else {},
        examples=tuple((str(key), str(name)) for key, name in examples.iter_rows()),
    )


def _item() -> pl.Expr:
    """The text of an item, where a run asks it under several ids the id as well; the id where there is no text."""
    import polars as pl

    key, name = pl.col("item_key"), pl.concat_str(pl.lit("id:"), "item_id")
    several = (pl.col("item_id").n_unique().over("run_key", "item_key") > 1).any().over("item_key")
    return (
        pl.when(key.is_not_null() & several).then(pl.concat_str(key, pl.lit(" "), name)).otherwise(key).fill_null(name)
    )


def _said(snapshot: Snapshot, task: str, twice: pl.DataFrame) -> pl.DataFrame:
    """Places that are taken more than once, how often, and by how many different replies: only these are read.

    Replies differ in their text, or in what the harness scored them by one metric: tables of scores have no text.
    """
    import polars as pl

    runs = twice["run_key"].unique().to_list()
    places = twice.lazy().select(*_PLACE, "item").unique(maintain_order=True)
    texts = snapshot.scan("responses", tasks=[task], runs=runs, columns=[*_PLACE, "output", "answer"])
    said = pl.struct("output", "answer").hash().n_unique().alias("said")  # they are only compared, so hashes do
    groups = _at(texts, places).group_by(_PLACE).agg(pl.len().alias("n"), said, pl.first("item"))
    values = snapshot.scan(
        "scores", tasks=[task], runs=runs, source="harness", columns=[*_PLACE, "metric_id", "value", "status"]
    )
    scored = _at(values, places).group_by(*_PLACE, "metric_id").agg(pl.struct("value", "status").n_unique().alias("k"))
    most = scored.group_by(_PLACE).agg(pl.max("k"))
    joined = groups.join(most, on=_PLACE, how="left", nulls_equal=True)
    return joined.with_columns(kinds=pl.max_horizontal("said", "k")).sort(_PLACE).collect()


def _at(frame: pl.LazyFrame, places: pl.LazyFrame) -> pl.LazyFrame:
    return frame.join(places, on=_PLACE, how="inner", nulls_equal=True)


def _sums(twice: pl.DataFrame, what: pl.Expr) -> dict[str, int]:
    import polars as pl

    sums = twice.group_by("run_key").agg(what.sum().cast(pl.Int64).alias("n")).sort("run_key")
    return {str(key): int(n) for key, n in sums.iter_rows()}


def pairing_findings(found: Pairing, runs: Sequence[Run]) -> list[Finding]:
    """FS104: one finding for duplicates, one for items that cannot be paired."""
    told = [_duplicates(found, runs), _unpaired(found, runs)]
    return [finding for finding in told if finding is not None]


def _duplicates(found: Pairing, runs: Sequence[Run]) -> Finding | None:
    if not found.repeated:
        return None
    mine = [run for run in runs if run.run_key in found.repeated]
    n, other = sum(found.repeated.values()), sum(found.conflicting.values())
    unlike = f"; {count_of(other, 'of them says', 'of them say')} something else" if other else "; all say the same"
    return Finding(
        code="FS104",
        subject=Subject(task=found.task, runs=sorted(run.run_key for run in mine)),
        state=State.FIRING if other else State.PENDING,
        verdict="duplicates",
        title=f"{found.task}: {count_of(n, 'response')} in {models(mine)} stand where another one stands{unlike}",
        null="one response for each item, epoch, sample and filter; a repetition is a fact, no chance",
        rate=CERTAIN,
        evidence=[
            Evidence(run=key, item=item, epoch=None, what="stands more than once in this run")
            for key, item in found.examples
        ],
        evidence_total=n,
        advice="read the log again from its source; if the repetitions are meant, give them an epoch column",
    )


def _unpaired(found: Pairing, runs: Sequence[Run]) -> Finding | None:
    with_items = [run for run in runs if found.items.get(run.run_key)]
    if len(with_items) < 2 or found.shared == found.any:
        return None
    least = min(with_items, key=lambda run: (found.items[run.run_key], run.run_key))
    nothing = found.shared == 0
    subject = Subject(task=found.task, runs=sorted(run.run_key for run in with_items))
    sizes = sorted({found.items[run.run_key] for run in with_items})
    told = some([f"{size:,}" for size in sizes])
    return Finding(
        code="FS104",
        subject=subject,
        id=digest(["FS104", "unpaired", msgspec.to_builtins(subject)], 12),  # duplicates of the same runs have another
        state=State.FIRING if nothing else State.PENDING,
        verdict="unpaired",
        title=(
            f"{found.task}: {count_of(found.shared, 'item')} of {found.any:,} "
            f"{'is' if found.shared == 1 else 'are'} in all {len(with_items)} runs (which have {told})"
        ),
        null="compared runs answer the same items, known by their text; no chance",
        rate=CERTAIN,
        evidence=[Evidence(run=least.run_key, item=None, epoch=None, what=f"{found.items[least.run_key]:,} items")],
        evidence_total=len(with_items),
        advice=(
            "the texts of the items differ: see whether the question, its choices or the target were reworded"
            if nothing
            else "differences are told over shared items only; run the missing items for the rest"
        ),
    )
