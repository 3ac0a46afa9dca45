"""The commands, one file each."""

from __future__ import annotations

import typer

from foreshock import __version__
from foreshock._cli import (
    _add,
    _alarms,
    _arithmetic,
    _check,
    _compact,
    _compare,
    _demo,
    _export,
    _forecast,
    _lint,
    _ls,
    _meta,
    _mirage,
    _models,
    _rm,
    _score,
    _sql,
    _watch,
)

app = typer.Typer(
    name="foreshock",
    help="An early-warning system for LLM evaluations: reads the logs your harness wrote and says what can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 something named by --fail-on fires, 2 could not do it, 130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"foreshock {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


for command in (
    _check.check,
    _mirage.mirage,
    _meta.meta,
    _forecast.forecast,
    _compare.compare,
    _lint.lint,
    _demo.demo,
    _add.add,
    _ls.ls,
    _models.models,
    _score.score,
    _sql.sql,
    _watch.watch,
    _export.export,
    _arithmetic.arithmetic,
    _rm.rm,
    _compact.compact,
):
    app.command()(command)
app.add_typer(_alarms.app)
