"""Emergence made on purpose: a hard metric put on a continuous score, ready to be judged with that score as its twin.

Schaeffer, Miranda and Koyejo ("Are Emergent Abilities of Large Language Models a Mirage?", 2023, section 5 and appendix
B.1) made vision models seem to jump by three such metrics: reconstruction below a threshold, all images of a sequence
right, K of K right. Each is here as a function of plain arrays and as an :class:`Induced` pair of metric and twin with
the link between them, which :func:`entry` makes into what :func:`foreshock.mirage.judge_family` takes. A metric that is
known to have made the jump is also a test of the verdict: where the score itself does not jump, it has to say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreshock._base import MetricError
from foreshock.mirage._entry import Entry
from foreshock.mirage._measures import Hard, Twin
from foreshock.series import Panel

Floats = NDArray[np.float64]

__all__ = [
    "Induced",
    "all_of_k",
    "entry",
    "induced_all_of_k",
    "induced_reconstruction",
    "induced_subset",
    "induced_threshold",
    "reconstruction_below",
    "squared_error",
    "subset_accuracy",
    "threshold",
]


def threshold(score: ArrayLike, c: float) -> Floats:
    """1 where a score is at least ``c``, else 0; NaN stays NaN.

    Examples:
        >>> threshold([0.2, 0.5, 0.9, float("nan")], 0.5)
        array([ 0.,  1.,  1., nan])
    """
    s = np.asarray(score, float)
    return np.where(np.isnan(s), np.nan, s >= c)


def squared_error(images: ArrayLike, reconstructed: ArrayLike) -> Floats:
    """Squared distance of each image from its reconstruction, summed over all that one image holds.

    Args:
        images: Shape (..., images, pixels); the last axis is summed.
        reconstructed: Same shape, or one that broadcasts to it.

    Examples:
        >>> squared_error([[0, 0], [1, 1]], [[1, 2], [1, 1]])
        array([5., 0.])
    """
    away = np.asarray(images, float) - np.asarray(reconstructed, float)
    return np.asarray((away**2).sum(axis=-1))


def reconstruction_below(errors: ArrayLike, c: float) -> Floats:
    """1 where a squared error is below ``c``, else 0; its mean is the paper's ``Reconstruction_c``. NaN stays NaN.

    Examples:
        >>> reconstruction_below([0.5, 1.0, 2.0], 1.0)
        array([1., 0., 0.])
    """
    e = np.asarray(errors, float)
    return np.where(np.isnan(e), np.nan, e < c)


def subset_accuracy(right: ArrayLike, length: int | None = None) -> Floats:
    """1 where the first ``length`` answers of a sequence are all right, else 0; NaN where one of them is missing.

    Args:
        right: 1 for right and 0 for wrong, shape (..., sequences, answers).
        length: Answers that count, from the first; all when not given.

    Returns:
        Shape (..., sequences).

    Raises:
        MetricError: ``length`` is below 1 or above the number of answers.

    Examples:
        >>> subset_accuracy([[1, 1, 0], [1, 1, 1]], 2), subset_accuracy([[1, 1, 0], [1, 1, 1]])
        (array([1., 1.]), array([0., 1.]))
    """
    head = _first(right, length)
    return np.where(np.isnan(head).any(axis=-1), np.nan, (head > 0.5).all(axis=-1))


def all_of_k(right: ArrayLike, k: int) -> Floats:
    """1 where all of ``k`` answers are right, else 0: the answers in groups of ``k`` in their order, rest left out.

    Groups share no answer, so they are as independent as the answers are.

    Args:
        right: 1 for right and 0 for wrong, shape (..., answers).
        k: Answers of a group.

    Returns:
        Shape (..., answers // k).

    Raises:
        MetricError: ``k`` is below 1 or above the number of answers.

    Examples:
        >>> all_of_k([1, 1, 0, 1, 1], 2)
        array([1., 0.])
    """
    return subset_accuracy(_groups(right, k))


@dataclass(frozen=True, slots=True)
class Induced:
    """A hard metric made from a continuous score, for several models.

    Attributes:
        hard: The metric and the link by which it hangs on the score.
        twins: The score in the forms that a verdict takes, best first.
        values: Name of metric or twin to its values, shape (models, items).
        positions: Whether each part of an item is right, shape (models, items, parts); None without parts.
    """

    hard: Hard
    twins: tuple[Twin, ...]
    values: dict[str, Floats]
    positions: Floats | None = None


def induced_threshold(score: ArrayLike, c: float, *, high: float = 1.0, name: str = "score") -> Induced:
    """A score from 0 to ``high`` counts only when it is at least ``c``; link ``threshold``.

    Args:
        score: Shape (models, items).
        c: The threshold.
        high: Highest value of the score.
        name: Name of the score.

    Examples:
        >>> made = induced_threshold([[0.2, 0.7], [0.6, 0.9]], 0.5)
        >>> made.hard.name, made.values[made.hard.name].mean(axis=1)
        ('score >= 0.5', array([0.5, 1. ]))
    """
    s = _two(score)
    if np.nanmin(s) < 0 or np.nanmax(s) > high:
        raise MetricError(f"scores from {np.nanmin(s):g} to {np.nanmax(s):g}", expected=f"scores in [0, {high:g}]")
    hard = Hard(f"{name} >= {c:g}", "threshold", threshold=c)
    return Induced(hard, (Twin(name, "graded_score", high=high),), {hard.name: threshold(s, c), name: s})


def induced_reconstruction(errors: ArrayLike, c: float, *, scale: float) -> Induced:
    """An image counts only when its squared error is below ``c``; link ``threshold``.

    The twin is the error itself, as the log-likelihood -error / ``scale`` of a normal model: an error that falls as a
    power of the axis is a straight line on the link -log(-log p). On log-odds the scale matters, so it has to be one
    that says what no model at all would reach.

    Args:
        errors: Squared errors, shape (models, images), not negative.
        c: The threshold.
        scale: Mean squared error of the mean image (the variance of the images).

    Raises:
        MetricError: An error is negative, or ``scale`` not positive.

    Examples:
        >>> made = induced_reconstruction([[4.0, 2.0], [1.0, 0.5]], 1.5, scale=4.0)
        >>> made.hard.name, made.values["-error"]
        ('error < 1.5', array([[-1.   , -0.5  ],
               [-0.25 , -0.125]]))
    """
    e = _two(errors)
    if np.nanmin(e) < 0 or not scale > 0:
        raise MetricError(
            f"errors from {np.nanmin(e):g}, scale {scale:g}", expected="errors from 0 and a scale above 0"
        )
    hard = Hard(f"error < {c:g}", "threshold")
    values = {hard.name: reconstruction_below(e, c), "-error": -e / scale}
    return Induced(hard, (Twin("-error", "gold_logprob"),), values)


def induced_subset(logprob: ArrayLike, lead: ArrayLike, length: int | None = None) -> Induced:
    """A sequence counts only when its first ``length`` answers are all right; link ``all-of-N``, or ``argmax`` for one.

    Args:
        logprob: Log-probability of the right class of each answer, shape (models, sequences, answers).
        lead: Its lead over the best wrong class in nats, same shape: an answer is right when it is above 0.
        length: Answers that count, from the first; all when not given.

    Raises:
        MetricError: The shapes differ, or ``length`` is impossible.

    Examples:
        >>> made = induced_subset([[[-0.1, -2.0]], [[-0.1, -0.3]]], [[[2.0, -1.0]], [[2.0, 1.0]]])
        >>> made.hard.name, made.values[made.hard.name].ravel()
        ('2 of 2 right', array([0., 1.]))
    """
    logs, leads = _first(logprob, length), _first(lead, length)
    if logs.shape != leads.shape or logs.ndim != 3:
        raise MetricError(f"shapes {logs.shape} and {leads.shape}", expected="both (models, sequences, answers)")
    right = np.where(np.isnan(leads), np.nan, leads > 0)
    parts = logs.shape[-1]
    name = f"{parts} of {parts} right"
    if parts == 1:
        values = {name: right[..., 0], "probability": np.exp(logs[..., 0]), "lead": leads[..., 0]}
        twins = (Twin("probability", "choice_probability"), Twin("lead", "choice_margin"))
        return Induced(Hard(name, "argmax"), twins, values)
    values = {name: subset_accuracy(right), "logprob": logs.mean(axis=-1)}
    return Induced(Hard(name, "all-of-N", parts=parts), (Twin("logprob", "gold_logprob"),), values, right)


def induced_all_of_k(logprob: ArrayLike, lead: ArrayLike, k: int) -> Induced:
    """``k`` answers count only together, in groups as in :func:`all_of_k`; otherwise as :func:`induced_subset`.

    Args:
        logprob, lead: As for :func:`induced_subset`, shape (models, answers).
        k: Answers of a group.

    Examples:
        >>> made = induced_all_of_k(np.full((2, 7), -0.1), np.ones((2, 7)), 3)
        >>> made.hard.link, made.hard.parts, made.values["3 of 3 right"].shape
        ('all-of-N', 3, (2, 2))
    """
    return induced_subset(_groups(_two(logprob), k), _groups(_two(lead), k))


def entry(
    induced: Induced,
    size: ArrayLike,
    *,
    task: str,
    family: str,
    axis: str = "parameters",
    log_axis: bool = True,
) -> Entry:
    """What :func:`foreshock.mirage.judge_family` takes; models of equal size are seeds of one point.

    Args:
        induced: Metric and score.
        size: Place of each model on the axis, shape (models,).
        task, family, axis: Names.
        log_axis: Whether the axis is meant to be read on a log scale.

    Raises:
        MetricError: There is not one size for each model.

    Examples:
        >>> made = induced_threshold(np.random.default_rng(0).uniform(size=(6, 20)), 0.5)
        >>> line = entry(made, [1, 2, 4, 1, 2, 4], task="t", family="f")
        >>> line.panel.points, [len(r) for r in line.panel.replicates["score"]]
        (('1', '2', '4'), [2, 2, 2])
    """
    places = np.asarray(size, float)
    models = next(iter(induced.values.values())).shape[0]
    if places.shape != (models,):
        raise MetricError(f"sizes of shape {places.shape} for {models} models", expected="one size for each model")
    x = np.unique(places)
    rows = [np.flatnonzero(places == at) for at in x]
    first = next(iter(induced.values.values()))
    panel = Panel(
        task=task,
        family=family,
        axis=axis,
        axis_known=True,
        log_axis=log_axis,
        points=tuple(f"{at:g}" for at in x),
        x=x,
        items=tuple(str(i) for i in range(first.shape[1])),
        values={name: _over(v, rows) for name, v in induced.values.items()},
        replicates={name: [np.nanmean(v[r], axis=1) for r in rows] for name, v in induced.values.items()},
        positions=None if induced.positions is None else _over(induced.positions, rows),
    )
    return Entry(panel, induced.hard, induced.twins)


def _over(values: Floats, rows: Sequence[NDArray[np.intp]]) -> Floats:
    """Mean over the models of each point."""
    return np.stack([values[r].mean(axis=0) for r in rows])


def _two(values: ArrayLike) -> Floats:
    v = np.asarray(values, float)
    if v.ndim != 2 or v.size == 0:
        raise MetricError(f"values of shape {v.shape}", expected="shape (models, items)")
    return v


def _first(values: ArrayLike, length: int | None) -> Floats:
    v = np.asarray(values, float)
    there = v.shape[-1] if v.ndim else 0
    count = there if length is None else length
    if not 1 <= count <= there:
        raise MetricError(f"{count} of {there} answers", expected=f"from 1 to {there}")
    return v[..., :count]


def _groups(values: ArrayLike, k: int) -> Floats:
    v = np.asarray(values, float)
    there = v.shape[-1] if v.ndim else 0
    if not 1 <= k <= there:
        raise MetricError(f"groups of {k} from {there} answers", expected=f"from 1 to {there}")
    return v[..., : there - there % k].reshape(*v.shape[:-1], there // k, k)
