"""Integrity: is something wrong with the logs or the harness, before anything is said about models?"""

from foreshock.integrity._changes import changes
from foreshock.integrity._examine import BETWEEN, CODES, between, examine
from foreshock.integrity._pairing import Pairing, pairing
from foreshock.integrity._together import Together, fell_together

__all__ = ["BETWEEN", "CODES", "Pairing", "Together", "between", "changes", "examine", "fell_together", "pairing"]
