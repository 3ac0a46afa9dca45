"""`foreshock meta`: is emergence a matter of the metric, over many tasks?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from foreshock import __version__
from foreshock._base import ConfigError, Progress, utc_now
from foreshock._base import quiet as silent
from foreshock._cli import _options as o
from foreshock._cli._check import write_outputs
from foreshock._cli._compare import one_of
from foreshock._cli._looking import Asked
from foreshock._cli._looking import document as made
from foreshock._cli._meta_shown import opening, show_meta
from foreshock._cli._out import console
from foreshock._cli._places import places
from foreshock._cli._reading import Reading, family_or_column, reads_files
from foreshock.check import CheckOptions, chosen, mirage_document
from foreshock.mirage import KINDS, Triplet, gather, predictions, read_listed, series_triplets, verdict_triplets
from foreshock.mirage import meta as compare_kinds
from foreshock.mirage import swap as exchange
from foreshock.records import Document
from foreshock.scoring import score
from foreshock.series import family_label, model_cards
from foreshock.store import Store


class _Found(NamedTuple):
    """Triplets, and how they were made."""

    triplets: list[Triplet]
    notes: list[str]


class _How(NamedTuple):
    """What makes a triplet emergent, sets that are one kind, which metric stands in for which, and what some are."""

    by: str
    sets: list[list[str]]
    pairs: dict[str, str]
    kinds: dict[str, str]
    errors: str


@reads_files
def meta(
    paths: o.MaybePaths = None,
    *,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    family: o.FamilyOption = None,
    axis: o.AxisOption = None,
    step: o.StepOption = None,
    axis_from: o.AxisFromOption = None,
    by: Annotated[
        str,
        typer.Option(
            "--by", help="Emergent by: score (emergence score with its null) or verdict (as check judges; needs items)."
        ),
    ] = "score",
    listed: Annotated[
        Path | None, typer.Option("--list", help="CSV of tasks that somebody called emergent; read with --base.")
    ] = None,
    base: Annotated[
        Path | None, typer.Option("--base", help="CSV with the metric of every task that could be on the list.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", help="Columns of --list: task=name,metric=pref,family=model,emergent=yes_or_no."),
    ] = None,
    base_columns: Annotated[
        list[str] | None, typer.Option("--base-columns", help="Columns of --base: task=name,metric=preferred.")
    ] = None,
    base_where: Annotated[
        list[str] | None, typer.Option("--base-where", help="Only rows of --base with this value: column=value.")
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            "--together", help="Metrics that are looked at as one kind: exact_match+choice; repeatable.", metavar="A+B"
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kinds", help="What metrics of other names are: hard, continuous, or loss (continuous, less is better)."
        ),
    ] = None,
    errors: Annotated[
        str,
        typer.Option(
            "--errors",
            help="Noise of a series: known (items or standard errors; those without are left out), or scatter about a "
            "straight line, for all alike.",
        ),
    ] = "known",
    swap: Annotated[
        list[str] | None,
        typer.Option("--swap", help="Which metric stands in for which: hard=continuous; else by a fixed order."),
    ] = None,
    asked: Reading,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Say how often tasks are emergent under hard metrics, against how common these metrics are, and without them.

    Takes what a store holds, logs, tables of scores (--csv), or a hand-made list with the table of all tasks it was
    drawn from (--list, --base). Each task, metric and model family is a triplet. The odds ratio compares the kind's
    share of emergent triplets with its share of all others; the swap exchanges the hard metric for a continuous one of
    the same outputs.

    Examples:

      foreshock meta

      foreshock meta --csv scores.csv --x params --group task --by score --json meta.json

      foreshock meta --list annotated.csv --base tasks.csv --together exact_str_match+multiple_choice_grade
    """
    where = places(store)
    paths = [*(paths or []), *asked.tables]
    _refuse(by, listed, base, paths)
    talk = not quiet and str(json) != "-"
    sets = [[name.strip() for name in text.split("+") if name.strip()] for text in together or []]
    how = _How(by, sets, o.pairs(swap, "--swap"), _kinds(kinds), one_of(errors, "--errors", "known", "scatter"))
    if listed is not None and base is not None:
        roles = o.pairs(columns, "--columns"), o.pairs(base_columns, "--base-columns")
        rows = o.pairs(base_where, "--base-where")
        told = read_listed(listed, base, columns=roles[0], base_columns=roles[1], where=rows)
        seed = where.config.seed if seed is None else seed
        document = _document(_Found(told.triplets, told.notes), how, seed, ["foreshock", *sys.argv[1:]], ())
    else:
        options, families = family_or_column(asked, family)
        request = Asked(where, store, paths, options, quiet, talk)
        given = {"tasks": task, "models": model, "families": families, "axis": axis, "step_pattern": step, "seed": seed}
        document = made(partial(_of_store, how), request, axis_from, given)
    write_outputs(document, html=html, json=json)
    if talk:
        show_meta(console(), document)
        if html is not None:
            console().print(f"Report: {html}")


