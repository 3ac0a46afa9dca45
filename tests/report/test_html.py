"""The page: safe, whole, small, and drawn from the document alone."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foreshock._base import ForeshockError, canonical
from foreshock.records import Document
from foreshock.report import _html, fragment, html, render_html
from foreshock.report._html import LEVELS, MAX_BYTES
from foreshock.report._safe import cut, one_line

from ._fixture import HOSTILE, document
from ._page import Page
from ._small import SMALL, build, changed, leaves

TEMPLATES = Path(__file__).resolve().parents[2] / "src" / "foreshock" / "report" / "templates"
# Not drawn, and why: the schema's number is about the JSON; a finding's id is in links; the others repeat the finding's
# subject or stand on its badge; a generator, suite or model is part of the place only where there is no task.
UNSEEN = {
    ("schema",),
    ("findings", 0, "state"),
    ("tables", "moved", 0, "task"),
    ("tables", "moved", 0, "family"),
    ("tables", "moved", 0, "finding_id"),
    ("tables", "verdicts", 0, "axis"),
    ("tables", "models", 0, "parsed"),
}
ATTRIBUTES = re.compile(r"(?:aria-[a-z]+|data-(?:key|kind)|[a-z][a-z0-9-]*)$", re.IGNORECASE)


@cache
def page() -> Page:
    return Page(render_html(document()))


def visible(text: str) -> str:
    """The page without its embedded JSON."""
    return re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)


def test_every_element_closes_and_no_attribute_comes_twice() -> None:
    assert page().faults == []
    assert page().open == []


def test_only_our_scripts() -> None:
    (data, _), (code, content) = page().scripts
    assert data == {"type": "application/json", "id": "foreshock-data"}
    assert code == {}
    assert content.strip() == (TEMPLATES / "page.js").read_text("utf-8").strip()


def test_nothing_is_injected() -> None:
    for tag, attributes in page().tags:
        assert tag not in {"iframe", "object", "embed", "base", "form", "img"}
        for name, value in attributes.items():
            assert ATTRIBUTES.match(name), (tag, name)
            assert not name.startswith("on"), (tag, name)
            assert name != "src"
            if name == "href":
                assert value == "data:," if tag == "link" else (value or "").startswith("#"), (tag, value)
            if name in {"style", "class", "id"}:
                assert re.fullmatch(r"[\w .:-]*", value or ""), (tag, name, value)


def test_hostile_text_is_there_as_text() -> None:
    for name, text in HOSTILE.items():
        assert one_line(text) in page().text, name


def test_nothing_invisible_or_reordering_is_left() -> None:
    bad = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]", page().text)
    assert bad == []


def test_even_a_forgotten_filter_is_safe() -> None:
    shown = _html._environment().from_string("{{ x }}|{{ y }}").render(x="<b>\x1b[31m\u202e", y=None)
    assert shown == "&lt;b&gt;\\x1b[31m\\u202e|–"


def test_the_page_asks_for_nothing() -> None:
    (policy,) = [a["content"] for t, a in page().tags if t == "meta" and a.get("http-equiv")]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    style = (TEMPLATES / "style.css").read_text("utf-8")
    assert not re.search(r"url\(|@import|https?:", style)


def test_links_lead_somewhere() -> None:
    ids = page().ids
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for t, a in page().tags if t == "a" and a["href"]}
    assert targets <= set(ids)
    assert {finding.id for finding in document().findings} <= set(ids)
    assert sum(1 for i in ids if re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]{8}", i)) == LEVELS[0].moved


def test_what_is_left_out_is_said() -> None:
    assert "Items that moved: 20 of 143 shown" in page().text
    assert f"({1_000_000 - 2_000:,} more characters)" in page().text


def test_the_embedded_document_has_every_number() -> None:
    data = page().data
    whole = msgspec.json.decode(canonical(document()))
    assert data.pop("embedded") == {"text_limit": 2000, "rows_in_full": {"moved": 143}}
    assert set(data) == set(whole)
    whole["tables"]["moved"] = whole["tables"]["moved"][: LEVELS[0].moved]
    assert list(leaves(data)) == list(leaves(whole))
    for path in leaves(whole):
        mine, theirs = _at(data, path), _at(whole, path)
        assert mine == (cut(theirs, 2000) if isinstance(theirs, str) else theirs), path


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def test_equal_documents_give_equal_bytes(tmp_path: Path) -> None:
    again = msgspec.json.decode(canonical(document()), type=Document)
    html(document(), tmp_path / "a.html")
    html(again, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize("path", [p for p in leaves(SMALL) if p not in UNSEEN], ids=lambda p: ".".join(map(str, p)))
def test_every_field_is_drawn(path: tuple[Any, ...]) -> None:
    assert visible(render_html(changed(path))) != visible(render_html(build(SMALL)))


def test_the_list_of_unseen_fields_is_true() -> None:
    for path in UNSEEN - {("tables", "moved", 0, "finding_id")}:
        assert visible(render_html(changed(path))) == visible(render_html(build(SMALL))), path


def test_an_empty_document_is_a_page() -> None:
    empty = Page(render_html(Document(foreshock="0", command=[], generated_at="", counts={})))
    assert empty.faults == []
    assert "Nothing to report" in empty.text
    assert "expected not known" in empty.text


def test_unresolved_findings_are_folded_by_reason() -> None:
    assert "2 lines: fewer than 4 ordered models" in page().text
    assert "3 of 8 lines of models can be judged: 1 break, 1 mirage, 1 smooth; 5 unresolved." in page().text
    order = [page().text.index(word) for word in ("You can", "Can the scores be trusted?", "What can be said")]
    assert order == sorted(order)
    assert page().text.index("What can be said") < page().text.index("What cannot be said yet")


def test_grey_is_never_green() -> None:
    for attributes in (a for t, a in page().tags if t == "li" and a.get("class") == "good"):
        assert attributes == {"class": "good"}
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["trust"][0]["lights"]["delivered"]["state"] = "no-data"
    grey = render_html(build(raw))
    assert re.search(r'<li class="none">.*?○.*?no data', grey, re.DOTALL)
    assert '<li class="good">' not in grey


def test_a_row_that_cannot_be_shown_is_named() -> None:
    broken = Document(foreshock="0", command=[], generated_at="", counts={}, tables={"moved": [{"item": "x"}]})
    with pytest.raises(ForeshockError, match="moved") as caught:
        render_html(broken)
    assert "docs/json.md" in str(caught.value)


def test_hostile_and_equal_ids_stay_links() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    twin = raw["findings"][0] | {"id": '"><script>'}
    raw["findings"] += [twin, raw["findings"][0], twin]
    found = Page(render_html(build(raw)))
    assert found.faults == []
    assert len(found.ids) == len(set(found.ids))


def large(tasks: int, models: int, runs: int) -> Document:
    """Many tasks, models and runs, with long outputs."""
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    base, tables = raw["findings"][0], raw["tables"]
    raw["findings"] = [base | {"id": f"id{i}", "subject": base["subject"] | {"task": f"t{i}"}} for i in range(tasks)]
    for name in ("verdicts", "trust"):
        tables[name] = [tables[name][0] | {"finding_id": f"id{i}", "task": f"t{i}"} for i in range(tasks)]
    series = tables["series"][0]
    series["points"] = [series["points"][0] | {"x": 10.0**j, "label": f"m{j}"} for j in range(models)]
    tables["series"] = [series | {"finding_id": f"id{i}", "role": r} for i in range(tasks) for r in ("hard", "twin")]
    long = "<&>\"'" * 40_000
    tables["moved"] = [
        tables["moved"][0] | {"finding_id": f"id{i}", "item": f"{k}", "from_output": long, "to_output": long}
        for i in range(0, tasks, 10)
        for k in range(30)
    ]
    tables["models"] = [tables["models"][0] | {"task": f"t{i}"} for i in range(tasks) for _ in range(models)]
    tables["runs"] = [tables["runs"][0] | {"run_key": f"{i:016x}"} for i in range(runs)]
    return build(raw)


def test_large_documents_stay_below_5_mb() -> None:
    text = render_html(large(200, 8, 3_000))
    assert 1_000_000 < len(text.encode()) <= MAX_BYTES < 5_000_000
    found = Page(text)
    assert found.faults == []
    shown = re.search(r"([\d,]+) of 3,000 runs shown; the JSON file has all of them", found.text)
    assert shown
    assert sum(1 for i in found.ids if re.fullmatch(r"id\d+", i)) == 200


def test_a_document_that_cannot_be_small_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_html, "MAX_BYTES", 10_000)
    with pytest.raises(ForeshockError, match="larger than 10,000 bytes"):
        render_html(build(SMALL))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_read(dark: bool) -> None:
    """WCAG AA: 4.5 for text, 3 for marks."""
    blocks = re.findall(r":root \{(.*?)\}", (TEMPLATES / "style.css").read_text("utf-8"), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[0] + (blocks[1] if dark else "")))
    for ink in ("ink", "soft", "link", "good", "warn", "bad", "none", "fs-soft"):
        for ground in ("paper", "raised", "faint"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for tone in ("good", "warn", "bad", "none"):
        assert contrast(colours[tone], colours[f"{tone}-bg"]) >= 4.5, tone
    for mark in ("fs-hard", "fs-twin"):
        assert contrast(colours[mark], colours["raised"]) >= 3


def test_the_fragment_is_small_and_escaped() -> None:
    text = fragment(document())
    found = Page(text)
    assert found.faults == []
    assert found.scripts == []
    assert len(text) < 20_000
    assert "arithmetic_add_4digit" in found.text


def test_the_page_explains_its_words() -> None:
    words = page().text[page().text.index(" Words ") :]
    for term in ("FS301", "twin", "share", "link gap", "emergence score", "window open", "light “headroom”"):
        assert term in words


def test_the_verdict_table_names_the_level() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"][0]["effect"]["level"] = 0.9
    for form in (render_html, fragment):
        assert "share of the rise that a break may carry [90% interval]" in Page(form(build(raw))).text


def test_only_commands_are_set_as_code() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["opening"] = [
        {"kind": "needs", "text": "x", "do": "Add one more size."},
        {"kind": "needs", "text": "y", "do": "lm_eval --log_samples"},
    ]
    shown = render_html(build(raw))
    assert '<code class="do">lm_eval --log_samples</code>' in shown
    assert '<span class="step">Add one more size.</span>' in shown
    assert 'class="can"' not in shown


def test_tasks_with_equal_lights_share_a_card() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["trust"] = [
        {
            "task": f"t{i}",
            "lights": {
                "delivered": {"state": "no-data", "text": "Only totals."},
                "headroom": {"state": "ok", "text": f"Room for {i + 1} steps."},
                "metric": {"state": "ok", "text": ("left", "right")[i % 2]},
            },
        }
        for i in range(12)
    ]
    text = Page(render_html(build(raw))).text
    assert "12 tasks: t0, t1, t10, …" in text
    assert "Room for 1–12 steps." in text
    assert "metric What it says differs from task to task." in text
    assert "12 tasks one by one" in text
    assert "Room for 7 steps." in text
