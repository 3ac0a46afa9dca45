"""The verdict on one panel: rules, reasons, curves."""

from __future__ import annotations

import numpy as np

from foreshock._base import count_of
from foreshock.mirage._case import ITEMS, POINTS, Case
from foreshock.mirage._design import Design, Floats
from foreshock.mirage._emergence import emergence_p
from foreshock.mirage._entry import Entry
from foreshock.mirage._excess import Curves
from foreshock.mirage._finding import compose
from foreshock.mirage._judgement import Judgement, Line, Move, Verdict
from foreshock.mirage._measures import DECODED, Twin, in_order
from foreshock.mirage._needs import Noise, enough
from foreshock.mirage._positions import LinkCheck, check_positions
from foreshock.mirage._prepare import counts, merged, orderly
from foreshock.mirage._share import MAY, RATIO, SHARE, judge_share
from foreshock.mirage._through import UNEXPLAINED, look_through
from foreshock.stats import Link, joint_means, logit, loglog, percentile_interval

# the hard metric has begun to rise / has arrived when it has gone this share of the way from chance to ceiling
BEGUN, OPEN, ARRIVED = 0.1, 0.8, 0.95
_SHOWN = 20


def open_case(entry: Entry, seed: int, replicates: int) -> Case:
    """The entry with its points in order and its twins in theirs; nothing is looked at yet."""
    panel, notes, groups = orderly(entry.panel)
    given = None if entry.draws is None else {n: merged(np.asarray(d, float), groups) for n, d in entry.draws.items()}
    counted = None if given is None else (entry.items if entry.items is not None else len(panel.items))
    case = Case(panel, entry.hard, [], seed, replicates, dict(entry.checks), counted, notes=[*notes, *entry.remarks])
    case.draws = given or {}
    case.twins = [t for t in in_order(list(entry.twins), entry.hard.link) if case.has(t.name)]
    return case


def resample(case: Case) -> None:
    """One set of item weights for hard metric and twins at all points."""
    names = [n for n in dict.fromkeys([case.hard.name, *(t.name for t in case.twins)]) if case.has(n)]
    if not case.by_items or not names:
        return
    stack = np.stack([case.panel.values[n] for n in names])
    finite = np.where(np.isinf(stack), np.nan, stack)
    with np.errstate(invalid="ignore"):
        seen = np.nanmean(finite, axis=2)[None]
    every = np.concatenate([seen, joint_means(finite, np.random.default_rng(case.seed), case.replicates)])
    case.draws = {n: every[:, k] for k, n in enumerate(names)}


def ready(case: Case) -> None:
    """Everything that is settled before any curve is looked at."""
    _preconditions(case)
    if not case.reasons:
        _window(case)


def conclude(case: Case) -> Judgement:
    """Measure, decide, and put the answer into words."""
    rng = np.random.default_rng([case.seed, 1])
    if not case.reasons:
        _measure(case, rng)
        _decide(case)
        _lacking(case)
    return _result(case, rng)


def _preconditions(case: Case) -> None:
    """Reasons that hold before any curve is looked at; all that apply are named."""
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
    """Keep the points between which there is something to explain."""
    hard, points = case.draws[case.hard.name], np.arange(len(case.panel.points))
    done = (hard[0] - case.hard.chance) / (case.hard.ceiling - case.hard.chance)
    if np.quantile(hard[1:, -1] - hard[1:, 0], 0.025) <= 0 or done.max() < BEGUN:
        case.reasons.append("no onset" if done.max() < BEGUN else "the hard metric does not rise along the axis")
        return
    if done[-1] < OPEN and done.max() < OPEN:
        case.notes.append("window open")
    # past the ceiling the link only magnifies how certain the model is of what it already knows
    arrived = np.flatnonzero(done >= ARRIVED)
    last = int(arrived[0]) if arrived.size else points[-1]
    assert case.twin is not None
    floor = case.twin.at_floor(case.draws[case.twin.name][0], case.items)
    keep = points[(points <= last) & (np.cumsum(~floor) > 0)]
    if keep.size < points.size:
        case.notes.append(f"{count_of(points.size - keep.size, 'point')} at floor or ceiling left out")
    if keep.size < POINTS:
        case.reasons.append(f"{keep.size} of >= {POINTS} models between floor and ceiling")
        return
    case.kept = keep
    _seeds(case)


