"""An early-warning system for LLM evaluations: is this jump real, or made by the metric?

The main names stand here; every room (``foreshock.records``, ``foreshock.metrics``, ...) has more. Nothing is imported
before it is used, so that ``import foreshock`` costs next to nothing.

Examples:
    >>> import foreshock
    >>> foreshock.get_metric("exact_match")({"answer": "4", "targets": ["4"]})
    1.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from foreshock._version import __version__

if TYPE_CHECKING:
    from foreshock._base import ForeshockError
    from foreshock.metrics import get_metric, list_metrics, metric
    from foreshock.readers import ReadOptions, read_paths
    from foreshock.records import Finding, parse_model
    from foreshock.scoring import score
    from foreshock.store import Store, add_paths

__all__ = [
    "Finding",
    "ForeshockError",
    "ReadOptions",
    "Store",
    "__version__",
    "add_paths",
    "get_metric",
    "list_metrics",
    "metric",
    "parse_model",
    "read_paths",
    "score",
]

_HOMES = {
    "Finding": "records",
    "ForeshockError": "_base",
    "ReadOptions": "readers",
    "Store": "store",
    "add_paths": "store",
    "get_metric": "metrics",
    "list_metrics": "metrics",
    "metric": "metrics",
    "parse_model": "records",
    "read_paths": "readers",
    "score": "scoring",
}
_ROOMS = (
    "alarms",
    "check",
    "compare",
    "curves",
    "demo",
    "export",
    "integrity",
    "lint",
    "metrics",
    "mirage",
    "models",
    "readers",
    "records",
    "report",
    "scoring",
    "series",
    "simulate",
    "stats",
    "store",
    "tasks",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"foreshock.{_HOMES[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"foreshock.{name}")
    else:
        raise AttributeError(f"module 'foreshock' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
