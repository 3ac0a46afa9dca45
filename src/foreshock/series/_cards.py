"""Model cards of stored runs: what the log states, what the name suggests, what ``models.toml`` corrects.

``models.toml`` wins over the log, the log over the name. It is looked at when an analysis runs, so correcting it needs
no new ``add``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from foreshock._base import ConfigError, read_toml
from foreshock.records import ModelCard, Run, parse_model

_FIELDS = tuple(field for field in ModelCard.__struct_fields__ if field != "guesses")


STEP_SOURCES = ("tag", "metadata", "model_args")
"""Where a training step may be written besides the model's name."""


def model_cards(
    runs: Iterable[Run],
    corrections: Mapping[str, ModelCard] | None = None,
    step_pattern: str | None = None,
    step_from: str | None = None,
) -> dict[str, ModelCard]:
    """Card of every run, by run key.

    Args:
        runs: Runs of a snapshot.
        corrections: Logged model name to card, as :func:`load_models` reads them.
        step_pattern: Regular expression with one group that finds the training step in a text.
        step_from: Where to look for the step first, one of :data:`STEP_SOURCES`; a tag ``ckpt-3000``, a metadata entry
            ``step: 3000`` or a model argument ``revision=step3000`` then wins over the name.

    Raises:
        ConfigError: ``step_from`` is unknown, or ``step_pattern`` is no such expression.

    Examples:
        >>> run = Run(run_key="k", format="table", reader="t@1", model="EleutherAI/pythia-70m", task="lambada")
        >>> model_cards([run])["k"].parameters
        70000000.0
    """
    if step_from is not None and step_from not in STEP_SOURCES:
        raise ConfigError(f"unknown source of steps {step_from!r}", expected=f"one of {', '.join(STEP_SOURCES)}")
    guess = cache(partial(parse_model, step_pattern=step_pattern))
    cards = {}
    for run in runs:
        told = guess(run.model)
        arguments = run.meta.get("model_args")
        if isinstance(arguments, str) and arguments:
            told = _merge(told, guess(arguments))
        card = _merge((corrections or {}).get(run.model, ModelCard()), _merge(run.card, told))
        step = None if step_from is None else _step_in(_texts(run, step_from), guess)
        cards[run.run_key] = card if step is None else msgspec.structs.replace(card, step=step)
    return cards


def _texts(run: Run, source: str) -> list[str]:
    """What a source says, as texts that the conventions of names apply to."""
    said = run.meta.get({"tag": "tags"}.get(source, source))
    if isinstance(said, dict):
        return [f"{key}={value}" for key, value in said.items() if isinstance(value, str | int)]
    return [str(part) for part in said] if isinstance(said, list) else [said] if isinstance(said, str) else []


def _step_in(texts: Iterable[str], guess: Callable[[str], ModelCard]) -> int | None:
    # an equals sign would be read as an argument of the harness
    found = (guess(part).step for text in texts for part in (text.replace("=", "-"),))
    return next((step for step in found if step is not None), None)


def family_label(card: ModelCard) -> str:
    """Name of the group whose models share a recipe: family, post-training and reasoning setting."""
    parts = [
        card.family or card.name or "unnamed",
        card.post_training,
        card.reasoning and f"reasoning={card.reasoning}",
    ]
    return "-".join(part for part in parts if part)


def load_models(path: Path) -> dict[str, ModelCard]:
    """Read ``models.toml``; an absent file corrects nothing.

    Raises:
        ConfigError: The file is not TOML, holds anything but tables ``[models."NAME"]``, or names a field that a card
            does not have.
    """
    if not os.path.lexists(path):
        return {}
    tables = read_toml(path)
    models = tables.pop("models", {})
    if tables:
        raise _wrong(f"{min(tables)!r:.80} stands outside of models", path)
    if not isinstance(models, dict):
        raise _wrong(f"models is {models!r:.80}", path)
    return {name: _card(name, table, path) for name, table in models.items()}


def dump_models(cards: Mapping[str, ModelCard]) -> str:
    """The text of a ``models.toml`` that holds ``cards`` by logged model name, guesses marked in comments."""
    lines = [
        "# Model cards. What Foreshock guessed from a name is marked; correct it here and it is used from then on.",
        "# Remove what is right as it stands: only the lines that differ from the log matter.",
    ]
    for name in sorted(cards):
        card = cards[name]
        lines += ["", f"[models.{_quote(name)}]"]
        for field in _FIELDS:
            value = getattr(card, field)
            if value is not None:
                mark = "  # guessed from the name" if field in card.guesses else ""
                lines.append(f"{field} = {_literal(value)}{mark}")
    return "\n".join(lines) + "\n"


def _card(name: str, table: object, path: Path) -> ModelCard:
    if not isinstance(table, dict):
        raise _wrong(f"{name!r:.80} in models is {table!r:.80}", path)
    if unknown := sorted(set(table) - set(_FIELDS)):
        raise _wrong(f"unknown field {unknown[0]!r:.80} of {name!r:.80}", path)
    try:
        return msgspec.convert(table, ModelCard)
    except msgspec.ValidationError as error:
        raise _wrong(f"{error} of {name!r:.80}", path) from None


def _wrong(found: str, path: Path) -> ConfigError:
    return ConfigError(
        found,
        expected=f'tables [models."NAME"] with only {", ".join(_FIELDS)}',
        do="correct it, or write it anew with: foreshock models --write models.toml",
        where=str(path),
    )


def _merge(first: ModelCard, second: ModelCard) -> ModelCard:
    """``first`` completed by ``second``; a field counts as guessed only where the guess is what is used."""
    values: dict[str, Any] = {}
    guesses = []
    for field in _FIELDS:
        own, other = getattr(first, field), getattr(second, field)
        values[field] = other if own is None else own
        if field in (first.guesses if own is not None else second.guesses):
            guesses.append(field)
    return ModelCard(guesses=guesses, **values)


def _quote(text: str) -> str:
    # JSON strings are valid TOML basic strings except for DEL, which JSON leaves bare
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _literal(value: object) -> str:
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return _quote(value) if isinstance(value, str) else str(value)
