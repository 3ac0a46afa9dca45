"""A curve beside a line as a finding, and what to do now."""

from __future__ import annotations

import numpy as np

from foreshock._base import digest
from foreshock.check._forecast_crossing import STATES, Crossing
from foreshock.check._forecast_judge import number
from foreshock.check._forecast_words import place_text, score_text
from foreshock.records import Effect, Finding, Need, Rate, State, Subject

CODE = "FS403"


def finding_of(made: Crossing) -> Finding:
    """Finding FS403: a line of the user's is crossed, near, or cannot be told."""
    line, now = made.told.line, made.now
    subject = Subject(
        task=line.task, model_family=line.family, metric=line.metric, axis=line.axis, runs=list(line.runs)
    )
    # the same line of the same curve keeps its id when further runs come
    identity = digest([CODE, line.group, line.axis, made.threshold, made.side], 12)
    needs = [Need(what=made.enough, have=None, enough=None)] if made.enough else []
    if made.answer == "at the line" and now is not None and now.needed is not None:
        needs = [Need(what="items at the newest model", have=now.items, enough=now.needed)]
    state = STATES[made.answer]
    effect = None
    if now is not None:
        ends = (number(now.low), number(now.high))
        effect = Effect(name=line.metric, unit=line.unit, value=now.value, low=ends[0], high=ends[1], level=0.9)
    return Finding(
        id=identity,
        code=CODE,
        subject=subject,
        state=state,
        verdict=made.answer,
        title=f"{made.answer}: {made.why}",
        effect=effect,
        null=f"the true score at the newest place is not {made.side} {score_text(line, made.threshold)}; "
        "exchangeable are the items of that one model",
        rate=Rate(stated=0.05) if state is State.FIRING and now is not None and not np.isnan(now.low) else Rate(),
        needs=needs,
        advice=advice_of(made),
    )


def advice_of(made: Crossing) -> str:
    """What to do now."""
    line = made.told.line
    if made.answer == "crossed":
        return "Treat the line as crossed: look at the responses of the newest model before anything is released."
    if made.answer == "at the line":
        more = f" about {made.now.needed:,} items" if made.now is not None and made.now.needed else " more items"
        return f"Do not report the newest score as clear of the line: evaluate it on{more} first."
    if made.answer == "near" and made.first is not None:
        return f"Evaluate before {place_text(line, made.first)} is passed: from there on the line is within reach."
    if made.answer == "later" and made.first is not None:
        return f"Look again before {place_text(line, made.first)}; each new model moves that place."
    if made.answer == "not in sight":
        return "Nothing to do now. What no form foresees stays possible: keep the alarm on."
    return "Do not extrapolate: judge every new model by its own score and its exact bound."
