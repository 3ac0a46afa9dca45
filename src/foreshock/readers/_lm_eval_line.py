"""One line of lm-evaluation-harness samples, in any of the spellings of 0.4.0 to today."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError
from foreshock.readers._json import UTF8_BOM, check_members, tolerant

STANDARD = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "gold_token_logprobs"),
)
METRIC = "metric_"
"""Before the name of a metric, the attribute of a decoded line that holds it."""

MAX_METRICS = 500
LOG_OF_ZERO = -1e30
"""Stands for a log-likelihood of minus infinity, which a table does not hold; its exponential is zero all the same."""

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_decode = msgspec.json.decode


class _Request(msgspec.Struct):
    arg_0: msgspec.Raw = msgspec.Raw()
    arg_1: Any = None


# the prompt stays encoded: every request of a line repeats it, few-shot examples and all
_READ: tuple[tuple[str, Any, Any], ...] = (
    ("doc_id", Any, None),
    ("doc", msgspec.Raw, msgspec.Raw()),
    ("target", Any, None),
    ("arguments", dict[str, _Request] | list[list[msgspec.Raw]] | None, None),
    ("resps", msgspec.Raw, msgspec.Raw()),
    ("filtered_resps", msgspec.Raw, msgspec.Raw()),
    ("filter", str | None, None),
    ("metrics", list[str] | None, None),
    ("doc_hash", str | None, None),
    ("prompt_hash", str | None, None),
    ("gold_token_logprobs", list[Any] | None, None),
)


# a line whose type is wrong in one of these is read without it
_DISPENSABLE = ("arguments", "filter", "metrics", "doc_hash", "prompt_hash", "gold_token_logprobs")


class LineDecoder:
    """Decodes lines into objects with the attributes of ``_READ`` and one more for every metric of the task.

    The metrics stand among the members of a line under their own names, which are learnt from the lines: since 0.4.7
    each lists them; before, whatever is not a standard member is one. A typed decoder is then made for just these
    (50,000 lines of 9 kB: 0.5 CPU s, against 1.5 with a generic parse).
    """

    def __init__(self) -> None:
        self.metrics: tuple[str, ...] = ()
        self.values: Callable[[Any], Sequence[Any]] = tuple
        self._decoder: msgspec.json.Decoder[Any] | None = None
        self._named: list[str] | None = None
        self.odd: Counter[str] = Counter()

    def decode(self, data: bytes) -> Any:
        """One line.

        Raises:
            BrokenFileError: It is not a JSON object of the known shape.
        """
        check_members(data, "")
        try:
            return self._typed(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found, odd = self._repaired(data)
            self.odd.update(odd)
            return found

    def repaired(self, data: bytes) -> Any:
        """One line that strict JSON refuses (NaN, Infinity, half surrogate pairs), cleaned first.

        Raises:
            BrokenFileError: It is not a JSON object of the known shape even so.
        """
        return self._repaired(data)[0]

    def _repaired(self, data: bytes) -> tuple[Any, list[str]]:
        """A cleaned line, and the names of members that were left out because of their types.

        Raises:
            BrokenFileError: It is not a JSON object of the known shape even so.
        """
        repaired = tolerant(data.removeprefix(UTF8_BOM), "")
        if not isinstance(repaired, dict):
            raise BrokenFileError("not a JSON object")
        odd = [name for name, kind, _ in _READ if name in _DISPENSABLE and not _fits(repaired.get(name), kind)]
        for name in odd:
            del repaired[name]
        try:
            return self._typed(msgspec.json.encode(repaired)), odd
        except RecursionError:
            raise BrokenFileError("nested too deeply to be a log") from None
        except msgspec.ValidationError as error:
            raise BrokenFileError(f"unexpected content: {error}") from None

    def _typed(self, data: bytes) -> Any:
        if self._decoder is None:
            self._learn([])
        assert self._decoder is not None
        found = self._decoder.decode(data)
        named = found.metrics
        if named is None:
            named = [key for key in _FIELDS.decode(data) if key not in STANDARD]
        if named == self._named:
            return found
        known = len(self.metrics)
        self._learn(named)
        self._named = named
        return found if len(self.metrics) == known else self._decoder.decode(data)

    def _learn(self, named: Sequence[str]) -> None:
        new = [name for name in named if name not in self.metrics and name not in STANDARD]
        if len(new) > MAX_METRICS:
            raise _too_many()
        plain = [name for name in new if name.isprintable() and not {'"', "\\"} & {*name}]
        if len(plain) < len(new):
            self.odd["a metric whose name has quotes, backslashes or control characters"] += 1
        new = plain
        if not new and self._decoder is not None:
            return
        metrics = (*self.metrics, *dict.fromkeys(new))
        if len(metrics) > MAX_METRICS:
            raise _too_many()
        slots = {f"{METRIC}{name if name.isidentifier() else k}": name for k, name in enumerate(metrics)}
        members = [*_READ, *((slot, Any, msgspec.UNSET) for slot in slots)]
        self._decoder = msgspec.json.Decoder(msgspec.defstruct("Sample", members, rename=slots))
        getters = [attrgetter(slot) for slot in slots]
        self.values = lambda line: [get(line) for get in getters]
        self.metrics = metrics


def _too_many() -> BrokenFileError:
    return BrokenFileError(f"more than {MAX_METRICS} different members in the lines of one file")


def _fits(value: Any, kind: Any) -> bool:
    if value is None:
        return True
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


class Requests(NamedTuple):
    """The prompts (still encoded) and continuations of one line; a generation has its settings as continuation."""

    contexts: list[msgspec.Raw]
    continuations: list[Any]

    def context(self, index: int) -> str | None:
        """Prompt of one request as text."""
        raw = self.contexts[index] if index < len(self.contexts) else msgspec.Raw()
        found = _decode(raw) if memoryview(raw).nbytes else None
        return found if isinstance(found, str) else None

    def texts(self) -> list[str] | None:
        """Continuations of log-likelihood requests; None when one is not a text."""
        found = self.continuations
        return found if set(map(type, found)) == {str} else None


def requests(arguments: Any) -> Requests:
    """``arguments`` as a list of lists (0.4.0) or as ``{gen_args_0: {arg_0: ...}}`` (0.4.3)."""
    if isinstance(arguments, dict):
        found = arguments.values()
        return Requests([r.arg_0 for r in found], [r.arg_1 for r in found])
    pairs = arguments or []
    return Requests(
        [p[0] if p else msgspec.Raw() for p in pairs], [_decode(p[1]) if len(p) > 1 else None for p in pairs]
    )


# Numbers in 0.4.0, texts ("-3.37", "False") since 0.4.3: the lax mode reads both.
_LIKELIHOODS = msgspec.json.Decoder(list[list[tuple[float | None, bool]]], strict=False)


class Likelihoods(NamedTuple):
    """Log-likelihood and greediness of every request of a line."""

    values: list[float | None]
    greedy: list[bool]


def likelihoods(resps: msgspec.Raw) -> Likelihoods | None:
    """Log-likelihood responses, or None when these are something else. A value that is no number is None."""
    try:
        found = _LIKELIHOODS.decode(resps)
    except msgspec.DecodeError:
        return None
    if not found or not all(found):
        return None
    values = [r[0][0] for r in found]
    total = sum([v for v in values if v is not None])
    if total - total != 0:  # NaN or an infinity among them
        values = [as_float(v) for v in values]
    return Likelihoods(values, [r[0][1] for r in found])


def as_float(given: Any) -> float | None:
    """A finite number or the text of one; minus infinity becomes ``LOG_OF_ZERO``."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        found = float(given)
    except (ValueError, OverflowError):  # no number, an integer beyond every float
        return None
    if found == -math.inf:
        return LOG_OF_ZERO
    return found if math.isfinite(found) else None


