"""Lines of the user's: where each stood at the look before, and which are newly crossed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from foreshock._base import AlarmsConfig
from foreshock.alarms._looks import LineLook, LineState, cut, now
from foreshock.alarms._mute import muted_until, today
from foreshock.alarms._state import Memory, append, read_memory
from foreshock.records import Finding
from foreshock.store import Store

CROSSED, TOLD, MUTED = "crossed", "told", "muted"


class KeptLine(NamedTuple):
    """What is remembered of one line.

    Attributes:
        muted: The day up to which it is muted; None where it is not.
        new: Whether it is crossed, not muted, and nobody was told since it came to be crossed.
    """

    muted: str | None
    new: bool


def keep_lines(
    store: Store, findings: Iterable[Finding], settings: AlarmsConfig, *, partial: bool = False
) -> dict[str, KeptLine]:
    """Keep where lines stand, as far as that is new, and say which of them are muted or newly crossed.

    Nothing is spent: a line is a decision of the user's about one score, and no rate over looks hangs on it. A line
    that is crossed stays new until :func:`tell_lines` says that it was handed on, whoever else looks meanwhile.

    Args:
        store: Where the ledger is.
        findings: Findings FS403, whose verdicts say where the lines stand.
        settings: What is muted.
        partial: Whether some models of the lines may be left out; then what is known of a line stays as it is.

    Returns:
        By id of the finding.

    Raises:
        StoreError: A stream is damaged or cannot be written.
    """
    memory = read_memory(store)
    before, day = memory.lines, today()
    found: dict[str, KeptLine] = {}
    changed: list[LineState] = []
    for finding in findings:
        muted, known = muted_until(memory, settings.muted, finding.id, day), before.get(finding.id)
        state = _state(finding, muted, known)
        if known is None or (not partial and known.state != state.state):
            changed.append(state)
        found[finding.id] = KeptLine(muted, state.state == CROSSED)
    _keep(store, memory, changed)
    return found


def tell_lines(store: Store, ids: Iterable[str]) -> bool:
    """Keep that somebody was told of lines that are crossed, and say whether that was new.

    Raises:
        StoreError: A stream is damaged or cannot be written.
    """
    memory, told = read_memory(store), set(ids)
    lines = [one for name, one in memory.lines.items() if name in told and one.state == CROSSED]
    _keep(store, memory, [msgspec.structs.replace(one, state=TOLD) for one in lines])
    return bool(lines)


def _state(finding: Finding, muted: str | None, known: LineState | None) -> LineState:
    about, state = finding.subject, finding.verdict or "cannot tell"
    if state == CROSSED and muted is not None:
        state = MUTED
    elif state == CROSSED and known is not None and known.state == TOLD:
        state = TOLD
    return LineState(
        id=finding.id,
        task=cut(about.task or ""),
        family=cut(about.model_family or ""),
        metric=cut(about.metric or ""),
        state=state,
    )


def _keep(store: Store, memory: Memory, changed: list[LineState]) -> None:
    if changed:
        append(store, LineLook(seq=memory.next_seq, at=now(), lines=sorted(changed, key=lambda one: one.id)))