def _seeds(case: Case) -> None:
    assert case.kept is not None
    assert case.twin is not None
    each = np.asarray(counts(case.panel, case.twin.name))[case.kept]
    case.design = Design.of(case.panel.x[case.kept], each, log=case.panel.log_axis, chained=case.panel.trajectory)


def _measure(case: Case, rng: np.random.Generator) -> None:
    """Shares on both links, then the hard metric through its own."""
    assert case.design is not None
    assert case.twin is not None
    primary = case.hard.primary
    z, second = _on(case, case.twin, primary), _on(case, case.twin, _second(primary))
    if not (np.isfinite(z).all() and np.isfinite(second).all()):
        case.reasons.append(f"{case.twin.name} reaches the end of its scale")
        return
    case.share = judge_share(_curves(case, case.twin, primary, z))
    case.other = judge_share(_curves(case, case.twin, _second(primary), second))
    hard = case.draws[case.hard.name][:, case.kept]
    case.through = look_through(hard, z, case.hard, case.design.bent(), case.share.noise, rng)


def _lacking(case: Case) -> None:
    """What would have been enough, when a verdict is withheld although curves exist."""
    share, other = case.share, case.other
    if share is None or other is None or min(share.rise, other.rise) <= 0 or not case.reasons:
        return
    assert case.design is not None
    noise = []
    for told, link in ((share, case.hard.primary), (other, _second(case.hard.primary))):
        z = _on(case, case.twins[0], link)
        noise.append(Noise.of(told, float(np.sqrt(np.mean(np.var(z[1:], axis=0)))), case.design))
    case.enough = enough(case.design, noise[0], noise[1], share.interval)


def _second(link: Link) -> Link:
    return logit if link is loglog else loglog


def _on(case: Case, twin: Twin, link: Link) -> Floats:
    """A twin on a link at the points kept, row 0 as observed, further rows joint bootstrap draws."""
    return twin.on(link, case.draws[twin.name][:, case.kept], case.items)


def _curves(case: Case, twin: Twin, link: Link, z: Floats) -> Curves:
    assert case.design is not None
    within = None
    if case.design.by_replicates:
        each = [case.panel.replicates[twin.name][i] for i in np.asarray(case.kept)]
        spread = [np.var(twin.on(link, np.asarray(r), case.items), ddof=1) if len(r) > 1 else 0.0 for r in each]
        within = np.asarray(spread)[None]
    return Curves(z[:1], case.design, np.cov(z[1:].T), within)


def _decide(case: Case) -> None:
    """The rules, in the order in which they are printed."""
    share, other, through, twin = case.share, case.other, case.through, case.twin
    if share is None or other is None or through is None or twin is None:
        return
    on_both = share.low > SHARE and other.low > SHARE
    if not share.rising:
        case.reasons.append(f"the rise of {twin.name} is not beyond its noise")
    elif on_both and twin.kind in DECODED:
        case.reasons.append("the twin is decoded text and jumps too: only log-probabilities could tell")
    elif share.low > SHARE or other.low > SHARE:
        if on_both:
            _unless_contradicted(case, "break")
            _one_sided(case)
        else:
            case.reasons.append("a break on one link only")
    elif share.high >= MAY:
        case.reasons.append(f"a break may carry {share.low:.0%} to {share.high:.0%} of the rise")
    elif through.unexplained_low > UNEXPLAINED:
        case.reasons.append(f"{twin.name} is smooth but does not move the hard metric as far as it jumped")
    else:
        _unless_contradicted(case, "mirage" if through.sharp(RATIO) else "smooth")
    if share.bends and not on_both:
        case.notes.append(f"bend: the steepest interval of the twin is {share.slope:.1f} times the mean slope")


def _one_sided(case: Case) -> None:
    """Remark that only one model stands beyond the break, when nothing else vouches for it."""
    assert case.share is not None
    assert case.design is not None
    end = {0: 0, case.design.points - 2: -1}.get(case.share.interval)
    if case.verdict == "break" and end is not None and case.design.seeds[end] < 2:
        case.notes.append("one model only on one side of the break")


