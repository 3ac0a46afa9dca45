"""Damage to JSON that stays JSON, or nearly: values of other types, keys dropped, doubled or renamed, deep nesting."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

from _fuzz.odd import NAMES, NUMBERS, VALUES

_RAW = re.compile(r'"@raw:(\d+)@"')
_STOP = 0.25
_DEPTHS = (50, 500, 990, 10_000, 100_000)


class Pool:
    """Values and names seen in the seeds, to be put where others stood."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = {}
        self.names: list[str] = list(NAMES)
        self.texts: list[str] = []

    def learn(self, value: Any, key: str = "") -> None:
        """Take in everything below ``value``."""
        known = self.values.setdefault(key, [])
        if len(known) < 40:
            known.append(value)
        if isinstance(value, dict):
            for name, part in value.items():
                if name not in self.names and len(self.names) < 2_000:
                    self.names.append(name)
                self.learn(part, name)
        elif isinstance(value, list):
            for part in value[:6]:
                self.learn(part, key)
        elif isinstance(value, str) and len(value) < 60 and len(self.texts) < 2_000:
            self.texts.append(value)

    def other(self, key: Any, noise: random.Random) -> Any:
        """A value that stood at the same or at any other key."""
        if noise.random() < 0.5 and self.values.get(key):
            return copy.deepcopy(noise.choice(self.values[key]))
        if self.texts and noise.random() < 0.3:
            return noise.choice(self.texts)
        return copy.deepcopy(noise.choice(self.values[noise.choice(list(self.values))])) if self.values else None


def mutate(data: bytes, noise: random.Random, pool: Pool) -> bytes:
    """The JSON document with a few of its parts changed.

    Raises:
        ValueError: ``data`` is not JSON.
    """
    tree = _Tree([json.loads(data)], noise, pool)
    for _ in range(noise.choice((1, 1, 1, 2, 3, 6))):
        tree.change()
    return tree.encode()


class _Tree:
    def __init__(self, root: list[Any], noise: random.Random, pool: Pool) -> None:
        self.root, self.noise, self.pool, self.raws = root, noise, pool, list[str]()

    def change(self) -> None:
        """Change one place."""
        outer, key = self._place()
        self.noise.choice(_CHANGES)(self, outer, key)

    def encode(self) -> bytes:
        """As bytes, with what no JSON writer would write in its place."""
        style: dict[str, Any] = self.noise.choice(({}, {}, {"separators": (",", ":")}, {"indent": 1}))
        escaped = self.noise.random() < 0.7
        text = json.dumps(self.root[0], ensure_ascii=escaped, **style)
        while self.raws and _RAW.search(text):
            text = _RAW.sub(lambda m: self.raws[int(m[1])], text)
        return text.encode("utf-8", "surrogatepass")

    def raw(self, text: str) -> str:
        """A stand-in for text that is put into the document as it is."""
        self.raws.append(text)
        return f"@raw:{len(self.raws) - 1}@"

    def _place(self) -> tuple[Any, Any]:
        """A container and a key or index in it, found by walking down at random."""
        outer: Any = self.root
        key: Any = 0
        while True:
            inner = outer[key]
            if not (isinstance(inner, dict | list) and inner) or self.noise.random() < _STOP / (1 + len(inner) / 8):
                return outer, key
            outer = inner
            key = self.noise.choice(list(inner)) if isinstance(inner, dict) else self.noise.randrange(len(inner))

    def odd(self, outer: Any, key: Any) -> None:
        """Another value of any type."""
        outer[key] = copy.deepcopy(self.noise.choice(VALUES))

    def number(self, outer: Any, key: Any) -> None:
        """A number as no writer of JSON would write it."""
        outer[key] = self.raw(self.noise.choice(NUMBERS).decode())

    def other(self, outer: Any, key: Any) -> None:
        """A value from elsewhere in the seeds."""
        outer[key] = self.pool.other(key, self.noise)

    def drop(self, outer: Any, key: Any) -> None:
        """Leave it out."""
        if outer is not self.root:
            del outer[key]

    def rename(self, outer: Any, key: Any) -> None:
        """Another name for it."""
        if isinstance(outer, dict):
            outer[self.noise.choice(self.pool.names)] = outer.pop(key)

    def add(self, outer: Any, key: Any) -> None:
        """One more member."""
        inner = outer[key]
        if isinstance(inner, dict):
            name = self.noise.choice(self.pool.names)
            inner[name] = self.pool.other(name, self.noise)
        elif isinstance(inner, list):
            inner.insert(self.noise.randrange(len(inner) + 1), self.pool.other(key, self.noise))

    def double(self, outer: Any, key: Any) -> None:
        """Elements twice, or a key twice in one object."""
        inner = outer[key]
        if isinstance(inner, list):
            inner.extend(copy.deepcopy(inner[: self.noise.choice((1, 3, 50))]) * self.noise.choice((1, 1, 20)))
        elif isinstance(outer, dict) and not isinstance(inner, dict):
            again = json.dumps(self.pool.other(key, self.noise))
            outer[key] = self.raw(f"{json.dumps(inner)},{json.dumps(key)}:{again}")

    def wrap(self, outer: Any, key: Any) -> None:
        """The same value one level deeper, or as text."""
        inner = outer[key]
        how = self.noise.random()
        if how < 0.4:
            outer[key] = [inner]
        elif how < 0.7:
            outer[key] = {self.noise.choice(self.pool.names): inner}
        else:
            outer[key] = json.dumps(inner) if how < 0.9 else str(inner)

    def unwrap(self, outer: Any, key: Any) -> None:
        """One of the parts in place of the whole."""
        inner = outer[key]
        parts = list(inner.values()) if isinstance(inner, dict) else inner
        if isinstance(parts, list) and parts:
            outer[key] = self.noise.choice(parts)

    def swap(self, outer: Any, key: Any) -> None:
        """Two places change their values."""
        there, place = self._place()
        mine, theirs = copy.deepcopy(outer[key]), copy.deepcopy(there[place])
        outer[key] = theirs
        if place in there if isinstance(there, dict) else place < len(there):
            there[place] = mine

    def deep(self, outer: Any, key: Any) -> None:
        """Thousands of levels."""
        depth = self.noise.choice(_DEPTHS)
        opened, closed = self.noise.choice((("[", "]"), ('{"a":', "}"), ("[1,", "]")))
        outer[key] = self.raw(f"{opened * depth}1{closed * depth}")

    def keys(self, outer: Any, key: Any) -> None:
        """Thousands of keys."""
        prefix = self.noise.choice(self.pool.names)
        outer[key] = {f"{prefix}{n}": n for n in range(self.noise.choice((20, 300, 5_000)))}


_T = _Tree
_CHANGES = (
    *[_T.odd] * 6,
    *[_T.other] * 5,
    *[_T.drop] * 4,
    *[_T.rename] * 2,
    *[_T.add] * 3,
    *[_T.double] * 3,
    *[_T.wrap] * 3,
    *[_T.unwrap] * 2,
    *[_T.swap] * 2,
    *[_T.number] * 3,
    _T.deep,
    _T.keys,
)
