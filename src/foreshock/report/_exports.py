"""Small machine-read forms of a document: JSON, and JUnit for CI systems that show test results."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import msgspec

from foreshock.records import Document, State
from foreshock.report._safe import clean, encode, one_line
from foreshock.report._view import Shown, load


def json_text(document: Document) -> str:
    """The document as indented JSON with sorted keys; equal documents give equal text."""
    return msgspec.json.format(encode(document), indent=2).decode() + "\n"


def junit(document: Document) -> str:
    """The document as JUnit XML: a finding is a test case, and only ``firing`` fails.

    What cannot be said (no data, withheld, unresolved) is a skipped case; a file that could not be read is an error.
    """
    view = load(document)
    cases = [_case(shown) for shown in view.shown]
    for failure in view.tables.failures:
        case = ET.Element("testcase", classname="foreshock.read", name=one_line(failure.path))
        ET.SubElement(case, "error", message=one_line(failure.message)).text = clean(failure.message, 4_000)
        cases.append(case)
    suite = ET.Element(
        "testsuite",
        name="foreshock",
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(len(view.tables.failures)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        timestamp=one_line(view.document.generated_at),
    )
    suite.extend(cases)
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _case(shown: Shown) -> ET.Element:
    finding = shown.finding
    name = one_line(f"{shown.place} [{finding.id}]")
    case = ET.Element("testcase", classname=f"foreshock.{one_line(finding.code)}", name=name)
    said = clean(f"{finding.title}\n{finding.advice}", 4_000)
    if finding.state is State.FIRING:
        ET.SubElement(case, "failure", message=one_line(finding.title), type=one_line(shown.word)).text = said
    elif not shown.told:
        ET.SubElement(case, "skipped", message=one_line(shown.reason))
    else:
        ET.SubElement(case, "system-out").text = said
    return case
