"""`foreshock alarms`: what is watched, what fires, and what was decided about it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from foreshock._base import ConfigError, utc_now
from foreshock._cli import _options as o
from foreshock._cli._alarms_shown import show_alarms, warn_idle
from foreshock._cli._check import UNREADABLE, firing
from foreshock._cli._fail_on import refuse_unknown, refuse_without_lines
from foreshock._cli._out import console, progress, write_json
from foreshock._cli._places import open_store, places
from foreshock.report import one_line

StateOption = o.StateOption
ReleaseOption = Annotated[
    str | None, typer.Option("--release", help="What you call this batch of runs; kept with the look.")
]
FailOn = Annotated[
    list[str] | None,
    typer.Option("--fail-on", help="Exit with 1 on: FS401, break, metric-only, FS403, crossed, any."),
]
CODES = ("FS401", "FS403")
WORDS = ("any", "break", "metric-only", "crossed", UNREADABLE)

app = typer.Typer(
    name="alarms",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def alarms(
    context: typer.Context,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    family: o.FamilyOption = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Only lines with one of these models (glob patterns), each as a whole."),
    ] = None,
    axis: o.AxisOption = None,
    state: StateOption = None,
    release: ReleaseOption = None,
    fail_on: FailOn = None,
    show_all: Annotated[bool, typer.Option("--all", help="Also series that are on their trend.")] = False,
    json: o.JsonOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Look at every metric of every line of models against its own trend, and list what fires.

    First comes where each line of alarms.thresholds in the settings stands: crossed, at the line, near, or what else
    can be told.

    The look is kept in the store, so that the next one knows how many there were; looking again at the same data is no
    second look. With --state the memory is carried in a file, for a machine that keeps no store.

    Examples:

      foreshock alarms

      foreshock alarms --state alarms.json --fail-on FS401 --fail-on FS403 --json report.json
    """
    if context.invoked_subcommand is not None:
        _refuse_before(context)
        return
    from foreshock.alarms import WatchOptions, export_state, import_state
    from foreshock.check import look_at_alarms
    from foreshock.series import load_models

    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], WORDS, CODES)
    refuse_without_lines(fail_on or [], where.config.alarms)
    opened = open_store(where)
    if state is not None and state.exists():
        import_state(opened, state)
    with progress(silent=quiet) as show:
        options = WatchOptions(task or (), family or (), axis, load_models(where.models), release, model or ())
        look = look_at_alarms(opened, where.config, options, progress=show)
    if state is not None:
        export_state(opened, state)
    document = look.document(["foreshock", *sys.argv[1:]])
    warn_idle(console(stderr=True), document.tables.get("idle_settings", []))
    if json is not None:
        write_json(document, json)
    if not quiet and str(json) != "-":
        show_alarms(console(), look, show_all=show_all)
    raise typer.Exit(firing(document, names))


@app.command()
def ack(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the alarm, or its beginning.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the store.")],
    store: o.StoreOption = None,
    state: StateOption = None,
) -> None:
    """Take note of an alarm that fires: from its point on, the trend is learned anew.

    Examples:

      foreshock alarms ack 3f9c21ab --reason "the scorer was changed on purpose"
    """
    from foreshock.alarms import acknowledge, export_state, import_state

    opened = open_store(places(store))
    if state is not None and state.exists():
        import_state(opened, state)
    event = acknowledge(opened, name, reason)
    if state is not None:
        export_state(opened, state)
    console().print(
        f"alarm {event.id} acknowledged: its trend is learned anew from {one_line(event.label)} on.", soft_wrap=True
    )


@app.command()
def mute(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the alarm, or its beginning.")],
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Last day, such as 2027-01-31.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why; kept in the store.")] = None,
    store: o.StoreOption = None,
    state: StateOption = None,
) -> None:
    """Keep an alarm from stopping anything up to a day; it stays in sight as muted, and is never green.

    Examples:

      foreshock alarms mute 3f9c21ab --until 2027-01-31 --reason "fixed in the next release"
    """
    from foreshock.alarms import export_state, import_state
    from foreshock.alarms import mute as mute_alarm

    opened = open_store(places(store))
    if state is not None and state.exists():
        import_state(opened, state)
    event = mute_alarm(opened, name, until, reason)
    if state is not None:
        export_state(opened, state)
    if event.until < utc_now()[:10]:
        console().print(f"alarm {event.id} is not muted: {event.until} is past, which takes a mute away.")
        return
    console().print(f"alarm {event.id} is muted up to and including {event.until}.")


def _refuse_before(context: typer.Context) -> None:
    """Options that stand before the name of a command below are not those of that command."""
    given = [name for name, value in context.params.items() if value not in (None, False, [], ())]
    if given:
        option = f"--{given[0].replace('_', '-')}"
        raise ConfigError(
            f"{option} stands before {context.invoked_subcommand}",
            expected=f"it behind: foreshock alarms {context.invoked_subcommand} ... {option} ...",
            do=f"see: foreshock alarms {context.invoked_subcommand} --help",
        )
