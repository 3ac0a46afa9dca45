"""Results of promptfoo turned into items, responses and scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from foreshock._base import BrokenFileError, digest
from foreshock.readers._lm_eval_line import finite
from foreshock.readers._plain import Problems, mapping
from foreshock.readers._promptfoo_file import assertions_of, variables_key
from foreshock.readers._replies import Asked, Marked, Reply, ReplyRows, listed, plain, text_of, whole_number
from foreshock.records import Delivery, ScoreStatus, item_key

ERROR = 2
"""``failureReason`` of a test that ended in an error; an assertion that fails also writes ``error``, with 1."""
_TIMED_OUT = re.compile(r"(?:evaluation|request|test case) timed out", re.I)
_FINISHED = {"length": Delivery.TRUNCATED, "max_tokens": Delivery.TRUNCATED, "content_filter": Delivery.BLOCKED}


class ResultRows(ReplyRows):
    """Builds the batches of one provider under one prompt.

    Args:
        bad: Takes results that turn out to be broken.
        ties: Hashes of the assertions of the tests with the same variables, by item.
    """

    def __init__(self, bad: Problems, ties: Mapping[str, Sequence[str]]) -> None:
        super().__init__(bad)
        self._ties = ties
        self._times: Counter[str] = Counter()

    def take(self, result: dict[str, Any]) -> int:
        """Add one result; returns the size of its texts."""
        name, item = self._item(result)
        self._times[name] += 1
        response = mapping(result.get("response"))
        output = plain(response.get("output"))
        delivery = delivery_of(result, response)
        usage = mapping(response.get("tokenUsage")) or mapping(result.get("tokenUsage"))
        millis = finite(result.get("latencyMs"))
        prompt = text_of(mapping(result.get("prompt")).get("raw"))
        reply = Reply(
            epoch=self._times[name],
            prompt_hash=digest(prompt, 16) if prompt else None,
            delivery=delivery,
            output=output,
            reasoning=text_of(response.get("reasoning")),
            input_tokens=whole_number(usage.get("prompt")),
            output_tokens=whole_number(usage.get("completion")),
            reasoning_tokens=whole_number(mapping(usage.get("completionDetails")).get("reasoning")),
            total_tokens=whole_number(usage.get("total")),
            seconds=None if millis is None else millis / 1000,
            meta=_meta(result, response, delivery),
        )
        number = self.reply(self.ask(name, item), item, reply)
        # of a test that broke off, 0 is no score
        if delivery.arrived or delivery in (Delivery.REFUSED, Delivery.BLOCKED):
            self.mark(number, marks_of(result))
        return len(output or "") + len(item.question or "")

    def _item(self, result: dict[str, Any]) -> tuple[str, Asked]:
        question, key = variables_key(result)
        asserted, mark = assertions_of(result)
        tie = self._ties[key].index(mark)
        name = key[:16]
        if tie:
            # other tests with these variables assert something else: another item, numbered in the order of the tests
            name, key = f"{name}#{tie + 1}", item_key(f"{question}\n\ntest {tie + 1} with these variables") or key
        return name, Asked(key, question, None, _targets(asserted) or None, None, _subset(result))


def delivery_of(result: dict[str, Any], response: dict[str, Any]) -> Delivery:
    """Whether and how a response arrived.

    ``error`` alone says nothing: an assertion that fails writes its reason there, too.
    """
    output, error = response.get("output"), text_of(result.get("error")) or text_of(response.get("error"))
    reason = result.get("failureReason")
    if reason == ERROR or (reason not in (0, 1) and error and output is None):
        return Delivery.TIMEOUT if error and _TIMED_OUT.match(error) else Delivery.ERROR
    if response.get("isRefusal") is True:
        return Delivery.REFUSED
    if output is None:
        return Delivery.MISSING
    return _FINISHED.get(str(response.get("finishReason")), Delivery.OK)


def marks_of(result: dict[str, Any]) -> list[Marked]:
    """The total score, the verdict, the named scores, and each assertion that has no name of its own."""
    grading = mapping(result.get("gradingResult"))
    found = [Marked("score", finite(result["score"]))] if "score" in result else []
    verdict = result.get("success")
    if isinstance(verdict, bool):
        found.append(Marked("success", float(verdict)))
    named = {**mapping(grading.get("namedScores")), **mapping(result.get("namedScores"))}
    found += [Marked(f"named:{name}", finite(value)) for name, value in named.items()]
    times: Counter[str] = Counter()
    for part in map(mapping, listed(grading.get("componentResults"))):
        assertion = mapping(part.get("assertion"))
        kind = text_of(assertion.get("type")) or "assertion"
        times[kind] += 1
        if text_of(assertion.get("metric")) in named:
            continue
        name = f"assert:{kind}" if times[kind] == 1 else f"assert:{kind} #{times[kind]}"
        found.append(_component(name, part))
    return found


def _component(name: str, part: dict[str, Any]) -> Marked:
    passed = {True: "pass", False: "fail"}.get(part["pass"]) if isinstance(part.get("pass"), bool) else None
    # the grader itself failed: its 0 is no score
    if mapping(part.get("metadata")).get("graderError") is True:
        return Marked(name, None, text_of(part.get("reason")) or passed, ScoreStatus.FAILED)
    return Marked(name, finite(part.get("score")), passed)


def _targets(asserted: list[Any]) -> list[str]:
    """Texts that the output must equal; templates are not filled in here."""
    values = (a.get("value") for a in map(mapping, asserted) if a.get("type") == "equals")
    return [v for v in values if isinstance(v, str) and "{{" not in v]


def _subset(result: dict[str, Any]) -> str | None:
    metadata = mapping(mapping(result.get("testCase")).get("metadata"))
    return next((metadata[k] for k in ("category", "subject", "pluginId") if text_of(metadata.get(k))), None)


def _meta(result: dict[str, Any], response: dict[str, Any], delivery: Delivery) -> dict[str, Any]:
    if "vars" in result and not isinstance(result["vars"], dict):
        raise BrokenFileError("vars are no object")
    grading = mapping(result.get("gradingResult"))
    metadata = {k: v for k, v in mapping(result.get("metadata")).items() if not k.startswith("_")}
    return {
        "test": result.get("testIdx"),
        "id": result.get("id"),
        "description": mapping(result.get("testCase")).get("description"),
        "cost": result.get("cost") if "cost" in result else response.get("cost"),
        "cached": response.get("cached"),
        "finish_reason": response.get("finishReason"),
        "error": None if delivery.arrived else result.get("error") or response.get("error"),
        "reason": grading.get("reason"),
        "metadata": metadata,
    }
