"""Damage to delimited text, row by row and column by column."""

# ruff: noqa: ARG001 - every change of one kind takes the same arguments

from __future__ import annotations

import random

from _fuzz.odd import NAMES, NUMBERS, VALUES

_DELIMITERS = (",", ";", "\t", "|")


def mutate(data: bytes, noise: random.Random, words: list[str]) -> bytes:
    """The table with cells, rows or columns changed; quotes are not understood, which is part of the damage."""
    text = data.decode("utf-8", "surrogateescape")
    delimiter = max(_DELIMITERS, key=text.partition("\n")[0].count)
    rows = [line.split(delimiter) for line in text.split("\n")]
    for _ in range(noise.choice((1, 1, 2, 4))):
        noise.choice(_CHANGES)(rows, noise, words)
    if noise.random() < 0.05:
        delimiter = noise.choice(_DELIMITERS)
    return "\n".join(delimiter.join(row) for row in rows).encode("utf-8", "surrogateescape")


def _text(noise: random.Random, words: list[str]) -> str:
    value = noise.choice((*VALUES, *words[:50])) if noise.random() < 0.7 else noise.choice(NUMBERS).decode()
    text = "" if value is None else str(value)[:10_000]
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    return f'"{text}"' if noise.random() < 0.2 else text


def _cell(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    row = noise.choice(rows)
    row[noise.randrange(len(row))] = _text(noise, words)


def _column(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    at, how, value = noise.randrange(len(rows[0])), noise.random(), _text(noise, words)
    for row in rows[1:]:
        if at < len(row):
            others = ("", str(noise.random())[:6], f"{row[at]}%")
            row[at] = value if how < 0.4 else others[int(5 * (how - 0.4))]


def _header(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    at, how = noise.randrange(len(rows[0])), noise.random()
    name = noise.choice(NAMES + words).encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    rows[0][at] = name if how < 0.7 else noise.choice(rows[0])


def _twice(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    at = noise.randrange(len(rows))
    if noise.random() < 0.6:
        rows[at:at] = [list(rows[at])] * noise.choice((1, 1, 5, 200))
    else:
        column = noise.randrange(len(rows[0]))
        for row in rows:
            row.append(row[column] if column < len(row) else "")


def _less(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    if noise.random() < 0.5 and len(rows) > 1:
        del rows[noise.randrange(len(rows))]
        return
    column = noise.randrange(len(rows[0]))
    for row in rows if noise.random() < 0.7 else [noise.choice(rows)]:
        if column < len(row) and len(row) > 1:
            del row[column]


def _ragged(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    row = noise.choice(rows)
    row.extend([_text(noise, words)] * noise.choice((1, 1, 3, 500)))


def _quote(rows: list[list[str]], noise: random.Random, words: list[str]) -> None:
    row = noise.choice(rows)
    at = noise.randrange(len(row))
    row[at] = noise.choice(('"', '""', '"x" y', 'x"y', '"a\nb"', '"a,b"', "'a'", '"' + row[at], row[at] + '"'))


_CHANGES = (_cell, _cell, _cell, _column, _column, _header, _header, _twice, _less, _ragged, _quote)
