"""Two totals with their standard errors, where no responses were logged: an unpaired test, weaker than item by item."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from foreshock.compare._judge import Compared, Verdict
from foreshock.compare._load import Sheet, SideCounts
from foreshock.compare._match import Match
from foreshock.compare._measure import Chosen, Measure
from foreshock.compare._options import CompareOptions
from foreshock.compare._pair import PairResult
from foreshock.compare._words import amount
from foreshock.metrics import harness_metric
from foreshock.records import Alternative, Finding, Need
from foreshock.store import Snapshot

TEST = "totals"
_LACK = "a standard error above 0 and the number of items of both totals"
_COLUMNS = ("run_key", "subset", "metric_id", "filter", "reducer", "value", "stderr", "n")
_FACTS = ("low", "high", "higher_is_better", "source")


class Total(NamedTuple):
    """A mean with its standard error and the number of items behind it; None where not known."""

    value: float
    stderr: float | None
    n: int | None


def compare_totals(snapshot: Snapshot, match: Match, options: CompareOptions) -> list[Compared]:
    """Compare the totals of the baseline with those of each other side, one comparison for each answer filter."""
    runs = [members[0].run_key for members in match.runs]
    rows = snapshot.scan("aggregates", runs=runs, columns=(*_COLUMNS, *_FACTS)).collect().to_dicts()
    found: list[Compared] = []
    for place in range(1, len(runs)):
        sides = [_of_run(rows, runs[0]), _of_run(rows, runs[place])]
        shared = sorted(set(sides[0]) & set(sides[1]), key=lambda key: tuple(text or "" for text in key))
        for name in dict.fromkeys(key[0] for key in shared):
            there = [(_measure(sides[0][key], sides[1][key]), key) for key in shared if key[0] == name]
            asked = [one for one in there if options.metric in (None, one[0].id, f"{one[0].id},{name}")]
            if asked:
                measure, key = min(asked, key=lambda one: (one[0].assumed, not one[0].hard, one[0].name))
                first, second = _total(sides[0][key]), _total(sides[1][key])
                result = judge_totals(first, second, alpha=options.alpha)
                found.append(_compared(match, Chosen(name, measure, None), place, result))
    return found


def judge_totals(first: Total, second: Total, *, alpha: float = 0.05) -> PairResult:
    """Welch's t test and interval of the difference of two independent means.

    Two runs on the same items have errors that rise and fall together, so that the true error of the difference is
    smaller than the one used here: the test is safe and weak. Without standard errors above 0, or the numbers of items,
    nothing is tested and ``items`` is 0.

    Examples:
        >>> told = judge_totals(Total(0.50, 0.02, 600), Total(0.58, 0.02, 600))
        >>> round(told.p, 4), round(told.low, 3), round(told.high, 3)
        (0.0048, 0.025, 0.135)
    """
    from scipy.special import stdtr, stdtrit

    difference = second.value - first.value
    squares = [0.0 if side.stderr is None else side.stderr**2 for side in (first, second)]
    sizes = [side.n or 0 for side in (first, second)]
    known = min(squares) > 0 and math.isfinite(sum(squares)) and min(sizes) > 1
    items, p, reach, spread = 0, 1.0, math.nan, math.nan
    if known:
        square = sum(squares)
        freedom = square**2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
        items, spread = min(sizes), square * min(sizes)
        p = min(1.0, 2 * float(stdtr(freedom, -abs(difference) / math.sqrt(square))))
        reach = float(stdtrit(freedom, 1 - alpha / 2)) * math.sqrt(square)
    return PairResult(
        items=items,
        clusters=items,
        first=first.value,
        second=second.value,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p=p,
        test=TEST,
        replicates=None,
        mcnemar=None,
        mid_p=None,
        up=0,
        down=0,
        discordant=spread,
        decided=TEST,
    )


_Key = tuple[str | None, str | None, str]
"""Answer filter, reducer and metric."""


def _of_run(rows: Sequence[dict[str, Any]], run_key: str) -> dict[_Key, dict[str, Any]]:
    """Totals of the whole task; a metric that stands twice with unlike values is left out."""
    found: dict[_Key, list[dict[str, Any]]] = {}
    for row in rows:
        whole = row["run_key"] == run_key and row["subset"] is None and row["source"] in ("harness", "table")
        if whole and row["value"] is not None and math.isfinite(row["value"]):
            found.setdefault((row["filter"], row["reducer"], row["metric_id"]), []).append(row)
    return {key: told[0] for key, told in found.items() if len({row["value"] for row in told}) == 1}


def _total(row: dict[str, Any]) -> Total:
    return Total(row["value"], row["stderr"], row["n"])


def _measure(*rows: dict[str, Any]) -> Measure:
    name, known = rows[0]["metric_id"], harness_metric(rows[0]["metric_id"])
    told = {field: next((row[field] for row in rows if row[field] is not None), None) for field in _FACTS}
    low, high, rising = told["low"], told["high"], told["higher_is_better"]
    if known is not None:
        low = known.low if low is None else low
        high = known.high if high is None else high
        rising = known.higher_is_better if rising is None else rising
    hard = known is not None and known.kind == "hard"
    return Measure(name, name, "harness", hard, low, high, rising is not False, assumed=rising is None)


def _compared(match: Match, chosen: Chosen, place: int, result: PairResult) -> Compared:
    none, counts = np.full((len(match.sides), 0), np.nan), np.zeros((len(match.sides), 0), np.int64)
    sheet = Sheet(
        labels=[],
        scores=none,
        filled=none,
        there=~np.isnan(none),
        twin=None,
        clusters=None,
        cluster_kind="",
        repeated=False,
        repeats=counts,
        asked=counts,
        counts=[SideCounts(0, 0, 0, 0) for _ in match.sides],
        paired_by="",
        refused={},
    )
    return Compared(match, chosen, sheet, place, result, None, None, 0, 0)


def retold(finding: Finding, one: Compared, verdict: Verdict, first: str, second: str) -> Finding:
    """The finding of a comparison in the words of totals."""
    if one.result.test != TEST:
        return finding
    why = "no responses are logged: neither what did not arrive nor which items differ can be seen"
    result = one.result
    return msgspec.structs.replace(
        finding,
        title=_title(one, verdict, first, second),
        null="both totals have one expected value; their errors are independent, as if the items were not the same",
        needs=finding.needs if result.items and verdict.word != "undecided" else [_need(one, verdict)],
        alternatives=[
            *(a for a in finding.alternatives if a.name in ("other conditions", "direction of the score")),
            Alternative(name="responses that did not arrive", status="unchecked", why=why),
            Alternative(name="items that are not independent", status="unchecked", why=why),
        ],
        advice="log the responses of both (lm-eval: --log_samples): compared item by item, far fewer items are needed",
    )


def _need(one: Compared, verdict: Verdict) -> Need:
    if not one.result.items:
        return Need(what=_LACK, have=0, enough=1)
    return Need(what="items, of totals alone", have=one.result.items, enough=verdict.needed)


def _title(one: Compared, verdict: Verdict, first: str, second: str) -> str:
    result, measure = one.result, one.chosen.measure
    size = amount(abs(result.difference), measure)
    mark = "totals only, unpaired"
    if not result.items:
        return (
            f"{second} and {first} are {size} apart, with no standard error or number of items to judge it by ({mark})"
        )
    if verdict.word in ("improvement", "regression"):
        word = "better" if verdict.word == "improvement" else "worse"
        return f"{second} is {word} than {first} by {size} ({mark})"
    if verdict.word == "no-difference":
        return f"{second} and {first} differ by less than {amount(verdict.margin or 0.0, measure)} ({mark})"
    return f"totals cannot tell {second} from {first}: they are {size} apart ({mark})"


def totals_row(row: dict[str, Any], one: Compared) -> dict[str, Any]:
    """The row of a comparison, with what is known of totals."""
    if one.result.test != TEST:
        return row
    result = one.result
    values = {"first_value": result.first, "second_value": result.second, "difference": result.difference}
    how = "Welch's t test of two totals, unpaired: weaker than item by item"
    return {
        **row,
        **values,
        "test": how if result.items else "none: a standard error or the number of items is missing",
    }
