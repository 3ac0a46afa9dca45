"""Every metric of every line: which series there are, what becomes of them, and what the ledger makes of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock._base import AlarmsConfig, Config
from foreshock.alarms import (
    WatchOptions,
    acknowledge,
    mute,
    read_memory,
    repeat_lines,
    watch_lines,
    watch_store,
    watched_lines,
    watched_series,
)
from foreshock.alarms._watched_series import WatchedSeries
from foreshock.records import Batch, Run, State
from foreshock.series import model_cards
from foreshock.store import Store
from tests.alarms._store import release, releases, shares

QUIET = Config(alarms=AlarmsConfig(metrics=[]))
"""Nothing is scored beside the usual metrics."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def series_of(store: Store) -> dict[str, WatchedSeries]:
    snapshot = store.snapshot()
    lines = watched_lines(snapshot.runs(), model_cards(snapshot.runs()))
    return {f"{one.line.family}: {one.series.metric}": one for one in watched_series(snapshot, lines)}


def test_releases_that_stand_alone_are_a_line_in_the_order_of_time(store: Store) -> None:
    releases(store, range(12), jump_at=None)
    found = series_of(store)
    assert set(found) == {"all models: match", "all models: omission"}
    omission, match = found["all models: omission"], found["all models: match"]
    assert [point.label for point in omission.series.points][:2] == ["lab/agent-1.0", "lab/agent-1.1"]
    assert len(omission.series.points) == 12
    # right or wrong has ends and counts; what nobody declared has none
    assert (match.counted, match.series.declared.low, match.series.declared.high) == (True, 0, 1)
    assert match.series.points[0].n == 200
    assert (omission.counted, omission.series.declared.low, omission.series.declared.high) == (False, None, None)
    assert omission.series.points[0].stderr == pytest.approx(0.05 / np.sqrt(200), rel=0.3)


def test_models_with_sizes_are_lines_of_families_beside_them(store: Store) -> None:
    for i, size in enumerate(("70m", "160m", "410m")):
        release(store, i, {"match": [0.0, 1.0, 1.0]}, model=f"EleutherAI/pythia-{size}")
    releases(store, range(3, 6), jump_at=None)
    names = set(series_of(store))
    assert {"pythia: match", "all models: match", "all models: omission"} <= names
    assert len(series_of(store)["pythia: match"].series.points) == 3
    assert series_of(store)["all models: match"].series.points[0].label == "lab/agent-1.3"


def test_runs_of_one_model_are_a_line_of_their_own(store: Store) -> None:
    for night in range(4):
        release(store, night, {"match": [1.0] * (3 + night) + [0.0] * (7 - night)}, model="lab/one")
    release(store, 0, {"match": [1.0, 0.0]}, model="lab/other")
    lines = repeat_lines(store.snapshot().runs())
    assert [(line.family, len(line.stops)) for line in lines] == [("lab/one, repeated", 4)]
    found = series_of(store)["lab/one, repeated: match"]
    assert found.repeats
    assert [point.value for point in found.series.points] == [0.3, 0.4, 0.5, 0.6]


def test_an_id_stays_when_runs_come_and_when_conditions_are_first_told(store: Store) -> None:
    releases(store, range(3), jump_at=None)
    before = series_of(store)["all models: omission"].id
    releases(store, range(3, 5), jump_at=None)
    assert series_of(store)["all models: omission"].id == before
    release(store, 5, {"omission": [0.1]}, conditions={"shots": "5"}, model="lab/agent-2.0")
    release(store, 6, {"omission": [0.1]}, conditions={"shots": "5"}, model="lab/agent-2.1")
    snapshot = store.snapshot()
    lines = watched_lines(snapshot.runs(), model_cards(snapshot.runs()))
    ids = {one.id for one in watched_series(snapshot, lines) if one.metric_id == "omission"}
    assert before in ids
    assert len(ids) == 2


def test_an_answer_that_could_not_be_read_counts_as_wrong_only_where_it_is_hard(store: Store) -> None:
    for number in range(2):
        run = Run(
            run_key=f"r{number}",
            format="test",
            reader="test@1",
            model=f"m{number}",
            task="t",
            created=f"2026-01-0{number + 1}",
        )
        responses: dict[str, list[Any]] = {
            "row": [0, 1, 2, 3],
            "item_id": list("abcd"),
            "delivery": ["ok"] * 4,
            "output": ["x"] * 4,
        }
        scores: dict[str, list[Any]] = {
            "row": [0, 1, 2, 3] * 2,
            "metric_id": ["match"] * 4 + ["depth"] * 4,
            "source": ["harness"] * 8,
            "value": [1.0, 1.0, 0.0, None, 2.0, 4.5, 6.0, None],
            "status": (["scored"] * 3 + ["unparsed"]) * 2,
        }
        store.write(run, [Batch("responses", responses), Batch("scores", scores)])
    found = series_of(store)
    assert found["all models: match"].series.points[0].value == 0.5
    assert found["all models: match"].series.points[0].n == 4
    assert found["all models: depth"].series.points[0].value == pytest.approx(12.5 / 3)


