"""One name for each item of a task in all runs: by its text first, then by its id, and never by a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

REPEATED_ID = "an id stands for several responses without text, so repeats and different items look alike"
SEVERAL_TEXTS = "an id stands for different texts within one run"
CHANGED_TEXT = "the text under an id differs between the runs"


class Labelled(NamedTuple):
    """Responses with the name of their item.

    Attributes:
        frame: The given rows that have a name, with the column ``label``.
        refused: Ids of items that could not be named without guessing, by reason. Items whose text changed are named,
            and so meet no partner; they are counted here too.
        by_text: Whether texts named some items.
        by_id: Whether ids named some items.
    """

    frame: pl.DataFrame
    refused: dict[str, int]
    by_text: bool
    by_id: bool


def label_items(frame: pl.DataFrame, *, by_id: bool = False) -> Labelled:
    """Name the items of several runs.

    Args:
        frame: Responses with the columns side, item_key, item_id, epoch, sample and perturbation.
        by_id: Name all items by their ids alone; ids that stand for several texts in one run are refused.
    """
    import polars as pl

    frame = frame.with_columns(pl.col("item_id").fill_null(""), variant=pl.col("perturbation").fill_null(""))
    named, refused = _by_id(frame) if by_id else _by_text(frame)
    kept = named.filter(pl.col("label").is_not_null())
    suffix = pl.when(pl.col("variant") == "").then(pl.lit("")).otherwise(pl.lit(" ~") + pl.col("variant"))
    kept = kept.with_columns(label=pl.col("label") + suffix)
    by_text, by_ids = (False, True) if by_id else _ways(kept)
    return Labelled(kept, {why: n for why, n in refused.items() if n}, by_text, by_ids)


def _ways(kept: pl.DataFrame) -> tuple[bool, bool]:
    """Whether items met by their texts, and whether some met by their ids because a run has no text."""
    import polars as pl

    told = kept.group_by("label").agg(
        pl.col("side").n_unique().alias("sides"),
        pl.col("side").filter(pl.col("item_key").is_not_null()).n_unique().alias("texts"),
    )
    met = told.filter(pl.col("sides") > 1)
    return bool((met["texts"] > 1).any()), bool((met["texts"] < met["sides"]).any())


def _by_id(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    import polars as pl

    texts = frame.group_by("side", "item_id").agg(pl.col("item_key").drop_nulls().n_unique().alias("texts"))
    several = texts.filter(pl.col("texts") > 1).get_column("item_id").unique()
    unclear = _repeated(frame.filter(pl.col("item_key").is_null()))
    bad = pl.concat([several, unclear]).unique()
    label = pl.when(pl.col("item_id").is_in(bad.to_list()) | (pl.col("item_id") == "")).then(None)
    named = frame.with_columns(label=label.otherwise(pl.lit("id:") + pl.col("item_id")))
    return named, {SEVERAL_TEXTS: len(several), REPEATED_ID: len(unclear)}


def _by_text(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    import polars as pl

    keyed, bare = frame.filter(pl.col("item_key").is_not_null()), frame.filter(pl.col("item_key").is_null())
    keyed = keyed.with_columns(label=_text_label(keyed))
    changed = _changed(keyed)
    if bare.is_empty():
        return keyed, {CHANGED_TEXT: changed}
    owners = keyed.group_by("item_id").agg(pl.col("label").n_unique().alias("texts"), pl.col("label").first())
    unclear = _repeated(bare)
    wide = owners.filter(pl.col("texts") > 1).get_column("item_id").implode()
    several = bare.filter(pl.col("item_id").is_in(wide)).get_column("item_id").n_unique()
    label = pl.coalesce("label", pl.lit("id:") + pl.col("item_id"))
    bad = (pl.col("texts") > 1).fill_null(value=False) | pl.col("item_id").is_in(unclear.to_list())
    bare = bare.join(owners, on="item_id", how="left", maintain_order="left").with_columns(
        label=pl.when(bad | (pl.col("item_id") == "")).then(None).otherwise(label)
    )
    named = pl.concat([keyed, bare.drop("texts")], how="diagonal_relaxed")
    return named, {CHANGED_TEXT: changed, REPEATED_ID: len(unclear), SEVERAL_TEXTS: several}


def _text_label(keyed: pl.DataFrame) -> pl.Expr:
    """The key; where every run asks one text under the same several ids, the key with the id."""
    import polars as pl

    ids = keyed.group_by("item_key", "side").agg(pl.col("item_id").unique().sort().alias("ids"))
    several = ids.filter(pl.col("ids").list.len() > 1).get_column("item_key").unique()
    if several.is_empty():
        return pl.col("item_key")
    ids = ids.filter(pl.col("item_key").is_in(several.to_list()))
    same = ids.group_by("item_key").agg((pl.col("ids").n_unique() == 1).alias("same")).filter("same")
    split = pl.col("item_key").is_in(same.get_column("item_key").to_list())
    return pl.when(split).then(pl.col("item_key") + " id:" + pl.col("item_id")).otherwise(pl.col("item_key"))


def _changed(keyed: pl.DataFrame) -> int:
    """Ids that several runs have, and no two with the same text."""
    import polars as pl

    texts = keyed.filter(pl.col("item_id") != "").select("side", "item_id", "item_key").unique()
    told = texts.group_by("item_id").agg(
        pl.col("side").n_unique().alias("sides"),
        pl.col("item_key").n_unique().alias("texts"),
        pl.len().alias("pairs"),
    )
    return told.filter((pl.col("sides") > 1) & (pl.col("texts") == pl.col("pairs"))).height


def _repeated(bare: pl.DataFrame) -> pl.Series:
    """Ids that a run uses twice for the same epoch and sample."""
    import polars as pl

    place = ["run_key", "item_id", "variant", "epoch", "sample"]
    twice = bare.filter(pl.col("item_id") != "").group_by(place).len().filter(pl.col("len") > 1)
    return twice.get_column("item_id").unique()
