"""What is kept of a look, and the key by which a repeated one is known.

A look at a series is keyed by its data: points, scale and baseline. Looking twice at the same data is one look, whoever
looks, and in whichever store; so a repeated check spends nothing, and two ledgers can be laid together.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from foreshock._base import digest, utc_now
from foreshock.curves import Curve

LONGEST = 500
"""Characters of a name or a reason that are kept."""

_Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
_Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,64}$")]
_Day = Annotated[str, msgspec.Meta(max_length=40)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
LAST_SEQUENCE = 1_000_000_000
_Sequence = Annotated[int, msgspec.Meta(ge=0, le=LAST_SEQUENCE)]


class SeriesLook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One series in a look.

    Attributes:
        id: The series, as :class:`WatchedSeries` names it.
        key: Its data; see :func:`look_key`.
        task, family, metric, axis: What it is, in words.
        points: Points since the baseline.
        prefix: Hash of these points, by which a later look sees that one of them was measured anew.
        state: What its own rule said: ``ok``, ``pending`` or ``firing``.
        baseline: Place from which the trend is learned; None is the first point.
        at: Place at which the change began, as far as can be told, or at which a bend had left its line; None else.
        label: What that point is called.
        p: p-value of the series over all its looks; None where nothing is guaranteed.
        new_p: p-value of the points that came since the look before, valid given that one.
        e: e-value of the series over all its looks.
        q: ``p`` adjusted for all series that there were at this look (Benjamini-Hochberg).
    """

    id: _Hash
    key: _Hash
    task: _Text
    family: _Text
    metric: _Text
    axis: _Text
    points: _Count
    prefix: _Hash
    state: Annotated[str, msgspec.Meta(pattern="^(ok|pending|firing)$")]
    baseline: float | None = None
    at: float | None = None
    label: _Text | None = None
    p: _Share | None = None
    new_p: _Share | None = None
    e: Annotated[float, msgspec.Meta(ge=0)] | None = None
    q: _Share | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="look"):
    """One look: every series whose data were new.

    Attributes:
        seq: Place in the order of events: one more than the largest that the writer knew.
        at: When.
        release: What the user calls this batch of runs.
        level: False discovery rate that is kept.
        first: Whether there was no earlier look; then no rate over looks is claimed.
        series: The series, in order of their ids.
        p: p-value of "no series left its trend with these points" (Simes); None without new points.
    """

    seq: _Sequence
    at: _Day
    release: _Text | None = None
    level: _Share
    first: bool = False
    series: Annotated[list[SeriesLook], msgspec.Meta(max_length=100_000)]
    p: _Share | None = None


class Ack(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="ack"):
    """A person took note of an alarm, and the trend is learned anew from its point on.

    Attributes:
        seq, at: As in :class:`Look`.
        id: The series.
        baseline: Place from which the trend is learned.
        label: What that point is called.
        key: The look at which it fired.
        reason: Why.
    """

    seq: _Sequence
    at: _Day
    id: _Hash
    baseline: float
    label: _Text
    key: _Hash
    reason: _Text


class Mute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="mute"):
    """An alarm stays in sight but stops nothing up to and including a day.

    Attributes:
        seq, at: As in :class:`Look`.
        id: The series.
        until: The last day (ISO 8601); one that is past takes the mute away.
        reason: Why.
    """

    seq: _Sequence
    at: _Day
    id: _Hash
    until: _Day
    reason: _Text | None = None


class LineState(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where one curve stands to a line of the user's.

    Attributes:
        id: The line of that curve: id of its finding.
        task, family, metric: What it is, in words.
        state: The answer (``crossed``, ``at the line``, ...); where it is crossed also ``told``, once that was handed
            on, or ``muted``, so that it is new again when the mute ends.
    """

    id: _Hash
    task: _Text
    family: _Text
    metric: _Text
    state: Annotated[str, msgspec.Meta(pattern="^[a-z ]{1,40}$")]


class LineLook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="lines"):
    """Lines of the user's that stand otherwise than at the look before. No rate over looks hangs on them.

    Attributes:
        seq, at: As in :class:`Look`.
        lines: The lines.
    """

    seq: _Sequence
    at: _Day
    lines: Annotated[list[LineState], msgspec.Meta(max_length=100_000)]


Event = Look | Ack | Mute | LineLook


def event_id(event: Event) -> str:
    """Hash of everything that an event says."""
    return digest(event, 32)


def look_key(series_id: str, curve: Curve, baseline: float | None, *more: Any) -> str:
    """Key of one look at one series.

    Args:
        series_id: The series.
        curve: Its points.
        baseline: Place from which the trend is learned; None is the first point.
        *more: What else the decision hangs on, such as the hash of the twin's points.
    """
    return digest([series_id, curve.data_hash, baseline, *more], 32)


def prefix_of(curve: Curve, points: int) -> str:
    """Hash of the first points of a curve."""
    return digest([curve.x[:points].tolist(), curve.y[:points].tolist()], 16)


def cut(text: str) -> str:
    """A name or reason as long as is kept."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def now() -> str:
    """The moment that an event is given."""
    return utc_now()
