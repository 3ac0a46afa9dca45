"""A metric that ends the process it runs in, once, as a kernel short of memory would."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from foreshock.metrics import metric


@metric(kind="continuous", needs=("output",), name="test_killer")
def killer(*, mark: str, owner: int):
    def length(response):
        if os.getpid() != owner and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(len(response.output))

    return length
