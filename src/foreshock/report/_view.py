"""A document sorted for reading: what can be said first, what cannot be told folded by its reason, rows by finding."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from foreshock._base import digest
from foreshock.records import Document, Finding, Need, State
from foreshock.report._alike import common_text, without_numbers
from foreshock.report._details import Detail, details
from foreshock.report._format import level, number, plural, quantity
from foreshock.report._rows import MovedRow, SeriesRow, Tables, TrustRow, read_tables
from foreshock.report._rows_mirage import ForeseeableRow, RepeatRow, ResolutionRow, VerdictRow
from foreshock.report._safe import encode
from foreshock.report._words import LIGHTS, VERDICTS

_STATE_ORDER = {State.FIRING: 0, State.PENDING: 1, State.OK: 2, State.NO_DATA: 3, State.WITHHELD: 4}
_VERDICT_ORDER = {word: place for place, word in enumerate(VERDICTS)}
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_COMMAND = re.compile(r"`[^`]*`")
LIGHT_ORDER = {"firing": 0, "warn": 1, "no-data": 2, "ok": 3}


class Opened(NamedTuple):
    """A response to open: model, item, repetition, the beginning of the question, and what is to be seen."""

    model: str
    item: str | None
    epoch: int | None
    question: str | None
    what: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with the rows that belong to it.

    Attributes:
        finding: The finding.
        anchor: Its URL fragment: the finding's id.
        verdict: Its line of the verdict table.
        series: Its series, hard metric first.
        moved: Its items that moved.
        models: Model of each run that the document knows, by run key.
        foreseeable: Whether the models before the onset foretold it.
        resolution: What each model could have scored unseen.
        repeats: What each model scores in several attempts.
    """

    finding: Finding
    anchor: str
    verdict: VerdictRow | None
    series: list[SeriesRow]
    moved: list[MovedRow]
    models: Mapping[str, str]
    foreseeable: ForeseeableRow | None = None
    resolution: Sequence[ResolutionRow] = ()
    repeats: Sequence[RepeatRow] = ()

    @property
    def details(self) -> list[Detail]:
        """What stands behind its verdict; empty for findings that are not about a line of models."""
        if self.verdict is None:
            return []
        return details(self.verdict, self.foreseeable, self.resolution, self.repeats)

    @property
    def command(self) -> str | None:
        """What to run for what it lacks."""
        return self.verdict.command if self.verdict else None

    @property
    def word(self) -> str:
        """What stands on its badge: the verdict, or the state where there is none."""
        return self.finding.verdict or self.finding.state.value

    @property
    def title(self) -> str:
        """Its sentence, without the word that stands on its badge already."""
        return self.finding.title.removeprefix(f"{self.word}: ")

    @property
    def compared(self) -> bool:
        """Whether its evidence are the very items that moved, told there with the replies of both sides."""
        return self.finding.code == "FS901"

    @property
    def told(self) -> bool:
        """Whether the finding says something; otherwise it is folded."""
        silent = self.finding.state in (State.NO_DATA, State.WITHHELD)
        return not silent and self.finding.verdict != "unresolved"

    @property
    def reason(self) -> str:
        """Why it does not; remarks that stand in no verdict's way are left out."""
        if self.verdict and self.verdict.reason:
            return self.verdict.reason.removesuffix(f"; {self.remarks}")
        return self.finding.needs[0].what if self.finding.needs else self.finding.title

    @property
    def remarks(self) -> str | None:
        """What else its reason says."""
        return self.verdict.remarks if self.verdict else None

    @property
    def needs(self) -> list[str]:
        """What it lacks, one sentence each."""
        return [_lacking(need) for need in self.finding.needs]

    @property
    def responses(self) -> list[Opened]:
        """Its evidence with names instead of keys; ``moved`` is in the same order, and shorter.

        Where some have names, those without are left out: a hash is nothing to open.
        """
        found: list[Opened] = []
        for place, evidence in enumerate(self.finding.evidence):
            row = self.moved[place] if place < len(self.moved) else None
            same = row is not None and row.from_model in evidence.what and row.to_model in evidence.what
            found.append(
                Opened(
                    model=self.models.get(evidence.run, evidence.run),
                    item=row.item if row and same else evidence.item,
                    epoch=evidence.epoch,
                    question=row.question if row and same else None,
                    what=evidence.what,
                )
            )
        return [opened for opened in found if opened.question is not None] or found

    @property
    def about(self) -> str:
        """The rest of its subject in one line: metric, axis, release, runs."""
        subject = self.finding.subject
        named = (("", subject.metric), ("by ", subject.axis), ("release ", subject.release), ("suite ", subject.suite))
        parts = [lead + value for lead, value in named if value]
        if subject.runs:
            names = list(dict.fromkeys(self.models.get(run, run) for run in subject.runs))
            shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
            parts.append(f"{plural(len(subject.runs), 'run')} ({shown})")
        return ", ".join(parts)

    @property
    def place(self) -> str:
        """Subject in one line: task, family, model, metric."""
        subject = self.finding.subject
        parts = (subject.task or subject.suite, subject.model_family, subject.model, subject.generator)
        return " · ".join(part for part in parts if part) or self.finding.title


