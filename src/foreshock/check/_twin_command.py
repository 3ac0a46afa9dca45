"""The exact command that would bring a twin, for the harness that wrote the logs."""

from __future__ import annotations

from collections.abc import Callable

from foreshock.check._how import NO_RATE, REPEATS, How, words
from foreshock.check._how_items import how_items
from foreshock.check._how_lm_eval import how_lm_eval
from foreshock.records import Run

__all__ = ["How", "how_to_count", "how_to_get_a_twin", "keep_responses"]


def how_to_get_a_twin(run: Run, *, totals: bool, choices: bool = False, rates: bool = True) -> How:
    """What to do for a twin.

    Args:
        run: A run of the line; its format decides, and its model and task stand in the command.
        totals: Whether only totals are in the logs.
        choices: Whether the items offer options.
        rates: Whether a pass rate over repeats would be one. It is none of a difference between conditions, which is
            judged on the metric's own scale: there the mean over repeats is the metric itself.

    Examples:
        >>> run = Run(run_key="k", format="inspect", reader="r@1", model="openai/gpt-4o", task="sums")
        >>> how_to_get_a_twin(run, totals=False).command
        'inspect eval sums --model openai/gpt-4o --epochs 10 --temperature 0.7'
    """
    if run.format == "lm-eval":
        return how_lm_eval(run, totals=totals, choices=choices)
    if run.format == "items":
        return how_items(run, choices=choices, rates=rates)
    if not rates and not (choices and run.format in _OPTIONS) and run.format not in _NO_REPEATS:
        return NO_RATE
    make = _BY_FORMAT.get(run.format)
    return _ANY if make is None else make(run, totals, choices)


_ANY = How("a twin (log-probability of the right answer, or several answers to each item)", None)


def _inspect(run: Run, totals: bool, _choices: bool) -> How:
    # the log-probabilities that Inspect logs are those of what the model wrote, not of the right answer
    file = run.meta.get("task_file")
    task = f"{file}@{run.task.rpartition('/')[2]}" if isinstance(file, str) and file else run.task
    command = words("inspect", "eval", task, "--model", run.model, "--epochs", str(REPEATS), "--temperature", "0.7")
    return How(f"the pass rate of each item over {REPEATS} answers", command, _KEEP_SAMPLES if totals else "")


_KEEP_SAMPLES = "Keep whole logs (no --no-log-samples)."


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
    return How(gives, words("helm-run", *entries, "--suite", "twin", "--max-eval-instances", most))


def _and(entry: str) -> str:
    return entry if entry.endswith(":") else f"{entry},"


def _lighteval(run: Run, _totals: bool, choices: bool) -> How:
    before = "" if choices else "Give the task a form with choices, or a metric that samples, such as pass@k."
    command = words(
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
    command = words(
        *("python", "-m", "swebench.harness.run_evaluation", "--predictions_path", "all_preds.jsonl"),
        *("--run_id", run.model.replace("/", "__")),
    )
    return How("the share of tests passed (a report.json for each instance)", command)


def _table(run: Run, _totals: bool, _choices: bool) -> How:
    said = _said(run)
    command = f"{said or words('foreshock', 'mirage', '--csv', _path(run))} --twin COLUMN"
    column = "A continuous score of the same outputs has to stand in a column of the table, say COLUMN"
    return How("a twin", command, f"{column}{'' if said else '; give it beside the options that read the table'}.")


def how_to_count(run: Run) -> How:
    """What to do for totals of a table that have a twin and do not say of how many items they are."""
    said = _said(run)
    command = f"{said or words('foreshock', 'mirage', '--csv', _path(run))} --n ITEMS"
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


def _path(run: Run) -> str:
    return run.sources[0].path if run.sources else "TABLE"


_RESPONSES = {
    "inspect": "keep the samples: the whole Inspect log, without --no-log-samples, instead of its header",
    "lm-eval": "keep the responses: lm-eval --log_samples",
    "table": "add the logs of the runs, or a table with a row for each response, beside these scores",
}
_ANY_RESPONSES = "add the log or table that holds a row for each response"


def keep_responses(log_format: str) -> str:
    """How responses come to be there where a log of that format holds totals alone, as an instruction."""
    return _RESPONSES.get(log_format, _ANY_RESPONSES)


_BY_FORMAT: dict[str, Callable[[Run, bool, bool], How]] = {
    "inspect": _inspect,
    "helm": _helm,
    "lighteval": _lighteval,
    "promptfoo": _promptfoo,
    "deepeval": _deepeval,
    "swe-bench": _swe_bench,
    "table": _table,
}
# harnesses that log the log-probabilities of options, and forms of logs whose twin is not made of repeats
_OPTIONS = frozenset({"helm", "lighteval"})
_NO_REPEATS = frozenset({"swe-bench", "table"})
