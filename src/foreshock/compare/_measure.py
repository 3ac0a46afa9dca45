"""Which score a comparison is made on, and which continuous one stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foreshock._base import ConfigError, MetricError
from foreshock.compare._rows import Rows
from foreshock.metrics import MetricSpec, get_metric, harness_metric

OURS = ("multiple_choice_grade", "exact_match")
"""Our hard metrics, in the order in which they speak for a task."""


class Measure(NamedTuple):
    """A metric as a comparison needs to know it.

    Attributes:
        id: Metric id in the store.
        name: Name to show.
        source: ``harness`` or ``foreshock``.
        hard: Whether an answer that could not be extracted counts as the worst value.
        low, high: Range; None is unbounded or unknown.
        rising: Whether larger is better.
        assumed: Whether range and direction are not known and were taken for those of a share.
    """

    id: str
    name: str
    source: str
    hard: bool
    low: float | None
    high: float | None
    rising: bool
    assumed: bool = False

    @property
    def bound(self) -> float | None:
        """Largest possible difference."""
        return None if self.low is None or self.high is None else self.high - self.low

    @property
    def worst(self) -> float | None:
        """Worst value; None where it has none."""
        return self.low if self.rising else self.high

    @property
    def unit(self) -> str:
        """Unit of the values; a fraction is shown in percent."""
        return "fraction" if (self.low, self.high) == (0, 1) else "score"


class Chosen(NamedTuple):
    """The measure of one answer filter of a task, and its twin; ``filters`` is how many the responses have."""

    filter: str | None
    measure: Measure
    twin: Measure | None
    filters: int = 1


def wanted_metrics(metric: str | None) -> list[MetricSpec]:
    """Our metrics that a comparison may look at: the one asked for, or the hard ones with their twins.

    Raises:
        MetricError: The text names a metric of ours with parameters that it does not have.
        ConfigError: The metric is one of a whole run.
    """
    if metric is None:
        hard = [get_metric(name) for name in OURS]
        return [*hard, *(get_metric(twin) for spec in hard for twin in spec.twins)]
    if harness_metric(metric) is not None and "(" not in metric and not _is_ours(metric):
        return []
    try:
        spec = get_metric(metric)
    except MetricError:
        if "(" in metric:
            raise
        return []  # a name that only the harness knows; whether it is there shows in the store
    if getattr(spec, "grain", "response") == "run":
        raise ConfigError(
            f"{metric} is a figure of a whole run", expected="a metric of single responses", do="see: foreshock score"
        )
    return [spec, *(get_metric(twin) for twin in spec.twins)]


def _is_ours(name: str) -> bool:
    from foreshock.metrics import list_metrics

    return any(spec.name == name for spec in list_metrics())


def choose(rows: Rows, metric: str | None, specs: Sequence[MetricSpec]) -> list[Chosen]:
    """The measure for every answer filter that all sides share.

    Args:
        rows: Responses and scores of a match.
        metric: What was asked for.
        specs: See :func:`wanted_metrics`.

    Returns:
        In order of the filter; empty where the sides share no score.
    """
    there = _present(rows, specs)
    found = []
    filters = max(1, rows.responses.get_column("filter").n_unique())
    for name in sorted({key[0] for key in there}, key=lambda text: text or ""):
        shared = {key[1:]: facts for key, facts in there.items() if key[0] == name and len(facts) == rows.sides}
        main = _asked(shared, metric, specs) if metric is not None else _default(shared, specs)
        if main is not None:
            found.append(Chosen(name, main, _twin(main, shared, specs), filters))
    return found


_Facts = dict[int, tuple[int, bool]]
"""Side to number of scored rows and whether all of them are 0 or 1; 0 rows where it lost all its scores."""


def _present(rows: Rows, specs: Sequence[MetricSpec]) -> dict[tuple[str | None, str, str], _Facts]:
    """Scores of (filter, source, metric id) by side."""
    import polars as pl

    place = rows.responses.select("ingest_id", "row", "side", "filter")
    frames = [rows.harness.join(place, on=["ingest_id", "row"]).with_columns(source=pl.lit("harness"))]
    for spec in specs:
        if spec.id in rows.responses.columns:
            ours = rows.responses.select(
                "side", "filter", pl.col(spec.id).alias("value"), pl.col(f"{spec.id}|status").alias("status")
            )
            frames.append(ours.with_columns(source=pl.lit("foreshock"), metric_id=pl.lit(spec.id)))
    scored = pl.col("value").filter(pl.col("status") == "scored")
    found: dict[tuple[str | None, str, str], _Facts] = {}
    for frame in frames:
        counted = frame.group_by("side", "filter", "source", "metric_id").agg(
            scored.len().alias("rows"), ((scored == 0) | (scored == 1)).all().alias("binary")
        )
        for row in counted.iter_rows(named=True):
            if row["rows"]:
                facts = found.setdefault((row["filter"], row["source"], row["metric_id"]), {})
                facts[row["side"]] = (row["rows"], row["binary"])
    for key, facts in found.items():
        if key[1] == "harness":
            facts.update(dict.fromkeys(_lost(rows, key[0], key[2], facts), (0, True)))
    return found


def _lost(rows: Rows, name: str | None, metric: str, facts: _Facts) -> set[int]:
    """Sides whose responses lost all their scores by a metric of the harness: a comparison on it is not given up.

    Their log lists the scores without values, or it is of the format of the baseline, which has them, and scores
    nothing.
    """
    import polars as pl

    arrived = rows.responses.filter(pl.col("arrived") & pl.col("filter").eq_missing(pl.lit(name)))
    told = rows.harness.join(rows.responses.select("ingest_id", "row", "side"), on=["ingest_id", "row"])
    listed = set(told.filter(pl.col("metric_id") == metric).get_column("side").to_list())
    like = rows.formats[0] if 0 in facts else None
    silent = {place for place, form in enumerate(rows.formats) if form == like}
    silent -= set(told.get_column("side").to_list())
    return set(arrived.get_column("side").to_list()) & (listed | silent) - facts.keys()


def _default(shared: dict[tuple[str, str], _Facts], specs: Sequence[MetricSpec]) -> Measure | None:
    theirs = [(_harness(name, facts), facts) for (source, name), facts in shared.items() if source == "harness"]
    if theirs:
        return min(theirs, key=lambda one: (not one[0].hard, -min(n for n, _ in one[1].values()), one[0].name))[0]
    hard = [spec for spec in specs if spec.kind == "hard" and ("foreshock", spec.id) in shared]
    return _ours(hard[0]) if hard else None


def _asked(shared: dict[tuple[str, str], _Facts], metric: str, specs: Sequence[MetricSpec]) -> Measure | None:
    if ("harness", metric) in shared:
        return _harness(metric, shared["harness", metric])
    if specs and ("foreshock", specs[0].id) in shared:
        return _ours(specs[0])
    return None


def _twin(main: Measure, shared: dict[tuple[str, str], _Facts], specs: Sequence[MetricSpec]) -> Measure | None:
    if not main.hard:
        return None
    return next((_ours(s) for s in specs if s.kind == "continuous" and ("foreshock", s.id) in shared), None)


def _ours(spec: MetricSpec) -> Measure:
    return Measure(
        spec.id, str(spec), "foreshock", spec.kind == "hard", spec.low, spec.high, bool(spec.higher_is_better)
    )


def _harness(name: str, facts: _Facts) -> Measure:
    known = harness_metric(name)
    binary = all(flags for _, flags in facts.values())
    if known is None or known.higher_is_better is None:
        low, high = (0.0, 1.0) if binary else (None, None)
        return Measure(name, name, "harness", binary, low, high, rising=True, assumed=True)
    hard = (known.kind or ("hard" if binary else "continuous")) == "hard"
    return Measure(name, name, "harness", hard, known.low, known.high, bool(known.higher_is_better))
