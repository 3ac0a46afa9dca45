"""A document sorted for reading: what can be said first, what cannot be told folded by its reason, rows by finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from foreshock._base import digest
from foreshock.records import Document, Finding, Need, State
from foreshock.report._format import number, plural
from foreshock.report._rows import ModelRow, MovedRow, RunRow, SeriesRow, Tables, TrustRow, VerdictRow, read_tables
from foreshock.report._safe import encode
from foreshock.report._words import LIGHTS, VERDICTS

_STATE_ORDER = {State.FIRING: 0, State.PENDING: 1, State.OK: 2, State.NO_DATA: 3, State.WITHHELD: 4}
_VERDICT_ORDER = {word: place for place, word in enumerate(VERDICTS)}
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
LIGHT_ORDER = {"firing": 0, "warn": 1, "no-data": 2, "ok": 3}


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with the rows that belong to it.

    Attributes:
        finding: The finding.
        anchor: Its URL fragment: the finding's id.
        verdict: Its line of the verdict table.
        series: Its series, hard metric first.
        moved: Its items that moved.
    """

    finding: Finding
    anchor: str
    verdict: VerdictRow | None
    series: list[SeriesRow]
    moved: list[MovedRow]

    @property
    def word(self) -> str:
        """What stands on its badge: the verdict, or the state where there is none."""
        return self.finding.verdict or self.finding.state.value

    @property
    def told(self) -> bool:
        """Whether the finding says something; otherwise it is folded."""
        silent = self.finding.state in (State.NO_DATA, State.WITHHELD)
        return not silent and self.finding.verdict != "unresolved"

    @property
    def reason(self) -> str:
        """Why it does not."""
        if self.verdict and self.verdict.reason:
            return self.verdict.reason
        return self.finding.needs[0].what if self.finding.needs else self.finding.title

    @property
    def needs(self) -> list[str]:
        """What it lacks, one sentence each."""
        return [_lacking(need) for need in self.finding.needs]

    @property
    def about(self) -> str:
        """The rest of its subject in one line: metric, axis, release, runs."""
        subject = self.finding.subject
        named = (("", subject.metric), ("by ", subject.axis), ("release ", subject.release), ("suite ", subject.suite))
        parts = [lead + value for lead, value in named if value]
        if subject.runs:
            runs = ", ".join(subject.runs[:3]) + (", …" if len(subject.runs) > 3 else "")
            parts.append(f"{plural(len(subject.runs), 'run')} ({runs})")
        return ", ".join(parts)

    @property
    def place(self) -> str:
        """Subject in one line: task, family, model, metric."""
        subject = self.finding.subject
        parts = (subject.task or subject.suite, subject.model_family, subject.model, subject.generator)
        return " · ".join(part for part in parts if part) or self.finding.title


@dataclass(frozen=True, slots=True)
class Fold:
    """Findings that cannot be told for one and the same reason."""

    reason: str
    shown: list[Shown]

    @property
    def remedies(self) -> list[str]:
        """What would resolve them: distinct needs and advice, at most five lines."""
        needs = dict.fromkeys(said for shown in self.shown for said in shown.needs)
        advice = dict.fromkeys(shown.finding.advice for shown in self.shown)
        return [*list(needs)[:2], *list(advice)[:3]]


@dataclass(frozen=True, slots=True)
class View:
    """A document, ready to be laid out.

    Attributes:
        document: The document as its own JSON says it: no NaN, plain numbers.
        tables: Its known tables.
        rest: Tables that this version does not know.
        told: Findings that say something, most pressing first.
        folds: The others, by reason, largest fold first.
        stray: Series that belong to no finding.
        trust: Trust cards, most pressing first.
    """

    document: Document
    tables: Tables
    rest: dict[str, list[dict[str, Any]]]
    told: list[Shown]
    folds: list[Fold]
    stray: list[list[SeriesRow]]
    trust: list[TrustRow]

    @property
    def shown(self) -> list[Shown]:
        """All findings, in the order of the report."""
        return [*self.told, *(shown for fold in self.folds for shown in fold.shown)]

    @property
    def anchors(self) -> dict[str, str]:
        """URL fragment of each finding."""
        return {shown.finding.id: shown.anchor for shown in self.shown}

    @property
    def verdicts(self) -> list[VerdictRow]:
        """Lines of the verdict table: what can be said first."""
        last = len(_VERDICT_ORDER)
        return sorted(self.tables.verdicts, key=lambda row: _VERDICT_ORDER.get(row.verdict, last))


def load(document: Document) -> View:
    """Sort a document for reading.

    Raises:
        ForeshockError: A row of a table lacks what the report needs.
    """
    document = msgspec.json.decode(encode(document), type=Document)
    tables, rest = read_tables(document)
    shown = sorted(_join(document, tables), key=_pressing)
    ids = {finding.id for finding in document.findings}
    return View(
        document=document,
        tables=tables,
        rest=rest,
        told=[s for s in shown if s.told],
        folds=_folds([s for s in shown if not s.told]),
        stray=_groups([row for row in tables.series if row.finding_id not in ids]),
        trust=sorted((_in_order(row) for row in tables.trust), key=_light_rank),
    )


