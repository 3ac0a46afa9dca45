"""The files of promptfoo: one document, or a result a line; and which results form a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from foreshock._base import BrokenFileError, ForeshockError, digest
from foreshock.readers._contain import reported
from foreshock.readers._files import lines, open_bytes, whole
from foreshock.readers._json import check_encoding, decode, fields, records
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._replies import listed, loaded, plain, text_of
from foreshock.records import item_key

_SUMMARY = re.compile(
    rb'"version"\s*:\s*\d\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"(?:prompts|results|stats|table)"\s*:'
)
_MARKS = tuple(
    f'"{name}"'.encode()
    for name in ("promptIdx", "testIdx", "testCase", "namedScores", "gradingResult", "failureReason", "latencyMs")
)
_ENOUGH = 3
_MAX_LABEL = 200
_UNSTABLE = frozenset({"sessionId"})
_RESULT = msgspec.json.Decoder(dict[str, Any])
# what promptfoo says about the evaluation as a whole, on either level of its document
_FACTS = ("timestamp", "createdAt", "prompts", "stats", "config", "metadata", "evalId", "id", "version", "table")


def looks_like_results(head: bytes) -> bool:
    """Whether a file begins like an evaluation: its summary, or the members that only its results have."""
    if not head.startswith(b"{"):
        return False
    return bool(_SUMMARY.search(head)) or sum(mark in head for mark in _MARKS) >= _ENOUGH


class Group(NamedTuple):
    """The results of one provider under one prompt.

    Attributes:
        provider: Id of the provider, such as ``openai:gpt-4o``.
        label: The user's name for it, when it has one of its own.
        prompt: Identity of the prompt: its hash, else its label.
        prompt_label: How the user calls the prompt.
        place: Place of provider and prompt in the evaluation's list.
    """

    provider: str
    label: str | None
    prompt: str
    prompt_label: str | None
    place: int | None

    @property
    def prompt_hash(self) -> str | None:
        """Identity of the prompt's template; None when nothing is known about it."""
        return digest(self.prompt, 16) if self.prompt else None


class Evaluation:
    """One file.

    Args:
        path: The file.

    Attributes:
        facts: What is said about the evaluation as a whole.
        noun: What the number of a result counts.

    Raises:
        BrokenFileError: It is no JSON, or holds no results.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.noun = path, "result"
        self.facts: dict[str, Any] = {}
        self._raw: list[msgspec.Raw] | None = None
        if _is_lines(path):
            self.noun = "line"
            return
        data = whole(path)
        check_encoding(data, str(path))
        top = fields(data, str(path))
        inner = top
        if bytes(top.get("results", b"")).lstrip().startswith(b"{"):
            inner = fields(bytes(top["results"]), f"{path}, results")
        if {"vars", "provider"} <= top.keys() and "results" not in top:  # a single line, without its line feed
            self.noun, self._raw = "line", [msgspec.Raw(data)]
            return
        for part in (top, inner):
            self.facts |= {k: loaded(part[k], f"{path}, {k}") for k in _FACTS if k in part}
        given = bytes(inner.get("results", b"")).lstrip()
        self._raw = records(given, f"{path}, results") if given.startswith(b"[") else []
        if not self._raw:
            self._raw = [msgspec.Raw(msgspec.json.encode(cell)) for cell in _cells(mapping(self.facts.get("table")))]

    @property
    def id(self) -> str | None:
        """Promptfoo's own id of the evaluation."""
        return text_of(self.facts.get("evalId")) or text_of(self.facts.get("id"))

    def results(self) -> Iterator[tuple[int, bytes]]:
        """Number and content of every result."""
        if self._raw is not None:
            yield from ((number, bytes(raw)) for number, raw in enumerate(self._raw, 1))
            return
        with open_bytes(self.path) as stream:
            yield from lines(stream, str(self.path))


def _is_lines(path: Path) -> bool:
    """Whether the first line is an object of its own and another follows."""
    with open_bytes(path) as stream:
        found = lines(stream, str(path))
        try:
            _, first = next(found)
            fields(first, "")
            return next(found, None) is not None
        except (ForeshockError, StopIteration):
            return False


