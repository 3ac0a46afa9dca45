"""One model at which most tasks jump together: one finding, FS302, not as many as there are tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreshock.mirage._judgement import Verdict, num
from foreshock.mirage._share import Share
from foreshock.records import Finding

CODE = "FS302"


@dataclass(frozen=True, slots=True)
class CommonJump:
    """What the mean over tasks says about a jump at one model.

    Attributes:
        finding: The answer, code FS302.
        verdict: ``smooth``, ``mirage``, ``break`` or ``unresolved``.
        reason: Why it is unresolved, or a remark.
        tasks: Tasks in the mean.
        agree: Tasks whose own twin carries more than a quarter of its rise in the same interval.
        points: The two points between which the mean rises most.
        share: Share of the mean rise that a break may carry, each twin on the link of its metric.
        other: The same on the other link.
    """

    finding: Finding
    verdict: Verdict
    reason: str
    tasks: tuple[str, ...]
    agree: tuple[str, ...]
    points: tuple[str, str] | None
    share: Share | None
    other: Share | None

    def row(self) -> dict[str, Any]:
        """Row of the table ``families``."""
        subject, s = self.finding.subject, self.share
        return {
            "finding_id": self.finding.id,
            "family": subject.model_family,
            "axis": subject.axis,
            "verdict": self.verdict,
            "reason": self.reason,
            "tasks": len(self.tasks),
            "agree": len(self.agree),
            "from_point": self.points[0] if self.points else None,
            "to_point": self.points[1] if self.points else None,
            "share": num(s.value) if s else None,
            "share_low": num(min(s.low, self.other.low)) if s and self.other else None,
            "share_high": num(s.high) if s else None,
            "p": num(self.finding.p),
        }
