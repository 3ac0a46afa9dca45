"""To which damage is a scorer blind? Damage of known size is planted in stored answers, and the scorer is asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from foreshock._base import MetricError, NotEnoughDataError, Progress, count_of, quiet
from foreshock.lint._blind_cell import Cell, Floats, cell, least_answers, noise_bound
from foreshock.lint._blind_scorers import Prepared, Scored, Scorer, prepare, text_of, with_text
from foreshock.lint._degrade import DEGRADATIONS, HARMLESS, Degraded, degrade
from foreshock.lint._degrade_option import Options
from foreshock.metrics import FIELDS, Response
from foreshock.records import Finding

_NUMBERS = ("share", "low", "high", "effect", "effect_low", "effect_high", "size")

_NOTHING = {
    "answer": "no stored response has an extracted answer, which it reads (a table: foreshock add --map answer=COLUMN)",
    "output": "no stored response has an output, which it reads",
}


@dataclass(frozen=True, slots=True)
class BlindRow:
    """One scorer on one kind of damage.

    Attributes:
        scorer: Name of the scorer.
        degradation: Kind of damage; ``nothing`` and ``reformat`` have size zero.
        text: Text that was damaged: ``answer`` or ``output``; empty when the scorer reads none.
        cell: What came out.
        noise: Largest fall between two scorings of the same answer, but for 5% of them; None when not known.
        changed: Answers that the damage can be done to, of those with room to fall.
    """

    scorer: str
    degradation: str
    text: str
    cell: Cell
    noise: float | None
    changed: int

    @property
    def said(self) -> str:
        """``sees``, ``partly``, ``blind`` or ``cannot tell``; ``null`` and ``harmless`` for damage of size zero."""
        return {"nothing": "null", "reformat": "harmless"}.get(self.degradation, self.cell.said)

    def row(self) -> dict[str, Any]:
        """Row of the table ``blind``; numbers that do not exist are null."""
        c = self.cell
        numbers = {name: getattr(c, name) for name in _NUMBERS} | {"noise": self.noise}
        return {
            "scorer": self.scorer,
            "degradation": self.degradation,
            "text": self.text,
            "said": self.said,
            "n": c.n,
            "changed": self.changed,
            "seen": c.seen,
            **{k: None if v is None or not math.isfinite(v) else float(v) for k, v in numbers.items()},
            "enough": c.enough,
            "why": c.why,
        }


@dataclass(frozen=True, slots=True)
class BlindReport:
    """What each scorer notices.

    Attributes:
        rows: Scorer by scorer, kinds of damage in the order given, then those of size zero.
        samples: Answers given.
        floor: Scorer to the number of answers that were left out because their score cannot fall, or there is none.
        seed: Seed of the damage.
    """

    rows: tuple[BlindRow, ...]
    samples: int
    floor: Mapping[str, int]
    seed: int

    def table(self) -> list[dict[str, Any]]:
        """Rows of the table ``blind``."""
        return [row.row() for row in self.rows]

    def findings(self) -> list[Finding]:
        """One FS250 for each scorer that is blind to something, or of which nothing could be told."""
        from foreshock.lint._blind_told import findings

        return findings(self)

    def matrix(self) -> list[dict[str, Any]]:
        """One row for each scorer with the word for each kind of damage: the table ``blind_words``."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            if row.degradation not in HARMLESS:
                found.setdefault(row.scorer, {"scorer": row.scorer})[row.degradation] = row.said
        return list(found.values())


@dataclass(slots=True)
class _Plan:
    """Everything that one scorer is asked."""

    scorer: Prepared
    rows: list[Response]
    degradations: tuple[str, ...]
    seed: int
    damaged: dict[str, list[tuple[int, Degraded]]] = field(default_factory=dict)
    whys: dict[str, Counter[str]] = field(default_factory=dict)

    def plant(self) -> None:
        for kind in self.degradations:
            self.damaged[kind], self.whys[kind] = [], Counter()
            for i, row in enumerate(self.rows):
                found = degrade(
                    kind,
                    text_of(row, self.scorer.reads) or "",
                    seed=self.seed,
                    options=Options(tuple(row.choices or ()), row.gold_index),
                    targets=row.targets or (),
                    item=row.item_key or row.item_id or "",
                )
                if isinstance(found, Degraded):
                    self.damaged[kind].append((i, found))
                else:
                    self.whys[kind][found.why] += 1


def blind(
    samples: Iterable[Response | Mapping[str, Any]],
    scorers: Mapping[str, Scorer] | Iterable[Scorer],
    *,
    seed: int = 0,
    degradations: Sequence[str] = DEGRADATIONS,
    progress: Progress = quiet,
) -> BlindReport:
    """Say for each scorer and each kind of damage whether the scorer notices it in stored answers.

    A damaged answer counts as noticed when its score falls by more than between two scorings of the same answer, and
    by at least half of what the damage is worth: see :func:`foreshock.lint._blind_cell.noticed`. Answers whose score
    is the scorer's lowest cannot fall and are left out, and counted.

    Args:
        samples: Stored responses. Metrics that read the extracted answer are given the damaged answer, everything
            else the damaged output.
        scorers: Metrics by name or as specs, or functions ``(output, item) -> float`` where higher is better and
            ``item`` is the response with the text that is scored; a mapping gives them names. Each is called once for
            an answer and each kind of damage, and four times more.
        seed: Seed of the damage.
        degradations: Kinds of damage, of :data:`DEGRADATIONS`.
        progress: Called after each scorer.

    Raises:
        MetricError: A scorer is unknown, or fails on every answer.
        ConfigError: There is no such kind of damage.
        NotEnoughDataError: There are no samples.

    Examples:
        >>> rows = [{"output": f"It is {i} m tall. It is old.", "item_id": str(i)} for i in range(100, 140)]
        >>> report = blind(rows, {"length": lambda output, item: len(output)})
        >>> {row.degradation: row.said for row in report.rows if row.degradation in ("truncate", "contradict_number")}
        {'contradict_number': 'blind', 'truncate': 'sees'}
    """
    rows = [sample if isinstance(sample, Response) else _response(sample) for sample in samples]
    ready = prepare(scorers)
    if not rows:
        raise NotEnoughDataError("there are no answers to damage", expected=f"at least {least_answers()}")
    found: list[BlindRow] = []
    floor = {}
    for done, scorer in enumerate(ready):
        mine, left_out = _one(scorer, rows, tuple(degradations), seed)
        found += mine
        floor[scorer.name] = left_out
        progress("scorers", done + 1, len(ready))
    return BlindReport(tuple(found), len(rows), floor, seed)


