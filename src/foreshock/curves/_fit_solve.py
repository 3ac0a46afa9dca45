"""Levenberg-Marquardt over many starts at once, within bounds.

One start after the other through a general solver costs milliseconds of overhead per step; here every step of all
starts is a few array operations, which is what makes many starts affordable. The method is textbook (Nielsen's damping;
a parameter at its bound whose gradient points outward is held there) and tested against scipy's trust-region solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Residuals = Callable[[Floats], tuple[Floats, Floats]]
"""Parameters (starts, parameters) to residuals (starts, points) and slopes (starts, parameters, points)."""

_TOLERANCE = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Where each start ended.

    Attributes:
        theta: Parameters, shape (starts, parameters).
        cost: Half the weighted (robust) sum of squares, shape (starts,); infinite where a start has no value.
        steps: Steps taken in all.
    """

    theta: Floats
    cost: Floats
    steps: int


def solve(
    residuals: Residuals, theta: Floats, bounds: tuple[Floats, Floats], weight: Floats, *, soft: float, steps: int
) -> Solved:
    """Minimise ``sum weight * rho(residual)`` from every start.

    Args:
        residuals: Residuals and their slopes.
        theta: Starts, shape (starts, parameters).
        bounds: Lowest and highest values, each of the shape of ``theta``.
        weight: Weight of each squared residual, shape (points,).
        soft: Scale beyond which residuals count linearly (``rho = 2 s^2 (sqrt(1 + r^2/s^2) - 1)``); infinite for least
            squares.
        steps: Steps at the most.
    """
    low, high = bounds
    theta = np.clip(theta, low, high)
    count = len(theta)
    r, slopes = residuals(theta)
    cost = objective(r, weight, soft)
    damping, growth = np.full(count, 1e-2), np.full(count, 2.0)
    live = np.flatnonzero(np.isfinite(cost))
    taken = 0
    while live.size and taken < steps:
        taken += 1
        normal, gradient = _normal(r[live], slopes[live], weight, soft)
        # a start so steep that its squares overflow cannot step: it stays where it is
        able = np.isfinite(normal).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1)
        live, normal, gradient = live[able], normal[able], gradient[able]
        if not live.size:
            break
        free = ~_held(theta[live], gradient, low[live], high[live])
        step = _step(normal, gradient, free, damping[live])
        trial = np.clip(theta[live] + step, low[live], high[live])
        moved = trial - theta[live]
        new_r, new_slopes = residuals(trial)
        new_cost = objective(new_r, weight, soft)
        expected = -(gradient * moved).sum(1) - 0.5 * np.einsum("sp,spq,sq->s", moved, normal, moved)
        with np.errstate(all="ignore"):
            gain = (cost[live] - new_cost) / np.maximum(expected, 1e-300)
        better = np.isfinite(new_cost) & (new_cost < cost[live])
        small = _small(cost[live], new_cost, expected, moved, theta[live], better)
        at = live[better]
        theta[at], r[at], slopes[at], cost[at] = trial[better], new_r[better], new_slopes[better], new_cost[better]
        shrink = np.maximum(1 / 3, 1 - (2 * np.clip(gain[better], -1, 1) - 1) ** 3)
        damping[at], growth[at] = damping[at] * shrink, 2.0
        worse = live[~better]
        damping[worse], growth[worse] = damping[worse] * growth[worse], growth[worse] * 2
        live = live[~small & (damping[live] < 1e12)]
    return Solved(theta, cost, taken)


def objective(r: Floats, weight: Floats, soft: float) -> Floats:
    """Half the weighted (robust) sum of squares of each row; infinite where a residual is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = r * r
        if np.isfinite(soft):
            square = 2 * soft**2 * (np.sqrt(1 + square / soft**2) - 1)
        cost = 0.5 * (square @ weight)
    return np.asarray(np.where(np.isfinite(cost), cost, np.inf))


def _normal(r: Floats, slopes: Floats, weight: Floats, soft: float) -> tuple[Floats, Floats]:
    """Gauss-Newton matrix and gradient of each start; not finite where they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        pull = weight / np.sqrt(1 + (r / soft) ** 2) if np.isfinite(soft) else np.broadcast_to(weight, r.shape)
        weighted = slopes * pull[:, None, :]
        return weighted @ slopes.transpose(0, 2, 1), (weighted @ r[:, :, None])[:, :, 0]


def _held(theta: Floats, gradient: Floats, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Parameters at a bound that would leave it."""
    return ((theta <= low) & (gradient > 0)) | ((theta >= high) & (gradient < 0))


def _step(normal: Floats, gradient: Floats, free: NDArray[np.bool_], damping: Floats) -> Floats:
    size = gradient.shape[1]
    diagonal = np.einsum("spp->sp", normal)
    least = 1e-12 * diagonal.max(axis=1, keepdims=True) + 1e-300
    both = free[:, :, None] & free[:, None, :]
    matrix = np.where(both, normal, 0.0)
    added = np.where(free, damping[:, None] * np.maximum(diagonal, least) + least, 1.0)
    matrix[:, np.arange(size), np.arange(size)] += added
    with np.errstate(all="ignore"):
        step = np.linalg.solve(matrix, np.where(free, -gradient, 0.0)[:, :, None])[:, :, 0]
    return np.nan_to_num(step, nan=0.0, posinf=0.0, neginf=0.0)


def _small(
    cost: Floats, new_cost: Floats, expected: Floats, moved: Floats, theta: Floats, better: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Starts that have arrived: nothing more to gain, or no step worth the name."""
    gained = better & (cost - new_cost <= _TOLERANCE * cost)
    still = np.abs(moved).max(axis=1) <= 1e-9 * (1 + np.abs(theta).max(axis=1))
    return np.asarray(gained | still | (expected <= 1e-14 * cost))
