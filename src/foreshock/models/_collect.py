"""Ask a model a task and make of it a run with its rows, as a reader would of a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from foreshock._base import ConfigError, ModelError, Progress, canonical, count_of, digest, quiet, utc_now
from foreshock.models._ask import ask
from foreshock.records import MAX_ROWS, Batch, Model, Reply, Request, Run, item_key, run_key
from foreshock.tasks import (
    Arithmetic,
    Problem,
    chat_turns,
    completion_prompt,
    completion_target,
    extract_number,
)

FORMAT, READER = "live", "live-arithmetic@1"
_FORM = Problem("1+1", "What is 1 plus 1?", "2", 1, 1, (("What is 1 plus 2?", "3"),))
"""A problem by which the form of the prompt is told, whatever the problems of a run are."""

MAX_OUTPUT = 100_000
"""Characters of an answer that are kept; a model that is asked for a number writes no more."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a task is asked.

    Attributes:
        chat: As turns of a chat instead of a text to go on from.
        epochs: Answers to each item.
        temperature: Of sampling.
        max_tokens: Of an answer.
        logprobs: Whether log-probabilities are wanted: of the answer, and teacher-forced of the right one.
        seed: Of sampling, where the endpoint knows one; each repeat adds its number.
        workers: Requests under way at once.

    Raises:
        ConfigError: A number is out of range, or repeats at temperature 0 were asked for.
    """

    chat: bool = False
    epochs: int = 1
    temperature: float = 0.0
    max_tokens: int = 32
    logprobs: bool = True
    seed: int | None = None
    workers: int = 4

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.epochs < 1 or self.max_tokens < 1 or self.workers < 1 or not 0 <= self.temperature <= 10:
            raise ConfigError("epochs, tokens, workers or temperature out of range", expected="1 or more; 0 to 10")
        if self.epochs > 1 and self.temperature == 0:
            raise ConfigError(
                f"{self.epochs} epochs at temperature 0",
                expected="a temperature above 0: without one every repeat says the same",
                do="add --temperature 1",
            )


def collect(model: Model, task: Arithmetic, asking: Asking, *, progress: Progress = quiet) -> tuple[Run, list[Batch]]:
    """Ask ``model`` every problem and give the run as ``Store.write`` takes it.

    The first problem is asked by itself: a model that cannot be asked in this way is found out before thousands of
    requests. Where the model scores a given text, every right answer is scored once, token by token.

    Args:
        model: Whom to ask.
        task: What to ask.
        asking: How to ask.
        progress: Told how many replies came, of how many.

    Returns:
        The run, whose ``ingest_id`` hangs on the replies alone, and its rows. The same replies are the same run.

    Raises:
        ModelError: The model cannot be asked, or stopped answering.
    """
    generate = [_generation(problem, asking, epoch) for problem in task.problems for epoch in range(asking.epochs)]
    first = model(generate[0])
    if first.text is None and first.final and first.delivery == "error":
        raise ModelError(
            f"the first question failed: {first.note}",
            expected="an answer",
            do="correct the options; where the endpoint knows no log-probabilities: --no-logprobs",
            where=model.name,
        )
    score, why = _scoring(model, task, asking)
    total = len(generate) + len(score)
    replies = list(ask(model, generate, workers=asking.workers, progress=progress, total=total))
    unanswered = _unanswered(model, replies)

    def shifted(stage: str, done: int, _: int | None, /) -> None:
        progress(stage, done + len(generate), total)

    gold: list[Reply | None] = list(ask(model, score, workers=asking.workers, progress=shifted))
    gold = gold or [None] * len(task.problems)
    columns = _responses(model, task, asking, replies, gold)
    lost = sum(reply is not None and reply.target_logprobs is None for reply in gold)
    if lost:
        why = f"{lost:,} of {len(gold):,} right answers could not be scored token by token"
    run = _run(model, task, asking, [*task.notes, *unanswered, *([why] if why else [])])
    key = digest([run.run_key, digest(columns)], 24)
    return _stated(run, key, len(replies)), [*_items(task), *_cut("responses", columns)]


def _unanswered(model: Model, replies: list[Reply]) -> list[str]:
    """A note on replies that were lost to the server, with the reason given last.

    Raises:
        ModelError: All of them were lost: a run of few questions ends before :func:`ask` loses its patience.
    """
    lost = [reply for reply in replies if not reply.final]
    if not lost:
        return []
    reason = lost[-1].note or lost[-1].delivery.value
    if len(lost) == len(replies):
        raise ModelError(
            f"none of {count_of(len(replies), 'question')} was answered: {reason}",
            expected="a model that answers",
            do="look at the address and the server, then give the same command again",
            where=model.name,
        )
    return [f"{len(lost):,} of {count_of(len(replies), 'question')} not answered: {reason}"]


def _generation(problem: Problem, asking: Asking, epoch: int) -> Request:
    sampled = asking.temperature > 0
    shared: dict[str, Any] = {
        "max_tokens": asking.max_tokens,
        "temperature": asking.temperature,
        "seed": None if asking.seed is None or not sampled else asking.seed + epoch,
        "logprobs": 1 if asking.logprobs else None,
        "sample": epoch,
    }
    if asking.chat:
        return Request(messages=chat_turns(problem), **shared)
    return Request(prompt=completion_prompt(problem), stop=("\n",), **shared)


def _scoring(model: Model, task: Arithmetic, asking: Asking) -> tuple[list[Request], str | None]:
    """Requests for the right answers; none, and why, when the model cannot score a given text."""
    if not asking.logprobs:
        return [], None
    if asking.chat:
        return [], "no log-probabilities of the right answers: a chat endpoint gives none (--api completions may)"
    wanted = [
        Request(prompt=completion_prompt(problem), target=completion_target(problem)) for problem in task.problems
    ]
    probe = model(wanted[0])
    if probe.final and not probe.target_tokens:
        return [], f"no log-probabilities of the right answers: {probe.note or 'the model gave none'}"
    return wanted, None


def _responses(
    model: Model, task: Arithmetic, asking: Asking, replies: list[Reply], gold: list[Reply | None]
) -> dict[str, list[Any]]:
    of_item = [place for place in range(len(task.problems)) for _ in range(asking.epochs)]
    tokens = [None if (g := gold[place]) is None else g.target_logprobs for place in of_item]
    outputs = [None if reply.text is None else reply.text[:MAX_OUTPUT] for reply in replies]
    keys = [item_key(problem.question, (), (problem.target,)) for problem in task.problems]
    counts = [(reply.input_tokens, reply.output_tokens) for reply in replies]
    return {
        "row": list(range(len(replies))),
        "item_key": [keys[place] for place in of_item],
        "item_id": [task.problems[place].item_id for place in of_item],
        "epoch": [1 + number % asking.epochs for number in range(len(replies))],
        "prompt_hash": [digest(_asked(task.problems[place], asking), 16) for place in of_item],
        "delivery": [reply.delivery.value for reply in replies],
        "output": outputs,
        "answer": [_answer(reply, text, asking) for reply, text in zip(replies, outputs, strict=True)],
        "gold_token_logprobs": tokens,
        "output_token_logprobs": [reply.logprobs for reply in replies],
        "input_tokens": [read for read, _ in counts],
        "output_tokens": [written for _, written in counts],
        "token_unit": [None if count == (None, None) else model.name for count in counts],
        "seconds": [reply.seconds for reply in replies],
        "meta": [_meta(reply, text) for reply, text in zip(replies, outputs, strict=True)],
    }


def _answer(reply: Reply, text: str | None, asking: Asking) -> str | None:
    if text is None or not reply.delivery.arrived:
        return None
    return extract_number(text, "last" if asking.chat else "first")


def _asked(problem: Problem, asking: Asking) -> Any:
    return chat_turns(problem) if asking.chat else completion_prompt(problem)


def _meta(reply: Reply, text: str | None) -> str:
    told: dict[str, Any] = {"stop_reason": reply.stop_reason, "note": reply.note, "served_as": reply.model}
    if text != reply.text:
        told["characters"] = len(reply.text or "")  # the output was cut
    return canonical({name: value for name, value in told.items() if value is not None}).decode()


def _items(task: Arithmetic) -> Iterator[Batch]:
    problems, n = task.problems, len(task.problems)
    columns: dict[str, list[Any]] = {
        "item_key": [item_key(p.question, (), (p.target,)) for p in problems],
        "item_id": [p.item_id for p in problems],
        "input": [p.question for p in problems],
        "targets": [[p.target] for p in problems],
        "subset": [f"{len(p.target)} digits" for p in problems],
        "generator": list(repeat(f"arithmetic-{task.operation}", n)),
        "params": [canonical({"a": p.a, "b": p.b, "digits": task.digits}).decode() for p in problems],
        "seed": list(repeat(task.seed, n)),
        "truth": list(repeat("computed", n)),
    }
    return _cut("items", columns)


def _cut(table: str, columns: dict[str, list[Any]]) -> Iterator[Batch]:
    rows = len(next(iter(columns.values())))
    for low in range(0, rows, MAX_ROWS):
        yield Batch(table, {name: values[low : low + MAX_ROWS] for name, values in columns.items()})


def _run(model: Model, task: Arithmetic, asking: Asking, warnings: list[str]) -> Run:
    asked = [task.operation, task.digits, task.lengths, task.shots, task.seed, len(task.problems)]
    how = [asking.chat, asking.epochs, asking.temperature, asking.max_tokens, asking.seed]
    conditions = {
        "shots": str(task.shots),
        "asked as": "chat" if asking.chat else "completion",
        "temperature": f"{asking.temperature:g}",
    }
    return Run(
        run_key=run_key("live", canonical(dict(model.identity)).decode(), canonical(asked), canonical(how)),
        format=FORMAT,
        reader=READER,
        model=model.name,
        task=task.name,
        task_version="1",
        conditions=conditions,
        created=utc_now(),
        prompt_hash=digest([_asked(_FORM, asking), task.shots], 16),
        warnings=warnings,
        meta={"model_identity": dict(model.identity), "items_seed": task.seed} | _sampling(asking),
    )


def _sampling(asking: Asking) -> dict[str, Any]:
    # a seed of sampling is no seed of training: two of them are repeats of one model, not two models
    return {"max_tokens": asking.max_tokens, "sampling_seed": asking.seed}


def _stated(run: Run, ingest_id: str, expected: int) -> Run:
    import msgspec

    return msgspec.structs.replace(run, ingest_id=ingest_id, expected=expected)
