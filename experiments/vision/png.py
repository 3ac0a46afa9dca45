"""Grey pictures from PNG files: what Omniglot is made of, without an image library.

PNG (ISO/IEC 15948), as far as needed: grey of 1, 2, 4, 8 bits, no interlacing. Anything else is an error.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST = 4096  # pixels a side; a header may announce more than memory holds


def read_grey(data: bytes) -> NDArray[np.float32]:
    """Grey values of a picture in [0, 1], 0 is black, shape (height, width).

    Raises:
        ValueError: It is damaged, or of a kind that is not read.
    """
    if not data.startswith(_SIGNATURE):
        raise ValueError("not a PNG file")
    chunks = _chunks(data)
    if len(chunks.get(b"IHDR", b"")) != 13:
        raise ValueError("no header")
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if colour != 0 or depth not in (1, 2, 4, 8) or interlaced:
        raise ValueError(f"colour type {colour}, {depth} bits, interlacing {interlaced}: only plain grey is read")
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        raise ValueError(f"{width} x {height} pixels; at most {LARGEST} a side are read")
    line = (width * depth + 7) // 8
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(chunks.get(b"IDAT", b""), height * (line + 1) + 1)
    if len(raw) != height * (line + 1):
        raise ValueError(f"{len(raw)} bytes of picture, not {height * (line + 1)}")
    rows = _unfilter(np.frombuffer(raw, np.uint8).reshape(height, line + 1))
    bits = np.unpackbits(rows, axis=1).reshape(height, -1, depth)[:, :width]
    values = bits @ (1 << np.arange(depth - 1, -1, -1))
    return np.asarray(values / (2**depth - 1), np.float32)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """Contents by kind; pieces of one kind are joined, as those of the picture are meant to be."""
    found: dict[bytes, list[bytes]] = {}
    at = len(_SIGNATURE)
    while at + 12 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if at + 12 + size > len(data) or zlib.crc32(kind + body) != struct.unpack_from(">I", data, at + 8 + size)[0]:
            raise ValueError(f"chunk {kind!r} is damaged")
        found.setdefault(kind, []).append(body)
        at += 12 + size
        if kind == b"IEND":
            break
    return {kind: b"".join(bodies) for kind, bodies in found.items()}


def _unfilter(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Undo what each line says was done to it; a pixel is at most one byte here."""
    out = np.zeros((rows.shape[0] + 1, rows.shape[1]), np.int64)  # a line of zeros above and a column before
    for y, row in enumerate(rows, start=1):
        kind, line = int(row[0]), row[1:].astype(np.int64)
        above = out[y - 1]
        if kind in (0, 2):
            out[y, 1:] = line + (above[1:] if kind == 2 else 0)
        elif kind in (1, 3, 4):
            for x in range(1, line.size + 1):
                left, up, corner = out[y, x - 1], above[x], above[x - 1]
                guess = left if kind == 1 else (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
                out[y, x] = (line[x - 1] + guess) & 255
        else:
            raise ValueError(f"filter {kind} is unknown")
        out[y] &= 255
    return out[1:, 1:].astype(np.uint8)


def _paeth(left: int, up: int, corner: int) -> int:
    about = left + up - corner
    away = (abs(about - left), abs(about - up), abs(about - corner))
    return (left, up, corner)[away.index(min(away))]
