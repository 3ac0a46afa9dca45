"""Rules about lines of models: FS204, FS205 (seeds) and FS207."""

from __future__ import annotations

import numpy as np

from foreshock._base import count_of
from foreshock.lint import _power as power
from foreshock.lint._facts import ModelLine
from foreshock.lint._options import LintOptions
from foreshock.lint._told import Told
from foreshock.records import Effect, Need, Rate, State

_NAMED = 3


def too_few_models(line: ModelLine, options: LintOptions) -> list[Told]:
    """FS204."""
    n = len(line.position)
    scatter = options.scatter
    enough = power.models_enough(scatter, power.STEP, min(line.seeds, default=1))
    would = f"{enough} evenly spread would do" if enough else "models alone would not do, more seeds may"
    if n < power.POINTS:
        return [
            Told(
                State.FIRING,
                f"{count_of(n, 'model')}{_tasks(line)}: no verdict on a jump below {power.POINTS}; {would}",
                _add(line, enough),
                needs=[Need(what="models on the axis", have=n, enough=enough or power.POINTS)],
            )
        ]
    if not line.known:
        return [_no_axis(line)]
    found = power.step_power(line.position, line.seeds, scatter)
    if found >= power.POWER:
        return []
    seeds = power.seeds_enough(line.position, scatter)
    needs = [Need(what="models on the axis", have=n, enough=enough)]
    if seeds is not None:
        needs.append(Need(what="seeds per model, alone", have=float(np.mean(line.seeds)), enough=seeds))
    return [
        Told(
            State.PENDING,
            f"{n} models{_tasks(line)} show a step of {power.STEP:.0%} of the rise in {found:.0%} of cases if "
            "they scatter by "
            f"{scatter:.0%} of it about the trend; {would}",
            _add(line, enough),
            effect=Effect(name="power to show the step", unit="fraction", value=found, low=None, high=None),
            needs=needs,
            rate=Rate(),
        )
    ]


def _tasks(line: ModelLine) -> str:
    return f" (on {len(line.tasks):,} tasks)" if len(line.tasks) > 1 else ""


def _add(line: ModelLine, enough: int | None) -> str:
    kind = "checkpoints" if line.axis == "step" else "models"
    place = f" of {line.family[:80]} along {line.axis}" if line.known else ""
    if enough is None:
        return f"add seeds at each of the {kind}{place}"
    more = enough - len(line.position)
    if more > 0:
        return f"add {more} or more {kind}{place}, in the widest gaps first"
    widths = np.diff(line.position)
    gap = int(np.argmax(widths))
    ends = f"{line.labels[gap][:60]} and {line.labels[gap + 1][:60]}"
    return f"add {kind} where they are sparse: {widths[gap]:.0%} of the axis lies between {ends}"


def _no_axis(line: ModelLine) -> Told:
    return Told(
        State.NO_DATA,
        f"nothing says in which order the {len(line.position)} models of {line.family[:80]} stand",
        "give their sizes or steps: foreshock models --write models.toml",
        needs=[Need(what="models with a known place", have=0, enough=power.POINTS)],
    )


def too_few_seeds(line: ModelLine, _: LintOptions) -> list[Told]:
    """FS205 of seeds."""
    n = len(line.position)
    extra = sum(line.seeds) - n
    if n < power.POINTS or not line.known:
        return []  # FS204 says so
    if max(n - 3, extra) >= power.MEASURED_DF:
        return []
    models = power.MEASURED_DF + 3
    return [
        Told(
            State.PENDING,
            f"{n} models{_tasks(line)} with "
            f"{'one seed each' if extra == 0 else f'{extra} further seeds in all'}: their noise "
            f"is measured by {count_of(max(n - 3, extra), 'degree of freedom', 'degrees of freedom')}",
            f"add {power.MEASURED_DF - extra} seeds in all, or {count_of(models - n, 'model')}",
            word="seeds",
            needs=[
                Need(what="seeds beyond the first, in all", have=extra, enough=power.MEASURED_DF),
                Need(what="models on the axis, instead", have=n, enough=models),
            ],
        )
    ]


def scale_gap(line: ModelLine, _: LintOptions) -> list[Told]:
    """FS207."""
    n = len(line.position)
    if n < 3:
        return []  # FS204 says so: the whole axis is one gap
    if not line.known:
        return [_no_axis(line)]
    widths = np.diff(line.position)
    place = int(np.argmax(widths))
    width = float(widths[place])
    hidden = power.hidden_share(width)
    if hidden < power.STEP:
        return []
    low, high = line.values[place], line.values[place + 1]
    inside = power.between(low, high, width, power.STEP, log=line.log)
    named = ", ".join(_value(x, line.axis) for x in inside[:_NAMED]) + (", ..." if len(inside) > _NAMED else "")
    scale = " (log scale)" if line.log else ""
    return [
        Told(
            State.FIRING,
            f"{width:.0%} of the axis{scale} lies between {line.labels[place][:60]} and {line.labels[place + 1][:60]}"
            f"{_tasks(line)}: a step carrying {hidden:.0%} of the rise would pass for a slope there",
            f"run {count_of(len(inside), 'model')} in between, near {named}",
            effect=Effect(
                name="share of the rise that a hidden step may carry",
                unit="fraction",
                value=hidden,
                low=None,
                high=None,
            ),
            needs=[Need(what="models in the gap", have=0, enough=len(inside))],
        )
    ]


def _value(x: float, axis: str) -> str:
    if axis in ("released", "created"):
        from datetime import date, timedelta

        return (date(1970, 1, 1) + timedelta(days=int(x))).isoformat()
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if x >= unit and axis in ("parameters", "active_parameters", "tokens"):
            return f"{x / unit:.2g}{letter}"
    if axis == "flops" or (x < 100 and axis != "step"):
        return f"{x:.3g}"
    return f"{x:,.0f}"
