"""All rules on what a store shows or a design states, as one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import ConfigError, Progress, nearest, quiet, utc_now
from foreshock._version import __version__
from foreshock.lint import _label_rules as of_labels
from foreshock.lint import _metric_rules as of_metrics
from foreshock.lint import _model_rules as of_models
from foreshock.lint import _size_rules as of_sizes
from foreshock.lint._codes import rule
from foreshock.lint._design import design_facts
from foreshock.lint._facts import Benchmark, Facts, ModelLine
from foreshock.lint._kinds import kind_rows
from foreshock.lint._options import LintOptions
from foreshock.lint._power import POINTS
from foreshock.lint._store import Asked, Function, store_facts
from foreshock.lint._told import Said, Told, of_line, of_task
from foreshock.records import Counts, Document, ModelCard, Need, Run, State
from foreshock.scoring import score
from foreshock.series import family_label, model_cards, run_row
from foreshock.store import Store

TaskRule = Callable[[Benchmark, LintOptions], list[Told]]
LineRule = Callable[[ModelLine, LintOptions], list[Told]]

TASK_RULES: tuple[tuple[str, TaskRule], ...] = (
    ("FS201", of_metrics.only_hard),
    ("FS202", of_metrics.no_twin),
    ("FS203", of_sizes.too_few_items),
    ("FS205", of_sizes.too_few_repeats),
    ("FS206", of_metrics.chance_undeclared),
    ("FS208", of_labels.ceiling_unknown),
    ("FS209", of_labels.denominators_differ),
    ("FS210", of_metrics.misdeclared),
)
LINE_RULES: tuple[tuple[str, LineRule], ...] = (
    ("FS204", of_models.too_few_models),
    ("FS205", of_models.too_few_seeds),
    ("FS207", of_models.scale_gap),
)
_ORDER = (State.FIRING, State.PENDING, State.NO_DATA)


def lint_store(
    store: Store,
    options: LintOptions | None = None,
    *,
    designs: Sequence[Path] = (),
    scorers: Mapping[str, Function] | None = None,
    command: Sequence[str] = ("lint",),
    failures: Sequence[tuple[str, str]] = (),
    progress: Progress = quiet,
) -> Document:
    """Examine the benchmarks of a store.

    Args:
        store: The store; what is not scored yet is scored, nothing else changes.
        options: What to look at.
        designs: Design files that declare what the logs do not say (chance, kinds, checked labels), by task name; tasks
            in them that the store does not have are examined as designs.
        scorers: Functions ``(output, item) -> float`` by name, whose kind is measured like that of ``options.metrics``
            and held against what a design declares of a metric with that name.
        command: Arguments to name in the document.
        failures: (path, message) of files that could not be read.
        progress: Told about scoring and tasks.

    Raises:
        ConfigError: Nothing fits the options.
    """
    options = options or LintOptions()
    score(store, progress=progress)
    snapshot = store.snapshot()
    cards = model_cards(snapshot.runs(), options.corrections)
    runs = chosen_runs(snapshot.runs(), cards, options)
    facts = store_facts(snapshot, runs, cards, Asked(options, scorers or {}), progress)
    if designs:
        facts = _together(facts, design_facts(designs, options))
    return _document(facts, options, command, failures, runs)


def lint_design(
    paths: Sequence[Path], options: LintOptions | None = None, *, command: Sequence[str] = ("lint",)
) -> Document:
    """Examine designs before any run: lm-eval task YAML, Inspect task files, ``benchmark.toml``.

    Nothing in these files is run.

    Args:
        paths: Files or folders.
        options: What to look at.
        command: Arguments to name in the document.

    Raises:
        ReadError: Nothing in the paths is a design.
        ConfigError: Nothing fits the options.
    """
    options = options or LintOptions()
    facts = design_facts(paths, options)
    wanted = [b for b in facts.benchmarks if _fits(b.task, options.tasks)]
    if options.tasks and not wanted:
        raise _nothing("task", options.tasks, [b.task for b in facts.benchmarks])
    facts = Facts(tuple(wanted), facts.lines, facts.models, facts.unread)
    return _document(facts, options, command, (), ())


def examine_facts(facts: Facts, options: LintOptions) -> list[Said]:
    """Every answer of every rule that is asked for, most pressing first inside each place."""
    said = [
        of_task(code, benchmark, told)
        for benchmark in facts.benchmarks
        for code, check in TASK_RULES
        if options.wants(code)
        for told in check(benchmark, options)
    ]
    said += [
        of_line(code, line, told)
        for line in facts.lines
        for code, check_line in LINE_RULES
        if options.wants(code)
        for told in check_line(line, options)
    ]
    if not facts.models:
        said += [_no_models(code) for code in ("FS204", "FS207") if options.wants(code)]
    return said


def _no_models(code: str) -> Said:
    line = ModelLine("models", "any axis", (), (), (), ())
    told = Told(
        State.NO_DATA,
        "the models that will be run are not stated",
        "declare them in benchmark.toml: [[models]] family, axis, points",
        needs=[Need(what="models on the axis", have=None, enough=POINTS)],
    )
    return of_line(code, line, told)


def _together(seen: Facts, designed: Facts) -> Facts:
    declared = {benchmark.task: benchmark for benchmark in designed.benchmarks}
    known = {benchmark.task for benchmark in seen.benchmarks}
    merged = tuple(b.declared_by(declared[b.task]) if b.task in declared else b for b in seen.benchmarks)
    new = tuple(benchmark for benchmark in designed.benchmarks if benchmark.task not in known)
    return Facts((*merged, *new), (*seen.lines, *designed.lines), seen.models or designed.models, designed.unread)


def _document(
    facts: Facts,
    options: LintOptions,
    command: Sequence[str],
    failures: Sequence[tuple[str, str]],
    runs: Sequence[Run],
) -> Document:
    said = examine_facts(facts, options)
    unread = [*failures, *facts.unread]
    return Document(
        foreshock=__version__,
        command=list(command),
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in runs)),
        findings=[one.finding for one in said],
        tables={
            "lint": [_row(one) for one in said],
            "rules": _rule_rows(said, facts, options),
            "kinds": [row for benchmark in facts.benchmarks for row in kind_rows(benchmark)],
            "runs": [run_row(run) for run in runs],
            "failures": [{"path": path, "message": message} for path, message in unread],
        },
    )


def _row(one: Said) -> dict[str, Any]:
    finding = one.finding
    return {
        "finding_id": finding.id,
        "place": one.place,
        "task": finding.subject.task,
        "code": finding.code,
        "name": rule(finding.code).name,
        "verdict": finding.verdict,
        "state": finding.state.value,
        "metric": finding.subject.metric,
        "message": finding.title.removeprefix(f"{one.place}: "),
        "hint": one.hint,
        "enough": [msgspec.to_builtins(need) for need in finding.needs],
    }


def _rule_rows(said: Iterable[Said], facts: Facts, options: LintOptions) -> list[dict[str, Any]]:
    """How many places each rule looked at and what it said: a silent rule is not one that did not look."""
    counts: dict[str, Counter[State]] = {}
    for one in said:
        counts.setdefault(one.finding.code, Counter())[one.finding.state] += 1
    looked = Counter({code: len(facts.benchmarks) for code, _ in TASK_RULES})
    # what only runs can show was not looked at in a design
    for code in ("FS209", "FS210"):
        looked[code] = sum(benchmark.observed for benchmark in facts.benchmarks)
    for code, _ in LINE_RULES:
        looked[code] += len(facts.lines)
    return [
        {
            "code": code,
            "name": rule(code).name,
            "about": rule(code).title,
            "places": looked[code],
            **{state.value.replace("-", "_"): counts.get(code, Counter())[state] for state in _ORDER},
        }
        for code in sorted(looked)
        if options.wants(code)
    ]


def chosen_runs(runs: Sequence[Run], cards: Mapping[str, ModelCard], options: LintOptions) -> list[Run]:
    """Runs that fit the options.

    Args:
        runs: What there is.
        cards: Their model cards, by run key.
        options: Run keys and patterns of names.

    Raises:
        ConfigError: None fits; the message names what there is.
    """
    if not runs:
        raise ConfigError("the store has no runs", expected="at least one run", do="run: foreshock add PATH")
    left = [run for run in runs if options.runs is None or run.run_key in options.runs]
    if not left:
        raise ConfigError("none of the store's runs is one of those that were given", do="see: foreshock ls --all")
    for kind, patterns in (("task", options.tasks), ("model", options.models), ("family", options.families)):
        names = {
            run.run_key: family_label(cards[run.run_key]) if kind == "family" else getattr(run, kind) for run in left
        }
        kept = [run for run in left if _fits(names[run.run_key], patterns)]
        if not kept:
            raise _nothing(kind, patterns, sorted({*names.values()}))
        left = kept
    return left


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _nothing(kind: str, patterns: Sequence[str], names: Sequence[str]) -> ConfigError:
    near = [name[:80] for pattern in patterns for name in nearest(pattern, names)]
    return ConfigError(
        f"no {kind} is called {' or '.join(f'{p!r:.80}' for p in patterns)}",
        expected="a name or a pattern that fits one of: " + ", ".join(name[:80] for name in names[:8]),
        do=f"did you mean {near[0]}?" if near else "see what there is: foreshock ls",
    )
