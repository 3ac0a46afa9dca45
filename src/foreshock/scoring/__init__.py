"""Scoring: apply metrics to the store, compare with the harness, aggregate."""

from foreshock.scoring._aggregate import Aggregate, aggregate
from foreshock.scoring._agreement import Agreement, Difference, agreement
from foreshock.scoring._defaults import default_metrics, stored_specs
from foreshock.scoring._executors import cluster, processes
from foreshock.scoring._moments import Moments
from foreshock.scoring._needs import Lack, needs
from foreshock.scoring._score import Failures, Scored, score

__all__ = [
    "Aggregate",
    "Agreement",
    "Difference",
    "Failures",
    "Lack",
    "Moments",
    "Scored",
    "aggregate",
    "agreement",
    "cluster",
    "default_metrics",
    "needs",
    "processes",
    "score",
    "stored_specs",
]
