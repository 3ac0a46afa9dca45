"""Differences between conditions, judged like any metric: on worlds of known truth and on published totals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock._base import MetricError
from foreshock.mirage import (
    Entry,
    Hard,
    Twin,
    entry_of_difference,
    entry_of_total_difference,
    entry_of_totals,
    foreseeable,
    judge_family,
    order_for,
    twin_of,
)
from foreshock.records import Batch, ModelCard, Run
from foreshock.series import ConditionPair, Difference, Series, aggregate_series, condition_pairs, lines, model_cards
from foreshock.store import Store
from tests.mirage.panels import panel_of, with_values
from tests.mirage.totals import arithmetic, table

POINTS, ITEMS = 8, 400


def gained(rng: np.random.Generator, share: float, *, gain: float = 0.5) -> Entry:
    """Zero-shot ability that stays, and a gain in every item's log-probability that rises evenly or in one step."""
    place = np.linspace(0, 1, POINTS)
    curve = gain * ((1 - share) * place + share * (place > 0.5)) + 0.01 * rng.standard_normal(POINTS)
    level = rng.uniform(0.1, 0.4, ITEMS)
    before = level + 0.1 * rng.standard_normal((POINTS, ITEMS))
    after = before + curve[:, None] + 0.1 * rng.standard_normal((POINTS, ITEMS))
    right = [(rng.random((POINTS, ITEMS)) < np.clip(p, 0, 1)).astype(float) for p in (before, after)]
    world = _panel(rng)
    made = with_values(world, hard=right[1] - right[0], soft=after - before)
    difference = Difference(made, right[0].mean(axis=1))
    return entry_of_difference(difference, Hard("hard", "threshold"), (Twin("soft", "graded_score"),))


def _panel(rng: np.random.Generator) -> Any:
    from foreshock.simulate import token_world

    return replace(panel_of(token_world(rng, points=POINTS, items=ITEMS), seeds=False), positions=None)


def words(share: float, seeds: range) -> Counter[str]:
    entries = [gained(np.random.default_rng(seed), share) for seed in seeds]
    return Counter(one.verdict for one in judge_family(entries, replicates=200).judgements)


def test_an_even_gain_is_smooth_and_a_sudden_one_a_break() -> None:
    even, sudden = words(0.0, range(4)), words(0.85, range(50, 54))
    assert even["smooth"] == 4
    assert sudden["break"] == 4


def test_a_difference_is_judged_on_its_own_scale_and_may_be_negative() -> None:
    entry = gained(np.random.default_rng(1), 0.85)
    down = Difference(
        with_values(entry.panel, hard=entry.panel.values["hard"] - 0.4, soft=entry.panel.values["soft"] - 0.4),
        np.full(POINTS, 0.2),
    )
    told = judge_family([entry_of_difference(down, Hard("hard", "threshold"), (Twin("soft", "graded_score"),))])
    lines = {line.role: line for line in told.judgements[0].lines}
    assert lines["twin"].value[0] < 0
    assert lines["twin"].unit == "score"
    assert told.judgements[0].share is not None or told.judgements[0].verdict == "unresolved"


def test_twins_that_fall_with_ability_are_turned() -> None:
    entry = gained(np.random.default_rng(1), 0.0)
    panel = with_values(entry.panel, brier=-entry.panel.values["soft"])
    turned = entry_of_difference(Difference(panel, np.zeros(POINTS)), Hard("hard"), (Twin("brier", "brier", high=2.0),))
    assert np.array_equal(turned.panel.values["brier"], entry.panel.values["soft"])
    assert turned.twins[0].kind == "difference"


@pytest.mark.parametrize(("link", "first"), [("all-of-N", "z_logp"), ("argmax", "y_choice")])
def test_twins_of_a_difference_stand_in_the_order_that_is_printed(link: Any, first: str) -> None:
    entry = gained(np.random.default_rng(1), 0.0)
    soft = entry.panel.values["soft"]
    panel = with_values(entry.panel, a_brier=-soft, m_similar=soft, y_choice=soft, z_logp=soft)
    kinds = {
        "m_similar": "char_similarity", "a_brier": "brier", "z_logp": "gold_logprob", "y_choice": "choice_probability",
    }  # fmt: skip
    twins = tuple(Twin(name, kind) for name, kind in kinds.items())
    made = entry_of_difference(Difference(panel, np.zeros(POINTS)), Hard("hard", link), twins)
    (told,) = judge_family([made], replicates=100).judgements
    assert told.twin == first
    assert f"fixed beforehand: {', '.join(order_for(link))}; used: {first}" in told.finding.null
    ordered = sorted(kinds, key=lambda name: order_for(link).index(kinds[name]))
    assert [told.twin, *(other.name for other in told.others)] == ordered


def test_decoded_text_carries_no_break_of_a_difference() -> None:
    entry = gained(np.random.default_rng(50), 0.85)
    difference = Difference(entry.panel, np.zeros(POINTS))
    said = {
        kind: judge_family([entry_of_difference(difference, Hard("hard"), (Twin("soft", kind),))], replicates=200)
        for kind in ("graded_score", "char_similarity")
    }
    assert said["graded_score"].judgements[0].verdict == "break"
    assert said["char_similarity"].judgements[0].verdict == "unresolved"
    assert "decoded text" in said["char_similarity"].judgements[0].reason


