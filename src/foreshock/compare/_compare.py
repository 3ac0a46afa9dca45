"""From named sides to the document: match, load, judge, tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import ConfigError, Progress, digest, quiet, utc_now
from foreshock._version import __version__
from foreshock.compare._clusters import needs_meta
from foreshock.compare._finding import CODE as PAIR
from foreshock.compare._finding import compare_row, finding_of, refused_finding
from foreshock.compare._flips import IN_ALL, flips
from foreshock.compare._incomplete import settle
from foreshock.compare._judge import Compared, Verdict, give_verdicts, judge_match
from foreshock.compare._load import Sheet, load_sheet
from foreshock.compare._match import Match, Refusal, match_runs
from foreshock.compare._measure import Chosen, choose, wanted_metrics
from foreshock.compare._options import CompareOptions, Side
from foreshock.compare._rows import load_rows
from foreshock.compare._standings import CODE as BOARD
from foreshock.compare._standings import board_of
from foreshock.compare._totals import compare_totals
from foreshock.integrity import between
from foreshock.records import Counts, Document, Finding, Run
from foreshock.scoring import score
from foreshock.series import run_row
from foreshock.store import Snapshot, Store

CODES = (PAIR, BOARD)
"""Codes of the findings that this room gives."""


class _Loaded(NamedTuple):
    match: Match
    chosen: Chosen
    sheet: Sheet


def compare(
    store: Store,
    sides: Sequence[Side],
    options: CompareOptions | None = None,
    *,
    command: Sequence[str] = ("compare",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """Compare the first side with each other one, task by task, item by item; with three or more also as a board.

    Args:
        store: Where the runs are; the scores that are needed are added to it, nothing else changes.
        sides: What is compared, the baseline first.
        options: How.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and tasks.

    Returns:
        A document with findings FS901 (one per task and pair), FS902 (one per board), those of ``integrity`` about
        the compared runs, and the tables ``compare``, ``flips``, ``board``, ``runs`` and ``failures``.

    Raises:
        ConfigError: There are fewer than two sides, nothing may be compared, or no score is shared.
    """
    options = options or CompareOptions()
    if len(sides) < 2:
        raise ConfigError("one run to compare", expected="two or more", do="name a second run, path or model")
    matches, refused = match_runs(sides, options)
    if not matches:
        raise _nothing(sides, refused, options)
    specs = wanted_metrics(options.metric)
    if specs:
        score(store, specs, progress=progress)
    snapshot = store.snapshot()
    loaded: list[_Loaded] = []
    totals: list[Compared] = []
    for done, match in enumerate(matches):
        progress("compare", done, len(matches))
        rows = load_rows(snapshot, match, specs, meta=needs_meta(options.cluster))
        found = choose(rows, options.metric, specs)
        loaded += [_Loaded(match, chosen, load_sheet(snapshot, match, rows, chosen, options)) for chosen in found]
        if not found:
            lacks = [_without_score(match, side, sides, options) for side in match.sides[1:]]
            told = [] if any(lack.lack for lack in lacks) else compare_totals(snapshot, match, options)
            totals += told
            there = {match.sides[one.place] for one in told}
            refused += [lack for lack in lacks if lack.side not in there]
    progress("compare", len(matches), len(matches))
    if not loaded and not totals:
        raise _nothing(sides, refused, options)
    document = _document(snapshot, sides, loaded, totals, refused, options)
    unread = [{"path": path, "message": message} for path, message in failures]
    tables = {**document.tables, "failures": unread}
    return msgspec.structs.replace(document, command=list(command), tables=tables)


def _without_score(match: Match, side: int, sides: Sequence[Side], options: CompareOptions) -> Refusal:
    """Why a match has nothing to compare: totals only, or no score that all have."""
    bare = [
        (place, runs)
        for place, runs in zip(match.sides, match.runs, strict=True)
        if not any(run.counts.delivered for run in runs)
    ]
    for place, runs in bare:
        if any(run.counts.missing or run.counts.error or run.counts.refused for run in runs):
            return _lost(match.task, side, sides[place].label, runs, candidate=place == side)
    if bare:
        label = sides[bare[0][0]].label
        why = f"no responses of {label}, only totals, and none that all of these runs have"
        return Refusal(match.task, side, why, "keep the responses: --log_samples")
    why = f"no score {options.metric or ''} that all of these runs have".replace("  ", " ")
    return Refusal(match.task, side, why, "see which there are: foreshock sql 'select distinct metric_id from scores'")


def _lost(task: str, side: int, label: str, runs: Sequence[Run], *, candidate: bool) -> Refusal:
    counts = Counts.total(run.counts for run in runs)
    asked = counts.expected if counts.expected is not None else counts.refused + counts.error + counts.missing
    told = "".join(f"; {run.warnings[0]}" for run in runs[:1] if run.warnings)
    why = f"0 of {asked:,} responses of {label} arrived{told}"
    return Refusal(task, side, why, "run it again, or name its whole log", "lost" if candidate else "")


def _nothing(sides: Sequence[Side], refused: Sequence[Refusal], options: CompareOptions) -> ConfigError:
    if not refused:
        return ConfigError(
            "no task is left to compare",
            expected="a task of the baseline" + (f" that fits {', '.join(options.tasks)}" if options.tasks else ""),
            do="see what there is: foreshock ls",
        )
    first = refused[0]
    do = _one_name(sides) or first.do
    more = f" (and {len(refused) - 1} more like it)" if len(refused) > 1 else ""
    return ConfigError(
        f"nothing can be compared: {first.task}: {first.why}{more}",
        expected="runs of one task under the same conditions, with a score that all of them have",
        do=do or "see what there is: foreshock ls",
    )


def _one_name(sides: Sequence[Side]) -> str:
    """How to say that files which name no task are of one; empty where their tasks are no guesses, or are the same."""
    tasks = [{run.task for run in side.runs} for side in sides]
    guessed = all("task" in run.guesses for side in sides for run in side.runs)
    if not guessed or set.intersection(*tasks):
        return ""
    names = sorted(set.union(*tasks))
    named = ", ".join(names[:3]) + (", ..." if names[3:] else "")
    return f"the tasks ({named}) are guesses; where they are one, say its name: --task-name NAME"


def _document(
    snapshot: Snapshot,
    sides: Sequence[Side],
    loaded: Sequence[_Loaded],
    totals: Sequence[Compared],
    refused: Sequence[Refusal],
    options: CompareOptions,
) -> Document:
    compared = [one for part in loaded for one in judge_match(part.match, part.chosen, part.sheet, options)]
    compared += totals
    verdicts = settle(compared, give_verdicts(compared, options), options)
    findings, rows, shown = _pairs(snapshot, sides, compared, verdicts, options)
    boards = [_board(part, sides, options) for part in loaded]
    matches = [*(part.match for part in loaded), *(one.match for one in totals)]
    used = list({run.run_key: run for match in matches for runs in match.runs for run in runs}.values())
    return Document(
        foreshock=__version__,
        command=[],
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in used)),
        findings=[
            *findings,
            *(finding for board in boards if board for finding in (board[0],)),
            *(refused_finding(refusal, sides) for refusal in refused),
            *between(snapshot, used),
        ],
        tables={
            "compare": rows,
            "board": [row for board in boards if board for row in board[1]],
            "flips": shown,
            "runs": [run_row(run) for run in used],
        },
    )


def _pairs(
    snapshot: Snapshot,
    sides: Sequence[Side],
    compared: Sequence[Compared],
    verdicts: Sequence[Verdict],
    options: CompareOptions,
) -> tuple[list[Finding], list[dict[str, Any]], list[dict[str, Any]]]:
    findings: list[Finding] = []
    rows: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    for one, verdict in zip(compared, verdicts, strict=True):
        told = flips(snapshot, one, sides, IN_ALL - len(shown))
        finding = finding_of(one, verdict, sides, options, (told.evidence, told.total))
        findings.append(finding)
        rows.append(compare_row(one, verdict, sides, options, finding))
        shown += [{"finding_id": finding.id, **row} for row in told.rows]
    return findings, rows, shown


def _board(
    part: _Loaded, sides: Sequence[Side], options: CompareOptions
) -> tuple[Finding, list[dict[str, Any]]] | None:
    ingests = [run.ingest_id for runs in part.match.runs for run in runs]
    data = digest([part.match.task, part.chosen.filter, part.chosen.measure.id, ingests], 16)
    return board_of(part.match, part.chosen, part.sheet, sides, options, data)