def totals(
    store: Store,
    number: int,
    means: dict[str, float],
    *,
    n: int,
    task: str = "t",
    format: str = "table",  # noqa: A002 - the run's own word
    source: str = "table",
) -> None:
    """A run of which only the means of metrics are known."""
    run = Run(
        run_key=f"r{number}",
        format=format,
        reader="t@1",
        model=f"m{number}",
        task=task,
        created=f"2026-01-0{number + 1}",
    )
    rows: dict[str, list[Any]] = {
        "metric_id": list(means),
        "value": list(means.values()),
        "source": [source] * len(means),
        "n": [n] * len(means),
    }
    store.write(run, [Batch("aggregates", rows)])


def test_totals_without_responses_are_watched_and_a_scale_that_is_not_the_usual_one_has_no_ends(store: Store) -> None:
    for number in range(3):
        totals(store, number, {"acc": 50.0 + number, "refusals": 0.1}, n=100)
    found = series_of(store)
    assert [point.value for point in found["all models: acc"].series.points] == [50.0, 51.0, 52.0]
    assert found["all models: acc"].series.declared.high is None
    assert "all models: refusals" in found


def test_totals_are_read_against_the_twin_that_a_check_draws_beside_them(store: Store) -> None:
    for number in range(4):
        means = {
            "acc,none": 0.2 + 0.1 * number,
            "perplexity,none": 40.0 - number,
            "word_perplexity,none": 90.0 - number,
        }
        totals(store, number, means, n=500, task="lambada_openai", format="lm-eval", source="harness")
    found = series_of(store)
    assert found["all models: acc,none"].twin == found["all models: perplexity,none"].id
    assert found["all models: perplexity,none"].twin is None
    assert found["all models: word_perplexity,none"].twin is None


def test_metrics_of_ours_are_watched_with_what_they_declare(store: Store) -> None:
    releases(store, range(12), jump_at=None)
    watch = watch_store(store)
    told = {one.one.series.metric: one for one in watch.watched}
    assert {"match", "omission", "refused", "stopped_early"} <= set(told)
    assert told["refused"].one.counted
    # every answer is the same text: nothing varies, so nothing can be watched, and that is not green
    assert watch.state(told["refused"]) != "firing"


def test_a_jump_of_one_metric_fires_and_the_smooth_one_does_not(store: Store) -> None:
    releases(store, range(18), jump_at=18)
    before = watch_store(store, QUIET)
    assert {before.state(one) for one in before.watched} == {"ok"}
    # one after the other, as they come
    releases(store, [18], jump_at=18)
    watch_store(store, QUIET)
    releases(store, range(19, 22), jump_at=18)
    watch = watch_store(store, QUIET, WatchOptions(release="spring"))
    states = {one.one.series.metric: watch.state(one) for one in watch.watched}
    assert states["omission"] == "firing"
    assert states["match"] == "ok"
    row = next(row for row in watch.rows() if row["metric"] == "omission")
    assert row["statistic"] >= row["threshold"]
    assert row["guaranteed"]
    assert row["since"] == "lab/agent-1.18"
    assert row["ledger"] in ("BH, LORD++", "LORD++")
    assert row["found"]
    assert f"foreshock alarms ack {row['id']}" in row["advice"]
    assert watch.ledger.rows()[-1]["release"] == "spring"
    finding = next(one for one in watch.findings() if one.subject.metric == "omission")
    assert (finding.id, finding.code, finding.state) == (row["id"], "FS401", State.FIRING)
    assert finding.subject.runs == []
    # the same data again: nothing is new
    again = watch_store(store, QUIET)
    assert again.ledger.repeated
    assert again.changed == []


def test_the_title_names_the_place_and_not_a_number_of_the_axis(store: Store) -> None:
    releases(store, range(22), jump_at=16)
    watch = watch_store(store, QUIET)
    finding = next(one for one in watch.findings() if one.state is State.FIRING)
    assert "it jumped upwards since lab/agent-1.16," in finding.title
    row = next(row for row in watch.rows() if row["state"] == "firing")
    assert row["title"] == finding.title


