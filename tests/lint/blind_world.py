"""Answers whose facts are known, and scorers whose blind spots can be worked out by hand."""

from __future__ import annotations

import re

from foreshock.metrics import Response

TOWERS = range(40)


def statements(i: int) -> list[str]:
    """Three true statements about a tower, with one number each."""
    return [f"The mast is {301 + i} m tall.", f"It opened in {1830 + i}.", f"It has {41 + i} floors."]


def answers() -> list[Response]:
    """40 answers in prose and 40 labels of options, all of them right."""
    prose = {f"tower-{i}": " ".join(statements(i)) for i in TOWERS}
    long = [Response(answer=text, output=text, targets=[text], item_key=key) for key, text in prose.items()]
    options = ["Lyon", "Paris", "Rome", "Turin"]
    labels = [
        Response(answer=label, output=label, targets=[label], choices=options, gold_index=i % 4, item_key=f"choice-{i}")
        for i in TOWERS
        for label in ["ABCD"[i % 4]]
    ]
    return long + labels


def _said(output: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", output)]


def truth(output: str, item: Response) -> float:
    """1 unless something false is said: a number or a label that is not in the target. Silence is no lie."""
    if item.choices:
        return float(not re.fullmatch(r"[A-D]", output.strip()) or [output.strip()] == item.targets)
    assert item.targets
    return float(set(_said(output)) <= set(_said(item.targets[0])))


def recall(output: str, item: Response) -> float:
    """Share of the target's facts that are found, whatever else is said."""
    assert item.targets
    if item.choices:
        return float(re.match(r"[A-D]\b", output) is not None and output[0] == item.targets[0])
    facts = _said(item.targets[0])
    return sum(f in _said(output) for f in facts) / len(facts)
