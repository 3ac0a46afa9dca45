"""Every rule of the documentation checks fails on a page that breaks it, and passes on one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from _docs import blocks, links, markdown, words
from _docs.commands import CommandLine, calls_in, load_commands
from _docs.names import first_line, rooms
from check_docs import check

app = typer.Typer(add_completion=False)


@app.command()
def add(paths: list[Path], store: str = typer.Option(".", help="where")) -> None:
    """Read logs."""


@app.command()
def ls(
    everything: bool = typer.Option(False, "--all", help="all"), task: str = typer.Option("", "--task", "-t")
) -> None:
    """List runs."""


LINE = CommandLine(app)


def write(root: Path, pages: dict[str, str]) -> list[markdown.Page]:
    for name, text in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return markdown.read_pages(root)


def said(problems: object) -> str:
    return "\n".join(map(str, problems))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[a](docs/a.md)", None),
        ("[a](docs/a.md#part-one)", None),
        ("[here](#top)\n\n# Top", None),
        ("`[a](gone.md)` is code", None),
        ("```text\n[a](gone.md)\n```", None),
        ("[a](docs/gone.md)", "no such file"),
        ("[![p](gone.png)](docs/a.md)", "no such file"),
        ('<img src="gone.png">', "no such file"),
        ("[a](docs/a.md#part-two)", "no heading with the anchor #part-two"),
        ("[a](../outside.md)", "leaves the repository"),
        ("[a][b]", "reference [b] is not defined"),
        ("[a][b]\n\n[b]: docs/a.md", None),
        ("[b]: docs/gone.md", "no such file"),
        ("[p](https://arxiv.org/abs/2304.15004)", None),
        ("[p](https://example.test/x)", "not among the hosts"),
    ],
)
def test_links(tmp_path: Path, text: str, fault: str | None) -> None:
    pages = write(tmp_path, {"README.md": text, "docs/a.md": "# A\n\n## Part `one`\n"})
    found = said(links.check_links(pages, tmp_path))
    assert (fault in found) if fault else not found


def test_equal_headings_get_numbered_anchors(tmp_path: Path) -> None:
    (page,) = write(tmp_path, {"README.md": "# Same\n\n# Same\n"})
    assert page.anchors == {"same", "same-1"}


def test_a_page_that_nothing_leads_to(tmp_path: Path) -> None:
    pages = write(tmp_path, {"README.md": "[a](docs/a.md)", "docs/a.md": "[b](b.md)", "docs/b.md": "", "docs/c.md": ""})
    assert [p.place for p in links.check_reachable(pages, tmp_path)] == ["docs/c.md"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```python\nprint(1)\n```\n\n```output\n1\n```", None),
        ("```bash\nls\n```", "write it as a console block"),
        ("```output\n1\n```", "right after the python block"),
        ("```python\nprint(1)\n```\n\nIt prints\n\n```output\n1\n```", "right after the python block"),
        ("```python\nprint(1)\n```\n```text\n1\n```", "call it output"),
        ('```json\n{"a": 1}\n```', None),
        ("```json\n{'a': 1}\n```", "not valid JSON"),
        ("```toml\na = 1\n```", None),
        ("```toml\na = \n```", "not valid TOML"),
        ('```toml\n# foreshock.toml\nstore = "s"\n```', None),
        ('```toml\n# foreshock.toml\nshop = "s"\n```', "not valid TOML"),
        ("```toml\n# pyproject.toml\n[tool.foreshock]\nseed = 1\n```", None),
        ("```toml\n# pyproject.toml\n[tool.foreshock]\nseeds = 1\n```", "not valid TOML"),
        ('```toml\n# models.toml\n[models."a/b"]\nfamily = "b"\n```', None),
        ('```toml\n# models.toml\n[models."a/b"]\nfamilie = "b"\n```', "not valid TOML"),
        ("```python\nprint(1)\n", "never closed"),
    ],
)
def test_shapes_of_blocks(tmp_path: Path, text: str, fault: str | None) -> None:
    found = said(blocks.check_shapes(write(tmp_path, {"README.md": text})))
    assert (fault in found) if fault else not found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```console\n$ foreshock add logs --store s\nread 3 runs\n```", None),
        ("```console\n$ foreshock add \\\n      logs\n```", None),
        ("```console\n$ A=1 .venv/bin/foreshock ls --all | head\n```", None),
        ("```console\n$ make demo && foreshock ls -t x\n```", None),
        ("Say `foreshock ls --help`.", None),
        ("```console\n$ foreshock fly\n```", "no command `foreshock fly`"),
        ("```console\n$ foreshock ls --every\n```", "--every"),
        ("```console\n$ ls && foreshock ls \\\n  --every\n```", "--every"),
        ("```console\n$ foreshock ls logs\n```", "takes no argument 'logs'"),
        ("```console\n$ foreshock add\n```", "needs PATHS"),
        ("```console\n$ foreshock\n```", "not a whole command"),
        ("```console\n$ foreshock ls 'x\n```", "not valid shell"),
        ("```console\n$ make gold\n```", "no target gold"),
        ("```yaml\nsteps:\n  - run: foreshock ls --every\n```", "--every"),
        ("Say `foreshock ls --every`.", "--every"),
        ("Say `foreshock add` or `foreshock add --store s`.", None),
        ("Say `foreshock ls logs`.", "takes no argument 'logs'"),
        ("Say `foreshock fly`.", "no command `foreshock fly`"),
        ("Say `make gold`.", "no target gold"),
    ],
)
def test_commands(tmp_path: Path, text: str, fault: str | None) -> None:
    pages = write(tmp_path, {"README.md": text, "Makefile": "demo: ## x\n\ttrue\n"})
    found = said(blocks.check_commands(pages, tmp_path, LINE))
    assert (fault in found) if fault else not found


def test_without_a_command_line_make_targets_are_still_checked(tmp_path: Path) -> None:
    pages = write(tmp_path, {"README.md": "`foreshock fly` and `make gold`"})
    assert load_commands(tmp_path) is None
    assert len(list(blocks.check_commands(pages, tmp_path, None))) == 1


def test_calls_are_found_in_any_place_of_a_pipeline() -> None:
    assert calls_in("cd x; foreshock ls --all > out.txt") == [["ls", "--all"]]
    assert calls_in("echo foreshock") == []


RUN = """
```python
x = 2
```

