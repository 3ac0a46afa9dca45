"""What went wrong or looks odd inside one log, counted, each kind said once with where it was first seen."""

from __future__ import annotations

from foreshock.readers._zip import shown

_SENTENCES = {
    "header": "{n} part(s) of the log's header are damaged: {first}",
    "bad": "{n} sample(s) cannot be read and are listed as missing: {first}",
    "odd": "{n} field(s) had an unexpected type or broken text and were left out or repaired: {first}",
    "unnamed": "{n} sample(s) have no usable id and go by their place in the log: {first}",
    "repeated": "{n} member(s) of the archive are replaced by a later one of the same name: {first}",
    "chunk": "{n} piece(s) of chunked samples cannot be read, so that messages or steps are lost: {first}",
    "twin": "{n} sample(s) repeat an id and epoch of this run (all rows are kept): {first}",
    "invalid": "{n} sample(s) were declared invalid after the run; they count as cancelled and are not scored: {first}",
    "choices": "{n} sample(s) hold several completions, of which the first was read: {first}",
    "partial": "{n} score(s) are partial credit (P), counted as 0.5: {first}",
    "unscored": "{n} score(s) are not a number and count as failed: {first}",
    "long": "{n} sample(s) have more steps than are kept in the trace: {first}",
    "metric": "{n} aggregate(s) are not a finite number: {first}",
}
_SHOWN = 3


class Tally:
    """Counts by kind of note, with the first few places of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[str]] = {}

    def add(self, kind: str, where: str) -> None:
        """Count one more of ``kind``, seen at ``where``."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < _SHOWN and where not in first:
            first.append(where)

    def count(self, kind: str) -> int:
        """How many of ``kind`` there were."""
        return self._counts.get(kind, 0)

    def sentences(self) -> list[str]:
        """One sentence for each kind that occurred, and start again from zero."""
        out = []
        for kind, form in _SENTENCES.items():
            if n := self._counts.get(kind):
                more = ", …" if n > len(self._first[kind]) else ""
                out.append(form.format(n=n, first=", ".join(shown(w) for w in self._first[kind]) + more))
        self._counts, self._first = {}, {}
        return out
