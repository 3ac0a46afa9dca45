"""Was the jump foreseeable from the models before it? The second half of the definition of emergence.

The forecaster that answers is the simplest that can be stated: a straight line on the link through the models before
the onset, with a prediction interval by Student's t. The onset is the interval in which the hard metric rises most; the
models up to its lower end are those before it, and its upper end is what had to be foreseen. The surprise is told as a
share of the whole rise of the series, on the scale of the shares of a verdict.

A ``no`` is held against the calibrated 90% interval of :func:`foreshock.curves.forecast`, which allows for other shapes
than a line, and is taken back where that holds what came. Measured before it was decided, on simulated families with
three to ten models before the onset and noise of .05 to .3: of 1,365 ``no`` on steps of 50 to 80% of the rise none was
taken back; of 172 on a rise with the sixth power of the place, which no line follows, 16 were. A ``yes`` is not taken
back: it says that what came is within half of the rise, not within an interval, and the onset is picked where the score
rose most, where no interval for a place picked without looking keeps its level (of 1,518 ``yes`` on smooth families 270
would have gone, of 27 on steps 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from foreshock._base import count_of
from foreshock.mirage._calibrated_forecast import calibrated
from foreshock.mirage._entry import Entry
from foreshock.mirage._forecast import BEFORE, Answer, Surprise, Trail, surprised
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._noise import NoisePrior
from foreshock.mirage._trend import OnLink, Trend, hard_on_link, onset_of, slope_of, trend_of, twin_on_link


@dataclass(frozen=True, slots=True)
class Forecast:
    """One series forecast at the upper end of the onset.

    Attributes:
        metric: Name.
        answer: ``yes``, ``no`` or ``cannot tell``.
        before: Models before the onset that the forecast rests on.
        value, low, high: Forecast with its two-sided 95% prediction interval, on the scale on which the metric is shown
            (a twin: a probability).
        observed: What was observed there, on the same scale.
        share, share_low, share_high: Surprise as a share of the whole rise on the link, with one-sided 95% bounds
            (within -1 and 2).
        enough: Models before the onset that would do (80% power, noise as it is); None when the answer is there, or
            when more than 64.
        why: One sentence.
        calibrated, calibrated_low, calibrated_high: What :func:`foreshock.curves.forecast` made of it with its 90%
            interval, on the same scale; None where it was not asked or refused.
        refused: Why the calibrated forecaster gave nothing; None where it was not asked or did.
    """

    metric: str
    answer: Answer
    before: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    observed: float | None = None
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    enough: int | None = None
    why: str = ""
    calibrated: float | None = None
    calibrated_low: float | None = None
    calibrated_high: float | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Foreseeable:
    """Whether the jump of one judged line was foreseeable.

    Attributes:
        answer: ``yes`` when hard metric or twin foretold it; ``no`` when the twin (the hard metric where there is no
            twin) did not; else ``cannot tell``.
        why: One sentence.
        hard, twin: The two forecasts; None where there is no such series.
        after, at: Labels of the last place before the onset and of the first after it; None without an onset.
        place: Finding id, task, family and axis.
    """

    answer: Answer
    why: str
    hard: Forecast | None
    twin: Forecast | None
    after: str | None
    at: str | None
    place: tuple[str, str | None, str | None, str | None]

    def row(self) -> dict[str, Any]:
        """Row of the table ``foreseeable``."""
        told: dict[str, Any] = dict(zip(("finding_id", "task", "family", "axis"), self.place, strict=True))
        told |= {"answer": self.answer, "why": self.why, "after": self.after, "at": self.at}
        for role, one in (("hard", self.hard), ("twin", self.twin)):
            told[role] = one.metric if one else None
            told |= {f"{role}_{name}": getattr(one, name) if one else None for name in _COLUMNS}
        return told


_COLUMNS = tuple(field.name for field in fields(Forecast) if field.name != "metric")


def foreseeable(judgement: Judgement, entry: Entry | Trend, priors: Sequence[NoisePrior] = ()) -> Foreseeable:
    """Forecast hard metric and twin across the onset from the models before it.

    ``no`` is said when the surprise is certainly more than a quarter of the whole rise and more than the smooth class
    allows the interval (twice its share of the axis); ``yes`` when the line before the onset certainly rises and what
    came is certainly within half of the whole rise of it, above or below; each at one-sided 95%. For checkpoints of one
    run the quantile is that of the worst autocorrelation up to 0.9. A ``no`` becomes ``cannot tell`` where the
    calibrated interval of the same series holds what came.

    Args:
        judgement: The verdict on the entry.
        entry: What was judged, or :func:`trend_of` it where the item scores are no longer held.
        priors: What the tasks of the family know of each other's noise (:attr:`FamilyJudgement.priors`); that on the
            twin's link and of its kind is pooled with the scatter of the models before the onset, and two of these do.
    """
    trend = trend_of(entry) if isinstance(entry, Entry) else entry
    subject = judgement.finding.subject
    place = (judgement.finding.id, subject.task, subject.model_family, subject.axis)
    onset = onset_of(trend)
    if isinstance(onset, str):
        return Foreseeable("cannot tell", onset, None, None, None, None, place)
    twin = next((t for t in trend.twins if t.name == judgement.twin and t.name in trend.means), None)
    hard = _forecast(trend, hard_on_link(trend), onset)
    second = None if twin is None else _forecast(trend, twin_on_link(trend, twin, priors), onset)
    hard = _held(trend, trend.hard, hard, onset)
    if twin is not None and second is not None:
        second = _held(trend, twin, second, onset)
    answer, why = _both(hard, second)
    labels = [trend.labels[int(np.argmax(trend.x == at))] for at in onset]
    return Foreseeable(answer, why, hard, second, labels[0], labels[1], place)


def _forecast(trend: Trend, on: OnLink, onset: tuple[float, float]) -> Forecast:
    before = (trend.x <= onset[0]) & on.used
    fewest = BEFORE if on.prior is None or trend.trajectory else BEFORE - 1
    if np.unique(trend.x[before]).size < fewest:
        models = int(before.sum())
        floor = int(((trend.x <= onset[0]) & ~on.used).sum())
        held = f"; {count_of(floor, 'model')} at floor" if floor else ""
        return Forecast(on.name, "cannot tell", models, why=f"{models} of >= {fewest} models before the onset{held}")
    mean = trend.means[on.name]
    slope = slope_of(on, mean, np.sqrt(np.diag(trend.sampling[on.name])))
    sampling = slope[:, None] * trend.sampling[on.name] * slope
    prior = None if trend.trajectory else on.prior
    trail = Trail(trend.x, on.forward(mean)[None], sampling, before, trend.x == onset[1], trend.trajectory, prior)
    if not np.isfinite(trail.z).all():
        return Forecast(on.name, "cannot tell", trail.models, why=f"{on.name} reaches the end of its scale")
    return _told(on, trail, surprised(trail))


def _told(on: OnLink, trail: Trail, told: Surprise) -> Forecast:
    seen = float(trail.z[0, trail.target].mean())
    value, low, high, observed = on.shown(np.array([told.foreseen, told.low, told.high, seen])).tolist()
    known = bool(np.isfinite(told.share))
    return Forecast(
        metric=on.name,
        answer=told.answer,
        before=trail.models,
        value=value,
        low=low,
        high=high,
        observed=observed,
        share=told.share if known else None,
        share_low=told.share_low if known else None,
        share_high=told.share_high if known else None,
        enough=told.enough,
        why=told.why,
    )


def _held(trend: Trend, series: Hard | Twin, told: Forecast, onset: tuple[float, float]) -> Forecast:
    """What a line answered beside the calibrated interval, which can take a ``no`` back."""
    if told.answer == "cannot tell" or told.observed is None:
        return told
    found = calibrated(trend, series, onset)
    answer: Answer = told.answer
    why = told.why
    if answer == "no" and found.holds(told.observed):
        answer = "cannot tell"
        why = f"{why}, but the calibrated interval, which allows for other shapes, holds what came"
    return replace(
        told,
        answer=answer,
        why=why,
        calibrated=found.value,
        calibrated_low=found.low,
        calibrated_high=found.high,
        refused=found.refused,
    )


def _both(hard: Forecast, twin: Forecast | None) -> tuple[Answer, str]:
    """One answer from two forecasts: what either foretold was foreseeable; what the better one did not, was not."""
    if hard.answer == "yes" or (twin is not None and twin.answer == "yes"):
        names = [one.metric for one in (hard, twin) if one is not None and one.answer == "yes"]
        return "yes", f"foretold by {' and '.join(names)}: " + _texts(hard, twin)
    if twin is None:
        more = "; a twin might have foretold it" if hard.answer == "no" else ""
        return hard.answer, _texts(hard, twin) + more
    return ("no" if twin.answer == "no" else "cannot tell"), _texts(hard, twin)


def _texts(*told: Forecast | None) -> str:
    hard, *twins = told
    texts = [(one, "" if one is hard else _scale_of(one.metric)) for one in (hard, *twins) if one is not None]
    return "; ".join(f"{one.metric}: {_text(one, scale)}" for one, scale in texts)


def _scale_of(twin: str) -> str:
    """A twin is forecast on the scale of a probability, whatever its own is: a perplexity of .02 would puzzle."""
    return "" if "probability" in twin else ", as a probability"


def _text(one: Forecast, scale: str) -> str:
    if one.value is None or one.low is None or one.high is None or one.observed is None:
        return one.why
    value, low, high, seen = (_number(v) for v in (one.value, one.low, one.high, one.observed))
    figures = f"{value} ({low} to {high}) foretold, {_calibrated(one)}{seen} observed{scale}"
    more = f"; {one.enough} models before would do" if one.enough else ""
    return f"{one.why} ({figures}){more}"


def _calibrated(one: Forecast) -> str:
    if one.refused is not None:
        return f"no calibrated forecast: {one.refused}, "
    if one.calibrated is None or one.calibrated_low is None or one.calibrated_high is None:
        return ""
    value, low, high = (_number(v) for v in (one.calibrated, one.calibrated_low, one.calibrated_high))
    return f"calibrated {value} ({low} to {high}), "


def _number(v: float) -> str:
    """Three digits; what is below one in a million of a score is nothing."""
    return "0" if abs(v) < 1e-6 else f"{v:.3g}"
