"""A verdict as a finding: what is said, under which null, what else it could be, what to do."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np

from foreshock._base import digest
from foreshock.mirage._case import ITEMS, POINTS, Case
from foreshock.mirage._design import Floats
from foreshock.mirage._judgement import Asked, Move
from foreshock.mirage._links import links_for
from foreshock.mirage._needs import POWER, STEP, Enough
from foreshock.mirage._share import ALPHA, MAY, RATIO, SHARE, Share
from foreshock.mirage._through import UNEXPLAINED, Through
from foreshock.records import Alternative, Effect, Evidence, Finding, Fit, Need, Rate, State, Subject
from foreshock.series import Panel

CODE = "FS301"
_STATE = {"break": State.FIRING, "mirage": State.OK, "smooth": State.OK, "unresolved": State.NO_DATA}


def compose(case: Case, ratio: float = RATIO) -> Finding:
    """Put the parts of a judgement into the form that every room shares."""
    panel = case.panel
    runs = sorted(key for point in panel.runs for key in point)
    return Finding(
        code=CODE,
        subject=Subject(task=panel.task, model_family=panel.family, metric=case.hard.name, axis=panel.axis, runs=runs),
        state=_STATE[case.verdict],
        verdict=case.verdict,
        title=_title(case),
        effect=_effect(case.share, case.other),
        p=case.p,
        null=_null(case, ratio),
        replicates=case.replicates,
        rate=measured_rate(),
        needs=_needs(case),
        alternatives=_alternatives(case),
        evidence=[_evidence(panel, m) for m in case.moves],
        evidence_total=case.moved,
        fit=Fit(data_hash=case.data_hash, seed=case.seed),
        advice=_advice(case),
    )


@functools.lru_cache(maxsize=1)
def measured_rate() -> Rate:
    """Rate of falsely said breaks: as stated, and the worst cell of the recorded benchmark."""
    text = files("foreshock.mirage").joinpath("_rates.json").read_bytes()
    told: dict[str, Any] = msgspec.json.decode(text)
    return Rate(stated=ALPHA, measured=told["worst_false_break"], n=told["worlds_per_cell"])


def data_hash(case: Case) -> str:
    """Hash of exactly what the verdict was computed from."""
    panel, names = case.panel, [case.hard.name, *(t.name for t in case.twins)]
    return digest(
        {
            "x": panel.x.tolist(),
            "items": list(panel.items),
            "values": {n: _bytes_of(panel.values[n]) for n in names if n in panel.values},
            "draws": {n: _bytes_of(case.draws[n]) for n in names if n in case.draws},
            "replicates": {n: [r.tolist() for r in panel.replicates[n]] for n in names if n in panel.replicates},
            "trajectory": panel.trajectory,
        },
        16,
    )


def _bytes_of(values: Floats) -> str:
    """Hash of an array: the canonical text of a million scores takes longer than the verdict."""
    v = np.ascontiguousarray(values, "<f8")
    return hashlib.sha256(str(v.shape).encode() + v.tobytes()).hexdigest()


def _effect(share: Share | None, other: Share | None) -> Effect | None:
    if share is None or other is None or not share.rising:
        return None
    return Effect(
        name="share of the rise that a break carries",
        unit="fraction",
        value=share.value,
        low=min(share.low, other.low, share.value),
        high=max(share.high, share.value),  # bounds are told on a grid of 1%
        level=1 - 2 * ALPHA,
    )


def _title(case: Case) -> str:
    remark = f" ({'; '.join(case.notes)})" if case.notes else ""
    share, jump, hard = case.share, case.jump, case.hard.name
    if case.verdict == "unresolved" or share is None or case.twin is None or jump is None:
        return f"unresolved: {'; '.join(case.reasons)}{remark}"
    top = int(np.argmax(np.diff(case.draws[hard][0])))
    place = _between(case, top)
    most = f"a break carries at most {share.high:.0%} of the rise{remark}"
    if case.verdict == "break":
        least = min(share.low, case.other.low) if case.other else share.low
        both = f"{hard} jumps {place} and so does {case.twin.name}"
        if jump[0] != top:
            both = f"{case.twin.name} jumps {_between(case, jump[0])} ({hard} jumps most {place})"
        return f"break: {both}: at least {least:.0%} of the rise of {case.twin.name}{remark}"
    if case.verdict == "mirage":
        return (
            f"mirage: {hard} jumps {place} but no single step carries the rise of {case.twin.name}; the metric "
            f"alone is enough to make the jump, {most}"
        )
    return f"smooth: neither {hard} nor {case.twin.name} jumps; {most}"


def _between(case: Case, first: int) -> str:
    return f"between {case.panel.points[first]} and {case.panel.points[first + 1]}"


def _null(case: Case, ratio: float) -> str:
    panel = case.panel
    unit = "checkpoint of one run" if panel.trajectory else "model of one family"
    used = f"; used: {case.twin.name}" if case.twin else ""
    links = [link.name for link in links_for(case.hard, case.twin)] if case.twin else [case.hard.primary.name]
    on = f"on {links[0]}" if len(links) == 1 else f"on every link ({', '.join(links)}; shares are told on the first)"
    how = f"; link: {case.through.how}" if case.through is not None and case.through.how else ""
    return (
        f"{on} no interval of the twin rises faster than {ratio:g} times its mean slope along {panel.axis}, or a break "
        f"carries at most {SHARE:.0%} of the rise; exchangeable unit: {unit}, and item within the joint bootstrap"
        f"{'' if case.by_items else ' (totals: draws by value, standard error and number of items, unpaired)'}; "
        f"noise: {_noise_of(case)}, estimated anew in every simulated draw; order of twins, fixed beforehand: "
        f"{', '.join(case.hard.order)}{used}{_others(case)}{how}"
    )


def _others(case: Case) -> str:
    """What the other twins say: each can only take a verdict back."""
    told = [f"{o.name} {o.answer}{_ends(o)}{f' ({o.why})' if o.why else ''}" for o in case.others]
    return f"; other twins, which can only take a verdict back: {', '.join(told)}" if told else ""


def _ends(asked: Asked) -> str:
    return "" if asked.low is None or asked.high is None else f" ({asked.low:.0%} to {asked.high:.0%})"


def _noise_of(case: Case) -> str:
    own = "scatter of models about a smooth curve with the step left in"
    if case.design is not None and case.design.by_replicates:
        return f"spread among replicates ({case.design.replicate_df} degrees of freedom)"
    if case.panel.trajectory:
        return "scatter of checkpoints about a smooth curve, autoregressive with the worst coefficient up to 0.9"
    if case.noise_source == "family" and case.share is not None:
        return f"{own}, weighed with that of the family's other tasks ({case.share.noise_df:.3g} degrees of freedom)"
    return own


def _needs(case: Case) -> list[Need]:
    needs = []
    points, items, enough = len(case.panel.points), case.items, case.enough
    if points < POINTS:
        needs.append(Need(what="models on the axis", have=points, enough=POINTS))
    if not case.panel.axis_known:
        needs.append(Need(what="known axis (size, tokens, step or date of each model)", have=0, enough=1))
    if case.twin is None:
        needs.append(Need(what="twin on the same responses", have=0, enough=1))
    if items < ITEMS:
        needs.append(Need(what="items", have=items, enough=ITEMS))
    if case.reasons and enough is not None and enough.power < POWER:
        seeds = min(case.design.seeds) if case.design else 1
        more = None if enough.items is None else enough.items * items
        needs.append(Need(what="seeds per model, alone", have=seeds, enough=enough.seeds))
        needs.append(Need(what="items, alone", have=items, enough=more))
        needs.append(Need(what="models on the axis, alone", have=points, enough=enough.models))
    return needs


def _alternatives(case: Case) -> list[Alternative]:
    found = {
        "harness or scorer change": ("unchecked", "compare versions and scorer hashes of the runs"),
        "prompt change": ("unchecked", "compare prompt hashes of the runs"),
        "score scale": _scale(case.through),
        "few items": ("possible", "another choice of items might not show the jump"),
        "item leak": ("unchecked", "compare items written before and after the training data ended"),
        "seeds": ("possible", "one run per model: what another seed would give is not known"),
        "architecture or training recipe": ("unchecked", "models of one family may differ by more than the axis"),
        "model family": ("ruled-out", "all points are of one family"),
    }
    if case.jump_sure:
        found["few items"] = ("ruled-out", "the largest jump is beyond the choice of items (joint bootstrap, 95%)")
    if case.design is not None and case.design.by_replicates:
        found["seeds"] = ("ruled-out", "noise was measured among replicates")
    if case.panel.trajectory:
        found["architecture or training recipe"] = ("ruled-out", "all points are checkpoints of one run")
    found.update(case.checks)
    return [Alternative(name=name, status=status, why=why) for name, (status, why) in found.items()]


def _scale(through: Through | None) -> tuple[str, str]:
    if through is None:
        return "unchecked", "needs a twin over enough points"
    if through.unexplained_low > UNEXPLAINED:
        return "possible", "the twin does not give the jump through the declared link"
    return "ruled-out", "the twin gives the jump through the declared link"


def _evidence(panel: Panel, move: Move) -> Evidence:
    runs = panel.runs[move.to_point] if panel.runs else ()
    return Evidence(
        run=runs[0] if runs else panel.points[move.to_point],
        item=move.item,
        epoch=None,
        what=f"{move.from_score:g} at {panel.points[move.from_point]}, "
        f"{move.to_score:g} at {panel.points[move.to_point]}",
    )


# the harness's own options that make it write what a twin needs
TWIN_COMMANDS = (
    "lm-eval: run again with `--log_samples` (log-likelihoods of the choices are then in the samples; for generated "
    "answers add a multiple-choice or log-likelihood form of the task); Inspect: `--epochs 10 --temperature 0.7` for a "
    "pass rate"
)


_ADVICE = {
    "break": "Treat it as a change of what the model can do until the alternatives are checked: look at the items that "
    "moved, run models or checkpoints between the two points, and repeat with other seeds.",
    "mirage": "Watch {twin}: it moves where {hard} does not show it yet. Do not report an emergence.",
    "smooth": "Nothing to do; either metric can be followed.",
}


def _advice(case: Case) -> str:
    if case.verdict != "unresolved":
        return _ADVICE[case.verdict].format(twin=case.twin.name if case.twin else "", hard=case.hard.name)
    told = []
    if not case.panel.axis_known:
        # more of the same would not help: nothing says what they have in common and what orders them
        told.append(
            f"Put at least {POINTS} models on one line: `foreshock models --write models.toml`, then give those that "
            "belong together one family, and each its size, tokens or date."
        )
    elif len(case.panel.points) < POINTS:
        told.append(
            f"Add {POINTS - len(case.panel.points)} or more models of {case.panel.family} along {case.panel.axis}."
        )
    if case.twin is None:
        told.append(f"Get a twin. {case.how_twin or TWIN_COMMANDS}.")
    elif case.twin.decoded:
        told.append(f"Log-probabilities, or repeats, tell more than decoded text. {case.how_twin or TWIN_COMMANDS}.")
    if case.enough is not None and case.enough.power < POWER:
        told.append(_would_do(case.enough))
    return " ".join(told) or "Look at both curves; no number of seeds, items or models alone is known to settle it."


def _would_do(enough: Enough) -> str:
    options = []
    if enough.seeds:
        options.append(f"{enough.seeds} seeds per model")
    if enough.items:
        options.append(f"{enough.items} times the items")
    if enough.models:
        options.append(f"{enough.models} models on the axis")
    goal = f"{POWER:.0%} power (a break of {STEP:.0%} found, one of {MAY:.0%} excluded when there is none)"
    if options:
        return f"For {goal}: {', or '.join(options)}."
    return (
        f"No single one of 8 seeds per model, 32 times the items or 8 more models would bring {goal}: "
        "combine them, or widen the axis."
    )
