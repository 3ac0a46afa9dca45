"""The shipped logs as files on disk."""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files
from pathlib import Path


def unpack(folder: Path) -> Path:
    """Write the shipped logs below ``folder``, which must not exist yet, and return it."""
    data = files("foreshock.demo").joinpath("ladder.zip").read_bytes()
    folder.mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder
