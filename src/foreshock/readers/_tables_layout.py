"""How one table of aggregates is laid out: what tells its rows apart, and which columns hold scores."""

from __future__ import annotations

from typing import Literal, NamedTuple

from foreshock.readers._items_roles import shown
from foreshock.readers._lm_eval_aggregates import RATES
from foreshock.readers._tables_axis import plain_name

GENERIC = frozenset({"score", "value", "mean", "result", "y", "average", "best_score"})
"""Names of a column of scores that say neither task nor metric."""
# their values have no highest one, so there is no scale to ask for
UNBOUNDED = frozenset(
    {
        *("perplexity", "ppl", "loss", "nll", "elo", "likelihood", "bleu", "rouge", "chrf", "ter", "tokens"),
        *("seconds", "cost", "bits", "distance", "gain", "usd", "price", "latency"),
    }
)
LOWER = frozenset(
    {
        *("perplexity", "ppl", "loss", "nll", "ter", "wer", "cer", "seconds", "cost", "bits", "distance", "error"),
        *("brier", "ece", "usd", "price", "latency", "refusal", "tokens"),
    }
)
"""Words of metrics of which less is better."""
_SHARES = frozenset({"acc", "accuracy", "correct", "em", "match", "pass", "passed", "score", "solved", "percent"})
_OVERLAPS = frozenset({"f1", "gain", "loss", "bleu", "rouge", "chrf", "bert"})
# how harnesses end the name of a column: ``arithmetic_2da_2_acc``
_ENDINGS = sorted(
    {*RATES, "accuracy", "acc", "em", "f1", "bleu", "rouge", "chrf", "perplexity", "ppl", "loss", "brier"},
    key=lambda name: (-len(name), name),
)

Interval = Literal["stderr", "ci95"]


class Value(NamedTuple):
    """A column of scores.

    Attributes:
        column: Its name.
        task: Task that the column's name is; None where the row or the user names it.
        metric: Metric that the column's name says; None where the row or the user names it.
        answer_filter: Filter of the harness, from names such as ``exact_match,strict-match``.
        stderr: Column with the standard errors.
        scorers: Column that names the scorers: ``choice:0.85±0.02,match:0.7±0.02``.
        interval: What stands behind ``±`` in the cells; None when nobody says.
        kind: ``hard`` or ``continuous``, when declared.
        twin: Metric that is the twin of this one.
        hundred: Its numbers are percentages, though its name does not say so.
        free: A value below 0 or above 1 is none of a wrong scale.
    """

    column: str
    task: str | None = None
    metric: str | None = None
    answer_filter: str | None = None
    stderr: str | None = None
    scorers: str | None = None
    interval: Interval | None = None
    kind: str | None = None
    twin: str | None = None
    free: bool = False
    hundred: bool = False

    @property
    def percent(self) -> bool:
        """Whether the name of the column says that its numbers are percentages."""
        return self.hundred or "%" in self.column or "percent" in plain_name(self.column).split("_")


class Layout(NamedTuple):
    """How a table is to be read.

    Attributes:
        roles: Role to column, the scores left out; several columns of a role are joined by ``+``.
        values: The columns of scores.
        fill: Column that names the model where its own is blank.
        task: Task of all rows.
        lenient: Of a published board: rows that nothing tells apart are runs of their own, and rows without a model are
            left out and counted, instead of refused.
        preset: Name of the board that this is.
        notes: What the user should know about how it was understood.
    """

    roles: dict[str, str]
    values: tuple[Value, ...]
    fill: str | None = None
    task: str | None = None
    lenient: bool = False
    preset: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def used(self) -> set[str]:
        """Every column that is read."""
        found = {c for role, column in self.roles.items() for c in parts_of(role, column)}
        for value in self.values:
            found |= {c for c in (value.column, value.stderr, value.scorers) if c is not None}
        return found | ({self.fill} if self.fill else set())

    @property
    def scores(self) -> str:
        """The columns of scores, for a sentence."""
        names = [value.column for value in self.values]
        return shown(names[:6]) + (f", ... ({len(names)} columns)" if len(names) > 6 else "")

    def sentence(self) -> str:
        """How the table was understood."""
        first = [role for role in ("model", "task", "metric") if role in self.roles]
        errors = [value.stderr for value in self.values if value.stderr]
        named = [f"{role}={shown([self.roles[role]])}" for role in first] + [f"score={self.scores}"]
        named += [f"stderr={shown(errors[:1])}"] if errors else []
        named += [f"{role}={shown([column])}" for role, column in self.roles.items() if role not in first]
        with_preset = f" (preset {self.preset})" if self.preset else ""
        return "read as " + ", ".join(named) + with_preset


def parts_of(role: str, column: str) -> list[str]:
    """Columns of a role: a condition may be made of several, ``prompt+temperature``."""
    return column.split("+") if role == "condition" else [column]


def words_of(name: str) -> set[str]:
    """Words of a name in lower case."""
    return {*plain_name(name).split("_")}


def is_rate(metric: str) -> bool:
    """Whether a metric's name says that it is the share of items that were right.

    Examples:
        >>> is_rate("accuracy in %"), is_rate("acc_norm"), is_rate("likelihood_difference"), is_rate("bert_score_f1")
        (True, True, False, False)
    """
    plain = plain_name(metric)
    words = {*plain.split("_")}
    return plain in RATES | GENERIC or bool(_SHARES & words and not words & (_OVERLAPS | UNBOUNDED | LOWER))


def is_unbounded(metric: str) -> bool:
    """Whether the values of a metric have no highest one.

    Examples:
        >>> is_unbounded("word_perplexity"), is_unbounded("Arena-Elo"), is_unbounded("acc")
        (True, True, False)
    """
    return bool(words_of(metric) & UNBOUNDED)


def named_value(column: str, *, tasks: bool) -> Value:
    """What the name of a column of scores says.

    Args:
        column: The name.
        tasks: The column stands for a task: no other column names it.

    Examples:
        >>> named_value("gsm8k_5_exact_match,strict-match", tasks=True)[1:4]
        ('gsm8k_5', 'exact_match', 'strict-match')
        >>> named_value("MMLU", tasks=True)[1:4], named_value("exact_match_f1", tasks=False)[1:4]
        (('MMLU', None, None), (None, 'exact_match_f1', None))
    """
    name, _, answer_filter = column.partition(",")
    if not tasks:
        return Value(column, metric=name, answer_filter=answer_filter or None)
    plain = name.lower()
    for ending in _ENDINGS:
        before = plain.removesuffix(ending)
        if before == "":
            return Value(column, metric=name, answer_filter=answer_filter or None)
        if before != plain and before[-1] in "_ -/:.":
            task = name[: len(before) - 1]
            if plain_name(task) in _ENDINGS:
                return Value(column, metric=name, answer_filter=answer_filter or None)
            # scores corrected for chance, as Open LLM Leaderboards do, may be below 0
            free = answer_filter.endswith("norm") and answer_filter != "norm"
            return Value(column, task, ending, answer_filter or None, free=free)
    return Value(column, column)
