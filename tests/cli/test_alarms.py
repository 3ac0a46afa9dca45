"""`foreshock alarms`: what is listed, what is kept, what people decide, what stops a pipeline."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foreshock.alarms._threshold import table
from foreshock.scoring import score
from foreshock.store import Store
from tests.alarms._store import release, releases

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "foreshock.toml").write_text("[alarms]\nmetrics = []\n")
    return call


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-two releases; the omission score jumps at the nineteenth, the share of right answers does not."""
    store = Store.open(tmp_path_factory.mktemp("alarms") / "store", create=True)
    releases(store, range(22), jump_at=18)
    score(store)
    return store.folder


@pytest.fixture
def store(scored: Path, tmp_path: Path) -> Store:
    """A copy of it, as nobody has looked at it yet."""
    shutil.copytree(scored, tmp_path / ".foreshock")
    return Store.open(tmp_path / ".foreshock")


def document(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_what_fires_is_listed_with_what_to_do(call: Call, store: Store, tmp_path: Path) -> None:
    code, out, _ = call("alarms", "--json", "a.json")
    assert code == 0
    told = document(tmp_path / "a.json")
    (row,) = [row for row in told["tables"]["alarms"] if row["state"] == "firing"]
    assert row["metric"] == "omission"
    assert f"{row['id']}  FIRING  report · all models · omission" in out
    assert "since lab/agent-1.18; statistic " in out
    assert f"ledger: {row['ledger']}" in out
    assert f"foreshock alarms ack {row['id']} --reason TEXT" in out
    assert "first look: nothing was stated before these data came" in out
    assert told["tables"]["budget"][0]["first_look"]
    assert [finding["state"] for finding in told["findings"] if finding["id"] == row["id"]] == ["firing"]
    # accuracy is on its trend: it is counted, and shown on request
    assert "1 ok" in out
    assert "· match" not in out
    assert "OK  report · all models · match" in call("alarms", "--all")[1]


def test_only_what_fires_stops_a_pipeline(call: Call, store: Store) -> None:
    assert call("alarms", "--fail-on", "FS401", "--quiet") == (1, "", "")
    assert call("alarms", "--fail-on", "metric-only", "--quiet")[0] == 0
    assert call("alarms", "--task", "other", "--fail-on", "any")[0] == 0
    code, _, err = call("alarms", "--fail-on", "FS9")
    assert code == 2
    assert "nothing can fire under --fail-on 'FS9'" in err


LINE = """
[alarms]
metrics = []
[alarms.thresholds]
report = { above = 0.4, metric = "match" }
reprot = 0.3
"""


def test_lines_of_the_settings_are_listed_gated_and_muted(call: Call, store: Store, tmp_path: Path) -> None:
    assert call("alarms", "--fail-on", "FS403")[0] == 2  # no line is set: such a gate would be open, and look shut
    assert "no line is set" in call("check", "--fail-on", "crossed")[2]
    (tmp_path / "foreshock.toml").write_text(LINE)
    code, out, err = call("alarms", "--fail-on", "FS403", "--json", "a.json")
    assert code == 1
    (row,) = document(tmp_path / "a.json")["tables"]["crossings"]
    name = row["finding_id"]
    assert f"{name}  CROSSED  report · all models · match" in out
    assert "above 40%" in out
    assert "NO DATA  reprot" in out
    assert "2 lines of the settings: 1 crossed, 1 without any score." in out
    assert "warning: alarms.thresholds 'reprot': no task fits it; did you mean report?" in err
    assert "warning: alarms.thresholds 'reprot'" in call("check", "--quiet")[2]
    assert call("alarms", "--fail-on", "crossed", "--quiet")[0] == 1
    assert call("check", "--fail-on", "crossed", "--quiet")[0] == 1
    assert call("alarms", "mute", name[:6], "--until", "2999-01-01")[0] == 0
    code, out, _ = call("alarms", "--fail-on", "FS403")
    assert (code, f"{name}  MUTED (crossed)" in out) == (0, True)
    code, out, _ = call("check", "--fail-on", "FS403")
    assert (code, "muted until 2999-01-01" in out) == (0, True)
    assert "is a line of the settings" in call("alarms", "ack", name, "--reason", "x")[2]


def test_two_lines_of_one_curve_are_told_apart(call: Call, store: Store, tmp_path: Path) -> None:
    more = '"rep*" = { below = 0.1, metric = "match" }\n'
    (tmp_path / "foreshock.toml").write_text(LINE.replace("reprot = 0.3\n", more))
    for command in ("check", "alarms"):
        out = " ".join(call(command)[1].split())
        assert "above 40%, and so since" in out
        assert "interval does not reach 10%" in out


def test_what_is_promised_is_printed_word_for_word(call: Call, store: Store, tmp_path: Path) -> None:
    out = call("alarms", "--json", "a.json")[1]
    rows = document(tmp_path / "a.json")["tables"]["alarms"]
    (promise,) = {row["sentence"] for row in rows if row["guaranteed"]}
    assert promise in out
    assert out.count(promise) == 1


def test_checkpoints_come_with_the_rate_that_was_measured(call: Call, tmp_path: Path) -> None:
    store = Store.open(tmp_path / ".foreshock", create=True)
    for step in range(1, 13):
        name = f"lab/agent-7b-step{step}000"
        release(store, step, {"match": [1.0] * (60 + 3 * step % 7) + [0.0] * (140 - 3 * step % 7)}, model=name)
    out = call("alarms", "--json", "a.json")[1]
    (row,) = [row for row in document(tmp_path / "a.json")["tables"]["alarms"] if row["rule"] == "training"]
    assert row["measured"] == max(table().training.values())
    assert f"Checkpoints of one run are promised nothing: of {row['measured_n']} simulated runs" in out
    assert "Checkpoints of one run are promised nothing" in call("check")[1]


def test_only_lines_with_a_model_are_looked_at(call: Call, store: Store) -> None:
    assert "2 series:" in call("alarms", "--model", "lab/agent-1.3")[1]
    assert "Nothing can be watched" in call("alarms", "--model", "else*")[1]


def test_a_repeated_look_says_so(call: Call, store: Store) -> None:
    call("alarms")
    code, out, _ = call("alarms")
    assert code == 0
    assert "These data were looked at before: nothing was spent." in out
    assert len(store.stream("ledger").read()) == 1


def test_acknowledged_and_muted(call: Call, store: Store, tmp_path: Path) -> None:
    call("alarms", "--json", "a.json", "--quiet")
    (name,) = [row["id"] for row in document(tmp_path / "a.json")["tables"]["alarms"] if row["state"] == "firing"]
    assert call("alarms", "mute", name[:6], "--until", "2999-01-01")[0] == 0
    code, out, _ = call("alarms", "--fail-on", "any")
    assert code == 0
    assert f"{name}  MUTED" in out
    assert "muted until 2999-01-01" in out
    code, out, _ = call("alarms", "mute", name, "--until", "2000-01-01")
    assert (code, "is not muted: 2000-01-01 is past" in out) == (0, True)
    assert call("alarms", "--fail-on", "any", "--quiet")[0] == 1
    code, out, _ = call("alarms", "ack", name, "--reason", "the scorer was changed")
    assert code == 0
    assert "learned anew from lab/agent-1.18 on" in out
    code, out, _ = call("alarms", "--fail-on", "any", "--json", "b.json")
    assert code == 0
    (row,) = [row for row in document(tmp_path / "b.json")["tables"]["alarms"] if row["id"] == name]
    assert row["state"] == "no-data"
    assert row["acknowledged"]["reason"] == "the scorer was changed"
    assert row["baseline_label"] == "lab/agent-1.18"


def test_the_memory_goes_with_a_file(call: Call, store: Store, tmp_path: Path) -> None:
    assert call("alarms", "--state", "s.json", "--quiet")[0] == 0
    # another machine that has the logs and the file, and one more release
    other = Store.open(tmp_path / "other", create=True)
    releases(other, range(23), jump_at=18)
    code, out, _ = call("alarms", "--store", "other", "--state", "s.json")
    assert code == 0
    assert "first look" not in out
    assert "over 2 looks" in out
    assert len(document(tmp_path / "s.json")["events"]) == 2
    (tmp_path / "s.json").write_text('{"format": "else"}')
    code, _, err = call("alarms", "--state", "s.json")
    assert code == 2
    assert "s.json" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("alarms", "ack", "beef", "--reason", "x"), "there is no alarm 'beef'"),
        (("alarms", "ack", "beef"), "--reason"),
        (("alarms", "mute", "beef", "--until", "soon"), "no day"),
        (("alarms", "--store", "other", "ack", "beef", "--reason", "x"), "--store stands before ack"),
        (("alarms", "--axis", "sideways"), "unknown axis"),
        (("alarms", "nothing"), "nothing"),
    ],
)
def test_what_is_refused(call: Call, store: Store, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = call(*arguments)
    assert code == 2
    assert said in err


def test_without_a_store_there_is_advice(call: Call) -> None:
    code, _, err = call("alarms")
    assert code == 2
    assert "foreshock add" in err


@pytest.mark.parametrize(
    "words",
    [
        ("alarms",),
        ("check",),
        ("alarms", "ack", "x", "--reason", "r"),
        ("alarms", "mute", "x", "--until", "2030-01-01"),
    ],
)
def test_a_state_that_cannot_be_written_is_refused_before_the_work(
    call: Call, store: Store, tmp_path: Path, words: tuple[str, ...]
) -> None:
    before = sorted(path.relative_to(store.folder) for path in store.folder.rglob("*"))
    for path, said in (("none/s.json", "no folder none"), (".", "a folder")):
        code, out, err = call(*words, "--state", path)
        assert code == 2
        assert said in out + err
    assert sorted(path.relative_to(store.folder) for path in store.folder.rglob("*")) == before
