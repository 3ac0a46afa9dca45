"""One line of models to be judged, as the caller hands it over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foreshock.mirage._design import Floats
from foreshock.mirage._measures import Hard, Twin
from foreshock.series import Panel


@dataclass(frozen=True, slots=True)
class Entry:
    """One line to judge: a hard metric and its twins on one task for one model family.

    Attributes:
        panel: Scores; when ``draws`` are given, its values are not looked at and may be empty.
        hard: The metric whose jump is in question.
        twins: Continuous measurements of the same responses.
        checks: Alternatives that the caller has looked at: name to (``ruled-out|possible|unchecked``, why).
        draws: Metric name to means at each point, shape (1 + draws, points): row 0 as observed, further rows drawn
            with the joint uncertainty of all points. Given where there are totals instead of item scores.
        how_twin: Exact command that would create a twin with the harness at hand; None for general advice.
        remarks: What else is known of the line and stands in no verdict's way; told in title and reason.
        items: Items behind each mean when ``draws`` are given (the fewest over the points); they set the floors.
    """

    panel: Panel
    hard: Hard
    twins: tuple[Twin, ...] = ()
    checks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    draws: Mapping[str, Floats] | None = None
    items: int | None = None
    how_twin: str | None = None
    remarks: tuple[str, ...] = ()
