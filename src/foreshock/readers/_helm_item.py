"""The item and the outcome of one request in the state of a HELM run."""

from __future__ import annotations

from typing import Any, NamedTuple

from foreshock.readers._helm_choices import Reference, first, letter_logprobs, reference_in, token_logprobs
from foreshock.readers._plain import Json, mapping, number, objects, whole, words
from foreshock.records import Delivery, item_key

_BLOCKED = frozenset({"content_filter", "safety", "recitation", "blocklist", "prohibited_content"})
_CUT = frozenset({"length", "max_tokens"})
_MAX_ERROR = 500


class Item(NamedTuple):
    """What is known about one instance; see the columns of the items table."""

    key: str | None
    question: str | None
    choices: list[str] | None
    targets: list[str]
    gold: int | None
    subset: str | None


class Answered(NamedTuple):
    """One response; see the columns of the responses table."""

    delivery: Delivery
    output: str | None = None
    reasoning: str | None = None
    answer: str | None = None
    choice_logprobs: list[float] | None = None
    gold_token_logprobs: list[float] | None = None
    output_token_logprobs: list[float | None] | None = None
    seconds: float | None = None
    meta: Json = {}  # noqa: RUF012 - never changed


def item_of(instance: Json, method: str) -> Item:
    """An instance; its references are options to choose from when the method is one of multiple choice."""
    references = objects(instance.get("references"))
    offered = [str(mapping(r.get("output")).get("text") or "") for r in references]
    right = [k for k, r in enumerate(references) if isinstance(r.get("tags"), list) and "correct" in r["tags"]]
    choices = offered if method.startswith("multiple_choice") and offered else None
    question, targets = question_of(mapping(instance.get("input"))), [offered[k] for k in right]
    where = [p for p in (words(instance.get("split")), words(instance.get("sub_split"))) if p]
    return Item(
        key=item_key(question, choices or (), targets),
        question=question,
        choices=choices,
        targets=targets,
        gold=right[0] if choices and len(right) == 1 else None,
        subset="/".join(where) or None,
    )


def question_of(asked: Json) -> str | None:
    """Text of an input: plain, of a conversation, or of the parts of a multimedia one that are text."""
    if found := words(asked.get("text")):
        return found
    said = [f"{m.get('role')}: {m.get('content')}" for m in objects(asked.get("messages"))]
    seen = [words(p.get("text")) for p in objects(mapping(asked.get("multimedia_content")).get("media_objects"))]
    return "\n".join(said or [p for p in seen if p]) or None


def generations(state: Json, item: Item) -> list[Answered]:
    """The completions of one request, the scored one first; what stands for a request without any."""
    result = state.get("result")
    failed = failure_of(result)
    if failed is not None:
        return [failed]
    found = mapping(result)
    letters = mapping(state.get("output_mapping"))
    seconds = number(found.get("request_time"))
    return [_generation(completion, letters, item, seconds) for completion in first(found.get("completions"))]


def failure_of(result: Any) -> Answered | None:
    """What stands for a request whose result holds no completion; None when it holds some."""
    found = mapping(result)
    if not found:
        return Answered(Delivery.MISSING)
    seconds = number(found.get("request_time"))
    if found.get("success") is False:
        said = {"error": str(found.get("error") or "")[:_MAX_ERROR], "error_flags": found.get("error_flags")}
        return Answered(Delivery.ERROR, seconds=seconds, meta=said)
    if not objects(found.get("completions")):
        return Answered(Delivery.MISSING, seconds=seconds)
    return None


def _generation(completion: Json, letters: Json, item: Item, seconds: float | None) -> Answered:
    output = completion.get("text") if isinstance(completion.get("text"), str) else None
    mapped = letters.get(output.strip()) if output is not None else None
    answer = mapped if isinstance(mapped, str) else None
    if output is not None and not letters and item.choices is None:
        answer = output.strip() or None  # the text that HELM compares with the references
    reason = words(mapping(completion.get("finish_reason")).get("reason"))
    logprobs = letter_logprobs(completion, list(letters)) if item.choices else None
    same = item.choices is not None and list(letters.values()) == item.choices
    return Answered(
        delivery=_delivery(reason, isinstance(mapped, str)),
        output=output,
        reasoning=words(mapping(completion.get("thinking")).get("text")),
        answer=answer,
        choice_logprobs=logprobs if same else None,
        output_token_logprobs=token_logprobs(completion),
        seconds=seconds,
        meta={"finish_reason": reason},
    )


def _delivery(reason: str | None, answered: bool) -> Delivery:
    reason = (reason or "").lower()
    if reason in _BLOCKED:
        return Delivery.BLOCKED
    # one letter, as asked for, is a whole answer although the limit of one token ended it
    return Delivery.TRUNCATED if reason in _CUT and not answered else Delivery.OK


def separate(states: list[Json], item: Item) -> Answered:
    """One response from the requests for each reference.

    With calibration each reference was asked for a second time without the question; these requests are no responses,
    their log-probabilities are kept in ``meta``.
    """
    choices = item.choices or []
    asked, alone = _by_reference(states, "original"), _by_reference(states, "calibration")
    for state in asked.values():
        failed = failure_of(state.get("result"))
        if failed is not None:
            return failed
    if not choices or sorted(asked) != list(range(len(choices))):
        return Answered(Delivery.MISSING, meta={"references": sorted(asked)})
    found, base = _likelihoods(asked, choices), _likelihoods(alone, choices)
    times = [t for s in states if (t := number(mapping(s.get("result")).get("request_time"))) is not None]
    return Answered(
        delivery=Delivery.OK,
        answer=_likeliest(choices, found, base if alone else None),
        choice_logprobs=None if found is None else [r.logprob for r in found],
        seconds=sum(times) if times else None,
        meta={"calibration_logprobs": [r.logprob for r in base] if alone and base is not None else None},
    )


def _by_reference(states: list[Json], mode: str) -> dict[int, Json]:
    found: dict[int, Json] = {}
    for state in states:
        index = whole(state.get("reference_index"))
        if index is not None and (words(state.get("request_mode")) or "original") == mode:
            found.setdefault(index, state)
    return found


def _likelihoods(states: dict[int, Json], choices: list[str]) -> list[Reference] | None:
    """Of every choice in order; None unless all were asked for and found."""
    found = []
    for k, choice in enumerate(choices):
        completions = objects(mapping(states.get(k, {}).get("result")).get("completions"))
        reference = reference_in(completions[0], choice) if completions else None
        if reference is None:
            return None
        found.append(reference)
    return found


def _likeliest(choices: list[str], found: list[Reference] | None, base: list[Reference] | None) -> str | None:
    """HELM's prediction: by log-probability per token; with calibration, by how much the question adds to it."""
    if found is None:
        return None
    by = [r.logprob / r.tokens for r in found]
    if base is not None:
        by = [r.logprob - b.logprob for r, b in zip(found, base, strict=True)]
    return choices[by.index(max(by))]


def modelled(states: list[Json]) -> Answered:
    """The windows of one text whose likelihood was asked for: each counts from the end of its conditioning."""
    logprobs: list[float | None] = []
    for state in states:
        failed = failure_of(state.get("result"))
        if failed is not None:
            return failed
        given = whole(state.get("num_conditioning_tokens")) or 0
        completion = objects(mapping(state["result"]).get("completions"))[0]
        logprobs += (token_logprobs(completion) or [None])[max(given, 0) :]
    known = [p for p in logprobs if p is not None]
    return Answered(Delivery.OK, gold_token_logprobs=known if known and len(known) == len(logprobs) else None)
