"""Forecasts as a document: of the lines of a store, or of the curves of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import AlarmsConfig, ConfigError, Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.alarms import watched_lines, watched_series
from foreshock.check._chosen import chosen
from foreshock.check._forecast_backtest import backtest_rows
from foreshock.check._forecast_beside import finding_of
from foreshock.check._forecast_crossing import crossing
from foreshock.check._forecast_fits import calibration_rows, fit_rows
from foreshock.check._forecast_judge import ForecastOptions, Foretold, foretell
from foreshock.check._forecast_lines import ForecastLine, lines_of_store
from foreshock.check._forecast_observed import observed_tables
from foreshock.check._forecast_over import ABILITY, Others, over, with_compute
from foreshock.check._forecast_own import Calibrations, calibrations
from foreshock.check._forecast_rows import curve_row, refusal_of
from foreshock.check._forecast_scored import held_out_rows
from foreshock.check._look import CheckOptions
from foreshock.records import Counts, Document, Finding, ModelCard, Run
from foreshock.scoring import default_metrics, score
from foreshock.series import family_label, model_cards, run_row
from foreshock.store import Snapshot, Store

FORECAST_CODES = ("FS403", "FS404")
"""Codes of the findings that ``forecast`` can give."""
MOST_DRAWN = 100
"""Curves of a document that have what a plot needs."""


class ForecastPart(NamedTuple):
    """Findings and tables of some curves.

    Attributes:
        findings: About lines and refusals.
        tables: ``forecast``, ``curves``, and where there are rows ``fits``, ``calibration``, ``crossings`` and
            ``backtest``.
    """

    findings: list[Finding]
    tables: dict[str, list[dict[str, Any]]]


def forecast_document(
    store: Store,
    options: CheckOptions | None = None,
    *,
    asked: ForecastOptions | None = None,
    alarms: AlarmsConfig | None = None,
    command: Sequence[str] = ("forecast",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """Forecast every line of models that fits the options.

    Args:
        store: The store; scores are added to it, nothing else changes.
        options: What to look at.
        asked: What to forecast and how.
        alarms: The table ``alarms`` of the settings; where metrics are named, responses are scored with its metrics
            too, so that any that is watched can be forecast. None is the usual settings.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and curves.

    Raises:
        ConfigError: Nothing fits the options.
    """
    options, asked = options or CheckOptions(), asked or ForecastOptions()
    watched = (alarms or AlarmsConfig()).metrics if asked.metrics else []
    score(store, [*default_metrics(), *watched], progress=progress)
    snapshot = store.snapshot()
    cards = model_cards(snapshot.runs(), options.corrections, options.step_pattern, options.step_from)
    runs = chosen(
        snapshot.runs(),
        options.runs,
        {"task": options.tasks, "model": options.models, "family": options.families},
        {key: family_label(card) for key, card in cards.items()},
    )
    found, others = _lines_of(snapshot, runs, cards, (options, asked))
    told = _tell(found, asked, progress)
    if asked.over == ABILITY and others is not None:  # models that lack a score have others
        for name, rows in observed_tables(found, others, asked).items():
            told.tables[name] += rows
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in runs)),
        findings=told.findings,
        tables={
            **told.tables,
            "runs": [run_row(run) for run in runs],
            "failures": [{"path": path, "message": message} for path, message in failures],
        },
    )


def _lines_of(
    snapshot: Snapshot,
    runs: Sequence[Run],
    cards: Mapping[str, ModelCard],
    asked: tuple[CheckOptions, ForecastOptions],
) -> tuple[list[ForecastLine], Others | None]:
    """What is forecast of a store, on the axis that was asked for, and what else can be one; None was not asked for."""
    options, wanted = asked
    axis = options.axis or ("released" if wanted.wanted.dates else None)
    watched = watched_series(snapshot, watched_lines(runs, cards, axis), least=1)
    lines = lines_of_store(watched, wanted.metrics)
    found = [with_compute(line.on_scale(wanted.low, wanted.high, wanted.link), cards) for line in lines]
    if not found:
        raise _nothing(wanted, axis, sorted({one.series.metric for one in watched}))
    if wanted.over is None:
        return found, None
    if wanted.over == ABILITY and (wanted.wanted.at or wanted.wanted.bare):
        raise ConfigError(f"--at beside --over {ABILITY}", expected="--next: an ability has no scores", do="use --next")
    every = [run for run in snapshot.runs() if run.run_key in cards]
    series = watched_series(snapshot, watched_lines(every, cards, axis), least=1)
    others = Others(lines_of_store(series), lines_of_store(series, ["*"]))
    return over(found, others, wanted.over), others


def _nothing(asked: ForecastOptions, axis: str | None, known: Sequence[str]) -> ConfigError:
    if known:
        return ConfigError(
            f"no metric fits {', '.join(asked.metrics)[:200]}",
            expected=f"one of {', '.join(known[:20])}" + (", …" if len(known) > 20 else ""),
            do="correct --metric",
        )
    if axis == "released":
        return ConfigError(
            "no model says when it was released",
            expected="models with a date of release: in models.toml, their names, or a column released of a table; "
            "other dates of a table are when its scores were made",
            do="write released into models.toml (foreshock models --write makes the file); a table by itself is "
            "forecast over its dates by foreshock forecast --csv TABLE --date COLUMN",
        )
    if axis is not None:
        return ConfigError(
            f"no model has a place on the axis {axis}",
            expected="models whose cards say it",
            do="write it into models.toml (foreshock models --write makes the file), or take another --axis",
        )
    return ConfigError("no score is there to forecast", expected="runs with scores", do="foreshock ls shows the runs")


def curves_document(
    found: Sequence[ForecastLine],
    asked: ForecastOptions | None = None,
    *,
    command: Sequence[str] = ("forecast",),
    progress: Progress = quiet,
) -> Document:
    """Forecast the curves of a table, without a store.

    Args:
        found: The curves, as :func:`foreshock.check.lines_of_rows` makes them.
        asked: What to forecast and how.
        command: Arguments to name in the document.
        progress: Told about curves.
    """
    told = _tell(found, asked or ForecastOptions(), progress)
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total([])),
        findings=told.findings,
        tables=told.tables,
    )


def _tell(found: Sequence[ForecastLine], asked: ForecastOptions, progress: Progress) -> ForecastPart:
    own: Calibrations = calibrations(found, asked, progress) if asked.own else lambda _line: None
    return tell_forecasts([(line, asked) for line in found], progress, own)


def tell_forecasts(
    found: Sequence[tuple[ForecastLine, ForecastOptions]],
    progress: Progress = quiet,
    own: Calibrations = lambda _line: None,
) -> ForecastPart:
    """Forecast some curves, each as asked.

    Args:
        found: The curves with what is asked of each.
        progress: Told about curves.
        own: What intervals of a curve are calibrated on.
    """
    findings: list[Finding] = []
    names = ("forecast", "curves", "fits", "crossings", "backtest")
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    used: dict[str, list[dict[str, Any]]] = {}
    for done, (line, asked) in enumerate(found):
        progress("forecast", done, len(found))
        # a plot for every one of a thousand curves would make a document that no page can hold
        options = msgspec.structs.replace(asked, draw=asked.draw and done < MOST_DRAWN)
        told = foretell(line, options, own(line))
        findings += _add(told, options, tables)
        if told.made is not None and told.made.calibration is not None:
            name = tables["curves"][-1]["calibration"]
            used[name] = used.get(name) or calibration_rows(told.made.calibration, options.level)
        tables["backtest"] += backtest_rows(line, options, own(line)) if asked.backtest else []
    progress("forecast", len(found), len(found))
    tables["backtest"] += held_out_rows(tables["forecast"])
    tables["calibration"] = [row for rows in used.values() for row in rows]
    return ForecastPart(
        findings, {name: rows for name, rows in tables.items() if rows or name in ("forecast", "curves")}
    )


def _add(told: Foretold, options: ForecastOptions, tables: dict[str, list[dict[str, Any]]]) -> list[Finding]:
    """Put one curve into the tables; its findings."""
    beside = crossing(told, options) if options.threshold is not None else None
    findings = [] if beside is None else [finding_of(beside)]
    refused = refusal_of(told) if beside is None else None
    findings += [refused] if refused is not None else []
    identity = findings[0].id if findings else None
    tables["forecast"] += [{**row, "finding_id": identity} for row in told.rows]
    tables["curves"].append(curve_row(told, options, beside, identity))
    tables["fits"] += fit_rows(told, identity)
    if beside is not None and identity is not None:
        tables["crossings"].append(beside.row(identity, options.level))
    return findings
