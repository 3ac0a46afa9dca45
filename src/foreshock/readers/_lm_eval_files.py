"""Which files of lm-evaluation-harness are results, which are samples, and which belong together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from foreshock._base import ForeshockError
from foreshock.readers import _lm_eval_header as facts
from foreshock.readers._files import HEAD, head, open_bytes, whole
from foreshock.readers._json import UTF8_BOM, check_encoding, fields
from foreshock.readers._lm_eval_results import Header
from foreshock.readers._protocol import Candidate

_SAMPLES = re.compile(rb'^\s*\[?\s*\{.*?"doc_id"\s*:', re.DOTALL)
_MAX_SNIFF = 32 * 2**20


class Samples(NamedTuple):
    """A file of samples and the task it belongs to."""

    path: Path
    task: str
    guessed: bool


def kind_of(candidate: Candidate) -> str | None:
    """``results``, ``samples`` or None, from the content alone."""
    head = candidate.head.removeprefix(UTF8_BOM)
    start = head.lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    if _SAMPLES.match(head[:4096]) and (_has_responses(head) or _has_responses(_first_record(candidate))):
        return "samples"
    if start == b"[" or (b'"results"' not in head and b'"config' not in head):
        return None
    return "results" if _is_results(candidate) else None


def _has_responses(data: bytes) -> bool:
    return b'"resps"' in data or b'"arguments"' in data or b'"filtered_resps"' in data


def _first_record(candidate: Candidate) -> bytes:
    """The first line, when it is longer than the head: documents of long-context tasks stand before the responses."""
    if len(candidate.head) < HEAD or b"\n" in candidate.head.lstrip():
        return b""
    with open_bytes(candidate.path) as stream:
        return stream.read(len(candidate.head)) + stream.readline(_MAX_SNIFF)


def _is_results(candidate: Candidate) -> bool:
    head = candidate.head
    if len(head) >= HEAD:
        if not re.match(rb'^\s*\{\s*"results"\s*:\s*\{\s*"[^"]+"\s*:\s*\{', head.removeprefix(UTF8_BOM)):
            return _has_parts(candidate)
        return b"_stderr" in head or b',none"' in head or _has_parts(candidate)
    return _has_parts(candidate)


def _has_parts(candidate: Candidate) -> bool:
    try:
        check_encoding(candidate.head, str(candidate.path))
        found = fields(whole(candidate.path, _MAX_SNIFF), str(candidate.path))
    except ForeshockError:
        # cut off or damaged: the harness writes the results first
        head = candidate.head.removeprefix(UTF8_BOM)
        return bool(re.match(rb'^\s*\{\s*"results"\s*:\s*\{', head)) and b"_stderr" in head
    return "results" in found and "config" in found and ("versions" in found or "configs" in found)


def task_in_name(path: Path) -> str:
    """Task in the name of a samples file: ``samples_{task}_{moment}.jsonl``; the task may hold underscores.

    Examples:
        >>> task_in_name(Path("samples_arc_easy_2024-07-01T00-00-00.000001.jsonl"))
        'arc_easy'
    """
    stem = facts.DATE_ID.sub("", path.stem)
    return stem.removeprefix("samples_") or path.stem


def match(samples: Path, results: Path, header: Header) -> Samples | None:
    moment = facts.date_id(samples)
    if moment != facts.date_id(results):
        return None
    named = task_in_name(samples)
    if named in header.results:
        return Samples(samples, named, False)
    tasks = {*(header.configs or {}), *header.results}
    ends = sorted((t for t in tasks if samples.stem.endswith(f"_{t}") or named == t), key=len)
    return Samples(samples, ends[-1], False) if ends else None


def unread(results: Path, task: str) -> str | None:
    """Why the samples that the harness wrote beside a results file were not among the files to read.

    None when there are none, or when they are sound: then nobody asked for them.
    """
    moment = facts.date_id(results)
    place = results.with_name(f"samples_{task.replace('/', '__')}_{moment}.jsonl")
    try:
        if moment is None or not place.is_file():
            return None
        begin = head(place)
    except OSError:  # the name of the task is longer than a file's can be
        return None
    except ForeshockError as error:
        return f"{place.name} {error.found}"
    return None if kind_of(Candidate(place, begin, ())) == "samples" else f"{place.name} does not hold samples"
