"""Which twins the answers of a design would give, and which of several is told first."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock.lint._facts import Benchmark
from foreshock.series import order_for

GRADED = frozenset({"model_graded_qa", "model_graded_fact"})
"""Grades of a judge: how close an answer is to the target is not what they grow from."""


def of_answers(metrics: Sequence[str], *, numbers: bool) -> tuple[str, ...]:
    """Twins that are made of extracted answers and targets.

    Args:
        metrics: Names of what is reported.
        numbers: Whether all targets are known to be numbers; the distance of other answers is not defined.

    Examples:
        >>> of_answers(["exact_match"], numbers=False), of_answers(["model_graded_qa"], numbers=True)
        (('char_similarity',), ())
    """
    if metrics and GRADED.issuperset(metrics):
        return ()
    return ("numeric_closeness", "char_similarity") if numbers else ("char_similarity",)


def in_order(benchmark: Benchmark) -> list[str]:
    """Twins of a benchmark, that first by which its hard metric would be read: the order belongs to its link.

    Examples:
        >>> from foreshock.lint._facts import Metric
        >>> twins = ("char_similarity", "gold_logprob(per=token)", "brier")
        >>> in_order(Benchmark("p", "t", (Metric("acc", "hard", "argmax"),), twins=twins))
        ['brier', 'gold_logprob(per=token)', 'char_similarity']
    """
    link = next((metric.link for metric in benchmark.hard if metric.link), "all-of-N")
    places = {name: place for place, name in enumerate(order_for(link))}
    return sorted(benchmark.twins, key=lambda twin: places.get(twin.partition("(")[0], len(places)))
