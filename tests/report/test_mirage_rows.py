"""What stands behind a verdict, in every form: sentences a stranger understands, folded where alike, never markup."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from rich.console import Console

from foreshock.records import Document, Finding, Need, State, Subject
from foreshock.report import markdown, render_html, terminal

from ._fixture import HOSTILE
from ._page import Page

EVIL = HOSTILE["script"] + HOSTILE["ansi"] + HOSTILE["bidi"]


def finding(task: str, verdict: str = "unresolved", **more: Any) -> Finding:
    state = {"break": State.FIRING, "unresolved": State.NO_DATA}.get(verdict, State.OK)
    given = {"advice": "look at both curves", "title": f"{verdict}: {task}"} | more
    subject = Subject(task=task, model_family="toy", metric="exact_match", axis="parameters")
    return Finding(code="FS301", subject=subject, state=state, verdict=verdict, **given)


def row(of: Finding, **more: Any) -> dict[str, Any]:
    told = {"finding_id": of.id, "task": of.subject.task, "family": "toy", "axis": "parameters", "verdict": of.verdict}
    return told | {"hard": "exact_match", "twin": None, "reason": "no twin"} | more


def document(findings: list[Finding], verdicts: list[dict[str, Any]], **tables: Any) -> Document:
    return Document(
        foreshock="0",
        command=["mirage"],
        generated_at="2026-01-01T00:00:00Z",
        counts={},
        findings=findings,
        tables={"verdicts": verdicts, **tables},
    )


def printed(told: Document, width: int = 100) -> str:
    out = io.StringIO()
    terminal(told, Console(file=out, width=width, force_terminal=False, markup=False, emoji=False, highlight=False))
    return " ".join(out.getvalue().split())


@pytest.fixture
def judged() -> Document:
    one = finding("sums", "mirage")
    behind = {
        "twin": "gold_logprob", "link": "all-of-N", "order": ["gold_logprob", "brier", "pass_rate", "sub_scores"],
        "share": 0.1, "share_low": 0.0, "share_high": 0.2, "level": 0.9, "reason": "", "noise": 0.081, "noise_df": 17.5,
        "noise_source": "family", "emergence": None, "emergence_infinite": True, "emergence_p": 0.004,
        "ratios": [{"ratio": r, "low": 0.0, "high": h} for r, h in ((1.5, 0.3), (2.0, 0.2), (3.0, 0.1))],
        "window": [{"from": "a", "to": "f", "share": 0.91}, {"from": "b", "to": "f", "share": 0.09}],
    }  # fmt: skip
    models = [
        {"finding_id": one.id, "label": name, "value": v, "n": 250, "floor": 0.004, "at_floor": v == 0, "high": h}
        for name, v, h in (("a", 0.0, 0.012), ("b", 0.5, 0.55))
    ]
    foreseen = {
        "finding_id": one.id, "answer": "no", "why": "long", "after": "d", "at": "e", "twin": "gold_logprob",
        "twin_answer": "no", "twin_before": 4, "twin_value": 0.26, "twin_low": 0.17, "twin_high": 0.36,
        "twin_observed": 0.95,
    }  # fmt: skip
    said = [
        {"name": "p1", "said": "It is smooth.", "answer": "supported", "figure": 0.5, "low": 0.4, "high": 0.6, "n": 9},
        {"name": "p2", "said": "It is long.", "answer": "cannot tell", "enough": "more tasks"},
    ]
    family = {"family": "toy", "axis": "parameters", "verdict": "break", "tasks": 9, "agree": 7, "from_point": "d"}
    family |= {"to_point": "e", "noise": 0.08, "noise_tasks": 9, "noise_df": 12.0}
    tables = {"resolution": models, "foreseeable": [foreseen], "predictions": said, "families": [family]}
    return document([one], [row(one, **behind)], **tables)


def test_what_the_other_twins_say_stands_beside_the_verdict() -> None:
    one = finding("sums", "mirage")
    twins = [
        {"twin": "brier", "kind": "brier", "answer": "agrees", "low": 0.0, "high": 0.31},
        {"twin": "choice_margin", "answer": "cannot tell"},
        {"twin": "char_similarity", "answer": "not asked", "why": "decoded text"},
        {"twin": "token_similarity", "answer": "not asked", "why": "decoded text"},
    ]
    told = printed(document([one], [row(one, twin="gold_logprob", twins=twins)]))
    assert "other twins brier agrees (a break carries 0% to 31% of its rise); choice_margin cannot tell;" in told
    assert "char_similarity, token_similarity not asked (decoded text)" in told


def test_a_yes_outside_the_interval_says_what_the_rule_allows() -> None:
    one = finding("sums", "smooth")
    foreseen = {
        "finding_id": one.id, "answer": "yes", "after": "d", "at": "e", "twin": "choice_probability",
        "twin_answer": "yes", "twin_before": 8, "twin_value": 0.303, "twin_low": 0.238, "twin_high": 0.377,
        "twin_observed": 0.394,
    }  # fmt: skip
    inside = foreseen | {"twin_observed": 0.35}
    told, plain = (printed(document([one], [row(one)], foreseeable=[this])) for this in (foreseen, inside))
    assert "it was 0.394 (outside the interval, yet within half of the whole rise)" in told
    assert "it was 0.350" in plain
    assert "outside" not in plain


@pytest.mark.parametrize(
    "said",
    [
        "0% to 20% where up to 2 times",
        "0% to 30% where up to 1.5 times",
        "0% to 10% where up to 3 times",
        "gold_logprob through the link all-of-N; the first that exists, in an order fixed beforehand: gold_logprob, ",
        "0.0810 on the link with 17.5 degrees of freedom, from this task's own scatter and that of the other tasks",
        "a to f in 91.0% of the draws of items; b to f in 9.0%",
        "no: from the 4 models up to d, gold_logprob as a probability was to be 0.260 [0.170, 0.360] at e; it was 0.95",
        "250 items: nothing below 0.4% can be seen; 1 model (a) not told from guessing may have up to 1.2%",
        "infinite, p = 0.004 under a steady rise",
        "most tasks jump at one place between d and e, 7 of 9 tasks by themselves",
        "It is smooth.",
    ],
)
def test_every_form_says_what_stands_behind_a_verdict(judged: Document, said: str) -> None:
    assert said in printed(judged)
    for text in (markdown(judged), render_html(judged)):
        plain = text.replace("\\", "").replace("&#39;", "'").replace("\u00a0", " ")
        assert said in " ".join(plain.split())


def test_the_page_has_the_whole_order_and_the_terminal_its_beginning(judged: Document) -> None:
    assert "sub_scores" in render_html(judged)
    assert "sub_scores" not in printed(judged)
    assert "cannot be told from these data: p2" in printed(judged)


def test_a_report_with_trust_cards_is_brief(judged: Document) -> None:
    lights = {"trend": {"state": "warn", "text": "a line shows a mirage"}}
    whole = msgspec.structs.replace(judged, tables={**judged.tables, "trust": [{"task": "sums", "lights": lights}]})
    assert "from the 4 models up to d" in printed(whole)
    assert "fixed beforehand" not in printed(whole)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_that_lack_the_same_are_one_line_with_one_command(width: int) -> None:
    findings = [
        finding(
            f"task{k}", advice=f"To get it: run `tool --tasks task{k}`.", needs=[Need(what="twin", have=0, enough=1)]
        )
        for k in range(9)
    ]
    rows = [row(f, command=f"tool --tasks {f.subject.task}") for f in findings]
    told = document(findings, rows)
    text = printed(told, width)
    assert text.count("9 lines: no twin") == 1
    assert text.count("$ tool --tasks task0") == 1
    assert "task7" not in text
    assert "and 4 more" in text
    page = render_html(told)
    assert page.count("tool --tasks task0</code>") == 1
    summary = markdown(told)
    assert summary.count("<summary>9 lines") == 1
    assert summary.count("tool --tasks") == 1
    assert "task8" in summary


def test_advice_that_differs_in_numbers_is_told_once() -> None:
    findings = [finding(f"t{k}", advice=f"{k} seeds per model would do.") for k in (2, 3, 8)]
    rows = [row(f, reason=f"a break may carry {k}% of the rise") for k, f in enumerate(findings)]
    assert printed(document(findings, rows)).count("2–8 seeds per model would do.") == 1


def test_what_strangers_wrote_is_text_in_the_new_tables() -> None:
    one = finding("sums", "break")
    tables = {
        "resolution": [{"finding_id": one.id, "label": EVIL, "value": 0.0, "n": 9, "at_floor": True, "high": 0.3}],
        "foreseeable": [{"finding_id": one.id, "answer": EVIL, "why": EVIL, "after": EVIL}],
        "predictions": [{"name": EVIL, "said": EVIL, "answer": EVIL, "why": EVIL, "unit": EVIL, "figure": 1.0}],
        "families": [{"family": EVIL, "axis": EVIL, "verdict": EVIL, "reason": EVIL, "noise": 0.1}],
        "conditions": [row(finding(EVIL), condition=EVIL)],
        "unresolved": [{"reason": EVIL, "lines": 1, "tasks": [EVIL]}],
    }
    more = {"twin": EVIL, "order": [EVIL], "link": EVIL, "noise": 0.1, "noise_source": EVIL, "conditional_text": EVIL}
    told = document([one], [row(one, **more, window=[{"from": EVIL, "to": EVIL, "share": 1.0}])], **tables)
    page = render_html(told)
    assert "<script>alert(1)" not in page
    assert "\u202e" not in Page(page).text, "the data element holds the document as it is"
    out = io.StringIO()
    terminal(told, Console(file=out, width=100, force_terminal=True, markup=False, emoji=False))
    assert "\x1b]8;;http" not in out.getvalue()
    assert "<script>" not in markdown(told)


def test_what_verdicts_share_is_said_once() -> None:
    found = [finding(task, "mirage", advice="Watch the twin.") for task in "abcdef"]
    behind = {"twin": "gold_logprob", "order": ["gold_logprob"], "how": "the length of each answer"}
    told = document(found, [row(one, reason="", noise=0.1 + i, **behind) for i, one in enumerate(found)])
    text = printed(told)
    assert text.count("→ Watch the twin.") == 1
    assert text.count("→ as above") == len(found) - 1
    assert text.count("link the length of each answer") == 1
    # three are told with what sets them apart, the others without
    assert text.count(" on the link") == 3
    assert "What stands behind the others is in --html and --json." in text
    assert render_html(told).count("the length of each answer") >= len(found)


def test_conditions_that_say_the_same_are_one_line() -> None:
    found = [finding(f"sums [shots 5 - 0] {i}") for i in range(5)]
    more = {"condition": "shots", "before": "0", "after": "5", "paired": True, "points": 6, "reason": "no onset"}
    rows = [row(one, task="sums [shots 5 - 0]", **more) | {"family": f"toy{i}"} for i, one in enumerate(found)]
    told = document(found, [], conditions=rows)
    said = "shots 5 less 0: exact_match, item by item, 6 models (no onset): "
    assert said + "sums · toy0, sums · toy1, sums · toy2 and 2 more" in printed(told)
    page = render_html(told)
    assert page.count("5 less 0") == len(found)
    assert "What do conditions add?" in page


def test_repeats_say_what_one_answer_would_hide() -> None:
    line = finding("sums", "smooth")
    place = {"finding_id": line.id, "problems": 128, "attempts": 1_280_000}
    rows = [
        {"k": 1, "value": 3.8e-5, "low": 3e-6, "high": 1e-4, "floor": 7.8e-7, "p_zero_once": 0.995},
        {"k": 100, "value": 3.5e-3, "low": 3e-4, "high": 9e-3, "floor": 7.8e-5},
    ]
    rows = [place | {"label": "m-1b"} | one for one in rows]
    told = document([line], [row(line, reason="")], repeats=rows)
    text = printed(told)
    assert "10,000 answers to each of 128 items resolve 7.8e-05%, one answer 0.8%" in text
    assert "m-1b: pass@100 0.35% [0.03, 0.90]" in text
    assert "one answer to each would show exactly 0 with probability m-1b 99.5%" in text
    assert "What several answers to each item show" in render_html(told)
