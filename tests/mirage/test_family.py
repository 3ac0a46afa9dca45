"""All tasks of a family handed over together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from foreshock.mirage import CODES, Entry, judge, judge_family
from foreshock.mirage._weights import Weights
from foreshock.series import Panel
from foreshock.simulate import World, suite_world, token_world
from foreshock.stats import benjamini_hochberg
from tests.mirage.panels import hard_of, panel_of, twins_of

MIXED = [1, 2, 4, 7, 10]


def entry(world: World, task: str = "task", **facts: object) -> Entry:
    panel = replace(panel_of(world, seeds=False), task=task)
    return Entry(panel, hard_of(world), tuple(twins_of(world)), **facts)  # type: ignore[arg-type]


def suite(seed: int, tasks: int, **knobs: object) -> list[World]:
    made = {"points": 8, "items": 300, "lengths": MIXED, "positions": False} | knobs
    return suite_world(np.random.default_rng(seed), tasks=tasks, **made)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [entry(w, f"task {k}") for k, w in enumerate(suite(1, 8, breaking=0.25))]


def test_each_verdict_is_there_in_order(entries: list[Entry]) -> None:
    told = judge_family(entries, replicates=200)
    assert [j.finding.subject.task for j in told.judgements] == [e.panel.task for e in entries]
    assert sum(j.verdict == "break" for j in told.judgements) == 2
    assert {j.noise_source for j in told.judgements} <= {"family", "own"}
    assert told.noise is not None
    assert told.noise.tasks == 8
    assert told.priors == (told.noise,)
    row = told.judgements[0].row(300, 8)
    msgspec.json.encode(row)
    assert row["noise_df"] > 5
    assert [r["ratio"] for r in row["ratios"]] == [1.5, 2.0, 3.0]
    assert "weighed with that of the family's other tasks" in str(told.judgements[0].finding.null)


def test_an_iterator_of_entries_is_gone_through_once(entries: list[Entry]) -> None:
    seen = []

    def one_by_one() -> Iterator[Entry]:
        for e in entries[:3]:
            seen.append(e.panel.task)
            yield e

    told = judge_family(one_by_one(), replicates=100, progress=lambda stage, done, _: seen.append(f"{stage} {done}"))
    assert len(told.judgements) == 3
    assert seen[:2] == ["read 0", "task 0"] or seen[0] == "task 0"
    assert seen[-1] == "judge 3"


def test_company_does_not_change_the_draws(entries: list[Entry]) -> None:
    alone = judge(entries[2].panel, entries[2].hard, entries[2].twins, replicates=200, seed=3)
    among = judge_family(entries, replicates=200, seed=3).judgements[2]
    for a, b in zip(alone.lines[:2], among.lines[:2], strict=True):
        assert a.low.tobytes() == b.low.tobytes()
    assert (alone.noise_source, alone.emergence_p) == ("own", among.emergence_p)
    again = judge_family(entries, replicates=200, seed=3).judgements[2]
    assert msgspec.json.encode(again.finding) == msgspec.json.encode(among.finding)


def test_q_values_are_those_of_the_call(entries: list[Entry]) -> None:
    told = judge_family([*entries, replace(entries[0], twins=())], replicates=100).judgements
    p = [j.finding.p for j in told[:-1]]
    assert told[-1].finding.p is told[-1].finding.q is None
    assert [j.finding.q for j in told[:-1]] == pytest.approx(benjamini_hochberg(np.array(p, float)).tolist())
    for j in told[:-1]:
        assert (j.verdict == "break") <= (j.finding.p is not None and j.finding.p <= 0.05)


def test_draws_in_place_of_items_give_the_same_share(entries: list[Entry]) -> None:
    e = entries[1]
    names = [e.hard.name, *(t.name for t in e.twins)]
    stack = np.stack([e.panel.values[n] for n in names])
    every = np.concatenate([stack.mean(axis=2)[None], Weights(0, 200).means(stack)])
    empty = replace(e.panel, values={}, items=(), replicates={})
    totals = Entry(empty, e.hard, e.twins, draws={n: every[:, k] for k, n in enumerate(names)}, items=300)
    by_items, by_draws = judge_family([e], replicates=200), judge_family([totals], replicates=200)
    a, b = by_items.judgements[0], by_draws.judgements[0]
    assert a.share is not None
    assert b.share is not None
    assert (a.share.low, a.share.high, a.share.value) == pytest.approx((b.share.low, b.share.high, b.share.value))
    assert b.moves == ()
    assert "totals" in str(b.finding.null)
    assert b.lines[0].n == 300


def test_draws_follow_points_that_are_merged_or_dropped() -> None:
    rng = np.random.default_rng(4)
    x = np.array([0.0, 1, 10, 10, 100, 1000, 10000])
    hard = np.array([0.0, 0.1, 0.2, 0.4, 0.5, 0.7, 0.9]) + 0.01 * rng.standard_normal((201, 7))
    panel = Panel(
        task="t", family="f", axis="parameters", axis_known=True, log_axis=True, points=tuple("abcdefg"), x=x,
        items=(), values={},
    )  # fmt: skip
    e = Entry(panel, hard_of(suite(2, 1)[0]), draws={"hard": hard}, items=400, remarks=("a remark",))
    told = judge_family([e]).judgements[0]
    assert told.lines[0].value == pytest.approx([hard[0, 1], hard[0, 2:4].mean(), *hard[0, 4:]])
    assert told.reason.startswith("no twin")
    assert "a remark" in told.reason


def test_the_command_that_makes_a_twin_is_told() -> None:
    w = suite(3, 1)[0]
    told = judge_family([replace(entry(w), twins=(), how_twin="run it with --log")], replicates=50).judgements[0]
    assert "run it with --log" in told.finding.advice


def test_lines_with_seeds_and_checkpoints_keep_their_own_noise() -> None:
    runs = [entry(w) for w in suite(5, 5, points=12, items=200)]
    chained = [replace(e, panel=replace(e.panel, trajectory=True)) for e in runs]
    told = judge_family(chained, replicates=50)
    assert (told.noise, {j.noise_source for j in told.judgements}) == (None, {"checkpoints"})
    worlds = suite(6, 4, points=5, items=100, seeds=3)
    seeds = [Entry(panel_of(w), hard_of(w), tuple(twins_of(w))) for w in worlds]
    told = judge_family(seeds, replicates=50)
    assert (told.noise, {j.noise_source for j in told.judgements}) == (None, {"replicates"})


def test_positions_are_looked_at_and_let_go() -> None:
    w = token_world(np.random.default_rng(7), points=5, items=100, lengths=3)
    panel = panel_of(w, seeds=False)
    told = judge_family([Entry(panel, hard_of(w), tuple(twins_of(w)))], replicates=50).judgements[0]
    assert told.link_check is not None
    assert panel.positions is not None


def test_weights_are_shared_within_a_bound() -> None:
    weights = Weights(1, 100)
    values = np.random.default_rng(0).random((3, 50))
    assert np.array_equal(weights.means(values), Weights(1, 100).means(values))
    for items in range(50, 60):
        weights.means(np.zeros((1, items)))
    assert sum(w.nbytes for w in weights._kept.values()) <= 64_000_000
    large = np.random.default_rng(0).random((1, 100_000))
    assert Weights(1, 100).means(large) == pytest.approx(large.mean(), abs=0.01)


def test_what_would_resolve_it_is_told_under_family_noise() -> None:
    told = judge_family([entry(w, str(k)) for k, w in enumerate(suite(8, 6, noise=0.6, points=6))], replicates=100)
    open_ones = [j for j in told.judgements if j.verdict == "unresolved" and j.enough is not None]
    assert open_ones
    assert all(0 <= j.enough.power < 0.8 for j in open_ones if j.enough)
    assert any("models on the axis" in j.finding.advice or "seeds per model" in j.finding.advice for j in open_ones)


def test_codes() -> None:
    assert CODES == ("FS301", "FS302")


@pytest.mark.slow
def test_shared_noise_finds_steps_that_one_line_cannot() -> None:
    alone = together = count = 0
    for k in range(10):
        family = [entry(w, str(i)) for i, w in enumerate(suite(100 + k, 20, points=5, noise=0.1, breaking=1.0))]
        together += sum(j.verdict == "break" for j in judge_family(family, replicates=200).judgements)
        alone += sum(judge(e.panel, e.hard, e.twins, replicates=200).verdict == "break" for e in family)
        count += 20
    assert together / count >= 0.9
    assert together > alone
