"""The rows of a document's tables, as types: what the report reads and what the JSON Schema says.

Fields that may be null have null as default, so that an older or smaller document still opens. Fields and tables that
are not named here are kept in the JSON; unknown tables are shown as plain tables.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from foreshock._base import ForeshockError
from foreshock.records import Document, Light
from foreshock.report._rows_alarms import AlarmRow, BudgetRow, LedgerRow
from foreshock.report._rows_compare import BoardRow, CompareRow
from foreshock.report._rows_fits import CalibrationRow, FitRow
from foreshock.report._rows_forecast import BacktestRow, CrossingRow, ForecastCurveRow, ForecastRow
from foreshock.report._rows_mirage import (
    ConditionRow,
    FamilyRow,
    ForeseeableRow,
    PredictionRow,
    RepeatRow,
    ResolutionRow,
    UnresolvedRow,
    VerdictRow,
)


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all rows."""


class OpeningRow(_Row, frozen=True, kw_only=True):
    """One line of "with these logs: can / cannot / needs".

    Attributes:
        kind: Which of the three lists it belongs to.
        text: One plain sentence.
        do: Command or step that would help; null when there is none.
    """

    kind: Literal["can", "cannot", "needs"]
    text: str
    do: str | None = None


class LightRow(_Row, frozen=True, kw_only=True):
    """One light of a trust card.

    Attributes:
        state: ``no-data`` is grey and never counts as ``ok``.
        text: One plain sentence.
    """

    state: Light
    text: str


class TrustRow(_Row, frozen=True, kw_only=True):
    """The trust card of a task.

    Attributes:
        task: Task.
        lights: ``delivered, metric, resolution, headroom, comparable, trend``.
    """

    task: str
    lights: dict[str, LightRow]


class ModelRow(_Row, frozen=True, kw_only=True):
    """One model on one task by one metric.

    Attributes:
        task: Task.
        model: Model as logged.
        family: Model family.
        axis: What orders the models.
        x: Place on the axis.
        metric: Metric.
        unit: Unit of the values; ``fraction`` is shown in percent.
        value: Mean over the scored responses.
        low, high: Interval of ``value``.
        level: Level of the interval.
        n: Items behind ``value``.
        expected, delivered, parsed, refused, error, missing: Counts of responses.
        unparsed_share: Share of the delivered responses without an extracted answer.
        value_expected: Same numerator over all expected responses.
        harness_value: The harness's own figure.
        status: How the run ended.
        replicates: Further runs of the same model on the same task.
        note: What a reader should know.
    """

    task: str
    model: str
    family: str | None = None
    axis: str | None = None
    x: float | None = None
    metric: str | None = None
    unit: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int | None = None
    expected: int | None = None
    delivered: int | None = None
    parsed: int | None = None
    unparsed_share: float | None = None
    refused: int | None = None
    error: int | None = None
    missing: int | None = None
    value_expected: float | None = None
    harness_value: float | None = None
    status: str | None = None
    replicates: int | None = None
    note: str | None = None


class PointRow(_Row, frozen=True, kw_only=True):
    """One point of a series.

    Attributes:
        label: Model or checkpoint.
        x: Place on the axis; dates are days since 1970-01-01 (UTC).
        value: Mean; null where nothing was scored.
        low, high: Interval.
        n: Items behind the value.
    """

    label: str
    x: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None


class SeriesRow(_Row, frozen=True, kw_only=True):
    """One metric of one task for one model family along one axis.

    Attributes:
        finding_id: Finding that looked at it.
        task: Task.
        family: Model family.
        axis: What orders the points.
        axis_known: False when the order is only the order of creation.
        log_axis: Whether the axis is read on a log scale.
        metric: Metric.
        role: ``hard``, ``twin``, ``counterfactual`` (the hard metric that a smooth twin would give through the link) or
            ``conditional`` (the share of right tokens, if all are alike).
        unit: Unit of the values; ``fraction`` is shown in percent.
        chance: Value of guessing.
        points: The points, in the order of the axis.
    """

    finding_id: str | None = None
    task: str
    family: str | None = None
    axis: str
    axis_known: bool = True
    log_axis: bool = False
    metric: str
    role: Literal["hard", "twin", "counterfactual", "conditional"] = "hard"
    unit: str | None = None
    chance: float | None = None
    points: list[PointRow] = []


