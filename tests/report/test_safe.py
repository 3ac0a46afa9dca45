"""Hostile text: what must never come through, and what must survive."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreshock.records import Document
from foreshock.report import json_text, render_html
from foreshock.report._safe import clean, encode, for_script, one_line

ANYTHING = st.text(st.characters(), max_size=60)
INVISIBLE = {"\u115f", "\u1160", "\u3164", "\uffa0"}  # letters by category, blank by design
VISIBLE_FORMAT = {chr(c) for c in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
NOTATION = {chr(c) for c in (*range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B))}


def unsafe(character: str) -> bool:
    """Written from Unicode's categories, not from the code's own list."""
    if character in "\n\t" or character in VISIBLE_FORMAT or character in NOTATION:
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} or character in INVISIBLE


@given(ANYTHING)
def test_nothing_unsafe_is_left(text: str) -> None:
    left = {c for c in clean(text) if unsafe(c)}
    assert left <= {"\u200c", "\u200d"}  # joiners may glue letters of other scripts
    assert not {c for c in clean("".join(c for c in text if c.isascii())) if unsafe(c)}


@given(ANYTHING)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert "\n" not in one_line(text)


def test_every_category_of_every_plane() -> None:
    bad = [chr(c) for c in range(0x110000) if unsafe(chr(c))]
    assert len(bad) > 2_000  # surrogates alone are 2,048
    assert not [hex(ord(c)) for c in bad if c in clean(f"a{c}b")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("क्\u200dष", "क्\u200dष"),
        ("gpt\u200d-4", "gpt\\u200d-4"),
        ("خ\u200d\u200dخ", "خ\\u200d\\u200dخ"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\x0db"),
        ("\ufeffx", "\\ufeffx"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_letters_keep_their_glue_and_names_do_not(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_what_is_cut_is_counted() -> None:
    assert clean("x" * 1_000_000, 10) == "x" * 10 + "… (999,990 more characters)"
    assert clean("x" * 10, 10) == "x" * 10


def test_lone_surrogates_do_not_stop_a_report() -> None:
    document = Document(
        foreshock="0",
        command=["\ud800"],
        generated_at="",
        counts={},
        tables={"failures": [{"path": "\udfff", "message": ""}]},
    )
    assert json.loads(json_text(document))["command"] == ["\\ud800"]
    render_html(document).encode()


@given(st.recursive(ANYTHING | st.floats() | st.none(), lambda v: st.lists(v, max_size=3)))
def test_json_in_a_script_element_is_the_same_json(value: object) -> None:
    document = Document(foreshock="0", command=[], generated_at="", counts={}, tables={"t": [{"v": value}]})
    written = encode(document)
    inside = for_script(written)
    assert not set("<>&\u2028\u2029") & set(inside)
    assert msgspec.json.decode(inside) == msgspec.json.decode(written)
