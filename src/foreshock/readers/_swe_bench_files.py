"""Which files make a SWE-bench submission or one evaluation, and where they lie."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from foreshock.readers._json import UTF8_BOM
from foreshock.readers._protocol import Candidate

RESULTS = Path("results", "results.json")
PREDICTIONS = ("all_preds.jsonl", "preds.json")
DETAILS = "per_instance_details.json"
METADATA = "metadata.yaml"
REPORT = "report.json"
LOGS = "logs"
# the folder of a submission to SWE-bench/experiments: date, then submitter and model
SUBMISSION = re.compile(r"(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])_(.+)", re.DOTALL)
_HEIGHT = 7
_LISTED = 1_000
_KEYS = (
    *(b'"resolved_ids"', b'"unresolved_ids"', b'"empty_patch_ids"', b'"error_ids"', b'"completed_ids"'),
    *(b'"incomplete_ids"', b'"submitted_ids"', b'"no_generation"', b'"no_logs"', b'"with_logs"'),
    b'"submitted_instances"',
    *(b'"resolved_instances"', b'"total_instances"'),
)
_ONE = (b'"resolved"', b'"patch_')


class Place(NamedTuple):
    """What a file belongs to: the folder of a submission, that of an evaluation's logs, or a report by itself."""

    kind: str
    root: Path


def place_of(candidate: Candidate) -> Place | None:
    """Where a file belongs that is read; None for any other."""
    path, begin = candidate.path, candidate.head.removeprefix(UTF8_BOM).lstrip()
    root = submission_of(path)
    if root is not None:
        return Place("submission", root) if _is_read(path, root) else None
    if begin[:1] != b"{":
        return None
    if path.name == REPORT and all(mark in begin for mark in _ONE):
        return Place("logs", path.parent.parent)
    return Place("report", path) if sum(key in begin for key in _KEYS) > 1 else None


def submission_of(path: Path) -> Path | None:
    """The folder of the submission that a file lies in."""
    for place in list(path.absolute().parents)[:_HEIGHT]:
        if SUBMISSION.fullmatch(place.name) and _is_submission(place):
            return place
    return None


def passed_over(path: Path) -> bool:
    """Whether a file lies in a submission and is nothing that is read: trajectories, statistics, output of tests."""
    root = submission_of(path)
    return root is not None and not _is_read(path, root)


def left_unread(root: Path) -> list[str]:
    """Names directly in the folder of a submission, and in its results, of which nothing is read; folders end in /.

    A folder of which single files are read (logs) is not named, and of more than :data:`_LISTED` names none beyond.
    """
    found: list[str] = []
    for folder in (root, root / RESULTS.parent):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in islice(entries, _LISTED):
                inside = Path(entry.path)
                parts = entry.name in (RESULTS.parent.name, LOGS) and folder == root
                if not (parts or entry.name.startswith(".") or _is_read(inside, root)):
                    found.append(entry.name + ("/" if entry.is_dir(follow_symlinks=False) else ""))
    return sorted(found)


def together(path: Path) -> Path | None:
    """The submission whose files are read together with ``path``."""
    root = submission_of(path)
    return root if root is not None and _is_read(path, root) else None


def _is_submission(folder: Path) -> bool:
    # os.path says no where Path raises: names that are too long
    return any(os.path.exists(folder / name) for name in (METADATA, *PREDICTIONS, RESULTS))  # noqa: PTH110


def _is_read(path: Path, root: Path) -> bool:
    inside = path.absolute().relative_to(root)
    if inside in (RESULTS, Path(DETAILS), Path(METADATA), *map(Path, PREDICTIONS)):
        return True
    return len(inside.parts) == 3 and inside.parts[0] == LOGS and inside.name == REPORT
