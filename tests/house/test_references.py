"""The generated pages: what they refuse, and that they notice being out of date."""

from pathlib import Path
from typing import Annotated

import pytest
import typer

import formats_reference
import table_reference
from _docs.commands import CommandLine
from _docs.generated import outcome, write_or_check
from cli_reference import faults, render, take_apart


def line_with(doc: str | None, option_help: str | None = "Largest number.") -> CommandLine:
    app = typer.Typer(add_completion=False)

    def show(
        paths: Annotated[list[str], typer.Argument(help="Files | folders.")],
        most: Annotated[int, typer.Option(help=option_help)] = 3,
    ) -> None: ...

    show.__doc__ = doc
    app.command()(show)
    app.command("other")(lambda: None)
    return CommandLine(app)


GOOD = """Show a <thing>.

It shows one | two.

\b
Examples:
    foreshock show a --most 2
    foreshock show -- b

Exit codes:
    2 when there is none.
"""


def lacks(line: CommandLine) -> list[str]:
    return faults(line.commands()[0], line)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (line_with(GOOD), None),
        (line_with(None), "has no help text"),
        (line_with("Show."), "no 'Examples:' section"),
        (line_with(GOOD.replace("--most 2", "--least 2")), "--least"),
        (line_with(GOOD.replace("foreshock show --", "show --")), "does not call foreshock"),
        (line_with(GOOD, None), "has no help for --most"),
    ],
)
def test_a_command_must_explain_itself(line: CommandLine, fault: str | None) -> None:
    found = "\n".join(lacks(line))
    assert (fault in found) if fault else not found


def test_a_help_text_is_taken_apart() -> None:
    text, examples, exits = take_apart(line_with(GOOD).commands()[0].command)
    assert text.startswith("Show a <thing>.")
    assert text.endswith("two.")
    assert examples == ["foreshock show a --most 2", "foreshock show -- b"]
    assert exits == "2 when there is none."


def test_the_page_shows_everything() -> None:
    page = render(line_with(GOOD))
    for part in [
        "## foreshock show",
        "Show a &lt;thing>.",
        "`--most",
        "Largest number.",
        "default: 3",
        "Files \\| folders.",
    ]:
        assert part in page
    assert "$ foreshock show a --most 2" in page


def test_an_old_page_is_noticed_and_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "docs" / "cli.md"
    assert "out of date" in write_or_check(page, "new\n", only_check=True)[0]
    assert not page.exists()
    assert write_or_check(page, "new\n", only_check=False) == []
    assert write_or_check(page, "new\n", only_check=True) == []
    assert any("+newer" in line for line in write_or_check(page, "newer\n", only_check=True))
    assert outcome("page", []) == 0
    assert outcome("page", ["wrong"]) == 1
    assert "page: 1 wrong" in capsys.readouterr().out


def test_the_page_of_tables_has_the_columns_that_the_store_gives() -> None:
    from foreshock.store._frames import SCHEMAS
    from foreshock.store._runs import RUNS

    found = {table: {name for name, _, _ in columns} for table, columns in table_reference.tables().items()}
    assert found == {"runs": set(RUNS)} | {table: set(schema) for table, schema in SCHEMAS.items()}


def test_meanings_are_taken_from_docstrings() -> None:
    class Thing:
        """A thing.

        Attributes:
            low, high: Ends of
                the range.
            name: See :func:`x`.
        """

    assert table_reference.attributes(Thing) == {
        "low": "Ends of the range.",
        "high": "Ends of the range.",
        "name": "See `x`.",
    }


def test_like_files_of_a_folder_are_one_row_with_sums() -> None:
    like = {f"a/{n}.json": {"format": "f", "version": "1", "runs": n, "aggregates": 2} for n in range(6)}
    odd = {"a/x.json": {"format": "f", "version": "1", "runs": 1, "remark": "a|b"}}
    items = {"a/y.json": {"format": "f", "runs": 1, "items": 2000, "states": {"error": 1, "ok": 1999}}}
    assert formats_reference.render(like | odd | items).splitlines()[3:] == [
        "| `a/ (6 files)` | f | 1 | 15 | | | 12 | |",
        "| `a/x.json` | f | 1 | 1 | | | | a\\|b |",
        "| `a/y.json` | f | | 1 | 2,000 | 1,999 ok, 1 error | | |",
    ]
