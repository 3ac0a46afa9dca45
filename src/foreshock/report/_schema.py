"""The JSON Schema of the document, made from the types that the code itself uses."""

from __future__ import annotations

from typing import Any

import msgspec

from foreshock.records import Document
from foreshock.report._rows import Tables

_ID = "https://foreshock.readthedocs.io/schema/document.schema.json"


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of every ``--json`` output; ``docs/schema/document.schema.json`` holds this value.

    Tables and fields that are not named in it are allowed: they are only ever added.
    """
    (document, tables), components = msgspec.json.schema_components([Document, Tables], ref_template="#/$defs/{name}")
    named = components.pop("Tables")
    whole = components.pop("Document")
    assert document["$ref"].endswith("/Document")
    assert tables["$ref"].endswith("/Tables")
    rows = {"type": "array", "items": {"type": "object"}}
    whole["properties"]["tables"] = {
        "type": "object",
        "properties": {name: _without_default(table) for name, table in named["properties"].items()},
        "additionalProperties": rows,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID,
        **whole,
        "$defs": dict(sorted(components.items())),
    }


def _without_default(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != "default"}
