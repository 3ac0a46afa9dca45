"""Samples of Every Eval Ever: which evaluations a file of them holds."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._contain import reported
from foreshock.readers._files import lines, open_bytes
from foreshock.readers._json import check_encoding, check_members, decode
from foreshock.readers._plain import Problems
from foreshock.readers._replies import text_of

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
        self.path, self.bad = path, Problems("line")
        # number, place and length of the lines of each: a file of thousands of evaluations is not read for each of them
        self._places: dict[Group, array[int]] = {}
        with open_bytes(path) as stream:
            check_encoding(stream.read(64), str(path))
        with open_bytes(path) as stream:
            for number, data in lines(stream, str(path)):
                try:
                    check_members(data, "")
                    group = _group(decode(data, _NAMES, ""))
                except BaseException as error:  # noqa: BLE001 - one bad line is not the others
                    self.bad.add(number, reported(error, path).found)
                    continue
                places = self._places.setdefault(group, array("q"))
                places.extend((number, stream.tell() - len(data), len(data)))
        self.groups = list(self._places)
        if not self.groups:
            raise BrokenFileError("no line is a sample", expected="samples of Every Eval Ever", where=str(path))

    def of(self, group: Group, bad: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and content of the lines of one evaluation; those with a fault in their other parts go to ``bad``."""
        places = self._places[group]
        with open_bytes(self.path) as stream:
            for number, place, length in zip(places[::3], places[1::3], places[2::3], strict=True):
                stream.seek(place)
                try:
                    line = decode(stream.read(length), _LINE, "")
                    _group(msgspec.convert(line, _Names))
                except BrokenFileError as error:
                    bad.add(number, error.found)
                    continue
                yield number, line


def _group(names: _Names) -> Group:
    if not isinstance(names.evaluation_name, str):
        raise BrokenFileError("it is no sample", expected="evaluation_name")
    task, _ = task_and_filter(names.evaluation_name, text_of(names.evaluation_result_id))
    return Group(text_of(names.model_id), task, text_of(names.evaluation_id))
