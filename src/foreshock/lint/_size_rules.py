"""Rules about items and repeats: FS203 and FS205 (repeats)."""

from __future__ import annotations

from foreshock._base import count_of
from foreshock.lint import _power as power
from foreshock.lint._facts import Benchmark, Metric
from foreshock.lint._options import LintOptions
from foreshock.lint._told import CERTAIN, Told, points
from foreshock.records import Alternative, Effect, Need, Rate, State
from foreshock.stats import paired_detectable, paired_items

LEVEL = 0.95
_EVIDENCE = 20
_DEPENDENT = Alternative(
    name="items that are not independent",
    status="unchecked",
    why="items that share a passage or a template count for less; foreshock compare finds such clusters",
)


def too_few_items(benchmark: Benchmark, options: LintOptions) -> list[Told]:
    """FS203."""
    size, n = options.difference, benchmark.items
    if benchmark.metrics and not any(_is_rate(metric) for metric in benchmark.metrics):
        return [
            Told(
                State.NO_DATA,
                "no metric is known to lie on a scale from 0 to 1, so what a difference is there is not known",
                "declare the range of a metric in benchmark.toml",
                needs=[Need(what="metrics from 0 to 1", have=0, enough=1)],
            )
        ]
    least, most = _bounds(benchmark, size)
    if n is None:
        return [
            Told(
                State.NO_DATA,
                "the number of items is not stated",
                f"declare items in benchmark.toml; {least:,} to {most:,} show a difference of {points(size)}",
                needs=[Need(what="items", have=None, enough=most)],
            )
        ]
    typical = paired_items(max(benchmark.flips.value, size), size) if benchmark.flips else most
    enough = typical if typical is not None else most
    if n >= (enough if benchmark.flips else most):
        return []
    known = benchmark.flips is not None
    source = (
        f"{benchmark.flips.value:.0%} of items flip between neighbouring models"
        if benchmark.flips
        else (f"{most:,} if two models answer independently")
    )
    state = State.FIRING if n < least else State.PENDING
    told = f"about {enough:,}" if known else f"{least:,} at the very least"
    return [
        Told(
            state,
            f"{count_of(n, 'item')} cannot show a difference of {points(size)} 4 times in 5: {told} would do "
            f"({source}); "
            f"the score moves in steps of {points(1 / n)}"
            if n
            else "there are no items",
            _items_hint(benchmark, n),
            effect=_detectable(benchmark, n),
            needs=[Need(what=f"items, to show a difference of {size:g}", have=n, enough=enough)],
            rate=_items_rate(benchmark, state),
            alternatives=[_DEPENDENT],
        )
    ]


def _items_rate(benchmark: Benchmark, state: State) -> Rate:
    """Bounds from the design alone hold for certain; with measured flips the lower end of their interval decides."""
    if state is not State.FIRING:
        return Rate()
    return CERTAIN if benchmark.flips is None else Rate(stated=(1 - LEVEL) / 2)


def _is_rate(metric: Metric) -> bool:
    return (metric.low, metric.high) == (0, 1) or (metric.kind == "hard" and metric.high is None)


def _bounds(benchmark: Benchmark, size: float) -> tuple[int, int]:
    """Items needed at the very least and at most, by what is known about how answers go together."""
    if benchmark.flips is None:
        return power.items_between(size)
    ends = (paired_items(max(end, size), size) for end in (benchmark.flips.low, benchmark.flips.high))
    low, high = (end if end is not None else 1 for end in ends)
    return low, high


def _detectable(benchmark: Benchmark, n: int) -> Effect | None:
    flips = benchmark.flips.value if benchmark.flips else 0.5
    value = paired_detectable(flips, n)
    if value is None:
        return None
    return Effect(name="smallest difference that is found 4 times in 5", unit="score", value=value, low=None, high=None)


def _items_hint(benchmark: Benchmark, n: int) -> str:
    seen = paired_detectable(benchmark.flips.value if benchmark.flips else 0.5, n)
    if seen is None:
        return "add items, or do not compare models on this task"
    return f"add items, or state with --difference what would matter: these show {points(seen)}"


def too_few_repeats(benchmark: Benchmark, _: LintOptions) -> list[Told]:
    """FS205 of repeats."""
    return [*_attempts(benchmark), *_replies(benchmark)]


def _attempts(benchmark: Benchmark) -> list[Told]:
    found = []
    for metric in benchmark.metrics:
        k = metric.attempts
        if k is None or benchmark.repeats is None or benchmark.repeats >= k:
            continue
        found.append(
            Told(
                State.FIRING,
                f"{metric.name} needs {k} attempts at an item and there {_are(benchmark.repeats)} {benchmark.repeats}",
                f"ask each item {k} times (lm-eval: repeats; Inspect: --epochs)",
                word="repeats",
                metric=metric.name,
                needs=[Need(what="repeats of each item", have=benchmark.repeats, enough=k)],
            )
        )
    return found


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _replies(benchmark: Benchmark) -> list[Told]:
    """Whether chance in the replies can be told from the choice of items."""
    if benchmark.sampled is False or not benchmark.metrics:
        return []
    if benchmark.repeats is None or (benchmark.sampled is None and benchmark.repeats < 2):
        return [
            Told(
                State.NO_DATA,
                "whether replies are drawn at random"
                + (
                    " and how often each item is asked are not stated"
                    if benchmark.repeats is None
                    else " is not stated"
                ),
                "state the temperature and the repeats (lm-eval: generation_kwargs, repeats; Inspect: "
                "--temperature, --epochs)",
                word="repeats",
                needs=[Need(what="repeats of each item", have=benchmark.repeats, enough=2)],
            )
        ]
    if benchmark.repeats < 2:
        return [
            Told(
                State.FIRING,
                "replies are drawn at random and each item is asked once: chance in them cannot be told from the items",
                "ask each item at least twice, or turn sampling off (temperature 0)",
                word="repeats",
                needs=[Need(what="repeats of each item", have=benchmark.repeats, enough=2)],
            )
        ]
    return _noisy(benchmark)


def _noisy(benchmark: Benchmark) -> list[Told]:
    spread, repeats = benchmark.spread_of_repeats, benchmark.repeats or 0
    enough = power.repeats_enough(spread.between, spread.within) if spread else None
    if spread is None or enough is None or repeats >= enough:
        return []
    return [
        Told(
            State.PENDING,
            f"with {repeats} repeats chance in the replies adds {spread.within / repeats / spread.between:.1f} "
            "times the "
            "variance that the choice of items does",
            f"ask each item {enough} times: chance then adds no more than the items",
            word="repeats",
            effect=Effect(
                name="variance within items over that between them",
                unit="ratio",
                value=spread.within / spread.between,
                low=None,
                high=None,
            ),
            needs=[Need(what="repeats of each item", have=repeats, enough=enough)],
            rate=Rate(),
        )
    ]
