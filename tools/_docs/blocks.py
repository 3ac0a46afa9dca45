"""Rules about fenced blocks: what is shown is what runs.

Conventions of a page:

- ``python`` blocks run in order in one namespace, in an empty folder of the page's own, warnings as errors.
- an ``output`` block right after a ``python`` block is its standard output, compared line by line.
- in ``console`` blocks a line that begins with ``$ `` is a command (a trailing backslash continues it) and every other
  line is its output; calls of ``foreshock`` must parse, targets of ``make`` must exist. In inline code the same holds,
  but what a command requires may be left out.
- ``console run`` blocks are run as well, in the same folder, and their output is compared.
- in compared output, a line ``...`` stands for any number of lines and ``...`` inside a line for any text.
- ``toml`` and ``json`` blocks must parse; with a first line ``# foreshock.toml``, ``# pyproject.toml`` or
  ``# models.toml`` they are read as the program reads that file.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from _docs.commands import PROGRAM, CommandLine, calls_in
from _docs.markdown import Block, Page, Problem

SECONDS_PER_PAGE = 300
PAGES_AT_A_TIME = min(4, os.cpu_count() or 1)
_SHELL = {"bash", "sh", "shell", "zsh", "shell-session"}


class Step(NamedTuple):
    """Something to run: a python block or one command, the output it must have (None: not compared), and its line."""

    kind: str
    text: str
    expected: str | None
    line: int


def check_shapes(pages: list[Page]) -> Iterator[Problem]:
    """Blocks that the other rules could not see or that do not parse."""
    for page in pages:
        yield from page.problems
        for before, block in zip([None, *page.blocks], page.blocks, strict=False):
            fault = _shape_fault(block, _follows_python(page, before, block))
            if fault:
                yield Problem(page.at(block.line), fault)


def _follows_python(page: Page, before: Block | None, block: Block) -> bool:
    if before is None or before.language != "python":
        return False
    between = [line for line in page.lines if before.end < line.number < block.line]
    return all(not line.raw.strip() for line in between)


def _shape_fault(block: Block, after_python: bool) -> str | None:
    if block.language in _SHELL:
        return f"a {block.language} block is not checked: write it as a console block with '$ ' before each command"
    if block.language == "output" and not after_python:
        return "an output block must stand right after the python block that prints it"
    if block.language == "text" and after_python:
        return "a text block right after a python block is not compared: call it output"
    if block.language == "json":
        return _parse_fault(json.loads, block.text, "JSON")
    if block.language == "toml":
        return _parse_fault(_toml, block.text, "TOML")
    return None


def _toml(text: str) -> None:
    """Parse TOML, and read it as the program would where its first line says which file it is."""
    tomllib.loads(text)
    name = text.splitlines()[0].removeprefix("# ").strip()
    if name not in {"foreshock.toml", "pyproject.toml", "models.toml"}:
        return
    from foreshock._base import load_config
    from foreshock.series import load_models

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text, "utf-8")
        if name == "models.toml":
            load_models(Path(folder) / name)
        else:
            load_config(Path(folder))


def _parse_fault(parse: Any, text: str, name: str) -> str | None:
    from foreshock._base import ConfigError

    try:
        parse(text)
    except (ValueError, ConfigError) as error:  # those of json and tomllib are ValueErrors
        return f"not valid {name}: {error}"
    return None


def check_commands(pages: list[Page], root: Path, command_line: CommandLine | None) -> Iterator[Problem]:
    """Commands in console blocks and in inline code that the program or the Makefile would refuse."""
    targets = _make_targets(root)
    for page in pages:
        for text, line in _called(page):
            for fault in _command_faults(text, command_line, targets):
                yield Problem(page.at(line), fault)
        for text, line in _mentioned(page):
            for fault in _command_faults(text, command_line, targets, whole=False):
                yield Problem(page.at(line), fault)


def _called(page: Page) -> Iterator[tuple[str, int]]:
    for block in page.blocks:
        if block.language == "console":
            yield from ((step.text, step.line) for step in _console_steps(block))
        elif block.language == "yaml":
            for offset, text in enumerate(block.text.splitlines(), start=1):
                yield text.strip().removeprefix("- ").removeprefix("run: "), block.line + offset


def _mentioned(page: Page) -> Iterator[tuple[str, int]]:
    for line in page.lines:
        yield from ((code, line.number) for code in line.code if code.startswith((f"{PROGRAM} ", "make ")))


def _command_faults(
    text: str, command_line: CommandLine | None, targets: set[str], *, whole: bool = True
) -> Iterator[str]:
    try:
        calls = calls_in(text)
    except ValueError as error:
        if PROGRAM in text:
            yield f"not valid shell ({error})"
        return
    if command_line is not None:
        yield from (fault for call in calls if (fault := command_line.fault(call, whole=whole)))
    made = re.match(r"make ([a-z-]+)", text)
    if made and made.group(1) not in targets:
        yield f"the Makefile has no target {made.group(1)}"


def _make_targets(root: Path) -> set[str]:
    makefile = root / "Makefile"
    return set(re.findall(r"^([a-z-]+):", makefile.read_text("utf-8"), re.M)) if makefile.is_file() else set()


def _console_steps(block: Block) -> Iterator[Step]:
    """Commands of a console block, each with the output that follows it."""
    command: str | None = None
    output: list[str] = []
    start = block.line
    continued = False
    for number, line in enumerate(block.text.splitlines(), start=block.line + 1):
        if continued and command is not None:
            command = f"{command.removesuffix(chr(92))} {line.strip()}"
        elif line.startswith("$ "):
            if command is not None:
                yield Step("console", command, "\n".join(output), start)
            command, output, start = line[2:].strip(), [], number
        else:
            output.append(line)
            continue
        continued = line.endswith("\\")
    if command is not None:
        yield Step("console", command, "\n".join(output), start)


def steps_of(page: Page) -> list[Step]:
    """What has to be run to know that the page is right."""
    steps: list[Step] = []
    for block in page.blocks:
        if block.language == "python":
            steps.append(Step("python", block.text, None, block.line))
        elif block.language == "output" and steps:
            steps[-1] = steps[-1]._replace(expected=block.text)
        elif block.language == "console" and "run" in block.flags:
            steps += _console_steps(block)
    return steps


def check_runs(pages: list[Page]) -> Iterator[Problem]:
    """Blocks that fail when they are run, or print something else than the page shows."""
    wanted = [(page, steps) for page in pages if (steps := steps_of(page))]
    # every page is a process of its own, so threads are enough to run several at a time
    with ThreadPoolExecutor(PAGES_AT_A_TIME) as pool:
        for problems in pool.map(lambda one: list(_run_page(*one)), wanted):
            yield from problems


def _run_page(page: Page, steps: list[Step]) -> Iterator[Problem]:
    runner = Path(__file__).with_name("run_page.py")
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": paths, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-W", "error", str(runner)],
                input=json.dumps([step._asdict() for step in steps]),
                capture_output=True,
                text=True,
                cwd=folder,
                env=environment,
                timeout=SECONDS_PER_PAGE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield Problem(page.name, f"its blocks ran for more than {SECONDS_PER_PAGE} seconds")
            return
    if done.returncode:
        yield Problem(page.name, f"its blocks ended the interpreter: {done.stderr.strip()[-300:]}")
        return
    for step, (error, printed) in zip(steps, json.loads(done.stdout.splitlines()[-1]), strict=False):
        if error:
            yield Problem(page.at(step.line), f"the block fails: {error}")
        elif step.expected is not None and not matches(step.expected, printed):
            yield Problem(page.at(step.line), f"the block prints something else:\n{_indented(printed)}")


def matches(expected: str, printed: str) -> bool:
    """Whether ``printed`` is ``expected``, white space at line ends aside and with ``...`` as a wildcard.

    Examples:
        >>> matches("a\\n...\\nz", "a\\nb\\nc\\nz"), matches("took ... s", "took 3.1 s"), matches("a", "b")
        (True, True, False)
    """
    pattern = ""
    for line in expected.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(re.escape(part.rstrip() if last else part) for part, last in _parts(line)) + r"\n"
    tidy = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, tidy) is not None


def _parts(line: str) -> list[tuple[str, bool]]:
    parts = line.split("...")
    return [(part, number == len(parts) - 1) for number, part in enumerate(parts)]


def _indented(text: str) -> str:
    lines = text.rstrip().splitlines()
    shown = lines[:20] + ([f"({len(lines) - 20} more lines)"] if len(lines) > 20 else [])
    return "\n".join(f"    {line}" for line in shown)
