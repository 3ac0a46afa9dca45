"""Judge all lines of one model family together: its tasks share their models, and so tell each other's noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from foreshock._base import Progress
from foreshock.check._line_differences import DifferenceLine
from foreshock.check._line_repeats import repeat_rows
from foreshock.check._line_totals import TotalLine
from foreshock.check._lines import Held, ItemLine, Judged, Place
from foreshock.check._views import Waiting
from foreshock.mirage import Entry, FamilyJudgement, Judgement, NoisePrior, foreseeable, judge_family, resolution_rows
from foreshock.records import Finding
from foreshock.series import Series, Shelf
from foreshock.stats import benjamini_hochberg


class Verdicts(NamedTuple):
    """What became of all lines.

    Attributes:
        judged: One for each line that waited, in their order; None where no point of it has a score.
        findings: What holds for whole families (FS302).
        families: Rows of the table ``families``.
        held: What is kept of each line that was judged.
        totals: Series that could not be judged.
    """

    judged: list[Judged | None]
    findings: list[Finding]
    families: list[dict[str, Any]]
    held: list[Held]
    totals: list[Series]


def judge_lines(shelf: Shelf, waiting: Sequence[Waiting], seed: int, progress: Progress) -> Verdicts:
    """Judge lines, family by family.

    A line's scores are loaded when its family's turn comes and let go after it, so that what is in memory is what the
    shelf keeps and one family's main metrics and twins, never the scores of a store.

    Args:
        shelf: Where scores come from.
        waiting: The lines of all tasks.
        seed: Seed of bootstraps and simulations.
        progress: Told how many lines are done.
    """
    found: list[Judged | None] = [None] * len(waiting)
    findings: list[Finding] = []
    rows: list[dict[str, Any]] = []
    held: list[Held] = []
    totals: list[Series] = []
    done = 0
    for place, members in _groups(waiting).items():
        progress("judge", done, len(waiting))
        family = _Family(shelf, [(i, waiting[i]) for i in members], seed)
        told = judge_family(family.entries(), seed=seed)
        for (i, line, kept), judgement in zip(family.held, told.judgements, strict=True):
            found[i] = _beside(line.told(kept, judgement), kept, judgement, told.priors, family.repeats.get(i, []))
        for i, one in family.undecided:
            found[i] = one
        totals += family.totals
        if len(told.judgements) > 1:
            rows.append(_family_row(place, told))
            findings += [told.common.finding] if told.common else []
        held += [kept for _, _, kept in family.held]
        done += len(members)
    progress("judge", len(waiting), len(waiting))
    return Verdicts(found, findings, rows, held, totals)


class _Family:
    """The lines of one family on their way through the mirage room, each loaded when it is asked for."""

    def __init__(self, shelf: Shelf, members: Sequence[tuple[int, Waiting]], seed: int) -> None:
        self._shelf, self._members, self._seed = shelf, members, seed
        self.held: list[tuple[int, Waiting, Held]] = []
        self.undecided: list[tuple[int, Judged]] = []
        self.repeats: dict[int, list[dict[str, Any]]] = {}
        self.totals: list[Series] = []

    def entries(self) -> Iterator[Entry]:
        """What can be judged; the rest is put aside."""
        for i, line in self._members:
            entry = line.entry(self._shelf)
            if entry is not None:
                self.held.append((i, line, Held.of(entry, self._seed)))
                if isinstance(line, ItemLine):
                    # its scores are on the shelf now
                    self.repeats[i] = repeat_rows(line, self._shelf, self._seed)
                yield entry
            elif isinstance(line, DifferenceLine):
                lacking = line.undecided(self._shelf)
                self.undecided += [(i, lacking)] if lacking is not None else []
            elif isinstance(line, TotalLine):
                self.undecided.append((i, line.undecided()))
                self.totals += [one for one in (line.series, line.twin) if one is not None]


def _beside(
    one: Judged,
    held: Held,
    judgement: Judgement,
    priors: Sequence[NoisePrior],
    repeats: Sequence[dict[str, Any]],
) -> Judged:
    place = {name: one.verdict[name] for name in ("finding_id", "task", "family", "axis")}
    rows = {
        "resolution": resolution_rows(judgement, held.hard),
        "repeats": [place | row for row in repeats],
        "foreseeable": [] if one.difference else [foreseeable(judgement, held.trend, priors).row()],
    }
    return one._replace(beside=rows)


def _groups(waiting: Sequence[Waiting]) -> dict[Place, list[int]]:
    groups: dict[Place, list[int]] = {}
    for i, line in enumerate(waiting):
        groups.setdefault(line.place, []).append(i)
    return groups


def _family_row(place: Place, told: FamilyJudgement) -> dict[str, Any]:
    """Row of ``families``: what is told of all tasks together, and what they know of each other's noise."""
    empty = dict.fromkeys(
        ("finding_id", "verdict", "reason", "agree", "from_point", "to_point", "share", "share_low", "share_high", "p")
    )
    noise = told.noise
    return {
        **empty,
        "family": place.family,
        "axis": place.axis,
        "variant": place.variant,
        "source": place.source,
        "lines": len(told.judgements),
        "tasks": len(told.judgements),
        **(told.common.row() if told.common else {}),
        "noise": noise.s0 if noise else None,
        "noise_df": noise.df if noise else None,
        "noise_correlation": noise.correlation if noise else None,
        "noise_tasks": noise.tasks if noise else None,
        "noise_link": noise.link if noise else None,
    }


def with_q(judged: Sequence[Judged]) -> list[Judged]:
    """The lines with their p-values adjusted over all lines that are told (Benjamini and Hochberg)."""
    known = [i for i, one in enumerate(judged) if one.finding.p is not None]
    adjusted = benjamini_hochberg(np.array([judged[i].finding.p for i in known], float)).tolist() if known else []
    found = list(judged)
    for i, q in zip(known, adjusted, strict=True):
        one = found[i]
        finding = msgspec.structs.replace(one.finding, q=q)
        found[i] = one._replace(finding=finding, verdict={**one.verdict, "q": q})
    return found
