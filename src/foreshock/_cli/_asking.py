"""The options that say which model is asked, and how it is reached."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import ConfigError, digest
from foreshock.models import Endpoint, Recorded

ApiOption = Annotated[
    str, typer.Option("--api", help="What the endpoint speaks: completions (can score a given answer), or chat.")
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key-env", metavar="NAME", help="Environment variable that holds the endpoint's key; none is sent."),
]
AtOnceOption = Annotated[int, typer.Option("--at-once", min=1, max=256, help="Requests under way at once.")]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one reply, first byte to last.")]
RepliesOption = Annotated[
    Path | None,
    typer.Option("--replies", help="Folder of recorded replies [default: beside the store, STORE-replies]."),
]


def endpoint(url: str, model: str, api: str, key_env: str | None, timeout: float) -> Endpoint:
    """The endpoint that was named.

    Raises:
        ConfigError: An option says something impossible.
    """
    if api not in ("completions", "chat"):
        raise ConfigError(f"--api {api!r}", expected="completions or chat", do="give one of them")
    return Endpoint(url, model, api="chat" if api == "chat" else "completions", key_env=key_env, timeout=timeout)


def recorded(model: Endpoint, folder: Path | None, store: Path, what: str) -> Recorded:
    """The same with its replies on disk; one file for each model and purpose, so that a repeat asks nothing twice.

    Args:
        model: Whom to ask.
        folder: What ``--replies`` says.
        store: The store, beside which the folder is otherwise.
        what: What is asked, for the file's name.
    """
    place = folder if folder is not None else store.parent / f"{store.name}-replies"
    # the name is for people, the hash tells apart; no part of a path comes from a stranger's text unfiltered
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{what}-{model.name}")[:80].strip(".-")
    return Recorded(place / f"{plain}-{digest(dict(model.identity), 8)}.jsonl", model)
