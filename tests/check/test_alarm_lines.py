"""Lines of the settings at a look: where they stand, which are about nothing, which are muted, which are new."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import AlarmsConfig, Config, ConfigError, Threshold
from foreshock.alarms import WatchOptions, acknowledge, export_state, import_state, mute, read_memory, tell_lines
from foreshock.check import AlarmLook, CheckOptions, check, look_at_alarms
from foreshock.records import Document, Finding, Light, State
from foreshock.store import Store
from tests.alarms._store import release, releases


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "store", create=True)
    releases(made, range(6), jump_at=None)
    return made


def said(**settings: object) -> Config:
    return Config(alarms=AlarmsConfig(metrics=[], **settings))  # type: ignore[arg-type]


def line(look: AlarmLook | Document) -> Finding:
    findings = look.findings if isinstance(look, Document) else look.lines.findings
    (found,) = [one for one in findings if one.code == "FS403"]
    return found


BELOW, ABOVE = Threshold(above=0.4, metric="match"), Threshold(above=0.9, metric="match")


def test_a_line_stands_in_every_look_and_costs_the_ledger_nothing(store: Store) -> None:
    look = look_at_alarms(store, said(thresholds={"report": BELOW}))
    assert (line(look).state, line(look).verdict) == (State.FIRING, "crossed")
    document = look.document(["alarms"])
    (row,) = document.tables["crossings"]
    assert (row["finding_id"], row["answer"], row["muted_until"]) == (line(look).id, "crossed", None)
    assert line(document).id == line(check(store, alarms=said(thresholds={"report": BELOW}).alarms)).id
    before = look.watch.ledger.budget()
    assert before["looks"] == len(read_memory(store).looks)
    bare = look_at_alarms(store, said(thresholds={}))
    assert {**bare.watch.ledger.budget(), "repeated": before["repeated"]} == before
    calm = look_at_alarms(store, said(thresholds={"report": ABOVE}))
    assert line(calm).state is not State.FIRING
    assert calm.changed() == []


def test_a_crossed_line_is_new_until_somebody_was_told_whoever_else_looks(store: Store, tmp_path: Path) -> None:
    config = said(thresholds={"report": BELOW})
    check(store, alarms=config.alarms)
    (row,) = look_at_alarms(store, config).changed()
    assert (row["code"], row["state"], row["line"], row["side"]) == ("FS403", "firing", 0.4, "above")
    assert row["since"] == "lab/agent-1.0"
    assert tell_lines(store, [row["id"]])
    assert not tell_lines(store, [row["id"]])
    assert look_at_alarms(store, config).changed() == []
    check(store, alarms=config.alarms)
    # a machine that has the file was told as well
    export_state(store, tmp_path / "s.json")
    other = Store.open(tmp_path / "other", create=True)
    releases(other, range(6), jump_at=None)
    import_state(other, tmp_path / "s.json")
    assert look_at_alarms(other, config).changed() == []
    # back behind the line and beyond it again: that is news
    release(store, 6, {"match": [0.0] * 200})
    assert line(look_at_alarms(store, config)).verdict != "crossed"
    release(store, 7, {"match": [1.0] * 200})
    assert len(look_at_alarms(store, config).changed()) == 1


def test_a_look_at_some_models_changes_nothing_that_is_known(store: Store) -> None:
    config = said(thresholds={"report": BELOW})
    name = line(look_at_alarms(store, config)).id
    tell_lines(store, [name])
    release(store, 6, {"match": [0.0] * 200})
    release(store, 7, {"match": [1.0] * 200})
    part = check(store, CheckOptions(models=["lab/agent-1.[0-6]"]), alarms=config.alarms)
    assert line(part).id == name
    assert line(part).verdict != "crossed"
    assert read_memory(store).lines[name].state == "told"


def test_a_mute_holds_everywhere_and_is_told(store: Store) -> None:
    config = said(thresholds={"report": BELOW})
    name = line(look_at_alarms(store, config)).id
    mute(store, name[:6], "2999-01-01")
    for told in (look_at_alarms(store, config), check(store, alarms=config.alarms)):
        found = line(told)
        assert found.state is State.WITHHELD
        assert found.title.startswith("muted until 2999-01-01: crossed")
        assert "to take the mute away" in found.advice
    look = look_at_alarms(store, config)
    assert look.changed() == []
    (row,) = look.document(["alarms"]).tables["crossings"]
    assert (row["answer"], row["muted_until"]) == ("crossed", "2999-01-01")
    assert row["why"].startswith("muted until 2999-01-01")
    card = check(store, alarms=config.alarms).tables["trust"][0]
    assert card["lights"]["trend"]["state"] == Light.WARN.value
    # when the mute ends it is news again
    mute(store, name, "2000-01-01")
    assert [row["id"] for row in look_at_alarms(store, config).changed()] == [name]
    settings = said(thresholds={"report": BELOW}, muted={name[:8]: "2999-01-01"})
    assert line(look_at_alarms(store, settings)).state is State.WITHHELD
    assert line(check(store, alarms=settings.alarms)).state is State.WITHHELD
    with pytest.raises(ConfigError, match="line of the settings"):
        acknowledge(store, name, "no")


@pytest.mark.parametrize(
    ("pattern", "threshold", "why"),
    [
        ("reprot", 0.3, "no task fits it; did you mean report"),
        ("rep*", Threshold(above=0.3, metric="nosuch"), "no metric of report fits 'nosuch': there are match, omission"),
        ("report", Threshold(above=0.3, family="llama"), "no family of report fits 'llama': there is all models"),
    ],
)
def test_a_line_about_nothing_is_told(store: Store, pattern: str, threshold: float | Threshold, why: str) -> None:
    config = said(thresholds={pattern: threshold})
    document = look_at_alarms(store, config).document(["alarms"])
    for told in (document, check(store, alarms=config.alarms)):
        (finding,) = [one for one in told.findings if one.code == "FS404"]
        assert finding.state is State.NO_DATA
        assert pattern in finding.title
        assert why in finding.title
        assert [row["name"] for row in told.tables["idle_settings"]] == [pattern]
    # a part of the store says nothing of lines whose task is elsewhere, and a task that is nowhere is told all the same
    part = look_at_alarms(store, config, WatchOptions(tasks=["other"]))
    assert [one.name for one in part.idle] == ([pattern] if pattern == "reprot" else [])


def test_names_that_are_ignored_or_muted_and_nowhere_are_told(store: Store) -> None:
    config = said(ignore=["report:match", "reprot"], muted={"deadbeef": "2999-01-01", "beefdead": "2000-01-01"})
    look = look_at_alarms(store, config)
    assert {(one.setting, one.name) for one in look.idle} == {("ignore", "reprot"), ("muted", "deadbeef")}
    names = [row["setting"] for row in check(store, alarms=config.alarms).tables["idle_settings"]]
    assert names == ["alarms.ignore", "alarms.muted"]


def test_a_model_that_stands_on_no_line_is_held_against_it_as_well(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "one", create=True)
    release(store, 0, {"match": [1.0] * 150 + [0.0] * 50})
    look = look_at_alarms(store, said(thresholds={"report": 0.4}))
    assert line(look).verdict == "crossed"
    assert look.watch.watched == []
    assert "idle_settings" not in look.document(["alarms"]).tables


def test_two_patterns_that_ask_the_same_are_one_line(store: Store) -> None:
    look = look_at_alarms(store, said(thresholds={"report": BELOW, "rep*": BELOW}))
    assert len(look.lines.findings) == 1
    assert look.idle == []


def test_a_look_at_lines_with_one_model_takes_them_whole(store: Store) -> None:
    releases(store, range(6), jump_at=None, task="other")
    release(store, 9, {"match": [1.0] * 200}, task="third", model="lab/agent-1.9")
    release(store, 10, {"match": [1.0] * 200}, task="third", model="lab/agent-1.10")
    look = look_at_alarms(store, said(), WatchOptions(models=["*-1.9"]))
    assert {one.one.line.task for one in look.watch.watched} == {"third"}
    assert {len(one.one.series.points) for one in look.watch.watched} == {2}
