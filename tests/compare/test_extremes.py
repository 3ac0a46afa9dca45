"""Responses that are missing because of what they would have been."""

from __future__ import annotations

import numpy as np
import pytest

from foreshock.compare import compare
from foreshock.records import Alternative
from foreshock.store import Store
from tests.compare.conftest import Write, flips, sides


def told(store: Store, write: Write, lost: int, gain: float, metric: str = "acc") -> tuple[str, Alternative]:
    a, b = flips(np.random.default_rng(30), 300, gain, 0.05)
    holes: list[float | None] = [None if i < lost else score for i, score in enumerate(a)]
    first = write(f"a{lost}{gain}", holes, metric=metric)
    finding = compare(store, sides(first, write(f"b{lost}{gain}", b, metric=metric))).findings[0]
    (found,) = [one for one in finding.alternatives if one.name == "responses that did not arrive"]
    return str(finding.verdict), found


def test_one_way_to_fill_them_in_rules_nothing_out(store: Store, write: Write) -> None:
    verdict, found = told(store, write, 40, 0.12)
    assert (verdict, found.status) == ("improvement", "possible")
    assert "the verdict would be the same" in found.why
    a, b = flips(np.random.default_rng(30), 300, 0.12, 0.05)
    low = (sum(b[40:]) - sum(a[40:]) - 40) / 300
    high = (sum(b) - sum(a[40:])) / 300
    ends = found.why.rsplit("could make it ", 1)[1].split(":")[0].replace("\u2212", "-").split(" to ")
    told_ends = [float(end.removesuffix(" points")) / 100 for end in ends]
    # the second side has lost nothing
    assert told_ends == pytest.approx([low + sum(b[:40]) / 300, high], abs=6e-4)


def test_few_of_them_are_ruled_out(store: Store, write: Write) -> None:
    verdict, found = told(store, write, 3, 0.4)
    assert (verdict, found.status) == ("improvement", "ruled-out")
    assert "with the same verdict" in found.why