```python
print(x + 1)
```

```output
3
```

```console run
$ echo one; echo two
one
...
$ test -n "$PATH"
```
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("", "", None),
        ("x = 2", "x = 3", "prints something else"),
        ("x = 2", "y = 2", "NameError"),
        ("x = 2", "import warnings\nwarnings.warn('old')\nx = 2", "UserWarning"),
        ("x = 2", "import os\nos._exit(3)", "ended the interpreter"),
        ("one\n...", "two\n...", "prints something else"),
        ('-n "$PATH"', '-z "$PATH"', "exit code 1"),
    ],
)
def test_blocks_are_run(tmp_path: Path, old: str, new: str, fault: str | None) -> None:
    pages = write(tmp_path, {"README.md": RUN.replace(old, new, 1) if old else RUN})
    found = said(blocks.check_runs(pages))
    assert (fault in found) if fault else not found


def test_console_blocks_that_are_not_marked_are_not_run(tmp_path: Path) -> None:
    (page,) = write(tmp_path, {"README.md": RUN.replace("console run", "console")})
    assert [step.kind for step in blocks.steps_of(page)] == ["python", "python"]


INIT = '"""A room."""\n\nfrom foreshock.room._x import LIMIT, size\n\n__all__ = ["LIMIT", "size"]\n'
X = '''LIMIT = 3
"""Largest size."""


def size(of: str, *, by: int = 1) -> str:
    """How big ``of`` is."""
    return "FS101"
'''


def house(root: Path) -> None:
    room = root / "src" / "foreshock" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text(INIT)
    (room / "_x.py").write_text(X)


def test_names_are_read_from_the_source(tmp_path: Path) -> None:
    house(tmp_path)
    (room,) = rooms(tmp_path)
    assert [(n.kind, n.signature, n.doc) for n in room.names] == [
        ("constant", "LIMIT", "Largest size."),
        ("function", "size(of, *, by=1)", "How big `of` is."),
    ]
    assert first_line(None) == ""


def test_public_names_must_stand_as_code(tmp_path: Path) -> None:
    house(tmp_path)
    pages = write(tmp_path, {"docs/a.md": "`LIMIT` is the largest size.", "README.md": "`size`"})
    assert said(words.check_names(pages, tmp_path)) == "foreshock.room: public name size is on no page under docs/"
    pages = write(tmp_path, {"docs/a.md": "`LIMIT`\n\n```text\nsize(x)\n```"})
    assert not said(words.check_names(pages, tmp_path))


GOOD = "# FS101\n\n## Meaning\n\n## Null and rate\n\n## What to do\n"


@pytest.mark.parametrize(
    ("pages", "fault"),
    [
        ({"docs/codes/FS101.md": GOOD}, None),
        ({"docs/a.md": ""}, "has no page docs/codes/FS101.md"),
        ({"docs/codes/FS101.md": GOOD.replace("Null and rate", "Null")}, "lacks the heading 'Null and rate'"),
        ({"docs/codes/FS101.md": GOOD, "docs/codes/FS102.md": GOOD}, "which nothing in src raises"),
    ],
)
def test_codes_have_pages(tmp_path: Path, pages: dict[str, str], fault: str | None) -> None:
    house(tmp_path)
    found = said(words.check_codes(write(tmp_path, pages), tmp_path))
    assert (fault in found) if fault else not found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Give `/dev/stdin` or `docs/home/x`.", None),
        ("See `/home/me/logs`.", "path of one machine"),
        ("```text\n/mnt/x/report.html\n```", "path of one machine"),
        ("Streams are not yet supported.", "promises"),
        ("TODO", "promises"),
        ("FS399 says so.", "FS399 has no page"),
    ],
)
def test_words(tmp_path: Path, text: str, fault: str | None) -> None:
    found = said(words.check_words(write(tmp_path, {"README.md": text}), tmp_path))
    assert (fault in found) if fault else not found


def test_the_whole_check_names_what_it_looked_at(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "[a](docs/gone.md)"})
    problems, looked = check(tmp_path)
    assert [p.place for p in problems] == ["README.md:1"]
    assert looked.startswith("1 pages, 1 links, 0 blocks and commands run")
