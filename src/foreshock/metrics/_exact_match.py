"""Exact match: the extracted answer is one of the targets."""

from __future__ import annotations

from foreshock.metrics._quantity import Finite
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, metric
from foreshock.metrics._text import Normalise, normaliser


@metric(
    kind="hard",
    link="all-of-N",
    needs=("answer", "targets"),
    range=(0, 1),
    chance=0,
    twins=("gold_logprob(per=token)", "gold_logprob", "numeric_closeness", "token_similarity", "char_similarity"),
)
def exact_match(*, normalise: str = "strip") -> Function:
    """1 when the extracted answer equals any target, else 0; never looks at the whole output.

    The default removes white space at both ends of answer and targets and does nothing else: case, punctuation and the
    form of numbers count. An answer that could not be extracted is ``unparsed``, not 0.

    Args:
        normalise: Steps joined by ``+``, done to answer and targets: ``none``, ``strip``, ``casefold``, ``spaces``,
            ``nfc``, ``nfkc``, ``punctuation``, ``articles``, ``squad``.

    Examples:
        >>> exact_match()({"answer": " 12 ", "targets": ["12", "twelve"]})
        1.0
        >>> exact_match()({"answer": "Twelve", "targets": ["12", "twelve"]})
        0.0
        >>> exact_match(normalise="strip+casefold")({"answer": "Twelve", "targets": ["12", "twelve"]})
        1.0
    """
    clean = normaliser(normalise)

    def score(response: Given) -> float:
        answer = clean(response.answer)
        return float(any(answer == clean(target) for target in response.targets))

    return score


@exact_match.batch
def _batch(columns: Columns, *, normalise: str) -> Finite:
    clean = normaliser(normalise)
    pairs = zip(columns["answer"], columns["targets"], strict=True)
    if normalise == "none":
        return Finite([1.0 if answer in targets else 0.0 for answer, targets in pairs])
    # equal before normalisation is equal after it: most right answers never need the slower look
    try:
        return Finite(
            [1.0 if answer == target or clean(answer) == clean(target) else 0.0 for answer, (target,) in pairs]
        )
    except ValueError:  # several targets; looking for them first would cost a third of the time
        return Finite([_any_equal(*pair, clean) for pair in zip(columns["answer"], columns["targets"], strict=True)])


def _any_equal(answer: str, targets: list[str], clean: Normalise) -> float:
    return 1.0 if answer in targets or clean(answer) in [clean(target) for target in targets] else 0.0
