"""One model evaluated once on one task by one harness under one condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import msgspec

from foreshock._base import digest
from foreshock.records._card import ModelCard
from foreshock.records._schema import SCHEMA_VERSION
from foreshock.records._states import RunStatus


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file, or a member of an archive, that a run was read from.

    Attributes:
        path: Absolute path at the time of reading.
        member: Member of the archive, when ``path`` is one.
        size: Bytes of the file.
        mtime_ns: Modification time; an unchanged (path, size, mtime_ns) is not read again.
        sha256: Hash of the file's content.
    """

    path: str
    member: str | None = None
    size: int
    mtime_ns: int
    sha256: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many responses are where; kept apart, always shown.

    ``expected = delivered + refused + error + missing`` whenever the log says how many were expected; where it does
    not, ``expected`` is None and ``missing`` counts only responses that the log itself lists as absent. So it is with a
    run that ended well and logged totals and no response: whether its responses arrived cannot be seen.

    Attributes:
        expected: Responses the run's header announces (items x epochs).
        delivered: An output arrived (delivery ok or truncated).
        parsed: Delivered with an extracted answer or choice log-likelihoods.
        scored: Given at least one value by the harness.
        refused: Declined by the model or blocked by a filter.
        error: Ended in an error, a timeout or a cancellation.
        missing: Announced or listed but absent.
    """

    expected: int | None = None
    delivered: int = 0
    parsed: int = 0
    scored: int = 0
    refused: int = 0
    error: int = 0
    missing: int = 0

    @staticmethod
    def total(counts: Iterable[Counts]) -> Counts:
        """Sum of the counts of several runs; ``expected`` is known only where it is known of all.

        Examples:
            >>> Counts.total([Counts(expected=10, delivered=10), Counts(delivered=5)]).expected is None
            True
        """
        return reduce(Counts.__add__, counts, Counts(expected=0))

    def __add__(self, other: Counts) -> Counts:
        """Sum; ``expected`` is known only where both are."""
        known = [c.expected for c in (self, other) if c.expected is not None]
        return Counts(
            expected=sum(known) if len(known) == 2 else None,
            delivered=self.delivered + other.delivered,
            parsed=self.parsed + other.parsed,
            scored=self.scored + other.scored,
            refused=self.refused + other.refused,
            error=self.error + other.error,
            missing=self.missing + other.missing,
        )


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one run, as its log states them.

    Attributes:
        run_key: The harness's own identity of one model on one task; see :func:`run_key`.
        ingest_id: Hash of what was read and how; see :func:`ingest_id`.
        format: Reader that read it, ``inspect``, ``lm-eval``, ``table``, ...
        reader: ``name@version`` of that reader.
        writer: Version of the harness that wrote the log.
        model: Model name exactly as logged.
        card: What is known or guessed about the model.
        task: Task name exactly as logged.
        task_version: Version of the task; a change means another task.
        conditions: Shots, filter, reasoning effort, budget, ... as text.
        suite: Benchmarks watched together.
        release: Batch of runs that count as one look.
        trajectory: Name of the training run this is a checkpoint of.
        seed: Seed of training or of sampling.
        created: ISO 8601 time at which the run was made.
        known_at: ISO 8601 time from which the result could be known (replay).
        prompt_hash, scorer_hash, judge: Identity of what must not change between compared runs.
        chance: Score of guessing, when the task declares it.
        sources: Files read.
        expected: Responses announced by the header; moved into ``counts`` by the store.
        counts: Filled by the store while it writes the responses.
        status: How the run ended.
        warnings: What a user should know, one sentence each.
        guesses: Names of fields that were guessed rather than read.
        meta: Whatever else the header says that is worth keeping, as JSON-compatible data.
    """

    run_key: str
    ingest_id: str = ""
    schema: int = SCHEMA_VERSION
    format: str
    reader: str
    writer: str | None = None
    model: str
    card: ModelCard = ModelCard()
    task: str
    task_version: str | None = None
    conditions: dict[str, str] = {}
    suite: str | None = None
    release: str | None = None
    trajectory: str | None = None
    seed: int | None = None
    created: str | None = None
    known_at: str | None = None
    prompt_hash: str | None = None
    scorer_hash: str | None = None
    judge: str | None = None
    chance: float | None = None
    sources: list[Source] = []
    expected: int | None = None
    counts: Counts = Counts()
    status: RunStatus = RunStatus.COMPLETE
    warnings: list[str] = []
    guesses: list[str] = []
    meta: dict[str, Any] = {}


def run_key(*parts: object) -> str:
    """Key of a run from the parts that identify it, as 16 hexadecimal digits.

    Give the harness's own identity: Inspect run id and task id; lm-eval model, date, task and shots; else model, task,
    creation time and source.
    """
    return digest([str(p) for p in parts], 16)


def ingest_id(key: str, sources: Sequence[Source], reader: str, options: object = None) -> str:
    """Identity of one reading of one run: what was read, by which reader, with which mapping, into which schema."""
    hashes = sorted([s.sha256, s.member or ""] for s in sources)
    return digest([key, hashes, reader, options, SCHEMA_VERSION], 24)
