"""Write ``docs/cli.md`` from the commands' own help, or check that it is up to date.

Usage: ``python tools/cli_reference.py [--check]``. Fails when a command has no help, no ``Examples:`` section, an
example that the command line would refuse, or an option without help.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from _docs.commands import PROGRAM, Command, CommandLine, calls_in, load_commands
from _docs.generated import cell, outcome, write_or_check

HEAD = """# Commands

<!-- Written by `make docs` from the commands' own help; edits here are lost. -->

Every command takes `--help`. Options that stand at several commands mean the same at each. Where the store is, and
what else a project can say once, is in [configuration](configuration.md); what the codes mean for a script is in
[exit codes](exit_codes.md).

| exit code | meaning |
| --- | --- |
| 0 | done, and nothing that `--fail-on` names fires |
| 1 | done, and something that `--fail-on` names fires |
| 2 | it could not be done; the message says why and what to do |
| 130 | interrupted by Ctrl-C; what was finished is kept |
"""
_SECTION = re.compile(r"^(Examples|Exit codes):\s*$", re.M)


class Help(NamedTuple):
    """A command's help, taken apart."""

    text: str
    examples: list[str]
    exits: str


def take_apart(command: Any) -> Help:
    """Split a help text at its ``Examples:`` and ``Exit codes:`` sections."""
    whole = inspect.cleandoc((command.help or "").replace("\b", "").replace("\f", ""))
    text, *sections = _SECTION.split(whole)
    bodies = dict(zip(sections[::2], sections[1::2], strict=True))
    lines = inspect.cleandoc("\n" + bodies.get("Examples", "")).splitlines()
    examples = [line.strip().removeprefix("$ ") for line in lines if line.strip()]
    return Help(text.strip(), examples, inspect.cleandoc("\n" + bodies.get("Exit codes", "")))


def faults(entry: Command, command_line: CommandLine) -> list[str]:
    """What a command lacks before a stranger can use it from its help alone."""
    text, examples, _ = take_apart(entry.command)
    found = []
    if not text:
        found.append("has no help text")
    if not examples:
        found.append("has no 'Examples:' section in its help")
    for example in examples:
        calls = calls_in(example)
        if not calls:
            found.append(f"has an example that does not call {PROGRAM}: {example}")
        found += [f"example `{example}`: {fault}" for call in calls if (fault := command_line.fault(call))]
    for parameter in entry.command.get_params(entry.context):
        if not (getattr(parameter, "hidden", False) or getattr(parameter, "help", None)):
            found.append(f"has no help for {max(parameter.opts, key=len)}")
    return [f"{entry.name}: {fault}" for fault in found]


def render(command_line: CommandLine) -> str:
    """The whole page."""
    entries = command_line.commands()
    lines = [HEAD, "| command | what it does |", "| --- | --- |"]
    for entry in entries:
        first = " ".join(take_apart(entry.command).text.split("\n\n")[0].split())
        lines.append(f"| [`{entry.name}`](#{entry.name.replace(' ', '-')}) | {cell(first)} |")
    return "\n".join(lines) + "\n\n" + "\n\n".join(_section(entry) for entry in entries) + "\n"


def _section(entry: Command) -> str:
    text, examples, exits = take_apart(entry.command)
    usage = " ".join([entry.name, *entry.command.collect_usage_pieces(entry.context)])
    parts = [f"## {entry.name}", text, f"```text\n{usage}\n```", *_tables(entry)]
    if examples:
        parts += ["```console\n" + "\n".join(f"$ {example}" for example in examples) + "\n```"]
    if exits:
        parts += [f"Exit codes:\n\n{exits}"]
    return "\n\n".join(part for part in parts if part)


def _tables(entry: Command) -> list[str]:
    parameters = [p for p in entry.command.get_params(entry.context) if not getattr(p, "hidden", False)]
    tables = []
    for kind in ("argument", "option"):
        rows = [_row(p, entry.context) for p in parameters if p.param_type_name == kind and p.name != "help"]
        if rows:
            tables.append("\n".join([f"| {kind} | meaning |", "| --- | --- |", *rows]))
    return tables


def _row(parameter: Any, context: Any) -> str:
    names, meaning = parameter.get_help_record(context) or (parameter.name, getattr(parameter, "help", ""))
    return f"| `{names.replace('|', chr(92) + '|')}` | {cell(meaning)} |"


def main(arguments: list[str]) -> int:
    """Write or check the page; the exit code says whether all is well."""
    root = Path(__file__).resolve().parents[1]
    command_line = load_commands(root)
    if command_line is None:
        print("cli: there is no foreshock._cli._app, so there is nothing to describe")
        return 0
    problems = [fault for entry in command_line.commands() for fault in faults(entry, command_line)]
    problems += write_or_check(root / "docs" / "cli.md", render(command_line), "--check" in arguments)
    return outcome(f"cli: {len(command_line.commands())} commands", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
