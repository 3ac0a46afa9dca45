"""`foreshock models`: what is known about the models, and what was guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import count_of
from foreshock._cli import _options as o
from foreshock._cli._out import console, write_text
from foreshock._cli._places import open_store, places
from foreshock.records import ModelCard
from foreshock.report import one_line
from foreshock.series import dump_models, family_label, load_models, model_cards, size_text


def models(
    store: o.StoreOption = None,
    step: o.StepOption = None,
    axis_from: o.AxisFromOption = None,
    write: Annotated[Path | None, typer.Option("--write", help="Write the cards to this file for editing.")] = None,
) -> None:
    """List the models with family, size and training step; a star marks what was guessed from the name.

    Examples:

      foreshock models

      foreshock models --write models.toml
    """
    where = places(store)
    runs = open_store(where).snapshot().runs()
    by_run = model_cards(runs, load_models(where.models), step, None if axis_from == "created" else axis_from)
    # one name may stand for several checkpoints, when the step is written elsewhere
    cards = {(run.model, by_run[run.run_key].step): by_run[run.run_key] for run in runs}
    if write is not None:
        write_text(dump_models({name: card for (name, _), card in cards.items()}), write)
        used = "it is read by the next command"
        if write.absolute() != where.models.absolute():
            used = f'to use it, name it {where.models}, or say models = "{write}" in foreshock.toml'
        console().print(f"{count_of(len(cards), 'card')} written to {write}. Edit it; {used}.")
        return
    _show(cards)


def _show(cards: dict[tuple[str, int | None], ModelCard]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("model", "family", "parameters", "step", "seed", "released"):
        table.add_column(name, overflow="fold")
    for (name, step), card in sorted(cards.items(), key=lambda kv: (kv[0][0], kv[0][1] or 0)):

        def cell(field: str, text: object, card: ModelCard = card) -> str:
            if text is None:
                return ""
            return one_line(str(text)) + ("*" if field in card.guesses else "")

        size = None if card.parameters is None else size_text(card.parameters)
        table.add_row(
            one_line(name),
            cell("family", family_label(card)),
            cell("parameters", size),
            cell("step", step),
            cell("seed", card.seed),
            cell("released", card.released),
        )
    out = console()
    out.print(table)
    out.print("* guessed from the name. To correct it: foreshock models --write models.toml")
