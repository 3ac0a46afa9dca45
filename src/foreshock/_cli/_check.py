"""`foreshock check`: the main job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._hints import with_store
from foreshock._cli._out import console, progress, write_json, write_text
from foreshock._cli._places import Places, open_store, places
from foreshock._cli._reading import Reading, family_or_column, reads_files
from foreshock._cli._report_added import exit_code, in_full, refuse_without_logs, show_added
from foreshock.check import CODES, LIGHTS, CheckOptions
from foreshock.check import check as run_check
from foreshock.records import Document, Light, State
from foreshock.series import load_models
from foreshock.store import Added, Store, add_paths

UNREADABLE = "unreadable"


@reads_files
def check(
    paths: o.MaybePaths = None,
    *,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    family: o.FamilyOption = None,
    axis: o.AxisOption = None,
    step: o.StepOption = None,
    axis_from: o.AxisFromOption = None,
    select: Annotated[list[str] | None, typer.Option("--select", help="Only findings whose code begins so.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="No findings whose code begins so.")] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option("--fail-on", help="Exit with 1 on: FS301, break, a light such as headroom, unreadable, or any."),
    ] = None,
    asked: Reading,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary for a CI page.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the findings as JUnit XML.")] = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Say what can be believed: a trust card for each task and a verdict on each line of models.

    With paths, the logs are added to the store first and only they are looked at.

    Examples:

      foreshock check logs/ --html report.html

      foreshock check --task 'mmlu*' --fail-on FS301 --json findings.json

      foreshock check outputs/ --preset mmlu-pro
    """
    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(names)
    talk = not quiet and str(json) != "-"
    everything = [*(paths or []), *asked.tables]
    options, family = family_or_column(asked, family)
    with progress(silent=quiet) as show:
        added = None
        if everything:
            refuse_without_logs(everything, options)
            added = add_paths(Store.open(where.store, create=True), everything, options, progress=show)
            if exit_code(added, console(stderr=True), asked=store, told_later=talk):
                raise typer.Exit(2)
            if talk:
                show_added(console(stderr=True), added, where.store, asked=store)
        options_ = CheckOptions(
            runs=_read(where, added),
            tasks=task or [],
            models=model or [],
            families=family or [],
            axis="created" if axis_from == "created" else axis,
            step_pattern=step,
            step_from=None if axis_from == "created" else axis_from,
            corrections=load_models(where.models),
            select=select or where.config.select,
            ignore=ignore or where.config.ignore,
            seed=where.config.seed if seed is None else seed,
        )
        document = run_check(
            open_store(where),
            options_,
            command=["foreshock", *sys.argv[1:]],
            failures=[(str(f.path), with_store(in_full(f.error), store)) for f in added.failures] if added else [],
            progress=show,
        )
    write_outputs(document, html=html, json=json, markdown=markdown, junit=junit)
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    raise typer.Exit(firing(document, names))


def _read(where: Places, added: Added | None) -> frozenset[str] | None:
    """Keys of the runs that come from the given paths, whether they were new or known."""
    if added is None:
        return None
    keys = {run.run_key for run in (*added.added, *added.unchanged)}
    skipped = {str(path.absolute()) for path in added.skipped}
    for run in open_store(where).snapshot().runs():
        if any(source.path in skipped for source in run.sources):
            keys.add(run.run_key)
    return frozenset(keys)


def write_outputs(
    document: Document, *, html: Path | None, json: Path | None, markdown: Path | None = None, junit: Path | None = None
) -> None:
    """Write the document in every form that was asked for."""
    from foreshock import report

    if json is not None:
        write_json(document, json)
    if html is not None:
        write_text(report.render_html(document), html)
    if markdown is not None:
        write_text(report.markdown(document), markdown)
    if junit is not None:
        write_text(report.junit(document), junit)


def refuse_unknown(fail_on: list[str]) -> None:
    """Refuse a name that nothing can ever fire under.

    Raises:
        ConfigError: A name is neither the beginning of a code, nor a light, nor ``break``, ``unreadable`` or ``any``.
    """
    words = ("any", "break", UNREADABLE, *LIGHTS)
    for name in fail_on:
        if name not in words and not (name and any(code.startswith(name) for code in CODES)):
            raise ConfigError(
                f"nothing can fire under --fail-on {name!r}", expected=f"{', '.join(words)}, or {', '.join(CODES)}"
            )


def firing(document: Document, fail_on: list[str]) -> int:
    """1 when something fires that ``fail_on`` names, else 0.

    A finding is named by the beginning of its code, by its verdict, or by ``any``; a light of a trust card by its name
    or by ``any``; files that could not be read are named by ``unreadable`` or by ``any``.
    """
    found = {
        word
        for finding in document.findings
        if finding.state is State.FIRING
        for word in ("any", finding.verdict, *(finding.code[:end] for end in range(1, len(finding.code) + 1)))
    }
    for card in document.tables.get("trust", []):
        fires = [name for name, told in card["lights"].items() if told["state"] == Light.FIRING.value]
        found |= {*fires, "any"} if fires else set()
    if document.tables.get("failures"):
        found |= {UNREADABLE, "any"}
    return int(not found.isdisjoint(fail_on))
