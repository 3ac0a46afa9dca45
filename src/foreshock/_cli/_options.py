"""Options that mean the same in every command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foreshock._base import ConfigError

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
FamilyOption = Annotated[
    list[str] | None,
    typer.Option("--family", help="Only these model families (glob patterns); beside --csv, the column of families."),
]
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
ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="FILE",
        help="Python file, or module, that defines metrics of your own; it is run. Beside import in foreshock.toml; "
        "repeatable.",
    ),
]
SelectOption = Annotated[list[str] | None, typer.Option("--select", help="Only findings whose code begins so.")]
IgnoreOption = Annotated[list[str] | None, typer.Option("--ignore", help="No findings whose code begins so.")]
LengthOption = Annotated[
    float | None,
    typer.Option(
        "--length",
        help="Tokens of which every answer consists, where only totals are known: accuracy is then shown per token.",
        min=1,
    ),
]


def _with_folder(path: Path | None) -> Path | None:
    """A file that will be written at the end, refused before the work where its folder is not there.

    Raises:
        ConfigError: The folder is missing, or the path is one.
    """
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        found = "a folder" if path.is_dir() else f"there is no folder {str(path.parent)[:200]}"
        raise ConfigError(
            found, expected="a file in a folder that exists", do="correct --state, or make it", where=str(path)
        )
    return path


StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        callback=_with_folder,
        help="File with the state of alarms: read first, where it is there, and written at the end.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of bootstraps and simulations.")]


def pairs(entries: list[str] | None, option: str, *, several: str = "") -> dict[str, str]:
    """Turn ``["a=b,c=d"]`` into a mapping.

    Args:
        entries: What was given, each with one pair or more.
        option: Name of the option, for messages.
        several: The one name that may have several values, joined by ``+``; with it, a name may have none (``a=``).

    Raises:
        ConfigError: An entry is no pair, or a name is given two values.

    Examples:
        >>> pairs(["output=text,item=id"], "--map")
        {'output': 'text', 'item': 'id'}
        >>> pairs(["score=f1", "score=em,choices="], "--map", several="score")
        {'score': 'f1+em', 'choices': ''}
    """
    found: dict[str, str] = {}
    for entry in (part.strip() for text in entries or [] for part in text.split(",")):
        role, equals, column = entry.partition("=")
        if not (role and equals and (column or several)):
            raise ConfigError(
                f"{option} {entry!r}", expected="role=column", do=f"for example {option} output=generated_text"
            )
        before = found.get(role)
        if before and column and role == several:
            found[role] = column if before == column else f"{before}+{column}"
        elif before is not None and before != column:
            raise ConfigError(
                f"{option} says {role}={before} and {role}={column}",
                expected="one of the two",
                do=f"leave one out, or join columns of an item by +: item={before}+{column}"
                if role == "item"
                else None,
            )
        else:
            found[role] = column
    return found
