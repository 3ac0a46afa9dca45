"""`foreshock watch`: logs that come, alarms that newly fire, and the command that is told."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.alarms import command_words, notify
from foreshock.store import Store

Call = Callable[..., tuple[int, str, str]]


_spec = importlib.util.spec_from_file_location(
    "forecast_planted", Path(__file__).resolve().parents[2] / "benchmarks" / "_forecast_planted.py"
)
assert _spec is not None
assert _spec.loader is not None
planted = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(planted)

JUMP = 14


def logs(folder: Path, numbers: range) -> Path:
    """Inspect logs of some releases, in which the omission score jumps at the fifteenth and nothing else does."""
    rng = np.random.default_rng(8)
    mean = {
        "accuracy": np.full(30, 0.5),
        "longest_tool_chain": np.full(30, 0.0),
        "omission": 0.3 + 0.002 * np.arange(30) + 0.01 * rng.normal(size=30) + 0.4 * (np.arange(30) >= JUMP),
    }
    folder.mkdir(exist_ok=True)
    for number in numbers:
        path = folder / f"{number:02}.eval"
        planted.write_release(path, number, planted.World(mean, JUMP), np.random.default_rng([8, number]))
    return folder


@pytest.fixture
def call(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(planted, "SAMPLES", 12)
    (tmp_path / "foreshock.toml").write_text("[alarms]\nmetrics = []\n")
    return call


def script(path: Path, text: str) -> str:
    path.write_text(text)
    return f"{sys.executable} {path}"


KEEPS = """
import json, sys
told = json.loads(sys.stdin.read())
with open("told.jsonl", "a") as file:
    file.write(json.dumps([row["metric"] for row in told["tables"]["changed"]]) + "\\n")
