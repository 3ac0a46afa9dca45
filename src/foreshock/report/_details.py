"""What stands behind a verdict on a jump, as short sentences: the same in a terminal, on the page and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foreshock.report._format import MISSING, count, equals, level, number, plural, quantity, share
from foreshock.report._rows_mirage import (
    ConditionRow,
    FamilyRow,
    ForeseeableRow,
    PredictionRow,
    RepeatRow,
    ResolutionRow,
    VerdictRow,
)

NOISE = {
    "replicates": "the spread among replicates",
    "own": "this task's own scatter about a smooth curve",
    "family": "this task's own scatter and that of the other tasks of the family",
    "checkpoints": "the scatter of checkpoints, allowing that neighbours are alike",
}
_FORETOLD = ("answer", "before", "value", "low", "high", "observed")
_NAMED = 3
_UNSEEN = 0.05  # probability of seeing none from which one answer to each item is said to hide a model


class Detail(NamedTuple):
    """One fact with its label."""

    label: str
    text: str


def details(
    row: VerdictRow,
    foreseeable: ForeseeableRow | None = None,
    resolution: Sequence[ResolutionRow] = (),
    repeats: Sequence[RepeatRow] = (),
) -> list[Detail]:
    """What stands behind one verdict, in the order in which a reader asks."""
    found = [
        Detail("share", _share(row)),
        Detail("twin", _twin(row)),
        Detail("other twins", _other_twins(row)),
        Detail("link", row.how or ""),
        Detail("noise", _noise(row)),
        Detail("window", _window(row)),
        Detail("foreseeable", _foreseeable(foreseeable)),
        Detail("resolution", what_items_show(resolution)),
        Detail("repeats", what_repeats_show(repeats)),
        Detail("emergence score", _emergence(row)),
        Detail("per token", row.conditional_text or ""),
    ]
    return [detail for detail in found if detail.text]


def _share(row: VerdictRow) -> str:
    alike: dict[str, list[str]] = {}
    for one in row.ratios:
        if one.low is not None:
            alike.setdefault(_bounds(one.low, one.high), []).append(f"{one.ratio:g}")
    if not alike:
        return ""
    told = "; ".join(f"{bounds} where up to {_or(ratios)} times" for bounds, ratios in alike.items())
    at = f" ({level(row.level)} intervals)" if row.level is not None else ""
    return f"on the metric's own link a break carries {told} the mean slope counts as smooth{at}"


def _or(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _bounds(low: float | None, high: float | None) -> str:
    return f"{MISSING if low is None else f'{low:.0%}'} to {MISSING if high is None else f'{high:.0%}'}"


def _twin(row: VerdictRow) -> str:
    if not row.order:
        return row.twin or ""
    link = f" through the link {row.link}" if row.twin and row.link else ""
    return f"{row.twin or 'none'}{link}; the first that exists, in an order fixed beforehand: {', '.join(row.order)}"


def _other_twins(row: VerdictRow) -> str:
    """What each of the other twins says; those that were not asked for one reason stand together."""
    told = []
    unasked: dict[str, list[str]] = {}
    for one in row.twins:
        if one.answer == "not asked":
            unasked.setdefault(one.why or "", []).append(one.twin)
        else:
            ends = "" if one.low is None else f" (a break carries {_bounds(one.low, one.high)} of its rise)"
            told.append(f"{one.twin} {one.answer}{ends}")
    told += [f"{', '.join(names)} not asked{f' ({why})' if why else ''}" for why, names in unasked.items()]
    return "; ".join(told)


def _noise(row: VerdictRow) -> str:
    if row.noise is None:
        return ""
    free = f" with {number(row.noise_df)} degrees of freedom" if row.noise_df is not None else ""
    source = NOISE.get(row.noise_source or "", row.noise_source)
    return f"{number(row.noise)} on the link{free}" + (f", from {source}" if source else "")


def _window(row: VerdictRow) -> str:
    if not row.window:
        return ""
    first, *others = row.window
    text = f"{first.start} to {first.to}"
    if not others or first.share is None:
        return text
    rest = "; ".join(f"{w.start} to {w.to} in {share(w.share)}" for w in others[:2])
    return f"{text} in {share(first.share)} of the draws of items; {rest}"


def _foreseeable(row: ForeseeableRow | None) -> str:
    if row is None:
        return ""
    told = _forecast(row)
    return f"{row.answer}: {told or row.why}" if told or row.why else row.answer


def _forecast(row: ForeseeableRow) -> str:
    """What was foretold of the series that the answer rests on: the twin's where that gives it, else the metric's."""
    if row.answer == "cannot tell":
        return ""
    for role in ("twin", "hard"):
        name, answer, before, value, low, high, observed = (
            getattr(row, key) for key in (role, *(f"{role}_{part}" for part in _FORETOLD))
        )
        if answer == row.answer and value is not None:
            models = f"the {plural(before, 'model')} up to {row.after}" if before else f"the models up to {row.after}"
            told = (
                f"was to be {quantity(value, low, high)} at {row.at}{_calibrated(row, role)}; it was {number(observed)}"
            )
            return f"from {models}, {name}{_scale_of(name, row)} {told}{_beyond(answer, low, high, observed)}"
    return ""


def _calibrated(row: ForeseeableRow, role: str) -> str:
    """What the calibrated forecaster, which allows for other shapes than a line, made of a series, or why nothing."""
    value, low, high, refused = (
        getattr(row, f"{role}_{part}") for part in ("calibrated", "calibrated_low", "calibrated_high", "refused")
    )
    if value is not None:
        return f" by a straight line and {quantity(value, low, high)} by the calibrated forecast"
    return f" by a straight line (no calibrated forecast: {refused})" if refused else ""


def _scale_of(name: str | None, row: ForeseeableRow) -> str:
    """Twins are forecast on the scale of a probability, whatever their own is: a perplexity of .02 would puzzle."""
    return " as a probability" if name == row.twin and "probability" not in str(name) else ""


def _beyond(answer: str | None, low: float | None, high: float | None, observed: float | None) -> str:
    """What a ``yes`` means where the observed value lies outside the interval: the rule allows half of the rise."""
    if answer != "yes" or low is None or high is None or observed is None or low <= observed <= high:
        return ""
    return " (outside the interval, yet within half of the whole rise)"


def what_items_show(rows: Sequence[ResolutionRow]) -> str:
    """What the number of items can show: the floor, and what models at it could have scored unseen."""
    sizes = [row.n for row in rows if row.n]
    if not sizes:
        return ""
    text = f"{count(min(sizes))} items: nothing below {share(1 / min(sizes))} can be seen"
    low = [row for row in rows if row.at_floor and row.high is not None]
    if not low:
        return f"{text}; every model is told from guessing"
    names = ", ".join(row.label for row in low[:_NAMED]) + (", …" if len(low) > _NAMED else "")
    top = max(row.high or 0.0 for row in low)
    return f"{text}; {plural(len(low), 'model')} ({names}) not told from guessing may have up to {share(top)}"


def what_repeats_show(rows: Sequence[RepeatRow]) -> str:
    """What several answers to each item resolve, and the models of which one answer may have shown nothing."""
    known = [row for row in rows if row.problems and row.attempts and row.floor is not None]
    if not known:
        return ""
    one = next((row for row in known if row.k == 1), known[0])
    each = number(one.attempts / one.problems if one.attempts and one.problems else None)
    text = f"{each} answers to each of {count(one.problems)} items resolve {share(one.floor)}"
    text += f", one answer {share(1 / one.problems)}" if one.problems else ""
    most = max(row.k for row in known)
    unseen = [row for row in known if row.k == 1 and (row.p_zero_once or 0.0) > _UNSEEN]
    told = [text, *(f"{row.label}: {_pass(row)}" for row in known if row.k == most)][: 1 + _NAMED]
    if unseen:
        names = ", ".join(f"{row.label} {share(row.p_zero_once)}" for row in unseen[:_NAMED])
        told.append(f"one answer to each would show exactly 0 with probability {names}")
    return "; ".join(told)


def _pass(row: RepeatRow) -> str:
    return f"pass@{row.k} {quantity(row.value, row.low, row.high, 'fraction')}"


def condition_sentence(row: ConditionRow) -> str:
    """What a condition adds along a line of models, in a sentence."""
    values = f"{row.condition} {row.after or MISSING} less {row.before or MISSING}"
    pairs = "item by item" if row.paired else "totals of each, unpaired"
    twin = f", read against {row.twin}" if row.twin else ""
    carried = (
        "" if row.share is None else f"; a step carries {quantity(row.share, row.share_low, row.share_high, 'share')}"
    )
    why = f" ({row.reason})" if row.reason else ""
    return f"{values}: {row.hard or 'score'}{twin}, {pairs}, {plural(row.points or 0, 'model')}{carried}{why}"


def _emergence(row: VerdictRow) -> str:
    if row.emergence_p is None or (row.emergence is None and not row.emergence_infinite):
        return ""
    score = "infinite" if row.emergence_infinite else number(row.emergence)
    return f"{score}, {equals('p', row.emergence_p)} under a steady rise; no verdict rests on it"


def family_sentence(row: FamilyRow) -> str:
    """What is told of all tasks of a family, in a sentence."""
    return "; ".join(part for part in (_common(row), _shared_noise(row)) if part)


def _common(row: FamilyRow) -> str:
    if row.verdict is None:
        return ""
    at = f" between {row.from_point} and {row.to_point}" if row.from_point and row.to_point else ""
    said = {
        "break": f"most tasks jump at one place{at}",
        "smooth": "no jump that most tasks share",
        "mirage": f"the hard metrics jump together{at}, their twins do not",
        "unresolved": "whether the tasks jump together cannot be told",
    }.get(row.verdict, row.verdict)
    agree = f", {count(row.agree)} of {plural(row.tasks, 'task')} by themselves" if row.agree and row.tasks else ""
    why = f" ({row.reason})" if row.reason else ""
    mean = quantity(row.share, row.share_low, row.share_high, "fraction")
    return f"{said}{agree}{why}" + (f"; share of the mean rise {mean}" if row.share is not None else "")


def _shared_noise(row: FamilyRow) -> str:
    if row.noise is None:
        return ""
    parts = [f"noise of one model {number(row.noise)}" + (f" on {row.noise_link}" if row.noise_link else "")]
    parts += [f"learned from {plural(row.noise_tasks, 'task')}"] if row.noise_tasks is not None else []
    parts += [f"whose scatter is correlated {number(row.noise_correlation)}"] if row.noise_correlation else []
    parts += [f"worth {number(row.noise_df)} degrees of freedom to each"] if row.noise_df is not None else []
    return ", ".join(parts)


def told_families(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """The families of which something is told that no single line says."""
    return [row for row in rows if family_sentence(row)]


def prediction_sentence(row: PredictionRow) -> str:
    """What the data say to a prediction."""
    figure = "" if row.figure is None else f"{quantity(row.figure, row.low, row.high, row.unit)}"
    why = row.why or ""
    enough = f"would do: {row.enough}" if row.answer == "cannot tell" and row.enough else ""
    return "; ".join(part for part in (figure, why, enough) if part)
