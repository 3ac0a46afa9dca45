"""The closed lists of words that a state may be."""

from __future__ import annotations

from enum import StrEnum


class Delivery(StrEnum):
    """Whether and how a response arrived; never silently a score of zero."""

    OK = "ok"
    REFUSED = "refused"  # the model declined in words the log marks as a refusal
    BLOCKED = "blocked"  # a content filter stopped it
    TRUNCATED = "truncated"  # a token or message limit cut it off; what was written is there
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    ERROR = "error"
    MISSING = "missing"  # expected by the run's header, not in the log

    @property
    def arrived(self) -> bool:
        """Whether there is an output to look at."""
        return self in (Delivery.OK, Delivery.TRUNCATED)


class RunStatus(StrEnum):
    """How a run ended, according to its log."""

    COMPLETE = "complete"
    PARTIAL = "partial"  # some responses are missing or the file was damaged
    CANCELLED = "cancelled"
    ERROR = "error"
    STARTED = "started"  # no end was written: running still, or crashed


class ScoreStatus(StrEnum):
    """Why a score has or has no value."""

    SCORED = "scored"
    UNPARSED = "unparsed"  # delivered, but no answer could be extracted
    NEEDS = "needs"  # an input of the metric is not in the log
    FAILED = "failed"  # the metric itself raised or gave NaN


class State(StrEnum):
    """State of a finding or of one light of a trust card's alarm; grey (``no-data``) is never green."""

    OK = "ok"
    PENDING = "pending"
    FIRING = "firing"
    NO_DATA = "no-data"
    WITHHELD = "withheld"


class Light(StrEnum):
    """State of one line of a trust card."""

    OK = "ok"
    WARN = "warn"
    FIRING = "firing"
    NO_DATA = "no-data"
