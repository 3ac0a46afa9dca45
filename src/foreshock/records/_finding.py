"""One answer, in the form in which every room gives it and every report shows it."""

from __future__ import annotations

from typing import Any

import msgspec

from foreshock._base import digest
from foreshock.records._states import State


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a finding is about; fields that do not apply are null."""

    task: str | None = None
    suite: str | None = None
    model_family: str | None = None
    model: str | None = None
    release: str | None = None
    metric: str | None = None
    axis: str | None = None
    generator: str | None = None
    runs: list[str] = []


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """A size with its interval at ``level``; an unbounded side is null with ``infinite`` set."""

    name: str
    unit: str
    value: float | None
    low: float | None
    high: float | None
    level: float = 0.95
    infinite: bool = False


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """The false-alarm rate of the flag: stated before the data came, and measured on ``n`` null worlds."""

    stated: float | None = None
    measured: float | None = None
    n: int | None = None


class Dummy(msgspec.Struct, frozen=True, kw_only=True):
    """A trivial rule under the same conditions, and how much better the finding's rule is."""

    name: str
    value: float | None
    gain: float | None


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """What is lacking, what there is and how much would be enough."""

    what: str
    have: float | None
    enough: float | None


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """Another explanation; ``status`` is ruled-out, possible or unchecked."""

    name: str
    status: str
    why: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A response that a person can open."""

    run: str
    item: str | None
    epoch: int | None
    what: str


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a fit repeatable."""

    data_hash: str
    seed: int
    starts: int | None = None
    objective: float | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One answer with its null, its rate and what to do now.

    Attributes:
        code: ``FS301`` and the like; each has a page in the docs.
        subject: What it is about.
        state: Only ``firing`` counts for exit codes; ``no-data`` is never green.
        verdict: The room's own word (``mirage``, ``break``, ...).
        title: One plain sentence that a stranger understands.
        effect: Size with interval.
        p, q, e: p-value, adjusted p-value, e-value, where they exist.
        null: The null hypothesis and its exchangeable unit, in words.
        replicates: Draws behind ``p`` or the interval.
        rate: False-alarm rate.
        dummies: Trivial rules raced against (``dummy`` in JSON).
        needs: What would be enough, when the data are not.
        alternatives: Other explanations and whether each was checked.
        evidence: The most telling responses; ``evidence_total`` says how many there are.
        fit: What makes the number repeatable.
        advice: What to do now.
    """

    code: str
    subject: Subject
    state: State
    verdict: str | None = None
    title: str
    effect: Effect | None = None
    p: float | None = None
    q: float | None = None
    e: float | None = None
    null: str | None = None
    replicates: int | None = None
    rate: Rate = Rate()
    dummies: list[Dummy] = msgspec.field(default_factory=list, name="dummy")
    needs: list[Need] = []
    alternatives: list[Alternative] = []
    evidence: list[Evidence] = []
    evidence_total: int = 0
    fit: Fit | None = None
    advice: str
    id: str = ""

    def __post_init__(self) -> None:
        """Derive the id from code and subject, so that the same question keeps its id over releases."""
        if not self.id:
            msgspec.structs.force_setattr(self, "id", digest([self.code, msgspec.to_builtins(self.subject)], 12))


class TrustCard(msgspec.Struct, frozen=True, kw_only=True):
    """The first answer per task: six lights with one plain sentence each.

    Attributes:
        task: Task the card is about.
        lights: Light name (``delivered, metric, resolution, headroom, comparable, trend``) to
            ``{"state": ok|warn|firing|no-data, "text": sentence}``, in that order.
    """

    task: str
    lights: dict[str, dict[str, str]]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What every command writes with ``--json`` and what the HTML report is drawn from.

    Attributes:
        schema: Version of this form.
        foreshock: Version of the program.
        command: Arguments of the command.
        generated_at: The only wall-clock value; honours SOURCE_DATE_EPOCH.
        counts: See :class:`Counts`, over all runs looked at.
        findings: All answers.
        tables: Name to list of row objects; see ``docs/json.md`` for the tables of each command.
    """

    schema: int = 1
    foreshock: str
    command: list[str]
    generated_at: str
    counts: dict[str, int | None]
    findings: list[Finding] = []
    tables: dict[str, list[dict[str, Any]]] = {}