def _in_common(members: Sequence[Shown]) -> str:
    """The reason that findings share, with the remarks where these are all the same."""
    remarks = {shown.remarks for shown in members}
    reason, also = common_text([shown.reason for shown in members]), remarks.pop()
    return f"{reason}; {also}" if also and not remarks else reason


@dataclass(frozen=True, slots=True)
class Fold:
    """Findings that cannot be told for one and the same reason; numbers in which they differ are left out of it."""

    reason: str
    shown: list[Shown]

    @property
    def subject(self) -> str:
        """How many they are, with their noun."""
        return plural(len(self.shown), "line" if self.lines else "finding")

    @property
    def lines(self) -> bool:
        """Whether all of them are about lines of models."""
        return all(shown.verdict for shown in self.shown)

    @property
    def places(self) -> list[str]:
        """Their subjects; with the metric where a task has several."""
        often = Counter(shown.place for shown in self.shown)
        metrics = [shown.finding.subject.metric if often[shown.place] > 1 else None for shown in self.shown]
        return [s.place if m is None else f"{s.place} · {m}" for s, m in zip(self.shown, metrics, strict=True)]

    @property
    def conditional(self) -> list[str]:
        """What totals would say of tokens if all were alike, line by line."""
        told = ((p, s.verdict.conditional_text) for p, s in zip(self.places, self.shown, strict=True) if s.verdict)
        return [f"{place}: {text}" for place, text in told if text]

    @property
    def command(self) -> str | None:
        """The command of the first line, where all have one; a single line has it in its advice."""
        commands = [shown.command for shown in self.shown]
        return commands[0] if len(commands) > 1 and all(commands) else None

    def _advice(self, shown: Shown) -> str:
        """Advice of a line, without the names that set its command apart from the others'."""
        if self.command is None or shown.command is None:
            return shown.finding.advice
        below = "run the command below for each line, with its own task and model"
        said = shown.finding.advice.replace(f"run `{shown.command}`", below)
        task = shown.finding.subject.task
        return _COMMAND.sub(lambda found: _named(found[0], task), said) if task else said

    @property
    def remedies(self) -> list[str]:
        """What would resolve them, at most five: needs of which it is known how much would do, and their advice.

        Advice that differs in numbers only is told once, with the range of them; other advice says for how many.
        """
        known = (need for shown in self.shown for need in shown.finding.needs if need.enough is not None)
        needs = list(dict.fromkeys(without_numbers(_lacking(need)) for need in known))[:2]
        said = [_lacking(need) for shown in self.shown for need in shown.finding.needs if need.enough is not None]
        texts = [common_text([text for text in said if without_numbers(text) == one]) for one in needs]
        alike: dict[str, list[str]] = {}
        for shown in self.shown:
            advice = self._advice(shown)
            alike.setdefault(without_numbers(advice), []).append(advice)
        groups = sorted(alike.values(), key=len, reverse=True)[:3]
        if len(alike) == 1:
            return [*texts, common_text(groups[0])]
        noun = "line" if self.lines else "finding"
        return [*texts, *(f"{plural(len(group), noun)}: {common_text(group)}" for group in groups)]


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

    def without(self, told: Set[str]) -> View:
        """The view without findings that stand elsewhere in the report.

        Args:
            told: Their ids.
        """
        if not told:
            return self
        folds = [Fold(fold.reason, [s for s in fold.shown if s.finding.id not in told]) for fold in self.folds]
        return replace(
            self,
            told=[shown for shown in self.told if shown.finding.id not in told],
            folds=[fold for fold in folds if fold.shown],
        )

    @property
    def about_responses(self) -> bool:
        """Whether its counts mean something: a count of emergence, or a table of curves, is not about responses."""
        return "meta" not in self.document.tables and not (self.tables.curves and not self.tables.runs)

    @property
    def anchors(self) -> dict[str, str]:
        """URL fragment of each finding."""
        return {shown.finding.id: shown.anchor for shown in self.shown}

    @property
    def verdicts(self) -> list[VerdictRow]:
        """Lines of the verdict table: what can be said first."""
        last = len(_VERDICT_ORDER)
        return sorted(self.tables.verdicts, key=lambda row: _VERDICT_ORDER.get(row.verdict, last))

    @property
    def levels(self) -> dict[str, float]:
        """Level of the interval of each finding's effect, by finding."""
        return {f.id: f.effect.level for f in self.document.findings if f.effect}

    def level_of(self, rows: Sequence[VerdictRow]) -> float | None:
        """The level that the intervals of all ``rows`` have; None when it is not known or not one."""
        found = {self.levels.get(row.finding_id) for row in rows if row.share is not None and row.share_low is not None}
        return found.pop() if len(found) == 1 else None

    def share(self, row: VerdictRow, common: float | None) -> str:
        """Share of a line with its interval, and the level where it is not the ``common`` one."""
        own = self.levels.get(row.finding_id)
        text = quantity(row.share, row.share_low, row.share_high, "fraction")
        return text if own in (None, common) or row.share_low is None else f"{text} at {level(own or 0.0)}"


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


