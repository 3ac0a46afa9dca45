"""How noisy models are about their curve: what the tasks of one model family know of each other.

Scatter about a curve of eight points is known to a factor of two. Tasks that share their models are about equally
noisy, and how alike they are can be seen: if their scatter differs no more than chance makes it, each may use that of
all. The prior is that of Smyth (2004, Statistical Applications in Genetics and Molecular Biology 3, article 3): a
scaled inverse chi-squared distribution of variances over tasks. It is fitted by marginal likelihood instead of moments,
because item sampling, shapes of curves and steps are then taken out exactly. And tasks that share models are not
independent: a model that is off is off in many of them, so they tell less than their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from foreshock.mirage._design import Floats
from foreshock.mirage._excess import Curves, Prior
from foreshock.mirage._scatter import Scatter

# degrees of freedom in which calibrations are made; what lies between is rounded down, which is on the safe side
_COARSE = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0, 80.0, 200.0, np.inf)
# fewer tasks do not show how much tasks differ
LEAST_TASKS = 4
# a task whose scatter the others make less likely than this keeps its own noise
OWN_BELOW = 0.05
# log-likelihood below its maximum at which a value is given up: one-sided 90%
_GIVEN_UP = 0.82
_DFS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 40.0, 80.0, 200.0, 1000.0)
_GRID = np.geomspace(1e-4, 1e3, 113)


@dataclass(frozen=True, slots=True)
class NoisePrior:
    """Noise of models in one family, learned from all its tasks on one link.

    Attributes:
        link: Name of the link on which noise is measured.
        kind: Kind of the twins.
        s0: Standard deviation of one model about its curve in a typical task, without item sampling.
        df: Degrees of freedom that this is worth: how alike the tasks are, and how many independent ones there are.
        correlation: Correlation of residuals between tasks that share models.
        tasks: Tasks that it was learned from.
        independent: Tasks that would tell as much if they shared no models.
        own: Tasks that are too noisy for the others and keep their own noise.
        noisiest: Standard deviation of the noisiest quarter of tasks, by their own scatter.
    """

    link: str
    kind: str
    s0: float
    df: float
    correlation: float
    tasks: int
    independent: float
    own: int = 0
    noisiest: float = float("nan")


def learn(series: Sequence[Curves], link: str, kind: str) -> tuple[NoisePrior | None, list[Prior | None]]:
    """What tasks show of the noise of their models, and what that says about each of them.

    Args:
        series: One series for each task.
        link: Name of the link.
        kind: Kind of the twins.

    Returns:
        What the family knows, and one prior for each task. None where there are too few tasks or they are worth
        nothing, and for a task that is too noisy to be one of the family.
    """
    nothing: list[Prior | None] = [None] * len(series)
    if len(series) < LEAST_TASKS:
        return None, nothing
    middle = float(np.median([_crude(c) for c in series]))
    grid = max(middle, 1e-300) * _GRID
    scatters = [Scatter.of(c, grid) for c in series]
    rho, count = correlation_of(scatters), len(series)
    independent = count / (1 + (count - 1) * rho**2)
    # what tasks have in common does not make them differ: their scatter is as alike as more degrees of freedom would be
    log = np.stack([s.log for s in scatters]) / max(1 - rho**2, 1e-3)
    s0, alike = _most_likely(log, grid, (1 - rho**2) * independent / count)
    # the part that all tasks share was drawn once: it is known to as many degrees of freedom as independent tasks give
    known = float(np.mean([s.df for s in scatters])) * max(independent - 1.0, 0.0)
    worth = 1 / (1 / alike + 1 / known) if known > 0 else 0.0
    if worth < 1:
        return None, nothing
    priors = [_prior_for(s, s0, worth) for s in scatters]
    spread = np.sort([max(s.variance - s.items, 0.0) for s in scatters])[-max(1, count // 4) :]
    told = NoisePrior(
        link=link,
        kind=kind,
        s0=float(np.sqrt(s0)),
        df=worth,
        correlation=rho,
        tasks=count,
        independent=independent,
        own=sum(p is None for p in priors),
        noisiest=float(np.sqrt(spread.mean())),
    )
    return told, priors


def _crude(curves: Curves) -> float:
    """A variance of the right order: from second differences, which a step spoils in two places only."""
    return float(np.median(np.diff(curves.z[0], n=2) ** 2)) / 6 / 0.45


def correlation_of(scatters: Sequence[Scatter]) -> float:
    """Correlation of residuals between tasks on the same number of points, 0 where it is negative.

    The mean product of standardised residuals, over the mean overlap of the projections that made them.
    """
    total, overlap = 0.0, 0.0
    for size in {s.residual.size for s in scatters}:
        alike = [s for s in scatters if s.residual.size == size and s.variance > 0]
        if len(alike) > 1:
            unit = np.stack([s.residual / np.sqrt(s.variance) for s in alike])
            makers = np.stack([s.maker for s in alike])
            total += float((unit.sum(axis=0) ** 2).sum() - (unit**2).sum())
            overlap += float((makers.sum(axis=0) ** 2).sum() - (makers**2).sum())
    return float(np.clip(total / overlap, 0.0, 1.0)) if overlap > 0 else 0.0


def _most_likely(log: Floats, grid: Floats, weight: float) -> tuple[float, float]:
    """Typical variance and cautious degrees of freedom of the prior, by marginal likelihood.

    The variance is the mean under the likelihood, ``weight`` of which is independent: where item sampling hides the
    noise of models, it is then not taken for nothing. Of the degrees of freedom the smallest that are not much less
    likely than the best are taken: to think tasks more alike than they are would say breaks in the noisy ones.

    Args:
        log: Log-likelihood of each task at each variance, shape (tasks, grid).
        grid: Variances.
        weight: Share of the likelihood that counts for the variance.
    """
    top = log.max(axis=1, keepdims=True)
    likelihood = np.exp(log - top)
    told = np.stack([np.log(np.maximum(likelihood @ _mass(grid, df), 1e-300)).sum(axis=0) for df in _DFS])
    best = told.max(axis=1)
    k = int(np.argmax(best >= best.max() - _GIVEN_UP))
    likely = np.exp(weight * (told[k] - best[k]))
    return float((likely * grid).sum() / likely.sum()), _DFS[k]


def _mass(grid: Floats, df: float) -> Floats:
    """Prior mass on the grid (rows) for each typical variance on the same grid (columns)."""
    from scipy.special import gammaincc

    edges = np.concatenate([[0.0], np.sqrt(grid[1:] * grid[:-1]), [np.inf]])
    with np.errstate(divide="ignore"):
        below = gammaincc(df / 2, df * grid[None, :] / (2 * edges[:, None]))
    return np.asarray(np.diff(below, axis=0))


def _prior_for(scatter: Scatter, s0: float, df: float) -> Prior | None:
    """What the family says about one task; None for a task that is too noisy to be one of them.

    Where item sampling makes most of the scatter, it is known to more degrees of freedom than that of models alone.
    """
    from scipy.special import fdtrc

    expected = s0 + scatter.items
    worth = df * (expected / s0) ** 2
    if float(fdtrc(scatter.df, min(worth, 1e6), scatter.variance / expected)) < OWN_BELOW:
        return None
    return Prior(s0, max(c for c in _COARSE if c <= worth))
