"""The content of a SWE-bench submission: what each file says, put together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import ForeshockError, count_of
from foreshock.readers._contain import reported
from foreshock.readers._files import lines, open_bytes, source, whole
from foreshock.readers._json import decode, text
from foreshock.readers._plain import Json, Problems, mapping, objects, words
from foreshock.readers._rows import item_name
from foreshock.readers._swe_bench_files import DETAILS, LOGS, METADATA, PREDICTIONS, REPORT, RESULTS, SUBMISSION
from foreshock.readers._swe_bench_report import RESOLVED, UNRESOLVED, Outcome, Report, details_of, report_of
from foreshock.records import Source

_ANY = msgspec.json.Decoder(Any)
_NAME = re.compile(r"^name:[ \t]*(\S.*?)\s*$", re.M)
_NOTHING = Report({}, {}, False, [])


class Loaded(NamedTuple):
    """Everything known of one evaluation.

    Attributes:
        report: Outcomes and counts.
        patches: What was handed in, by instance; where it stands in its file is looked up when it is needed.
        sources: Files read.
        name: The system as its metadata call it.
        found: Whether there is a report or anything in its place.
        inferred: Instances that are known to be unresolved only because other submissions name them.
        failed: Files that could not be read.
    """

    report: Report
    patches: dict[str, str]
    sources: list[Source]
    name: str | None
    found: bool
    inferred: int
    failed: dict[Path, ForeshockError]


class Loader:
    """Reads submissions; what the others beside one say is looked up once."""

    def __init__(self) -> None:
        self._universes: dict[Path, set[str]] = {}

    def submission(self, root: Path) -> Loaded:
        """A folder of SWE-bench/experiments."""
        sources: list[Source] = []
        failed: dict[Path, ForeshockError] = {}
        results = _read(root / RESULTS, sources, failed)
        details = details_of(mapping(_read(root / DETAILS, sources, failed)))
        for path in _reports(root / LOGS):
            details.update(details_of(mapping(_read(path, sources, failed))))
        patches, notes = _patches(root, sources, failed)
        report = _joined(report_of(mapping(results)), details, patches)
        known = results is not None or bool(details)
        report, inferred = self._completed(root, report) if known else (report, 0)
        if (root / METADATA).exists():
            sources.append(source(root / METADATA))
        report = report._replace(warnings=[*report.warnings, *notes])
        return Loaded(report, patches, sources, _name(root), known, inferred, failed)

    def logs(self, root: Path) -> Loaded:
        """The reports of single instances below one folder."""
        sources: list[Source] = []
        failed: dict[Path, ForeshockError] = {}
        details: dict[str, Outcome] = {}
        for path in _reports(root):
            details.update(details_of(mapping(_read(path, sources, failed))))
        return Loaded(_joined(_NOTHING, details, {}), {}, sources, None, bool(details), 0, failed)

    def report(self, path: Path) -> Loaded:
        """A report by itself."""
        found = report_of(mapping(decode(whole(path), _ANY, str(path))))
        return Loaded(found, {}, [source(path)], None, True, 0, {})

    def _completed(self, root: Path, report: Report) -> tuple[Report, int]:
        """Where only the resolved are listed, the instances that other submissions list are the unresolved ones."""
        if report.lists_unresolved:
            return report, 0
        rest = sorted(self._universe(root.parent) - report.outcomes.keys())
        if not rest:
            return report, 0
        outcomes = report.outcomes | dict.fromkeys(rest, Outcome(UNRESOLVED, more={"inferred": True}))
        return report._replace(outcomes=outcomes, lists_unresolved=True), len(rest)

    def _universe(self, folder: Path) -> set[str]:
        if folder not in self._universes:
            found: set[str] = set()
            for place in sorted(p for p in folder.iterdir() if SUBMISSION.fullmatch(p.name)):
                listed = _read(place / RESULTS, [], {})
                found |= report_of(mapping(listed)).outcomes.keys()
            self._universes[folder] = found
        return self._universes[folder]


def _read(path: Path, sources: list[Source], failed: dict[Path, ForeshockError]) -> Any:
    """The JSON in a file; None when there is none."""
    if not os.path.exists(path):  # noqa: PTH110
        return None
    try:
        found = decode(whole(path), _ANY, str(path))
        sources.append(source(path))
    except BaseException as error:  # noqa: BLE001 - one bad file is not the others
        failed[path] = reported(error, path)
        return None
    return found


def _reports(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for place in sorted(folder.iterdir()):
        if (place / REPORT).is_file():
            yield place / REPORT


def _patches(root: Path, sources: list[Source], failed: dict[Path, ForeshockError]) -> tuple[dict[str, str], list[str]]:
    """What was handed in, by instance; an empty patch is an empty text."""
    found: dict[str, str] = {}
    problems = Problems("prediction")
    for name in PREDICTIONS:
        path = root / name
        if not path.exists():
            continue
        try:
            for place, prediction in _predictions(path, problems):
                instance = words(prediction.get("instance_id"))
                if instance is None:
                    problems.add(place, "no instance_id")
                    continue
                patch = prediction.get("model_patch")
                found[item_name(text(instance))] = text(patch) if isinstance(patch, str) else ""
            sources.append(source(path))
        except BaseException as error:  # noqa: BLE001
            failed[path] = reported(error, path)
    return found, problems.sentences()


def _predictions(path: Path, problems: Problems) -> Iterator[tuple[int, Json]]:
    if path.suffix == ".json":
        given = decode(whole(path), _ANY, str(path))
        named = [{"instance_id": k, **mapping(v)} for k, v in given.items()] if isinstance(given, dict) else given
        yield from enumerate(objects(named), 1)
        return
    with open_bytes(path) as stream:
        for place, line in lines(stream, str(path)):
            try:
                yield place, mapping(decode(line, _ANY, ""))
            except ForeshockError as error:
                problems.add(place, error.found)


def _joined(report: Report, details: dict[str, Outcome], patches: dict[str, str]) -> Report:
    """Lists first, then what the reports of single instances add, then predictions of which nothing else is known."""
    outcomes, warnings, differ = dict(report.outcomes), list(report.warnings), 0
    for instance, detail in details.items():
        known = outcomes.get(instance)
        if known is None or known.state == "submitted":
            outcomes[instance] = detail
            continue
        differ += {known.state, detail.state} == {RESOLVED, UNRESOLVED}
        outcomes[instance] = Outcome(known.state, detail.tests, {**detail.more, **known.more})
    if differ:
        warnings.append(f"{count_of(differ, 'instance')} judged otherwise by a report of its own: the lists are kept")
    # every evaluated instance gets a report of its own: where the resolved have theirs, so have the unresolved
    resolved = {i for i, o in report.outcomes.items() if o.state == RESOLVED}
    listed = report.lists_unresolved or (bool(details) and resolved <= details.keys())
    # a list of what is resolved, empty or without logs leaves out the rest of what was handed in: it is unresolved
    rest = UNRESOLVED if report.outcomes and not report.lists_unresolved else "submitted"
    for instance, patch in patches.items():
        if instance not in outcomes:
            outcomes[instance] = Outcome(rest if patch.strip() else "empty_patch")
            listed = listed or rest == UNRESOLVED
    return Report(outcomes, report.counts, listed, warnings)


def _name(root: Path) -> str | None:
    """``name`` of the metadata, a line of YAML; the rest of it is not read."""
    try:
        found = _NAME.search((root / METADATA).read_bytes()[: 2**16].decode("utf-8", "replace"))
    except OSError:
        return None
    return text(found[1].strip("'\""))[:200] if found else None
