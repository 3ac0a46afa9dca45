"""What was predicted of a mirage, and what the data at hand say to each prediction.

Supported and contradicted both need an interval that excludes the other; everything else is ``cannot tell``, with what
would be enough. A row is there for every prediction whatever the data, so that what was not looked at is seen as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from foreshock._base import count_of
from foreshock.mirage._entry_facts import EntryFacts, Judged, entry_facts
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._meta import meta
from foreshock.mirage._meta_emergent import Triplet, judgement_triplets, series_triplets
from foreshock.mirage._meta_swap import swap
from foreshock.mirage._predicted import MAJORITY, Row, cannot, more_tables, pooled, pooled_answer, swap_row
from foreshock.mirage._predicted_models import above_chance
from foreshock.mirage._predicted_onset import onset
from foreshock.mirage._predicted_tasks import named_tasks
from foreshock.mirage._share import ALPHA
from foreshock.series import Series
from foreshock.stats import clopper_pearson, holm

PAPER = "Schaeffer et al. 2023"
RETOLD = "told of the paper, not in it"

# an exponent in here is "about" 1: doubling the length then acts as 1.6 to 2.8 times the length
ABOUT = 2 / 3, 3 / 2


def predictions(
    judgements: Sequence[Judgement],
    facts: Iterable[EntryFacts | Judged] = (),
    *,
    triplets: Sequence[Triplet] | None = None,
    series: Sequence[Series] = (),
    pairs: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Rows of the table ``predictions``, always all of them in the same order.

    Args:
        judgements: Verdicts on lines of models.
        facts: What :func:`entry_facts` tells of the same lines, or entries.
        triplets: Triplets of tasks, metrics and families; None makes them from ``judgements`` and ``series``.
        series: Series of totals.
        pairs: Which continuous metric stands in for which hard one; see :func:`swap`.
        seed: Seed of every simulation.

    Returns:
        Objects {name, source, said, answer, figure, low, high, unit, n, why, enough}; ``answer`` is ``supported``,
        ``contradicted`` or ``cannot tell``.

    Examples:
        >>> [row["answer"] for row in predictions([])][:3]
        ['cannot tell', 'cannot tell', 'cannot tell']
    """
    known = [one if isinstance(one, EntryFacts) else entry_facts(one, seed=seed) for one in facts]
    if triplets is None:
        triplets = [*judgement_triplets(judgements, seed=seed), *series_triplets(series, seed=seed)]
    return [
        row._asdict()
        for row in (
            _smooth(judgements),
            above_chance(judgements, known),
            _length(known, "exact"),
            _length(known, "wrong"),
            onset(judgements),
            *named_tasks(triplets),
            _predominant(triplets, seed),
            _removed(triplets, pairs),
        )
    ]


def _smooth(judgements: Sequence[Judgement]) -> Row:
    """P1: one break that stands against all lines that were tested contradicts; most lines without any support."""
    row = Row(
        "smooth under a continuous metric",
        f"{PAPER}, section 3",
        "Under a continuous metric performance changes smoothly: the twin of a hard metric shows no break.",
        unit="share of lines",
    )
    told = [one for one in judgements if one.verdict != "unresolved"]
    if not told:
        return cannot(row, "no line of models was judged", "a twin and at least 4 models on a line")
    breaks, n, certain = sum(one.verdict == "break" for one in told), len(told), _standing(judgements)
    low, high = (float(x) for x in clopper_pearson(breaks, n))
    seen = (
        f"{breaks} of {count_of(n, 'line')} break, {certain} for certain after {count_of(_tested(judgements), 'test')}"
    )
    row = row._replace(figure=1 - breaks / n, low=1 - high, high=1 - low, n=n, why=f"{seen} (Holm)")
    if certain:
        return row._replace(answer="contradicted")
    if high < MAJORITY:
        return row._replace(answer="supported")
    enough = _least(lambda many: float(clopper_pearson(0, many)[1]) < MAJORITY)
    return row._replace(enough=f"{enough} judged lines without a break")


