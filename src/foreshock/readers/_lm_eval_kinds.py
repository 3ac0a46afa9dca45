"""The three kinds of lm-evaluation-harness tasks: choosing, continuing, generating."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from foreshock.readers._lm_eval_item import (
    Doc,
    Item,
    document_key,
    gold_index,
    listed_choices,
    text_targets,
)
from foreshock.readers._lm_eval_line import (
    METRIC,
    Likelihoods,
    Requests,
    answers,
    as_float,
    likelihoods,
    outputs,
    requests,
)
from foreshock.records import item_key

LABEL = 2
"""Longest continuation that is taken for a label (``A``, ``B)``) when the document lists options."""

_NO_META: Mapping[str, Any] = MappingProxyType({})
_decode = msgspec.json.decode


class Task(NamedTuple):
    """What the results file tells about a task's samples.

    Attributes:
        shots: Few-shot examples; None when not known.
        output_type: ``multiple_choice``, ``loglikelihood``, ...; None when not known.
        delimiter: Text put before every choice.
        aggregations: Metric to aggregation.
    """

    shots: int | None = None
    output_type: str | None = None
    delimiter: str = " "
    aggregations: Mapping[str, str] = MappingProxyType({})


class Response(NamedTuple):
    """The part of a response row that depends on the kind of task."""

    output: str | None = None
    answer: str | None = None
    choice_logprobs: list[float] | None = None
    gold_logprob: float | None = None
    meta: Mapping[str, Any] = _NO_META


class Found(NamedTuple):
    """The item of a line and its responses; none when nothing was delivered."""

    item: Item
    responses: list[Response]


def read_line(line: Any, doc: Doc, task: Task) -> Found:
    """Tell the kind of a decoded line from its responses and read it."""
    asked = requests(line.arguments)
    lls = likelihoods(line.resps)
    if lls and (len(lls.values) > 1 or task.output_type == "multiple_choice"):
        return _choice(line, lls.values, asked, doc, task)
    question = _question(doc, asked, task)
    targets = text_targets(line.target, line.doc)
    if lls:
        return _continuation(line, lls, question, targets, doc)
    item = _item(line, question, None, targets, None, doc.subset)
    resps = _decode(line.resps) if memoryview(line.resps).nbytes else None
    rolling = _rolling(resps, asked, task)
    if rolling is not None:
        return Found(item, [Response(gold_logprob=rolling)])
    texts = outputs(resps)
    if not texts:
        return Found(item, [])
    filtered = _decode(line.filtered_resps) if memoryview(line.filtered_resps).nbytes else None
    return Found(item, [Response(output=t, answer=a) for t, a in zip(texts, answers(filtered, texts), strict=True)])


def _item(
    line: Any,
    question: str | None,
    choices: list[str] | None,
    targets: list[str] | None,
    gold: int | None,
    subset: str | None,
) -> Item:
    key = item_key(question, choices or (), targets or ())
    return Item(key or document_key(line.doc_hash, line.doc), question, choices, targets, gold, subset)


def _question(doc: Doc, asked: Requests, task: Task) -> str | None:
    if doc.question is None and task.shots == 0:
        return asked.context(0)
    return doc.question


def _continuation(line: Any, lls: Likelihoods, question: str | None, targets: list[str] | None, doc: Doc) -> Found:
    text = targets[0].strip() if targets else ""
    if question and text and question.endswith(text):
        question = question[: -len(text)].rstrip()  # lambada: the document's text ends in the answer
    item = _item(line, question, None, targets, None, doc.subset)
    return Found(item, [Response(gold_logprob=lls.values[0], meta={"greedy": lls.greedy[0]})])


def _rolling(resps: Any, asked: Requests, task: Task) -> float | None:
    """Log-likelihood of a whole text, whose request has no continuation."""
    first = resps[0] if isinstance(resps, list) and resps else None
    if not isinstance(first, list) or len(first) != 1:
        return None
    if task.output_type is None:
        alone = bool(asked.continuations) and asked.continuations[0] is None
    else:
        alone = task.output_type == "loglikelihood_rolling"
    return as_float(first[0]) if alone else None


def _choice(line: Any, lls: list[float | None], asked: Requests, doc: Doc, task: Task) -> Found:
    texts = asked.texts()
    meta = _NO_META
    half = len(lls) // 2
    if texts and len(texts) == len(lls) == 2 * half and texts[:half] == texts[half:] and asked.context(half) == "":
        # acc_mutual_info: the second half are the same choices without the question
        meta = {"unconditional_logprobs": lls[half:]}
        lls, texts = lls[:half], texts[:half]
    n = len(lls)
    plain = _undelimited(texts, task.delimiter) if texts and len(texts) == n else []
    distinct = len(set(plain)) == n
    # letters stand for options that the document spells out; else the text that was scored is the option
    labels = not distinct or max(map(len, plain)) <= LABEL
    choices = (listed_choices(doc.choices, n) if labels else None) or (plain if distinct else None)
    gold = gold_index(line.target, choices or [str(i) for i in range(n)], plain)
    logprobs = [ll for ll in lls if ll is not None]
    best = logprobs.index(max(logprobs)) if len(logprobs) == n else None
    if gold is None and n == 2 and plain and not distinct:
        gold = _by_score(line, best)
    right = gold if isinstance(gold, list) else [] if gold is None else [gold]
    single = gold if isinstance(gold, int) else None
    targets = [choices[i] for i in right] if choices and right else None
    item = _item(line, _question(doc, asked, task), choices, targets, single, doc.subset)
    if best is None:
        return Found(item, [Response(meta=meta)])
    answer = choices[best] if choices else str(best)
    return Found(item, [Response(None, answer, logprobs, None if single is None else logprobs[single], meta)])


def _by_score(line: Any, best: int | None) -> int | None:
    """Gold of a choice between two contexts with one continuation (winogrande), whose target is that continuation.

    The index is not logged; ``acc`` says whether the likelier one was it.
    """
    acc = getattr(line, f"{METRIC}acc", None)
    if best is None or acc not in (0, 1):
        return None
    return best if acc else 1 - best


def _undelimited(texts: list[str], delimiter: str) -> list[str]:
    cut = len(delimiter)
    return [t[cut:] for t in texts] if cut and all(map(str.startswith, texts, repeat(delimiter))) else texts
