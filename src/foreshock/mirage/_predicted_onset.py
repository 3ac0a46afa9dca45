"""Does exact match take off where the product of per-position accuracies does?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from foreshock._base import count_of
from foreshock.mirage._design import Floats
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._positions import LinkCheck
from foreshock.mirage._predicted import Row, cannot, pooled, pooled_answer

WITHIN = 1.0
"""Steps between neighbouring models within which two onsets are the same."""


def onset(judgements: Sequence[Judgement]) -> Row:
    """The row of the onset: the distance of the two crossings of half of the rise, in steps between models.

    Args:
        judgements: Those with a link check are looked at.
    """
    row = Row(
        "onset where compounded token accuracy crosses",
        "told of the paper, not in it",
        "The hard metric takes off where the product of the accuracies of its tokens crosses the same level.",
        unit="steps between models",
    )
    checks = [told.link_check for told in judgements if told.link_check is not None]
    found = [gap for check in checks if (gap := distance(check)) is not None]
    if not found:
        why = "exact match does not cross half of its rise on any line" if checks else "no per-position correctness"
        return cannot(row, why, "per-position correctness on a line whose exact match rises")
    errors = [(high - low) / (2 * 1.96) for _, low, high in found]
    words = f"0 is the prediction, up to {WITHIN:g} step counts as the same; {count_of(len(found), 'line')}"
    told = pooled([value for value, _, _ in found], errors)
    return pooled_answer(row._replace(n=len(found), why=words), told, (-WITHIN, WITHIN), len(found))


def distance(check: LinkCheck) -> tuple[float, float, float] | None:
    """Crossing of exact match less that of the product, with the interval that the items' bootstrap gives.

    Half of the way from the least to the largest exact match is crossed. A product that never gets there crosses one
    step behind the last model: the distance is then at least that far.

    Args:
        check: Exact match against the product.

    Returns:
        Distance in steps with its ends; None where exact match rises by less than its gap's interval is wide.
    """
    exact = np.asarray(check.exact, float)
    level = float(exact.min() + exact.max()) / 2
    rise = float(exact.max() - exact.min())
    if rise <= float(np.median(check.high - check.low)) or exact[0] >= level:
        return None
    here = crossing(exact, level)
    # the gap is exact less product, so its upper end gives the product's lower curve, which crosses later
    late, early = crossing(exact - check.high, level), crossing(exact - check.low, level)
    middle = crossing(np.asarray(check.product, float), level)
    return here - middle, here - late, here - early


def crossing(curve: Floats, level: float) -> float:
    """Where a curve first reaches a level, in steps from the first model, straight between neighbours.

    Examples:
        >>> crossing(np.array([0.0, 0.0, 0.4, 0.8]), 0.2), crossing(np.array([0.0, 0.1]), 0.5)
        (1.5, 2.0)
    """
    reached = np.flatnonzero(curve >= level)
    if not reached.size:
        return float(curve.size)
    k = int(reached[0])
    if k == 0:
        return 0.0
    return k - 1 + float((level - curve[k - 1]) / (curve[k] - curve[k - 1]))
