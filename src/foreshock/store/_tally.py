"""Counting a run while its rows go by."""

from __future__ import annotations

from collections import Counter
from typing import Any

from foreshock._base import StoreError, count_of
from foreshock.records import Batch, Counts, Delivery, ScoreStatus

_REFUSED = (Delivery.REFUSED, Delivery.BLOCKED)
_ERROR = (Delivery.ERROR, Delivery.TIMEOUT, Delivery.CANCELLED)
_REPEATS = ("epoch", "sample", "filter", "perturbation")


class Tally:
    """Counts of one run, and what is odd about its rows.

    Memory is two 64-bit hashes and some change per response, kept until the run ends.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._deliveries: Counter[str] = Counter()
        self._parsed = 0
        self._next = 0
        self._rows: set[int] = set()  # used only when rows do not come in order
        self._scored: set[int] = set()
        self._seen: dict[int, int] = {}
        self._repeated = 0
        self._disagreeing = 0
        self._totals = False

    @property
    def only_totals(self) -> bool:
        """Whether there were aggregates and not one response, not even one listed as absent."""
        return self._totals and not self._deliveries.total()

    def see(self, batch: Batch) -> None:
        """Count one batch.

        Raises:
            StoreError: A response has no number or one that was there before.
        """
        if batch.table == "responses":
            self._see_responses(batch.columns, batch.rows)
        elif batch.table == "scores":
            self._see_scores(batch.columns)
        elif batch.table == "aggregates":
            self._totals = self._totals or batch.rows > 0

    def counts(self, expected: int | None) -> Counts:
        """The counts, given how many responses the run announced."""
        delivered = sum(n for word, n in self._deliveries.items() if Delivery(word).arrived)
        refused = sum(self._deliveries[word] for word in _REFUSED)
        error = sum(self._deliveries[word] for word in _ERROR)
        listed = self._deliveries[Delivery.MISSING]
        missing = listed if expected is None else max(listed, expected - delivered - refused - error)
        return Counts(
            expected=expected,
            delivered=delivered,
            parsed=self._parsed,
            scored=len(self._scored),
            refused=refused,
            error=error,
            missing=missing,
        )

    def warnings(self, counts: Counts, *, absent_told: bool = False, repeats_told: bool = False) -> list[str]:
        """What a user should know about the rows.

        Args:
            counts: The counts of the run.
            absent_told: The reader has counted what is absent.
            repeats_told: The reader has said which rows repeat others, scores included.
        """
        notes = []
        if counts.missing and not absent_told:
            whole = "" if counts.expected is None else f" of {counts.expected}"
            notes.append(f"{counts.missing}{whole} expected responses are not in the log")
        rows = self._deliveries.total()
        if counts.expected is not None and rows > counts.expected:
            notes.append(f"{rows} responses are in the log, {counts.expected} were announced")
        if self._repeated and not repeats_told:
            verb = "repeats" if self._repeated == 1 else "repeat"
            notes.append(
                f"{count_of(self._repeated, 'response')} {verb} the item, epoch and sample of another one, "
                f"{self._disagreeing} of them with another output, answer or delivery; all are kept"
            )
        return notes

    def _see_responses(self, columns: dict[str, list[Any]], rows: int) -> None:
        self._see_numbers(columns["row"], rows)
        self._deliveries.update(map(str, columns["delivery"]))
        self._parsed += _parsed(columns, rows)
        self._see_repeats(columns, rows)

    def _see_numbers(self, numbers: list[int], rows: int) -> None:
        if not self._rows and numbers == list(range(self._next, self._next + rows)):
            self._next += rows
            return
        if not self._rows:
            self._rows.update(range(self._next))
        before = len(self._rows)
        self._rows.update(numbers)
        if len(self._rows) != before + rows:
            raise StoreError(
                "two responses of one run have the same row number",
                expected="numbers that are unique in the run",
                do="correct the reader that made the batch",
                where=self._where,
            )

    def _see_repeats(self, columns: dict[str, list[Any]], rows: int) -> None:
        empty = [None] * rows
        items, ids = (columns.get(name) or empty for name in ("item_key", "item_id"))
        others = [columns[name] for name in _REPEATS if name in columns]
        texts = [columns.get(name) or empty for name in ("output", "answer", "delivery")]
        keys = map(hash, zip(items, ids, *others, strict=True))
        contents = map(hash, zip(*texts, strict=True))
        for item, name, key, content in zip(items, ids, keys, contents, strict=True):
            if item is None and name is None:
                continue
            if key in self._seen:
                self._repeated += 1
                self._disagreeing += self._seen[key] != content
            else:
                self._seen[key] = content

    def _see_scores(self, columns: dict[str, list[Any]]) -> None:
        values = columns.get("value")
        if values is None:
            return
        statuses = columns.get("status") or [None] * len(values)
        wanted = (None, ScoreStatus.SCORED)
        self._scored.update(
            row
            for row, value, status in zip(columns["row"], values, statuses, strict=True)
            # value - value is 0 for every finite number and NaN for the rest
            if value is not None and value - value == 0 and status in wanted
        )


def _parsed(columns: dict[str, list[Any]], rows: int) -> int:
    empty = [None] * rows
    answers = columns.get("answer") or empty
    choices = columns.get("choice_logprobs") or empty
    arrived = {word.value for word in Delivery if word.arrived}
    return sum(
        (answer is not None or choice is not None) and delivery in arrived
        for answer, choice, delivery in zip(answers, choices, columns["delivery"], strict=True)
    )
