"""Scoring: apply metrics to the store, compare with the harness, aggregate."""

from foreshock.scoring._aggregate import Aggregate, aggregate
from foreshock.scoring._agreement import Agreement, Difference, agreement, agreement_of
from foreshock.scoring._defaults import default_metrics, stored_specs
from foreshock.scoring._executors import cluster, processes
from foreshock.scoring._joined import Column, Joined, joined
from foreshock.scoring._moments import Moments
from foreshock.scoring._needs import Lack, needs
from foreshock.scoring._score import Failures, Scored, score

__all__ = [
    "Aggregate",
    "Agreement",
    "Column",
    "Difference",
    "Failures",
    "Joined",
    "Lack",
    "Moments",
    "Scored",
    "aggregate",
    "agreement",
    "agreement_of",
    "cluster",
    "default_metrics",
    "joined",
    "needs",
    "processes",
    "score",
    "stored_specs",
]
