"""Which files make a HELM run, and their content."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError
from foreshock.readers._contain import reported
from foreshock.readers._files import source, whole
from foreshock.readers._json import UTF8_BOM, decode, fields, records
from foreshock.readers._plain import Json, mapping
from foreshock.readers._protocol import Candidate
from foreshock.records import Source

RUN_SPEC = "run_spec.json"
STATE = "scenario_state.json"
# the second is what old versions wrote for their front end; it is read where the first is absent
PER_INSTANCE = ("per_instance_stats.json", "per_instance_stats_slim.json")
STATS = "stats.json"
PARTS = frozenset({RUN_SPEC, STATE, *PER_INSTANCE, STATS, "scenario.json", "instances.json"})
"""What is read from the folder of a run."""

# members of which at least these are among the first 64 KiB of each file
_MARKS = {
    RUN_SPEC: (b'"scenario_spec"', b'"adapter_spec"'),
    STATE: (b'"adapter_spec"', b'"request_states"'),
    PER_INSTANCE[0]: (b'"instance_id"', b'"train_trial_index"', b'"stats"'),
    PER_INSTANCE[1]: (b'"instance_id"', b'"stats"'),
    STATS: (b'"name"', b'"count"', b'"sum_squared"'),
    "scenario.json": (b'"name"', b'"definition_path"'),
}
_ANY = msgspec.json.Decoder(Any)


class Parts(NamedTuple):
    """The files of one run; None is a file that is absent or could not be read.

    Attributes:
        folder: Where they lie.
        sources: The files that are there and could be read.
        run_spec, scenario: Objects, empty when absent.
        adapter: How items were turned into prompts, from the specification or the requests.
        states, per_instance, instances: Requests with their results, statistics and items, each still encoded.
        stats: Means over the run.
        failed: Files that could not be read.
    """

    folder: Path
    sources: list[Source]
    run_spec: Json
    scenario: Json
    adapter: Json
    states: list[msgspec.Raw] | None
    per_instance: list[msgspec.Raw] | None
    instances: list[msgspec.Raw] | None
    stats: list[Any] | None
    failed: dict[Path, ForeshockError]


class _State(NamedTuple):
    adapter: Json
    requests: list[msgspec.Raw] | None


def is_part(candidate: Candidate) -> bool:
    """Whether a file belongs to a HELM run: by its name and either its content or the specification beside it."""
    name, begin = candidate.path.name, candidate.head.removeprefix(UTF8_BOM).lstrip()
    if name not in PARTS or begin[:1] not in (b"{", b"["):
        return False
    marks = _MARKS.get(name)
    return (marks is not None and all(mark in begin for mark in marks)) or is_run(candidate.path.parent)


def is_run(folder: Path) -> bool:
    """Whether a folder holds the specification of a HELM run."""
    try:
        with (folder / RUN_SPEC).open("rb") as stream:
            begin = stream.read(2**16)
    except (OSError, ValueError):
        return False
    return all(mark in begin for mark in _MARKS[RUN_SPEC])


def passed_over(path: Path) -> bool:
    """Whether ``path`` was written into the folder of a run for HELM's front end, from what is read anyway."""
    return path.name.startswith("display_") and path.suffix == ".json" and is_run(path.parent)


def together(path: Path) -> bool:
    """Whether ``path`` is read together with other files of its folder."""
    # os.path.exists says no where Path raises: names that are too long
    return path.name in PARTS and any(
        os.path.exists(path.parent / name)  # noqa: PTH110
        for name in (RUN_SPEC, STATE)
    )


def load(folder: Path) -> Parts:
    """Read what is there of a run; what cannot be read is told in ``failed`` and the rest is kept."""
    sources: list[Source] = []
    failed: dict[Path, ForeshockError] = {}

    def read(name: str, kind: Any, missing: Any) -> Any:
        path = folder / name
        if not os.path.exists(path):  # noqa: PTH110
            return missing
        try:
            found = kind(whole(path), str(path))
            sources.append(source(path))
        except BaseException as error:  # noqa: BLE001 - one bad file is not the others
            failed[path] = reported(error, path)
            return missing
        return found

    run_spec = read(RUN_SPEC, _object, {})
    scenario = read("scenario.json", _object, {})
    state: _State = read(STATE, _state, _State({}, None))
    per_instance = read(PER_INSTANCE[0], records, None)
    slim = read(PER_INSTANCE[1], records, None)
    return Parts(
        folder=folder,
        run_spec=run_spec,
        scenario=scenario,
        adapter=mapping(run_spec.get("adapter_spec")) or state.adapter,
        states=state.requests,
        per_instance=slim if per_instance is None else per_instance,
        instances=read("instances.json", records, None),
        stats=read(STATS, _list, None),
        sources=sources,
        failed=failed,
    )


def _state(data: bytes, where: str) -> _State:
    found = fields(data, where)
    adapter = found.get("adapter_spec")
    requests = found.get("request_states")
    if requests is None:
        raise BrokenFileError("no request_states in it", expected="the requests of a HELM run", where=where)
    return _State(
        {} if adapter is None else mapping(decode(bytes(adapter), _ANY, where)), records(bytes(requests), where)
    )


def _object(data: bytes, where: str) -> Json:
    found = decode(data, _ANY, where)
    if not isinstance(found, dict):
        raise BrokenFileError("not a JSON object", expected="what helm-run writes", where=where)
    return found


def _list(data: bytes, where: str) -> list[Any]:
    found = decode(data, _ANY, where)
    if not isinstance(found, list):
        raise BrokenFileError("not a JSON array", expected="what helm-run writes", where=where)
    return found
