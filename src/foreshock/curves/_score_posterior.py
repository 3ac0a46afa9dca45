"""What scores say of every shape: level and rise at their best, how sure they are, and how likely the shape is.

For each shape the posterior of (level, rise) is taken as normal about its mode with the curvature there, and the
shape's evidence is Laplace's approximation (Tierney & Kadane 1986; MacKay 2003, chapter 27). The mode is found for all
shapes at once by Fisher scoring with Levenberg's damping. A score is as likely as under a normal law with the mean and
variance of a binomial share whose log-odds differ from the curve by noise: a score of 0 of n is no number on a link.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from foreshock.curves._score_shapes import LEVEL_SD, RISE_SD, Floats, Shapes, progress
from foreshock.stats import logit

_ROUNDS = 30
_LONGEST_STEP = 2.0
_EDGE = 1e-4
"""A share nearer than this to 0 or 1 has the variance of one that is not, where items are not known."""


class Posterior(NamedTuple):
    """Belief in each shape, and a normal law of its level and rise.

    Attributes:
        shapes: The shapes.
        weight: Posterior weight of each, shape (shapes,).
        level, rise: Modes, shape (shapes,).
        root: Lower triangular root of their covariance as columns (level, cross, rise), each of shape (shapes,).
    """

    shapes: Shapes
    weight: Floats
    level: Floats
    rise: Floats
    root: tuple[Floats, Floats, Floats]


class _Problem(NamedTuple):
    shapes: Shapes
    share: Floats
    """Scores as shares of the scale, shape (points,)."""
    rate: Floats
    """One over the items behind each; 0 where not known, shape (points,)."""
    along: Floats
    """Progress, shape (shapes, points)."""

    def curve(self, level: Floats, rise: Floats) -> tuple[Floats, Floats, Floats]:
        """Share, its slope by the level, and its variance, each of shape (shapes, points)."""
        s = self.shapes
        odds = logit.inverse(level[:, None] + rise[:, None] * self.along)
        height = (s.ceiling - s.floor)[:, None]
        share = s.floor[:, None] + height * odds
        edge = 0.25 * self.rate + _EDGE
        inner = np.clip(share, edge, 1 - edge)
        each = inner * (1 - inner)
        variance = each * self.rate + (each * s.noise[:, None]) ** 2 + (0.25 * self.rate) ** 2
        return share, height * odds * (1 - odds), variance

    def height(self, level: Floats, rise: Floats) -> Floats:
        """Log of likelihood times prior, shape (shapes,)."""
        share, _, variance = self.curve(level, rise)
        fit = ((self.share - share) ** 2 / variance + np.log(2 * np.pi * variance)).sum(axis=1)
        return np.asarray(-0.5 * (fit + (level / LEVEL_SD) ** 2 + (rise / RISE_SD) ** 2))

    def push(self, level: Floats, rise: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Gradient (level, rise) and information (level, cross, rise), each of shape (shapes,)."""
        share, slope, variance = self.curve(level, rise)
        pull, size = (self.share - share) * slope / variance, slope**2 / variance
        gradient = pull.sum(axis=1) - level / LEVEL_SD**2, (pull * self.along).sum(axis=1) - rise / RISE_SD**2
        cross = np.where(self.shapes.flat, 0.0, (size * self.along).sum(axis=1))
        own = (size * self.along**2).sum(axis=1) + 1 / RISE_SD**2
        return *gradient, size.sum(axis=1) + 1 / LEVEL_SD**2, cross, own