def _refuse(by: str, listed: Path | None, base: Path | None, paths: Sequence[Path]) -> None:
    """Refuse what contradicts itself.

    Raises:
        ConfigError: ``--list`` without ``--base`` or beside logs, or an unknown rule.
    """
    if by not in ("score", "verdict"):
        raise ConfigError(f"--by {by!r:.60}", expected="score or verdict; a list is given by --list and --base")
    if (listed is None) != (base is None):
        raise ConfigError(
            "--list without --base" if base is None else "--base without --list",
            expected="both: a share means nothing without the base rate that it is read against",
            do="give the table of all tasks with their metrics by --base",
        )
    if listed is not None and (paths or by != "score"):
        raise ConfigError("--list beside logs, tables or --by", expected="one source of what is emergent")


def _kinds(given: list[str] | None) -> dict[str, str]:
    """What metrics are declared to be.

    Raises:
        ConfigError: Something that no metric can be.
    """
    told = o.pairs(given, "--kinds")
    for name, kind in told.items():
        if kind not in KINDS:
            raise ConfigError(f"--kinds {name}={kind}", expected=" or ".join(KINDS), do=f"such as {name}=hard")
    return told


def _of_store(
    how: _How,
    store: Store,
    options: CheckOptions,
    *,
    command: Sequence[str],
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = silent,
) -> Document:
    """The document of what a store holds."""
    if how.by == "verdict":
        judged = mirage_document(store, options, progress=progress)
        found = _Found(verdict_triplets(judged.tables["verdicts"]), [])
        return _document(found, how, options.seed, command, failures, judged.tables.get("predictions"))
    score(store, progress=progress)
    snapshot = store.snapshot()
    cards = model_cards(snapshot.runs(), options.corrections, options.step_pattern, options.step_from)
    patterns = {"task": options.tasks, "model": options.models, "family": options.families}
    labels = {key: family_label(card) for key, card in cards.items()}
    runs = chosen(snapshot.runs(), options.runs, patterns, labels)
    series, groups, notes = gather(snapshot, runs, cards, axis=options.axis, progress=progress)
    made = series_triplets(series, seed=options.seed, groups=groups, kinds=how.kinds, errors=how.errors)
    found = _Found(made, notes)
    return _document(found, how, options.seed, command, failures)


def _document(
    found: _Found,
    how: _How,
    seed: int,
    command: Sequence[str],
    failures: Sequence[tuple[str, str]],
    predicted: list[dict[str, Any]] | None = None,
) -> Document:
    compared = compare_kinds(found.triplets, named=how.sets, seed=seed)
    exchanged = exchange(found.triplets, pairs=how.pairs)
    if predicted is None:
        predicted = predictions([], triplets=found.triplets, pairs=how.pairs, seed=seed)
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts={},
        tables={
            "opening": opening(compared, exchanged),
            "meta": compared.rows(),
            "swap": [exchanged.row()],
            "predictions": predicted,
            "triplets": [one.row() for one in found.triplets],
            "notes": [{"text": note} for note in found.notes],
            "failures": [{"path": path, "message": message} for path, message in failures],
        },
    )
