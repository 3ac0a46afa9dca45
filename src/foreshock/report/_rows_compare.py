"""Rows of the tables that ``foreshock compare`` writes."""

from __future__ import annotations

import msgspec


class CompareRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run against the baseline on one task.

    Attributes:
        finding_id: Finding behind it.
        task, metric: What was compared.
        unit: Unit of the values; ``fraction`` is shown in percent and its differences in points.
        rising: Whether larger scores are better.
        conditions: Conditions of the second side.
        verdict: ``regression``, ``incomplete``, ``improvement``, ``no-difference`` or ``undecided``.
        first, second: The baseline, and what is compared with it.
        first_value, second_value: Means over the paired items.
        difference, low, high, level: Second minus first with its interval.
        p, p_holm, p_bh, adjust: p-value, adjusted for all comparisons of the call, and which one the verdict uses.
        test: Test and interval in words.
        p_mcnemar, p_mid: McNemar's exact and mid p-value for right-or-wrong scores.
        items, clusters, clustered, cluster_kind: Paired items and the independent units among them.
        up, down: Items on which the second scored more, and less.
        paired_by: ``text``, ``id`` or ``text and id``.
        unpaired: Whether only totals were compared.
        only_first, only_second: Items that only one was asked; what the other lost is not among them.
        refused: Items that could not be paired without guessing, by reason.
        margin: Difference that does not matter.
        needed: Items that would show a difference of the margin in four of five cases.
        detectable: The smallest difference that these items show so often.
        missing: ``drop`` or ``wrong``: what became of responses that did not arrive or have no score.
        other_text, other_difference, other_low, other_high: How the answer changes when these are treated the other
            way; null where all arrived.
        twin, twin_unit, twin_difference, twin_low, twin_high, twin_p: The continuous metric beside it.
        first_expected, first_responses, first_unparsed, first_undelivered, first_unscored: Responses of the baseline.
        second_expected, second_responses, second_unparsed, second_undelivered, second_unscored: And of the other.
        first_lost, second_lost: Responses that did not arrive, also those that the log announces and does not list;
            those that arrived and have no score are ``first_unscored`` and ``second_unscored``.
        first_complete, second_complete: Whether every run of the side ended well.
        notes: Runs that are not used.
    """

    finding_id: str
    task: str
    metric: str | None = None
    unit: str | None = None
    rising: bool = True
    conditions: str | None = None
    verdict: str
    first: str
    second: str
    first_value: float | None = None
    second_value: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    adjust: str | None = None
    test: str | None = None
    p_mcnemar: float | None = None
    p_mid: float | None = None
    items: int | None = None
    clusters: int | None = None
    clustered: bool = False
    cluster_kind: str | None = None
    up: int | None = None
    down: int | None = None
    paired_by: str | None = None
    unpaired: bool = False
    only_first: int | None = None
    only_second: int | None = None
    refused: list[str] = []
    margin: float | None = None
    needed: int | None = None
    detectable: float | None = None
    missing: str | None = None
    other_text: str | None = None
    twin: str | None = None
    twin_unit: str | None = None
    twin_difference: float | None = None
    twin_low: float | None = None
    twin_high: float | None = None
    twin_p: float | None = None
    first_expected: int | None = None
    first_responses: int | None = None
    first_unparsed: int | None = None
    first_undelivered: int | None = None
    first_unscored: int | None = None
    second_expected: int | None = None
    second_responses: int | None = None
    second_unparsed: int | None = None
    second_undelivered: int | None = None
    second_unscored: int | None = None
    first_lost: int | None = None
    second_lost: int | None = None
    first_complete: bool = True
    second_complete: bool = True
    other_difference: float | None = None
    other_low: float | None = None
    other_high: float | None = None
    notes: list[str] = []

    @property
    def gained(self) -> int:
        """Items on which the second is better."""
        return (self.up if self.rising else self.down) or 0

    @property
    def lost(self) -> int:
        """Items on which the second is worse."""
        return (self.down if self.rising else self.up) or 0


class BoardRow(msgspec.Struct, frozen=True, kw_only=True):
    """One place of a ranking.

    Attributes:
        finding_id: Finding behind it.
        task, metric, unit: What was compared.
        rank, model, value: Place by value.
        letters: Two places share a letter exactly when they cannot be told apart.
        best_rank, worst_rank: Ranks that it may have.
        p_next: Adjusted p-value against the next place.
        items, clusters: Items that all have a score for, and the independent units among them.
        first_stays: Share of random half splits in which the first stays first.
    """

    finding_id: str
    task: str
    metric: str | None = None
    unit: str | None = None
    rank: int
    model: str
    value: float | None = None
    letters: str | None = None
    best_rank: int | None = None
    worst_rank: int | None = None
    p_next: float | None = None
    items: int | None = None
    clusters: int | None = None
    first_stays: float | None = None
