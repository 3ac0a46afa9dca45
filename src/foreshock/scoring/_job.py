"""One unit of scoring: some metrics of one segment. May run anywhere, and twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from foreshock.metrics import MetricSpec, score_batch
from foreshock.records import TABLES, ScoreStatus
from foreshock.store import ScoreEntry, Segment, Snapshot, Store

if TYPE_CHECKING:
    import polars as pl


_ITEM = frozenset(column.name for column in TABLES["items"]) - frozenset(c.name for c in TABLES["responses"])
_REPEATS = ("ingest_id", "run_key", "task", "filter", "perturbation", "item_key", "item_id")
_NEEDS = ScoreStatus.NEEDS.value
_FAILED = ScoreStatus.FAILED.value


_held: tuple[str, Snapshot] | None = None


class Job(NamedTuple):
    """Some metrics of one segment.

    Attributes:
        store: The store.
        version: Names the snapshot that the job was planned on, so that a process reads the commits once for all jobs.
        segment: Segment of responses.
        specs: Metrics to apply.
    """

    store: Store
    version: str
    segment: Segment
    specs: tuple[MetricSpec, ...]


class Outcome(NamedTuple):
    """What came of one metric on one segment.

    Attributes:
        metric_id: The metric.
        entries: Files written, not yet visible; empty when the metric applies to no row.
        inapplicable: For each task of which no row could be given a value or a failure: what it lacks.
        failed: Rows on which the metric failed.
        example: The first failure.
    """

    metric_id: str
    entries: tuple[ScoreEntry, ...]
    inapplicable: dict[str, str]
    failed: int
    example: str | None


def hold(version: str, snapshot: Snapshot) -> None:
    """Keep a snapshot for the jobs of this process that were planned on it."""
    global _held  # noqa: PLW0603 - a cache of one, which is what a worker needs
    _held = (version, snapshot)


def run_job(job: Job) -> list[Outcome]:
    """Apply the job's metrics and write their files; nothing becomes visible."""
    if _held is None or _held[0] != job.version:
        hold(job.version, job.store.snapshot())
    assert _held is not None
    columns = _Columns(_held[1], job.segment, job.specs)
    return [_apply(job, spec, columns) for spec in job.specs]


def _apply(job: Job, spec: MetricSpec, columns: _Columns) -> Outcome:
    if spec.grain == "item" and not columns.repeated:
        return Outcome(spec.id, (), dict.fromkeys(columns.tasks, "no item was answered more than once"), 0, None)
    if any(columns.full(name) for name in spec.unless):
        return Outcome(spec.id, (), dict.fromkeys(columns.tasks, f"has {' or '.join(spec.unless)}"), 0, None)
    if all(any(columns.empty(name) for name in alternative) for alternative in spec.needs):
        return Outcome(spec.id, (), dict.fromkeys(columns.tasks, _lacks(spec, columns)), 0, None)
    rows = job.segment.rows
    scores = score_batch(spec, columns.of(spec))
    statuses, labels = scores.statuses[:rows], scores.labels[:rows]
    inapplicable = _without(statuses, labels, columns["task"][:rows])
    if len(inapplicable) == len(columns.tasks):
        return Outcome(spec.id, (), inapplicable, 0, None)
    named = {spec.id: scores.values, **{f"{spec.id}/{name}": values for name, values in scores.parts.items()}}
    entries = tuple(
        job.store.stage_scores(job.segment, metric_id, values[:rows], statuses, labels)
        for metric_id, values in named.items()
    )
    failed = [i for i, status in enumerate(statuses) if status == _FAILED]
    return Outcome(spec.id, entries, inapplicable, len(failed), labels[failed[0]] if failed else None)


def _lacks(spec: MetricSpec, columns: _Columns) -> str:
    lacking = [[name for name in alternative if columns.empty(name)] for alternative in spec.needs]
    lacking.sort(key=len)
    return f"no {', '.join(lacking[0])}"


def _without(statuses: Sequence[str], labels: Sequence[str | None], tasks: Sequence[str]) -> dict[str, str]:
    """Tasks all of whose rows lack something, with the reason that most of them give."""
    if _NEEDS not in statuses:
        return {}
    reasons: dict[str, Counter[str]] = {}
    applied = set()
    for (task, status, label), rows in Counter(zip(tasks, statuses, labels, strict=True)).items():
        if status == _NEEDS:
            reasons.setdefault(task, Counter())[label or ""] += rows
        else:
            applied.add(task)
    return {task: why.most_common(1)[0][0] for task, why in reasons.items() if task not in applied}


