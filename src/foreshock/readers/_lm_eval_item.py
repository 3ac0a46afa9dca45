"""The item behind a line of lm-evaluation-harness samples: question, choices, subset.

``doc`` is the raw record of the data set, different for every task; the fields tried are listed here and in
``docs/readers/lm_eval.md``. The prompt itself holds few-shot examples and the template, so it stands for the question
only when there were no examples.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from foreshock._base import digest
from foreshock.records import item_key

QUESTION_FIELDS = (
    *("question", "problem", "query", "input", "prompt", "goal", "question_stem", "sentence", "ctx", "instruction"),
    *("hypothesis", "text"),
)
CONTEXT_FIELDS = ("passage", "context", "article", "story", "premise", "support", "paragraph", "background")
CHOICE_FIELDS = ("choices", "options", "candidates", "endings")
SUBSET_FIELDS = ("subject", "category", "subset", "type", "topic", "domain")

_ROLES = {"question": QUESTION_FIELDS, "context": CONTEXT_FIELDS, "choices": CHOICE_FIELDS, "subset": SUBSET_FIELDS}
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_decode = msgspec.json.decode


class Doc(NamedTuple):
    """What a document says about its item."""

    question: str | None
    choices: Any
    subset: str | None


class Item(NamedTuple):
    """What is known about one item; see the columns of the items table."""

    key: str | None
    question: str | None
    choices: list[str] | None
    targets: list[str] | None
    gold: int | None
    subset: str | None


NOTHING = Doc(None, None, None)


class DocDecoder:
    """Finds the telling fields of a task's documents; a typed decoder for them is made from the first document."""

    def __init__(self) -> None:
        self._decoder: msgspec.json.Decoder[Any] | None = None

    def decode(self, raw: msgspec.Raw) -> Doc:
        """The known fields of one document; nothing when it is not an object.

        Raises:
            msgspec.DecodeError: A text in it is not UTF-8 or holds half a surrogate pair.
        """
        if not memoryview(raw).nbytes:
            return NOTHING
        try:
            if self._decoder is None:
                self._learn(raw)
            assert self._decoder is not None
            found = self._decoder.decode(raw)
            if found.question is None:
                self._learn(raw)  # documents of one task may differ in shape
                found = self._decoder.decode(raw)
        except msgspec.ValidationError:
            return NOTHING
        asked, about = _text(found.question), _text(found.context)
        return Doc(f"{about}\n\n{asked}" if about and asked else asked, found.choices, _text(found.subset))

    def _learn(self, raw: msgspec.Raw) -> None:
        lower = {key.lower(): key for key in reversed(_FIELDS.decode(raw))}
        names = {role: next((lower[n] for n in known if n in lower), None) for role, known in _ROLES.items()}
        # a role without a field gets a name that no document has
        rename = {role: name if name is not None else f"~{role}~" for role, name in names.items()}
        members: list[tuple[str, Any, Any]] = [(role, Any, None) for role in _ROLES]
        self._decoder = msgspec.json.Decoder(msgspec.defstruct("Doc", members, rename=rename))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and not value.isspace() and value else None


def listed_choices(found: Any, count: int) -> list[str] | None:
    """Texts of a document's options when there are ``count`` of them: a list, or ``{"text": [...]}``."""
    if isinstance(found, dict):
        found = found.get("text")
    if isinstance(found, list) and len(found) == count and set(map(type, found)) == {str}:
        return found
    return None


def gold_index(target: Any, choices: Sequence[str], continuations: Sequence[str]) -> int | list[int] | None:
    """Index of the right choice from a logged target: an index, the text of a choice, or a list of either.

    The harness turns a target of digits into an index whenever the task lists choices, and logs ``str(target)``.

    Examples:
        >>> gold_index("2", ["a", "b", "c"], []), gold_index("b", ["a", "b"], []), gold_index("[0, 2]", list("abc"), [])
        (2, 1, [0, 2])
    """
    if isinstance(target, str):
        text = target.strip()
        if text.isdecimal():
            target = int(text) if len(text) < 6 else None
        elif text.startswith("[") and text.endswith("]") and text not in choices:
            target = literal_list(text)
        else:
            return _index_of(text, choices, continuations)
    if isinstance(target, int):
        return int(target) if 0 <= target < len(choices) else None
    if isinstance(target, list):
        found = [gold_index(t, choices, continuations) for t in target]
        kept = [f for f in found if isinstance(f, int)]
        return kept[0] if len(kept) == 1 else (kept or None)
    return None


def _index_of(text: str, choices: Sequence[str], continuations: Sequence[str]) -> int | None:
    for texts in (choices, continuations):
        hits = [i for i, c in enumerate(texts) if c.strip() == text]
        if len(hits) == 1:
            return hits[0]
    return None


def literal_list(text: str) -> list[Any] | None:
    """A Python list from its ``str()``, or None."""
    if len(text) > 100_000:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # {[]} is a TypeError
        return None
    return value if isinstance(value, list) else None


def text_targets(target: Any, doc: msgspec.Raw) -> list[str] | None:
    """Accepted answers of a generation task.

    A list of answers is logged as its ``str()``; it is read as a list only when the document holds that same list, for
    an answer may itself look like one.
    """
    if target is None:
        return None
    if isinstance(target, list):
        return [t if isinstance(t, str) else str(t) for t in target]
    if isinstance(target, str) and target.startswith("[") and target.endswith("]"):
        listed = literal_list(target)
        if listed and all(isinstance(t, str) for t in listed) and _holds(doc, listed):
            return listed
    return [target if isinstance(target, str) else str(target)]


def _holds(doc: msgspec.Raw, listed: list[Any]) -> bool:
    try:
        values = _decode(doc, type=dict[str, Any]).values()
    except msgspec.DecodeError:
        return False
    return any(v == listed or (isinstance(v, dict) and listed in v.values()) for v in values)


def document_key(doc_hash: str | None, doc: msgspec.Raw) -> str | None:
    """Identity of an item whose question is not known, from the whole document: logged as a hash, or hashed here.

    It matches the item in other logs of this harness, which number documents differently under ``--samples``.
    """
    if doc_hash is None:
        if not memoryview(doc).nbytes:
            return None
        doc_hash = digest(_decode(doc))
    return item_key(f"lm-eval document {doc_hash}")
