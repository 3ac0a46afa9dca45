"""Values of rows that each are a run of their own, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foreshock._base import canonical
from foreshock.metrics._spec import MetricSpec


def together(spec: MetricSpec, outcomes: Sequence[Any]) -> dict[int, tuple[float, str]]:
    """Value and statistics (as JSON) of rows alone, by their place.

    Rows that are not plain lists of statistics are left to be looked at one by one, and so is every row of a metric
    without such a form, or where the form fails or gives something that is not finite.
    """
    import numpy as np

    form, width = spec.factory.alone_form, len(spec.statistics)
    places = [i for i, outcome in enumerate(outcomes) if type(outcome) is list and len(outcome) == width]
    if form is None or spec.names or not places or not width:
        return {}
    try:
        stats = np.array([outcomes[i] for i in places], dtype=np.float64)
        values = np.asarray(form(stats, **dict(spec.params)), dtype=np.float64)
    except Exception:  # noqa: BLE001 - the form over rows finds out which row it was
        return {}
    if values.shape != (len(places),) or not np.isfinite(stats).all() or not np.isfinite(values).all():
        return {}
    labels = canonical(stats.tolist()).decode()[2:-2].split("],[")
    return {i: (v, f"[{label}]") for i, v, label in zip(places, values.tolist(), labels, strict=True)}
