"""What the findings of this room have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foreshock.records import Alternative, Rate, Run

CERTAIN = Rate(stated=0.0)
"""Rate of a finding that is arithmetic or a comparison of what two logs state: no chance enters."""

EVIDENCE = 20
"""Responses or runs that a finding names; ``evidence_total`` says how many there are."""

_SHOWN = 3


def ruled_out(name: str, why: str) -> Alternative:
    """Another explanation that the logs exclude."""
    return Alternative(name=name, status="ruled-out", why=why)


def possible(name: str, why: str) -> Alternative:
    """Another explanation that the logs leave open."""
    return Alternative(name=name, status="possible", why=why)


def models(runs: Iterable[Run]) -> str:
    """Names of the models of some runs, a few of them.

    Examples:
        >>> from foreshock.records import Run
        >>> run = Run(run_key="1", format="inspect", reader="inspect@1", model="m", task="t")
        >>> models([run, run])
        'm'
    """
    return some(sorted({run.model for run in runs}))


def some(names: Sequence[str]) -> str:
    """A few names in a sentence, and how many more there are.

    Examples:
        >>> some(["a", "b"]), some(["a", "b", "c", "d", "e"])
        ('a, b', 'a, b, c and 2 more')
    """
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
