"""JSON, its schema, JUnit and Markdown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest

from foreshock import report
from foreshock._base import canonical, pretty
from foreshock.records import Document
from foreshock.report._rows import Tables

from ._fixture import HOSTILE, document
from ._small import SMALL, build

REFRESH = (
    'python -c "from pathlib import Path; from foreshock import report; from foreshock._base import pretty; '
    "Path('docs/schema/document.schema.json').write_text(pretty(report.schema()))\""
)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = report.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_the_code_s(repo_root: Path) -> None:
    published = (repo_root / "docs" / "schema" / "document.schema.json").read_text("utf-8")
    assert published == pretty(report.schema()), f"run: {REFRESH}"


@pytest.mark.parametrize("shown", [document(), build(SMALL)], ids=["fixture", "small"])
def test_documents_follow_the_schema(shown: Document, validator: jsonschema.Draft202012Validator) -> None:
    validator.validate(json.loads(report.json_text(shown)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("findings", 0, "state"), "fine"),
        (("findings", 0, "p"), "0.05"),
        (("counts", "expected"), 1.5),
        (("tables", "trust", 0, "lights", "delivered", "state"), "green"),
        (("tables", "series", 0, "points", 0, "value"), "high"),
        (("tables", "moved", 0, "item"), None),
        (("tables", "runs", 0, "warnings"), "one"),
        (("tables", "later"), [1]),
    ],
)
def test_the_schema_sees_a_fault(
    path: tuple[str | int, ...], value: object, validator: jsonschema.Draft202012Validator
) -> None:
    raw = json.loads(report.json_text(build(SMALL)))
    place = raw
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert list(validator.iter_errors(raw))


def test_every_field_is_documented(repo_root: Path) -> None:
    said = set(re.findall(r"`(\w+)`", (repo_root / "docs" / "json.md").read_text("utf-8")))
    fields = {name for rows in msgspec.structs.fields(Tables) for name in _fields(rows.type)}
    assert fields | set(Tables.__struct_fields__) <= said


def _fields(kind: object) -> set[str]:
    (row,) = kind.__args__  # type: ignore[attr-defined]
    return set(row.__struct_fields__)


def test_json_text_is_the_document() -> None:
    text = report.json_text(document())
    assert json.loads(text) == json.loads(canonical(document()))
    assert text == report.json_text(document())
    assert "NaN" not in text
    assert text.endswith("}\n")


def test_junit_fails_only_what_fires() -> None:
    suite = ET.fromstring(report.junit(document()))
    cases = list(suite)
    assert suite.attrib["tests"] == str(len(cases)) == "11"
    assert [suite.attrib[k] for k in ("failures", "errors", "skipped")] == ["2", "2", "5"]
    failing = {case.attrib["name"].split(" · ")[0] for case in cases if case.find("failure") is not None}
    assert failing == {"arithmetic_add_4digit", "lambada_openai"}
    assert any(HOSTILE["script"] in case.attrib["name"] for case in cases)


def test_markdown_shows_text_as_text() -> None:
    text = report.markdown(document())
    assert "■ break" in text
    assert "84% \\[71, 93\\] (95% interval), p = 0.0005" in text
    assert "<details><summary>2 lines: fewer than 4 ordered models</summary>" in text
    assert set(re.findall(r"<[^>]*>", text)) == {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"https?://|@someone|(?<!\\)`code", text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u200b]", text)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_a_command_cannot_close_its_block() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["opening"] = [{"kind": "needs", "text": "x", "do": "a --b ``` <script> ```` b"}]
    assert "`````\na --b ``` <script> ```` b\n`````" in report.markdown(build(raw))


@pytest.mark.parametrize("form", [report.json_text, report.junit, report.markdown, report.render_html])
def test_a_changed_number_shows(form: object) -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"][0]["effect"]["value"] = 0.377
    raw["findings"][0]["title"] += " by 0.377"
    assert form(build(raw)) != form(build(SMALL))  # type: ignore[operator]


def test_markdown_explains_the_words_it_uses() -> None:
    text = report.markdown(document())
    assert text.count("- twin: a continuous metric of the same responses") == 1
    assert "- window open" not in text
