"""The main job: run what applies to a store and say what can be believed."""

from foreshock.check._check import CheckOptions, check
from foreshock.check._lights import Standing, TaskFacts, trust_card

__all__ = ["CheckOptions", "Standing", "TaskFacts", "check", "trust_card"]
