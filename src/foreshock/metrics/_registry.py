"""Which metrics there are: our own, the user's, and those of other packages."""

from __future__ import annotations

import difflib
import re
import warnings
from importlib import import_module
from typing import Any

import msgspec

from foreshock._base import MetricError, load_plugins
from foreshock.metrics._spec import Factory, MetricSpec

_BUILTINS: dict[str, str] = {
    "backtracks": "_reasoning",
    "bleu": "_bleu",
    "brier": "_brier",
    "byte_similarity": "_edit",
    "calibration_error": "_calibration",
    "char_similarity": "_edit",
    "character_error_rate": "_error_rates",
    "choice_margin": "_choice_margin",
    "choice_probability": "_brier",
    "chrf": "_chrf",
    "confidence": "_calibration",
    "corpus_bleu": "_bleu",
    "corpus_character_error_rate": "_error_rates",
    "corpus_chrf": "_chrf",
    "corpus_word_error_rate": "_error_rates",
    "distinct_tools": "_tools",
    "edit_distance": "_error_rates",
    "exact_match": "_exact_match",
    "gold_logprob": "_gold",
    "gold_probability": "_gold",
    "gold_rank": "_rank",
    "harness": "_harness_score",
    "judge_probability": "_judge_probability",
    "limit_reached": "_stops",
    "log_score": "_log_score",
    "longest_tool_chain": "_tools",
    "multiple_choice_grade": "_multiple_choice",
    "numeric_closeness": "_numeric",
    "output_length": "_length",
    "pass_at_k": "_pass_at_k",
    "pass_at_k_exact": "_pass_at_k",
    "pass_rate": "_pass_rate",
    "position_accuracy": "_position",
    "reasoning_length": "_reasoning",
    "reasoning_steps": "_reasoning",
    "reciprocal_rank": "_rank",
    "refusal_phrase": "_stops",
    "refused": "_stops",
    "rouge_1": "_rouge",
    "rouge_2": "_rouge",
    "rouge_l": "_rouge",
    "rouge_lsum": "_rouge",
    "semantic_similarity": "_semantic",
    "step_failed": "_turns",
    "stop_reason": "_stops",
    "stopped_early": "_stops",
    "sub_scores": "_sub_scores",
    "token_f1": "_token_f1",
    "token_similarity": "_edit",
    "tool_calls": "_tools",
    "tool_errors": "_tools",
    "tool_recoveries": "_tools",
    "turns": "_turns",
    "turns_before_failure": "_turns",
    "wasted_calls": "_tools",
    "word_error_rate": "_error_rates",
}
# a metric's module is loaded when the metric is asked for: rapidfuzz and numpy stay out of `import foreshock`

_GROUPS: dict[str, tuple[str, ...]] = {
    "text": (
        "token_f1",
        "token_similarity",
        "char_similarity",
        "byte_similarity",
        "position_accuracy",
        "word_error_rate",
        "character_error_rate",
        "rouge_1",
        "rouge_2",
        "rouge_l",
        "rouge_lsum",
        "bleu",
        "chrf",
        "chrf(word_order=2)",
        "corpus_bleu",
        "corpus_chrf",
        "corpus_word_error_rate",
        "corpus_character_error_rate",
    ),
    "probability": (
        "gold_logprob",
        "gold_probability",
        "choice_probability",
        "log_score",
        "brier",
        "choice_margin",
        "gold_rank",
        "reciprocal_rank",
        "confidence",
        "calibration_error",
        "pass_at_k",
        "pass_at_k_exact",
    ),
    "trace": (
        "tool_calls",
        "distinct_tools",
        "longest_tool_chain",
        "tool_errors",
        "tool_recoveries",
        "wasted_calls",
        "turns",
        "turns_before_failure",
        "step_failed",
        "reasoning_length",
        "reasoning_steps",
        "backtracks",
        "output_length",
        "stopped_early",
        "limit_reached",
        "stop_reason",
        "refused",
        "refusal_phrase",
        "sub_scores",
    ),
}
# each with default parameters, or with those that are written here

_OUTER_COMMA = re.compile(r",(?![^()]*\))")
# pass_rate(of=gold_logprob(per=token), threshold=-1): a comma inside brackets belongs to the metric there

_known: dict[str, Factory] = {}


METRIC_GROUPS: tuple[str, ...] = tuple(_GROUPS)
"""Names that :func:`metric_group` takes; no metric has one of them."""


