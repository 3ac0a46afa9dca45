"""Scores of one metric on one segment while they are being made, piece by piece."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from foreshock.metrics import MetricSpec, score_batch
from foreshock.records import ScoreStatus
from foreshock.scoring._rows import Rows
from foreshock.store import ScoreEntry, Segment, Store

if TYPE_CHECKING:
    import polars as pl

_STATUSES = [status.value for status in ScoreStatus]
_NEEDS = ScoreStatus.NEEDS.value
_FAILED = ScoreStatus.FAILED.value


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


class Draft:
    """Takes the rows of a segment in order. A piece to which the metric cannot apply costs nothing.

    Such a piece is left open, and is asked for again only when the metric did apply to other rows of the segment: then
    its rows need a status of their own.
    """

    def __init__(self, spec: MetricSpec) -> None:
        self.spec = spec
        self._pieces: dict[int, pl.DataFrame | None] = {}
        self._applied: set[str] = set()
        self._lacks: dict[str, Counter[str]] = {}
        self._failed = 0
        self._example: str | None = None

    def take(self, rows: Rows) -> None:
        """Score a piece, unless it is plain that no row of it can have a value."""
        reason = _obstacle(self.spec, rows)
        if reason is None:
            self.fill(rows)
            return
        self._pieces[rows.start] = None
        for task, n in Counter(rows.tasks).items():
            self._lacks.setdefault(task, Counter())[reason] += n

    @property
    def open(self) -> bool:
        """Whether rows that were left out need a status."""
        return bool(self._applied) and any(piece is None for piece in self._pieces.values())

    def lacks_piece(self, rows: Rows) -> bool:
        """Whether this piece was left open."""
        return self._pieces[rows.start] is None

    def fill(self, rows: Rows) -> None:
        """Score a piece."""
        import polars as pl

        scores = score_batch(self.spec, rows.of(self.spec))
        n = rows.height
        statuses, labels = scores.statuses[:n], scores.labels[:n]
        self._count(rows.tasks, statuses, labels, again=rows.start in self._pieces)
        bare = labels.count(None) == n
        columns: dict[str, pl.Series] = {
            "status": pl.Series(statuses, dtype=pl.Enum(_STATUSES)),
            "label": pl.Series(labels, dtype=pl.Null if bare else pl.String),
            self.spec.id: pl.Series(scores.values[:n], dtype=pl.Float64),
        }
        for name, values in scores.parts.items():
            columns[f"{self.spec.id}/{name}"] = pl.Series(values[:n], dtype=pl.Float64)
        self._pieces[rows.start] = pl.DataFrame(columns)

    def finish(self, store: Store, segment: Segment) -> Outcome:
        """Write the scores, if there are any."""
        import polars as pl

        inapplicable = {t: _most(reasons) for t, reasons in self._lacks.items() if t not in self._applied}
        frames = [piece for _, piece in sorted(self._pieces.items()) if piece is not None]
        entries: list[ScoreEntry] = []
        if self._applied:
            frame = pl.concat(frames, how="vertical_relaxed")
            status = frame["status"].cast(pl.String)
            label = frame["label"].cast(pl.String)
            names = [name for name in frame.columns if name not in ("status", "label")]
            entries = [store.stage_scores(segment, name, frame[name], status, label) for name in names]
        return Outcome(self.spec.id, tuple(entries), inapplicable, self._failed, self._example)

    def _count(self, tasks: list[str], statuses: list[str], labels: list[str | None], *, again: bool) -> None:
        if _NEEDS not in statuses:
            self._applied.update(tasks)
        else:
            for (task, label), n in Counter(
                (task, label or "") if status == _NEEDS else (task, None)
                for task, status, label in zip(tasks, statuses, labels, strict=True)
            ).items():
                if label is None:
                    self._applied.add(task)
                elif not again:
                    self._lacks.setdefault(task, Counter())[label] += n
        failed = [i for i, status in enumerate(statuses) if status == _FAILED]
        self._failed += len(failed)
        if failed and self._example is None:
            self._example = labels[failed[0]]


def _obstacle(spec: MetricSpec, rows: Rows) -> str | None:
    """Why no row of a piece can have a value, as far as it can be seen without looking at the rows."""
    if spec.grain == "item" and not rows.repeated:
        return "no item was answered more than once"
    if any(rows.full(name) for name in spec.unless):
        return f"has {' or '.join(spec.unless)}"
    if all(any(rows.empty(name) for name in alternative) for alternative in spec.needs):
        lacking = sorted(([name for name in needed if rows.empty(name)] for needed in spec.needs), key=len)
        return f"no {', '.join(lacking[0])}"
    return None


def _most(reasons: Counter[str]) -> str:
    """The reason that most rows give; of equally many the first in the alphabet."""
    return min(reasons, key=lambda reason: (-reasons[reason], reason))
