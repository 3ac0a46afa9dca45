"""`foreshock arithmetic`: ask a model the two tasks of the paper about mirages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from foreshock import __version__
from foreshock._base import ConfigError, count_of, utc_now
from foreshock._cli import _asking as a
from foreshock._cli import _options as o
from foreshock._cli._hints import with_store
from foreshock._cli._out import console, progress, write_json
from foreshock._cli._places import places
from foreshock.models import Asking, collect
from foreshock.records import Counts, Document, Run
from foreshock.report import one_line
from foreshock.store import Store
from foreshock.tasks import OPERATIONS, Arithmetic
from foreshock.tasks import arithmetic as make_task

_ENOUGH = 4


def arithmetic(
    endpoint: Annotated[str, typer.Option("--endpoint", help="Address, such as http://localhost:8000/v1.")],
    models: Annotated[list[str], typer.Option("--model", help="Name of the model there; repeatable.")],
    tasks: Annotated[
        list[str] | None, typer.Option("--task", help="multiplication or addition [default: both]; repeatable.")
    ] = None,
    items: Annotated[int, typer.Option("--items", min=1, help="Problems of each task.")] = 500,
    digits: Annotated[
        int | None, typer.Option("--digits", min=1, help="Digits of the operands [default: the paper's, 2 and 4].")
    ] = None,
    lengths: Annotated[
        str | None, typer.Option("--lengths", help="Answers of these lengths equally often: 1-5, or 2,3,4.")
    ] = None,
    shots: Annotated[int, typer.Option("--shots", min=0, help="Examples before each question.")] = 2,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Answers to each problem.")] = 1,
    temperature: Annotated[float, typer.Option("--temperature", min=0, help="Of sampling; 0 is greedy.")] = 0.0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Tokens of an answer at the most.")] = 32,
    logprobs: Annotated[bool, typer.Option(help="Ask for log-probabilities, also of the right answer.")] = True,
    api: a.ApiOption = "completions",
    key_env: a.KeyOption = None,
    at_once: a.AtOnceOption = 4,
    timeout: a.TimeoutOption = 120.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the problems.")] = 0,
    replies: a.RepliesOption = None,
    store: o.StoreOption = None,
    json: o.JsonOption = None,
    quiet: o.QuietOption = False,
) -> None:
    """Ask a model products of 2-digit and sums of 4-digit numbers, and keep the run in the store.

    Problems and prompts are generated; nothing is downloaded. They are sent to the endpoint that you name and nowhere
    else. Replies are recorded as they come: the same command after a crash goes on where it was.

    Examples:

      foreshock arithmetic --endpoint http://localhost:8000/v1 --model pythia-1.4b

      foreshock arithmetic --endpoint http://localhost:8000/v1 --model tiny --task addition --items 2000 --lengths 2-5

      foreshock arithmetic --endpoint https://example.org/v1 --model big --api chat --key-env MY_KEY --max-tokens 500
    """
    where = places(store)
    asking = Asking(
        chat=api == "chat",
        epochs=epochs,
        temperature=temperature,
        max_tokens=max_tokens,
        logprobs=logprobs,
        seed=seed,
        workers=at_once,
    )
    asked = [
        make_task(name, items=items, digits=digits, lengths=_lengths(lengths), shots=shots, seed=seed)
        for name in dict.fromkeys(tasks or OPERATIONS)
    ]
    reached = [a.endpoint(endpoint, model, api, key_env, timeout) for model in dict.fromkeys(models)]
    opened = Store.open(where.store, create=True)
    written: list[Run] = []
    for model in reached:
        with a.recorded(model, replies, where.store, "arithmetic") as kept, progress(silent=quiet) as show:
            for task in asked:
                run, batches = collect(kept, task, asking, progress=show)
                written.append(opened.write(run, batches))
                if not quiet and str(json) != "-":
                    _show(written[-1])
    if json is not None:
        write_json(_document(written), json)
    if not quiet and str(json) != "-":
        _show_next(opened, asked, store)


def _lengths(text: str | None) -> tuple[int, ...] | None:
    """``1-5`` or ``2,3,4`` as numbers.

    Examples:
        >>> _lengths("1-3"), _lengths("2,5")
        ((1, 2, 3), (2, 5))
    """
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        if not low.isdecimal() or (dash and not high.isdecimal()) or len(low) > 3 or len(high) > 3:
            raise ConfigError(f"--lengths {text[:40]!r}", expected="numbers such as 1-5 or 2,3,4", do="correct it")
        found += range(int(low), int(high or low) + 1)
    return tuple(found)


def _document(runs: Sequence[Run]) -> Document:
    return Document(
        foreshock=__version__,
        command=["foreshock", "arithmetic"],
        generated_at=utc_now(),
        counts=msgspec.to_builtins(Counts.total(run.counts for run in runs)),
        tables={"runs": [msgspec.to_builtins(run) for run in runs]},
    )


def _show(run: Run) -> None:
    counts = run.counts
    parts = [f"{counts.delivered:,} of {counts.expected:,} delivered", f"{counts.parsed:,} with a number"]
    parts += [f"{counts.refused:,} refused"] * bool(counts.refused) + [f"{counts.error:,} lost"] * bool(counts.error)
    out = console()
    out.print(f"{one_line(run.model)}, {run.task}: {', '.join(parts)}.", soft_wrap=True)
    for warning in run.warnings:
        out.print(f"  note: {one_line(warning)}", soft_wrap=True)


def _show_next(store: Store, tasks: Sequence[Arithmetic], place: Path | None) -> None:
    """Which command comes next; models are counted, since a line of fewer than four is never judged."""
    names = {task.name for task in tasks}
    models = {run.model for run in store.snapshot().runs() if run.task in names}
    if len(models) >= _ENOUGH:
        told = "Now: foreshock check"
    else:
        told = f"{count_of(len(models), 'model')} so far; a jump is judged from {_ENOUGH}. Scores: foreshock score"
    console().print(with_store(told, place), soft_wrap=True)
