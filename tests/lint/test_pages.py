"""What `--explain` prints is what the pages of the codes say."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock.lint import RULES, Rule

HEADS = ("## Meaning", "## Null and rate", "## What to do")
OWN = [rule for rule in RULES if rule.code != "FS250"]  # its page belongs to `--blind` and says more


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("rule", OWN, ids=[rule.code for rule in OWN])
def test_the_page_says_what_explain_prints(rule: Rule, repo_root: Path) -> None:
    page = (repo_root / "docs" / "codes" / f"{rule.code}.md").read_text("utf-8")
    assert page.startswith(f"# {rule.code}: {rule.title}\n")
    parts = [words(part) for head in HEADS for part in [page.partition(head)[2]]]
    for part, said in zip(parts, (rule.meaning, rule.null, rule.advice), strict=True):
        assert part.startswith(words(said))


def test_every_rule_is_on_the_page_about_lint(repo_root: Path) -> None:
    page = (repo_root / "docs" / "lint.md").read_text("utf-8")
    for rule in OWN:
        assert f"[{rule.code}](codes/{rule.code}.md) | `{rule.name}`" in page