def _unless_contradicted(case: Case, verdict: Verdict) -> None:
    """Let other twins take the verdict back: one that says for certain the opposite."""
    for twin in case.twins[1:]:
        if twin.kind in DECODED or counts(case.panel, twin.name) != counts(case.panel, case.twins[0].name):
            continue
        z = {k.name: _on(case, twin, k) for k in (loglog, logit)}
        if not all(np.isfinite(v).all() for v in z.values()):
            continue
        first, second = (judge_share(_curves(case, twin, k, z[k.name])) for k in (loglog, logit))
        breaks = first.low > SHARE and second.low > SHARE
        primary = first if case.hard.primary is loglog else second
        denies = primary.rising and primary.high < MAY
        if (verdict == "break" and denies) or (verdict != "break" and breaks):
            case.reasons.append(f"twins disagree: {case.twins[0].name} says {verdict}, {twin.name} the opposite")
            return
    case.verdict = verdict


def _result(case: Case, rng: np.random.Generator) -> Judgement:
    score, p = _emergence(case, rng)
    link_check = _positions(case, rng)
    _moves(case)
    return Judgement(
        finding=compose(case),
        verdict=case.verdict,
        reason="; ".join(case.reasons + case.notes),
        hard=case.hard.name,
        twin=case.twin.name if case.twin else None,
        lines=_lines(case),
        share=case.share,
        other=case.other,
        through=case.through,
        emergence=score,
        emergence_p=p,
        link_check=link_check,
        enough=case.enough,
        moves=tuple(case.moves),
        moved=case.moved,
        jump=case.jump,
    )


def _emergence(case: Case, rng: np.random.Generator) -> tuple[float | None, float | None]:
    hard = case.draws.get(case.hard.name)
    if hard is None or hard.shape[1] < 2:
        return None, None
    spread = None if case.hard.binary else hard[1:].std(axis=0) / case.hard.ceiling
    each = (~np.isnan(case.panel.values[case.hard.name])).sum(axis=1) if case.by_items else np.array(case.items)
    return emergence_p(np.clip(hard[0] / case.hard.ceiling, 0, 1), each, rng, spread=spread)


def _positions(case: Case, rng: np.random.Generator) -> LinkCheck | None:
    p = case.panel.positions
    return None if p is None or p.size == 0 else check_positions(p, rng)


def _moves(case: Case) -> None:
    """Items that changed most across the break, else across the hard metric's largest jump.

    Ties go to those the twin saw move most. The two places need not be the same: a step of the twin while the hard
    metric is still at its floor shows there only later.
    """
    hard = case.draws.get(case.hard.name)
    if hard is None or hard.shape[1] < 2:
        return
    i = int(np.argmax(np.diff(hard[0])))
    if case.verdict == "break" and case.share is not None and case.kept is not None:
        i = int(case.kept[case.share.interval])
    case.jump = (i, i + 1)
    if not case.by_items:
        return
    scores = case.panel.values[case.hard.name]
    change = np.nan_to_num(scores[i + 1] - scores[i])
    tie = np.zeros(change.size)
    if case.twin is not None:
        twin = case.panel.values[case.twin.name]
        with np.errstate(invalid="ignore"):
            tie = np.abs(np.nan_to_num(twin[i + 1] - twin[i], posinf=0.0, neginf=0.0))
    order = np.lexsort((np.arange(change.size), -tie, -np.abs(change)))[:_SHOWN]
    told = [Move(case.panel.items[k], i, i + 1, float(scores[i, k]), float(scores[i + 1, k])) for k in order]
    case.moved = int(np.count_nonzero(change))
    case.moves = [m for m in told if m.from_score != m.to_score]


def _lines(case: Case) -> tuple[Line, ...]:
    panel, out = case.panel, []

    def line(role: str, name: str, unit: str, value: Floats, ends: tuple[Floats, Floats]) -> Line:
        return Line(role, name, unit, panel.points, panel.x, value, ends[0], ends[1], case.items)

    hard = case.draws.get(case.hard.name)
    if hard is not None:
        out.append(line("hard", case.hard.name, "score", hard[0], percentile_interval(hard[1:])))
    if case.twin is not None:
        shown = case.twin.shown(case.draws[case.twin.name])
        out.append(line("twin", case.twin.name, case.twin.unit, shown[0], percentile_interval(shown[1:])))
    if case.through is not None and case.kept is not None:
        full = np.full((3, len(panel.points)), np.nan)
        full[:, case.kept] = case.through.curve, case.through.low, case.through.high
        out.append(line("counterfactual", case.hard.name, "score", full[0], (full[1], full[2])))
    return tuple(out)