def _named(command: str, task: str) -> str:
    """A command in backquotes with TASK in place of the arguments that are a task's name, quoted or not."""
    words = "|".join(re.escape(word) for word in dict.fromkeys((shlex.quote(task), task)))
    return re.sub(rf"(?<=[\s`=])(?:{words})(?=[\s`])", "TASK", command)


def _lacking(need: Need) -> str:
    have = "none yet" if not need.have else f"{number(need.have)} now"
    enough = "how many would do is not known" if need.enough is None else f"{number(need.enough)} would do"
    return f"{need.what}: {have}, {enough}"


def _join(document: Document, tables: Tables) -> list[Shown]:
    verdicts = {row.finding_id: row for row in (*tables.conditions, *tables.verdicts)}
    roles = {"hard": 0, "counterfactual": 1, "twin": 2, "conditional": 3}
    foreseen = {row.finding_id: row for row in tables.foreseeable}
    seen: dict[str | None, list[ResolutionRow]] = {}
    for row in tables.resolution:
        seen.setdefault(row.finding_id, []).append(row)
    repeats: dict[str | None, list[RepeatRow]] = {}
    for one in tables.repeats:
        repeats.setdefault(one.finding_id, []).append(one)
    models = {row.run_key: row.model for row in tables.runs}
    shown, used = [], set[str]()
    for finding in document.findings:
        series = [row for row in tables.series if row.finding_id == finding.id]
        shown.append(
            Shown(
                finding=finding,
                anchor=_unique(anchor(finding.id), used),
                verdict=verdicts.get(finding.id),
                series=sorted(series, key=lambda row: roles[row.role]),
                moved=[row for row in (*tables.moved, *tables.flips) if row.finding_id == finding.id],
                models=models,
                foreseeable=foreseen.get(finding.id),
                resolution=seen.get(finding.id, []),
                repeats=repeats.get(finding.id, []),
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
    alike: dict[str, list[Shown]] = {}
    for shown in silent:
        alike.setdefault(without_numbers(shown.reason), []).append(shown)
    folds = [Fold(_in_common(members), members) for members in alike.values()]
    return sorted(folds, key=lambda fold: -len(fold.shown))


def _groups(rows: Sequence[SeriesRow]) -> list[list[SeriesRow]]:
    groups: dict[tuple[str, str | None, str], list[SeriesRow]] = {}
    for row in rows:
        groups.setdefault((row.task, row.family, row.axis), []).append(row)
    return list(groups.values())
