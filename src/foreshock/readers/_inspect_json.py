"""Typed parsing that a single odd field cannot stop.

The fast way is msgspec into the types of ``_inspect_types``. What it refuses (bare ``NaN``, a field of another type,
bytes that are not UTF-8, half a surrogate pair) is parsed again by :mod:`json` and converted field by field: what fits
is kept, what does not fit becomes null and is named.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._json import text

T = TypeVar("T")

MAX_SLOW = 128 * 2**20
"""Longest document that is parsed a second time; :mod:`json` takes ten times its size in memory."""

MAX_DEPTH = 200
"""Levels of a value without a type that are kept in a document that is parsed a second time."""

_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
_MISFIT = object()


class Typed(Generic[T]):
    """Decoder of one type.

    Args:
        kind: The type; a Struct all of whose fields have defaults, or a list of such.
        odd: Called with the path of each field whose value was left out because of its type.
    """

    def __init__(self, kind: type[T], odd: Callable[[str], None]) -> None:
        self._kind, self._odd = kind, odd
        self._fast: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)

    def decode(self, data: bytes | msgspec.Raw) -> T:
        """Parse ``data``.

        Raises:
            BrokenFileError: Not JSON, nested beyond the recursion limit, or not of this kind at all.
        """
        try:
            return self._fast.decode(data)
        except _REFUSED:
            return self._slow(bytes(data))

    def _slow(self, data: bytes) -> T:
        value = convert(parse(data, self._odd), self._kind, "", self._odd)
        if value is _MISFIT:
            raise BrokenFileError("the JSON is of another shape than the log format's")
        return cast(T, value)


def parse(data: bytes, odd: Callable[[str], None]) -> Any:
    """Parse JSON with NaN, infinities and broken text in it; the latter is repaired and reported to ``odd``.

    Raises:
        BrokenFileError: Not JSON, or beyond what can be parsed in bounded memory.
    """
    if len(data) > MAX_SLOW:
        raise BrokenFileError(f"not strict JSON, and with {len(data):,} bytes too large to repair")
    try:
        string = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        string = data.decode("utf-8-sig", "replace")
        odd("text that is not UTF-8 (repaired)")
    try:
        return json.loads(string)
    except RecursionError:
        raise BrokenFileError("nested too deeply to be a log") from None
    except json.JSONDecodeError as error:
        raise BrokenFileError(f"not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None
    except ValueError as error:  # an integer of thousands of digits
        raise BrokenFileError(f"not usable JSON ({error})") from None


def convert(value: Any, kind: Any, path: str, odd: Callable[[str], None]) -> Any:
    """``value`` as ``kind``, or ``_MISFIT``; parts that do not fit are left at their defaults.

    Raises:
        BrokenFileError: Nested beyond the recursion limit.
    """
    try:
        return _convert(value, kind, path, odd)
    except RecursionError:
        raise BrokenFileError("nested too deeply to be a log") from None


def _convert(value: Any, kind: Any, path: str, odd: Callable[[str], None]) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union(value, get_args(kind), path, odd)
    if origin is list:
        return _list(value, get_args(kind)[0], path, odd)
    if origin is dict:
        return _dict(value, get_args(kind)[1], path, odd)
    if kind in (Any, msgspec.Raw):
        return _untyped(value, kind)
    return _struct(value, kind, path, odd) if issubclass(kind, msgspec.Struct) else _scalar(value, kind)


def _struct(value: Any, kind: type[msgspec.Struct], path: str, odd: Callable[[str], None]) -> Any:
    if not isinstance(value, dict):
        return _MISFIT
    found = {}
    for name, wanted in _fields(kind).items():
        if name in value:
            place = f"{path}.{name}" if path else name
            part = _convert(value[name], wanted, place, odd)
            if part is not _MISFIT:
                found[name] = part
            elif value[name] is not None:
                odd(place)
    return kind(**found)


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(kind)


def _list(value: Any, kind: Any, path: str, odd: Callable[[str], None]) -> Any:
    if not isinstance(value, list):
        return _MISFIT
    found = [_convert(v, kind, path, odd) for v in value]
    kept = [v for v in found if v is not _MISFIT]
    if len(kept) < len(found):
        odd(path)
    return kept


def _dict(value: Any, kind: Any, path: str, odd: Callable[[str], None]) -> Any:
    if not isinstance(value, dict):
        return _MISFIT
    found = {text(k): _convert(v, kind, path, odd) for k, v in value.items()}
    kept = {k: v for k, v in found.items() if v is not _MISFIT}
    if len(kept) < len(found):
        odd(path)
    return kept


def _union(value: Any, kinds: tuple[Any, ...], path: str, odd: Callable[[str], None]) -> Any:
    if value is None and type(None) in kinds:
        return None
    # a text field must not swallow the list that another arm is for
    exact = [k for k in kinds if type(value) is (get_origin(k) or k)]
    for kind in (*exact, *(k for k in kinds if k is not type(None) and k not in exact)):
        found = _convert(value, kind, path, odd)
        if found is not _MISFIT:
            return found
    return _MISFIT


def _scalar(value: Any, kind: type) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        if kind is str and (number or isinstance(value, str)):
            return text(str(value))
        if kind is float and number:
            return float(value)
        if kind is int and number and value == int(value):
            return int(value)
    except (ValueError, OverflowError):  # NaN, infinity, an integer beyond every float
        return _MISFIT
    return value if kind is bool and isinstance(value, bool) else _MISFIT


def _untyped(value: Any, kind: Any) -> Any:
    try:
        cleaned = _clean(value, MAX_DEPTH)
    except RecursionError:
        return _MISFIT
    return cleaned if kind is Any else msgspec.Raw(msgspec.json.encode(cleaned))


def _clean(value: Any, depth: int) -> Any:
    """Text that UTF-8 can hold and integers that JSON encoders accept, at any depth; NaN stays."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_clean(v, _below(depth)) for v in value]
    if isinstance(value, dict):
        return {text(k): _clean(v, _below(depth)) for k, v in value.items()}
    return str(value) if isinstance(value, int) and not -(2**63) <= value < 2**63 else value


def _below(depth: int) -> int:
    if depth <= 0:
        raise RecursionError
    return depth - 1


def raw_text(raw: msgspec.Raw) -> str:
    """The JSON text of a field that was kept encoded; empty when it was absent."""
    return bytes(raw).decode("utf-8", "replace")


def present(raw: msgspec.Raw) -> bool:
    """Whether a field that was kept encoded is there and not null."""
    view = memoryview(raw)
    return view.nbytes > 4 or bytes(view) not in (b"", b"null")
