"""The terminal: readable at any width, without colour, and no way out for hostile text."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from foreshock.records import Document
from foreshock.report import terminal
from foreshock.report._console import Page
from foreshock.report._safe import one_line

from ._fixture import HOSTILE, document
from ._small import SMALL, build

SGR = re.compile(r"\x1b\[[0-9;]*m")


def printed(shown: Document, width: int = 80, **options: object) -> str:
    out = io.StringIO()
    terminal(shown, Console(file=out, width=width, **options))  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(cell_len(line) for line in printed(document(), width).splitlines()) <= width


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_words_carry_the_meaning(width: int) -> None:
    text = " ".join(printed(document(), width).split())
    for part in ("WITH THESE LOGS", "CAN THE SCORES BE TRUSTED?", "WHAT CAN BE SAID", "WHAT CANNOT BE SAID YET"):
        assert part in text
    for mark in ("✓ ok", "▲ warn", "■ firing", "○ no data", "■ break", "▲ mirage", "✓ smooth"):
        assert mark in text
    assert "84% [71, 93]" in text
    assert "fewer than 4 ordered models" in text


def test_hostile_text_is_printed_as_text() -> None:
    text = " ".join(printed(document(), 200).split())
    for name in ("script", "end", "attribute", "bidi", "markup", "markdown", "ansi", "hidden"):
        assert one_line(HOSTILE[name]) in text, name


def test_even_a_forgotten_filter_is_safe() -> None:
    assert Page(Console(file=io.StringIO())).text("\x1b[31m[red]\u202e").plain == "\\x1b[31m[red]\\u202e"


def test_only_colours_of_our_own() -> None:
    coloured = printed(document(), force_terminal=True, color_system="truecolor")
    assert SGR.search(coloured)
    assert "\x1b" not in SGR.sub("", coloured)
    assert SGR.sub("", coloured).split() == printed(document()).split()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", printed(document()))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_every_encoding_can_show_it(encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    terminal(document(), Console(file=out, width=80))
    out.flush()
    text = raw.getvalue().decode(encoding)
    assert ("X break" if encoding != "utf-8" else "■ break") in text


def test_many_tasks_are_told_by_their_faults() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    ok = raw["tables"]["trust"][0]
    worn = {"task": "worn task", "lights": ok["lights"] | {"trend": {"state": "firing", "text": "it jumps"}}}
    raw["tables"]["trust"] = [ok | {"task": f"fine {i}"} for i in range(9)] + [worn]
    text = printed(build(raw))
    assert "■ firing   trend       it jumps" in text
    assert "9 tasks: fine 0, fine 1, fine 2, …\n    ok: delivered\n" in text
    assert "worn task\n    ok: delivered; firing: trend\n" in text
    assert "all there" not in text


def test_what_is_left_out_is_counted() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"] = [raw["findings"][0] | {"id": f"id{i}"} for i in range(45)]
    raw["tables"]["failures"] *= 23
    text = printed(build(raw))
    assert "20 of 45 findings shown" in text
    assert "20 of 23 files shown" in text


def test_scores_come_with_interval_unparsed_share_and_both_denominators() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    first = raw["tables"]["models"][0]
    agreeing = first | {
        "model": "other",
        "harness_value": first["value"],
        "value_expected": first["value"],
        "delivered": 110,
        "level": 0.95,
        "note": None,
    }
    raw["tables"]["models"] += [agreeing, agreeing | {"model": "scorer failed", "value_expected": 0.31}]
    text = " ".join(printed(build(raw), 120).split())
    assert "model m 62% [52, 72] at 90% 3.0% 101" in text
    assert "other 62% [52, 72] 3.0% 101" in text
    assert "model m: 109 of 110 delivered; 58.0% over all expected" in text
    assert "model m: the harness says 63.0%" in text
    assert "model m: a note" in text
    assert "other: " not in text
    assert "scorer failed: 110 of 110 delivered, not all with a score; 31.0% over all expected" in text


def test_an_empty_document_says_so() -> None:
    assert "Nothing to report" in printed(Document(foreshock="0", command=[], generated_at="", counts={}))


def demo_like() -> Document:
    """The small document with an interval at 90%, a share as unit, a long null and a long advice."""
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    finding = raw["findings"][0]
    finding["effect"] |= {"unit": "share", "level": 0.9}
    finding["null"] = "specialists' prose " * 30
    finding["advice"] = "word " * 300 + "end"
    raw["tables"]["opening"][0]["do"] = "lm_eval --tasks " + "piqa," * 200 + "last"
    return build(raw)


def test_intervals_have_the_level_of_their_finding() -> None:
    text = " ".join(printed(demo_like()).split())
    assert "with its 90% interval" in text
    assert "share: 31% [21, 41] (90% interval)" in text
    assert "] share" not in text


def test_the_null_is_one_sentence_and_advice_is_never_cut() -> None:
    text = " ".join(printed(demo_like()).split())
    assert "Stated false-alarm rate 5.0% per line; measured 4.3% on 2,000 simulated worlds." in text
    assert "specialists" not in text
    assert "more characters" not in text
    assert "word end" in text
    assert "".join(("piqa," * 200 + "last").split()) in printed(demo_like()).replace(" ", "").replace("\n", "")


@pytest.mark.parametrize("state", ["firing", "ok"])
def test_every_verdict_tells_its_rate(state: str) -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["findings"][0] |= {"state": state, "verdict": "smooth"}
    assert "Stated false-alarm rate" in printed(build(raw))


def test_words_are_explained_once_where_they_first_stand() -> None:
    text = printed(document())
    for word in ("twin", "share", "line of models"):
        told = [line for line in text.splitlines() if line.startswith(f"  {word}: ")]
        assert len(told) <= 1, word
    assert text.index("  twin: a continuous metric") < text.index("WHAT CAN BE SAID")
    assert "link gap:" not in text


@pytest.mark.parametrize("width", range(40, 100, 7))
def test_no_line_ends_inside_an_interval(width: int) -> None:
    for line in printed(document(), width).splitlines():
        assert not re.search(r"\[−?\d[\d.]*, *$", line), line
        assert not re.match(r" *(\[?−?\d[\d.]*,|\d[\d.]*\]) ", line), line


def test_no_hash_is_printed() -> None:
    text = printed(document())
    assert not [finding.id for finding in document().findings if finding.id in text]


def test_scores_of_each_task_are_few_and_say_what_is_left_out() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    row = raw["tables"]["models"][0] | {"note": "the same for all"}
    raw["tables"]["models"] = [
        row | {"task": f"task {k}", "model": f"org/name-{i}", "x": float(i)} for k in range(3) for i in range(60)
    ]
    text = printed(build(raw))
    assert text.count("12 of 60 scores shown; --html and --json have the rest") == 3
    assert text.count("All names of models begin with org/name-; it is left out here.") == 1
    assert text.count("the same for all") == 1


def test_many_tasks_get_one_line_of_scores_each() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    row = raw["tables"]["models"][0]
    raw["tables"]["models"] = [row | {"task": f"task {k}", "value": v} for k in range(40) for v in (0.25, 0.75)]
    text = printed(build(raw))
    for k in range(40):
        assert re.search(rf"task {k} +metric m +2 +25\.0% +75\.0%", text), k


def test_a_path_is_not_told_twice() -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["failures"] = [{"path": "logs/broken.eval", "message": "logs/broken.eval: it is empty"}]
    assert printed(build(raw)).count("logs/broken.eval") == 1


@pytest.mark.parametrize("tasks", [2, 8])
def test_what_cannot_be_judged_is_said_of_the_first_task_only(tasks: int) -> None:
    raw = msgspec.json.decode(msgspec.json.encode(SMALL))
    raw["tables"]["trust"] = [
        {
            "task": f"t{i}",
            "lights": {
                "delivered": {"state": "no-data", "text": "Only totals are here."},
                "metric": {"state": "warn", "text": f"metric{'abcdefgh'[i]} differs."},
            },
        }
        for i in range(tasks)
    ]
    text = printed(build(raw))
    assert text.count("Only totals are here.") == 1
    assert text.count("differs.") == tasks, "only what is not judged is folded"
    assert text.count("no data, as above: delivered" if tasks == 2 else "no data: delivered") == tasks - (tasks == 2)