def _response(row: Mapping[str, Any]) -> Response:
    return Response(**{name: row[name] for name in FIELDS if name in row})


def _one(scorer: Prepared, rows: list[Response], kinds: tuple[str, ...], seed: int) -> tuple[list[BlindRow], int]:
    every = (*kinds, *HARMLESS)
    if not scorer.reads:
        return _silent(scorer, every, "it reads no text of an answer"), len(rows)
    usable = [row for row in rows if (text_of(row, scorer.reads) or "").strip()]
    if not usable:
        return _silent(scorer, every, _NOTHING[scorer.reads]), len(rows)
    whole = [with_text(r, scorer.reads, text_of(r, scorer.reads) or "") for r in usable]
    first = scorer.call(whole)
    if np.isnan(first.values).all():
        if first.error is not None:
            told = f"{scorer.name} fails on all of {count_of(len(usable), 'answer')}: {first.error}"
            raise MetricError(told, expected="a number for some of them", do="leave it out, or mend it")
        return _silent(scorer, every, first.lack or "it gives no answer a score"), len(rows)
    plan = _Plan(scorer, usable, every, seed)
    plan.plant()
    after = {kind: _scores(plan, kind) for kind in every}
    if scorer.low is None and _never_moves(first, after):
        return _silent(scorer, every, "it gives every answer the same score, damaged or not"), len(rows)
    low = _lowest(scorer, first, after)
    roomy = ~np.isnan(first.values) & (first.values > low)
    again = scorer.call(whole).values
    bound = noise_bound(first.values[roomy], again[roomy])
    out = [_row(plan, kind, first.values, after[kind], roomy, low, bound) for kind in every]
    return out, len(rows) - int(roomy.sum())


def _silent(scorer: Prepared, kinds: Sequence[str], why: str) -> list[BlindRow]:
    nothing = cell(*(np.empty(0),) * 3, 0.0, 0.0)._replace(why=why, enough=None)
    return [BlindRow(scorer.name, kind, scorer.reads, nothing, None, 0) for kind in kinds]


def _scores(plan: _Plan, kind: str) -> Scored:
    reads = plan.scorer.reads
    return plan.scorer.call([with_text(plan.rows[i], reads, d.text) for i, d in plan.damaged[kind]])


def _lowest(scorer: Prepared, first: Scored, after: Mapping[str, Scored]) -> float:
    """Declared lowest value; where none is declared, what answers get after the kind of damage that costs most.

    The median over answers: without bounds, the single worst value may be any number (an error rate after padding).
    """
    if scorer.low is not None and math.isfinite(scorer.low):
        return scorer.low
    scored = [v for v in (s.values[~np.isnan(s.values)] for s in (first, *after.values())) if v.size]
    return float(min(np.median(v) for v in scored))


def _never_moves(first: Scored, after: Mapping[str, Scored]) -> bool:
    """Whether all get the same score, damaged or not: that is blind at its top, and no room to fall at its bottom."""
    every = np.concatenate([first.values, *(s.values for s in after.values())])
    return bool(np.ptp(every[~np.isnan(every)]) == 0)


def _row(  # noqa: PLR0917 - the arrays of one scorer
    plan: _Plan, kind: str, first: Floats, after: Scored, roomy: np.ndarray, low: float, bound: float
) -> BlindRow:
    values = np.where(after.unread, low, after.values)  # an answer that cannot be read counts as 0 in an aggregate
    places = np.array([i for i, _ in plan.damaged[kind]], int)
    size = np.array([d.size for _, d in plan.damaged[kind]], float)
    could = roomy[places]
    keep = could & ~np.isnan(values)
    found = cell(first[places[keep]], values[keep], size[keep], low, bound)
    if found.n == 0:
        why = _nothing_to_judge(plan, kind, int(roomy.sum()), int(could.sum()))
        found = found._replace(why=why)
    noise = bound if math.isfinite(bound) else None
    return BlindRow(plan.scorer.name, kind, plan.scorer.reads, found, noise, int(could.sum()))


def _nothing_to_judge(plan: _Plan, kind: str, roomy: int, could: int) -> str:
    if roomy == 0:
        return "no answer scores above the lowest value, so none can fall"
    if could:
        return "no damaged answer got a score"
    if not plan.whys[kind]:
        return "the damage can be done only to answers whose score cannot fall"
    why, count = plan.whys[kind].most_common(1)[0]
    return f"{why} ({count} of {len(plan.rows)} answers)"
