"""The page of a comparison: narrow enough, names whole, nothing told twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare.conftest import flips, sides, write_run

from foreshock.compare import compare
from foreshock.report import render_html
from foreshock.store import Store

from ._page import Page


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("compare")
    store = Store.open(folder / "store", create=True)
    a, b = flips(np.random.default_rng(2), 120, 0.3, 0.1)
    facts: dict[str, Any] = {"task": "high_school_physics", "metric": "multiple_choice_grade"}
    return render_html(
        compare(store, sides(write_run(store, "org/a", a, **facts), write_run(store, "org/b", b, **facts)))
    )


def test_names_break_at_their_joints_and_stay_one_word(html: str) -> None:
    assert "multiple_<wbr>choice_<wbr>grade" in html
    assert "org/<wbr>b" in html
    page = Page(html)
    assert not page.faults
    assert "multiple_choice_grade" in page.text


def test_the_table_of_comparisons_needs_no_unit_in_every_cell(html: str) -> None:
    table = html[html.index('<table class="sortable wide compared">') : html.index("</table>")]
    assert "points, difference [95%]" in table
    assert "] points" not in table.split('class="because"')[0]
    assert re.search(r'colspan="8"><div class="seen">', table)


def test_items_that_moved_are_not_listed_a_second_time(html: str) -> None:
    assert "Items that moved" in html
    assert "Responses to open" not in html


def test_the_glossary_explains_only_what_a_comparison_says(html: str) -> None:
    words = html[html.index('<dl class="glossary">') :]
    words = words[: words.index("</dl>")]
    assert "false-alarm rate" in words
    for term in ("mirage", "link gap", "FS301", "floor or ceiling", "light "):
        assert term not in words
