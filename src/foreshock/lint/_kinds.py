"""Whether a metric is of the kind that it declares, measured on perturbed outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from foreshock.lint._facts import Benchmark, Kind, Measured
from foreshock.lint._perturb import sharpness, ways
from foreshock.metrics import Inapplicable, MetricSpec, Quantity, Response
from foreshock.stats import clopper_pearson

_INPUTS = {"answer", "output", "targets", "choice_logprobs", "gold_logprob", "gold_token_logprobs"}
_SHARP = 0.5  # a quarter of the way carries more: faster than twice the mean slope
HALF = 0.5
"""A metric acts in the way in which it acts on most items."""

Scorer = Callable[[Response], float | None]


def measurable(spec: MetricSpec) -> bool:
    """Whether a metric looks at something that can be perturbed, one response at a time."""
    needed = {name for alternative in spec.needs for name in alternative}
    return spec.grain == "response" and bool(needed & _INPUTS)


def scorer_of(spec: MetricSpec) -> Scorer:
    """A metric as a function of one response; None where it has no value."""

    def score(row: Response) -> float | None:
        found = spec(row)
        if isinstance(found, dict):
            found = found.get(spec.names[0])
        if isinstance(found, Quantity):
            found = found.value
        return float(found) if isinstance(found, int | float) else None

    return score


def measure(rows: Iterable[Response], scorer: Scorer, needs: Sequence[Sequence[str]], seed: int) -> Measured:
    """Perturb responses and count the items on which a metric moves sharply.

    On an item that can be perturbed in several ways (a number is text as well) the most gradual of them counts: that
    one is the metric's own notion of near.

    Args:
        rows: One response per item.
        scorer: The metric.
        needs: Alternatives of columns that must be there; items without are skipped.
        seed: Seed of the perturbations.

    Examples:
        >>> rows = [Response(answer=t, targets=[t]) for t in ("a long answer indeed", "another long answer")]
        >>> measure(rows, lambda row: float(row.answer == row.targets[0]), [["answer", "targets"]], 0)
        Measured(items=2, sharp=2, skipped=0, failed=0, numbers=0)
    """
    items = sharp = skipped = failed = numbers = 0
    for place, row in enumerate(rows):
        found, broken = _sharpness(row, scorer, needs, np.random.default_rng([seed, place]))
        if found:
            items += 1
            sharp += min(share for _, share in found) > _SHARP
            numbers += all(kind == "number" for kind, _ in found)
        elif broken:
            failed += 1
        else:
            skipped += 1
    return Measured(items, sharp, skipped, failed, numbers)


def _sharpness(
    row: Response, scorer: Scorer, needs: Sequence[Sequence[str]], rng: np.random.Generator
) -> tuple[list[tuple[str, float]], bool]:
    """Kind and sharpness of every way on which a metric reacts, and whether it failed on one."""
    found, broken = [], False
    for kind, way in ways(row, rng):
        if needs and not any(all(getattr(way[0], name) is not None for name in names) for names in needs):
            continue
        try:
            values = [scorer(step) for step in way]
        except Inapplicable:
            continue
        except Exception:  # noqa: BLE001 - the metric is the user's and may raise anything
            broken = True
            continue
        share = sharpness([math.nan if value is None else value for value in values])
        if not math.isnan(share):
            found.append((kind, share))
    return found, broken


def kind_rows(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Rows of the table ``kinds``: what every measured metric declares, and how it acts."""
    return [
        {
            "place": benchmark.place,
            "task": benchmark.task,
            "metric": metric.name,
            "declared": metric.kind,
            "acts": acts(metric.measured),
            **_counts(metric.measured),
        }
        for metric in (*benchmark.metrics, *benchmark.tried)
        if metric.measured is not None
    ]


def acts(seen: Measured, level: float = 0.95) -> Kind | None:
    """``hard`` or ``continuous`` where the interval of the share of sharp items excludes one half, else None.

    Examples:
        >>> acts(Measured(20, 20)), acts(Measured(20, 1)), acts(Measured(20, 10)), acts(Measured(3, 3))
        ('hard', 'continuous', None, None)
    """
    low, high = (float(end) for end in clopper_pearson(seen.sharp, seen.items, level))
    return "hard" if low > HALF else "continuous" if high < HALF else None


def _counts(seen: Measured) -> dict[str, Any]:
    low, high = (float(end) for end in clopper_pearson(seen.sharp, seen.items))
    share = seen.sharp / seen.items if seen.items else None
    told = {"items": seen.items, "sharp": seen.sharp, "share": share, "low": low, "high": high}
    return told | {"numbers": seen.numbers, "skipped": seen.skipped, "failed": seen.failed}
