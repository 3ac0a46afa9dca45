"""What `meta` found, in sentences and in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from foreshock._base import count_of
from foreshock.mirage import NO_ERRORS, Meta, Swap
from foreshock.records import Document
from foreshock.report import one_line

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 12
_RULES = {
    "list": "on the list",
    "score": "emergence score beyond a steady rise between the same ends (p <= 0.05)",
    "verdict": "verdict mirage or break for the hard metric, break for its twin",
}


def opening(found: Meta, exchanged: Swap) -> list[dict[str, Any]]:
    """Rows of the table ``opening``: what can be said, what cannot, and why."""
    rows = [_row("can", sentence(row)) for row in found.rows() if row["odds_ratio_low"] is not None]
    rows += [_row("cannot", f"{row['kind']}: {row['note']}") for row in found.rows() if row["note"]]
    if exchanged.pairs:
        rows.append(_row("can", swap_sentence(exchanged.row())))
    else:
        rows.append(_row("cannot", exchanged.row()["note"]))
    if found.silent:
        rows.append(_row("needs", silent_sentence(found.silent)))
        if NO_ERRORS in found.silent:
            rows.append(_row("needs", "--errors scatter judges all series by their scatter about a straight line"))
    return rows


def _row(kind: str, text: str) -> dict[str, Any]:
    return {"kind": kind, "text": text, "do": None}


def sentence(row: Mapping[str, Any]) -> str:
    """A kind's share of what is emergent, against its base rate."""
    unit = "tasks" if row["by"] == "list" else "triplets"
    noun = "is" if "+" not in row["kind"] else "are"
    return (
        f"{row['kind']} {noun} {row['emergent_of_kind']:,} of {row['emergent']:,} emergent {unit} "
        f"({_percent(row['share_emergent'])}) and {row['others_of_kind']:,} of the other {row['others']:,} "
        f"({_percent(row['share_others'])}; of all {_percent(row['share_all'])}): odds ratio {_odds(row)}, "
        f"p = {_p(row['p'])}, "
        f"{_p(row['p_adjusted'])} after {count_of(row['looks'], 'look')}, {_p(row['p_tasks'])} for whole tasks"
    )


def swap_sentence(row: Mapping[str, Any]) -> str:
    """What exchanging the metric did."""
    before = row["both"] + row["removed"]
    if not before:
        return f"exchange the metric of {count_of(row['pairs'], 'pair')}: none is emergent under its hard metric"
    said = (
        f"exchange the metric of {count_of(row['pairs'], 'pair')}: {row['removed']:,} of {before:,} are emergent "
        f"no more ({_percent(row['share_removed'])}, {_percent(row['share_removed_low'])} to "
        f"{_percent(row['share_removed_high'])}); {row['gained']:,} become so"
    )
    return f"{said}; {row['note']}" if row["p"] is None else f"{said}; McNemar's exact p = {_p(row['p'])}"


def silent_sentence(silent: Mapping[str, int]) -> str:
    """Why some triplets could not be told, most frequent reason first."""
    ordered = sorted(silent.items(), key=lambda kv: (-kv[1], kv[0]))
    told = "; ".join(f"{n:,}: {one_line(why, 200)}" for why, n in ordered[:3])
    rest = f"; and {len(ordered) - 3:,} more reasons" if len(ordered) > 3 else ""
    return f"{count_of(sum(silent.values()), 'triplet')} could not be told ({told}{rest})"


def show_meta(out: Console, document: Document) -> None:
    """Print what was found, for a person."""
    tables = document.tables
    for note in tables["notes"]:
        _say(out, note["text"])
    rows = tables["meta"]
    if not any(row["emergent"] is not None for row in tables["triplets"]):
        _say(out, "Nothing can be told: no task, metric and family of which it is known whether it is emergent.")
    else:
        _say(out, f"Emergent: {_RULES[rows[0]['by']]}. {_chance(tables['triplets'], rows[0])}")
        _kinds(out, rows)
        _clusters(out, rows[0])
        _exchange(out, tables["swap"][0])
    _predicted(out, tables["predictions"])
    out.print()
    for row in tables["opening"]:
        if row["kind"] == "needs":
            _say(out, row["text"])


def _chance(triplets: Iterable[Mapping[str, Any]], row: Mapping[str, Any]) -> str:
    told = [one for one in triplets if one["emergent"] is not None]
    hits = [one for one in told if one["emergent"]]
    some, every = ({one["metric"] for one in among} for among in (hits, told))
    whole = count_of(len(told), "task" if row["by"] == "list" else "triplet")
    said = f"{len(hits):,} of {whole} are, under {len(some):,} of {count_of(len(every), 'metric')}"
    return f"{said}." if row["by_chance"] is None else f"{said}; {row['by_chance']:.1f} would be by chance alone."


