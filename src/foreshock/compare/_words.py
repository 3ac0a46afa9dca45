"""How the findings of this room say a difference."""

from __future__ import annotations

from foreshock.compare._judge import Compared, Verdict
from foreshock.compare._measure import Measure
from foreshock.compare._pair import PairResult


def amount(value: float, measure: Measure, *, signed: bool = False) -> str:
    """A difference: of shares in points, else in the metric's own units.

    Examples:
        >>> share = Measure("acc", "acc", "harness", True, 0, 1, True)
        >>> amount(0.1234, share, signed=True), amount(-0.01, share, signed=True), amount(0.01, share)
        ('+12.3 points', '\u22121.0 points', '1.0 points')
    """
    points = measure.unit == "fraction"
    text = f"{abs(value) * 100:.1f}" if points else f"{abs(value):.3g}"
    if points and 0 < abs(value) < 0.001:
        text = f"{abs(value) * 100:.2g}"
    sign = "\u2212" if value < 0 else "+" if signed and value > 0 else ""
    return f"{sign}{text} points" if points else f"{sign}{text}"


def title(one: Compared, verdict: Verdict, first: str, second: str) -> str:
    """One sentence that a stranger understands."""
    result, measure = one.result, one.chosen.measure
    if not result.items:
        return f"{second} and {first} have no item in common that both have a score for"
    size = amount(abs(result.difference), measure)
    if verdict.word in ("improvement", "regression"):
        word = "better" if verdict.word == "improvement" else "worse"
        return f"{second} is {word} than {first} by {size} on {result.items:,} paired items"
    if verdict.word == "no-difference":
        margin = amount(verdict.margin or 0.0, measure)
        return f"{second} and {first} differ by less than {margin} on {result.items:,} paired items"
    return f"{result.items:,} paired items cannot tell {second} from {first}: they are {size} apart"


def null_of(one: Compared) -> str:
    """The null hypothesis and its exchangeable unit."""
    if one.result.test == "mcnemar":
        return "both are equally good: an item that flips does so either way with probability 1/2; unit: the item"
    unit = f"items with {one.sheet.cluster_kind} together" if _clustered(one) else "the item with all its repeats"
    return f"both are equally good: swapping their names changes no probability; unit: {unit}"


def _clustered(one: Compared) -> bool:
    return one.sheet.clusters is not None and one.result.clusters < one.result.items


_DECIDED = {
    "skewed-t": "; p of the t test that allows for skewness",
    "repeats": "; p of the responses dealt to the sides anew",
}


def how(one: Compared) -> str:
    """Test and interval in a few words."""
    result = one.result
    if result.test == "mcnemar":
        return "exact McNemar test, Tango's score interval"
    kinds = {None: "exact sign-flip test", 0: "sign-flip test (upper bound of p)"}
    kind = kinds.get(result.replicates, f"sign-flip test ({result.replicates or 0:,} draws)")
    over = "items" if result.clusters == result.items else "clusters"
    also = _DECIDED.get(result.decided, "")
    return f"{kind} over {result.clusters:,} {over}{also}, cluster-robust interval"


def advice(one: Compared, verdict: Verdict, first: str, second: str) -> str:
    """What to do now."""
    measure, result = one.chosen.measure, one.result
    if not result.items:
        return "compare runs of the same items; where only the prompts differ, pair by id with --pair id"
    if verdict.word == "regression":
        return f"read the items that only {first} got right, then decide; --fail-on regression stops a pipeline here"
    if verdict.word == "improvement":
        return f"read some of the items that changed either way before trusting the gain of {second}"
    if verdict.word == "no-difference":
        return "treat the two as equal on this task, within that margin"
    if verdict.needed is None or verdict.margin is None:
        return "state with --margin which difference would matter; the items needed follow from it"
    size = amount(verdict.margin, measure)
    more = f"about {verdict.needed:,} items like these would show a difference of {size} in 4 of 5 cases"
    seen = "" if verdict.detectable is None else f"; these show one of {amount(verdict.detectable, measure)}"
    return f"claim neither a gain nor a loss: {more}{seen}"


def if_otherwise(one: Compared, result: PairResult, words: tuple[str, str], lack: str, missing: str) -> str:
    """How the answer changes when what was lost is treated the other way.

    Args:
        one: The comparison.
        result: The same, treated the other way.
        words: Its verdict then, and as it is.
        lack: What the lost responses lack.
        missing: How they are treated.
    """
    word, verdict = words
    counted = missing == "drop"
    lead = f"If responses that {lack} counted as wrong" if counted else f"If responses that {lack} were left out"
    size = amount(result.difference, one.chosen.measure, signed=True)
    kept = "the verdict would be the same" if word == verdict else f"the verdict would be {word}"
    return f"{lead}, the difference would be {size} on {result.items:,} items, and {kept}."