def register(factory: Factory) -> None:
    """Add a metric; defining it again in the same place replaces it.

    Raises:
        MetricError: Another metric has this name.
    """
    if factory.name in _GROUPS:
        raise MetricError(f"{factory.name!r} is a group of metrics", do="give the metric another name")
    old = _known.get(factory.name)
    ours = _BUILTINS.get(factory.name)
    owner = old.origin if old else f"foreshock.metrics.{ours}:{factory.name}" if ours else factory.origin
    if owner != factory.origin:
        raise MetricError(
            f"the name {factory.name!r} is taken by {owner}", do="give the metric another name", where=factory.origin
        )
    _known[factory.name] = factory


def find(name: str, origin: str | None = None) -> Factory:
    """Find a metric by name; ``origin`` (``module:name``) is imported when nothing else brings it."""
    if name not in _known and name in _BUILTINS:
        import_module(f"foreshock.metrics.{_BUILTINS[name]}")
    if name not in _known and origin:
        _import(origin)
    if name not in _known:
        _load()
    if name in _known:
        return _known[name]
    names = {*_BUILTINS, *_known}
    near = difflib.get_close_matches(name, sorted(names), 3)
    raise MetricError(
        f"there is no metric {name!r}",
        expected=f"a name such as {', '.join(near)}" if near else f"one of {len(names)} known names, or a group",
        do=f"did you mean {near[0]!r}?" if near else "import what defines it: --import FILE.py, or import in Python",
    )


def get_metric(name: str, /, **params: Any) -> MetricSpec:
    """A metric by name, with parameters given as keywords or in the text (``"gold_logprob(per=token)"``).

    Raises:
        MetricError: There is no such metric or parameter.

    Examples:
        >>> get_metric("exact_match").id == get_metric("exact_match", normalise="strip").id
        True
        >>> str(get_metric("gold_logprob(per=token)"))
        'gold_logprob(per=token)'
    """
    name, told = _parse(name)
    return find(name)(**{**told, **params})


def metric_group(name: str) -> list[MetricSpec]:
    """The metrics of a group, in fixed order: ``text``, ``probability`` or ``trace``.

    Raises:
        MetricError: There is no such group.

    Examples:
        >>> [m.name for m in metric_group("probability")][:2]
        ['gold_logprob', 'gold_probability']
    """
    if name not in _GROUPS:
        raise MetricError(f"there is no group of metrics {name!r}", expected=f"one of {', '.join(METRIC_GROUPS)}")
    return [get_metric(each) for each in _GROUPS[name]]


def list_metrics() -> list[MetricSpec]:
    """Every metric that can be found now, with its default parameters, by name; one without defaults is left out.

    A metric of another package that cannot be made is left out with a ``RuntimeWarning``.

    Examples:
        >>> [m.name for m in list_metrics() if m.name.startswith("char_")]
        ['char_similarity']
    """
    _load()
    factories = [find(name) for name in sorted({*_BUILTINS, *_known})]
    usable = [factory for factory in factories if len(factory.defaults()) == len(factory.signature.parameters)]
    return [spec for factory in usable if (spec := _made(factory)) is not None]


def _made(factory: Factory) -> MetricSpec | None:
    try:
        return factory()
    except Exception as error:  # noqa: BLE001 - a stranger's factory may raise anything; the others are still listed
        told = f"the metric {factory.name!r} ({factory.origin}) cannot be made: {type(error).__name__}: {error}"
        warnings.warn(told, RuntimeWarning, stacklevel=3)
        return None


def _load() -> None:
    for name, plugin in load_plugins("metrics").items():
        if isinstance(plugin, Factory):
            _known.setdefault(plugin.name, plugin)
        elif not hasattr(plugin, "__path__") and not hasattr(plugin, "__spec__"):
            warnings.warn(
                f"plugin {name!r} of metrics is a {type(plugin).__name__}, not a factory decorated with @metric",
                RuntimeWarning,
                stacklevel=3,
            )


def _import(origin: str) -> None:
    module = origin.partition(":")[0]
    try:
        import_module(module)
    except ImportError as error:
        raise MetricError(
            f"the module {module} cannot be imported here ({error})",
            expected="a metric defined in a module that every process can import",
            do="move it out of the notebook or script into a file of its own",
            where=origin,
        ) from None


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """``name(key=value, ...)``; values are JSON where they look like it, else text."""
    name, bracket, rest = text.partition("(")
    if not bracket:
        return text, {}
    if not rest.endswith(")"):
        raise MetricError(f"{text!r} has no closing bracket", expected="name(parameter=value, ...)")
    told: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in _OUTER_COMMA.split(rest[:-1]))):
        key, equals, value = part.partition("=")
        if not equals:
            raise MetricError(f"{part!r} in {text!r} has no value", expected="name(parameter=value, ...)")
        told[key.strip()] = _value(value.strip())
    return name.strip(), told


def _value(text: str) -> Any:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text
