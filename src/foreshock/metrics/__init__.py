"""Metrics: functions of responses that say what kind of measurement they are."""

from foreshock.metrics._harness import HarnessMetric, harness_metric
from foreshock.metrics._position import positions
from foreshock.metrics._registry import get_metric, list_metrics
from foreshock.metrics._response import FIELDS, Response
from foreshock.metrics._score import ScoreColumns, score_batch
from foreshock.metrics._spec import Inapplicable, MetricSpec, metric

__all__ = [
    "FIELDS",
    "HarnessMetric",
    "Inapplicable",
    "MetricSpec",
    "Response",
    "ScoreColumns",
    "get_metric",
    "harness_metric",
    "list_metrics",
    "metric",
    "positions",
    "score_batch",
]