def _lacking(need: Need) -> str:
    have = "none yet" if not need.have else f"{number(need.have)} now"
    enough = "how many would do is not known" if need.enough is None else f"{number(need.enough)} would do"
    return f"{need.what}: {have}, {enough}"


def _join(document: Document, tables: Tables) -> list[Shown]:
    verdicts = {row.finding_id: row for row in tables.verdicts}
    roles = {"hard": 0, "counterfactual": 1, "twin": 2}
    shown, used = [], set[str]()
    for finding in document.findings:
        series = [row for row in tables.series if row.finding_id == finding.id]
        shown.append(
            Shown(
                finding=finding,
                anchor=_unique(anchor(finding.id), used),
                verdict=verdicts.get(finding.id),
                series=sorted(series, key=lambda row: roles[row.role]),
                moved=[row for row in tables.moved if row.finding_id == finding.id],
            )
        )
    return shown


def anchor(text: str) -> str:
    """An id as a URL fragment; anything but plain letters and digits is replaced by its hash.

    Examples:
        >>> anchor("3fa29c01b7d4")
        '3fa29c01b7d4'
        >>> anchor('"><script>').isalnum()
        True
    """
    return text if _PLAIN_ID.fullmatch(text) else digest(text, 12)


def item_anchors(shown: Shown) -> list[str]:
    """URL fragments of the items of a finding: the finding's fragment and a hash of the item."""
    used = set[str]()
    return [_unique(f"{shown.anchor}-{digest(row.item, 8)}", used) for row in shown.moved]


def _unique(name: str, used: set[str]) -> str:
    trial, number = name, 2
    while trial in used:
        trial, number = f"{name}-{number}", number + 1
    used.add(trial)
    return trial


def _pressing(shown: Shown) -> tuple[int, int, str, str]:
    finding = shown.finding
    verdict = _VERDICT_ORDER.get(finding.verdict or "", len(_VERDICT_ORDER))
    return _STATE_ORDER[finding.state], verdict, shown.place, finding.id


def _in_order(row: TrustRow) -> TrustRow:
    """The lights in the order in which a person asks; canonical JSON has sorted them by name."""
    names = [*(n for n in LIGHTS if n in row.lights), *(n for n in row.lights if n not in LIGHTS)]
    return msgspec.structs.replace(row, lights={name: row.lights[name] for name in names})


def _light_rank(row: TrustRow) -> tuple[list[int], str]:
    return sorted(LIGHT_ORDER[light.state.value] for light in row.lights.values()), row.task


def _folds(silent: Sequence[Shown]) -> list[Fold]:
    by_reason: dict[str, list[Shown]] = {}
    for shown in silent:
        by_reason.setdefault(shown.reason, []).append(shown)
    return sorted((Fold(reason, members) for reason, members in by_reason.items()), key=lambda f: -len(f.shown))


def _groups(rows: Sequence[SeriesRow]) -> list[list[SeriesRow]]:
    groups: dict[tuple[str, str | None, str], list[SeriesRow]] = {}
    for row in rows:
        groups.setdefault((row.task, row.family, row.axis), []).append(row)
    return list(groups.values())


def headline(view: View) -> str:
    """The report in one sentence: how many series can be judged and what the verdicts are."""
    words = [row.verdict for row in view.tables.verdicts]
    judged = [word for word in words if word != "unresolved"]
    others = sum(1 for shown in view.told if shown.verdict is None)
    tail = f" {plural(others, 'other finding')}." if others else ""
    if not words:
        what = plural(others, "finding") if others else "Nothing"
        return f"{what} to report; no series of models could be put in order."
    if not judged:
        subject = "The one series" if len(words) == 1 else f"None of {len(words):,} series"
        return f"{subject} can{'not' if len(words) == 1 else ''} be judged yet.{tail}"
    order = sorted(set(judged), key=lambda word: (_VERDICT_ORDER.get(word, len(_VERDICT_ORDER)), word))
    parts = ", ".join(f"{judged.count(word):,}\u00a0{word}" for word in order)
    rest = len(words) - len(judged)
    unresolved = f"; {rest:,}\u00a0unresolved" if rest else ""
    return f"{len(judged):,} of {len(words):,} series can be judged: {parts}{unresolved}.{tail}"


def counts_sentence(counts: dict[str, int | None]) -> str:
    """All counts in one sentence; what is not known is called so."""
    parts = []
    for name in ("expected", "delivered", "parsed", "scored", "refused", "error", "missing"):
        value = counts.get(name)
        parts.append(f"{name} not known" if value is None else f"{value:,} {name}")
    return "Responses: " + ", ".join(parts) + "."


def incomplete(row: RunRow | ModelRow) -> bool:
    """Whether the two denominators, expected and delivered, differ."""
    return row.expected is not None and row.delivered is not None and row.expected != row.delivered


def seeds(view: View) -> list[int]:
    """Seeds that the findings name."""
    return sorted({finding.fit.seed for finding in view.document.findings if finding.fit})


def data_hashes(view: View) -> list[str]:
    """Hashes of the data that the findings name."""
    return sorted({finding.fit.data_hash for finding in view.document.findings if finding.fit})
