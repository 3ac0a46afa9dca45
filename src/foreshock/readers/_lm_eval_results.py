"""A results file of lm-evaluation-harness, parsed; parts of a wrong type are left out and named."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._files import whole
from foreshock.readers._json import UTF8_BOM, decode, tolerant

Json = dict[str, Any]


class Header(msgspec.Struct, frozen=True, kw_only=True, dict=True):  # dict: cached properties need one
    """The parts of a results file that are used, of any generation of the harness."""

    results: dict[str, dict[str, Any]]
    groups: dict[str, Any] | None = None
    group_subtasks: dict[str, list[str]] | None = None
    configs: dict[str, Json] | None = None
    versions: dict[str, Any] | None = None
    shots: dict[str, Any] | None = msgspec.field(default=None, name="n-shot")
    sizes: dict[str, Json] | None = msgspec.field(default=None, name="n-samples")
    higher_is_better: dict[str, Any] | None = None
    config: Json | None = None
    git_hash: str | None = None
    date: Any = None
    lm_eval_version: str | None = None
    transformers_version: str | None = None
    model_name: str | None = None
    model_source: str | None = None
    chat_template: Any = None
    chat_template_sha: str | None = None
    system_instruction: Any = None
    system_instruction_sha: str | None = None
    fewshot_as_multiturn: bool | None = None
    task_hashes: dict[str, Any] | None = None

    @cached_property  # asked for each task, and it looks at all of them
    def layout(self) -> str:
        """Generation of the layout: 0.3, 0.4.0 or 0.4.3 (model name and date in the file)."""
        if not any("," in key for metrics in self.results.values() for key in metrics):
            return "0.3"
        return "0.4.3" if self.model_name or self.sizes else "0.4.0"

    @property
    def writer(self) -> str | None:
        """Version of the harness, or the commit it was run from."""
        return self.lm_eval_version or (f"git {self.git_hash}" if self.git_hash else None)


_DECODER = msgspec.json.Decoder(Header)


def read_header(path: Path) -> tuple[Header, list[str]]:
    """Parse a results file.

    Returns:
        The header, and the names of parts that were left out because of their types. A task whose results are no
        object stays, without results.

    Raises:
        BrokenFileError: It is not JSON, or has no results.
    """
    data, odd = whole(path), list[str]()
    try:
        header = decode(data, _DECODER, str(path))
    except BrokenFileError as error:
        found = tolerant(data.removeprefix(UTF8_BOM), str(path))
        if not isinstance(found, dict) or not isinstance(found.get("results"), dict):
            raise error from None
        header = msgspec.convert(_fitted(found, odd), Header)
    if not header.results:
        raise BrokenFileError("the results are empty", expected="at least one task", where=str(path))
    return header, odd


def _fitted(found: Json, odd: list[str]) -> Json:
    """The members of a results file that have the types of ``Header``; of a mapping, the entries that have."""
    kinds, kept = get_type_hints(Header), Json()
    for member in msgspec.structs.fields(Header):
        name, kind = member.encode_name, kinds[member.name]
        if name not in found:
            continue
        value, inner = found[name], _entries(kind)
        if inner is not None and isinstance(value, dict):
            kept[name] = {k: v for k, v in value.items() if _fits(v, inner)}
            odd += [f"{name}.{k}" for k in value if k not in kept[name]]
            if name == "results":
                kept[name] = {k: kept[name].get(k, {}) for k in value}
        elif _fits(value, kind):
            kept[name] = value
        else:
            odd.append(name)
    return kept


def _entries(kind: Any) -> Any:
    """Type of the values of a mapping that may be absent; None for any other type."""
    arms = [arm for arm in get_args(kind) if arm is not NoneType] if get_origin(kind) is not dict else [kind]
    return get_args(arms[0])[1] if len(arms) == 1 and get_origin(arms[0]) is dict else None


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
