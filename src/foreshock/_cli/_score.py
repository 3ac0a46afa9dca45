"""`foreshock score`: apply metrics to stored responses."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from foreshock import __version__
from foreshock._base import ConfigError, count_of, utc_now
from foreshock._cli import _asking as a
from foreshock._cli import _models_that_score as m
from foreshock._cli import _options as o
from foreshock._cli import _planted
from foreshock._cli._imports import import_all
from foreshock._cli._out import console, progress, write_json
from foreshock._cli._places import open_store, places
from foreshock._cli._score_shown import show_gaps, show_values
from foreshock.records import Counts, Document
from foreshock.report import one_line
from foreshock.scoring import Agreement, Scored, aggregate, agreement, cluster, needs, processes
from foreshock.scoring import score as run_score


def score(
    store: o.StoreOption = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="Only this metric, such as 'exact_match(normalise=casefold)', or a group: text, probability, trace; "
            "repeatable.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes to work in [default: this one only].")
    ] = None,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Address of a Dask scheduler whose workers see the store's folder.")
    ] = None,
    imports: o.ImportOption = None,
    vectors: m.VectorsOption = None,
    judge: m.JudgeOption = None,
    judge_model: m.JudgeModelOption = None,
    judge_api: m.JudgeApiOption = "chat",
    judge_form: m.JudgeFormOption = "logprobs",
    judge_prompt: m.JudgePromptOption = None,
    judge_version: m.JudgeVersionOption = "1",
    planted: m.PlantedOption = 50,
    key_env: a.KeyOption = None,
    at_once: a.AtOnceOption = 4,
    timeout: a.TimeoutOption = 120.0,
    replies: a.RepliesOption = None,
    json: o.JsonOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Score every stored response under many metrics, offline; what is scored already stays as it is.

    Then show what each run scores. With --judge, answers and references are sent to that endpoint, and only there.

    Examples:

      foreshock score

      foreshock score --metric exact_match --metric "numeric_closeness"

      foreshock score --metric text --workers 4

      foreshock score --import my_metrics.py --metric same_start

      foreshock score --vectors glove.vec

      foreshock score --judge http://localhost:8000/v1 --judge-model big --planted 100
    """
    where = places(store)
    opened = open_store(where)
    files = import_all(where, imports)
    told = m.Asked(
        judge, judge_model, judge_api, judge_form, judge_prompt, judge_version, key_env, at_once, timeout, replies
    )
    if judge is not None and (workers, dask) != (None, None):
        raise ConfigError(
            "--judge with --workers or --dask", expected="one of them", do="leave one out; --at-once asks in parallel"
        )
    with (
        _executor(workers, dask, files) as executor,
        progress(silent=quiet) as show,
        m.judging(told, where, show) as who,
    ):
        specs = m.specs_with(metrics, who, vectors)
        tried = [] if who is None else _planted.try_planted(who, opened.snapshot(), planted, where.config.seed)
        done = run_score(opened, specs, executor=executor, progress=show)
        if who is not None:
            for spec in done.metrics:
                if spec.name == "judge_probability":
                    _planted.remember(opened, spec, who, tried)
    snapshot = opened.snapshot()
    agreed, lacking = agreement(snapshot), needs(snapshot, specs)
    if json is not None:
        total = Counts.total(run.counts for run in snapshot.runs())
        document = Document(
            foreshock=__version__,
            command=["foreshock", "score"],
            generated_at=utc_now(),
            counts=msgspec.to_builtins(total),
            tables={
                "agreement": [_plain(row) for row in agreed],
                "needs": [_plain(row) for row in lacking],
                "values": [_plain(row) for row in aggregate(snapshot, done.metrics, source="foreshock")],
                "metrics": [{"metric": str(spec), "metric_id": spec.id} for spec in done.metrics],
                "judge": _planted.rows(tried),
            },
        )
        write_json(document, json)
    if not quiet and str(json) != "-":
        _show(done, agreed)
        out = console()
        show_values(out, snapshot, done.metrics)
        if who is not None and planted:
            _planted.show(out, who, tried)
        show_gaps(out, done, lacking)


def _executor(workers: int | None, dask: str | None, files: list[Path]) -> AbstractContextManager[Executor | None]:
    if workers is not None and dask is not None:
        raise ConfigError("--workers and --dask together", expected="one of them", do="leave one out")
    if dask is not None:
        return cluster(dask, files)
    return processes(workers) if workers is not None else nullcontext()


def _plain(row: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(row._asdict())
    return plain


def _show(done: Scored, agreed: list[Agreement]) -> None:
    from rich.table import Table

    out = console()
    out.print(
        f"{count_of(len(done.metrics), 'metric')} on {count_of(done.segments, 'segment')} of responses: "
        f"{count_of(done.written, 'column')} written, {done.kept:,} were there or do not apply."
    )
    for metric, failures in done.failures.items():
        out.print(f"  {metric} failed on {failures.rows:,} responses, for example: {one_line(failures.example)}")
    if agreed:
        out.print("\nAgreement with the harness's own score")
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("task", "model", "harness", "ours", "equal"):
            table.add_column(name, overflow="fold")
        for row in agreed:
            same = f"{row.agree:,} of {row.n:,}" + ("" if row.comparable else " (other rule)")
            table.add_row(one_line(row.task), one_line(row.model), one_line(row.harness), row.metric, same)
        out.print(table)
