"""Scores of models foretold from what the same models score elsewhere: the observational axis.

A score is a curve between a floor and a ceiling, straight in abilities on the log-odds
(Ruan, Maddison & Hashimoto 2024, "Observational scaling laws", equation 7, which has no floor). Floors, ceilings and
noises are averaged by what the training models say of them, as for scores along an axis
(:mod:`foreshock.curves._scores`).

Models of one family are not independent of each other: of ``m`` of them each counts ``1 / (1 + (m - 1) RHO)``.

Intervals come from the same belief, and are widened, never narrowed, by what forward chaining inside the training
models shows: belief on the smaller models, judged on the larger ones, with the family as the unit of a conformal
quantile. They promise nothing for models of another kind than the training ones; the measured coverage is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foreshock._base import ConfigError, MetricError, digest
from foreshock.curves._abilities import Abilities, abilities
from foreshock.curves._conformal import conformal_quantile, curves_needed, pooled, signed_scores
from foreshock.curves._score_posterior import Observed, Posterior, draws, posterior, quantiles
from foreshock.curves._score_shapes import Floats, straight_shapes
from foreshock.records import Fit
from foreshock.stats import logit

RHO = 0.5
"""Correlation of two models of one family about the curve."""
COMPONENTS = 3
LEAST = 8
"""Training models at the least."""
MOST = 5_000
_LEVEL_SD = 4.0
_SLOPE_SD = 3.0
"""Spread of the coefficients on the log-odds, per standard deviation of the first ability."""
_CUTS = (0.4, 0.6, 0.8)
"""Shares of the training models, in their order, after which forward chaining begins to judge."""
_DRAWS = 32
_LEAST_SCALE = 0.1
"""Models of several families differ by no less than this on the log-odds; half-widths below it are rounding."""
_HALF_ITEM = 0.0005
_MOST_PARTS = 12
"""Families are left out in at most so many parts, where models have no order."""


@dataclass(frozen=True, slots=True, eq=False)
class ObservedForecast:
    """Scores foretold from abilities.

    Attributes:
        value, low, high: Forecasts with their intervals, on the scale of the score, shape (new models,); NaN where
            there is none.
        level: Coverage that was asked for.
        refused: Why there is no forecast at all; None where there is one.
        enough: What would be enough.
        lacking: Why a model has none, by model.
        abilities: The components; None where refused.
        beyond: Whether a model's abilities lie outside those of the training models, shape (new models,).
        wider: Factor by which forward chaining widened the intervals.
        chained: Share of the models judged by forward chaining that the intervals held before they were widened; NaN
            where there was none.
        basis: What the intervals rest on, in a sentence.
        record: Data hash and seed.
    """

    value: Floats
    low: Floats
    high: Floats
    level: float
    refused: str | None
    enough: str | None
    lacking: tuple[str | None, ...]
    abilities: Abilities | None
    beyond: NDArray[np.bool_]
    wider: float
    chained: float
    basis: str
    record: Fit


@dataclass(frozen=True, slots=True, eq=False)
class KnownModels:
    """Training models.

    Attributes:
        benchmarks: Scores on the other benchmarks, NaN where missing, shape (models, benchmarks).
        score: Score to foretell, NaN where missing, shape (models,).
        low, high: Ends of its scale.
        items: Items behind each score; None is not known.
        families: Family of each model; None is one family a model.
        order: What models are released in (compute, date), for forward chaining; None leaves that out.
    """

    benchmarks: Floats
    score: Floats
    low: float = 0.0
    high: float = 1.0
    items: Floats | None = None
    families: Sequence[str] | None = None
    order: Floats | None = None

    def __post_init__(self) -> None:
        """Refuse what does not fit together."""
        shape = self.benchmarks.shape
        sizes = [len(part) for part in (self.score, self.items, self.families, self.order) if part is not None]
        if len(shape) != 2 or any(size != shape[0] for size in sizes):
            raise ConfigError(f"benchmarks of shape {shape} for {sizes} models", expected="one row for each model")
        if shape[0] > MOST:
            raise ConfigError(f"{shape[0]:,} models", expected=f"up to {MOST:,}")
        if np.isinf(self.benchmarks).any():
            raise MetricError("a benchmark score is infinite", expected="finite scores, NaN where missing")
        if not self.low < self.high:
            raise MetricError(f"the scale runs from {self.low} to {self.high}", expected="low < high")
        known = self.score[~np.isnan(self.score)]
        if ((known < self.low) | (known > self.high)).any():
            raise MetricError("a score is outside its scale", expected=f"scores from {self.low:g} to {self.high:g}")
        if self.items is not None and (self.items < 1).any():
            raise MetricError("fewer than one item behind a score", expected="items >= 1, NaN where not known")

    def take(self, which: NDArray[np.intp]) -> KnownModels:
        """Some of the models."""
        return KnownModels(
            self.benchmarks[which],
            self.score[which],
            self.low,
            self.high,
            None if self.items is None else self.items[which],
            None if self.families is None else [self.families[i] for i in which],
            None if self.order is None else self.order[which],
        )

    @property
    def share(self) -> Floats:
        """Scores as shares of the scale."""
        return (self.score - self.low) / (self.high - self.low)

    @property
    def counted(self) -> Floats:
        """Items behind each score, NaN where not known."""
        return np.full(len(self.score), np.nan) if self.items is None else np.asarray(self.items, float)

    @property
    def blocks(self) -> list[str]:
        """Family of each model."""
        return [str(i) for i in range(len(self.score))] if self.families is None else list(map(str, self.families))

    @property
    def data_hash(self) -> str:
        """SHA-256 of what a fit sees."""
        parts = [np.where(np.isnan(p), -1e300, p).tolist() for p in (self.benchmarks, self.score, self.counted)]
        return digest([*parts, self.low, self.high, self.blocks, None if self.order is None else self.order.tolist()])


def observe(
    known: KnownModels, new: Floats, *, level: float = 0.9, components: int = COMPONENTS, seed: int = 0
) -> ObservedForecast:
    """Foretell the scores of new models from their benchmarks.

    Args:
        known: Training models; nothing of the new ones is used to find abilities.
        new: Scores of the new models on the same benchmarks, NaN where missing, shape (new models, benchmarks).
        level: Coverage, in (0, 1).
        components: Components at most; a quarter of the models if that is fewer. Three were chosen on the 44 smaller
            models of a public table, forward-chained (mean error .096; one .134, two .108, four .108).
        seed: Seed of the draws.

    Raises:
        ConfigError: Shapes do not fit, or the level is not in (0, 1).
        MetricError: A score is impossible.
    """
    new = np.asarray(new, float)
    if new.ndim != 2 or new.shape[1] != known.benchmarks.shape[1] or np.isinf(new).any():
        raise ConfigError(f"new models of shape {new.shape}", expected="one finite row a model, a column a benchmark")
    if not 0 < level < 1:
        raise ConfigError(f"a level of {level}", expected="a level between 0 and 1")
    known = known.take(np.flatnonzero(~np.isnan(known.score) & ~np.isnan(known.benchmarks).all(axis=1)))
    try:
        told = _Belief.of(known, components)
    except _RefusedError as why:
        return _nothing(known, len(new), level, seed, *why.args)
    wider, chained, basis = _chain(known, components, level, seed)
    low, centre, high = logit.forward(told.foretell(new, level, seed))
    low, high = (centre + wider * (end - centre) for end in (low, high))
    # a share within half an item of an end of its scale is that end: no interval on a link would ever hold it
    half = _half_item(known) * (1 + 1e-9)
    ends = [np.where(p <= half, 0.0, np.where(p >= 1 - half, 1.0, p)) for p in map(logit.inverse, (low, high))]
    value, low, high = (known.low + (known.high - known.low) * p for p in (logit.inverse(centre), *ends))
    found = told.abilities.of(new)
    seen = told.abilities.of(known.benchmarks)
    with np.errstate(invalid="ignore"):
        beyond = ((found < np.nanmin(seen, axis=0)) | (found > np.nanmax(seen, axis=0))).any(axis=1)
    short = f"fewer than {found.shape[1]} of the benchmarks" if found.shape[1] > 1 else "none of the benchmarks"
    lacking = tuple(short if np.isnan(row).any() else None for row in found)
    record = Fit(data_hash=known.data_hash, seed=seed)
    return ObservedForecast(
        value, low, high, level, None, None, lacking, told.abilities, beyond, wider, chained, basis, record
    )


class _RefusedError(Exception):
    """Why there is no forecast, and what would be enough."""


@dataclass(frozen=True, slots=True, eq=False)
class _Belief:
    """What training models say of a score, given abilities."""

    abilities: Abilities
    middle: Floats
    size: float
    found: Posterior
    half: float
    items: float

    @classmethod
    def of(cls, known: KnownModels, components: int) -> _Belief:
        if len(known.score) < LEAST:
            raise _RefusedError(f"{len(known.score)} models with this score and any benchmark", f"{LEAST} models")
        try:
            found = abilities(known.benchmarks, max(1, min(components, len(known.score) // 4)))
        except ValueError as why:
            raise _RefusedError(str(why), "a benchmark that was run on most of the models") from None
        seen = found.of(known.benchmarks)
        there = np.flatnonzero(~np.isnan(seen).any(axis=1))
        if there.size < LEAST:
            raise _RefusedError(f"{there.size} models with enough of the benchmarks", f"{LEAST} models")
        seen, known = seen[there], known.take(there)
        middle, size = seen.mean(axis=0), float(seen[:, 0].std())
        spread = np.array([_LEVEL_SD, *np.full(seen.shape[1], _SLOPE_SD)])
        design = _design(seen, middle, size)
        told = posterior(Observed(design, known.share, known.counted, spread, _count(known.blocks)), straight_shapes())
        items = known.counted
        median = float(np.nanmedian(items)) if not np.isnan(items).all() else float("nan")
        return cls(found, middle, size, told, _half_item(known), median)

    def foretell(self, benchmarks: Floats, level: float, seed: int) -> Floats:
        """Lower end, median and upper end as shares within half an item of 0 and 1, shape (3, models)."""
        found = self.abilities.of(benchmarks)
        there = ~np.isnan(found).any(axis=1)
        told = np.full((3, len(found)), np.nan)
        if there.any():
            half = np.random.default_rng(seed).standard_normal((_DRAWS, found.shape[1] + 3))
            design = _design(found[there], self.middle, self.size)
            share, weight = draws(self.found, design, self.items, np.concatenate([half, -half]))
            levels = np.array([(1 - level) / 2, 0.5, (1 + level) / 2])
            told[:, there] = quantiles(share, weight, levels).T
        return np.asarray(np.clip(told, self.half, 1 - self.half))


def _design(found: Floats, middle: Floats, size: float) -> Floats:
    return np.concatenate([np.ones((len(found), 1)), (found - middle) / size], axis=1)[None]


def _count(blocks: Sequence[str]) -> Floats:
    """How much each model counts."""
    _, where, many = np.unique(np.array(blocks), return_inverse=True, return_counts=True)
    return np.asarray(1 / (1 + (many[where] - 1) * RHO))


def _half_item(known: KnownModels) -> float:
    counted = known.counted
    return 0.5 / float(np.nanmedian(counted)) if not np.isnan(counted).all() else _HALF_ITEM


def _nothing(
    known: KnownModels, models: int, level: float, seed: int, refused: str = "", enough: str | None = None
) -> ObservedForecast:
    none = np.full(models, np.nan)
    record = Fit(data_hash=known.data_hash, seed=seed)
    beyond = np.zeros(models, bool)
    return ObservedForecast(
        none, none, none, level, refused, enough, (refused,) * models, None, beyond, 1.0, float("nan"), "", record
    )


def _chain(known: KnownModels, components: int, level: float, seed: int) -> tuple[float, float, str]:
    """Factor by which intervals must be wider, share held before that, and what was done, in a sentence."""
    blocks = np.array(known.blocks)
    scores: dict[str, list[Floats]] = {}
    for train, judged in _parts(known, blocks):
        try:
            told = _Belief.of(known.take(train), components)
        except _RefusedError:
            continue
        low, middle, high = logit.forward(told.foretell(known.benchmarks[judged], level, seed))
        came = logit.forward(np.clip(known.share[judged], told.half, 1 - told.half))
        down, up = np.maximum(middle - low, _LEAST_SCALE), np.maximum(high - middle, _LEAST_SCALE)
        reach = signed_scores(came, middle, down, up)
        for block in np.unique(blocks[judged]):
            scores.setdefault(str(block), []).append(reach[blocks[judged] == block])
    each = [np.concatenate(parts) for parts in scores.values()]
    each = [one[~np.isnan(one)] for one in each]
    each = [one for one in each if one.size]
    way = "smaller models to larger ones" if known.order is not None else "each family left out"
    if not each:
        return 1.0, float("nan"), "nothing could be held out of the training models: the interval is not calibrated"
    held = float(np.mean(np.abs(np.concatenate(each)) <= 1))
    pool = pooled(each)
    enough = pool.curves >= curves_needed(level)
    # with few families the quantile of those there are is better than nothing, and promises nothing
    wider = max(1.0, conformal_quantile(pool, level if enough else level * pool.curves / (pool.curves + 1)))
    text = f"{way}, inside the training models: {level:.4g} intervals held {held:.2f} of the scores of {pool.curves}"
    few = "" if enough else f"; {curves_needed(level)} families would do for a calibrated one"
    return wider, held, f"{text} families and were made {wider:.2f} times as wide{few}"


def _parts(known: KnownModels, blocks: NDArray[np.str_]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and judged models, by index."""
    if known.order is not None:
        order = np.argsort(known.order, kind="stable")
        order = order[~np.isnan(known.order[order])]
        for cut in _CUTS:
            yield order[: int(cut * order.size)], order[int(cut * order.size) :]
        return
    names = np.unique(blocks)
    for part in np.array_split(names, min(names.size, _MOST_PARTS)) if names.size > 1 else ():
        inside = np.isin(blocks, part)
        yield np.flatnonzero(~inside), np.flatnonzero(inside)
