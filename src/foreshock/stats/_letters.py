"""Which of many cannot be told apart: the compact letter display."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

_MOST = 500  # groups held at once; rankings give about as many as there are models


def tie_groups(separable: ArrayLike) -> list[list[int]]:
    """The largest groups in which no two can be told apart, by insertion and absorption (Piepho 2004).

    Two share a group exactly when they cannot be told apart. Not being told apart is not transitive, so groups overlap.

    Args:
        separable: Symmetric, shape (k, k): whether two are told apart; in the order in which they shall be listed.

    Returns:
        Groups of places, each sorted, in order of their first and then last place; empty where there are more than 500
        of them, which no one can read.

    Raises:
        ValueError: The matrix is not square.

    Examples:
        >>> tie_groups([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
        [[0, 1], [1, 2]]
    """
    apart = np.asarray(separable, bool)
    if apart.ndim != 2 or apart.shape[0] != apart.shape[1]:
        raise ValueError(f"a matrix of shape {apart.shape}")
    groups: list[frozenset[int]] = [frozenset(range(apart.shape[0]))] if apart.size else []
    for i, j in np.argwhere(np.triu(apart | apart.T, 1)).tolist():
        split = [group for group in groups if i in group and j in group]
        kept = [group for group in groups if not (i in group and j in group)]
        for group in split:
            for part in (group - {j}, group - {i}):
                if not any(part <= other for other in kept):
                    kept = [other for other in kept if not other <= part] + [part]
        groups = kept
        if len(groups) > _MOST:
            return []
    return sorted((sorted(group) for group in groups), key=lambda group: (group[0], group[-1], group))


def letters(groups: Sequence[Sequence[int]], count: int) -> list[str]:
    """Letters of each place: two places share a letter exactly when they share a group.

    Examples:
        >>> letters([[0, 1], [1, 2]], 3)
        ['a', 'ab', 'b']
    """
    found = [""] * count
    for number, group in enumerate(groups):
        name = chr(ord("a") + number) if number < 26 else f"({number + 1})"
        for place in group:
            found[place] += name
    return found
