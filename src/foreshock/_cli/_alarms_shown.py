"""A look of `foreshock alarms` and `watch` in a terminal: lines of the settings, alarms, what cannot be watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from foreshock._base import count_of
from foreshock.report import one_line, promises_of

if TYPE_CHECKING:
    from rich.console import Console

    from foreshock.check import AlarmLook

_REASONS = 3
# what a person must see comes first
_ANSWERS = ("crossed", "at the line", "near", "cannot tell", "later", "not in sight")


def show_alarms(out: Console, look: AlarmLook, *, show_all: bool = False) -> None:
    """Print where lines stand, what fires, what waits, and how many series are on their trend or cannot be watched."""
    _show_lines(out, look)
    rows = look.watch.rows()
    by_state: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_state.setdefault(row["state"], []).append(row)
    if not rows:
        out.print("Nothing can be watched: no metric has two models or runs on one line. See: foreshock models")
    shown = ("firing", "pending", "muted", *(("ok",) if show_all else ()))
    for state in shown:
        for row in by_state.get(state, []):
            _show_row(out, row)
    told = [
        f"{len(by_state[state])} {state}"
        for state in ("firing", "pending", "muted", "ok", "no-data")
        if by_state.get(state)
    ]
    if rows:
        out.print(f"{count_of(len(rows), 'series', 'series')}: {', '.join(told)}.", soft_wrap=True)
    _show_unwatched(out, by_state.get("no-data", []))
    for promise in promises_of(rows):
        out.print(f"    {one_line(promise, 600)}", soft_wrap=True)
    _show_budget(out, look)


def warn_idle(out: Console, rows: Iterable[dict[str, Any]]) -> None:
    """Warn of entries of the settings that fit nothing (rows of the table ``idle_settings``)."""
    for row in rows:
        name, why = one_line(row["name"], 120), one_line(row["message"], 600)
        out.print(f"warning: {row['setting']} {name!r}: {why}", soft_wrap=True)


def _show_lines(out: Console, look: AlarmLook) -> None:
    """Where each line of the settings stands, those that press first."""
    crossings = sorted(look.lines.tables.get("crossings", []), key=lambda row: _ANSWERS.index(row["answer"]))
    advice = {finding.id: finding.advice for finding in look.lines.findings}
    for row in crossings:
        name = f"{one_line(row['task'])} · {one_line(row['family'])} · {one_line(row['metric'])}"
        answer = row["answer"].upper() if row["muted_until"] is None else f"MUTED ({row['answer']})"
        out.print(f"{row['finding_id']}  {answer}  {name}", soft_wrap=True)
        out.print(f"    {one_line(row['why'], 600)}", soft_wrap=True)
        out.print(f"    {one_line(advice[row['finding_id']] or '', 600)}", soft_wrap=True)
    for one in look.lines.idle:
        out.print(f"NO DATA  {one_line(one.name)}", soft_wrap=True)
        out.print(f"    no score is held against this line: {one_line(one.why, 600)}", soft_wrap=True)
    if crossings or look.lines.idle:
        states = [row["answer"] if row["muted_until"] is None else "muted" for row in crossings]
        order = [*_ANSWERS, "muted"]
        told = [f"{states.count(state)} {state}" for state in order if state in states]
        told += [f"{len(look.lines.idle)} without any score"] if look.lines.idle else []
        out.print(f"{count_of(len(crossings) + len(look.lines.idle), 'line')} of the settings: {', '.join(told)}.")


def _show_row(out: Console, row: dict[str, Any]) -> None:
    name = f"{one_line(row['task'])} · {one_line(row['family'])} · {one_line(row['metric'])}"
    also = f" (and {', '.join(one_line(one) for one in row['also'])})" if row["also"] else ""
    guarantee = "guaranteed" if row["guaranteed"] else "unguaranteed"
    out.print(f"{row['id']}  {row['state'].upper()}  {name}{also}", soft_wrap=True)
    facts = [
        None if row["since"] is None else f"since {one_line(row['since'])}",
        _against(row["statistic"], row["threshold"]),
        None if row["q"] is None else f"q {row['q']:.2g}",
        None if row["ledger"] is None else f"ledger: {row['ledger']}",
        guarantee if row["unguaranteed"] is None else f"{guarantee}: {one_line(row['unguaranteed'])}",
        None if row["muted_until"] is None else f"muted until {row['muted_until']}",
    ]
    out.print(f"    {'; '.join(fact for fact in facts if fact)}", soft_wrap=True)
    out.print(f"    {one_line(row['title'], 400)}", soft_wrap=True)
    if row["state"] != "ok":
        out.print(f"    {one_line(row['advice'], 600)}", soft_wrap=True)


def _against(statistic: float | None, threshold: float | None) -> str | None:
    if statistic is None or threshold is None:
        return None
    return f"statistic {statistic:.3g} against {threshold:.3g}"


def _show_unwatched(out: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Why series cannot be watched, the most frequent reasons first."""
    reasons: dict[str, int] = {}
    for row in rows:
        told = "; ".join(f"{n['what']}: {n['have']:g} of {n['enough']:g}" for n in row["needs"] if _known(n))
        reasons[told or row["title"]] = reasons.get(told or row["title"], 0) + 1
    ordered = sorted(reasons.items(), key=lambda kv: (-kv[1], kv[0]))
    for reason, count in ordered[:_REASONS]:
        out.print(f"    {count} not watched: {one_line(reason, 300)}", soft_wrap=True)
    if len(ordered) > _REASONS:
        out.print(f"    ... and {count_of(len(ordered) - _REASONS, 'more reason')}; --json has all of them")


def _known(need: dict[str, Any]) -> bool:
    return need["have"] is not None and need["enough"] is not None


def _show_budget(out: Console, look: AlarmLook) -> None:
    budget = look.watch.ledger.budget()
    out.print(f"Ledger: {budget['sentence']}.", soft_wrap=True)
    if budget["repeated"]:
        out.print("    These data were looked at before: nothing was spent.")
    out.print(
        f"    budget at {budget['level']:g}: LORD++ spent {budget['lord_spent']:.3g}, next look gets "
        f"{budget['lord_next_level']:.2g}; e-LOND spent {budget['e_lond_spent']:.0%} of its shares, next look gets "
        f"{budget['e_lond_next_level']:.2g}",
        soft_wrap=True,
    )
