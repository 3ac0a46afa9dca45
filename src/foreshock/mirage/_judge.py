"""The stages through which one line goes on the way to its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from foreshock._base import count_of
from foreshock.mirage._beneath import Beneath
from foreshock.mirage._case import ITEMS, POINTS, Case
from foreshock.mirage._design import Design, Floats
from foreshock.mirage._drawn import emergence_of, find_moves, lines_of
from foreshock.mirage._entry import Entry
from foreshock.mirage._excess import Curves, Prior
from foreshock.mirage._finding import compose, data_hash
from foreshock.mirage._judgement import Asked, Judgement, Verdict
from foreshock.mirage._links import links_for
from foreshock.mirage._measures import Twin, in_order
from foreshock.mirage._needs import Noise, enough
from foreshock.mirage._positions import check_positions
from foreshock.mirage._prepare import counts, merged, orderly
from foreshock.mirage._share import ALPHA, MAY, OTHER, SHARE, Share, Windowed, judge_share
from foreshock.mirage._through import UNEXPLAINED, look_through
from foreshock.mirage._weights import Weights
from foreshock.mirage._window import BEGUN, OPEN, Window, windows
from foreshock.stats import Link

UNDECIDED = "the primary twin gives no verdict to agree with"


def open_case(entry: Entry, seed: int, replicates: int) -> Case:
    """The entry with its points in order and its twins in theirs; nothing is looked at yet.

    What needs the positions inside items is done here, so that the case does not hold them while others are opened.
    """
    panel, notes, groups = orderly(entry.panel)
    given = None if entry.draws is None else {n: merged(np.asarray(d, float), groups) for n, d in entry.draws.items()}
    counted = None if given is None else (entry.items if entry.items is not None else len(panel.items))
    positions, panel = panel.positions, replace(panel, positions=None)
    case = Case(panel, entry.hard, [], seed, replicates, dict(entry.checks), counted, notes=[*notes, *entry.remarks])
    case.draws, case.how_twin = given or {}, entry.how_twin
    case.twins = [t for t in in_order(list(entry.twins), entry.hard.was or entry.hard.link) if case.has(t.name)]
    case.data_hash = data_hash(case)
    if positions is not None and positions.size:
        case.link_check = check_positions(positions, np.random.default_rng([seed, 2]))
    return case


def resample(case: Case, weights: Weights) -> None:
    """One set of item weights for hard metric and twins at all points."""
    names = [n for n in dict.fromkeys([case.hard.name, *(t.name for t in case.twins)]) if case.has(n)]
    if not case.by_items or not names:
        return
    stack = np.stack([case.panel.values[n] for n in names])
    finite = np.where(np.isinf(stack), np.nan, stack)
    with np.errstate(invalid="ignore"):
        seen = np.nanmean(finite, axis=2)[None]
    every = np.concatenate([seen, weights.means(finite)])
    case.draws = {n: every[:, k] for k, n in enumerate(names)}


def ready(case: Case) -> None:
    """Everything that is settled before any share is measured; all reasons that apply are named."""
    _preconditions(case)
    if not case.reasons:
        _window(case)
    if case.reasons or case.twin is None:
        return
    for link in links_for(case.hard, case.twin):
        if not all(np.isfinite(_on(case, case.twin, link, w)).all() for w in case.windows):
            case.reasons.append(f"{case.twin.name} reaches the end of its scale")
            return


def _preconditions(case: Case) -> None:
    panel, points = case.panel, len(case.panel.points)
    noun = "checkpoints" if panel.trajectory else "models"
    if points < POINTS:
        case.reasons.append(f"{points} of >= {POINTS} {noun}")
    if not panel.axis_known:
        case.reasons.append("no axis")
    if case.twin is None:
        case.reasons.append("no twin")
    elif count := case.infinite(case.twin.name):
        case.reasons.append(f"{count_of(count, 'infinite value')} of {case.twin.name}")
    if not case.has(case.hard.name):
        case.reasons.append(f"no scores of {case.hard.name} at some points")
    elif case.items < ITEMS:
        case.reasons.append(f"{case.items} of >= {ITEMS} items")


def _window(case: Case) -> None:
    """Keep the points between which there is something to explain, in every draw."""
    assert case.twin is not None
    hard = case.draws[case.hard.name]
    done = (hard - case.hard.chance) / (case.hard.ceiling - case.hard.chance)
    if np.quantile(hard[1:, -1] - hard[1:, 0], 0.025) <= 0 or done[0].max() < BEGUN:
        case.reasons.append("no onset" if done[0].max() < BEGUN else "the hard metric does not rise along the axis")
        return
    if done[0].max() < OPEN:
        case.notes.append("window open")
    found = windows(done[1:], case.twin.at_floor(case.draws[case.twin.name][1:], case.items))
    kept, points = found[0].kept, len(case.panel.points)
    if kept.size < points:
        case.notes.append(f"{count_of(points - kept.size, 'point')} at floor or ceiling left out")
    if kept.size < POINTS:
        case.reasons.append(f"{kept.size} of >= {POINTS} models between floor and ceiling")
        return
    short = sum(w.weight for w in found if w.kept.size < POINTS)
    if short > ALPHA:
        case.reasons.append(
            f"{short:.0%} of the draws of items leave fewer than {POINTS} models between floor and ceiling"
        )
        return
    case.windows = [w for w in found if w.kept.size >= POINTS]
    case.design = _design(case, case.windows[0])


def _design(case: Case, window: Window) -> Design:
    assert case.twin is not None
    panel, kept = case.panel, window.kept
    each = np.asarray(counts(panel, case.twin.name))[kept]
    return Design.of(panel.x[kept], each, log=panel.log_axis, chained=panel.trajectory)


def _on(case: Case, twin: Twin, link: Link, window: Window) -> Floats:
    """A twin on a link at the points kept, row 0 as observed, further rows joint bootstrap draws."""
    return twin.on(link, case.draws[twin.name][:, window.kept], case.items)


def series_of(case: Case, twin: Twin) -> list[Windowed]:
    """A twin on each of its links, the primary one first, in every window, with what is known of its noise."""
    primary, *others = links_for(case.hard, twin)
    prior = case.prior if twin is case.twin else None
    first = [_curves(case, twin, primary, window, prior) for window in case.windows]
    told = [first]
    for link in others:
        each = [_curves(case, twin, link, window, prior) for window in case.windows]
        told.append(
            [
                replace(curves, base=base, stretch=_stretch(base.z[0], primary, link))
                for curves, base in zip(each, first, strict=True)
            ]
        )
    weights = [window.weight for window in case.windows]
    return [Windowed(tuple(zip(weights, parts, strict=True))) for parts in told]


def _curves(case: Case, twin: Twin, link: Link, window: Window, prior: Prior | None) -> Curves:
    z, design, within = _on(case, twin, link, window), _design(case, window), None
    if design.by_replicates:
        each = [case.panel.replicates[twin.name][i] for i in window.kept]
        spread = [np.var(twin.on(link, np.asarray(r), case.items), ddof=1) if len(r) > 1 else 0.0 for r in each]
        within = np.asarray(spread)[None]
    return Curves(z[:1], design, np.cov(z[1:].T), within, prior)


def _stretch(z: Floats, primary: Link, other: Link) -> Floats:
    """Slope of another link against the primary one at each point: noise of models is stretched by it."""
    step = 1e-3
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = [other.forward(primary.inverse(z + s)) for s in (-step, step)]
        slope = (ends[1] - ends[0]) / (2 * step)
    # where probability itself has no more digits the two links run in parallel
    return np.where(np.isfinite(slope), slope, 1.0)


def conclude(case: Case, ratio: float) -> Judgement:
    """Measure, decide, and put the answer into words."""
    if not case.reasons:
        _measure(case, ratio)
        _decide(case, ratio)
        _lacking(case)
    case.others = case.others or [_unasked(twin, UNDECIDED) for twin in case.twins[1:]]
    find_moves(case)
    score, p = emergence_of(case, np.random.default_rng([case.seed, 1]))
    return Judgement(
        finding=compose(case, ratio),
        verdict=case.verdict,
        reason="; ".join(case.reasons + case.notes),
        hard=case.hard.name,
        twin=case.twin.name if case.twin else None,
        lines=lines_of(case),
        share=case.share,
        other=case.other,
        through=case.through,
        emergence=score,
        emergence_p=p,
        link_check=case.link_check,
        enough=case.enough,
        moves=tuple(case.moves),
        moved=case.moved,
        jump=case.jump,
        noise_source=case.noise_source,
        others=tuple(case.others),
        remarks="; ".join(case.notes),
        window=tuple((case.panel.points[w.kept[0]], case.panel.points[w.kept[-1]], w.weight) for w in case.windows),
    )


def _measure(case: Case, ratio: float) -> None:
    """Shares on all links of the twin, then the hard metric through its own."""
    assert case.design is not None
    assert case.twin is not None
    window, links = case.windows[0], links_for(case.hard, case.twin)
    case.shares = _shares(case, case.twin, ratio)
    beneath = Beneath.of(case.panel, window.kept, case.hard.name, case.twins) if case.by_items else None
    case.through = look_through(
        case.draws[case.hard.name][:, window.kept],
        _on(case, case.twin, links[0], window),
        case.hard,
        case.design.bent(),
        case.shares[0].noise,
        np.random.default_rng([case.seed, 3]),
        twin=case.twin,
        beneath=beneath,
    )


def _lacking(case: Case) -> None:
    """What would have been enough, when a verdict is withheld although curves exist."""
    if not case.shares or min(s.rise for s in case.shares) <= 0 or not case.reasons:
        return
    assert case.design is not None
    assert case.twin is not None
    noise = []
    for share, link in zip(case.shares, links_for(case.hard, case.twin), strict=True):
        z = _on(case, case.twin, link, case.windows[0])
        items = float(np.sqrt(np.mean(np.var(z[1:], axis=0))))
        noise.append(Noise.of(share, items, case.design, case.prior.df if case.prior else 0.0))
    case.enough = enough(case.design, noise[0], noise, case.shares[0].interval)


def _decide(case: Case, ratio: float) -> None:
    """The rules, in the order in which they are printed."""
    share, through, twin = case.share, case.through, case.twin
    if share is None or through is None or twin is None:
        return
    broken = [s.low > SHARE for s in case.shares]
    if not share.rising:
        case.reasons.append(f"the rise of {twin.name} is not beyond its noise")
    elif all(broken) and twin.decoded:
        case.reasons.append("the twin is decoded text and jumps too: only log-probabilities could tell")
    elif all(broken):
        _unless_contradicted(case, "break", ratio)
        _one_sided(case)
    elif any(broken):
        case.reasons.append("a break on one link only")
    elif share.high >= MAY:
        case.reasons.append(f"a break may carry {share.low:.0%} to {share.high:.0%} of the rise")
    elif through.unexplained_low > UNEXPLAINED:
        case.reasons.append(f"{twin.name} is smooth but does not move the hard metric as far as it jumped")
    else:
        _unless_contradicted(case, "mirage" if through.sharp(ratio) else "smooth", ratio)
    if share.bends and not all(broken):
        case.notes.append(f"bend: the steepest interval of the twin is {share.slope:.1f} times the mean slope")


def _one_sided(case: Case) -> None:
    """Remark that only one model stands beyond the break, when nothing else vouches for it."""
    assert case.share is not None
    assert case.design is not None
    end = {0: 0, case.design.points - 2: -1}.get(case.share.interval)
    if case.verdict == "break" and end is not None and case.design.seeds[end] < 2:
        case.notes.append("one model only on one side of the break")


def _unless_contradicted(case: Case, verdict: Verdict, ratio: float) -> None:
    """Let other twins take the verdict back: one that says for certain the opposite. What each says is kept."""
    case.others = [_asked(case, twin, verdict, ratio) for twin in case.twins[1:]]
    against = next((other.name for other in case.others if other.answer == "disagrees"), None)
    if against is None:
        case.verdict = verdict
    else:
        case.reasons.append(f"twins disagree: {case.twins[0].name} says {verdict}, {against} the opposite")


def _asked(case: Case, twin: Twin, verdict: Verdict, ratio: float) -> Asked:
    """What another twin says to a verdict."""
    if twin.decoded:
        return _unasked(twin, "decoded text")
    if counts(case.panel, twin.name) != counts(case.panel, case.twins[0].name):
        return _unasked(twin, "not of the same seeds")
    told = _shares_of(case, twin, ratio)
    if told is None:
        return _unasked(twin, "reaches the end of its scale")
    breaks = all(s.low > SHARE for s in told)
    denies = told[0].rising and told[0].high < MAY
    same, opposite = (breaks, denies) if verdict == "break" else (denies, breaks)
    answer: Literal["agrees", "disagrees", "cannot tell"] = "agrees" if same else "cannot tell"
    if opposite:
        answer = "disagrees"
    ends = (min(s.low for s in told), told[0].high) if told[0].rising else (None, None)
    return Asked(twin.name, twin.was or twin.kind, answer, low=ends[0], high=ends[1])


def _unasked(twin: Twin, why: str) -> Asked:
    return Asked(twin.name, twin.was or twin.kind, "not asked", why)


def _shares_of(case: Case, twin: Twin, ratio: float) -> list[Share] | None:
    """Shares of another twin on its links; None where it reaches the end of its scale."""
    links = links_for(case.hard, twin)
    if not all(np.isfinite(_on(case, twin, link, w)).all() for link in links for w in case.windows):
        return None
    return _shares(case, twin, ratio)


def _shares(case: Case, twin: Twin, ratio: float) -> list[Share]:
    first, *others = series_of(case, twin)
    return [judge_share(first, ratio), *(judge_share(one, ratio, OTHER) for one in others)]
