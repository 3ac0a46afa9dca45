"""One bad file, sample or line is not the others: what went wrong while one was handled, as an error to report."""

from __future__ import annotations

from pathlib import Path

from foreshock._base import BrokenFileError, ForeshockError
from foreshock.readers._files import DAMAGED, damaged, unreadable

_SHOWN = 200


def reported(error: BaseException, path: Path, where: str | None = None) -> ForeshockError:
    """The error to report for anything that was raised while ``path`` was handled.

    Args:
        error: What was caught.
        path: The file at hand.
        where: A place inside it, when that is known; else the file.

    Raises:
        BaseException: ``error`` itself, when it ends the program or the memory is used up.

    Examples:
        >>> print(reported(ZeroDivisionError("division by zero"), Path("a.eval")))
        a.eval: unexpected ZeroDivisionError: division by zero; please report it
    """
    where = str(path) if where is None else where
    if isinstance(error, ForeshockError):
        error.where = error.where or where
        return error
    if isinstance(error, DAMAGED):
        return damaged(error, where)
    if isinstance(error, OSError):
        return unreadable(path, error)
    # a Rust panic inside Polars is a BaseException of a class that no Python module exports
    if isinstance(error, MemoryError) or not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
        raise error
    text = " ".join(str(error)[:_SHOWN].split())
    return BrokenFileError(f"unexpected {type(error).__name__}: {text}", do="please report it", where=where)
