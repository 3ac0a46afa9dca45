"""`foreshock compare`: two runs, or a board of them, on the same items."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._check import firing, write_outputs
from foreshock._cli._fail_on import refuse_unknown
from foreshock._cli._imports import import_all
from foreshock._cli._out import console, progress
from foreshock._cli._places import open_store, places
from foreshock._cli._reading import Reading, reads_files
from foreshock._cli._sides import Named, find_sides
from foreshock.compare import CODES, CompareOptions
from foreshock.compare import compare as run_compare
from foreshock.integrity import BETWEEN
from foreshock.records import Document

WORDS = ("regression", "incomplete", "any")


@reads_files
def compare(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C...]",
            help="What to compare, the baseline first: log files or folders, beginnings of run keys, or model names.",
            show_default=False,
        ),
    ],
    *,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    metric: Annotated[
        str | None, typer.Option("--metric", help="Score to compare: the harness's name of it, or one of our metrics.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Difference that does not matter, in units of the metric (0.01 = 1 point)."),
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="Level of the tests.")] = 0.05,
    adjust: Annotated[str, typer.Option("--adjust", help="Allow for several tasks by holm or bh.")] = "holm",
    missing: Annotated[
        str,
        typer.Option(
            "--missing", help="Responses that did not arrive or have no score: drop their items, or count them wrong."
        ),
    ] = "drop",
    cluster: Annotated[
        str,
        typer.Option("--cluster", help="Items that belong together: auto, none, a column of items, or a key of meta."),
    ] = "auto",
    pair: Annotated[str, typer.Option("--pair", help="Pair items auto (by text, then id), or by id alone.")] = "auto",
    repeats: Annotated[
        str, typer.Option("--repeats", help="Several runs of one side: compare the newest, or pool them.")
    ] = "newest",
    across_conditions: Annotated[
        bool, typer.Option("--across-conditions", help="Compare runs under different conditions as well.")
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on", help="Exit with 1 when this fires: regression, incomplete, a code such as FS105, or any."
        ),
    ] = None,
    asked: Reading,
    imports: o.ImportOption = None,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary for a CI page.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the findings as JUnit XML.")] = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Say which of two runs is better on the same items, by how much, and what these items cannot tell.

    Items are paired by their text, then by their id, never by position. With three or more, also a board: who can be
    told apart, and is the first really the first? Files that are named, or given by --csv, are added to the store.

    Examples:

      foreshock compare old.eval new.eval --fail-on regression

      foreshock compare Llama-2-13b-hf Llama-2-70b-hf --task 'mmlu*' --html compare.html

      foreshock compare model-a model-b model-c --margin 0.02 --json -

      foreshock compare old/out.jsonl new/out.jsonl --task-name gsm8k --map score=correct,item=id
    """
    where = places(store)
    import_all(where, imports)
    refuse_unknown(fail_on or [], WORDS, (*CODES, *BETWEEN), "for the rest of the logs: foreshock check --fail-on")
    options = CompareOptions(
        tasks=task or [],
        metric=metric,
        alpha=within(alpha, "--alpha"),
        margin=positive(margin, "--margin"),
        missing=cast("Literal['drop', 'wrong']", one_of(missing, "--missing", "drop", "wrong")),
        adjust=cast("Literal['holm', 'bh']", one_of(adjust, "--adjust", "holm", "bh")),
        cluster=cluster,
        pair=cast("Literal['auto', 'id']", one_of(pair, "--pair", "auto", "id")),
        repeats=cast("Literal['newest', 'pool']", one_of(repeats, "--repeats", "newest", "pool")),
        across_conditions=across_conditions,
        seed=where.config.seed if seed is None else seed,
    )
    talk = not quiet and str(json) != "-"
    with progress(silent=quiet) as show:
        named = Named(names, asked.tables, asked.options, store)
        sides, failures = find_sides(where, named, talk=talk, progress=show)
        document = run_compare(
            open_store(where),
            sides,
            options,
            command=["foreshock", *sys.argv[1:]],
            failures=failures,
            progress=show,
        )
    write_outputs(document, html=html, json=json, markdown=markdown, junit=junit)
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    raise typer.Exit(gate(document, fail_on or where.config.fail_on))


def gate(document: Document, fail_on: list[str]) -> int:
    """1 when something fires that ``fail_on`` names, else 0.

    ``regression`` is also a run that would be one were its lost responses wrong. ``incomplete`` is every run that did
    not end well, and every item or task of the baseline that the other side has no score for.
    """
    if "incomplete" in fail_on:
        lacking = any(_lacks(row) for row in document.tables.get("compare", []))
        if lacking or any(finding.verdict == "incomplete" for finding in document.findings):
            return 1
    return firing(document, [*fail_on, "incomplete"] if "regression" in fail_on else fail_on)


def _lacks(row: dict[str, Any]) -> bool:
    """Whether a side of a comparison lost something, or the second has no response to an item of the baseline."""
    names = [f"{side}_{what}" for side in ("first", "second") for what in ("lost", "unscored")]
    return any(row[name] for name in ("only_first", *names)) or not (row["first_complete"] and row["second_complete"])


def one_of(value: str, option: str, *allowed: str) -> str:
    """Refuse a word that the option does not know."""
    if value not in allowed:
        raise ConfigError(f"{option} {value!r}", expected=" or ".join(allowed))
    return value


def within(value: float, option: str) -> float:
    """Refuse a level that is none."""
    if not 0 < value < 1:
        raise ConfigError(f"{option} {value}", expected="a number between 0 and 1, such as 0.05")
    return value


def positive(value: float | None, option: str) -> float | None:
    """Refuse a margin that is none."""
    if value is not None and not 0 < value < float("inf"):
        raise ConfigError(f"{option} {value}", expected="a number above 0, such as 0.01 for one point")
    return value
