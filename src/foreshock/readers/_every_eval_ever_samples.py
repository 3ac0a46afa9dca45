"""Samples of Every Eval Ever: which evaluations a file of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._contain import reported
from foreshock.readers._files import lines, open_bytes
from foreshock.readers._json import check_encoding, decode
from foreshock.readers._replies import Bad, text_of

_LINE = msgspec.json.Decoder(dict[str, Any])
_MARKS = (b'"schema_version"', b'"evaluation_id"', b'"sample_id"', b'"interaction_type"')


def is_samples(head: bytes) -> bool:
    """Whether a file begins with a sample."""
    first = head.partition(b"\n")[0]
    return first.startswith(b"{") and all(mark in first for mark in _MARKS)


class _Names(msgspec.Struct):
    """What tells which evaluation a line belongs to."""

    evaluation_id: Any = None
    model_id: Any = None
    evaluation_name: Any = None
    evaluation_result_id: Any = None


_NAMES = msgspec.json.Decoder(_Names)


class Group(NamedTuple):
    """The samples of one model in one evaluation."""

    model: str | None
    task: str
    evaluation: str | None


def task_and_filter(name: str, result_id: str | None) -> tuple[str, str | None]:
    """Task and answer filter of an evaluation.

    The converter of lm-evaluation-harness appends the filter to both names; only where they agree is it taken off.

    Examples:
        >>> task_and_filter("gsm8k/strict-match", "exact_match:strict-match")
        ('gsm8k', 'strict-match')
        >>> task_and_filter("mmlu/law", "acc")
        ('mmlu/law', None)
    """
    task, slash, last = name.rpartition("/")
    if slash and task and result_id is not None and result_id.endswith(f":{last}"):
        return task, last
    return name, None


class SampleFile:
    """One file of samples.

    Args:
        path: The file.

    Attributes:
        groups: The evaluations in it, in the order in which they are met.
        bad: Lines that cannot be read; it is not known which evaluation they belong to.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.bad = path, Bad("line")
        found: dict[Group, None] = {}
        with open_bytes(path) as stream:
            check_encoding(stream.read(64), str(path))
        for number, data in self._lines():
            try:
                found[_group(decode(data, _NAMES, ""))] = None
            except BaseException as error:  # noqa: BLE001 - one bad line is not the others
                self.bad.add(number, reported(error, path).found)
        self.groups = list(found)
        if not self.groups:
            raise BrokenFileError("no line is a sample", expected="samples of Every Eval Ever", where=str(path))

    def of(self, group: Group) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and content of the lines of one evaluation."""
        for number, data in self._lines():
            try:
                if len(self.groups) > 1 and _group(decode(data, _NAMES, "")) != group:
                    continue
                line = decode(data, _LINE, "")
                _group(msgspec.convert(line, _Names))
            except BrokenFileError:
                continue  # counted by the first pass
            yield number, line

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with open_bytes(self.path) as stream:
            yield from lines(stream, str(self.path))


def _group(names: _Names) -> Group:
    if not isinstance(names.evaluation_name, str):
        raise BrokenFileError("it is no sample", expected="evaluation_name")
    task, _ = task_and_filter(names.evaluation_name, text_of(names.evaluation_result_id))
    return Group(text_of(names.model_id), task, text_of(names.evaluation_id))
