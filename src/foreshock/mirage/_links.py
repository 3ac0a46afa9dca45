"""On which links a twin is judged, and the closed forms in which a hard metric hangs on its parts.

The dependence of parts inside an item is one constant over models, in two forms. Where every item's probability is
known, it is the chance that one draw decides the whole item: all of N parts are right with (1-d) p^N + d p, and two
parts correlate by d. Where only the mean over items is known, the losses -log p of items differ by factors that follow
a gamma distribution of mean 1 and variance r: all N parts are right with (1 + N (p^-r - 1))^(-1/r), which is p^N at
r = 0 and p when r grows. It stands for what differs between items and for dependence inside them together;
statisticians know it as gamma frailty or the Clayton copula. Its constant stays the same when all losses move by one
factor, as a smooth twin moves them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from foreshock.stats import Link, cloglog, identity, logit, loglog

if TYPE_CHECKING:
    from foreshock.mirage._design import Floats
    from foreshock.mirage._measures import Hard, Twin


def links_for(hard: Hard, twin: Twin) -> tuple[Link, ...]:
    """Links on which a twin is judged, the primary one first: shares are told there, a break must hold on all.

    For ``any-of-T`` the primary link is the loss of the complement, because the metric is a product there:
    1 - (1-h)^T. The third link is for rates that are themselves products: a rate that follows a power law in -log h
    (PassUntil, arXiv:2310.03262) is a straight line on -log(-log h) only. The log-probability of an answer is no rate
    of attempts, and is judged as the loss that it is.

    Examples:
        >>> from foreshock.mirage import Hard, Twin
        >>> [link.name for link in links_for(Hard("pass_at_k", "any-of-T"), Twin("pass_rate", "pass_rate"))]
        ['log(-log(1-p))', 'logit p', '-log(-log p)']
    """
    if twin.kind == "difference":
        return (identity,)
    if hard.link == "any-of-T" and twin.kind != "gold_logprob":
        return (cloglog, logit, loglog)
    if hard.link in ("all-of-N", "any-of-T"):
        return (loglog, logit)
    return (logit, loglog)


def all_of(p: ArrayLike, parts: float, spread: float = 0.0) -> Floats:
    """Share of items whose ``parts`` all succeed, for the mean success ``p`` of a part over items that differ.

    Args:
        p: Mean success of a part, 0 to 1, any shape.
        parts: Number of parts.
        spread: Constant r of the module's text, from 0 (items alike, parts independent) upwards.

    Returns:
        Shape of ``p``.

    Examples:
        >>> all_of([0.5, 0.9], 10).round(5), all_of([0.5, 0.9], 10, spread=100.0).round(2)
        (array([0.00098, 0.34868]), array([0.49, 0.88]))
    """
    share = np.asarray(p, float)
    if spread == 0:
        return np.asarray(share**parts)
    with np.errstate(divide="ignore", over="ignore"):
        # log of 1 + N (e^u - 1), without overflow: beyond 50 the rest is lost in double precision
        u = -spread * np.log(share)
        inner = np.where(u > 50.0, np.log(parts) + u, np.log1p(parts * np.expm1(np.minimum(u, 50.0))))
    return np.asarray(np.exp(-inner / spread))


def any_of(h: ArrayLike, attempts: float, spread: float = 0.0) -> Floats:
    """Share of items with at least one success in ``attempts``, for the mean rate ``h``: all fail in the complement.

    Examples:
        >>> any_of([0.1, 0.2], 10).round(4), any_of([0.1, 0.2], 10, spread=1000.0).round(2)
        (array([0.6513, 0.8926]), array([0.1, 0.2]))
    """
    return np.asarray(1.0 - all_of(1.0 - np.asarray(h, float), attempts, spread))
