"""Series as the ledger takes them, without the rule that looks at them."""

from __future__ import annotations

import hashlib

from foreshock.alarms._ledger import Seen
from foreshock.alarms._looks import SeriesLook


def hashed(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def seen(
    name: str,
    points: int,
    *,
    p: float | None = 0.5,
    point_p: tuple[float, ...] = (),
    state: str = "ok",
    data: object = "",
    baseline: float | None = None,
    e: float | None = None,
) -> Seen:
    """Series ``name`` with so many points; ``data`` tells apart what else they may be."""
    look = SeriesLook(
        id=hashed(name),
        key=hashed(name, points, data, baseline),
        task=name,
        family="f",
        metric="m",
        axis="created",
        points=points,
        prefix=hashed(name, points, data),
        state=state,
        baseline=baseline,
        at=float(points) if state == "firing" else None,
        label=f"m{points}" if state == "firing" else None,
        p=p,
    )
    # what the look before saw of the first points is unchanged: one point came
    return Seen(look, point_p or (p or 1.0,) * points, e, hashed(name, points - 1, data))
