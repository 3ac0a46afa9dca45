"""A file that nobody sees before it is whole."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


class Draft:
    """Takes pieces under another name; the file is there when it is kept. Without a piece there is no file.

    Args:
        path: The file; one that is there is replaced, or removed when no piece came.

    Attributes:
        count: Pieces.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._digest, self.count = path, hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".export-")
        self._stream, self._name = os.fdopen(handle, "wb"), Path(name)

    @property
    def checksum(self) -> str:
        """SHA-256 of what was written."""
        return self._digest.hexdigest()

    def write(self, piece: bytes) -> None:
        """Append a piece."""
        self._stream.write(piece)
        self._digest.update(piece)
        self.count += 1

    def keep(self) -> None:
        """Let the file be seen."""
        self._stream.close()
        if self.count:
            self._name.chmod(0o644)
            self._name.replace(self._path)
        else:
            self._path.unlink(missing_ok=True)

    def drop(self) -> None:
        """Remove what was not kept."""
        self._stream.close()
        self._name.unlink(missing_ok=True)