def posterior(place: Floats, share: Floats, items: Floats, shapes: Shapes) -> Posterior:
    """Posterior of every shape.

    Args:
        place: Places, of which the history spans [0, 1], ascending, shape (points,).
        share: Scores as shares of the scale, in [0, 1], shape (points,).
        items: Items behind each; NaN is not known, shape (points,).
        shapes: The shapes.

    Examples:
        >>> from foreshock.curves._score_shapes import shapes
        >>> found = posterior(np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.5, 0.8]), np.full(3, 1000.0), shapes())
        >>> round(float(found.weight.sum()), 6), bool(found.weight @ found.rise > 1)
        (1.0, True)
    """
    along = progress(place, shapes.damping)
    along[shapes.flat] = 0.0
    problem = _Problem(shapes, share, np.where(np.isnan(items), 0.0, 1 / items), along)
    level, rise = _climb(problem, *_start(shapes, share))
    _, _, one, cross, two = problem.push(level, rise)
    inverse = one * two - cross**2
    first = np.sqrt(two / inverse)
    root = first, -cross / inverse / first, np.where(shapes.flat, 0.0, 1 / np.sqrt(two))
    # a flat shape's information on the rise is the prior's alone, and cancels against the prior's own constant
    evidence = shapes.belief + problem.height(level, rise) - np.log(LEVEL_SD * RISE_SD) - 0.5 * np.log(inverse)
    weight = np.exp(evidence - evidence.max())
    return Posterior(shapes, weight / weight.sum(), level, rise, root)


def _start(shapes: Shapes, share: Floats) -> tuple[Floats, Floats]:
    def odds(value: float) -> Floats:
        return logit.forward(np.clip((value - shapes.floor) / (shapes.ceiling - shapes.floor), 0.02, 0.98))

    level = odds(float(share[-1]))
    return level, np.where(shapes.flat, 0.0, np.clip(level - odds(float(share[0])), -4.0, 4.0))


def _climb(problem: _Problem, level: Floats, rise: Floats) -> tuple[Floats, Floats]:
    """Damped Fisher scoring for all shapes at once; a step that does not climb is not taken."""
    damp, height = np.full(level.shape, 1e-2), problem.height(level, rise)
    for _ in range(_ROUNDS):
        by_level, by_rise, one, cross, two = problem.push(level, rise)
        one, two = one * (1 + damp), two * (1 + damp)
        inverse = one * two - cross**2
        up = np.clip((two * by_level - cross * by_rise) / inverse, -_LONGEST_STEP, _LONGEST_STEP)
        over = np.clip((one * by_rise - cross * by_level) / inverse, -_LONGEST_STEP, _LONGEST_STEP)
        over = np.where(problem.shapes.flat, 0.0, over)
        new = problem.height(level + up, rise + over)
        better = new > height
        level, rise = np.where(better, level + up, level), np.where(better, rise + over, rise)
        settled = np.where(better, new - height < 1e-6, damp > 1e3)
        height, damp = np.where(better, new, height), np.where(better, damp * 0.3, damp * 5.0)
        if settled.all():
            break
    return level, rise


def draws(found: Posterior, place: Floats, items: float, normals: Floats, least: float = 1e-5) -> tuple[Floats, Floats]:
    """Scores of new models as shares, with weights: the posterior predictive distribution.

    Sampling of items is drawn on the arcsine scale, where its size does not depend on the share (Anscombe 1948).

    Args:
        found: The posterior.
        place: Places, shape (targets,).
        items: Items behind a new score; NaN leaves their sampling out.
        normals: Standard normal numbers, shape (draws, 4).
        least: Shapes of less posterior weight are left out.

    Returns:
        Shares of shape (targets, kept shapes x draws), and their weights, shape (kept shapes x draws,).
    """
    kept = np.flatnonzero(found.weight > least)
    s = found.shapes.take(kept)
    one, cross, two = (part[kept, None] for part in found.root)
    level = found.level[kept, None] + one * normals[:, 0]
    rise = np.where(s.flat[:, None], 0.0, found.rise[kept, None] + cross * normals[:, 0] + two * normals[:, 1])
    along = progress(place, s.damping)
    along[s.flat] = 0.0
    curve = np.clip(level[None] + rise[None] * along.T[:, :, None], -30.0, 30.0)
    share = s.floor[:, None] + (s.ceiling - s.floor)[:, None] * logit.inverse(curve)
    noisy = logit.inverse(logit.forward(np.clip(share, 1e-9, 1 - 1e-9)) + s.noise[:, None] * normals[:, 2])
    if np.isfinite(items):
        angle = np.arcsin(np.sqrt(noisy)) + normals[:, 3] / (2 * np.sqrt(items))
        noisy = np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2
    weight = np.repeat(found.weight[kept] / found.weight[kept].sum() / len(normals), len(normals))
    return noisy.reshape(place.size, -1), weight
