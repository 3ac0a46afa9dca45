"""What a forecast needs of one line, small enough to be kept when its item scores are gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreshock.mirage._design import Floats
from foreshock.mirage._entry import Entry
from foreshock.mirage._forecast import BEFORE, Bools
from foreshock.mirage._links import links_for
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._noise import NoisePrior

# fewer right answers than these, above what guessing gives, say nothing about a rate on a link
_COUNTED = 5


@dataclass(frozen=True, slots=True)
class Trend:
    """What a forecast needs of one entry, small enough to be kept when its item scores are gone.

    Attributes:
        x: Places on the scale on which the axis is read, shape (points,).
        labels: Points.
        log_axis: Whether that is a log scale.
        axis_known: Whether the axis orders them by anything but creation.
        trajectory: Whether they are checkpoints of one run.
        hard: Metric in question.
        twins: Its twins.
        items: Items behind each mean.
        means: Metric to mean at each point.
        sampling: Metric to covariance of these means from item sampling, shape (points, points).
    """

    x: Floats
    labels: tuple[str, ...]
    log_axis: bool
    axis_known: bool
    trajectory: bool
    hard: Hard
    twins: tuple[Twin, ...]
    items: int
    means: dict[str, Floats]
    sampling: dict[str, Floats]


def trend_of(entry: Entry) -> Trend:
    """Means and covariances of an entry's series; points that a log axis cannot show are left out."""
    panel = entry.panel
    keep = np.flatnonzero((panel.x > 0) | (not panel.log_axis))
    means, sampling = {}, {}
    names = {entry.hard.name, *(twin.name for twin in entry.twins)}
    for name in sorted(names):
        found = _moments(entry, name)
        if found is not None and np.isfinite(found[0][keep]).all():
            means[name], sampling[name] = found[0][keep], found[1][np.ix_(keep, keep)]
    return Trend(
        x=np.log(panel.x[keep]) if panel.log_axis else panel.x[keep],
        labels=tuple(panel.points[i] for i in keep),
        log_axis=panel.log_axis,
        axis_known=panel.axis_known,
        trajectory=panel.trajectory,
        hard=entry.hard,
        twins=entry.twins,
        items=len(panel.items) if entry.items is None else entry.items,
        means=means,
        sampling=sampling,
    )


def _moments(entry: Entry, name: str) -> tuple[Floats, Floats] | None:
    if entry.draws is not None:
        given = entry.draws.get(name)
        return None if given is None else (given[0], np.atleast_2d(np.cov(given[1:].T)))
    values = entry.panel.values.get(name)
    if values is None or values.shape[1] < 2:
        return None
    finite = np.where(np.isfinite(values), values, np.nan)
    whole = finite[:, ~np.isnan(finite).any(axis=0)]
    with np.errstate(invalid="ignore"):
        mean = np.nansum(finite, axis=1) / (~np.isnan(finite)).sum(axis=1)
    if whole.shape[1] < 2:
        return None
    return mean, np.atleast_2d(np.cov(whole)) / whole.shape[1]


def onset_of(trend: Trend) -> tuple[float, float] | str:
    """Places between which the hard metric rises most, or why there are none."""
    mean = trend.means.get(trend.hard.name)
    if mean is None:
        return f"no scores of {trend.hard.name}"
    if not trend.axis_known:
        return "no axis"
    places = np.unique(trend.x)
    if places.size < BEFORE + 1:
        return f"{places.size} of >= {BEFORE + 1} models"
    rises = np.diff([mean[trend.x == at].mean() for at in places])
    top = int(np.argmax(rises))
    return (float(places[top]), float(places[top + 1])) if rises[top] > 0 else "the hard metric does not rise"


class OnLink(NamedTuple):
    """One series on its link: how to get there and back, which points say anything there, and what noise is known."""

    name: str
    forward: Callable[[Floats], Floats]
    shown: Callable[[Floats], Floats]
    used: Bools
    prior: tuple[float, float] | None = None


def twin_on_link(trend: Trend, twin: Twin, priors: Sequence[NoisePrior] = ()) -> OnLink:
    """A twin on the link on which it is judged."""
    link = links_for(trend.hard, twin)[0]
    used = ~twin.at_floor(trend.means[twin.name], trend.items)
    known = next((p for p in priors if (p.link, p.kind) == (link.name, twin.kind) and p.df > 0), None)
    prior = None if known is None else (known.s0**2, known.df)
    return OnLink(twin.name, lambda m: twin.on(link, m, trend.items), link.inverse, used, prior)


def hard_on_link(trend: Trend) -> OnLink:
    """The hard metric on its own link: the share of the way from guessing to its ceiling."""
    hard, n, mean = trend.hard, trend.items, trend.means[trend.hard.name]
    if hard.link == "identity":
        return OnLink(hard.name, lambda m: m, lambda z: z, np.ones(mean.size, bool))
    link, span, least = hard.primary, hard.ceiling - hard.chance, 0.5 / max(n, 1)
    guessed = hard.chance / hard.ceiling
    enough = max(_COUNTED, 2 * np.sqrt(n * guessed * (1 - guessed)))
    return OnLink(
        name=hard.name,
        forward=lambda m: link.forward(np.clip((m - hard.chance) / span, least, 1 - least)),
        shown=lambda z: hard.chance + span * link.inverse(z),
        used=(mean - hard.chance) / hard.ceiling * n >= enough,
    )


def slope_of(on: OnLink, mean: Floats, error: Floats) -> Floats:
    """Derivative of the link at each mean, over a tenth of its standard error."""
    step = np.maximum(0.1 * error, 1e-6 * np.maximum(np.abs(mean), 1e-6))
    slope = (on.forward(mean + step) - on.forward(mean - step)) / (2 * step)
    return np.where(np.isfinite(slope), slope, 0.0)