def _cells(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Results of an old file that holds only the table to look at."""
    head = mapping(table.get("head"))
    prompts, names = [mapping(p) for p in listed(head.get("prompts"))], [str(v) for v in listed(head.get("vars"))]
    for test, row in enumerate(map(mapping, listed(table.get("body")))):
        variables = dict(zip(names, listed(row.get("vars")), strict=False))
        for place, cell in enumerate(map(mapping, listed(row.get("outputs")))):
            prompt = prompts[place] if place < len(prompts) else {}
            yield {
                **{k: v for k, v in cell.items() if k not in ("text", "pass", "prompt")},
                "promptIdx": place,
                "testIdx": test,
                "provider": cell.get("provider") or prompt.get("provider"),
                "prompt": {"raw": cell.get("prompt"), "label": prompt.get("label") or prompt.get("raw")},
                "vars": variables,
                "testCase": cell.get("testCase") or row.get("test"),
                "response": cell.get("response") or {"output": cell.get("text")},
                "success": cell.get("pass"),
            }


class Survey:
    """One pass over the results: which runs they form, and which tests have equal variables.

    Args:
        evaluation: The file.

    Attributes:
        groups: The runs, in the order in which they are met.
        assertions: Hashes of the assertions of each run's tests.
        judges: Providers that grade them.
        ties: For each run and item, the hashes of the assertions of the tests with these variables, in the order of
            the tests.
        bad: Results that cannot be read; it is not known which run they belong to.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self.groups: list[Group] = []
        self.assertions: dict[Group, set[str]] = {}
        self.judges: dict[Group, set[str]] = {}
        self.ties: dict[Group, dict[str, list[str]]] = {}
        self.bad = Problems(evaluation.noun)
        tests: dict[Group, dict[str, dict[str, float]]] = {}
        for number, data in evaluation.results():
            try:
                self._see(decode(data, _RESULT, ""), tests)
            except BaseException as error:  # noqa: BLE001 - one bad result is not the others
                self.bad.add(number, reported(error, evaluation.path).found)
        for group, items in tests.items():
            self.ties[group] = {key: sorted(found, key=lambda d: (found[d], d)) for key, found in items.items()}

    def of(self, group: Group) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and content of the results of one run."""
        for number, data in self._evaluation.results():
            try:
                result = decode(data, _RESULT, "")
            except BrokenFileError:
                continue  # counted by the first pass
            if is_result(result) and group_of(result) == group:
                yield number, result

    def _see(self, result: dict[str, Any], tests: dict[Group, dict[str, dict[str, float]]]) -> None:
        if not is_result(result):
            raise BrokenFileError("it is no result", expected="vars and provider")
        group = group_of(result)
        if group not in self.assertions:
            self.groups.append(group)
            self.assertions[group], self.judges[group], tests[group] = set(), set(), {}
        asserted, mark = assertions_of(result)
        if asserted:
            self.assertions[group].add(mark)
        self.judges[group].update(_judges(result, asserted))
        place = result.get("testIdx")
        found = tests[group].setdefault(variables_key(result)[1], {})
        found[mark] = min(found.get(mark, float("inf")), place if isinstance(place, int) else float("inf"))


def is_result(result: dict[str, Any]) -> bool:
    """Whether an object says what was asked, and of whom."""
    return ("vars" in result or "testCase" in result) and "provider" in result


def group_of(result: dict[str, Any]) -> Group:
    """The run of a result."""
    given = result.get("provider")
    provider = mapping(given).get("id") if isinstance(given, dict) else given
    label = text_of(mapping(given).get("label"))
    name = text_of(provider) or label or ""
    prompt = mapping(result.get("prompt"))
    shown = text_of(prompt.get("label")) or text_of(prompt.get("display"))
    index = result.get("promptIdx")
    return Group(
        provider=name,
        label=label if label != name else None,
        prompt=text_of(result.get("promptId")) or shown or "",
        prompt_label=shown[:_MAX_LABEL] if shown else None,
        place=index if isinstance(index, int) and not isinstance(index, bool) else None,
    )


def variables_key(result: dict[str, Any]) -> tuple[str, str]:
    """The variables of a test as a question, and the key made of it.

    A single variable stands as it is; several as JSON with sorted names. Variables that promptfoo makes up for every
    call are left out.
    """
    given = mapping(result.get("vars")) or mapping(mapping(result.get("testCase")).get("vars"))
    kept = {k: v for k, v in given.items() if not k.startswith("_") and k not in _UNSTABLE}
    shown = plain(next(iter(kept.values()))) if len(kept) == 1 else plain(kept)
    question = shown or "{}"
    return question, item_key(question) or digest(question)


def assertions_of(result: dict[str, Any]) -> tuple[list[Any], str]:
    """What a test asserts, and the hash of it."""
    asserted = listed(mapping(result.get("testCase")).get("assert"))
    return asserted, digest(asserted, 16)


def _judges(result: dict[str, Any], asserted: list[Any]) -> Iterator[str]:
    options = mapping(mapping(result.get("testCase")).get("options"))
    for given in (options.get("provider"), *(mapping(a).get("provider") for a in asserted)):
        name = text_of(given) or text_of(mapping(given).get("id"))
        if name:
            yield name
