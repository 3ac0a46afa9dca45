"""`foreshock alarms`: what is watched, what fires, and what was decided about it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from foreshock import __version__
from foreshock._base import ConfigError, count_of, utc_now
from foreshock._cli import _options as o
from foreshock._cli._check import UNREADABLE, firing
from foreshock._cli._fail_on import refuse_unknown
from foreshock._cli._out import console, progress, write_json
from foreshock._cli._places import open_store, places
from foreshock.records import Counts, Document
from foreshock.report import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from foreshock.alarms import Watch

StateOption = o.StateOption
ReleaseOption = Annotated[
    str | None, typer.Option("--release", help="What you call this batch of runs; kept with the look.")
]
FailOn = Annotated[
    list[str] | None, typer.Option("--fail-on", help="Exit with 1 on: FS401, break, metric-only, unreadable, or any.")
]
CODES = ("FS401",)
WORDS = ("any", "break", "metric-only", UNREADABLE)
_REASONS = 3

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
    axis: o.AxisOption = None,
    state: StateOption = None,
    release: ReleaseOption = None,
    fail_on: FailOn = None,
    show_all: Annotated[bool, typer.Option("--all", help="Also series that are on their trend.")] = False,
    json: o.JsonOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Look at every metric of every line of models against its own trend, and list what fires.

    The look is kept in the store, so that the next one knows how many there were; looking again at the same data is no
    second look. With --state the memory is carried in a file, for a machine that keeps no store.

    Examples:

      foreshock alarms

      foreshock alarms --state alarms.json --fail-on FS401 --json report.json
    """
    if context.invoked_subcommand is not None:
        _refuse_before(context)
        return
    from foreshock.alarms import WatchOptions, export_state, import_state, watch_store
    from foreshock.series import load_models

    where = places(store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], WORDS, CODES)
    opened = open_store(where)
    if state is not None and state.exists():
        import_state(opened, state)
    with progress(silent=quiet) as show:
        options = WatchOptions(task or (), family or (), axis, load_models(where.models), release)
        watch = watch_store(opened, where.config, options, progress=show)
    if state is not None:
        export_state(opened, state)
    document = document_of(watch, ["foreshock", *sys.argv[1:]])
    if json is not None:
        write_json(document, json)
    if not quiet and str(json) != "-":
        show_alarms(console(), watch, show_all=show_all)
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


def document_of(watch: Watch, command: Sequence[str]) -> Document:
    """The document of one look."""
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts()),
        findings=watch.findings(),
        tables=watch.tables(),
    )


def show_alarms(out: Console, watch: Watch, *, show_all: bool = False) -> None:
    """Print what fires first, then what waits, then how many are on their trend or cannot be watched."""
    rows = watch.rows()
    by_state: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_state.setdefault(row["state"], []).append(row)
    if not rows:
        out.print("Nothing can be watched: no metric has two models or runs on one line. See: foreshock models")
    shown = ("firing", "pending", "muted", *(("ok",) if show_all else ()))
    for state in shown:
        for row in by_state.get(state, []):
            _show_row(out, row)
    told = [
        f"{len(by_state[state])} {state}"
        for state in ("firing", "pending", "muted", "ok", "no-data")
        if by_state.get(state)
    ]
    if rows:
        out.print(f"{count_of(len(rows), 'series', 'series')}: {', '.join(told)}.", soft_wrap=True)
    _show_unwatched(out, by_state.get("no-data", []))
    _show_budget(out, watch)


def _show_row(out: Console, row: dict[str, Any]) -> None:
    name = f"{one_line(row['task'])} · {one_line(row['family'])} · {one_line(row['metric'])}"
    also = f" (and {', '.join(one_line(one) for one in row['also'])})" if row["also"] else ""
    guarantee = "guaranteed" if row["guaranteed"] else "unguaranteed"
    out.print(f"{row['id']}  {row['state'].upper()}  {name}{also}", soft_wrap=True)
    facts = [
        None if row["since"] is None else f"since {one_line(row['since'])}",
        _against(row["statistic"], row["threshold"]),
        None if row["q"] is None else f"q {row['q']:.2g}",
        None if row["ledger"] is None else f"ledger: {row['ledger']}",
        guarantee if row["unguaranteed"] is None else f"{guarantee}: {one_line(row['unguaranteed'])}",
        None if row["muted_until"] is None else f"muted until {row['muted_until']}",
    ]
    out.print(f"    {'; '.join(fact for fact in facts if fact)}", soft_wrap=True)
    out.print(f"    {one_line(row['title'], 400)}", soft_wrap=True)
    if row["state"] != "ok":
        out.print(f"    {one_line(row['advice'], 600)}", soft_wrap=True)


def _against(statistic: float | None, threshold: float | None) -> str | None:
    if statistic is None or threshold is None:
        return None
    return f"statistic {statistic:.3g} against {threshold:.3g}"


def _show_unwatched(out: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Why series cannot be watched, the most frequent reasons first."""
    reasons: dict[str, int] = {}
    for row in rows:
        told = "; ".join(f"{n['what']}: {n['have']:g} of {n['enough']:g}" for n in row["needs"] if _known(n))
        reasons[told or row["title"]] = reasons.get(told or row["title"], 0) + 1
    ordered = sorted(reasons.items(), key=lambda kv: (-kv[1], kv[0]))
    for reason, count in ordered[:_REASONS]:
        out.print(f"    {count} not watched: {one_line(reason, 300)}", soft_wrap=True)
    if len(ordered) > _REASONS:
        out.print(f"    ... and {count_of(len(ordered) - _REASONS, 'more reason')}; --json has all of them")


def _known(need: dict[str, Any]) -> bool:
    return need["have"] is not None and need["enough"] is not None


def _show_budget(out: Console, watch: Watch) -> None:
    budget = watch.ledger.budget()
    out.print(f"Ledger: {budget['sentence']}.", soft_wrap=True)
    if budget["repeated"]:
        out.print("    These data were looked at before: nothing was spent.")
    out.print(
        f"    budget at {budget['level']:g}: LORD++ spent {budget['lord_spent']:.3g}, next look gets "
        f"{budget['lord_next_level']:.2g}; e-LOND spent {budget['e_lond_spent']:.0%} of its shares, next look gets "
        f"{budget['e_lond_next_level']:.2g}",
        soft_wrap=True,
    )
