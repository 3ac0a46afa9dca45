"""`foreshock lint`: can this benchmark show what it is meant to show?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from foreshock._base import ConfigError
from foreshock._cli import _options as o
from foreshock._cli._check import firing, write_outputs
from foreshock._cli._fail_on import fits, refuse_unknown
from foreshock._cli._imports import import_all, import_function
from foreshock._cli._lint_shown import show_blind, show_lint
from foreshock._cli._out import console, progress
from foreshock._cli._places import Places, open_store, places
from foreshock._cli._report_added import exit_code, refuse_without_logs, show_added
from foreshock.lint import (
    CODES,
    RULES,
    LintOptions,
    chosen_runs,
    explain,
    is_design,
    lint_blind,
    lint_design,
    lint_store,
)
from foreshock.readers import ReadOptions, holds_logs
from foreshock.records import Document
from foreshock.report import one_line
from foreshock.series import load_models, model_cards
from foreshock.store import Store, add_paths


class _Given(NamedTuple):
    """The paths of a command line, by what they are."""

    store: Path | None
    designs: list[Path]
    logs: list[Path]


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Designs (task YAML of lm-eval, Inspect task files, benchmark.toml), logs to add first, or a store; "
            "without any, what the store holds.",
            show_default=False,
        ),
    ] = None,
    store: o.StoreOption = None,
    task: o.TaskOption = None,
    model: o.ModelOption = None,
    family: o.FamilyOption = None,
    select: Annotated[list[str] | None, typer.Option("--select", help="Only findings whose code begins so.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="No findings whose code begins so.")] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option("--fail-on", help="Exit with 1 when this fires: FS2, a rule such as no-twin, or any."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", help="Smallest difference of two models that matters [default: 0.05]."),
    ] = None,
    scatter: Annotated[
        float | None,
        typer.Option("--scatter", help="Assumed scatter of models about a trend, as a share of it [default: 0.05]."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", min=1, help="Most items on which metrics are tried [default: 200].")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Plant degradations in stored outputs: which does each scorer see?")
    ] = False,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="Metric whose kind is measured, or that --blind tries.")
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            "--scorer",
            metavar="FILE:FUNCTION",
            help="Function (output, item) -> number of a Python file or module, to be tried; it is run.",
        ),
    ] = None,
    imports: o.ImportOption = None,
    code: Annotated[str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means.")] = None,
    html: o.HtmlOption = None,
    json: o.JsonOption = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write a summary for a CI page.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write the findings as JUnit XML.")] = None,
    seed: o.SeedOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Say what a benchmark cannot show: of stored runs, or of a design before anything is run.

    Nothing in a design is run. With --blind, say which damage to an answer each scorer notices.

    Examples:

      foreshock lint

      foreshock lint tasks/ --select FS2 --fail-on no-twin

      foreshock lint benchmark.toml --store evals --json -

      foreshock lint --blind --metric exact_match --metric char_similarity --scorer my_judge.py:grade

      foreshock lint --explain FS203
    """
    if code is not None:
        console().print(explain(code), soft_wrap=True)
        return
    given = _sorted(paths or [])
    talk = not quiet and str(json) != "-"
    if talk:
        _note_logs(given.designs)
    where = places(store if store is not None else given.store)
    names = fail_on or where.config.fail_on
    refuse_unknown(fail_on or [], ("any", *(rule.name for rule in RULES)), CODES)
    _refuse_chosen([*(select or []), *(ignore or [])])
    import_all(where, imports)
    scorers = _functions(scorer or [])
    own = where.config.lint
    options = LintOptions(
        tasks=task or [],
        models=model or [],
        families=family or [],
        corrections=load_models(where.models),
        select=select or own.select,
        ignore=ignore or own.ignore,
        difference=own.difference if difference is None else difference,
        scatter=own.scatter if scatter is None else scatter,
        metrics=metric or [],
        samples=own.samples if samples is None else samples,
        seed=where.config.seed if seed is None else seed,
    )
    with progress(silent=quiet) as show:
        run = _Run(where, given, options, scorers, talk, show)
        document = run.blind() if blind else run.design() if run.only_designs(store) else run.store()
    write_outputs(document, html=html, json=json, markdown=markdown, junit=junit)
    if talk:
        (show_blind if blind else show_lint)(document, console())
        if html is not None:
            console().print(f"Report: {html}")
    codes = {rule.name: rule.code for rule in RULES}
    raise typer.Exit(firing(document, [codes.get(name, name) for name in names]))


