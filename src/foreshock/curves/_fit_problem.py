"""A form, a frame and a noise: what the steps of a fit hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from foreshock.curves._curve import Floats
from foreshock.curves._fit_frame import Frame
from foreshock.curves._fit_solve import Residuals, Solved, objective, solve
from foreshock.curves._forms import Form, Starts

PERTURBED = 4
"""Perturbed copies of the two best starts that are polished as well."""
_SHAKE = 0.4
_SOFT = 3.0
"""Residuals beyond three robust standard deviations count linearly."""
_FEW = 6
"""Fewest degrees of freedom from which a robust scale is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One form to be fitted in one frame.

    Attributes:
        form: The form.
        frame: The frame.
        grid: All starts of the form with their bounds.
        sd: Standard deviation of each point over that of all, shape (points,).
        soft: Scale beyond which residuals count linearly; infinite for least squares.
        pull: Noise of a point on the scale of the residuals: what a weak prior is measured against.
    """

    form: Form
    frame: Frame
    grid: Starts
    sd: Floats
    soft: float = float("inf")
    pull: float = 0.0

    @classmethod
    def of(cls, form: Form, frame: Frame) -> Problem:
        """Least squares with equal noise."""
        return cls(form, frame, form.starts(frame), np.ones(frame.points), pull=_noise(frame) if form.weak else 0.0)

    def residuals(self, theta: Floats) -> Floats:
        """Fitted less observed over ``sd``, shape (starts, points)."""
        with np.errstate(all="ignore"):
            value = self.form.value(theta, self.frame.tau, self.frame)
            return np.asarray((self.frame.output(value) - self.frame.target) / self.sd)

    def cost(self, theta: Floats) -> Floats:
        """Objective of each row of parameters."""
        whole = np.concatenate([self.residuals(theta), self._prior(theta)], axis=1)
        return objective(whole, self._weight, self.soft)

    @property
    def _weight(self) -> Floats:
        return np.concatenate([self.frame.count, np.ones(len(self.form.weak))])

    def _prior(self, theta: Floats) -> Floats:
        """Residuals that pull parameters towards 0, shape (starts, priors)."""
        columns = [self.pull / scale * theta[:, column] for column, scale in self.form.weak]
        return np.stack(columns, axis=1) if columns else np.empty((len(theta), 0))

    def _steps(self, sign: float) -> Residuals:
        """Residuals with their slopes, for parameters without their sign."""
        form, frame, weak = self.form, self.frame, self.form.weak
        pulled = np.zeros((form.size, len(weak)))
        for row, (column, scale) in enumerate(weak):
            pulled[column, row] = self.pull / scale

        def residuals(theta: Floats) -> tuple[Floats, Floats]:
            whole = np.column_stack([theta, np.full(len(theta), sign)])
            value, slopes = form.slopes(whole, frame.tau, frame)
            with np.errstate(all="ignore"):
                r = (frame.output(value) - frame.target) / self.sd
                slopes = slopes * np.atleast_2d(np.asarray(frame.factor(value)) / self.sd)[:, None, :]
            if not weak:
                return r, slopes
            more = np.broadcast_to(pulled, (len(theta), *pulled.shape))
            return np.concatenate([r, self._prior(whole)], axis=1), np.concatenate([slopes, more], axis=2)

        return residuals

    def box(self, theta: Floats) -> Starts:
        """Rows of parameters with the bounds of the starts of their sign."""
        rows = [int(np.flatnonzero(self.grid.theta[:, -1] == sign)[0]) for sign in theta[:, -1]]
        return Starts(theta, self.grid.low[rows], self.grid.high[rows])

    def screened(self, seed: int, count: int) -> Starts:
        """The best starts of the grid and perturbed copies of the very best, no two alike."""
        grid = self.grid
        cost = self.cost(grid.theta)
        order = np.argsort(cost, kind="stable")
        order = order[np.isfinite(cost[order])][: 4 * count]
        # neighbours on the grid end in the same place: of starts with nearly one cost, one is enough
        keep: list[int] = []
        for at in order:
            alike = (
                abs(cost[at] - cost[k]) <= 1e-3 * cost[k] and grid.theta[at, -1] == grid.theta[k, -1] for k in keep
            )
            if len(keep) < count and not any(alike):
                keep.append(int(at))
        if not keep:
            return Starts(grid.theta[:0], grid.low[:0], grid.high[:0])
        rows = np.array(keep, int)
        again = rows[np.arange(PERTURBED) % min(rows.size, 2)]
        noise = np.random.default_rng(seed).standard_normal((again.size, self.form.size))
        shaken = np.column_stack([grid.theta[again, :-1] * np.exp(_SHAKE * noise), grid.theta[again, -1]])
        both = np.concatenate([rows, again])
        theta = np.concatenate([grid.theta[rows], shaken])
        return Starts(np.clip(theta, grid.low[both], grid.high[both]), grid.low[both], grid.high[both])

    def descend(self, begun: Starts, steps: int) -> tuple[Floats, Floats]:
        """Polish all starts; those of one sign together. Parameters with their sign, and objectives."""
        thetas, costs = [np.empty((0, self.form.size + 1))], [np.empty(0)]
        for sign in (1.0, -1.0):
            mine = begun.theta[:, -1] == sign
            if mine.any():
                solved = self._solved(begun, mine, sign, steps)
                thetas.append(np.column_stack([solved.theta, np.full(len(solved.theta), sign)]))
                costs.append(solved.cost)
        return np.concatenate(thetas), np.concatenate(costs)

    def _solved(self, begun: Starts, mine: np.ndarray, sign: float, steps: int) -> Solved:
        bounds = (begun.low[mine, :-1], begun.high[mine, :-1])
        theta = begun.theta[mine, :-1]
        return solve(self._steps(sign), theta, bounds, self._weight, soft=self.soft, steps=steps)

    def distinct(self, theta: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Optima, best first, those that draw the same curve told once."""
        order = [int(i) for i in np.argsort(cost, kind="stable") if np.isfinite(cost[i])]
        values = self.residuals(theta[order])
        size = float(np.ptp(self.frame.target)) or 1.0
        keep: list[int] = []
        for k in range(len(order)):
            if all(np.abs(values[k] - values[j]).max() > 1e-3 * size for j in keep):
                keep.append(k)
        rows = [order[k] for k in keep]
        return theta[rows], cost[rows]

    def with_noise(self, theta: Floats, robust: bool) -> Problem:
        """The same with noise as the residuals of a first fit have it.

        Where sampling errors are known the variance of a point is its own plus what is left of the residuals beyond
        it; ``sd`` has a mean square of 1, so that objectives stay comparable.
        """
        frame = self.frame
        r = self.residuals(theta[None])[0]
        left = max(frame.points - self.form.size, 1)
        between = max(float((r * r).sum()) / left - float(frame.variance.mean()), 0.0)
        variance, sd = between + frame.variance, self.sd
        if frame.variance.any() and variance.min() > 0:
            sd = np.sqrt(variance / variance.mean())
        spread = 1.4826 * float(np.median(np.abs(r / sd))) * np.sqrt(frame.points / left)
        # few residuals have no scale of their own: most of them may be exactly 0
        trusted = robust and left >= _FEW and spread > 1e-9
        pull = float(np.sqrt(between + frame.variance.mean())) if self.form.weak else 0.0
        return replace(self, sd=sd, soft=_SOFT * spread if trusted else np.inf, pull=pull)


def _noise(frame: Frame) -> float:
    """Noise of a point before a form was fitted: about a straight line, or that of sampling where it is more."""
    centred = frame.tau - frame.tau.mean()
    slope = float(centred @ frame.target / max(float(centred @ centred), 1e-300))
    about = frame.target - frame.target.mean() - slope * centred
    return float(np.sqrt(max(float(about @ about) / max(frame.points - 2, 1), float(frame.variance.mean()))))
