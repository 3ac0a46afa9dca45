"""Damage to bytes that knows nothing of any format."""

# ruff: noqa: ARG001 - every change of one kind takes the same arguments

from __future__ import annotations

import random
import re

from _fuzz.odd import NUMBERS, TOKENS

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_LOOKED_AT = 2_000
_LONGEST = 2**22
_LENGTHS = (1, 1, 2, 4, 8, 30, 100, 1000)


def spoil(data: bytes, noise: random.Random, others: list[bytes]) -> bytes:
    """The same bytes with a few flipped, cut out, doubled, moved, put in or taken from another file."""
    out = bytearray(data)
    for _ in range(noise.choice((1, 1, 1, 2, 4, 8))):
        _ONE[noise.randrange(len(_ONE))](out, noise, others)
        del out[_LONGEST:]
    return bytes(out)


def _flip(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    for _ in range(noise.choice((1, 1, 4, 16))):
        if out:
            out[noise.randrange(len(out))] ^= 1 << noise.randrange(8)


def _set(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    if out:
        out[noise.randrange(len(out))] = noise.choice((0, 1, 0x7F, 0x80, 0xFF, 0x22, 0x0A, 0x2C, noise.randrange(256)))


def _cut(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    del out[noise.randrange(len(out) + 1) :]


def _drop(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    at = noise.randrange(len(out) + 1)
    del out[at : at + noise.choice(_LENGTHS)]


def _double(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    at, length = noise.randrange(len(out) + 1), noise.choice(_LENGTHS)
    out[at:at] = out[at : at + length] * noise.choice((1, 1, 2, 50))


def _move(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    at, to, length = noise.randrange(len(out) + 1), noise.randrange(len(out) + 1), noise.choice(_LENGTHS)
    out[to:to] = out[at : at + length]


def _token(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    at = noise.randrange(len(out) + 1)
    token = noise.choice(TOKENS)
    out[at : at + (len(token) if noise.random() < 0.3 else 0)] = token


def _number(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    at = noise.randrange(len(out) + 1)
    chosen = _NUMBER.search(out, at, at + _LOOKED_AT) or _NUMBER.search(out, 0, _LOOKED_AT)
    if chosen:
        out[chosen.start() : chosen.end()] = noise.choice(NUMBERS)


def _splice(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    other = noise.choice(others) if others else b""
    at, start = noise.randrange(len(out) + 1), noise.randrange(len(other) + 1)
    if noise.random() < 0.5:
        out[at:] = other[start:]
    else:
        length = noise.choice(_LENGTHS)
        out[at : at + length] = other[start : start + length]


def _line(out: bytearray, noise: random.Random, others: list[bytes]) -> None:
    lines = bytes(out).split(b"\n")
    at = noise.randrange(len(lines))
    how = noise.random()
    if how < 0.3:
        del lines[at]
    elif how < 0.6:
        lines[at:at] = [lines[at]] * noise.choice((1, 1, 3, 100))
    elif how < 0.8:
        lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    else:
        noise.shuffle(lines)
    out[:] = noise.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n")).join(lines)


_ONE = (_flip, _flip, _set, _set, _cut, _drop, _drop, _double, _move, _token, _token, _number, _number, _splice, _line)