def _note_logs(designs: list[Path]) -> None:
    """Say of folders of designs that their logs, if they are any, are not looked at."""
    for path in designs:
        if path.is_dir() and holds_logs([path]):
            told = "holds designs; files in it that may be logs are not read: name them themselves"
            console(stderr=True).print(f"{one_line(str(path), 200)} {told}", soft_wrap=True)


def _functions(names: list[str]) -> dict[str, Callable[..., Any]]:
    """Functions by their own name, or by all that was given where two have the same."""
    short = [name.rpartition(":")[2] for name in names]
    return {
        own if short.count(own) == 1 else name: import_function(name) for name, own in zip(names, short, strict=True)
    }


class _Run(NamedTuple):
    """One call of the library, with what it needs."""

    where: Places
    given: _Given
    options: LintOptions
    scorers: dict[str, Callable[..., Any]]
    talk: bool
    progress: Any

    def only_designs(self, store: Path | None) -> bool:
        """Whether nothing but designs was named, so that no store is looked into."""
        return bool(self.given.designs) and not self.given.logs and self.given.store is None and store is None

    def design(self) -> Document:
        if self.scorers or self.options.metrics:
            raise ConfigError(
                "metrics are measured on stored outputs, and only designs were given",
                expected="a store or logs beside them",
                do="add --store DIR, or leave --metric and --scorer out",
            )
        return lint_design(self.given.designs, self.options, command=_command())

    def store(self) -> Document:
        options, failures = self._added()
        return lint_store(
            open_store(self.where),
            options,
            designs=self.given.designs,
            scorers=self.scorers,
            command=_command(),
            failures=failures,
            progress=self.progress,
        )

    def blind(self) -> Document:
        if not self.scorers and not self.options.metrics:
            raise ConfigError(
                "--blind without a scorer",
                expected="--metric NAME or --scorer FILE:FUNCTION, as often as needed",
                do="for example: foreshock lint --blind --metric exact_match --metric char_similarity",
            )
        options, _ = self._added()
        opened = open_store(self.where)
        known = opened.snapshot().runs()
        runs = chosen_runs(known, model_cards(known, options.corrections), options)
        tried: dict[str, Any] = {name: name for name in options.metrics} | self.scorers
        return lint_blind(opened, runs, tried, options, command=_command(), progress=self.progress)

    def _added(self) -> tuple[LintOptions, list[tuple[str, str]]]:
        """Options that look at the given logs only, which are in the store then; all runs where none are given."""
        import msgspec

        if not self.given.logs:
            return self.options, []
        refuse_without_logs(self.given.logs, ReadOptions())
        added = add_paths(Store.open(self.where.store, create=True), self.given.logs, progress=self.progress)
        if exit_code(added, console(stderr=True), asked=None, told_later=self.talk):
            raise typer.Exit(2)
        if self.talk:
            show_added(console(stderr=True), added, self.where.store)
        keys = {run.run_key for run in (*added.added, *added.unchanged)}
        skipped = {str(path.absolute()) for path in added.skipped}
        known = open_store(self.where).snapshot().runs()
        keys |= {run.run_key for run in known if any(source.path in skipped for source in run.sources)}
        failures = [(str(failure.path), str(failure.error)) for failure in added.failures]
        return msgspec.structs.replace(self.options, runs=frozenset(keys)), failures


def _command() -> list[str]:
    return ["foreshock", *sys.argv[1:]]


def _sorted(paths: list[Path]) -> _Given:
    """Paths by what they are.

    Raises:
        ConfigError: There is no such path, or there are two stores.
    """
    stores: list[Path] = []
    designs: list[Path] = []
    logs: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ConfigError("no such file or folder", expected="a design, a log or a store", where=str(path))
        if path.is_dir() and (path / "commits").is_dir():
            stores.append(path)
            continue
        # a folder of designs often holds data sets as well: those are no logs
        (designs if is_design(path) else logs).append(path)
    if len(stores) > 1:
        raise ConfigError(f"{len(stores)} stores", expected="one", do="call lint for each of them")
    return _Given(stores[0] if stores else None, designs, logs)


def _refuse_chosen(chosen: list[str]) -> None:
    """Refuse a prefix of ``--select`` or ``--ignore`` that fits no code.

    Raises:
        ConfigError: It does not.
    """
    for name in chosen:
        if not fits(name, CODES):
            raise ConfigError(f"no code of lint begins with {name!r:.80}", expected=f"one of {', '.join(CODES)}")
