"""Which damage is done to which file."""

from __future__ import annotations

import gzip
import random
import zlib

from _fuzz import cells, frames, trees, zips
from _fuzz.cases import Case
from _fuzz.odd import FILES
from _fuzz.spoil import spoil

MAX_FILE = 2**20
"""Bytes of a file; what grows beyond is cut. Giants have a place of their own."""

_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00")
_MAX_TREE = 200_000


class Mutator:
    """Breaks cases at random; equal seeds and equal calls give equal cases.

    Args:
        noise: Randomness.
        seeds: Whole cases, whose values are put into others.
    """

    def __init__(self, noise: random.Random, seeds: list[Case]) -> None:
        self.noise, self.pool = noise, trees.Pool()
        self.others = [data for case in seeds for data in case.values()]
        for case in seeds:
            for name, data in case.items():
                self._learn(name, data)

    def __call__(self, case: Case) -> Case:
        """The case with one or two of its files changed."""
        out = dict(case)
        noise = self.noise
        for _ in range(noise.choice((1, 1, 1, 2))):
            name = noise.choice(list(out))
            out[name] = self.file(name, out[name])
        if noise.random() < 0.08:
            self._files(out)
        return {name: data[:MAX_FILE] for name, data in out.items()}

    def file(self, name: str, data: bytes) -> bytes:
        """One file or member of an archive changed."""
        noise = self.noise
        if data.startswith(b"\x1f\x8b") and noise.random() < 0.8:
            try:
                data = gzip.decompress(data)
            except (OSError, EOFError, ValueError, zlib.error):
                return spoil(data, noise, self.others)
            return gzip.compress(self.file(name, data), 1, mtime=0)
        out = spoil(data, noise, self.others) if noise.random() < 0.25 else self._by_kind(name, data)
        how = noise.random()
        if how < 0.02:
            return gzip.compress(out, 1, mtime=0)
        return noise.choice(_BOMS) + out if how < 0.03 else out

    def _by_kind(self, name: str, data: bytes) -> bytes:
        """Damage that knows what kind of file it is; else to the bytes."""
        noise = self.noise
        begin = data[:64].lstrip()[:4]
        try:
            if begin.startswith(b"PK"):
                return zips.mutate(data, noise, self.file)
            if begin.startswith(b"PAR1"):
                return frames.mutate(data, noise, self.pool.names)
            if begin[:1] in (b"{", b"[") and len(data) < _MAX_TREE:
                return self._lines(data) if self._is_lines(name, data) else trees.mutate(data, noise, self.pool)
        except (ValueError, RecursionError, OverflowError):
            return spoil(data, noise, self.others)
        if b"\n" in data and name.endswith((".csv", ".tsv", ".txt")):
            return cells.mutate(data, noise, self.pool.texts)
        return spoil(data, noise, self.others)

    def _is_lines(self, name: str, data: bytes) -> bool:
        return name.endswith(("l", ".txt", ".ndjson")) and b"\n" in data.strip()

    def _lines(self, data: bytes) -> bytes:
        """A JSON Lines file with some of its lines changed."""
        noise = self.noise
        lines = data.splitlines()
        for _ in range(noise.choice((1, 1, 2, 5))):
            at = noise.randrange(len(lines))
            try:
                lines[at] = trees.mutate(lines[at], noise, self.pool)
            except (ValueError, RecursionError):
                lines[at] = spoil(lines[at], noise, self.others)
        if noise.random() < 0.1:
            noise.shuffle(lines)
        if noise.random() < 0.1:
            lines[0:0] = [noise.choice(lines)] * noise.choice((1, 2, 50))
        return b"\n".join(lines) + noise.choice((b"\n", b"", b"\n\n", b"\r\n"))

    def _files(self, out: Case) -> None:
        """Files renamed, left out, emptied, copied or exchanged."""
        noise, names = self.noise, list(out)
        name, how = noise.choice(names), noise.random()
        place, _, _ = name.rpartition("/")
        new = (f"{place}/" if place and noise.random() < 0.7 else "") + noise.choice(FILES)
        if how < 0.25:
            out[new] = out.pop(name)
        elif how < 0.45 and len(out) > 1:
            del out[name]
        elif how < 0.55:
            out[name] = b""
        elif how < 0.75:
            out[new] = self.file(name, out[name])
        else:
            other = noise.choice(names)
            out[name], out[other] = out[other], out[name]

    def _learn(self, name: str, data: bytes) -> None:
        import json

        try:
            if data.startswith(b"PK"):
                for member in zips.unpack(data):
                    self._learn(member.name.decode("utf-8", "replace"), member.data)
            elif self._is_lines(name, data):
                for line in data.splitlines()[:4]:
                    self.pool.learn(json.loads(line))
            else:
                self.pool.learn(json.loads(data))
        except (ValueError, RecursionError):
            first = data[:4_096].decode("utf-8", "replace")
            self.pool.texts.extend(t for t in first.replace("\n", ",").split(",") if 0 < len(t) < 40)
