"""`foreshock check`: the main job."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from foreshock._cli import _options as o
from foreshock._cli._alarms_shown import warn_idle
from foreshock._cli._fail_on import refuse_unknown, refuse_without_lines
from foreshock._cli._looking import Asked
from foreshock._cli._looking import document as made
from foreshock._cli._out import console, write_json, write_text
from foreshock._cli._places import open_store, places
from foreshock._cli._reading import Reading, family_or_column, reads_files
from foreshock.check import CODES, LIGHTS
from foreshock.check import check as run_check
from foreshock.records import Document, Light, State
from foreshock.store import Store

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
    length: o.LengthOption = None,
    state: o.StateOption = None,
    select: o.SelectOption = None,
    ignore: o.IgnoreOption = None,
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
    refuse_unknown(names, ("any", "break", "crossed", UNREADABLE, *LIGHTS), CODES)
    refuse_without_lines(fail_on or [], where.config.alarms)
    talk = not quiet and str(json) != "-"
    options, family = family_or_column(asked, family)
    request = Asked(where, store, [*(paths or []), *asked.tables], options, quiet, talk)
    if state is not None and state.exists():
        from foreshock.alarms import import_state

        import_state(Store.open(where.store, create=True), state)
    given = {"tasks": task, "models": model, "families": family, "axis": axis, "step_pattern": step, "length": length}
    whole = partial(run_check, alarms=where.config.alarms)
    document = made(whole, request, axis_from, {**given, "select": select, "ignore": ignore, "seed": seed})
    if state is not None:
        from foreshock.alarms import export_state

        export_state(open_store(where), state)
    write_outputs(document, html=html, json=json, markdown=markdown, junit=junit)
    warn_idle(console(stderr=True), document.tables.get("idle_settings", []))
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    raise typer.Exit(firing(document, names))


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
