"""White space in the identity of items."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from foreshock.records import item_key

SPACES = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000"


@given(st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from(SPACES), min_size=1))
def test_text_is_folded_whatever_kind_of_space_it_has(text: str) -> None:
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    assert item_key("q", [text]) == item_key("q", [folded])
    assert item_key("q", [text]) == item_key("q", [f" {text}\u2003"])


def test_spaces_that_matter() -> None:
    assert item_key("a b") != item_key("ab")
    assert item_key("a", ["b", "c"]) != item_key("a", ["b c"])
