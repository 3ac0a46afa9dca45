"""The shipped logs as files on disk."""

from __future__ import annotations

import io
import tarfile
from importlib.resources import files
from pathlib import Path


def unpack(folder: Path) -> Path:
    """Write the shipped logs below ``folder``, which must not exist yet, and return it."""
    data = files("foreshock.demo").joinpath("ladder.tar.xz").read_bytes()
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
