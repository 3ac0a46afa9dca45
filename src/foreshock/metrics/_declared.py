"""What a metric may declare: plain parameters, known columns and deliveries, a grain that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foreshock._base import MetricError
from foreshock.metrics._quantity import PER_ROW
from foreshock.metrics._response import FIELDS
from foreshock.records import Delivery


def plain(value: Any, name: str) -> Any:
    """Parameters are plain data, so that they have a hash and pickle; a top-level function becomes its address."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(plain(v, name) for v in value)
    where = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '<')}"
    if callable(value) and "<" not in where:
        return where
    raise MetricError(
        f"a parameter is {value!r:.80}",
        expected="text, a number, a list of these, or a function defined at the top of a module",
        do="define the function in a module that can be imported",
        where=name,
    )


def alternatives(needs: Any, name: str) -> tuple[tuple[str, ...], ...]:
    """Needs as alternatives, each a tuple of columns; one tuple of columns is one alternative."""
    if isinstance(needs, str) or all(isinstance(need, str) for need in needs):
        needs = (needs,)
    return tuple(columns(alternative, name) for alternative in needs)


def columns(names: Any, metric_name: str) -> tuple[str, ...]:
    """Names that are columns of a response, as a tuple."""
    unknown = [n for n in names if n not in FIELDS]
    if isinstance(names, str) or unknown:
        raise MetricError(
            f"needs {names!r}, which is not a column of a response",
            expected=f"a tuple of names among {', '.join(FIELDS)}",
            where=metric_name,
        )
    return tuple(names)


def deliveries_of(names: Sequence[str] | None, metric_name: str) -> tuple[str, ...]:
    """The deliveries on which a metric applies, in fixed order; None means those that arrived."""
    known = {d.value: d.arrived for d in Delivery}
    if names is None:
        return tuple(name for name, arrived in known.items() if arrived)
    if isinstance(names, str) or not names or any(name not in known for name in names):
        raise MetricError(
            f"deliveries {names!r}", expected=f"a tuple of names among {', '.join(known)}", where=metric_name
        )
    return tuple(name for name in known if name in names)


def check_grain(declared: dict[str, Any], name: str) -> None:
    """Statistics belong to grain run, which has one unit, because its value is made of many rows."""
    of_run, unit = declared["grain"] == "run", declared["unit"]
    if of_run != bool(declared["statistics"]) or (declared["additive"] and not of_run):
        raise MetricError(
            f"grain {declared['grain']} with statistics {declared['statistics']!r}",
            expected="statistics with grain run, and only there",
            where=name,
        )
    if unit == PER_ROW and (declared["grain"] != "response" or declared["names"]):
        raise MetricError(
            "a unit per row where a row has several values, or a value several rows",
            expected="grain response without names",
            where=name,
        )


def text(value: Any) -> str:
    """A parameter's value as it stands in the name of a metric."""
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
