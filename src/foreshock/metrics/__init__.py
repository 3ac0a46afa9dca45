"""Metrics: functions of responses that say what kind of measurement they are."""

from foreshock.metrics._extracted import is_whole_text
from foreshock.metrics._harness import HarnessMetric, harness_metric
from foreshock.metrics._judge import Judge, Missed, miss_rates
from foreshock.metrics._judge_probability import use_judge
from foreshock.metrics._position import positions
from foreshock.metrics._quantity import PER_ROW, Quantity
from foreshock.metrics._reasoning import BACKTRACK_MARKERS
from foreshock.metrics._registry import METRIC_GROUPS, get_metric, list_metrics, metric_group
from foreshock.metrics._reliability import Reliability, reliability
from foreshock.metrics._response import FIELDS, Response, Step
from foreshock.metrics._score import ScoreColumns, score_batch
from foreshock.metrics._semantic import use_vectors
from foreshock.metrics._spec import Inapplicable, MetricSpec, metric
from foreshock.metrics._stops import REFUSAL_PHRASES

__all__ = [
    "BACKTRACK_MARKERS",
    "FIELDS",
    "METRIC_GROUPS",
    "PER_ROW",
    "REFUSAL_PHRASES",
    "HarnessMetric",
    "Inapplicable",
    "Judge",
    "MetricSpec",
    "Missed",
    "Quantity",
    "Reliability",
    "Response",
    "ScoreColumns",
    "Step",
    "get_metric",
    "harness_metric",
    "is_whole_text",
    "list_metrics",
    "metric",
    "metric_group",
    "miss_rates",
    "positions",
    "reliability",
    "score_batch",
    "use_judge",
    "use_vectors",
]
