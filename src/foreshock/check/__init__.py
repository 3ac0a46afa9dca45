"""The main job: run what applies to a store and say what can be believed."""

from foreshock.check._check import CODES, check, mirage_document
from foreshock.check._chosen import chosen
from foreshock.check._lights import LIGHTS, Standing, TaskFacts, trust_card
from foreshock.check._look import CheckOptions

__all__ = [
    "CODES",
    "LIGHTS",
    "CheckOptions",
    "Standing",
    "TaskFacts",
    "check",
    "chosen",
    "mirage_document",
    "trust_card",
]
