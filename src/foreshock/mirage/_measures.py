"""What may stand beside a hard metric, in which order, and on which scale.

The order (``foreshock.series.TWIN_ORDER``) is fixed before any data are looked at, and printed in every finding:
log-probability of the gold answer; log-likelihoods of the choices; pass rate over repeats; sub-scores (tests passed,
steps, subgoals) and other graded scores; closeness of the extracted answer. For a choice (``argmax``) the
log-likelihoods of all choices come first: the log-probability of the right one alone may rise while those of the wrong
ones rise as well. Token accuracy is not in it: each token is itself an argmax, so it steps where the hard metric steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreshock._base import MetricError
from foreshock.mirage._design import Floats
from foreshock.series import TWIN_ORDER, order_for
from foreshock.stats import Link, cloglog, identity, logit, loglog

HardLink = Literal["all-of-N", "any-of-T", "argmax", "threshold", "identity"]

# a difference between two conditions, which stands beside nothing else
_KINDS = (*TWIN_ORDER, "difference")
DECODED = frozenset({"numeric_closeness", "token_similarity", "char_similarity"})
"""Twins made of decoded text: every position of it is the most probable token, so a jump may be the decoder's."""
# shares of trials: below a handful of successes they resolve nothing
COUNTED = frozenset({"pass_rate", "sub_scores"})
_NO_FLOOR = frozenset({"gold_logprob", "choice_margin", "difference"})


@dataclass(frozen=True, slots=True)
class Hard:
    """The metric whose jump is in question.

    Attributes:
        name: Its key in ``Panel.values``.
        link: How it hangs on what lies beneath it.
        chance: Value of guessing.
        ceiling: Largest value it can reach.
        binary: Whether each response scores 0 or ``ceiling`` and nothing between.
        parts: Number of parts that must all succeed (``all-of-N``) or of attempts of which one must (``any-of-T``);
            None where it is not known and is estimated.
        threshold: Value of the twin from which a response passes; None where it is not known and is estimated.
        was: Of a difference between two conditions, the link under either of them: the difference itself has none.
    """

    name: str
    link: HardLink = "all-of-N"
    chance: float = 0.0
    ceiling: float = 1.0
    binary: bool = True
    parts: int | None = None
    threshold: float | None = None
    was: HardLink | None = None

    @property
    def order(self) -> tuple[str, ...]:
        """Kinds of twins, best first; those of a difference stand as under either condition."""
        return order_for(self.was or self.link)

    @property
    def primary(self) -> Link:
        """The link that belongs to the metric: a loss for products, that of the complement for any-of-T, log-odds else.

        Which links a twin is judged on depends on its kind as well: :func:`foreshock.mirage._links.links_for`.
        """
        return {"all-of-N": loglog, "any-of-T": cloglog}.get(self.link, logit)


@dataclass(frozen=True, slots=True)
class Twin:
    """A continuous measurement of the same responses.

    Attributes:
        name: Its key in ``Panel.values``.
        kind: One of ``TWIN_ORDER``, which says how the mean is read as a probability; or ``difference``: read as it is.
        tokens: Mean number of tokens by which a summed ``gold_logprob`` is divided; 1 when it is per token already.
        high: Largest value (2 for a multi-class Brier score).
        trials: Trials behind one item's value (epochs for ``pass_rate``); sets the floor.
        was: Of a difference between two conditions, its kind under either of them; None where it is not known.
    """

    name: str
    kind: str
    tokens: float = 1.0
    high: float = 1.0
    trials: int = 1
    was: str | None = None

    def __post_init__(self) -> None:
        for kind in (self.kind, self.was or self.kind):
            if kind not in _KINDS:
                raise MetricError(
                    f"twin kind {kind!r} is unknown", expected=f"one of {', '.join(_KINDS)}", where=self.name
                )

    @property
    def decoded(self) -> bool:
        """Whether it is made of decoded text, or the difference of such."""
        return (self.was or self.kind) in DECODED

    @property
    def unit(self) -> str:
        """Unit of :meth:`shown`."""
        return {"choice_margin": "log-odds", "difference": "score"}.get(self.kind, "probability")

    def loss(self, mean: Floats) -> Floats:
        """Mean of the twin as a loss -log p, the exact form for log-probabilities near 0."""
        m = np.asarray(mean, float)
        with np.errstate(divide="ignore"):
            if self.kind == "gold_logprob":
                return np.asarray(-m / self.tokens)
            if self.kind == "choice_margin":
                return np.asarray(np.logaddexp(0.0, -m))
            if self.kind == "brier":
                return np.asarray(-np.log1p(-m / self.high))
            return np.asarray(-np.log(m / self.high))

    def shown(self, mean: Floats) -> Floats:
        """Mean of the twin as the report shows it: a probability that rises with ability, a difference as it is."""
        return np.asarray(mean, float) if self.kind == "difference" else np.asarray(np.exp(-self.loss(mean)))

    def on(self, link: Link, mean: Floats, items: int) -> Floats:
        """Mean of the twin on ``link``, with the floor of half a trial for shares.

        Log-probabilities and margins have no floor: they resolve what counting cannot. A difference has no link but
        the identity.
        """
        if self.kind == "difference" or link is identity:
            return self.shown(mean)
        loss = self.loss(mean)
        if self.kind not in _NO_FLOOR:
            least = 0.5 / (items * self.trials)
            loss = np.clip(loss, -np.log1p(-least), -np.log(least))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if link is loglog:
                return np.asarray(-np.log(loss))
            if link is cloglog:
                # the exact form on either side of p = 1/2; beyond exp(-30) the loss of the complement is p itself
                near = -np.log(-np.expm1(-np.minimum(loss, 1.0)))
                far = -np.log1p(-np.exp(-np.clip(loss, 0.5, 30.0)))
                return np.asarray(np.where(loss > 30.0, -loss, np.log(np.where(loss < 0.7, near, far))))
            return np.asarray(-np.log(np.expm1(loss)))

    def at_floor(self, mean: Floats, items: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Points at which counting resolves nothing: fewer than 5 successes."""
        if self.kind not in COUNTED:
            return np.zeros(np.shape(mean), bool)
        return np.asarray(mean) * items * self.trials < 5


def in_order(twins: list[Twin], link: str) -> list[Twin]:
    """The given twins, best first; differences in the order of what they are differences of.

    Examples:
        >>> [t.name for t in in_order([Twin("sim", "char_similarity"), Twin("logp", "gold_logprob")], "all-of-N")]
        ['logp', 'sim']
    """
    order = (*order_for(link), "difference")
    return sorted(twins, key=lambda t: (order.index(t.was or t.kind), t.name))
