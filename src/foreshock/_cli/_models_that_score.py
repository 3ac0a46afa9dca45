"""Metrics that need a model: a judge behind an endpoint, and word vectors in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from foreshock._base import ConfigError, Progress
from foreshock._cli import _asking as a
from foreshock._cli._places import Places
from foreshock.metrics import Judge, MetricSpec, get_metric, use_judge, use_vectors
from foreshock.models import ask

JudgeOption = Annotated[
    str | None, typer.Option("--judge", metavar="URL", help="Address of an endpoint whose model judges answers.")
]
JudgeModelOption = Annotated[str | None, typer.Option("--judge-model", help="Name of the judging model there.")]
JudgeApiOption = Annotated[str, typer.Option("--judge-api", help="What that endpoint speaks: chat, or completions.")]
JudgeFormOption = Annotated[
    str,
    typer.Option("--judge-form", help="logprobs: P(yes) of the first token; repeats-N: share of yes among N replies."),
]
JudgePromptOption = Annotated[
    Path | None,
    typer.Option("--judge-prompt", help="File with the prompt; fields {question}, {reference}, {answer}."),
]
JudgeVersionOption = Annotated[
    str, typer.Option("--judge-version", help="What else tells this judge from others, such as a date.")
]
PlantedOption = Annotated[
    int, typer.Option("--planted", min=0, max=10_000, help="Items on which the judge is tried with planted errors.")
]
VectorsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--vectors", help="Word vectors for semantic_similarity: .vec, .txt, .npz or a static model's folder."
    ),
]
_NEEDED = {"judge_probability": "--judge URL --judge-model NAME", "semantic_similarity": "--vectors FILE"}
_LONGEST_PROMPT = 100_000


class Asked(NamedTuple):
    """What was asked for.

    Attributes:
        url: ``--judge``.
        model: ``--judge-model``.
        api: ``--judge-api``.
        form: ``--judge-form``.
        prompt: ``--judge-prompt``.
        version: ``--judge-version``.
        key_env: ``--key-env``.
        at_once: ``--at-once``.
        timeout: ``--timeout``.
        replies: ``--replies``.
    """

    url: str | None
    model: str | None
    api: str
    form: str
    prompt: Path | None
    version: str
    key_env: str | None
    at_once: int
    timeout: float
    replies: Path | None


@contextmanager
def judging(asked: Asked, where: Places, progress: Progress) -> Iterator[Judge | None]:
    """The judge that was asked for, with its replies on disk; None when none was.

    Raises:
        ConfigError: The options do not fit together.
        ModelError: The judge cannot be asked or read.
    """
    if asked.url is None or asked.model is None:
        if asked.url != asked.model:
            raise ConfigError("--judge and --judge-model go together", do="give both, or neither")
        yield None
        return
    form, repeats = _form(asked.form)
    options: dict[str, Any] = {"chat": asked.api == "chat", "form": form, "repeats": repeats, "version": asked.version}
    if asked.prompt is not None:
        options["template"] = _prompt(asked.prompt)
    endpoint = a.endpoint(asked.url, asked.model, asked.api, asked.key_env, asked.timeout)
    with a.recorded(endpoint, asked.replies, where.store, "judge") as model:
        judge = Judge(model, many=partial(ask, model, workers=asked.at_once, progress=progress), **options)
        judge.try_out()
        yield judge


def specs_with(
    metrics: Sequence[str] | None, judge: Judge | None, vectors: Iterable[Path] | None
) -> list[MetricSpec | str] | None:
    """The metrics to score with: those asked for, and those of the judge and the vectors.

    ``--metric semantic_similarity(weighting=sif)`` beside ``--vectors`` says how; without it the defaults are used.

    Raises:
        ConfigError: A metric was named whose model was not.
    """
    own = {"judge_probability": [] if judge is None else [use_judge(judge)]}
    own["semantic_similarity"] = [use_vectors(path) for path in vectors or ()]
    found: list[MetricSpec | str] = []
    for text in metrics or ():
        name = text.partition("(")[0].strip()
        if name not in own or "version=" in text or "vectors=" in text:
            found.append(text)
            continue
        if not own[name]:
            raise ConfigError(f"--metric {text}", expected=_NEEDED[name], do=f"add {_NEEDED[name]}")
        told = told_in(text)
        found += [get_metric(spec.name, **{**dict(spec.params), **told}) for spec in own[name]]
    named = {text.partition("(")[0].strip() for text in metrics or ()}
    more = [spec for name, specs in own.items() if name not in named for spec in specs]
    if metrics is None and not more:
        return None
    if metrics is None:
        from foreshock.scoring import default_metrics

        found = [*default_metrics()]
    return [*found, *more]


def told_in(text: str) -> dict[str, Any]:
    """Parameters in the name of a metric whose other ones are not known yet.

    Examples:
        >>> told_in("semantic_similarity(weighting=sif)")
        {'weighting': 'sif'}
    """
    inside = text.partition("(")[2].rpartition(")")[0]
    pairs = (part.partition("=") for part in inside.split(",") if part.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _form(text: str) -> tuple[str, int]:
    name, _, number = text.partition("-")
    if text == "logprobs":
        return "logprobs", 1
    if name != "repeats" or not number.isdecimal() or not 1 <= int(number[:4]) <= 1_000 or len(number) > 4:
        raise ConfigError(f"--judge-form {text[:40]!r}", expected="logprobs, or repeats-8", do="give one of them")
    return "repeats", int(number)


def _prompt(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LONGEST_PROMPT + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the prompt cannot be read ({error})", expected="a text file", where=str(path)) from None
    if len(text) > _LONGEST_PROMPT:
        raise ConfigError(
            f"the prompt has more than {_LONGEST_PROMPT:,} characters", expected="a prompt", where=str(path)
        )
    return text
