"""Pass rate of an item over its epochs."""

from __future__ import annotations

from foreshock.metrics._registry import get_metric
from foreshock.metrics._response import Response
from foreshock.metrics._score import score_batch
from foreshock.metrics._spec import Function, Inapplicable, metric
from foreshock.records import ScoreStatus


def _chance(choices: int, *, of: str, **_: object) -> float | None:
    other = get_metric(of)
    found = other.chance(choices)
    return found if found is not None or other.name == "harness" else 0.0  # nobody knows what the harness scored


@metric(
    kind="continuous",
    grain="item",
    needs=lambda of, **_: get_metric(of).needs,
    unless=lambda of, **_: get_metric(of).unless,
    range=(0, 1),
    chance=_chance,
)
def pass_rate(*, of: str = "exact_match", threshold: float = 1.0) -> Function:
    """Share of an item's responses whose value of another metric is at least ``threshold``.

    Needs at least two responses to the item: of one it would only say again what the other metric says. Responses that
    did not arrive are left out, and so are those without an answer (they are ``unparsed`` in the scores, and the
    aggregate gives both denominators). Every response of the item carries the value.

    Args:
        of: The other metric, as :func:`get_metric` takes it; ``harness`` is the harness's own score, and
            ``harness(score=NAME)`` one of several.
        threshold: From where a response has passed.

    Examples:
        >>> epochs = [Response(answer=a, targets=["4"]) for a in ("4", "5", "4", "4")]
        >>> pass_rate().function(epochs)
        0.75
    """
    spec = get_metric(of)

    def score(responses: list[Response]) -> float | None:
        if len(responses) < 2:
            raise Inapplicable("the item has fewer than two responses with an answer")
        columns = {name: [getattr(r, name) for r in responses] for name in Response.__struct_fields__}
        found = score_batch(spec, columns)
        values = [v for v in found.values if v is not None]
        if not values and set(found.statuses) == {ScoreStatus.NEEDS}:
            raise Inapplicable(found.labels[0])
        return sum(v >= threshold for v in values) / len(values) if values else None

    return score
