"""Entry points: how other packages add metrics, readers and the rest. A broken plugin is a warning, never a stop."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Any


@cache
def load_plugins(group: str) -> dict[str, Any]:
    """Load every entry point of ``foreshock.<group>`` by name, in alphabetical order.

    Args:
        group: For example ``"metrics"`` or ``"readers"``.

    Returns:
        Name to loaded object. A plugin that fails to import is left out with a ``RuntimeWarning`` that names it.
    """
    found: dict[str, Any] = {}
    for point in sorted(entry_points(group=f"foreshock.{group}"), key=lambda p: p.name):
        try:
            found[point.name] = point.load()
        except Exception as error:  # noqa: BLE001 - whatever a stranger's module raises must not stop the user's work
            warnings.warn(
                f"plugin {point.name!r} of {group} ({point.value}) did not load: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
    return found
