"""Whole texts are told from extracted answers."""

from __future__ import annotations

import pytest

from foreshock.metrics import is_whole_text

THOUGHT = "Let us think step by step. " * 20


@pytest.mark.parametrize(
    ("answer", "output", "targets", "whole"),
    [
        (THOUGHT, THOUGHT, ["42"], True),
        (THOUGHT + "\n", THOUGHT, ["42"], True),
        (THOUGHT, None, ["42"], True),
        (THOUGHT, None, None, True),
        ("42", THOUGHT, ["42"], False),
        # an extracted passage may be long
        (THOUGHT, "Answer: " + THOUGHT, ["42"], False),
        # so may a target: a summary is compared as a whole
        (THOUGHT, THOUGHT, ["x" * 300], False),
        ("a short answer, not extracted", "a short answer, not extracted", ["b"], False),
        (None, THOUGHT, ["42"], False),
    ],
)
def test_whole_texts(answer: str | None, output: str | None, targets: list[str] | None, whole: bool) -> None:
    assert is_whole_text(answer, output, targets) is whole
