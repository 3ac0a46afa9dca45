"""The exact command that would bring a twin, for the harness that wrote the logs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from foreshock.records import Run

REPEATS = 10
"""Answers per item for a pass rate: with ten, a share of a twentieth of the items is already told from none."""


class How(NamedTuple):
    """How a twin would come to be.

    Attributes:
        gives: What it would be, as the end of a sentence.
        command: What to run, complete for the run in hand; None where no option of the harness does it.
        before: What has to be done first, one sentence; empty where nothing has.
    """

    gives: str
    command: str | None
    before: str = ""

    @property
    def sentence(self) -> str:
        """All of it for a person."""
        do = f"run `{self.command}`" if self.command else "add logs that hold it"
        return f"{self.before + ' ' if self.before else ''}To get {self.gives}: {do}."

    @property
    def general(self) -> str:
        """The same for several tasks and models, without the command."""
        do = "run the following, once for each task and model" if self.command else "add logs that hold it"
        return f"{self.before + ' ' if self.before else ''}To get {self.gives}: {do}."


def how_to_get_a_twin(run: Run, *, totals: bool, choices: bool = False) -> How:
    """What to do for a twin.

    Args:
        run: A run of the line; its format decides, and its model and task stand in the command.
        totals: Whether only totals are in the logs.
        choices: Whether the items offer options.

    Examples:
        >>> run = Run(run_key="k", format="inspect", reader="r@1", model="openai/gpt-4o", task="sums")
        >>> how_to_get_a_twin(run, totals=False).command
        'inspect eval sums --model openai/gpt-4o --epochs 10 --temperature 0.7'
    """
    make = _BY_FORMAT.get(run.format)
    return _any(run) if make is None else make(run, totals, choices)


def _any(_run: Run) -> How:
    return How("a twin (log-probability of the right answer, or several answers to each item)", None)


def _inspect(run: Run, totals: bool, _choices: bool) -> How:
    # the log-probabilities that Inspect logs are those of what the model wrote, not of the right answer
    file = run.meta.get("task_file")
    task = f"{file}@{run.task.rpartition('/')[2]}" if isinstance(file, str) and file else run.task
    command = _words("inspect", "eval", task, "--model", run.model, "--epochs", str(REPEATS), "--temperature", "0.7")
    return How(f"the pass rate of each item over {REPEATS} answers", command, _KEEP_SAMPLES if totals else "")


_KEEP_SAMPLES = "Keep whole logs (no --no-log-samples)."


def _lm_eval(run: Run, totals: bool, choices: bool) -> How:
    task, extra, before = run.task, [], ""
    gives = "the log-probability of the right answer or option"
    if not totals and not choices:
        task = f"{run.task}_loglikelihood"
        extra = ["--include_path", "."]
        before = (
            f"Generated text has no log-probability of the right answer: write {task}.yaml with `include: "
            f"{run.task}.yaml`, `task: {task}` and `output_type: loglikelihood`."
        )
    shots = run.conditions.get("shots")
    command = _words(
        *("lm_eval", "--model", str(run.meta.get("backend") or "hf"), "--model_args", _arguments(run)),
        *("--tasks", task, *(["--num_fewshot", shots] if shots else []), *extra),
        *("--log_samples", "--output_path", "logs"),
    )
    return How(gives, command, before)


def _arguments(run: Run) -> str:
    told = run.meta.get("model_args")
    if isinstance(told, Mapping):
        return ",".join(f"{key}={value}" for key, value in told.items())
    if isinstance(told, str) and told:
        return told
    name, _, revision = run.model.partition("@")
    return f"pretrained={name}" + (f",revision={revision}" if revision else "")


def _helm(run: Run, _totals: bool, choices: bool) -> How:
    name = run.task if ":" in run.task else f"{run.task}:"
    joint = "method=multiple_choice_joint" in name
    entry = name.replace("method=multiple_choice_joint", "method=multiple_choice_separate_original")
    gives = "the log-probabilities of the options"
    if not (joint or choices):
        entry = f"{_and(name)}num_outputs={REPEATS},temperature=0.7"
        gives = f"the pass rate of each item over {REPEATS} answers"
    model = str(run.meta.get("deployment") or run.model)
    most = run.conditions.get("limit") or "1000"
    entries = ("--run-entries", f"{_and(entry)}model={model}")
    return How(gives, _words("helm-run", *entries, "--suite", "twin", "--max-eval-instances", most))


def _and(entry: str) -> str:
    return entry if entry.endswith(":") else f"{entry},"


def _lighteval(run: Run, _totals: bool, choices: bool) -> How:
    before = "" if choices else "Give the task a form with choices, or a metric that samples, such as pass@k."
    command = _words(
        "lighteval", "accelerate", f"model_name={run.model}", run.task, "--save-details", "--output-dir", "logs"
    )
    return How("the log-probabilities of the options, or several answers to each item", command, before)


def _promptfoo(_run: Run, _totals: bool, _choices: bool) -> How:
    command = f"promptfoo eval --repeat {REPEATS} --no-cache --output results.json"
    return How(f"the pass rate of each test over {REPEATS} answers", command)


def _deepeval(_run: Run, _totals: bool, _choices: bool) -> How:
    return How(
        f"the pass rate of each test case over {REPEATS} answers", f"deepeval test run TEST_FILE.py --repeat {REPEATS}"
    )


def _swe_bench(run: Run, _totals: bool, _choices: bool) -> How:
    command = _words(
        *("python", "-m", "swebench.harness.run_evaluation", "--predictions_path", "all_preds.jsonl"),
        *("--run_id", run.model.replace("/", "__")),
    )
    return How("the share of tests passed (a report.json for each instance)", command)


def _table(run: Run, _totals: bool, _choices: bool) -> How:
    said = _said(run)
    command = f"{said or _words('foreshock', 'mirage', '--csv', _path(run))} --twin COLUMN"
    column = "A continuous score of the same outputs has to stand in a column of the table, say COLUMN"
    return How("a twin", command, f"{column}{'' if said else '; give it beside the options that read the table'}.")


def how_to_count(run: Run) -> How:
    """What to do for totals of a table that have a twin and do not say of how many items they are."""
    said = _said(run)
    command = f"{said or _words('foreshock', 'mirage', '--csv', _path(run))} --n ITEMS"
    before = "The number of items behind each score has to be known: a number, or the name of a column, say ITEMS"
    beside = "" if said else "; give it beside the options that read the table"
    return How("a verdict on the totals", command, f"{before}{beside}.")


def _said(run: Run) -> str | None:
    """The command that reads the table as it was understood, where it was understood without being told."""
    lines = run.meta.get("contact")
    for line in lines if isinstance(lines, list) else ():
        _, found, rest = str(line).partition("foreshock add ")
        if found:
            return f"foreshock mirage {rest}"
    return None


def _items(run: Run, _totals: bool, choices: bool) -> How:
    path = _words("foreshock", "check", _path(run))
    if choices:
        return How(
            f"the pass rate of each item over {REPEATS} answers",
            f"{path} --map epoch=COLUMN",
            f"The table has to hold {REPEATS} answers to each item, numbered in a column, say COLUMN.",
        )
    return How(
        "the closeness of answers, or their pass rate",
        f"{path} --map output=OUTPUTS,target=TARGETS,epoch=REPEATS",
        "The table has to hold columns of outputs and targets, better still several answers to each item.",
    )


def _path(run: Run) -> str:
    return run.sources[0].path if run.sources else "TABLE"


def _words(*words: str) -> str:
    """Words of a command, quoted where a shell would take them apart."""
    return shlex.join(words)


_RESPONSES = {
    "inspect": "keep the samples: the whole Inspect log, without --no-log-samples, instead of its header",
    "lm-eval": "keep the responses: lm-eval --log_samples",
    "table": "add the logs of the runs, or a table with a row for each response, beside these scores",
}
_ANY_RESPONSES = "add the log or table that holds a row for each response"


def keep_responses(log_format: str) -> str:
    """How responses come to be there where a log of that format holds totals alone, as an instruction."""
    return _RESPONSES.get(log_format, _ANY_RESPONSES)


_BY_FORMAT: dict[str, Callable[[Run, bool, bool], Any]] = {
    "inspect": _inspect,
    "lm-eval": _lm_eval,
    "helm": _helm,
    "lighteval": _lighteval,
    "promptfoo": _promptfoo,
    "deepeval": _deepeval,
    "swe-bench": _swe_bench,
    "table": _table,
    "items": _items,
}
