"""What the continuous totals of harnesses measure, and how each is read as a twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.series._twins import TWIN_ORDER
from foreshock.series._types import Series

Floats = NDArray[np.float64]


class Reading(NamedTuple):
    """How the total of one continuous metric becomes the mean of a twin.

    Attributes:
        kind: Kind of twin, one of :data:`TWIN_ORDER`.
        mean: Totals to means of the twin.
        slope: Size of the derivative of ``mean``, for standard errors.
        low, top: Range that the totals can have.
        says: What one token (or point) of it is.
        high: Largest value of the twin, as :class:`Twin` takes it.
        automatic: Whether the name alone says that it is of the answers that a hard metric of the same runs counts.
    """

    kind: str
    mean: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    low: float
    top: float
    says: str
    high: float = 1.0
    automatic: bool = True

    def error(self, value: Floats, stderr: Floats) -> Floats:
        """Standard error of the twin's mean by the delta method."""
        return np.asarray(self.slope(value) * stderr)

    def impossible(self, series: Series) -> str | None:
        """Which total cannot be what its name says; None when all can."""
        for point in series.points:
            if not (np.isfinite(point.value) and self.low <= point.value <= self.top):
                return (
                    f"{series.metric} of {point.value:g} at {point.label} is not within {self.low:g} and {self.top:g}"
                )
        return None


def _same(v: Floats) -> Floats:
    return v


def _one(v: Floats) -> Floats:
    return np.ones_like(v)


_ANSWER = (
    "e to the mean loss of what the harness calls one answer: in lm-eval the whole answer, undivided; elsewhere often "
    "one token of the model's own tokenizer, so that models with different tokenizers do not compare"
)
_LOSS = "mean loss in nats of what the harness calls one answer; whether whole or by token it does not say"
_TEXT = "loss of one {} of the text that the harness scored, which may be more than the answers"


def _perplexity(says: str, *, automatic: bool) -> Reading:
    return Reading("gold_logprob", lambda v: -np.log(v), lambda v: 1 / v, 1.0, np.inf, says, automatic=automatic)


def _loss(nats: float, says: str, *, automatic: bool) -> Reading:
    return Reading(
        "gold_logprob", lambda v: -nats * v, lambda v: nats * _one(v), 0.0, np.inf, says, automatic=automatic
    )


def _share(kind: str, says: str, high: float = 1.0, *, automatic: bool = True) -> Reading:
    return Reading(kind, _same, _one, 0.0, high, says, high, automatic)


_LOGPROB = Reading("gold_logprob", _same, _one, -np.inf, 0.0, _LOSS)
_BRIER = _share("brier", "squared distance over all options", 2.0)
_OPTIONS = _share("choice_probability", "the right options' share of the probability of all options")
_READINGS: tuple[tuple[Reading, str], ...] = (
    (_perplexity(_ANSWER, automatic=True), "ppl perplexity token_perplexity"),
    (_perplexity(_TEXT.format("word"), automatic=False), "word_perplexity"),
    (_perplexity(_TEXT.format("byte"), automatic=False), "byte_perplexity"),
    (_loss(1.0, _LOSS, automatic=True), "nll"),
    (_loss(1.0, _LOSS, automatic=False), "loss cross_entropy"),
    (_loss(float(np.log(2)), _TEXT.format("byte"), automatic=False), "bits_per_byte"),
    (_loss(float(np.log(2)), _TEXT.format("character"), automatic=False), "bits_per_character"),
    (_LOGPROB, "log_likelihood loglikelihood logprob average_log_probability"),
    (_BRIER, "brier brier_score multiclass_brier"),
    (_OPTIONS, "choice_probability correct_prob_mass mc2"),
    (_share("graded_score", "probability of the right answer, averaged over items"), "gold_probability"),
)
_UNKNOWN = "not known: it was declared"
# names that tell what is measured, as the table of harness metrics spells them
_KNOWN = {name: found for found, names in _READINGS for name in names.split()}


def base_name(metric: str) -> str:
    """A metric without its filter and reducer.

    Examples:
        >>> base_name("perplexity,none"), base_name("acc[mean]")
        ('perplexity', 'acc')
    """
    return metric.partition(",")[0].partition("[")[0]


def reading(series: Series, kind: str | None = None) -> Reading | None:
    """How a series of totals is read as a twin; None when nothing says.

    Args:
        series: Totals.
        kind: Kind of twin that the caller declares for a metric whose name is not known: its totals are then read as
            they are (``gold_logprob``: mean log-probabilities; else from 0 to the declared highest value).
    """
    found = _KNOWN.get(base_name(series.metric).casefold())
    told, high = series.declared, float(series.declared.high or 0.0)
    if found is not None and kind in (None, found.kind):
        return found._replace(high=high, top=high) if found.kind == "brier" and high else found
    if kind == "gold_logprob":
        return _LOGPROB
    if kind == "choice_margin":
        return Reading(kind, _same, _one, -np.inf, np.inf, _UNKNOWN, automatic=False)
    if kind in TWIN_ORDER:
        return _share(str(kind), _UNKNOWN, high or 1.0, automatic=False)
    # a score from 0 to a known best one that was declared continuous is graded, whatever its name
    graded = told.kind == "continuous" and told.low == 0 and high > 0 and told.higher_is_better is not False
    return _share("graded_score", _UNKNOWN, high, automatic=False) if graded else None
