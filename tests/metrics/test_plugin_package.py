"""Another package's metrics, from its entry points to scores in a store, in this process and in others."""

from __future__ import annotations

import ast
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from foreshock._base import load_plugins
from foreshock.metrics import get_metric, list_metrics
from foreshock.metrics._registry import _known
from foreshock.records import Batch, Run
from foreshock.scoring import score
from foreshock.store import Store

PACKAGE = Path(__file__).parent.parent / "plugin_package"
METRICS = ["capitals(least=2)", "acted_share"]


def forget():
    load_plugins.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "foreshock_example"]:
        del sys.modules[name]
    for name in ("capitals", "acted_share"):
        _known.pop(name, None)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as ``pip install --editable`` leaves it: its folder and its entry points on the path."""
    told = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / f"{told['name'].replace('-', '_')}-{told['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n")
    lines = [f"{name} = {place}" for name, place in told["entry-points"]["foreshock.metrics"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[foreshock.metrics]", *lines]) + "\n")
    forget()
    for folder in (PACKAGE, info.parent):
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), str(info.parent)]))
    yield
    forget()


def filled(folder):
    """Two runs of three responses, one with steps inside."""
    store = Store.open(folder, create=True)
    with store.writer() as writer:
        for model in ("m1", "m2"):
            run = Run(run_key=model, format="test", reader="test@1", model=model, task="t")
            responses = {"row": [0, 1, 2], "item_id": ["a", "b", "c"], "delivery": ["ok"] * 3}
            steps = {"row": [0, 0, 0, 1], "seq": [0, 1, 2, 0], "kind": ["turn", "tool", "tool", "turn"]}
            writer.write(
                run,
                [
                    Batch("responses", responses | {"output": ["AbC", "x", "OK"]}),
                    Batch("trace", steps | {"turn": [0, 0, 0, 0], "ok": [None, True, False, None]}),
                ],
            )
    return store


def stored(store):
    frame = store.snapshot().scan(
        "scores", source="foreshock", columns=["run_key", "item_id", "metric_id", "value", "status", "label"]
    )
    return {(run, item, m.partition("@")[0]): rest for run, item, m, *rest in frame.collect().rows()}


def test_a_metric_takes_eight_lines():
    tree = ast.parse((PACKAGE / "foreshock_example" / "__init__.py").read_text())
    lines = ast.unparse(tree).splitlines()
    assert sum(bool(line.strip()) and not line.strip().startswith(('"""', "'")) for line in lines) <= 8


def test_entry_points_are_found_and_a_broken_one_is_a_warning(installed):
    with pytest.warns(RuntimeWarning, match="plugin 'broken' of metrics .* did not load: ModuleNotFoundError"):
        names = [spec.name for spec in list_metrics()]
    assert {"capitals", "acted_share", "exact_match"} <= set(names)
    assert "broken" not in names
    assert get_metric("capitals", least=2)({"output": "AbC"}) == pytest.approx(2 / 3)
    for text in METRICS:
        spec = get_metric(text)
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert spec.factory.origin.startswith("foreshock_example")


@pytest.mark.filterwarnings("ignore:plugin 'broken':RuntimeWarning")
def test_scores_go_into_a_store_from_here_and_from_other_processes(installed, tmp_path):
    here, there = filled(tmp_path / "here"), filled(tmp_path / "there")
    told = score(here, METRICS)
    assert told.failures == {}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert score(there, METRICS, executor=pool).failures == {}
    found = stored(here)
    assert found == stored(there)
    assert found["m1", "a", "capitals"] == [pytest.approx(2 / 3), "scored", None]
    assert found["m1", "b", "capitals"] == [None, "unparsed", "the metric could not read the answer"]
    assert found["m2", "c", "capitals"] == [1, "scored", None]
    assert found["m1", "a", "acted_share"] == [pytest.approx(2 / 3), "scored", "[2.0,3.0]"]
    assert found["m1", "b", "acted_share"][:2] == [0, "scored"]
    assert found["m1", "c", "acted_share"][1] == "needs"
    stats = [
        json.loads(label)
        for (run, _, name), (*_, s, label) in found.items()
        if (run, name, s) == ("m1", "acted_share", "scored")
    ]
    assert get_metric("acted_share").result(np.array(stats)) == 2 / 4
    assert score(here, METRICS).written == 0


def test_the_command_line_scores_with_it_and_warns_of_the_broken_one(installed, tmp_path):
    store = filled(tmp_path / "s")
    done = subprocess.run(
        [sys.executable, "-m", "foreshock", "score", "--store", str(store.folder), "--metric", "capitals"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "broken" in done.stderr
    assert "Traceback" not in done.stderr
    assert stored(store)["m1", "c", "capitals"][0] == 1
