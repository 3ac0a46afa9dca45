"""Rows of the tables about forecasts and alarms: forecasts, the curves behind them, crossings, back-tests."""

from __future__ import annotations

import msgspec


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """Which curve a row is about.

    Attributes:
        group: The curve's name: what stands in the group columns of a table, else task, family and metric.
        task, family, metric: What was scored.
        axis: What orders the points.
        axis_known: False when the order is only the order of creation.
        unit: Unit of the values; ``fraction`` is shown in percent.
    """

    group: str
    task: str | None = None
    family: str | None = None
    metric: str | None = None
    axis: str = "x"
    axis_known: bool = True
    unit: str | None = None


class ForecastRow(Placed, frozen=True, kw_only=True):
    """One forecast of one curve at one place.

    Attributes:
        finding_id: Finding about it; null where there is none.
        x: The place on the axis; dates are days since 1970-01-01 (UTC).
        why: How the place came about: ``at``, ``next``, ``date``, ``held-out``, ``line`` (of a threshold) or
            ``unscored`` (a model that lacks the score).
        route: ``direct``, ``two-stage``: the twin is forecast, and read through the link, or ``observational``: from
            the model's scores of other tasks.
        label: The model, where one is forecast.
        y_hat: The forecast; null where it is refused.
        low, high: Its interval at ``level``.
        level: Level of the interval.
        refused: Why there is no forecast; null where there is one.
        enough: What would be enough for one.
        persistence, persistence_low, persistence_high: The last score carried on, with its interval.
        observed: What came; null where nobody knows.
        inside: Whether what came lies within the interval; null where either is not known.
        probability: Probability of lying beyond the threshold at this place.
    """

    finding_id: str | None = None
    x: float | None = None
    why: str | None = None
    route: str = "direct"
    label: str | None = None
    y_hat: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    refused: str | None = None
    enough: str | None = None
    persistence: float | None = None
    persistence_low: float | None = None
    persistence_high: float | None = None
    observed: float | None = None
    inside: bool | None = None
    probability: float | None = None


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a drawn curve.

    Attributes:
        x: Place on the axis.
        value: Score, or forecast.
        low, high: Interval.
        label: Model or checkpoint.
        n: Items behind a score.
    """

    x: float
    value: float | None = None
    low: float | None = None
    high: float | None = None
    label: str | None = None
    n: int | None = None


class FormCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One form along the places of the band.

    Attributes:
        name: Its name.
        weight: Its weight in the forecast; null where it has none.
        values: Its values at the places of ``band``.
    """

    name: str
    weight: float | None = None
    values: list[float | None] = []


class ForecastCurveRow(Placed, frozen=True, kw_only=True):
    """One curve with everything that its forecasts rest on.

    Attributes:
        finding_id: Finding about it.
        log_axis: Whether the axis is read on a log scale.
        link: Scale on which it is forecast.
        points: What is known.
        held: Points kept from the forecast, with what came where that is known.
        band: The forecast along the axis, for drawing; empty where it is refused or was not drawn.
        forms: The forms along the same places.
        threshold: The line that was asked for.
        side: ``above`` or ``below``: where crossing it is looked for.
        ruled_out: Forms that the data rule out, each with its reason.
        alike: Forms that the data cannot tell apart.
        no_law: Why no form says more than that the score stays where it is; null where one does.
        guarantee: What the interval promises, and what it does not.
        basis: What it was calibrated on; of a refused curve what the interval about the last score was.
        calibration: Its id in the table ``calibration``.
        refused: Why there is no forecast.
        enough: What would be enough.
        notes: How the curve was read.
        data_hash, seed: What repeats the fit.
        starts, objective: Starts of all forms together, and the objective of the best one; each form's own stand in
            ``fits``.
        best_form: The form with the lowest AICc.
        weights: Part of every form in the forecast, local trends and the last value included; they sum to 1.
        advice: What to do now.
    """

    finding_id: str | None = None
    log_axis: bool = False
    link: str | None = None
    points: list[CurvePoint] = []
    held: list[CurvePoint] = []
    band: list[CurvePoint] = []
    forms: list[FormCurve] = []
    threshold: float | None = None
    side: str | None = None
    ruled_out: list[str] = []
    alike: list[str] = []
    no_law: str | None = None
    guarantee: str | None = None
    basis: str | None = None
    calibration: str | None = None
    refused: str | None = None
    enough: str | None = None
    notes: list[str] = []
    data_hash: str | None = None
    seed: int | None = None
    starts: int | None = None
    objective: float | None = None
    best_form: str | None = None
    weights: dict[str, float] = {}
    advice: str | None = None


class CrossingRow(Placed, frozen=True, kw_only=True):
    """Where a curve stands to a line, and when it may cross it.

    Attributes:
        finding_id: Finding about it.
        threshold: The line.
        side: ``above`` or ``below``: the side that is looked for.
        answer: ``crossed``, ``at the line``, ``near``, ``later``, ``not in sight`` or ``cannot tell``.
        now, now_low, now_high: The newest score with its exact 90% bounds (of 0 in n: the upper one).
        now_n: Items behind it.
        now_x: Its place.
        first: First place at which the interval of the forecast reaches the line; null where it does not.
        until: Place up to which the axis was searched.
        by: Place that was asked for.
        probability: Probability of lying beyond the line at ``by``.
        level: Level of the interval.
        why: The answer in a sentence.
        enough: What would be enough, where it cannot be told.
        muted_until: Last day on which it is muted; only lines of the settings can be.
    """

    finding_id: str | None = None
    threshold: float
    side: str
    answer: str
    now: float | None = None
    now_low: float | None = None
    now_high: float | None = None
    now_n: int | None = None
    now_x: float | None = None
    first: float | None = None
    until: float | None = None
    by: float | None = None
    probability: float | None = None
    level: float | None = None
    why: str | None = None
    enough: str | None = None
    muted_until: str | None = None


class BacktestRow(msgspec.Struct, frozen=True, kw_only=True):
    """Forecasts of what is known already, beside the last score carried on.

    Attributes:
        group: The curve; null for all of them together.
        task, family, metric: What was scored.
        unit: Unit of the values.
        source: ``rolling origin``: each prefix of the history forecasts what follows it; ``held-out``: the points that
            were kept from the forecast.
        curves: Curves behind the row.
        forecasts: Forecasts that were scored.
        withheld: Places at which no forecast was given.
        mae, mae_persistence: Mean absolute error, and that of the last score.
        rmsle, rmsle_persistence: Root mean squared error of the logarithm; null where a score is not above 0.
        coverage, coverage_low, coverage_high: Share of what came that lies in the interval, with its 95% interval
            (curves, not points, are the unit).
        interval_score, interval_score_persistence: Mean interval score: width and misses, less is better.
        level: Level of the intervals.
        crossings, foretold, false_calls: With a threshold: how often it was crossed, how often that was within the
            interval, and how often the interval reached it in vain.
        refused: Why nothing could be scored.
    """

    group: str | None = None
    task: str | None = None
    family: str | None = None
    metric: str | None = None
    unit: str | None = None
    source: str
    curves: int | None = None
    forecasts: int | None = None
    withheld: int | None = None
    mae: float | None = None
    mae_persistence: float | None = None
    rmsle: float | None = None
    rmsle_persistence: float | None = None
    coverage: float | None = None
    coverage_low: float | None = None
    coverage_high: float | None = None
    interval_score: float | None = None
    interval_score_persistence: float | None = None
    level: float | None = None
    crossings: int | None = None
    foretold: int | None = None
    false_calls: int | None = None
    refused: str | None = None
