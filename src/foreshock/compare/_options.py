"""What is compared with what, and how."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec

from foreshock.records import Run

CLUSTERS = ("auto", "none")
"""Words for clusters that are no column: found by themselves, or declared absent."""

MARGIN = 0.01
"""Share of a bounded metric's range below which a difference is said not to matter, when nobody says: one point."""


class Side(NamedTuple):
    """One of the things compared: what a person named, and the runs that it stands for."""

    label: str
    runs: list[Run]


class CompareOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to compare.

    Attributes:
        tasks: Only tasks that fit one of these glob patterns; empty means all.
        metric: The harness's name of a score, or one of our metrics as text; None means the harness's own primary
            score where all sides have it, else our hard metric.
        alpha: Level of tests; intervals are at 1 - alpha.
        margin: Difference that does not matter, in the units of the metric; None means one point of a bounded metric.
        missing: What becomes of responses that did not arrive or have no score: their items are left out (``drop``),
            or they count as the worst value (``wrong``).
        adjust: How the verdict allows for many tasks: ``holm`` or ``bh``.
        cluster: ``auto`` (repeats, equal texts, shared passages), ``none`` (repeats only), a column of the items
            (``subset``), or a key of the responses' meta.
        pair: ``auto`` (by the item's text, then by its id) or ``id`` (texts may differ: prompts are what is compared).
        repeats: With several runs of one side on one task: compare the ``newest``, or ``pool`` them as repeats of
            every item.
        across_conditions: Whether runs under different conditions may be compared.
        seed: Seed of random signs and splits.
    """

    tasks: list[str] = []
    metric: str | None = None
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    margin: Annotated[float, msgspec.Meta(gt=0)] | None = None
    missing: Literal["drop", "wrong"] = "drop"
    adjust: Literal["holm", "bh"] = "holm"
    cluster: str = "auto"
    pair: Literal["auto", "id"] = "auto"
    repeats: Literal["newest", "pool"] = "newest"
    across_conditions: bool = False
    seed: int = 0