"""


def told(folder: Path) -> list[list[str]]:
    path = folder / "told.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_new_alarm_is_told_once_and_stops_a_pipeline(call: Call, tmp_path: Path) -> None:
    command = script(tmp_path / "keeps.py", KEEPS)
    logs(tmp_path / "logs", range(JUMP))
    common = ("watch", "logs", "--once", "--notify", command, "--fail-on", "FS401")
    code, out, _ = call(*common)
    assert (code, told(tmp_path)) == (0, [])
    assert "14 runs added." in out
    logs(tmp_path / "logs", range(JUMP, JUMP + 4))
    code, out, err = call(*common, "--json", "w.json")
    assert code == 1, err
    assert told(tmp_path) == [["omission"]]
    assert "FIRING  report" in out
    document = json.loads((tmp_path / "w.json").read_text())
    assert [row["state"] for row in document["tables"]["changed"]] == ["firing"]
    assert [look["first"] for look in document["tables"]["ledger"]] == [True, False]
    # nothing new: it still fires, and nobody is told again
    code, _, _ = call(*common)
    assert code == 1
    assert told(tmp_path) == [["omission"]]


def test_a_line_that_is_newly_crossed_is_told_until_it_was_heard(call: Call, tmp_path: Path) -> None:
    line = '[alarms]\nmetrics = []\n[alarms.thresholds]\nreport = { above = 0.5, metric = "omission" }\n'
    (tmp_path / "foreshock.toml").write_text(line)
    keeps, fails = script(tmp_path / "keeps.py", KEEPS), script(tmp_path / "fails.py", "raise SystemExit(3)")
    logs(tmp_path / "logs", range(3))
    common = ("watch", "logs", "--once", "--fail-on", "FS403", "--notify")
    assert call(*common, keeps)[0] == 0
    logs(tmp_path / "logs", range(JUMP, JUMP + 1))
    # somebody looks first, and the command fails first: neither makes the crossing old
    assert call("check", "logs", "--quiet")[0] == 0
    code, out, err = call(*common, fails)
    assert (code, "CROSSED  report" in out, "it is tried again" in err) == (1, True, True)
    code, _, _ = call(*common, keeps, "--json", "w.json")
    assert (code, told(tmp_path)) == (1, [["omission"]])
    (row,) = json.loads((tmp_path / "w.json").read_text())["tables"]["changed"]
    assert (row["code"], row["line"], row["task"]) == ("FS403", 0.5, "report")
    # it is crossed still, and nobody is told again
    assert call(*common, keeps)[0] == 1
    assert told(tmp_path) == [["omission"]]


def test_only_some_tasks_are_watched(call: Call, tmp_path: Path) -> None:
    logs(tmp_path / "logs", range(3))
    assert "Nothing can be watched" in call("watch", "logs", "--once", "--task", "other")[1]
    code, _, _ = call("watch", "logs", "--once", "--task", "report", "--release", "spring", "--json", "w.json")
    document = json.loads((tmp_path / "w.json").read_text())
    assert (code, {row["task"] for row in document["tables"]["alarms"]}) == (0, {"report"})


def test_a_command_that_fails_is_a_warning(call: Call, tmp_path: Path) -> None:
    logs(tmp_path / "logs", range(JUMP + 4))
    command = script(tmp_path / "fails.py", "import sys; sys.exit('no network')")
    code, _, err = call("watch", "logs", "--once", "--notify", command, "--quiet")
    assert code == 0
    assert "warning: --notify" in err
    assert "it ended with 1: no network; it is tried again" in err


def test_a_file_that_cannot_be_read_is_told(call: Call, tmp_path: Path) -> None:
    logs(tmp_path / "logs", range(3))
    (tmp_path / "logs" / "broken.eval").write_bytes(b"PK\x03\x04 and then nothing")
    code, _, err = call("watch", "logs", "--once", "--fail-on", "unreadable", "--json", "w.json")
    assert code == 1
    assert "not read" in err
    assert "broken.eval" in json.loads((tmp_path / "w.json").read_text())["tables"]["failures"][0]["path"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("watch", "nowhere"), "no such folder"),
        (("watch", "logs", "--notify", "no-such-program-here"), "no program"),
        (("watch", "logs", "--notify", "'"), "close the quotes"),
        (("watch", "logs", "--notify", " "), "empty"),
        (("watch", "logs", "--every", "0"), "--every"),
        (("watch", "logs", "--fail-on", "FS9"), "nothing can fire"),
    ],
)
def test_what_is_refused(call: Call, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "logs").mkdir()
    code, _, err = call(*arguments)
    assert code == 2
    assert said in err


def test_nothing_of_an_alarm_reaches_the_words_of_the_command(tmp_path: Path) -> None:
    out = tmp_path / "seen"
    words = command_words(
        f"{sys.executable} -c 'import sys; open(sys.argv[1], \"w\").write(repr(sys.argv[2:]))' {out} '$(id)' '*'"
    )
    assert notify(words, b'{"task": "$(touch /tmp/x); `id`"}') is None
    assert out.read_text() == "['$(id)', '*']"


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    text = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    words = command_words(script(tmp_path / "hangs.py", text))
    began = time.monotonic()
    assert notify(words, b"{}", seconds=3.0) == "it took longer than 3 s and was ended"
    assert time.monotonic() - began < 30
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{child}/stat").exists() and Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("what the command started is still running")


def test_a_command_that_does_not_listen_and_one_that_talks(tmp_path: Path) -> None:
    assert notify(command_words("true"), b"x" * 1_000_000) is None
    loud = script(tmp_path / "loud.py", "import sys; sys.stderr.write('x' * 10**6); sys.exit(3)")
    problem = notify(command_words(loud), b"{}")
    assert problem is not None
    assert problem.startswith("it ended with 3: xxx")
    assert len(problem) < 600
    with pytest.raises(ConfigError, match="no program"):
        command_words("a|b")


def test_ctrl_c_ends_with_130_and_keeps_what_was_done(tmp_path: Path) -> None:
    logs(tmp_path / "logs", range(2))
    # a process started in the background by a shell ignores SIGINT, and so would this one
    before_test = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "foreshock", "watch", "logs", "--every", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before_test)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert "2 runs added." in line
    for text in process.stdout:
        if text.startswith("    budget"):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "what was finished is kept" in err
    assert len(Store.open(tmp_path / ".foreshock").snapshot().runs()) == 2


@pytest.mark.skipif(os.name != "posix", reason="reads the size of a file that a child writes to")
def test_a_command_that_floods_its_error_output_fills_no_disk() -> None:
    flood = "import os, stat, sys; sys.stderr.write('x' * 3_000_000); sys.exit(3 + stat.S_ISREG(os.fstat(2).st_mode))"
    told = notify([sys.executable, "-c", flood], b"{}")
    assert told == "it ended with 3: " + "x" * 500