def stored(
    path: Path, rows: list[dict[str, Any]], metrics: tuple[str, ...]
) -> tuple[list[ConditionPair], list[Series]]:
    """Totals written into a store and read back as pairs of lines and series."""
    store = Store.open(path, create=True)
    for place in dict.fromkeys((r["model"], r["params"], r["shots"]) for r in rows):
        model, size, shots = place
        mine = [r for r in rows if (r["model"], r["params"], r["shots"]) == place]
        run = Run(
            run_key=f"{model}/{shots}",
            format="table",
            reader="test@1",
            model=model,
            task="task",
            conditions={"shots": str(shots)},
            card=ModelCard(family="pythia", parameters=size),
        )
        columns = {
            "metric_id": list(metrics),
            "value": [next(r["value"] for r in mine if r.get("metric", m) == m) for m in metrics],
            "stderr": [next(r.get("stderr") for r in mine if r.get("metric", m) == m) for m in metrics],
            "n": [next(r.get("n") for r in mine if r.get("metric", m) == m) for m in metrics],
            "source": ["harness"] * len(metrics),
        }
        store.write(run, [Batch("aggregates", columns)])
    snapshot = store.snapshot()
    found = lines(snapshot.runs(), model_cards(snapshot.runs()))
    return condition_pairs(found), aggregate_series(snapshot, found)


def of_line(series: list[Series], metric: str, shots: str) -> Series:
    return next(s for s in series if s.metric == metric and s.family.endswith(f"shots={shots})"))


def test_lambada_with_and_without_examples_is_judged_from_totals(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "series" / "pythia_lmeval.csv.gz"
    rows = table(path, family="pythia", step=143000, task="lambada_openai")
    pairs, series = stored(tmp_path / "s", rows, ("acc", "ppl"))
    (pair,) = pairs
    assert (pair.name, pair.before, pair.after) == ("shots", "0", "5")
    sides = []
    for shots in ("0", "5"):
        hard = of_line(series, "acc", shots)
        sides.append(entry_of_totals(hard, twin_of(hard, series)))
    entry = entry_of_total_difference(pair, *sides)
    assert entry.draws is not None
    gap = entry.draws["acc"][0]
    assert np.all(gap < 0)  # examples of this task cost accuracy at every size
    assert entry.draws["ppl"][0] == pytest.approx(
        np.log([r["value"] for r in rows if r["metric"] == "ppl" and r["shots"] == 0])
        - np.log([r["value"] for r in rows if r["metric"] == "ppl" and r["shots"] == 5])
    )
    # the two conditions are drawn apart: variances add
    apart = [side.draws["acc"][1:].var(axis=0) for side in sides if side.draws is not None]
    assert entry.draws["acc"][1:].var(axis=0) == pytest.approx(apart[0] + apart[1], rel=0.2)
    told = judge_family([entry]).judgements[0]
    assert told.verdict == "unresolved"
    assert "no onset" in told.reason or "does not rise" in told.reason


def test_examples_that_unlock_addition_are_a_jump_without_a_twin(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "series" / "pythia_v0_arithmetic_by_operand.csv.gz"
    rows = [row | {"shots": n} for n in (0, 2, 16) for row in arithmetic(path, "addition", n)]
    pairs, series = stored(tmp_path / "s", rows, ("exact_match",))
    assert [(pair.before, pair.after) for pair in pairs] == [("0", "2"), ("0", "16")]
    sides = [entry_of_totals(of_line(series, "exact_match", shots), None) for shots in ("0", "2")]
    entry = entry_of_total_difference(pairs[0], *sides)
    told = judge_family([entry]).judgements[0]
    assert told.verdict == "unresolved"
    assert told.reason.startswith("no twin")
    foretold = foreseeable(told, entry)
    assert foretold.answer == "no"
    assert foretold.hard is not None
    assert foretold.hard.observed == pytest.approx(0.717 - 0.0224, abs=1e-6)


def test_totals_of_other_metrics_or_models_have_no_difference() -> None:
    from tests.mirage.totals import series_of

    one = entry_of_totals(series_of("acc", [0.1, 0.2, 0.3, 0.4], n=100), None)
    other = entry_of_totals(series_of("exact_match", [0.1, 0.2, 0.3, 0.4], n=100), None)
    runs = [
        Run(run_key=f"q{i}{s}", format="t", reader="t@1", model=f"p-{i + 1}b", task="sums", conditions={"shots": s})
        for i in range(4)
        for s in "05"
    ]
    (pair,) = condition_pairs(lines(runs, model_cards(runs)))
    with pytest.raises(MetricError, match="no totals of one metric"):
        entry_of_total_difference(pair, one, other)
    with pytest.raises(MetricError, match="no model has totals under both"):
        entry_of_total_difference(pair, one, one)