def finite(given: Any) -> float | None:
    """A number (true and false are 1 and 0) that a column holds; None for anything else.

    Examples:
        >>> finite(True), finite(10**400), finite("1")
        (1.0, None, None)
    """
    try:
        found = float(given) if isinstance(given, int | float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def outputs(resps: Any) -> list[str]:
    """Generated texts, one per repeat; empty when nothing was delivered."""
    first = resps[0] if isinstance(resps, list) and resps else []
    repeats = first if isinstance(first, list) else [first]
    return [r if isinstance(r, str) else msgspec.json.encode(r).decode() for r in repeats]


def answers(filtered: Any, texts: list[str]) -> list[str | None]:
    """Answer of each repeat after the filter.

    A filter that keeps one of several repeats, or votes, gives one answer; it stands with the first repeat. Only a
    filter that visibly changed nothing says something about the others.

    Examples:
        >>> answers(["4"], ["The answer is 4"]), answers(["[invalid]"], ["No idea"]), answers(["a"], ["a", "b"])
        (['4'], [None], ['a', 'b'])
    """
    first = filtered[0] if isinstance(filtered, list) and filtered else None
    if isinstance(first, list) and len(first) == len(texts):
        return [_answer(f) for f in first]
    if first == texts[0]:
        return list(texts)
    if isinstance(first, list):
        first = first[0] if len(first) == 1 else None
    return [_answer(first), *(None for _ in texts[1:])]


def _answer(given: Any) -> str | None:
    if given is None or given == "[invalid]" or isinstance(given, list | dict):
        return None
    return given if isinstance(given, str) else str(given)
