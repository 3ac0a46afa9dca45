"""Whether the replies of some runs were drawn at random, as far as their logs say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from foreshock.lint._facts import Metric
from foreshock.records import Run

_WITHOUT = {"argmax"}  # chosen by log-likelihood: nothing is generated


def is_sampled(runs: Sequence[Run], metrics: Sequence[Metric]) -> bool | None:
    """True when some run draws replies at random, False when none does, None when it is not said."""
    if (
        runs[0].format.startswith("lm-eval")
        and metrics
        and all(m.link in _WITHOUT for m in metrics if m.kind == "hard")
    ):
        return False
    told = {_of_conditions(run.conditions) for run in runs}
    if True in told:
        return True
    return False if told == {False} else None


def _of_conditions(conditions: Mapping[str, str]) -> bool | None:
    if "temperature" in conditions:
        return sampled_at(_number(conditions["temperature"]), None)
    found: dict[str, Any] = {}
    for name in ("gen_kwargs", "gen_kwargs_given"):
        found |= _mapping(conditions.get(name))
    return sampled_at(found.get("temperature"), found.get("do_sample"))


def sampled_at(temperature: object, do_sample: object) -> bool | None:
    """Whether these settings draw at random; None when they do not say.

    Examples:
        >>> sampled_at(0.7, None), sampled_at(0.7, False), sampled_at(0, None), sampled_at(None, None)
        (True, False, False, None)
    """
    if do_sample is False or (isinstance(do_sample, str) and do_sample.lower() == "false"):
        return False
    if isinstance(temperature, int | float) and not isinstance(temperature, bool):
        return temperature > 0
    return True if do_sample is True else None


def _mapping(text: str | None) -> dict[str, Any]:
    """Arguments as they stand in a condition: JSON, or ``name=value`` parted by commas."""
    if not text:
        return {}
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        pairs = (part.partition("=") for part in text.split(","))
        return {name.strip(): _number(value.strip()) for name, equals, value in pairs if equals}
    return found if isinstance(found, dict) else {}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
