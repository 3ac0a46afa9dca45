"""JSON as it is found in logs."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreshock._base import BrokenFileError
from foreshock.readers import _json

ANY = msgspec.json.Decoder()


def test_tokens_that_are_no_json() -> None:
    data = b'{"a": NaN, "b": [Infinity, -Infinity, 1.5], "c": "x\\ud800y"}'
    found = _json.decode(data, ANY, "f")
    assert found == {"a": None, "b": [None, None, 1.5], "c": "x\ufffdy"}
    assert {k: json.loads(bytes(v)) for k, v in _json.fields(data, "f").items()} == found


def test_byte_order_marks() -> None:
    assert _json.decode(b"\xef\xbb\xbf[1]", ANY, "f") == [1]
    with pytest.raises(BrokenFileError, match=r"f: the file is UTF-16.*iconv -f UTF-16"):
        _json.check_encoding("[1]".encode("utf-16"), "f")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": \xe9}', "not valid JSON|not UTF-8"),
        (b'{"a": "\xe9"}', "byte 0xe9 at position 7 is not UTF-8"),
        (b'{"a": 1', "not valid JSON"),
        (b'{"a": 1,\n"b" 2}', "not valid JSON at line 2"),
        (b"[" * 50_000 + b"]" * 50_000, "nested too deeply"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
        (b"", "not valid JSON"),
        (b"[NaN, " + b"9" * 5000 + b"]", "not usable JSON"),
    ],
)
def test_broken_content_is_one_error(data: bytes, message: str) -> None:
    with pytest.raises(BrokenFileError, match=message):
        _json.decode(data, ANY, "f")


def test_wrong_type_is_named_with_its_place() -> None:
    with pytest.raises(BrokenFileError, match=r"Expected `int`, got `str` - at `\$\[1\]`"):
        _json.decode(b'[1, "x"]', msgspec.json.Decoder(list[int]), "f")


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" , ", " : ")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_repeated_keys(separators: tuple[str, str], ascii_only: bool) -> None:
    comma, colon = separators
    pairs = [("a", 1), ("é", "text: {"), ("c", [1, 2]), ("a", 2)]

    def render(some: list[tuple[str, object]]) -> bytes:
        encoded = [
            json.dumps(k, ensure_ascii=ascii_only) + colon + json.dumps(v, separators=separators) for k, v in some
        ]
        return ("{" + comma.join(encoded) + "}").encode()

    once, twice = render(pairs[:3]), render(pairs)
    assert _json.repeated_keys(once, _json.fields(once, "f")) == []
    assert _json.repeated_keys(twice, _json.fields(twice, "f")) == ["a"]


@given(
    st.lists(st.tuples(st.text(max_size=4), st.recursive(st.integers() | st.text(max_size=5), st.lists, max_leaves=4))),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,", ":  ")]),
)
def test_repeated_keys_are_never_overlooked(pairs: list[tuple[str, object]], separators: tuple[str, str]) -> None:
    comma, colon = separators
    data = "{" + comma.join(json.dumps(k) + colon + json.dumps(v, separators=separators) for k, v in pairs) + "}"
    keys = [k for k, _ in pairs]
    expected = sorted({k for k in keys if keys.count(k) > 1})
    assert _json.repeated_keys(data.encode(), _json.fields(data.encode(), "f")) == expected
