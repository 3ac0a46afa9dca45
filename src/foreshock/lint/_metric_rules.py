"""Rules about the metrics of a task: FS201, FS202, FS206 and FS210."""

from __future__ import annotations

from collections.abc import Sequence

from foreshock._base import count_of
from foreshock.lint._facts import Benchmark, Measured, Metric, Spread
from foreshock.lint._options import LintOptions
from foreshock.lint._told import Told, some
from foreshock.lint._twins import in_order
from foreshock.records import Alternative, Effect, Need, Rate, State
from foreshock.stats import clopper_pearson

RARE = 0.05
"""Share of values between the ends below which a score counts as one that only ever is 0 or 1."""
LEVEL = 0.95
DECODED = frozenset({"numeric_closeness", "token_similarity", "char_similarity"})
"""Twins made of decoded text: every position of it is the most probable token, which itself steps."""
_FEWEST = 6  # items that can reject "at most half" at all: .5^6 < .025
_GUESSED = ("argmax", None)  # links of metrics that guessing can score on; a product of parts is not guessed


def only_hard(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS201."""
    if not benchmark.metrics:
        return [_no_metrics(benchmark)]
    known = {metric.name: metric for metric in benchmark.metrics if metric.kind}
    unknown = [metric.name for metric in benchmark.metrics if not metric.kind]
    if any(metric.kind == "continuous" for metric in known.values()):
        return []
    if unknown:
        return [
            Told(
                State.NO_DATA,
                f"whether {some(unknown)} {'is' if len(unknown) == 1 else 'are'} all-or-nothing is not known",
                'declare kind = "hard" or "continuous" in benchmark.toml, or --kind beside a table',
                needs=[Need(what="metrics of known kind", have=len(known), enough=len(benchmark.metrics))],
            )
        ]
    twins = in_order(benchmark)
    beside = f"report {twins[0]} beside it: the same responses give it" if twins else ""
    return [
        Told(
            State.FIRING,
            f"only all-or-nothing metrics are reported ({some(known)})",
            beside or benchmark.twin_advice or "report a continuous metric of the same responses beside it",
            needs=[Need(what="continuous metrics", have=0, enough=1)],
        )
    ]


def _no_metrics(benchmark: Benchmark) -> Told:
    why = f": {'; '.join(benchmark.notes)[:300]}" if benchmark.notes else ""
    return Told(
        State.NO_DATA,
        f"no metric is stated{why}",
        "declare the metrics of the task in benchmark.toml",
        needs=[Need(what="metrics", have=0, enough=1)],
    )


def no_twin(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS202."""
    if not benchmark.hard:
        if benchmark.metrics and all(metric.kind for metric in benchmark.metrics):
            return []
        if not benchmark.metrics:
            return [_no_metrics(benchmark)]
        unknown = some(metric.name for metric in benchmark.metrics if not metric.kind)
        told = _no_metrics(benchmark)._replace(
            message=f"whether {unknown} needs a twin is not known: its kind is not",
            hint='declare kind = "hard" or "continuous" in benchmark.toml, or --kind beside a table',
        )
        return [told]
    twins = [
        *in_order(benchmark),
        *(m.name for m in benchmark.metrics if m.kind == "continuous" and not acts_hard(m.spread)),
    ]
    twins += [metric.twin for metric in benchmark.hard if metric.twin]
    name = benchmark.hard[0].name
    if twins:
        return [] if any(twin.partition("(")[0] not in DECODED for twin in twins) else [_weak(name, twins, benchmark)]
    return [
        Told(
            State.FIRING,
            f"{name} has no continuous twin on the same responses",
            benchmark.twin_advice or "log log-probabilities, or ask each item several times",
            metric=name,
            needs=[Need(what="continuous twin on the same responses", have=0, enough=1)],
        )
    ]


def _weak(name: str, twins: Sequence[str], benchmark: Benchmark) -> Told:
    return Told(
        State.PENDING,
        f"{name} can only be read against decoded text ({some(twins)}): a jump in it may be the decoder's",
        benchmark.twin_advice or "log log-probabilities, or ask each item several times",
        word="weak-twin",
        metric=name,
        needs=[Need(what="twin that is not made of decoded text", have=0, enough=1)],
    )


def acts_hard(spread: Spread | None) -> bool:
    """Whether stored values only ever lie at the two ends, with confidence.

    Examples:
        >>> acts_hard(Spread(1000, 0)), acts_hard(Spread(20, 0)), acts_hard(Spread(1000, 300))
        (True, False, False)
    """
    return spread is not None and spread.scored > 0 and float(clopper_pearson(spread.between, spread.scored)[1]) < RARE


def chance_undeclared(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS206."""
    if benchmark.chance is not None:
        return []
    if not benchmark.metrics:
        return [_no_metrics(benchmark)]
    open_ones = [m for m in benchmark.hard if m.link in _GUESSED and m.chance is None]
    if benchmark.options is not None and benchmark.options[0] == benchmark.options[1]:
        # equally many options settle an argmax; of free answers nothing is guessed, whatever the metric
        open_ones = [] if benchmark.options == (0, 0) else [m for m in open_ones if m.link is None]
    if not open_ones:
        return []
    names = some(metric.name for metric in open_ones)
    if benchmark.options is not None and benchmark.options[1]:
        low, high = benchmark.options
        why = f"items have {low} to {high} options" if low != high else "the metric is not known"
        why += " (one with a single option cannot be wrong)" if low == 1 else ""
        guess = f"; guessing gives {benchmark.guess:.3g} on these items" if benchmark.guess is not None else ""
        return [_chance(State.FIRING, f"chance is undeclared for {names}: {why}{guess}", open_ones[0], benchmark.guess)]
    if any(metric.link == "argmax" for metric in open_ones):
        message = f"chance is undeclared for {names}, and how many options the items have is not stated"
        # of totals only the name says that something is chosen
        return [_chance(State.PENDING if benchmark.observed else State.FIRING, message, open_ones[0], None)]
    message = f"chance is undeclared for {names}, and whether it can be guessed is not known"
    return [_chance(State.PENDING, message, open_ones[0], None)]


def _chance(state: State, message: str, metric: Metric, guess: float | None) -> Told:
    value = "VALUE" if guess is None else f"{guess:.3g}"
    return Told(
        state,
        message,
        f"declare chance = {value} in benchmark.toml (or --chance {value} beside a table)",
        metric=metric.name,
        effect=None
        if guess is None
        else Effect(name="score of guessing", unit="fraction", value=guess, low=None, high=None),
        needs=[Need(what="declared score of guessing", have=0, enough=1)],
    )


def misdeclared(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS210: of each metric, by perturbed outputs where it can be called, else by its stored values."""
    found = [_misdeclared(metric) for metric in (*benchmark.metrics, *benchmark.tried) if metric.kind]
    return [told for told in found if told is not None]


def _misdeclared(metric: Metric) -> Told | None:
    if metric.measured is not None:
        return _by_reaction(metric, metric.measured)
    return _by_values(metric, metric.spread) if metric.spread is not None else None


def _by_reaction(metric: Metric, seen: Measured) -> Told | None:
    if seen.items < _FEWEST:
        tried = (
            f"{seen.skipped:,} of {count_of(seen.items + seen.skipped + seen.failed, 'item')} could not be perturbed"
        )
        failed = f", and it failed on {seen.failed:,}" if seen.failed else ""
        return Told(
            State.NO_DATA,
            f"whether {metric.name} is {metric.kind} cannot be measured: it reacted on {seen.items:,} items; "
            f"{tried}{failed}",
            "measure it on a task with longer answers, numbers or log-likelihoods",
            metric=metric.name,
            needs=[Need(what="items on which it reacts", have=seen.items, enough=_FEWEST)],
        )
    other = seen.sharp if metric.kind == "continuous" else seen.items - seen.sharp
    low, high = (float(end) for end in clopper_pearson(other, seen.items, LEVEL))
    if low <= 0.5:
        return None
    hard = metric.kind == "continuous"
    how = "jumps" if hard else "moves gradually"
    return Told(
        State.FIRING,
        f"{metric.name} is declared {metric.kind} and {how} on {other:,} of {seen.items:,} perturbed outputs "
        f"({low:.0%} to {high:.0%}){_numbers(seen)}",
        _correct(metric, "hard" if hard else "continuous"),
        word="acts-hard" if hard else "acts-continuous",
        metric=metric.name,
        effect=_share(f"share of outputs on which it {how}", other / seen.items, low, high),
        rate=Rate(stated=(1 - LEVEL) / 2),
    )


def _numbers(seen: Measured) -> str:
    if not seen.numbers:
        return ""
    return f"; {'all' if seen.numbers == seen.items else f'{seen.numbers:,}'} of them are short numbers"


def _by_values(metric: Metric, spread: Spread) -> Told | None:
    if spread.scored == 0 or (metric.low, metric.high) == (None, None):
        return None
    low, high = (float(end) for end in clopper_pearson(spread.between, spread.scored, LEVEL))
    share = spread.between / spread.scored
    if metric.kind == "continuous" and high < RARE:
        return Told(
            # of our own metrics the kind is tested: it is the answers here that are short
            State.PENDING if metric.source == "foreshock" else State.FIRING,
            f"{metric.name} is declared continuous and lies at an end of its scale on "
            f"{spread.scored - spread.between:,} "
            f"of {count_of(spread.scored, 'response')} (between them at most {high:.2%})",
            _correct(metric, "hard") if metric.source != "foreshock" else "do not read it as a twin on this task",
            word="acts-hard",
            metric=metric.name,
            effect=_share("share of values between the ends", share, low, high),
            rate=Rate(stated=(1 - LEVEL) / 2),
            alternatives=[_possible("short answers", "the similarity of answers of one word is 0 or 1 as well")],
        )
    # n-gram overlaps are graded and hard all the same: values between the ends say nothing against a declared
    # nonlinearity, only against one whose parts are all or nothing
    if metric.kind == "hard" and metric.link is not None and low > RARE:
        return Told(
            State.PENDING,
            f"{metric.name} is declared all-or-nothing and lies between the ends on {spread.between:,} of "
            f"{count_of(spread.scored, 'response')} ({low:.0%} to {high:.0%})",
            _correct(metric, "continuous"),
            word="acts-continuous",
            metric=metric.name,
            effect=_share("share of values between the ends", share, low, high),
            rate=Rate(stated=(1 - LEVEL) / 2),
            alternatives=[_possible("partial credit in steps", "a few steps of credit still jump")],
        )
    if metric.kind == "continuous" and spread.between == 0:
        enough = _values_enough()
        return Told(
            State.NO_DATA,
            f"{metric.name} is declared continuous and is 0 or 1 on {count_of(spread.scored, 'response')}; that is too "
            "few to say that it always is",
            f"score {enough:,} responses",
            metric=metric.name,
            needs=[Need(what="scored responses", have=spread.scored, enough=enough)],
        )
    return None


def _values_enough() -> int:
    """Values, none of them between the ends, that show with confidence that hardly any is."""
    return next(n for n in range(1, 1000) if float(clopper_pearson(0, n, LEVEL)[1]) < RARE)


def _correct(metric: Metric, kind: str) -> str:
    return f'declare {metric.name} as kind = "{kind}", or show that it is {metric.kind} on longer answers'


def _share(name: str, value: float, low: float, high: float) -> Effect:
    return Effect(name=name, unit="fraction", value=value, low=low, high=high, level=LEVEL)


def _possible(name: str, why: str) -> Alternative:
    return Alternative(name=name, status="possible", why=why)
