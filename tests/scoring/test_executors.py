"""Processes and a Dask cluster give the bytes that one process gives, also when one of them is killed."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
import warnings
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from foreshock._base import ConfigError, MetricError
from foreshock.metrics import metric
from foreshock.scoring import cluster, processes, score

_spec = spec_from_file_location("scoring_stores_executors", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)

METRICS = ["exact_match", "char_similarity", "pass_rate", "numeric_closeness", "multiple_choice_grade", "brier"]


KILLER = '''
"""A metric that ends the process it runs in, once, as a kernel short of memory would."""
import os
import signal
from pathlib import Path

from foreshock.metrics import metric


@metric(kind="continuous", needs=("output",), name="test_killer")
def killer(*, mark: str, owner: int):
    def length(response):
        if os.getpid() != owner and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(len(response.output))

    return length
'''


@pytest.fixture(scope="module")
def killer(tmp_path_factory):
    """The metric, importable in every process that is spawned from here; never by the test run itself by accident."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "test_killer_module.py").write_text(KILLER, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH")))))
        yield importlib.import_module("test_killer_module").killer
    sys.modules.pop("test_killer_module")


SENT = '''
import os
from foreshock import metric

@metric(kind="continuous", needs=("output",), name="test_home_of_a_worker")
def home():
    """Where it runs."""
    return lambda response: float(os.getpid())


def where(spec):
    return int(spec({"output": "x"}))
'''


def lost():
    """A metric that no other process can make: its module was never a file."""

    def make():
        return lambda response: 1.0

    make.__module__, make.__qualname__ = "never_a_file", "lost"
    return metric(kind="continuous", needs=("output",), name="test_lost_on_the_way")(make)()


def fill(folder):
    store = stores.fill(folder, epochs=2)
    store.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))
    return store


def files(store):
    paths = [p for table in ("scores", "commits") for p in (store.folder / table).iterdir()]
    # commits are named by their content; the time stands beside it
    return {path.name: path.read_bytes() if path.suffix == ".parquet" else None for path in paths}


def test_a_killed_process_of_a_pool_costs_only_time(tmp_path, killer):
    metrics = [*METRICS, killer(mark=str(tmp_path / "mark"), owner=os.getpid())]
    alone, pooled = fill(tmp_path / "alone"), fill(tmp_path / "pooled")
    told = score(alone, metrics)
    assert not (tmp_path / "mark").exists()
    with processes(2) as pool:
        with pytest.raises(MetricError, match=r"a worker cannot make the metrics.*never_a_file.*--import FILE\.py"):
            score(fill(tmp_path / "lost"), [lost()], executor=pool)
        assert score(pooled, metrics, executor=pool) == told
    assert (tmp_path / "mark").exists()
    assert files(pooled) == files(alone)


def test_a_dask_cluster_gives_equal_bytes_and_a_killed_worker_costs_only_time(tmp_path, killer, monkeypatch):
    distributed = pytest.importorskip("distributed")
    metrics = [*METRICS, killer(mark=str(tmp_path / "mark"), owner=os.getpid())]
    alone, spread, again = (fill(tmp_path / name) for name in ("alone", "spread", "again"))
    told, quietly = score(alone, metrics), score(again, METRICS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Tornado and of workers that die
        with (
            distributed.LocalCluster(
                n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None, silence_logs=50
            ) as local,
            cluster(local.scheduler_address) as executor,
        ):
            plain = fill(tmp_path / "plain")
            assert score(plain, METRICS, executor=executor) == quietly
            assert files(plain) == files(again)
            with pytest.raises(MetricError, match="a worker cannot make the metrics"):
                score(fill(tmp_path / "lost"), [lost()], executor=executor)
            assert score(spread, metrics, executor=executor) == told
            # the workers are there before the file is, and do not have its folder on their path
            path = tmp_path / "sent_to_workers.py"
            path.write_text(SENT)
            monkeypatch.syspath_prepend(str(tmp_path))
            import sent_to_workers

            with cluster(local.scheduler_address, [path]) as with_file:
                pid = with_file.submit(sent_to_workers.where, sent_to_workers.home()).result()
                assert pid != os.getpid()
            path.write_text("import never_a_file")
            with (
                pytest.raises(ConfigError, match=r"the workers cannot import sent_to_workers\.py"),
                cluster(local.scheduler_address, [path]),
            ):
                pass
            sys.modules.pop("sent_to_workers")
    assert (tmp_path / "mark").exists()
    assert files(spread) == files(alone)


def test_a_scheduler_without_workers_is_not_waited_for_for_ever(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("foreshock.scoring._executors._PATIENCE", 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Tornado
        with (
            distributed.LocalCluster(
                n_workers=0, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50
            ) as local,
            pytest.raises(ConfigError, match=r"has no workers after 0\.1 seconds"),
            cluster(local.scheduler_address),
        ):
            pass


def test_what_cannot_be_worked_with_is_told():
    with pytest.raises(ConfigError, match="0 workers"):
        processes(0)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("made", ["raise ImportError('not here')", "__version__ = '0'"])
def test_workers_without_this_version_of_the_package_are_not_given_work(tmp_path, made):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "foreshock.py").write_text(made)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50
        ) as local,
    ):
        warnings.simplefilter("ignore")  # of Tornado
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address]
        worker = subprocess.Popen(
            [*command, "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            stderr=subprocess.DEVNULL,
        )
        try:
            with (
                pytest.raises(ConfigError, match=r"another foreshock, or none \((ImportError: not here|0)\)"),
                cluster(local.scheduler_address),
            ):
                pass
        finally:
            worker.kill()
            worker.wait()
