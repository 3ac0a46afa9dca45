"""Stored runs out again, in the formats that other tools read."""

from foreshock.export._every_eval_ever import Exported, write_every_eval_ever

__all__ = ["Exported", "write_every_eval_ever"]
