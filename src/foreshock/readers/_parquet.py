"""Parquet files, decoded in a process of their own.

Polars does not check all that a damaged file claims before it acts on it: it panics, and where a length of 2**61 is
asked for, the allocator aborts, which no ``except`` stops. So a second process decodes; when it ends, the file is
damaged and the next one gets a new process. It is started with the first Parquet file (0.3 CPU s) and kept.
"""

from __future__ import annotations

import atexit
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreshock._base import BrokenFileError
from foreshock.readers import _parquet_child as child

if TYPE_CHECKING:
    import polars as pl

MAGIC = b"PAR1"
"""First bytes of a Parquet file."""

_SHOWN = 200


class Parquet:
    """One file of Parquet.

    Args:
        source: Its path, or its bytes where it is a member of an archive.
        where: What an error names.

    Attributes:
        schema: Its columns and their types.

    Raises:
        BrokenFileError: It is no whole Parquet file; so do the methods.
    """

    def __init__(self, source: str | Path | bytes, where: str) -> None:
        self._source, self._where = source if isinstance(source, bytes) else str(source), where
        self._name = next(_NAMES)
        self.schema: dict[str, pl.DataType] = self._ask(None, 0, None)

    def parts(self, rows: int, columns: Sequence[pl.Expr] | None = None) -> Iterator[pl.DataFrame]:
        """Some columns (None: all), in frames of ``rows`` rows; the last one may be shorter."""
        for start in itertools.count(0, rows):
            part: pl.DataFrame = self._ask(columns, start, rows)
            yield part
            if part.height < rows:
                return

    def _ask(self, columns: Sequence[pl.Expr] | None, start: int, rows: int | None) -> Any:
        with _LOCK:
            good, answer = _decoder().ask(self._name, self._source, (columns, start, rows))
        if not good:
            reason = " ".join(answer.split())[:_SHOWN]
            raise BrokenFileError(f"not a whole Parquet file ({reason})", do="copy it again", where=self._where)
        return answer


class _Decoder:
    """A process that decodes."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        command = [sys.executable, str(Path(child.__file__))]
        # what Polars says of a panic belongs to the error, not on the screen of the user
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere)  # noqa: S603 - ourselves
        self._holds: int | None = None

    def ask(self, name: int, source: str | bytes, rest: tuple[Any, ...]) -> tuple[bool, Any]:
        """Whether it worked, and what was asked for or why not."""
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None
        assert replies is not None
        try:
            child.write(requests, (name, None if self._holds == name else source, *rest))  # type: ignore[arg-type]
            answer: tuple[bool, Any] = child.read(replies)  # type: ignore[arg-type]
        except (EOFError, BrokenPipeError):
            return False, f"Polars ended over it, with code {self.close()}"
        except BaseException:  # Ctrl-C: a reply that nobody took would be that of the next file
            self._process.kill()
            self.close()
            raise
        self._holds = name
        return answer

    @property
    def lives(self) -> bool:
        """Whether it can be asked, by this process: a fork has no right to the pipes of its parent."""
        return self.owner == os.getpid() and self._process.poll() is None

    def close(self) -> int:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return self._process.wait()


_NAMES = itertools.count()
_LOCK = threading.Lock()
_running: _Decoder | None = None


def _decoder() -> _Decoder:
    global _running  # noqa: PLW0603 - one process for all files; starting it costs more than reading most of them
    if _running is None or not _running.lives:
        _running = _Decoder()
    return _running


@atexit.register
def _end() -> None:
    if _running is not None and _running.lives:
        _running.close()
