"""Optional dependencies, asked for in one way."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from foreshock._base._errors import MissingExtraError


def require(module: str, extra: str, feature: str) -> Any:
    """Import ``module`` or say which extra brings it.

    Args:
        module: Module to import, for example ``"duckdb"``.
        extra: Extra of this package that installs it.
        feature: What the user asked for, for the message.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"{feature} needs the package {module}, which is not installed",
            do=f"run: pip install 'foreshock[{extra}]'",
        ) from None