class _Columns:
    """Columns of a segment, read once and turned into lists when a metric first asks for them.

    A metric of grain ``item`` also sees the responses that the same runs gave to the same items and that lie in other
    segments; they stand after the rows of the segment.
    """

    def __init__(self, snapshot: Snapshot, segment: Segment, specs: Sequence[MetricSpec]) -> None:
        wanted = {name for spec in specs for name in (*spec.inputs, *spec.unless)}
        self._frame = _frame(snapshot, segment, wanted)
        self._all = self._frame
        if any(spec.grain == "item" for spec in specs):
            self._all = _with_rest(snapshot, segment, wanted, self._frame)
        self._lists: dict[str, list[Any]] = {}
        self.tasks: list[str] = sorted(self._frame["task"].unique().to_list())

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._lists:
            self._lists[name] = self._all[name].to_list()
        return self._lists[name]

    def of(self, spec: MetricSpec) -> dict[str, list[Any]]:
        """The columns that a metric looks at; those of other segments only where the grain asks for them."""
        names = dict.fromkeys((*spec.inputs, *spec.unless, "delivery", "output"))
        if spec.grain == "item":
            return {name: self[name] for name in (names | dict.fromkeys(_REPEATS))}
        rows = self._frame.height
        return {name: self[name] if self._all.height == rows else self[name][:rows] for name in names}

    def empty(self, name: str) -> bool:
        """Whether no row has anything in this column; an absent answer beside an output is something: unparsed."""
        names = ("answer", "output") if name == "answer" else (name,)
        return all(self._all[each].null_count() == self._all.height for each in names)

    def full(self, name: str) -> bool:
        """Whether every row has something in this column."""
        import polars as pl

        column = self._all[name]
        listed = isinstance(column.dtype, pl.List)
        return column.null_count() == 0 and (not listed or bool((column.list.len() > 0).all()))

    @property
    def repeated(self) -> bool:
        """Whether some run answered some item of this segment more than once."""
        import polars as pl

        known = self._all.filter(pl.any_horizontal(pl.col("item_key", "item_id").is_not_null()))
        return bool(known.select(_REPEATS).is_duplicated().any())


def _frame(snapshot: Snapshot, segment: Segment, wanted: set[str]) -> pl.DataFrame:
    """Responses of a segment in order, beside what is wanted of their items."""
    import polars as pl

    texts = {"output"} - wanted
    names = dict.fromkeys((*_REPEATS, "delivery", *sorted(wanted - _ITEM), *sorted(texts)))
    # a text that no metric reads still tells whether there was one
    there = [pl.when(pl.col(name).is_not_null()).then(pl.lit("")).alias(name) for name in sorted(texts)]
    frame = snapshot.frame(segment, list(names)).with_columns(there)
    if "answer" in names:
        frame = _without_extraction(snapshot, frame)
    items = sorted(wanted & _ITEM)
    return _undisputed(snapshot, snapshot.with_items(frame, items), items) if items else frame


def _undisputed(snapshot: Snapshot, frame: pl.DataFrame, items: list[str]) -> pl.DataFrame:
    """Leave out what several logs say differently of an item that has no text to tell its versions apart by."""
    import polars as pl

    tasks = frame.filter(pl.col("item_key").is_null())["task"].unique().to_list()
    told = [
        snapshot.frame(segment, ["task", "item_key", "item_id", *items]).filter(
            pl.col("item_key").is_null() & pl.col("task").is_in(tasks)
        )
        for segment in (snapshot.segments("items") if tasks else ())
    ]
    if not told:
        return frame
    versions = [pl.col(name).filter(pl.col(name).is_not_null()).hash().n_unique() for name in items]
    several = pl.concat(told).group_by("task", "item_id").agg(pl.max_horizontal(versions).alias("versions"))
    disputed = several.filter(pl.col("versions") > 1).select("task", "item_id", disputed=pl.lit(value=True))
    marked = frame.join(disputed, on=["task", "item_id"], how="left", maintain_order="left", nulls_equal=True)
    known = pl.col("disputed").is_null() | pl.col("item_key").is_not_null()
    return marked.with_columns(pl.when(known).then(pl.col(name)).alias(name) for name in items).drop("disputed")


def _without_extraction(snapshot: Snapshot, frame: pl.DataFrame) -> pl.DataFrame:
    """Tell logs that hold no extracted answers from models that gave none.

    A run without any answer failed to give one only if its harness scored it and never above 0; otherwise the log just
    does not hold answers. The output of such rows is hidden, so that their status becomes ``needs``, not ``unparsed``.
    """
    import polars as pl

    silent = frame.group_by("ingest_id").agg(pl.col("answer").is_null().all()).filter("answer")["ingest_id"].to_list()
    if not silent:
        return frame
    runs = [run.run_key for run in snapshot.runs() if run.ingest_id in set(silent)]
    harness = snapshot.scan("scores", runs=runs, source="harness", columns=["ingest_id", "value"])
    best = harness.group_by("ingest_id").agg(pl.col("value").max()).collect()
    failed = set(best.filter(pl.col("value") <= 0)["ingest_id"].to_list())
    hidden = pl.col("ingest_id").is_in(sorted(set(silent) - failed))
    return frame.with_columns(pl.when(~hidden).then("output").alias("output"))


def _with_rest(snapshot: Snapshot, segment: Segment, wanted: set[str], frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    parts = [frame]
    for other in snapshot.segments("responses"):
        shared = segment.live & other.live
        if other.sha256 != segment.sha256 and shared:
            rest = _frame(snapshot, other, wanted).filter(pl.col("ingest_id").is_in(sorted(shared)))
            parts.append(rest.join(frame, on=_REPEATS, how="semi", nulls_equal=True, maintain_order="left"))
    return pl.concat(parts)