def _kinds(out: Console, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    out.print("\nKinds of metrics among what is emergent, and among the rest", style="bold")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("kind", "emergent", "others", "odds ratio", "p", "adjusted"):
        table.add_column(name, overflow="fold", justify="left" if name == "kind" else "right")
    for row in rows[:_SHOWN]:
        table.add_row(
            one_line(row["kind"], 80),
            f"{row['emergent_of_kind']:,}/{row['emergent']:,} {_percent(row['share_emergent'])}",
            f"{row['others_of_kind']:,}/{row['others']:,} {_percent(row['share_others'])}",
            "-" if row["note"] else _odds(row),
            _p(row["p"]),
            _p(row["p_adjusted"]),
        )
    out.print(table)
    looks, level = count_of(rows[0]["looks"], "look"), rows[0]["level"]
    _say(out, f"p: Fisher's exact test; adjusted: Holm over {looks}. Intervals: exact, {level:.0%}.")
    for row in rows[:_SHOWN]:
        if row["note"]:
            _say(out, f"{row['kind']}: {row['note']}")


def _clusters(out: Console, row: Mapping[str, Any]) -> None:
    """What it does that triplets of one task and of one family move together, for the first kind."""
    if row["odds_ratio_low"] is None:
        return
    out.print(f"\nWhat moves together ({one_line(row['kind'], 80)})", style="bold")
    _say(out, f"Unit: {row['unit']}.")
    if row["p_tasks"] is not None:
        _say(
            out,
            f"Whole tasks exchanged: p = {_p(row['p_tasks'])} (design effect {row['design_effect']:.2g} over "
            f"{count_of(row['units'], 'unit')}).",
        )
    if row["families"]:
        said = f"Families: {row['families_above']:,} of {row['families']:,} have an odds ratio above 1"
        if row["p_families"] is not None:
            least = 2.0 ** (1 - row["families"])
            said += f" (sign test p = {_p(row['p_families'])}; so few cannot give less than {_p(min(1.0, least))})"
        if row["by_family"]:
            ends = f"{_ratio(row['without_one_low'])} to {_ratio(row['without_one_high'])}"
            said += f"; with one left out it is {ends}"
        _say(out, f"{said}.")


def _exchange(out: Console, row: Mapping[str, Any]) -> None:
    out.print("\nThe hard metric exchanged for a continuous one of the same outputs", style="bold")
    if not row["pairs"]:
        _say(out, f"{row['note']}.")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "still emergent", "not any more"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_row("emergent before", f"{row['both']:,}", f"{row['removed']:,}")
    table.add_row("not before", f"{row['gained']:,} (became so)", f"{row['neither']:,}")
    out.print(table)
    said = swap_sentence(row)
    _say(out, f"{said[0].upper()}{said[1:]}.")
    _say(out, f"{row['rule'][0].upper()}{row['rule'][1:]}.")
    if row["p_families"] is not None:
        _say(
            out,
            f"Families: more removed than gained in {row['families_removed']:,}, fewer in {row['families_gained']:,} "
            f"of {row['families']:,} (sign test p = {_p(row['p_families'])}).",
        )


def _predicted(out: Console, rows: list[dict[str, Any]]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    touched = [row for row in rows if row["n"]]
    if not touched:
        return
    out.print("\nWhat was predicted", style="bold")
    for row in touched:
        out.print(Text(f"{row['answer']}: {one_line(row['said'])}"))
        ends = "" if row["low"] is None else f" ({_ratio(row['low'])} to {_ratio(row['high'])})"
        figure = f"{row['unit']} {_ratio(row['figure'])}{ends}; " if ends else ""
        enough = f"; enough: {row['enough']}" if row["enough"] else ""
        out.print(Padding(Text(one_line(f"{figure}{row['why']}{enough}")), (0, 0, 0, 2), expand=False))
    if left := len(rows) - len(touched):
        _say(out, f"{count_of(left, 'prediction')} more need data that is not here: --json lists them.")


def _say(out: Console, text: str) -> None:
    out.print("\n".join(one_line(line) for line in text.split("\n")))


def _odds(row: Mapping[str, Any]) -> str:
    return f"{_ratio(row['odds_ratio'])} ({_ratio(row['odds_ratio_low'])} to {_ratio(row['odds_ratio_high'])})"


def _percent(share: float | None) -> str:
    # halves are rounded up, as people do: 71.25% is 71.3%
    return "-" if share is None else f"{math.floor(share * 1000 + 0.5) / 10:.1f}%"


def _ratio(x: float | None) -> str:
    """A figure of three digits; an end that is not there is infinite."""
    if x is None or math.isinf(x):
        return "inf"
    return f"{x:.3g}" if abs(x) < 1000 else f"{x:,.0f}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.2g}" if p >= 1e-4 else f"{p:.0e}"