def test_a_bend_can_be_acknowledged_as_its_advice_says(store: Store) -> None:
    rng = np.random.default_rng(3)
    for number in range(26):
        level = 1.0 + 0.004 * number**2 + 0.02 * rng.normal()
        release(store, number, {"depth": [level] * 4})
    watch = watch_store(store, QUIET)
    (bend,) = [one for one in watch.watched if one.alarm.verdict == "bend"]
    (row,) = [row for row in watch.rows() if row["verdict"] == "bend"]
    assert (row["state"], row["fired_at"]) == ("pending", None)
    assert row["since"] == bend.one.series.points[int(row["since_x"])].label
    assert f"foreshock alarms ack {row['id']} --reason TEXT" in row["advice"]
    ack = acknowledge(store, row["id"], "it is a curve")
    assert ack.label == row["since"]
    again = watch_store(store, QUIET)
    told = next(one for one in again.watched if one.one.id == row["id"])
    assert told.seen.look.baseline == row["since_x"]
    assert told.alarm.verdict != "bend"


def test_an_acknowledged_alarm_begins_a_new_baseline(store: Store) -> None:
    releases(store, range(22), jump_at=16)
    (alarm,) = watch_store(store, QUIET).changed
    assert alarm.one.series.metric == "omission"
    ack = acknowledge(store, alarm.one.id[:6], "a new prompt")
    assert ack.baseline == alarm.seen.look.at
    assert acknowledge(store, alarm.one.id, "again") == ack
    watch = watch_store(store, QUIET)
    told = next(one for one in watch.watched if one.one.id == alarm.one.id)
    assert watch.state(told) == "no-data"
    assert told.ack == ack
    releases(store, range(22, 34), jump_at=16)
    watch = watch_store(store, QUIET)
    told = next(one for one in watch.watched if one.one.id == alarm.one.id)
    assert watch.state(told) == "ok"
    assert told.seen.look.baseline == ack.baseline


def test_a_muted_alarm_is_in_sight_and_not_green(store: Store) -> None:
    releases(store, range(22), jump_at=16)
    (alarm,) = [one for one in watch_store(store, QUIET).changed if one.one.series.metric == "omission"]
    mute(store, alarm.one.id, "2999-01-01")
    watch = watch_store(store, QUIET)
    told = next(one for one in watch.watched if one.one.id == alarm.one.id)
    assert watch.state(told) == "muted"
    finding = next(one for one in watch.findings() if one.id == alarm.one.id)
    assert finding.state is State.WITHHELD
    assert finding.title.startswith("muted until 2999-01-01")
    mute(store, alarm.one.id, "2000-01-01")
    watch = watch_store(store, QUIET)
    assert watch.state(next(one for one in watch.watched if one.one.id == alarm.one.id)) == "firing"
    config = Config(alarms=AlarmsConfig(metrics=[], muted={alarm.one.id[:8]: "2999-01-01"}))
    watch = watch_store(store, config)
    assert watch.state(next(one for one in watch.watched if one.one.id == alarm.one.id)) == "muted"


def test_the_same_values_under_two_names_are_one_series(store: Store) -> None:
    for number in range(10):
        values = shares(np.random.default_rng(number), 0.5 + 0.02 * (number % 3))
        release(store, number, {"match": values, "includes": values})
    watch = watch_store(store, QUIET)
    told = {one.one.series.metric: one.also for one in watch.watched}
    assert told["includes"] == ("match",)
    assert "match" not in told


def test_what_is_ignored_is_not_watched(store: Store) -> None:
    releases(store, range(4), jump_at=None)
    snapshot = store.snapshot()
    lines = watched_lines(snapshot.runs(), model_cards(snapshot.runs()))
    for pattern, left in (("report", 0), ("report:match", 1), ("*:x", 2)):
        assert len(watch_lines(snapshot, lines, AlarmsConfig(ignore=[pattern]))) == left


def test_a_point_that_was_measured_anew_is_a_look_and_says_so(store: Store) -> None:
    releases(store, range(12), jump_at=None)
    watch_store(store, QUIET)
    release(
        store,
        5,
        {"match": shares(np.random.default_rng(9), 0.9)},
        run_key="lab/agent-1.5/report/5",
        created="2026-02-20",
    )
    before = len(read_memory(store).looks)
    watch = watch_store(store, QUIET)
    assert len(watch.ledger.looks) == before + 1
    told = next(one for one in watch.watched if one.one.series.metric == "match")
    assert told.remeasured
    assert watch.ledger.looks[-1].p is None
    finding = next(one for one in watch.findings() if one.id == told.one.id)
    assert any(other.name == "measured anew" for other in finding.alternatives)


def test_a_dozen_series_without_a_break_do_not_fire_by_being_many(store: Store) -> None:
    for task in range(6):
        releases(store, range(16), jump_at=None, seed=task + 1, task=f"t{task}")
    watch = watch_store(store, QUIET)
    assert len(watch.watched) == 12
    assert [one.one.series.metric for one in watch.watched if watch.state(one) == "firing"] == []


def test_a_store_without_anything_has_nothing_to_watch(store: Store) -> None:
    watch = watch_store(store, QUIET)
    assert watch.watched == []
    assert watch.ledger.first
    assert watch.tables()["alarms"] == []
