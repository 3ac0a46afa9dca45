"""The README of the vision experiments says what the recorded verdicts say."""

from __future__ import annotations

import re

from experiments.vision import readme


def test_its_table_and_counts_are_those_of_the_verdicts() -> None:
    text, rows = readme.README.read_text("utf-8"), readme.verdicts()
    assert readme.with_table(text, rows) == text, "run: python -m experiments.vision.readme"
    told = {
        word: int(n) for n, word in re.findall(r"(\d+) (break|mirage|smooth|unresolved)\b", readme.made(rows)[-120:])
    }
    words = [row["verdict"] for row in rows]
    assert told == {word: words.count(word) for word in ("break", "mirage", "smooth", "unresolved")}


def test_another_verdict_changes_the_text() -> None:
    rows = readme.verdicts()
    other = [{**row, "verdict": "break"} if k == 0 else row for k, row in enumerate(rows)]
    assert "1 break" in readme.made(other)
    assert readme.made(other) != readme.made(rows)
