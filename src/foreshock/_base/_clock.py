"""The wall clock, read in one place so that reports can be reproduced byte for byte."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def utc_now() -> str:
    """The present moment as ISO 8601 in UTC, or the moment named by ``SOURCE_DATE_EPOCH`` when that is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
