"""Rows of the tables about jumps: verdicts, families, resolution, repeats, foresight, predictions, conditions."""

from __future__ import annotations

import msgspec


class RatioRow(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the share of a break under another limit of smoothness.

    Attributes:
        ratio: Steepest slope of the smooth class over the mean slope.
        low, high: Bounds of the share.
    """

    ratio: float
    low: float | None = None
    high: float | None = None


class WindowRow(msgspec.Struct, frozen=True, kw_only=True):
    """Points between which a line was judged.

    Attributes:
        start: First point (``from`` in JSON).
        to: Last point.
        share: Share of the joint draws of items that give this window.
    """

    start: str = msgspec.field(name="from")
    to: str
    share: float | None = None


class OtherTwinRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a twin besides the one that was used says to a verdict; it can only take it back.

    Attributes:
        twin: The twin.
        kind: Its kind.
        answer: ``agrees``, ``disagrees``, ``cannot tell`` or ``not asked``.
        why: Why it was not asked.
        low, high: Bounds of the share of its rise that a break may carry.
    """

    twin: str
    kind: str | None = None
    answer: str
    why: str | None = None
    low: float | None = None
    high: float | None = None


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the verdict table.

    Attributes:
        finding_id: Finding behind it.
        task: Task.
        family: Model family.
        axis: What orders the models.
        verdict: ``break``, ``mirage``, ``smooth``, ``bend``, ``unresolved``.
        reason: Why, in a few words; unresolved lines are folded by it, but for its remarks.
        remarks: The end of ``reason`` that stands in no verdict's way.
        points: Points on the axis.
        items: Items answered at every point.
        hard, twin: Metrics.
        twins: What the other twins say, in the order of ``order``.
        share: Share of the change that a break may carry (a fraction).
        share_low, share_high: Its interval.
        level: Level of that interval.
        ratios: The bounds under other limits of smoothness.
        emergence: Emergence score; null where it is not known or infinite.
        emergence_infinite: Whether it is infinite: all steps but the largest are 0.
        emergence_p: Its p-value under the null for this number of models and items.
        link_gap: Largest distance between the hard metric and what the twin gives through the link.
        p, q: p-value of a break, and the same adjusted for all lines that are told.
        noise: Standard deviation of one model about the smooth curve, on the link.
        noise_df: Its degrees of freedom.
        noise_source: ``replicates``, ``own``, ``family`` or ``checkpoints``.
        window: Points judged, most frequent first.
        link: How the hard metric hangs on what lies beneath it.
        how: What the link was made of, and which constant of it was estimated.
        order: Kinds of twins in the order that was fixed before the scores were looked at.
        command: What to run for a twin; null where one is there.
        length: Tokens of an answer, where somebody said it.
        conditional: ``smooth``, ``break`` or ``cannot tell`` for the share of right tokens, if all are alike.
        conditional_text: The same as a sentence with its condition.
    """

    finding_id: str
    task: str
    family: str | None = None
    axis: str | None = None
    verdict: str
    reason: str | None = None
    remarks: str | None = None
    points: int | None = None
    items: int | None = None
    hard: str | None = None
    twin: str | None = None
    twins: list[OtherTwinRow] = []
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    level: float | None = None
    ratios: list[RatioRow] = []
    emergence: float | None = None
    emergence_infinite: bool = False
    emergence_p: float | None = None
    link_gap: float | None = None
    p: float | None = None
    q: float | None = None
    noise: float | None = None
    noise_df: float | None = None
    noise_source: str | None = None
    window: list[WindowRow] = []
    link: str | None = None
    how: str | None = None
    order: list[str] = []
    command: str | None = None
    length: float | None = None
    conditional: str | None = None
    conditional_text: str | None = None


class ConditionRow(VerdictRow, frozen=True, kw_only=True):
    """A difference between two conditions along one line of models, judged as any metric is.

    Attributes:
        condition: Name of the condition.
        before, after: Its two values; the difference is the second minus the first.
        paired: Whether the same items were answered under both.
    """

    condition: str
    before: str | None = None
    after: str | None = None
    paired: bool = False


class FamilyRow(msgspec.Struct, frozen=True, kw_only=True):
    """All tasks of one model family along one axis.

    Attributes:
        finding_id: Finding about a jump of most tasks at one model; null where that was not tested.
        family, axis: What was judged together.
        variant: Answer filter; null for each task's first one.
        source: ``items`` or ``totals``.
        lines: Lines of models judged.
        tasks: Tasks in the mean.
        verdict, reason: What the mean over tasks says.
        agree: Tasks whose own twin jumps at the same place.
        from_point, to_point: Where the mean rises most.
        share, share_low, share_high: Share of the mean rise that a break may carry.
        p: p-value of a common break.
        noise: Noise of one model in a typical task, on the link.
        noise_df: How much the tasks know of each other's noise, in degrees of freedom.
        noise_correlation: Mean correlation of the tasks' scatter.
        noise_tasks: Tasks that it was learned from.
        noise_link: Link on which it is measured.
    """

    finding_id: str | None = None
    family: str | None = None
    axis: str | None = None
    variant: str | None = None
    source: str | None = None
    lines: int | None = None
    tasks: int | None = None
    verdict: str | None = None
    reason: str | None = None
    agree: int | None = None
    from_point: str | None = None
    to_point: str | None = None
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    p: float | None = None
    noise: float | None = None
    noise_df: float | None = None
    noise_correlation: float | None = None
    noise_tasks: int | None = None
    noise_link: str | None = None


class UnresolvedRow(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that cannot be judged for one and the same reason.

    Attributes:
        reason: The reason; numbers in which the lines differ are a range.
        lines: How many.
        tasks, families: All their names.
        advice: What to do.
        command: What to run, complete for the first line.
        finding_ids: Their findings.
    """

    reason: str
    lines: int
    tasks: list[str] = []
    families: list[str] = []
    advice: str | None = None
    command: str | None = None
    finding_ids: list[str] = []


class ResolutionRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one model could have scored unseen.

    Attributes:
        finding_id, task, family, axis, metric: The line.
        label: The model or checkpoint.
        value: Its score as a share.
        n: Items behind it.
        floor: 1/n, the least above 0 that can be seen.
        at_floor: Whether the score is not above guessing.
        high: Exact one-sided 95% upper bound of the true score.
        expected: What a smooth twin would give there.
        p_zero: Probability that so many items show exactly 0.
        items_needed: Items that would show it.
    """

    finding_id: str | None = None
    task: str | None = None
    family: str | None = None
    axis: str | None = None
    metric: str | None = None
    label: str
    value: float | None = None
    n: int | None = None
    floor: float | None = None
    at_floor: bool | None = None
    high: float | None = None
    expected: float | None = None
    p_zero: float | None = None
    items_needed: int | None = None


class RepeatRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one model scores in k attempts at each item, from its repeats.

    Attributes:
        finding_id, task, family, axis, metric: The line.
        label: The model or checkpoint.
        model, run_key: The run.
        k: Attempts of which one must succeed.
        value, low, high: pass@k with its 95% interval.
        problems: Items with at least k attempts.
        attempts: Their attempts together.
        floor: The least value above 0 that can be seen.
        at_floor: Whether no attempt at all succeeded.
        p_zero_once: Probability that one attempt at each item would show exactly 0.
    """

    finding_id: str | None = None
    task: str | None = None
    family: str | None = None
    axis: str | None = None
    metric: str | None = None
    label: str
    model: str | None = None
    run_key: str | None = None
    k: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    problems: int | None = None
    attempts: int | None = None
    floor: float | None = None
    at_floor: bool | None = None
    p_zero_once: float | None = None


class ForeseeableRow(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the models before the onset foretold it.

    Attributes:
        finding_id, task, family, axis: The line.
        answer: ``yes``, ``no`` or ``cannot tell``.
        why: In a sentence.
        after, at: The last place before the onset, and the first after it.
        hard, hard_answer: The hard metric, and whether it was foretold.
        hard_before: Models that its forecast rests on.
        hard_value, hard_low, hard_high, hard_observed: Forecast by a line with its 95% interval, and what came.
        hard_calibrated, hard_calibrated_low, hard_calibrated_high: Calibrated forecast, 90% interval; null where
            the line gave no answer (only there is it asked), or where there is none.
        hard_refused: Why there is no calibrated forecast; null where it was not asked, or there is one.
        twin, twin_answer, twin_before, twin_value, twin_low, twin_high, twin_observed: The same of its twin.
        twin_calibrated, twin_calibrated_low, twin_calibrated_high, twin_refused: The same of its twin.
    """

    finding_id: str | None = None
    task: str | None = None
    family: str | None = None
    axis: str | None = None
    answer: str
    why: str | None = None
    after: str | None = None
    at: str | None = None
    hard: str | None = None
    hard_answer: str | None = None
    hard_before: int | None = None
    hard_value: float | None = None
    hard_low: float | None = None
    hard_high: float | None = None
    hard_observed: float | None = None
    hard_calibrated: float | None = None
    hard_calibrated_low: float | None = None
    hard_calibrated_high: float | None = None
    hard_refused: str | None = None
    twin: str | None = None
    twin_answer: str | None = None
    twin_before: int | None = None
    twin_value: float | None = None
    twin_low: float | None = None
    twin_high: float | None = None
    twin_observed: float | None = None
    twin_calibrated: float | None = None
    twin_calibrated_low: float | None = None
    twin_calibrated_high: float | None = None
    twin_refused: str | None = None


class PredictionRow(msgspec.Struct, frozen=True, kw_only=True):
    """What was predicted of mirages, and what these data say to it.

    Attributes:
        name, source, said: The prediction.
        answer: ``supported``, ``contradicted`` or ``cannot tell``.
        figure, low, high, unit: What was measured, with its interval.
        n: How many it rests on.
        why: In a sentence.
        enough: What would do.
    """

    name: str
    source: str | None = None
    said: str | None = None
    answer: str
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    n: int | None = None
    why: str | None = None
    enough: str | None = None