class MovedRow(_Row, frozen=True, kw_only=True):
    """One item whose answer changed between two models, for a person to read.

    Attributes:
        finding_id: Finding that it is evidence of.
        task: Task.
        family: Model family.
        item: The item's id.
        question: Question text.
        target: Accepted answer.
        from_model, to_model: The two models.
        from_output, to_output: What each wrote; null when nothing arrived.
        from_score, to_score: What each scored; null when there is no score.
    """

    finding_id: str
    task: str
    family: str | None = None
    item: str
    question: str | None = None
    target: str | None = None
    from_model: str
    to_model: str
    from_output: str | None = None
    to_output: str | None = None
    from_score: float | None = None
    to_score: float | None = None


class FlipRow(MovedRow, frozen=True, kw_only=True):
    """One item on which two compared runs differ.

    Attributes:
        direction: ``gained`` or ``lost``, seen from the second run.
        from_run, to_run: Keys of the two runs.
    """

    direction: Literal["gained", "lost"]
    from_run: str | None = None
    to_run: str | None = None


class RunRow(_Row, frozen=True, kw_only=True):
    """One run with its counts.

    Attributes:
        run_key: The run's key.
        model: Model as logged.
        task: Task as logged.
        status: How the run ended.
        created: When it was made.
        format: Format of the log.
        writer: Harness version that wrote it.
        expected, delivered, parsed, scored, refused, error, missing: Counts of responses.
        warnings: What a reader should know, one sentence each.
    """

    run_key: str
    model: str
    task: str
    status: str | None = None
    created: str | None = None
    format: str | None = None
    writer: str | None = None
    expected: int | None = None
    delivered: int | None = None
    parsed: int | None = None
    scored: int | None = None
    refused: int | None = None
    error: int | None = None
    missing: int | None = None
    warnings: list[str] = []


class DimensionRow(_Row, frozen=True, kw_only=True):
    """One thing in which runs or responses of a task differ besides the model.

    Attributes:
        task: Task.
        name: ``step``, ``seed``, ``repeat``, ``epoch``, ``sample``, ``filter``, ``perturbation``, or a condition.
        values: How many values there are.
        examples: Some of them.
        treatment: ``apart``, ``mean`` or ``newest``.
        how: The same in words.
    """

    task: str
    name: str
    values: int = 0
    examples: list[str] = []
    treatment: str
    how: str


class FailureRow(_Row, frozen=True, kw_only=True):
    """A file that could not be read.

    Attributes:
        path: The file.
        message: What was found, what was expected, what to do next.
    """

    path: str
    message: str

    @property
    def said(self) -> str:
        """The message without the path, where it begins with that."""
        return self.message.removeprefix(f"{self.path}: ")


class Tables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables that ``foreshock check``, ``compare`` and ``forecast`` write."""

    opening: list[OpeningRow] = []
    trust: list[TrustRow] = []
    models: list[ModelRow] = []
    series: list[SeriesRow] = []
    verdicts: list[VerdictRow] = []
    families: list[FamilyRow] = []
    unresolved: list[UnresolvedRow] = []
    resolution: list[ResolutionRow] = []
    repeats: list[RepeatRow] = []
    foreseeable: list[ForeseeableRow] = []
    predictions: list[PredictionRow] = []
    conditions: list[ConditionRow] = []
    moved: list[MovedRow] = []
    dimensions: list[DimensionRow] = []
    compare: list[CompareRow] = []
    flips: list[FlipRow] = []
    board: list[BoardRow] = []
    alarms: list[AlarmRow] = []
    ledger: list[LedgerRow] = []
    budget: list[BudgetRow] = []
    forecast: list[ForecastRow] = []
    curves: list[ForecastCurveRow] = []
    fits: list[FitRow] = []
    calibration: list[CalibrationRow] = []
    crossings: list[CrossingRow] = []
    backtest: list[BacktestRow] = []
    runs: list[RunRow] = []
    failures: list[FailureRow] = []


def read_tables(document: Document) -> tuple[Tables, dict[str, list[dict[str, Any]]]]:
    """Check the rows of ``document`` and sort them into known tables and the rest.

    Raises:
        ForeshockError: A row lacks something that a reader cannot do without.
    """
    known = {name: rows for name, rows in document.tables.items() if name in Tables.__struct_fields__}
    rest = {name: rows for name, rows in document.tables.items() if name not in known}
    try:
        return msgspec.convert(known, Tables), rest
    except msgspec.ValidationError as error:
        raise ForeshockError(
            f"a table of this document cannot be shown: {error}",
            expected="the rows described in docs/json.md",
            do="write the document again with `foreshock check --json`",
        ) from None
