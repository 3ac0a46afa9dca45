"""Which metrics a store is scored with when nobody says."""

from __future__ import annotations

from collections.abc import Iterable

from foreshock._base import MetricError
from foreshock.metrics import METRIC_GROUPS, MetricSpec, get_metric, list_metrics, metric_group
from foreshock.store import Snapshot, Store

STREAM = "scoring"
"""State stream that says what metric ids stand for, and which metrics do not apply to which segments."""

DEFAULTS = (
    "exact_match",
    "multiple_choice_grade",
    "gold_logprob(per=token)",
    "gold_logprob",
    "gold_probability",
    "choice_probability",
    "brier",
    "choice_margin",
    "pass_rate",
    "numeric_closeness",
    "token_similarity",
    "char_similarity",
    "position_accuracy",
)
"""Hard metrics, then their twins, first choice first. A task gets those that its responses have the inputs for."""


def specs_of(metrics: Iterable[MetricSpec | str] | None) -> list[MetricSpec]:
    """The metrics asked for, or the default ones; each once, in the given order. A group stands for its metrics.

    Raises:
        MetricError: A name or parameter is unknown.
    """
    found: list[MetricSpec] = []
    for asked in DEFAULTS if metrics is None else metrics:
        if isinstance(asked, MetricSpec):
            found.append(asked)
        elif asked in METRIC_GROUPS:
            found += metric_group(asked)
        else:
            found.append(get_metric(asked))
    return list(dict.fromkeys(found))


def default_metrics() -> list[MetricSpec]:
    """The metrics that a store is scored with when nobody says, hard ones first, then twins, first choice first.

    Examples:
        >>> [str(m) for m in default_metrics()][:3]
        ['exact_match', 'multiple_choice_grade', 'gold_logprob(per=token)']
    """
    return specs_of(None)


def stored_specs(snapshot: Snapshot) -> dict[str, MetricSpec]:
    """Metrics by the ids under which their values may be stored: the known ones, and those that scored this store.

    A metric that scored the store but cannot be made here now (a plugin that is not installed) is left out.
    """
    specs = [*default_metrics(), *list_metrics()]
    for entry in Store(snapshot.root).stream(STREAM).read():
        for told in entry.value["specs"].values():
            try:
                specs.append(get_metric(told["metric"]))
            except MetricError:
                continue
    return {metric_id: spec for spec in specs for metric_id in spec.ids}
