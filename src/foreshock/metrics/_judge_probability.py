"""The judge as a metric: P(yes) of a model that was made known to this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foreshock._base import MetricError, ModelError
from foreshock.metrics._judge import Judge
from foreshock.metrics._response import Given
from foreshock.metrics._spec import Columns, Function, MetricSpec, metric

_judges: dict[tuple[tuple[str, Any], ...], Judge] = {}


def use_judge(judge: Judge, *, of: str = "answer") -> MetricSpec:
    """Make a judge known to this process and give its metric.

    Args:
        judge: Who judges.
        of: What is judged: the extracted ``answer``, or the whole ``output``.
    """
    spec = judge_probability(**judge.params, of=of)
    _judges[_key(judge.params)] = judge
    return spec


@metric(
    kind="continuous",
    needs=lambda of, **_: (of, "targets"),
    range=(0, 1),
    chance=None,
    uses=("input",),
)
def judge_probability(*, model: str, access: str, prompt: str, form: str, version: str, of: str = "answer") -> Function:
    """Probability that a judging model says *yes*, the answer agrees with the reference.

    Who judges is part of the metric's identity, so scores of two judges, or of one judge with two prompts, never mix.
    It is no calibrated probability; :func:`miss_rates` measures what the judge misses. The parameters come from
    :func:`use_judge`.

    Args:
        model: Name of the judging model.
        access: How it is reached.
        prompt: Hash of what it is asked.
        form: ``logprobs``, or ``repeats-N``.
        version: Version of the judge.
        of: ``answer`` or ``output``.
    """
    if of not in ("answer", "output"):
        raise MetricError(f"of={of!r} is unknown", expected="answer or output")
    key = _key({"model": model, "access": access, "prompt": prompt, "form": form, "version": version})

    def score(response: Given) -> float | None:
        (found,) = _find(key).judged([getattr(response, of)], [response])
        if isinstance(found, Exception):
            raise found
        return found

    return score


@judge_probability.batch
def _batch(columns: Columns, *, of: str, **params: Any) -> Sequence[Any]:
    texts = columns[of]
    inputs = columns.get("input") or [None] * len(texts)
    items = [{"input": asked, "targets": ts} for asked, ts in zip(inputs, columns["targets"], strict=True)]
    return _find(_key(params)).judged(texts, items)


def _find(key: tuple[tuple[str, Any], ...]) -> Judge:
    if key not in _judges:
        raise ModelError(
            f"the judge {dict(key)['model']} is not known here",
            expected="a judge that this process was told of",
            do="name it: foreshock score --judge URL --judge-model NAME (or use_judge in Python, in this process)",
        )
    return _judges[key]


def _key(params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))
