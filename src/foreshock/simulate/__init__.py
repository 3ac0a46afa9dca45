"""Worlds whose truth is known: model families answering items, with the break planted or absent."""

from foreshock.simulate._attempts import attempt_world
from foreshock.simulate._choices import choice_world
from foreshock.simulate._curves import CURVES, curve
from foreshock.simulate._graded import graded_world
from foreshock.simulate._scaling import SCALING_KINDS, ScalingCurve, scaling_curve
from foreshock.simulate._score_curves import SCORE_KINDS, ScoreCurve, score_curve
from foreshock.simulate._suite import suite_world
from foreshock.simulate._tokens import token_world
from foreshock.simulate._world import Truth, World, ladder

__all__ = [
    "CURVES",
    "SCALING_KINDS",
    "SCORE_KINDS",
    "ScalingCurve",
    "ScoreCurve",
    "Truth",
    "World",
    "attempt_world",
    "choice_world",
    "curve",
    "graded_world",
    "ladder",
    "scaling_curve",
    "score_curve",
    "suite_world",
    "token_world",
]
