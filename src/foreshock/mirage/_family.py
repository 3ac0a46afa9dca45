"""All tasks of one model family, judged together: they share their models, and so tell each other's noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from foreshock._base import Progress, quiet
from foreshock.mirage._case import Case
from foreshock.mirage._common import CommonJump, common_jump
from foreshock.mirage._entry import Entry
from foreshock.mirage._excess import Curves
from foreshock.mirage._judge import conclude, open_case, ready, resample, series_of
from foreshock.mirage._judgement import Judgement
from foreshock.mirage._links import links_for
from foreshock.mirage._measures import Hard, Twin
from foreshock.mirage._noise import NoisePrior, learn
from foreshock.mirage._share import RATIO
from foreshock.mirage._weights import Weights
from foreshock.series import Panel
from foreshock.stats import benjamini_hochberg


@dataclass(frozen=True, slots=True)
class FamilyJudgement:
    """Verdicts on all lines of one model family along one axis.

    Attributes:
        judgements: One for each entry, in their order.
        common: Whether most tasks jump at one model; None where there are too few tasks with a twin.
        noise: What the tasks know of each other's noise on the link of most of them; None where they know nothing.
        priors: The same for every link and kind of twin.
    """

    judgements: tuple[Judgement, ...]
    common: CommonJump | None
    noise: NoisePrior | None
    priors: tuple[NoisePrior, ...] = ()


def judge(
    panel: Panel,
    hard: Hard,
    twins: Sequence[Twin] = (),
    *,
    seed: int = 0,
    replicates: int = 1000,
    checks: Mapping[str, tuple[str, str]] | None = None,
) -> Judgement:
    """Say whether the jump of a hard metric is smooth, made by the metric, a break, or not to be told.

    The order of twins, the link and the axis are fixed before the data are looked at: the first of
    :func:`foreshock.mirage.order_for` whose values are there is the primary twin, the link is the hard metric's, and
    the axis is the panel's. Other twins can only take a verdict back.

    Args:
        panel: Scores of one task and one model family.
        hard: The metric in question; ``panel.values`` must have it.
        twins: Continuous measurements of the same responses; those without values in the panel are passed over.
        seed: Seed of the bootstrap.
        replicates: Joint bootstrap draws of the items.
        checks: Alternatives that the caller has looked at: name to (``ruled-out|possible|unchecked``, why).

    Returns:
        The verdict with its finding and curves. Noise is then known from this line alone; where other tasks of the
        same models exist, :func:`judge_family` knows it better.
    """
    entry = Entry(panel, hard, tuple(twins), checks or {})
    return judge_family([entry], seed=seed, replicates=replicates).judgements[0]


def judge_family(
    entries: Iterable[Entry],
    *,
    seed: int = 0,
    replicates: int = 1000,
    ratio: float = RATIO,
    progress: Progress = quiet,
) -> FamilyJudgement:
    """Judge all lines of one model family along one axis.

    Args:
        entries: One for each task; they share their models, or most of them. Gone through once; what is kept of an
            entry does not hold its positions.
        seed: Seed of the bootstrap.
        replicates: Joint bootstrap draws of the items.
        ratio: Steepest slope of the smooth class over the mean slope.
        progress: Told how many lines are done.

    Returns:
        The verdicts in the order of the entries, with q-values over those that have a p-value, and what holds for the
        family.
    """
    cases, weights = [], Weights(seed, replicates)
    for k, entry in enumerate(entries):
        progress("read", k, None)
        case = open_case(entry, seed, replicates)
        resample(case, weights)
        ready(case)
        cases.append(case)
    priors = share_noise(cases)
    told = []
    for k, case in enumerate(cases):
        progress("judge", k, len(cases))
        told.append(conclude(case, ratio))
    progress("judge", len(cases), len(cases))
    most = max(priors, key=lambda p: p.tasks, default=None)
    return FamilyJudgement(tuple(_adjusted(told)), common_jump(cases, ratio), most, tuple(priors))


def share_noise(cases: Sequence[Case]) -> list[NoisePrior]:
    """Learn the noise of models from all tasks with one kind of twin on one link, and give it to each of them.

    Seeds measure what seeds do, and checkpoints of one run hang together: lines with either keep their own noise.
    """
    groups: dict[tuple[str, str], list[tuple[Case, Curves]]] = {}
    for case in cases:
        if case.reasons or case.twin is None or case.noise_source != "own":
            continue
        link = links_for(case.hard, case.twin)[0]
        groups.setdefault((link.name, case.twin.kind), []).append((case, series_of(case, case.twin)[0].main))
    learned = []
    for (link_name, kind), members in groups.items():
        known, priors = learn([curves for _, curves in members], link_name, kind)
        learned += [known] if known is not None else []
        for (case, _), prior in zip(members, priors, strict=True):
            case.prior = prior
    return learned


def _adjusted(told: list[Judgement]) -> list[Judgement]:
    """The judgements with q-values (Benjamini and Hochberg) over those that have a p-value."""
    known = [k for k, one in enumerate(told) if one.finding.p is not None]
    q = benjamini_hochberg(np.array([told[k].finding.p for k in known], float)).tolist() if known else []
    for k, value in zip(known, q, strict=True):
        told[k] = replace(told[k], finding=msgspec.structs.replace(told[k].finding, q=float(value)))
    return told
