"""Whether the models of a table are one family: no column says so, and their names form no line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from foreshock.readers._tables_subject import Subject
from foreshock.records import parse_model


def one_family(subjects: Iterable[Subject], axes: Collection[str]) -> bool:
    """Whether models at several places on an axis have names of which no two of one family are at different places.

    ``pythia-70m`` and ``pythia-1b`` stay a family of their own; ``gpt-a`` and ``gpt-b`` would each be one, and a table
    that orders them would show no line.

    Args:
        subjects: What the rows are about.
        axes: Roles of the axes that matter.
    """
    families: dict[str, str] = {}
    places: dict[tuple[str, str], set[float]] = defaultdict(set)
    for subject in subjects:
        if subject.family is not None:
            return False
        if subject.model is None:
            continue
        if subject.model not in families:
            families[subject.model] = parse_model(subject.model).family or subject.model
        for role, place in subject.axes:
            if role in axes and place is not None:
                places[role, families[subject.model]].add(place)
    everywhere = {role: {p for (r, _), found in places.items() if r == role for p in found} for role in axes}
    return any(len(p) > 1 for p in everywhere.values()) and all(len(p) < 2 for p in places.values())