def _standing(judgements: Sequence[Judgement]) -> int:
    """Breaks whose p-value stands against all lines that were tested: valid however much these hang together."""
    tested = [(one.verdict, one.finding.p) for one in judgements if one.finding.p is not None]
    adjusted = holm([p for _, p in tested])
    return sum(word == "break" and bool(p <= ALPHA) for (word, _), p in zip(tested, adjusted, strict=True))


def _tested(judgements: Sequence[Judgement]) -> int:
    return sum(one.finding.p is not None for one in judgements)


def _least(fits: Callable[[int], bool]) -> int:
    return next(n for n in range(1, 1000) if fits(n))


def _length(known: Sequence[EntryFacts], which: str) -> Row:
    """P3: the exponent of the answer's length, over all lines with per-position correctness."""
    exact = which == "exact"
    row = Row(
        "length acts geometrically on exact match" if exact else "length acts linearly on edit distance",
        f"{PAPER}, section 3",
        "Exact match falls about geometrically with the length of the answer: log EM is proportional to it."
        if exact
        else "The number of wrong tokens rises about linearly with the length of the answer.",
        unit="exponent of the length",
    )
    laws = [one.length for one in known if one.length is not None]
    found = [fit for law in laws if (fit := law.exact if exact else law.wrong) is not None]
    if not found:
        why = next((law.why for law in laws if law.why), "no line has per-position correctness")
        return cannot(row, why, "per-position correctness of answers of at least two lengths, 10 items of each")
    spread = [(fit.high - fit.low) / (2 * 1.96) for fit in found]
    words = f"1 is the prediction, {ABOUT[0]:.2f} to {ABOUT[1]:.2f} counts as about 1; {count_of(len(found), 'line')}"
    row = row._replace(n=sum(fit.items for fit in found), why=words)
    return pooled_answer(row, pooled([fit.value for fit in found], spread), ABOUT, len(found))


def _predominant(triplets: Sequence[Triplet], seed: int) -> Row:
    """Meta 1: emergence goes with hard metrics, against their base rate."""
    row = Row(
        "emergence mostly under hard metrics",
        f"{PAPER}, section 4",
        "Over tasks, metrics and families, emergence appears mostly under hard metrics, beyond their base rate.",
        unit="odds ratio",
    )
    found = meta(triplets, seed=seed)
    hard = next((one for one in found.contrasts if one.name == "hard"), None)
    if hard is None or hard.odds is None:
        why = "one kind of metric only, or nothing (or everything) emergent" if found.told else "no triplets"
        return cannot(row._replace(n=found.told), why, "emergent and other triplets under hard and continuous metrics")
    odds, p = hard.odds, hard.tasks.p
    figures: dict[str, Any] = {
        "n": found.told,
        "figure": _finite(odds.ratio),
        "low": odds.low,
        "high": _finite(odds.high),
    }
    (a, b), (c, d) = hard.table
    seen = f"{a} of {a + b} emergent triplets are hard, {c} of the other {c + d}"
    seen += "" if p is None else f"; whole tasks exchanged: p = {p:.2g}"
    sure = p is not None and p <= 0.05
    if sure and odds.low > 1:
        return row._replace(answer="supported", why=seen, **figures)
    if sure and odds.high < 1:
        return row._replace(answer="contradicted", why=seen, **figures)
    return row._replace(why=f"{seen}; not beyond chance", enough=more_tables(odds, found.told), **figures)


def _removed(triplets: Sequence[Triplet], pairs: Mapping[str, str] | None) -> Row:
    """Meta 2: exchanging the hard metric for a continuous one removes emergence."""
    row = Row(
        "changing the metric removes emergence",
        f"{PAPER}, section 4",
        "Where a task is emergent under a hard metric it is not under a continuous metric of the same outputs.",
    )
    return swap_row(row, swap(triplets, pairs=pairs), "emergent pairs")


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None
