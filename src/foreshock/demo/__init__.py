"""Logs that ship with the package: a ladder of small transformers that learn arithmetic, trained by us.

``experiments/arithmetic_ladder`` says how they were made; the logs are in the layout of lm-evaluation-harness 0.4.7.
"""

from foreshock.demo._unpack import unpack

__all__ = ["unpack"]
