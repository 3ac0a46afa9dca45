"""``lint --blind`` on stored outputs, as a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from foreshock._base import NotEnoughDataError, Progress, quiet, utc_now
from foreshock._version import __version__
from foreshock.lint._blind import blind
from foreshock.lint._options import LintOptions
from foreshock.lint._samples import load_samples
from foreshock.records import Counts, Document, Run, RunStatus
from foreshock.series import run_row
from foreshock.store import Store


def lint_blind(
    store: Store,
    runs: Sequence[Run],
    scorers: Mapping[str, Any],
    options: LintOptions,
    *,
    command: Sequence[str] = ("lint", "--blind"),
    progress: Progress = quiet,
) -> Document:
    """Plant degradations in stored outputs and say which of them each scorer sees.

    Args:
        store: Where the outputs are; nothing changes in it.
        runs: Runs whose outputs are taken.
        scorers: Name to metric or function, as :func:`blind` takes them.
        options: How many outputs are taken in all (``samples``, spread evenly over tasks), and the seed.
        command: Arguments to name in the document.
        progress: Told about scorers.

    Raises:
        NotEnoughDataError: No output is stored.
        MetricError: A scorer is unknown, or fails on every output.
    """
    snapshot = store.snapshot()
    by_task: dict[str, list[str]] = {}
    for run in runs:
        if run.status is RunStatus.COMPLETE or run.counts.delivered:
            by_task.setdefault(run.task, []).append(run.run_key)
    each = -(-options.samples // max(1, len(by_task)))
    rows = [
        row for task, keys in sorted(by_task.items()) for row in load_samples(snapshot, task, keys, each, options.seed)
    ]
    rows = [row for row in rows if row.output or row.answer][: options.samples]
    if not rows:
        raise NotEnoughDataError(
            "no output is stored of these runs",
            expected="runs whose logs hold the replies",
            do="lm-eval: --log_samples; Inspect: --log-samples; then foreshock add PATH",
        )
    report = blind(rows, scorers, seed=options.seed, progress=progress)
    tables = {"blind": report.table(), "blind_words": report.matrix(), "runs": [run_row(run) for run in runs]}
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in runs)),
        findings=[finding for finding in report.findings() if options.wants(finding.code)],
        tables=tables,
    )
