"""What ``--fail-on`` may name: a typing error in CI would otherwise never fail anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foreshock._base import AlarmsConfig, ConfigError


def fits(name: str, codes: Iterable[str]) -> bool:
    """Whether ``name`` is the beginning of a code."""
    return bool(name) and any(code.startswith(name) for code in codes)


def refuse_without_lines(names: Iterable[str], settings: AlarmsConfig) -> None:
    """Refuse to wait for a line to be crossed where the settings have none: the gate would be open, and look shut.

    Args:
        names: What ``--fail-on`` names.
        settings: The table ``alarms``.

    Raises:
        ConfigError: One of the names stands for lines alone, and there is no line.
    """
    for name in names:
        if name in ("crossed", "FS403") and not settings.thresholds:
            raise ConfigError(
                f"nothing can fire under --fail-on {name!r}: no line is set",
                expected="lines that scores must not cross",
                do="write them under [alarms.thresholds] of foreshock.toml",
            )


def refuse_unknown(names: Iterable[str], words: Sequence[str], codes: Sequence[str], do: str | None = None) -> None:
    """Refuse a name under which nothing of a command can ever fire.

    Args:
        names: What was asked for.
        words: Verdicts, lights, rules and ``any``.
        codes: Codes that can fire, named by their beginning.
        do: What to do instead.

    Raises:
        ConfigError: A name is neither a word nor the beginning of a code.
    """
    for name in names:
        if name not in words and not fits(name, codes):
            raise ConfigError(
                f"nothing can fire under --fail-on {name!r:.80}",
                expected=f"{', '.join(words)}, or {', '.join(codes)}",
                do=do,
            )
