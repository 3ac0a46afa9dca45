"""What scores say of every shape: its coefficients at their best, how sure they are, and how likely the shape is.

For each shape the posterior of the coefficients is taken as normal about its mode with the curvature there, and the
shape's evidence is Laplace's approximation (Tierney & Kadane 1986; MacKay 2003, chapter 27). The mode is found for all
shapes at once by Fisher scoring with Levenberg's damping. A score is as likely as under a normal law with the mean and
variance of a binomial share whose log-odds differ from the curve by noise: a score of 0 of n is no number on a link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foreshock.curves._score_shapes import Floats, Shapes
from foreshock.stats import logit

_ROUNDS = 30
_LONGEST_STEP = 2.0
_EDGE = 1e-4
"""A share nearer than this to 0 or 1 has the variance of one that is not, where items are not known."""

_LEAST_WEIGHT = 1e-5
"""A shape of less posterior weight is not drawn from."""


class Posterior(NamedTuple):
    """Belief in each shape, and a normal law of its coefficients.

    Attributes:
        shapes: The shapes.
        weight: Posterior weight of each, shape (shapes,).
        mode: Coefficients, shape (shapes, coefficients).
        root: Lower triangular root of their covariance, shape (shapes, coefficients, coefficients).
    """

    shapes: Shapes
    weight: Floats
    mode: Floats
    root: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Scores and what is to explain them.

    Attributes:
        design: What each coefficient is multiplied with, shape (shapes or 1, points, coefficients).
        share: Scores as shares of the scale, in [0, 1], shape (points,).
        items: Items behind each; NaN is not known, shape (points,).
        spread: Standard deviations of the coefficients, normal about 0 before a score is seen, (coefficients,).
        count: How much each point counts, in (0, 1]: less than 1 where points depend on each other, shape (points,).
    """

    design: Floats
    share: Floats
    items: Floats
    spread: Floats
    count: Floats

    @property
    def rate(self) -> Floats:
        """One over the items; 0 where they are not known."""
        return np.where(np.isnan(self.items), 0.0, 1 / self.items)


def _curve(seen: Observed, shapes: Shapes, at: Floats) -> tuple[Floats, Floats, Floats]:
    """Share, its slope by the log-odds, and its variance, each of shape (shapes, points)."""
    odds = logit.inverse(np.matmul(seen.design, at[:, :, None])[:, :, 0])
    height = (shapes.ceiling - shapes.floor)[:, None]
    share = shapes.floor[:, None] + height * odds
    edge = 0.25 * seen.rate + _EDGE
    inner = np.clip(share, edge, 1 - edge)
    each = inner * (1 - inner)
    variance = each * seen.rate + (each * shapes.noise[:, None]) ** 2 + (0.25 * seen.rate) ** 2
    return share, height * odds * (1 - odds), variance


def _height(seen: Observed, shapes: Shapes, at: Floats) -> Floats:
    """Log of likelihood times prior, shape (shapes,)."""
    share, _, variance = _curve(seen, shapes, at)
    fit = (seen.count * ((seen.share - share) ** 2 / variance + np.log(2 * np.pi * variance))).sum(axis=1)
    return np.asarray(-0.5 * (fit + ((at / seen.spread) ** 2).sum(axis=1)))


def _push(seen: Observed, shapes: Shapes, at: Floats) -> tuple[Floats, Floats]:
    """Gradient (shapes, coefficients) and information (shapes, coefficients, coefficients)."""
    share, slope, variance = _curve(seen, shapes, at)
    pull = seen.count * (seen.share - share) * slope / variance
    size = seen.count * slope**2 / variance
    turned = np.swapaxes(seen.design, 1, 2)
    gradient = np.matmul(turned, pull[:, :, None])[:, :, 0] - at / seen.spread**2
    return gradient, np.matmul(turned, size[:, :, None] * seen.design) + np.diag(1 / seen.spread**2)


def posterior(seen: Observed, shapes: Shapes) -> Posterior:
    """Posterior of every shape.

    Examples:
        >>> from foreshock.curves._score_shapes import shapes
        >>> design = np.array([[[1.0, -1.0], [1.0, -0.5], [1.0, 0.0]]])
        >>> share, items = np.array([0.2, 0.5, 0.8]), np.full(3, 1000.0)
        >>> found = posterior(Observed(design, share, items, np.array([3.0, 2.5]), np.ones(3)), shapes())
        >>> round(float(found.weight.sum()), 6), bool(found.weight @ found.mode[:, 1] > 1)
        (1.0, True)
    """
    mode = _climb(seen, shapes)
    _, information = _push(seen, shapes, mode)
    evidence = (
        shapes.belief
        + _height(seen, shapes, mode)
        - np.log(seen.spread).sum()
        - 0.5 * np.linalg.slogdet(information).logabsdet
    )
    weight = np.exp(evidence - evidence.max())
    root = np.linalg.cholesky(np.linalg.inv(information))
    return Posterior(shapes, weight / weight.sum(), mode, root)


