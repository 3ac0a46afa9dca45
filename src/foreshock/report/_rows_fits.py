"""Rows of the tables about what forecasts rest on: every fit with its optima, every calibration by group."""

from __future__ import annotations

import msgspec

from foreshock.report._rows_forecast import Placed


class OptimumRow(msgspec.Struct, frozen=True, kw_only=True):
    """One local optimum of a fit.

    Attributes:
        objective: Sum of squared residuals as the fit weighs them; the least is the fit.
        parameters: Parameters of the equation there; null where one is not finite.
    """

    objective: float
    parameters: dict[str, float | None] = {}


class FitRow(Placed, frozen=True, kw_only=True):
    """One form fitted to one curve.

    Attributes:
        finding_id: Finding about the curve.
        form, equation: Its name, and what it says.
        parameters: Parameters of the equation; empty where nothing could be fitted.
        sd: Standard deviation of the residuals on the link.
        aicc: Akaike's criterion with its correction for few points; null where the points do not allow it.
        akaike_weight: Its share of the support of all forms that are not refused.
        weight: Its part in the forecast; null where it has none.
        verdict: ``best``, ``cannot be told apart`` (from the best), ``ruled out``, ``not needed`` (its parameters cost
            more than it gains) or ``refused``.
        ruled_out, gap: Whether it is ruled out, and by how much AICc.
        alike: Forms that the data cannot tell from it although they part beyond the last point.
        refused: Why its parameters mean nothing, or why there are none.
        bounded: Parameters at a bound: the data would have them beyond.
        optima: All distinct local optima, best first.
        points: Points it was fitted to: a long history is averaged first.
        starts, seed, objective, data_hash: What repeats the fit.
    """

    finding_id: str | None = None
    form: str
    equation: str | None = None
    parameters: dict[str, float | None] = msgspec.field(default_factory=dict)
    sd: float | None = None
    aicc: float | None = None
    akaike_weight: float | None = None
    weight: float | None = None
    verdict: str | None = None
    ruled_out: bool = False
    gap: float | None = None
    alike: list[str] = msgspec.field(default_factory=list)
    refused: str | None = None
    bounded: list[str] = msgspec.field(default_factory=list)
    optima: list[OptimumRow] = msgspec.field(default_factory=list)
    points: int | None = None
    starts: int | None = None
    seed: int | None = None
    objective: float | None = None
    data_hash: str | None = None


class CalibrationRow(msgspec.Struct, frozen=True, kw_only=True):
    """What intervals held of one group of curves when they were learned on all other groups.

    Attributes:
        id: Which calibration; ``curves`` name it.
        source: What its curves are.
        level: Level of the intervals.
        group: The group left out; null for all of them together.
        curves: Curves in it.
        coverage: Share of what came that the intervals held; null where there is only one group.
        persistence_coverage: The same of the intervals about the last score.
    """

    id: str
    source: str
    level: float
    group: str | None = None
    curves: int
    coverage: float | None = None
    persistence_coverage: float | None = None
