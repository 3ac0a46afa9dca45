"""Sub-scores: the named parts of a harness's score."""

from __future__ import annotations

from foreshock.metrics._harness import harness_metric
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Function, Inapplicable, metric


@metric(kind="continuous", needs=("harness_scores",), range=(0, 1))
def sub_scores(*, scorer: str | None = None, threshold: float = 1.0) -> Function:
    """Share of the parts of a harness's score that reach ``threshold``: progress beneath an all-or-nothing score.

    A scorer that gives several named values for a response (``scorer/part``) has parts; each of them is a harness score
    of its own as well. ``package/scorer`` with the name of a well-known scorer is no part, unless ``scorer`` says so.
    Parts on other scales than 0 to 1 have no common threshold, and their response is left out.

    Args:
        scorer: Whose parts; None where only one scorer has any.
        threshold: From where a part is reached.

    Examples:
        >>> sub_scores()({"harness_scores": {"rubric/clear": 1.0, "rubric/right": 0.0, "judge": 0.3}})
        0.5
    """

    def score(response: Given) -> float:
        groups: dict[str, list[float]] = {}
        for name, value in response.harness_scores.items():
            of = _scorer(name, scorer)
            if of is not None:
                groups.setdefault(of, []).append(value)
        parts = [values for values in groups.values() if len(values) > 1]
        if len(parts) != 1:
            raise Inapplicable(
                "several scorers have parts: name one with scorer=" if parts else "no score of the harness has parts"
            )
        if any(not 0 <= value <= 1 for value in parts[0]):
            raise Inapplicable("a part lies outside 0 to 1")
        return sum(value >= threshold for value in parts[0]) / len(parts[0])

    return score


def _scorer(name: str, wanted: str | None) -> str | None:
    """The scorer that a metric id is a part of; None when it is not a part, or not of the one that is wanted."""
    if wanted is not None:
        return wanted if name.startswith(f"{wanted}/") else None
    scorer, _, part = name.partition("/")
    return scorer if part and harness_metric(part) is None else None
