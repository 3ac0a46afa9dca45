"""Options that mean the same in every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import ConfigError
from foreshock.readers import ReadOptions

AddPaths = Annotated[
    list[Path] | None, typer.Argument(help="Log files or folders; folders are searched.", show_default=False)
]
MaybePaths = Annotated[
    list[Path] | None,
    typer.Argument(help="Log files or folders to add first; without any, what the store holds.", show_default=False),
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Store folder [default: foreshock.toml, else ./.foreshock].")
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON to this file; - is standard output.")
]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Write a self-contained HTML report to this file.")]
TaskOption = Annotated[list[str] | None, typer.Option("--task", help="Only these tasks (glob patterns; repeatable).")]
ModelOption = Annotated[list[str] | None, typer.Option("--model", help="Only these models (glob patterns).")]
FamilyOption = Annotated[list[str] | None, typer.Option("--family", help="Only these model families (glob patterns).")]
AxisOption = Annotated[
    str | None,
    typer.Option(
        "--axis", help="Order models by parameters, active_parameters, tokens, flops, step, released or created."
    ),
]
StepOption = Annotated[
    str | None, typer.Option("--step", help=r"Pattern that finds the training step in a name, such as 'ckpt-(\d+)'.")
]
AxisFromOption = Annotated[
    str | None,
    typer.Option("--axis-from", help="Where the training step is written: tag, metadata or model_args; or created."),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option("--map", help="Roles of columns in item files: output=generated_text,target=answer,item=question_id."),
]
PresetOption = Annotated[str | None, typer.Option("--preset", help="Named set of roles, such as mmlu-pro.")]
ScaleOption = Annotated[float | None, typer.Option("--scale", help="Largest score of the file's scale, such as 100.")]
CsvOption = Annotated[
    list[Path] | None, typer.Option("--csv", help="A table of scores; its columns are named by --x, --y, --group.")
]
XOption = Annotated[str | None, typer.Option("--x", help="Column of a --csv table that orders models.")]
YOption = Annotated[str | None, typer.Option("--y", help="Column of a --csv table that holds the score.")]
GroupOption = Annotated[str | None, typer.Option("--group", help="Column of a --csv table that names the task.")]
NOption = Annotated[str | None, typer.Option("--n", help="Items behind each score: a number, or a column.")]
ChanceOption = Annotated[float | None, typer.Option("--chance", help="Score of guessing, on the scale of the scores.")]
TaskNameOption = Annotated[str | None, typer.Option("--task-name", help="Task, for files that do not name one.")]
ModelNameOption = Annotated[str | None, typer.Option("--model-name", help="Model, for files that do not name one.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of bootstraps and simulations.")]


def read_options(
    *,
    mapping: list[str] | None,
    preset: str | None,
    scale: float | None,
    task: str | None,
    model: str | None,
    csv: dict[str, str | None],
    n: str | None,
    chance: float | None,
) -> ReadOptions:
    """The reading options of ``add`` and ``check``; ``csv`` are the roles named by options of their own.

    Raises:
        ConfigError: A ``--map`` entry is not ``role=column``.
    """
    roles = {role: column for role, column in csv.items() if column is not None}
    own = pairs(mapping, "--map")
    # with a table of scores, --map names its further columns
    return ReadOptions(
        map={} if roles else own,
        csv={**own, **roles} if roles else {},
        preset=preset,
        scale=scale,
        task=task,
        model=model,
        n=n,
        chance=chance,
    )


def pairs(entries: list[str] | None, option: str) -> dict[str, str]:
    """Turn ``["a=b,c=d"]`` into a mapping.

    Examples:
        >>> pairs(["output=text,item=id"], "--map")
        {'output': 'text', 'item': 'id'}
    """
    found: dict[str, str] = {}
    for entry in (part.strip() for text in entries or [] for part in text.split(",")):
        role, equals, column = entry.partition("=")
        if not (role and equals and column):
            raise ConfigError(
                f"{option} {entry!r}", expected="role=column", do=f"for example {option} output=generated_text"
            )
        found[role] = column
    return found
