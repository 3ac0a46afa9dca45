"""Which runs are looked at, and what to say when that is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from foreshock._base import ConfigError, count_of, nearest
from foreshock.records import Run

_LISTED = 8

Labels = Mapping[str, str]


def chosen(
    runs: Sequence[Run],
    keys: Collection[str] | None,
    patterns: Mapping[str, Sequence[str]],
    families: Labels | Callable[[Sequence[Run]], Labels],
) -> list[Run]:
    """Runs that fit.

    Args:
        runs: What there is.
        keys: Only these; None is all.
        patterns: Glob patterns for ``task``, ``model`` and ``family``, of which one must fit; none fit everything.
        families: Name of the family of each run, by run key; or what gives those of some runs. It is asked only where a
            family is, and only about runs that fit otherwise: a store may hold thousands of others.

    Raises:
        ConfigError: No run fits; the message names what there is, near names first.
    """
    if not runs:
        raise ConfigError("the store has no runs", expected="at least one run", do="run: foreshock add PATH")
    given = left = [run for run in runs if keys is None or run.run_key in keys]
    if not left:
        raise ConfigError(
            f"none of the store's {count_of(len(runs), 'run')} is one of those that were given",
            expected="at least one run that was neither removed nor superseded",
            do="see what became of them: foreshock ls --all",
        )
    for kind, wanted in patterns.items():
        if not wanted:
            continue
        labels = families(left) if kind == "family" and callable(families) else families
        names = {run.run_key: _name(kind, run, labels) for run in left}
        kept = [run for run in left if any(fnmatchcase(names[run.run_key], p) for p in wanted)]
        if not kept:
            raise _nothing(kind, wanted, sorted({*names.values()}), whole=len(left) == len(given))
        left = kept
    return left


def _name(kind: str, run: Run, families: Labels | Callable[[Sequence[Run]], Labels]) -> str:
    return (
        families[run.run_key]
        if not callable(families) and kind == "family"
        else run.task
        if kind == "task"
        else run.model
    )


def _nothing(kind: str, wanted: Sequence[str], names: Sequence[str], *, whole: bool) -> ConfigError:
    near = list(dict.fromkeys(name for pattern in wanted for name in nearest(pattern, names)))
    listed = list(dict.fromkeys([*near, *names]))[:_LISTED]
    more = f" and {len(names) - len(listed):,} more" if len(names) > len(listed) else ""
    many = count_of(len(names), kind, "families" if kind == "family" else None)
    among = "" if whole else " of the runs that fit so far"
    return ConfigError(
        f"no {kind}{among} is called {' or '.join(map(repr, wanted))}",
        expected=f"a name, or a pattern such as '{_pattern(wanted[0])}'; there {'is' if len(names) == 1 else 'are'} "
        f"{many}: {', '.join(name[:80] for name in listed)}{more}",
        do=f"did you mean {near[0][:80]}? see what there is: foreshock ls"
        if near
        else "see what there is: foreshock ls",
    )


def _pattern(wanted: str) -> str:
    return f"*{wanted.strip('*')[:40]}*"
