"""The process that decodes Parquet for :mod:`foreshock.readers._parquet`; started by its path, it needs only Polars.

Requests and replies are pickles, each after eight bytes with its length. A request is ``(name, source, columns, start,
rows)``: an unknown ``name`` comes with its source, and ``rows`` is None for the schema. A reply is ``(True, result)``
or ``(False, message)``. It ends with its input, so with the process that started it.
"""

from __future__ import annotations

import os
import pickle
from typing import Any, BinaryIO

LENGTH = 8


def write(stream: BinaryIO, value: Any) -> None:
    """Send one value."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH, "big"))
    stream.write(data)
    stream.flush()


def read(stream: BinaryIO) -> Any:
    """Receive one value.

    Raises:
        EOFError: The other side has ended.
    """
    head = stream.read(LENGTH)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == LENGTH else b""
    if len(head) < LENGTH or len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - from the process at the other end of the pipe, which is ours


def main() -> None:
    """Answer until the input ends; whatever a file does to Polars is the answer to its request."""
    import polars as pl

    requests, replies = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    held: tuple[Any, Any] = (None, None)
    while True:
        try:
            name, source, columns, start, rows = read(requests)
        except EOFError:
            return
        held = (name, source) if source is not None else held
        try:
            scan = pl.scan_parquet(held[1], glob=False, hive_partitioning=False)
            found: Any
            if rows is None:
                found = dict(scan.collect_schema())
            else:
                found = (scan if columns is None else scan.select(columns)).slice(start, rows).collect()
            answer = (True, found)
        except BaseException as error:  # noqa: BLE001 - Polars panics over some damaged files, which is no Exception
            answer = (False, f"{type(error).__name__}: {error}"[:2_000])
        write(replies, answer)


if __name__ == "__main__":
    main()
