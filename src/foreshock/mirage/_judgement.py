"""The forms in which a verdict leaves the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from foreshock.mirage._design import Floats
from foreshock.mirage._needs import Enough
from foreshock.mirage._positions import LinkCheck
from foreshock.mirage._share import Share
from foreshock.mirage._through import Through
from foreshock.records import Finding

Verdict = Literal["smooth", "mirage", "break", "unresolved"]


@dataclass(frozen=True, slots=True)
class Line:
    """One curve of the report.

    Attributes:
        role: ``hard``, ``twin`` or ``counterfactual``.
        metric: Name of the metric.
        unit: Unit of ``value``.
        labels: Points.
        x: Axis values.
        value: Value at each point; higher is better.
        low, high: 95% interval by joint item bootstrap.
        n: Items behind each value.
    """

    role: str
    metric: str
    unit: str
    labels: tuple[str, ...]
    x: Floats
    value: Floats
    low: Floats
    high: Floats
    n: int

    def points(self) -> list[dict[str, Any]]:
        """One object per point, numbers as plain floats, null where there is none."""
        columns = zip(self.labels, self.x, self.value, self.low, self.high, strict=True)
        return [
            {"label": label, "x": num(x), "value": num(v), "low": num(lo), "high": num(hi), "n": self.n}
            for label, x, v, lo, hi in columns
        ]


@dataclass(frozen=True, slots=True)
class Move:
    """One item whose score changed across the largest jump of the hard metric."""

    item: str
    from_point: int
    to_point: int
    from_score: float
    to_score: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What a twin besides the primary one says to the verdict.

    Attributes:
        name: The twin.
        kind: Its kind; of a difference between conditions, its kind under either.
        answer: ``agrees``, ``disagrees``, ``cannot tell`` or ``not asked``.
        why: Why it was not asked; empty where it was.
        low, high: Bounds of the share of its rise that a break may carry: the smallest lower bound of its links, and
            the upper bound on its primary link. None where it was not asked or does not rise beyond noise.
    """

    name: str
    kind: str
    answer: Literal["agrees", "disagrees", "cannot tell", "not asked"]
    why: str = ""
    low: float | None = None
    high: float | None = None

    def row(self) -> dict[str, Any]:
        """Element of ``twins`` in the table ``verdicts``."""
        return {
            "twin": self.name,
            "kind": self.kind,
            "answer": self.answer,
            "why": self.why or None,
            "low": num(self.low),
            "high": num(self.high),
        }


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on one panel with everything that the report draws.

    Attributes:
        finding: The answer, code FS301.
        verdict: ``smooth``, ``mirage``, ``break`` or ``unresolved``.
        reason: Why it is unresolved, several reasons joined by "; "; or a remark (``window open``, ``bend``).
        hard, twin: Names of the metrics; ``twin`` is None when there is none.
        lines: Hard, twin and counterfactual curves, as far as they exist.
        share: Share of the rise that a break may carry on the primary link; None when not reached.
        other: The same on the other link.
        through: The hard metric seen through its link.
        emergence, emergence_p: Emergence score and its p-value under a steady rise.
        link_check: Exact match against the product of per-position accuracies.
        enough: What would have been enough.
        moves: Items that moved most across the largest jump, at most 20.
        moved: How many items moved.
        jump: Points between which the hard metric jumps most.
        noise_source: Where the noise of the twin was taken from: ``replicates``, ``own`` scatter, ``family`` (own
            scatter and that of the other tasks), ``checkpoints``; None when not reached.
        window: Points judged, (first, last, share of the joint draws of items that give this window), most frequent
            first.
        others: What the other twins say, in their order.
        remarks: The end of ``reason`` that stands in no verdict's way.
    """

    finding: Finding
    verdict: Verdict
    reason: str
    hard: str
    twin: str | None
    lines: tuple[Line, ...]
    share: Share | None
    other: Share | None
    through: Through | None
    emergence: float | None
    emergence_p: float | None
    link_check: LinkCheck | None
    enough: Enough | None
    moves: tuple[Move, ...]
    moved: int
    jump: tuple[int, int] | None
    noise_source: str | None = None
    window: tuple[tuple[str, str, float], ...] = ()
    others: tuple[Asked, ...] = ()
    remarks: str = ""

    def row(self, items: int, points: int) -> dict[str, Any]:
        """Row of the table ``verdicts``."""
        s, subject = self.share, self.finding.subject
        return {
            "finding_id": self.finding.id,
            "task": subject.task,
            "family": subject.model_family,
            "axis": subject.axis,
            "verdict": self.verdict,
            "reason": self.reason,
            "remarks": self.remarks or None,
            "points": points,
            "items": items,
            "hard": self.hard,
            "twin": self.twin,
            "twins": [other.row() for other in self.others],
            "share": num(s.value) if s else None,
            "share_low": num(min(s.low, self.other.low)) if s and self.other else None,
            "share_high": num(s.high) if s else None,
            "emergence": num(self.emergence),
            "emergence_infinite": self.emergence is not None and bool(np.isinf(self.emergence)),
            "emergence_p": num(self.emergence_p),
            "link_gap": num(self.link_check.largest) if self.link_check else None,
            "p": num(self.finding.p),
            "q": num(self.finding.q),
            "noise": num(s.noise) if s else None,
            "noise_df": num(s.noise_df) if s else None,
            "noise_source": self.noise_source,
            "ratios": [{"ratio": r, "low": num(low), "high": num(high)} for r, low, high in s.ratios] if s else [],
            "how": (self.through.how or None) if self.through else None,
            "window": [{"from": a, "to": b, "share": num(share)} for a, b, share in self.window],
        }


def num(x: float | np.floating[Any] | None) -> float | None:
    """A plain float; null where there is none or it is infinite."""
    return None if x is None or not np.isfinite(x) else float(x)
