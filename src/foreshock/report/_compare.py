"""What every form of the report says about comparisons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from foreshock.report._format import MISSING, POINTS, count, equals, level, number, plural, probability, quantity, share
from foreshock.report._rows import Tables
from foreshock.report._rows_compare import BoardRow, CompareRow
from foreshock.report._words import COMPARED

MEANING = {
    "regression": "worse than the baseline, beyond what chance gives",
    "incomplete": "responses did not arrive or have no score; were they wrong, it would be a regression",
    "improvement": "better than the baseline, beyond what chance gives",
    "no-difference": "the whole interval lies within the margin",
    "undecided": "these items cannot tell; it does not mean equal",
}


def compare_headline(tables: Tables) -> str:
    """The answer in one sentence."""
    rows = tables.compare
    if len(rows) == 1:
        return _one(rows[0])
    if not rows:
        return "Nothing was compared."
    told = Counter(row.verdict for row in rows)
    parts = [f"{told[word]:,}\u00a0{COMPARED[word].word}" for word in COMPARED if told[word]]
    tasks, models = len({row.task for row in rows}), len({row.second for row in rows})
    against = rows[0].second if models == 1 else plural(models, "model")
    metrics = sorted({row.metric for row in rows if row.metric})
    by = f" ({metrics[0]})" if len(metrics) == 1 else f" ({len(metrics)} metrics)" if metrics else ""
    return f"{against} against {rows[0].first} on {plural(tasks, 'task')}{by}: {', '.join(parts)}."


def _one(row: CompareRow) -> str:
    size, on = difference(row), _on(row)
    if row.verdict == "incomplete":
        unit = POINTS if row.unit == "fraction" else row.unit
        size = quantity(row.other_difference, row.other_low, row.other_high, unit)
        return f"Incomplete on {on}: {row.second} {_loss(row)}; counted as wrong, {size} against {row.first}."
    if row.verdict == "undecided":
        return f"Undecided on {on}: {row.second} against {row.first}, {size}."
    if row.verdict == "no-difference":
        return f"{row.second} is as good as {row.first} on {on}, within {size_of(row.margin, row)}: {size}."
    word = "better" if row.verdict == "improvement" else "worse"
    return f"{row.second} is {word} than {row.first} on {on}: {size}."


def _loss(row: CompareRow) -> str:
    of = f"of {count(_asked(row.second_expected, row.second_responses))} responses"
    if not row.second_unscored:
        return f"lost {count(row.second_lost)} {of}"
    also = f"lost {count(row.second_lost)} and " if row.second_lost else ""
    return f"{also}has no score for {count(row.second_unscored)} {of}"


def _on(row: CompareRow) -> str:
    """Task and metric on which the verdict rests."""
    told = [*([row.metric] if row.metric else []), *(["totals only, unpaired: weaker"] if row.unpaired else [])]
    return f"{row.task} ({'; '.join(told)})" if told else row.task


def _asked(expected: int | None, responses: int | None) -> int | None:
    return responses if expected is None else max(expected, responses or 0)


def difference(row: CompareRow) -> str:
    """Second minus first with its interval."""
    unit = POINTS if row.unit == "fraction" else row.unit
    text = quantity(row.difference, row.low, row.high, unit)
    return f"+{text}" if (row.difference or 0) > 0 else text


def twin(row: CompareRow) -> str | None:
    """The continuous metric beside it, in one sentence; None without one."""
    if row.twin is None or row.twin_difference is None:
        return None
    unit = POINTS if row.twin_unit == "fraction" else row.twin_unit
    text = quantity(row.twin_difference, row.twin_low, row.twin_high, unit)
    sign = "+" if row.twin_difference > 0 else ""
    return f"twin {row.twin}: {sign}{text}, {equals('p', row.twin_p)}; no verdict rests on it"


def size_of(value: float | None, row: CompareRow) -> str:
    """An unsigned size in points or units."""
    if value is None:
        return MISSING
    return (
        f"{100 * value:.3g} point{'' if round(100 * value, 9) == 1 else 's'}"
        if row.unit == "fraction"
        else number(value)
    )


def values(row: CompareRow) -> str:
    """Both scores."""
    first, second = (quantity(value, unit=row.unit) for value in (row.first_value, row.second_value))
    return f"{first} → {second}"


def used_p(row: CompareRow) -> float | None:
    """The p-value that the verdict rests on."""
    return row.p_bh if row.adjust == "bh" else row.p_holm


def details(row: CompareRow, looks: int) -> list[str]:
    """What stands behind one comparison, most needed first."""
    return [
        line
        for line in (
            _flips(row),
            _power(row),
            _items(row),
            _test(row, looks),
            twin(row),
            _unparsed(row),
            *_lost(row),
            *row.notes,
        )
        if line
    ]


def _flips(row: CompareRow) -> str:
    if row.unpaired:
        return "totals only: the two runs may have answered the same items, but no responses are logged to pair them by"
    same = (row.items or 0) - row.gained - row.lost
    return f"items: {row.gained:,} gained, {row.lost:,} lost, {same:,} as before"


def _power(row: CompareRow) -> str:
    parts: list[str] = []
    if row.unpaired and not row.items:
        return ""
    if row.detectable is None:
        parts.append("these items can show no difference at all")
    else:
        parts.append(f"these items show a difference of {size_of(row.detectable, row)} in 4 of 5 cases")
    if row.needed is not None and row.margin is not None:
        parts.append(f"{size_of(row.margin, row)} would need about {row.needed:,} items")
    return "power: " + "; ".join(parts) if parts else ""


def _items(row: CompareRow) -> str:
    if row.unpaired:
        return ""
    said = f"pairs: {plural(row.items or 0, 'item')} paired by {row.paired_by or 'id'}"
    if row.clustered and row.clusters is not None:
        said += f", in {row.clusters:,} clusters ({row.cluster_kind or 'repeats'})"
    left = [f"{n:,} only in {who}" for n, who in ((row.only_first, row.first), (row.only_second, row.second)) if n]
    return "; ".join([said, *left, *row.refused])


def _test(row: CompareRow, looks: int) -> str:
    if row.unpaired and not row.items:
        return f"test: {row.test}"
    said = f"test: {row.test}; {equals('p', row.p)}"
    if looks > 1:
        said += f" (over {looks} comparisons: Holm {probability(row.p_holm)}, BH {probability(row.p_bh)})"
    if row.p_mcnemar is not None and row.clustered:
        said += f"; McNemar, were all items independent: {probability(row.p_mcnemar)}"
    elif row.p_mid is not None:
        said += f"; mid-p {probability(row.p_mid)}"
    return said


def _unparsed(row: CompareRow) -> str:
    if not (row.first_unparsed or row.second_unparsed):
        return ""
    told = _both(row, (row.first_unparsed, row.second_unparsed), (row.first_responses, row.second_responses))
    return f"no answer found in the reply, counted as wrong: {told}"


def _lost(row: CompareRow) -> list[str]:
    """What did not arrive, what arrived and has no score, and what would follow were it treated otherwise."""
    what = "left out" if row.missing == "drop" else "counted as wrong"
    asked = [_asked(row.first_expected, row.first_responses), _asked(row.second_expected, row.second_responses)]
    told = (
        ("did not arrive", (row.first_lost, row.second_lost)),
        ("arrived without a score", (row.first_unscored, row.second_unscored)),
    )
    lines = [f"{lack}, {what}: {_both(row, numbers, asked)}" for lack, numbers in told if any(numbers)]
    if not row.other_text:
        return lines
    return [*lines[:-1], f"{lines[-1]}. {row.other_text}" if lines else row.other_text]


def _both(row: CompareRow, numbers: Sequence[int | None], of: Sequence[int | None]) -> str:
    sides = zip(numbers, of, (row.first, row.second), strict=True)
    return ", ".join(f"{count(n)} of {count(whole)} in {who}" for n, whole, who in sides)


def board_note(rows: Sequence[BoardRow]) -> list[str]:
    """What a ranking says, in sentences."""
    first = rows[0]
    tied = [row.model for row in rows[1:] if set(row.letters or "") & set(first.letters or "")]
    lines = [
        f"{first.model} is apart from all others"
        if not tied
        else f"{first.model} cannot be told from {', '.join(tied[:3])}{' and others' if len(tied) > 3 else ''}"
    ]
    if first.first_stays is not None:
        lines[0] += f"; it stays first in {share(first.first_stays)} of random half splits of the items"
    lines.append("two that share a letter cannot be told apart; ranks are those that each may have")
    return lines


def ranks(row: BoardRow) -> str:
    """Ranks that a place may have."""
    if row.best_rank == row.worst_rank:
        return count(row.best_rank)
    return f"{count(row.best_rank)}–{count(row.worst_rank)}"


def boards(rows: Sequence[BoardRow]) -> list[list[BoardRow]]:
    """Rows of each board, in the order of the document."""
    found: dict[str, list[BoardRow]] = {}
    for row in rows:
        found.setdefault(row.finding_id, []).append(row)
    return list(found.values())


def order(rows: Sequence[CompareRow]) -> list[CompareRow]:
    """Most pressing first."""
    places = {word: place for place, word in enumerate(COMPARED)}
    return sorted(rows, key=lambda row: (row.second, places.get(row.verdict, len(places)), row.task, row.metric or ""))


def interval_head(rows: Sequence[CompareRow]) -> str:
    """Heading of the column of differences."""
    levels = {row.level for row in rows if row.level is not None}
    return "difference" + (f" [{level(levels.pop())}]" if len(levels) == 1 else "")
