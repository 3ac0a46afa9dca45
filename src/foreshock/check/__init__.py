"""The main job: run what applies to a store and say what can be believed."""

from foreshock.check._check import CODES, CheckOptions, check
from foreshock.check._lights import LIGHTS, Standing, TaskFacts, trust_card

__all__ = ["CODES", "LIGHTS", "CheckOptions", "Standing", "TaskFacts", "check", "trust_card"]
