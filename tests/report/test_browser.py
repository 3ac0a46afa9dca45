"""The page in a real browser, where one is installed: no console errors, links open folds, heads sort."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foreshock import report

from ._fixture import document
from .screenshot import ask, chromium, draw

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program() -> str:
    found = chromium()
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.html(document(), path)
    return path


@pytest.mark.parametrize("dark", [False, True])
def test_no_console_message(program: str, page: Path, tmp_path: Path, dark: bool) -> None:
    logged = draw(program, page, tmp_path / "page.png", dark=dark)
    assert "CONSOLE" not in logged
    assert (tmp_path / "page.png").stat().st_size > 50_000


def test_a_console_error_would_be_seen(program: str, page: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(
        page.read_text("utf-8").replace("</body>", "<script>nonsense()</script><img src=x></body>"), "utf-8"
    )
    assert "CONSOLE" in draw(program, broken, tmp_path / "page.png")


def test_a_link_to_an_item_opens_what_hides_it(program: str, page: Path) -> None:
    text = page.read_text("utf-8")
    item = re.search(r'<article class="item" id="([\w-]+)"', text)
    assert item
    assert '<details class="moved" open' not in text
    assert '<details class="moved" open' in ask(program, f"{page.as_uri()}#{item[1]}")


def test_a_click_on_a_head_sorts(program: str, page: Path, tmp_path: Path) -> None:
    click = "<script>document.querySelectorAll('#verdicts ~ .scroll thead button')[3].click()</script>"
    sorted_page = tmp_path / "sorted.html"
    sorted_page.write_text(page.read_text("utf-8").replace("</body>", click + "</body>"), "utf-8")
    shown = ask(program, sorted_page.as_uri())
    table = shown[shown.index('aria-sort="ascending"') :]
    assert re.findall(r"(\d+\.?\d*)% \[", table)[:3] == ["4.0", "12", "84"]


def test_no_table_is_wider_than_a_laptop_s_page(program: str, page: Path, tmp_path: Path) -> None:
    probe = """<script>
      for (const fold of document.querySelectorAll("details")) fold.open = true;
      const wide = [...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1);
      document.title = "too wide: " + wide.map((e) => e.getAttribute("aria-label")).join("; ");
    </script></body>"""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text("utf-8").replace("</body>", probe), "utf-8")
    assert "<title>too wide: </title>" in ask(program, probed.as_uri(), size="1280,2400")
