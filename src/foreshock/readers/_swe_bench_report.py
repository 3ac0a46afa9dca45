"""Lists of instances in a SWE-bench report, in the spellings of all its versions, as one state for each instance."""

from __future__ import annotations

from typing import Any, NamedTuple

from foreshock._base import count_of
from foreshock.readers._json import text
from foreshock.readers._plain import Json, mapping, number, texts, whole
from foreshock.readers._rows import item_name
from foreshock.records import Delivery

RESOLVED, UNRESOLVED = "resolved", "unresolved"
# in the order of precedence: what stopped an instance says more than that it is not resolved
_LISTS: dict[str, tuple[str, ...]] = {
    RESOLVED: ("resolved_ids", "resolved"),
    "empty_patch": ("empty_patch_ids", "no_generation"),
    "error": (
        *("error_ids", "error", "no_logs", "install_fail", "reset_failed", "test_errored", "no_apply"),
        *("infra_failure_ids", "ambiguous_failure_ids"),
    ),
    "timeout": ("test_timeout",),
    "incomplete": ("incomplete_ids",),
    UNRESOLVED: ("unresolved_ids", "unresolved"),
}
# instances of which only this is known were evaluated or handed in, and are not resolved
_EVALUATED = ("completed_ids", "with_logs", "applied")
_SUBMITTED = ("submitted_ids", "generated")
_DELIVERY = {
    RESOLVED: Delivery.OK,
    UNRESOLVED: Delivery.OK,
    "empty_patch": Delivery.MISSING,
    "incomplete": Delivery.MISSING,
    "error": Delivery.ERROR,
    "timeout": Delivery.TIMEOUT,
}


class Outcome(NamedTuple):
    """What became of one instance.

    Attributes:
        state: ``resolved``, ``unresolved``, ``empty_patch``, ``error``, ``timeout``, ``incomplete``, or ``submitted``
            where nothing says how it went.
        tests: Share of tests passed among those that should start to pass and those that should go on passing.
        more: What else is logged of it.
    """

    state: str
    tests: dict[str, float] = {}  # noqa: RUF012 - never changed
    more: Json = {}  # noqa: RUF012 - never changed

    @property
    def delivery(self) -> Delivery:
        """Only a patch that was evaluated is a response with a score; an empty one was not delivered."""
        return _DELIVERY.get(self.state, Delivery.OK)


class Report(NamedTuple):
    """One report.

    Attributes:
        outcomes: By instance.
        counts: Numbers as logged (``total_instances`` and the like).
        lists_unresolved: Whether the instances that are not resolved are known one by one.
        warnings: What does not fit together.
    """

    outcomes: dict[str, Outcome]
    counts: dict[str, int]
    lists_unresolved: bool
    warnings: list[str]


def report_of(found: Json) -> Report:
    """A report from its lists."""
    outcomes: dict[str, Outcome] = {}
    contradicted = 0
    for state, names in _LISTS.items():
        for name in names:
            for instance in _ids(found.get(name)):
                before = outcomes.setdefault(instance, Outcome(state, more=_why(state, name)))
                contradicted += RESOLVED in (before.state, state) and before.state != state
    evaluated = {i for name in _EVALUATED for i in _ids(found.get(name))}
    for instance in sorted(evaluated - outcomes.keys()):
        outcomes[instance] = Outcome(UNRESOLVED)
    listed = bool(evaluated) or any(isinstance(found.get(n), list) for n in _LISTS[UNRESOLVED])
    for name in _SUBMITTED:
        for instance in _ids(found.get(name)):
            outcomes.setdefault(instance, Outcome("submitted"))
    counts = {k: n for k, v in found.items() if k.endswith("_instances") and (n := whole(v)) is not None and n >= 0}
    warnings = []
    if contradicted:
        warnings.append(
            f"{count_of(contradicted, 'instance')} listed as resolved and as something else: resolved is kept"
        )
    resolved = sum(o.state == RESOLVED for o in outcomes.values())
    if outcomes and counts.get("resolved_instances", resolved) != resolved:
        warnings.append(f"{counts['resolved_instances']} resolved instances are announced and {resolved} are listed")
    return Report(outcomes, counts, listed, warnings)


def _ids(value: Any) -> list[str]:
    return [item_name(text(v)) for v in texts(value) if v] if isinstance(value, list) else []


def _why(state: str, name: str) -> Json:
    return {"listed": name} if state == "error" and name != "error_ids" else {}


def details_of(found: Json) -> dict[str, Outcome]:
    """Outcomes from a map of instances to objects with ``resolved``: reports of single instances, details of a run."""
    outcomes = {}
    for instance, given in found.items():
        said = mapping(given)
        resolved = said.get("resolved")
        if not isinstance(resolved, bool):
            continue
        state = RESOLVED if resolved else UNRESOLVED
        if not resolved and (said.get("patch_is_None") is True or said.get("patch_exists") is False):
            state = "empty_patch"
        elif not resolved and said.get("patch_successfully_applied") is False:
            state = "error"
        more: Json = {k: v for k in ("cost", "api_calls") if (v := number(said.get(k))) is not None}
        if state == "error":
            more["listed"] = "patch_successfully_applied"
        outcomes[item_name(text(instance))] = Outcome(state, _tests(said.get("tests_status")), more)
    return outcomes


def _tests(found: Any) -> dict[str, float]:
    shares = {}
    for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        group = mapping(mapping(found).get(name))
        passed, failed = (len(v) if isinstance(v, list) else 0 for v in (group.get("success"), group.get("failure")))
        if passed + failed:
            shares[name.lower()] = passed / (passed + failed)
    return shares
