"""Which continuous measure stands beside a hard one: the order of kinds, fixed before any data are looked at."""

from __future__ import annotations

TWIN_ORDER = (
    "gold_logprob",
    "choice_probability",
    "brier",
    "choice_margin",
    "pass_rate",
    "sub_scores",
    "graded_score",
    "numeric_closeness",
    "token_similarity",
    "char_similarity",
)
"""Kinds of twins for products of parts, best first; :func:`order_for` gives the order for a link. ``graded_score`` is
any score from 0 to its highest value on which a threshold is put."""
_CHOICES = ("choice_probability", "brier", "choice_margin")


def order_for(link: str) -> tuple[str, ...]:
    """Kinds of twins for a hard metric with this link, best first.

    Examples:
        >>> order_for("argmax")[:4]
        ('choice_probability', 'brier', 'choice_margin', 'gold_logprob')
    """
    return _CHOICES + tuple(k for k in TWIN_ORDER if k not in _CHOICES) if link == "argmax" else TWIN_ORDER