def _start(seen: Observed, shapes: Shapes) -> Floats:
    """A line through the log-odds between floor and ceiling, drawn to 0 by the prior."""
    height = shapes.ceiling - shapes.floor
    z = logit.forward(np.clip((seen.share - shapes.floor[:, None]) / height[:, None], 0.02, 0.98))
    turned = np.swapaxes(seen.design, 1, 2)
    square = np.matmul(turned, seen.design) + np.diag(1 / seen.spread**2)
    return np.asarray(np.linalg.solve(square, np.matmul(turned, z[:, :, None]))[:, :, 0])


def _climb(seen: Observed, shapes: Shapes) -> Floats:
    """Damped Fisher scoring for all shapes at once; a step that does not climb is not taken."""
    at = _start(seen, shapes)
    damp, height = np.full(len(at), 1e-2), _height(seen, shapes, at)
    own = np.arange(at.shape[1])
    for _ in range(_ROUNDS):
        gradient, information = _push(seen, shapes, at)
        information[:, own, own] *= 1 + damp[:, None]
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        tried = at + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        new = _height(seen, shapes, tried)
        better = new > height
        settled = np.where(better, new - height < 1e-6, damp > 1e3)
        at, height = np.where(better[:, None], tried, at), np.where(better, new, height)
        damp = np.where(better, damp * 0.3, damp * 5.0)
        if settled.all():
            break
    return at


def draws(found: Posterior, design: Floats, items: float, normals: Floats) -> tuple[Floats, Floats]:
    """Scores of new models as shares, with weights: the posterior predictive distribution.

    Sampling of items is drawn on the arcsine scale, where its size does not depend on the share (Anscombe 1948).

    Args:
        found: The posterior.
        design: What the coefficients are multiplied with, shape (shapes or 1, targets, coefficients).
        items: Items behind a new score; NaN leaves their sampling out.
        normals: Standard normal numbers, shape (draws, coefficients + 2).

    Returns:
        Shares of shape (targets, kept shapes x draws), and their weights, shape (kept shapes x draws,).
    """
    kept = np.flatnonzero(found.weight > _LEAST_WEIGHT)
    s, size = found.shapes.take(kept), found.mode.shape[1]
    at = found.mode[kept, None] + np.matmul(normals[None, :, :size], np.swapaxes(found.root[kept], 1, 2))
    along = design if len(design) == 1 else design[kept]
    odds = np.clip(np.matmul(along, np.swapaxes(at, 1, 2)), -30.0, 30.0)
    share = s.floor[:, None, None] + (s.ceiling - s.floor)[:, None, None] * logit.inverse(odds)
    noise = s.noise[:, None, None] * normals[:, size]
    noisy = logit.inverse(logit.forward(np.clip(share, 1e-9, 1 - 1e-9)) + noise)
    if np.isfinite(items):
        angle = np.arcsin(np.sqrt(noisy)) + normals[:, size + 1] / (2 * np.sqrt(items))
        noisy = np.sin(np.clip(angle, 0.0, np.pi / 2)) ** 2
    weight = np.repeat(found.weight[kept] / found.weight[kept].sum() / len(normals), len(normals))
    return np.swapaxes(noisy, 0, 1).reshape(design.shape[1], -1), weight


def quantiles(share: Floats, weight: Floats, levels: NDArray[np.float64]) -> Floats:
    """Quantiles of weighted draws, shape (targets, levels).

    Args:
        share: Draws, shape (targets, draws).
        weight: Their weights, shape (draws,).
        levels: In (0, 1), shape (levels,).

    Examples:
        >>> quantiles(np.array([[3.0, 1.0, 2.0]]), np.ones(3), np.array([0.5])).tolist()
        [[2.0]]
    """
    told = np.empty((len(share), len(levels)))
    for i, row in enumerate(share):
        order = np.argsort(row, kind="stable")
        reached = np.cumsum(weight[order])
        told[i] = row[order][np.searchsorted(reached, levels * reached[-1]).clip(0, row.size - 1)]
    return told
