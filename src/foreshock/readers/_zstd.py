"""Zstandard, with a bound on what may come out.

A zip member may be several frames (Inspect starts a new one every 200 MiB), and a frame need not say how long its
content is. The obvious one-shot calls return only the first frame, or allocate what a hostile frame claims.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError

    class Zstd:
        """Decompressor to keep for many members."""

        def decode(self, data: bytes | memoryview, size: int) -> bytes:
            """All frames of ``data``; at most one byte more than ``size``, so that a longer content shows.

            Raises:
                ValueError: Not a zstd stream.
            """
            out, rest = b"", bytes(data)
            try:
                while rest and len(out) <= size:
                    frame = ZstdDecompressor()
                    out += frame.decompress(rest, max_length=size + 1 - len(out))
                    rest = frame.unused_data if frame.eof else b""
            except ZstdError as error:
                raise ValueError(str(error)) from None
            return out

else:
    import zstandard

    class Zstd:
        """Decompressor to keep for many members."""

        def __init__(self) -> None:
            self._one = zstandard.ZstdDecompressor()

        def decode(self, data: bytes | memoryview, size: int) -> bytes:
            """All frames of ``data``; at most one byte more than ``size``, so that a longer content shows.

            Raises:
                ValueError: Not a zstd stream.
            """
            try:
                claimed = zstandard.frame_content_size(data)
                if claimed in (-1, size):
                    # 9 us for 10 kB, half of what a stream costs; short when more frames follow
                    out = self._one.decompress(data, max_output_size=size)
                    if len(out) == size:
                        return out
            except zstandard.ZstdError:
                pass  # several frames whose first says nothing, longer than announced, or broken: the stream tells
            try:
                with self._one.stream_reader(data, read_across_frames=True) as stream:
                    return stream.read(size + 1)
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
