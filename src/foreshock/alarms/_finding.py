"""A trend alarm as a finding: what is said, under which null, at which rate, what else it could be, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foreshock.alarms._threshold import measured_rate, table
from foreshock.records import Alternative, Dummy, Effect, Finding, Fit, Rate, State, Subject

if TYPE_CHECKING:
    from foreshock.alarms._alarm import TrendAlarm

BREAK, BEND = "FS401", "FS402"


def compose(alarm: TrendAlarm, subject: Subject, since: str | None = None) -> Finding:
    """Put an alarm into the form that every room shares.

    Args:
        alarm: The alarm.
        subject: What it is about.
        since: What the place is called at which the change began; None tells the place on the axis.
    """
    began = since if since is not None else None if alarm.began is None else f"{alarm.began:g}"
    return Finding(
        code=BEND if alarm.verdict == "bend" else BREAK,
        subject=subject,
        state=alarm.state,
        verdict=alarm.verdict,
        title=_title(alarm, subject.metric or alarm.name or "the score", "" if began is None else f" since {began}"),
        effect=_effect(alarm),
        p=alarm.p,
        e=alarm.e,
        null=_null(alarm),
        replicates=table().series["normal"] if alarm.rule == "trend" else None,
        rate=_rate(alarm),
        dummies=_dummies(alarm),
        needs=list(alarm.needs),
        alternatives=_alternatives(alarm),
        fit=Fit(data_hash=alarm.data_hash, seed=alarm.asked.seed, objective=alarm.statistic),
        advice=_advice(alarm),
    )


def _title(alarm: TrendAlarm, metric: str, since: str) -> str:
    if alarm.refused:
        return f"no alarm for {metric}: {alarm.refused}"
    way = {"up": " upwards", "down": " downwards"}.get(alarm.direction or "", "")
    if alarm.verdict == "bend":
        return f"{metric} bends{way}: it left its straight line, and a smooth curve tells its points as well"
    doubt = "" if alarm.guaranteed else f" (no rate is promised: {alarm.unguaranteed})"
    if alarm.state is State.FIRING:
        return f"{_fired(alarm, metric, way, since)}{_twin(alarm)}{doubt}"
    if alarm.state is State.PENDING:
        return f"{metric} strays from its trend, not yet beyond chance: one more such look would fire{doubt}"
    kept = "rate" if alarm.rule == "repeats" else "trend"
    return f"{metric} keeps its {kept} over {alarm.looks_used} looks{doubt}"


def _fired(alarm: TrendAlarm, metric: str, way: str, since: str) -> str:
    if alarm.rule == "repeats":
        return f"{metric} of the same model on the same items changed{since} ({', '.join(alarm.notes)})"
    size = "" if alarm.size is None else f", {abs(alarm.size):.1f} standard deviations of its noise so far"
    how = "it jumped" if alarm.shape == "jump" else "its slope turned"
    return f"{metric} left its trend: {how}{way}{since}{size}"


def _twin(alarm: TrendAlarm) -> str:
    if alarm.twin is None:
        return ""
    return {
        "metric-only": "; its twin did not: the change is of the metric only",
        "break": "; its twin changed too",
    }.get(alarm.verdict, "; its twin cannot tell")


def _effect(alarm: TrendAlarm) -> Effect | None:
    if alarm.change is None or alarm.state is not State.FIRING:
        return None
    jump = alarm.shape == "jump"
    return Effect(
        name="jump of the level" if jump else "change of the slope",
        unit=alarm.unit if jump else f"{alarm.unit} per unit of the axis as it is read",
        value=alarm.change.value,
        low=alarm.change.low,
        high=alarm.change.high,
    )


def _null(alarm: TrendAlarm) -> str:
    if alarm.rule == "repeats":
        return "every run has the same rate; exchangeable unit: the run; e-process, valid at any number of runs"
    if alarm.rule == "training":
        noise = "noise in which neighbouring checkpoints are correlated to one order; unit: the checkpoint"
    else:
        noise = "independent noise of constant size; exchangeable unit: the point"
    return f"scores follow a straight line on the link with {noise}; {alarm.sentence}"


def _rate(alarm: TrendAlarm) -> Rate:
    asked = alarm.asked
    if alarm.rule == "repeats":
        return Rate(stated=asked.level)
    if alarm.rule == "training":
        return Rate(measured=max(table().training.values(), default=None), n=table().training_series)
    found = measured_rate(asked.baseline, asked.level)
    stated = asked.level if alarm.guaranteed else None
    return Rate(stated=stated, measured=found[0], n=found[1])


def _dummies(alarm: TrendAlarm) -> list[Dummy]:
    """The rule that everybody uses, three standard deviations, on the same points: does it fire as well?"""
    if not alarm.look_p or alarm.rule == "repeats":
        return []
    fires = float(min(alarm.look_p) < 0.0027)
    return [Dummy(name="one point beyond three standard deviations", value=fires, gain=None)]


def _alternatives(alarm: TrendAlarm) -> list[Alternative]:
    if alarm.state is not State.FIRING and alarm.verdict != "bend":
        return []
    found = [
        ("bend", *_bend_said(alarm)),
        ("noise that drifts", *_drift_said(alarm)),
        ("metric", *_metric_said(alarm)),
        ("harness, scorer or prompt change", "unchecked", "compare versions and hashes of the runs on both sides"),
        ("item leak", "unchecked", "compare items written before and after training data ended"),
        ("another kind of model on the line", "unchecked", "the points may differ by more than the axis"),
    ]
    if alarm.rule == "repeats":
        found = [row for row in found if row[0] in ("harness, scorer or prompt change",)]
        found.append(("model behind the name replaced", "unchecked", "ask the provider, or compare fingerprints"))
    return [Alternative(name=name, status=status, why=why) for name, status, why in found]


def _bend_said(alarm: TrendAlarm) -> tuple[str, str]:
    if alarm.verdict == "bend":
        return "possible", "a smooth curve tells the points as well as a break does"
    return "ruled-out", "a change at one place tells the points better than a smooth curve (BIC)"


def _drift_said(alarm: TrendAlarm) -> tuple[str, str]:
    if alarm.rule == "training":
        return "possible", "checkpoints share their run; what neighbours share was taken out as far as it shows"
    if alarm.guaranteed:
        return "ruled-out", "a break with independent noise is by far likelier than noise that drifts"
    return "possible", alarm.unguaranteed or ""


def _metric_said(alarm: TrendAlarm) -> tuple[str, str]:
    if alarm.twin is None:
        return "unchecked", "no twin along the same axis was given"
    if alarm.verdict == "break":
        return "ruled-out", f"the twin changed too ({alarm.twin.how})"
    return "possible", f"the twin {'did not change' if alarm.verdict == 'metric-only' else 'cannot tell'}"


def _advice(alarm: TrendAlarm) -> str:
    if alarm.refused:
        return "Add what lacks; until then this series is watched by nobody."
    if alarm.state is State.FIRING:
        return _on_fire(alarm)
    if alarm.verdict == "bend":
        return "Forecast this series by a curve, not a line; to watch it again from here, acknowledge it."
    if alarm.state is State.PENDING:
        return "Wait for the next look, or measure the newest point again with another seed or more items."
    return "Nothing to do."


def _on_fire(alarm: TrendAlarm) -> str:
    if alarm.rule == "repeats":
        return (
            "Find out what changed since then: the model behind the name, the harness, or the items; then acknowledge."
        )
    if alarm.verdict == "metric-only":
        return "Look at the items that moved and at scorer and harness before anything is said of the model."
    return (
        "Check the alternatives, look at the items that moved, and run a model or checkpoint near the place of the "
        "change; once it is understood, acknowledge it, which begins a new baseline."
    )
