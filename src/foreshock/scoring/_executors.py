"""Where scoring can work besides the calling process."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from foreshock._base import ConfigError, require
from foreshock._version import __version__

_PATIENCE = 30
"""Seconds to wait for the first worker of a scheduler: workers of a queue take a while to start."""


def processes(workers: int) -> ProcessPoolExecutor:
    """A pool of processes on this machine, for the ``executor`` of :func:`score`; close it with ``with``.

    The processes are spawned, so a metric of your own must live in a module that can be imported. Each uses one thread,
    so ``workers`` is the number of cores that are kept busy.

    Args:
        workers: Number of processes, at least 1.

    Raises:
        ConfigError: ``workers`` is less than 1.
    """
    if workers < 1:
        raise ConfigError(f"{workers} workers", expected="1 or more")
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread)


def _one_thread() -> None:
    # Polars would start as many threads in each process as the machine has cores
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


@contextmanager
def cluster(address: str, files: Sequence[str | Path] = ()) -> Iterator[Executor]:
    """The workers of a running Dask scheduler, for the ``executor`` of :func:`score` (extra ``dask``).

    They must have this version of the package, and see the store under the same path.

    Args:
        address: Address of the scheduler, such as ``tcp://host:8786``.
        files: Python files with metrics of your own, which are sent to the workers and imported there.

    Raises:
        ConfigError: There is no scheduler at this address, it has no workers, or they lack this version of the package
            or cannot import a file.
        MissingExtraError: Dask is not installed.
    """
    distributed = require("distributed", "dask", "a Dask cluster")
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"no Dask scheduler at {address} ({error})", expected="the address of one, such as tcp://host:8786"
        ) from None
    with client:
        _ready(client, address, files)
        # not pure: a job writes files, so equal jobs are not one
        yield client.get_executor(pure=False)


def _ready(client: Any, address: str, files: Sequence[str | Path]) -> None:
    """Wait for a worker, which work would do for ever, and send the files."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise ConfigError(
            f"the Dask scheduler at {address} has no workers after {_PATIENCE} seconds",
            expected="one or more",
            do="start workers: dask worker ADDRESS",
        ) from None
    _same_version(client)
    for file in files:
        try:
            client.upload_file(str(file))
        except Exception as error:  # noqa: BLE001 - the file is a stranger's and may raise anything
            raise ConfigError(
                f"the workers cannot import {Path(file).name} ({type(error).__name__}: {error})",
                expected="a Python file that needs nothing the workers lack",
                do="install what it imports where the workers are",
                where=str(file),
            ) from None


def _same_version(client: Any) -> None:
    """A worker that cannot import the package leaves at its first job, which then waits for ever for another one."""
    try:
        found = {str(version) for version in client.run(resolve_name, "foreshock:__version__").values()}
    except Exception as error:  # noqa: BLE001 - whatever the import raises there is raised here
        found = {f"{type(error).__name__}: {error}"}
    if other := sorted(found - {__version__}):
        raise ConfigError(
            f"the workers have another foreshock, or none ({', '.join(other)})",
            expected=f"foreshock {__version__} on each of them",
            do="install it where the workers are",
        )
