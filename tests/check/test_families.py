"""Lines wait for the others of their family, hold no scores while they wait, and say what would bring a twin."""

from __future__ import annotations

import gc
import shlex
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import foreshock.check._families as families
from foreshock.check import CheckOptions, check, mirage_document
from foreshock.check._lines import ItemLine
from foreshock.check._twin_command import how_to_get_a_twin
from foreshock.mirage import CODES, Entry, FamilyJudgement, judge_family
from foreshock.records import Batch, Run, Source, item_key
from foreshock.store import Store

from .conftest import Ladder

Columns = dict[str, list[Any]]

FEW = {"1m": 0.30, "3m": 0.55, "10m": 0.75, "30m": 0.90}
SMOOTH = {"1m": 0.30, "3m": 0.51, "10m": 0.70, "30m": 0.83, "100m": 0.91, "300m": 0.955}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Tasks of each call of the mirage room."""
    calls: list[list[str]] = []

    def recorded(entries: Iterable[Entry], **options: Any) -> FamilyJudgement:
        mine: list[str] = []
        calls.append(mine)

        def noted() -> Iterator[Entry]:
            for entry in entries:
                mine.append(entry.panel.task)
                yield entry

        return judge_family(noted(), **options)

    monkeypatch.setattr(families, "judge_family", recorded)
    return calls


def test_all_tasks_of_a_family_are_judged_in_one_call(store: Store, ladder: Ladder, asked: list[list[str]]) -> None:
    for task in ("adding", "dividing", "taking"):
        ladder(FEW, seeds=1, items=20, task=task)
    document = check(store)
    assert asked == [["adding", "dividing", "taking"]]
    assert [row["task"] for row in document.tables["verdicts"]] == ["adding", "dividing", "taking"]
    (family,) = document.tables["families"]
    assert (family["family"], family["axis"], family["lines"]) == ("toy", "parameters", 3)


def test_a_line_holds_no_scores_while_others_are_loaded(
    store: Store, ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task in "abcd":
        ladder(FEW, seeds=1, items=40, task=task)
    alive: set[str] = set()
    most = 0
    load = ItemLine.entry

    def counted(self: ItemLine, snapshot: Any) -> Entry | None:
        nonlocal most
        entry = load(self, snapshot)
        assert entry is not None
        name = entry.panel.task
        alive.add(name)
        weakref.finalize(entry.panel.values["exact_match"], alive.discard, name)
        gc.collect()
        most = max(most, len(alive))
        return entry

    def one_at_a_time(entries: Iterable[Entry], **_: Any) -> FamilyJudgement:
        for entry in entries:
            del entry
        return FamilyJudgement((), None, None)

    monkeypatch.setattr(ItemLine, "entry", counted)
    monkeypatch.setattr(families, "judge_family", one_at_a_time)
    monkeypatch.setattr(families, "zip", lambda *_, **__: (), raising=False)
    check(store)
    # the line that is being loaded, and the one whose place it takes
    assert most <= 2


def test_q_values_are_those_of_all_lines_that_are_told(store: Store, ladder: Ladder) -> None:
    for task in ("adding", "taking"):
        ladder(SMOOTH, seeds=2, items=60, task=task)
    document = check(store)
    p = [finding.p for finding in document.findings if finding.code == "FS301"]
    q = [finding.q for finding in document.findings if finding.code == "FS301"]
    assert [row["q"] for row in document.tables["verdicts"]] == q
    known = sorted((value, i) for i, value in enumerate(p) if value is not None)
    least = 1.0
    for rank in range(len(known), 0, -1):
        value, i = known[rank - 1]
        least = min(least, value * len(known) / rank)
        assert q[i] == pytest.approx(least)


def test_the_part_about_jumps_says_what_the_whole_says(store: Store, ladder: Ladder) -> None:
    ladder(SMOOTH, seeds=2, items=60)
    whole, part = check(store), mirage_document(store)
    for table in ("verdicts", "series", "families", "resolution", "foreseeable", "predictions", "moved", "runs"):
        assert part.tables[table] == whole.tables[table]
    assert {"trust", "models", "opening"}.isdisjoint(part.tables)
    assert part.findings == [finding for finding in whole.findings if finding.code in CODES]


def test_a_difference_between_conditions_is_a_line_of_its_own(store: Store) -> None:
    rng = np.random.default_rng(5)
    for k, size in enumerate(("1m", "3m", "10m", "30m", "100m")):
        for shots, gain in (("0", 0.0), ("5", 0.1 * k)):
            _answers(store, f"toy-{size}", shots, rng.random(60) < 0.2 + gain)
    document = check(store)
    (row,) = document.tables["conditions"]
    assert (row["condition"], row["before"], row["after"], row["paired"]) == ("shots", "0", "5", True)
    assert row["task"] == "sums [shots 5 - 0]"
    assert row["finding_id"] in {finding.id for finding in document.findings}
    assert row["finding_id"] not in {verdict["finding_id"] for verdict in document.tables["verdicts"]}
    (hard,) = [one for one in document.tables["series"] if one["finding_id"] == row["finding_id"]][:1]
    scores = {(one["model"], one["conditions"]): one["value"] for one in document.tables["models"]}
    for point in hard["points"]:
        expected = scores[point["label"], "shots=5"] - scores[point["label"], "shots=0"]
        assert point["value"] == pytest.approx(expected)


def test_conditions_without_an_item_in_common_are_said_to_have_none(store: Store) -> None:
    rng = np.random.default_rng(5)
    for size in ("1m", "3m", "10m", "30m"):
        for shots in "05":
            _answers(store, f"toy-{size}", shots, rng.random(20) < 0.5, asked=f"{shots} examples: add")
    document = check(store)
    (row,) = document.tables["conditions"]
    assert (row["verdict"], row["reason"], row["items"]) == ("unresolved", "no shared items", 0)
    (finding,) = (one for one in document.findings if one.id == row["finding_id"])
    assert "20 items under shots 0, 20 under 5" in finding.null
    assert finding.state == "no-data"


def _answers(store: Store, model: str, shots: str, right: np.ndarray, *, asked: str = "add") -> None:
    rows = list(range(right.size))
    keys = [item_key(f"{asked} {i}", targets=["1"]) for i in rows]
    run = Run(
        run_key=f"{model}/{shots}", format="t", reader="t@1", model=model, task="sums", conditions={"shots": shots}
    )
    items: Columns = {
        "item_id": [str(i) for i in rows], "item_key": keys, "input": [f"{asked} {i}" for i in rows],
        "targets": [["1"]] * len(rows),
    }  # fmt: skip
    answers = ["1" if ok else "0" for ok in right]
    responses: Columns = {
        "row": rows, "item_id": [str(i) for i in rows], "item_key": keys, "epoch": [1] * len(rows),
        "delivery": ["ok"] * len(rows), "output": answers, "answer": answers,
    }  # fmt: skip
    store.write(run, [Batch("items", items), Batch("responses", responses)])


def test_closeness_of_whole_texts_is_no_twin(store: Store) -> None:
    thought = "First the tens are added, which gives forty; then the ones, which gives two. " * 6
    for size in ("1b", "2b", "4b", "8b"):
        rows = list(range(20))
        run = Run(run_key=size, format="inspect", reader="t@1", model=f"p-{size}", task="sums")
        texts = [f"{thought}The answer is {i}." for i in rows]
        responses: Columns = {
            "row": rows, "item_id": [str(i) for i in rows], "delivery": ["ok"] * 20, "output": texts, "answer": texts,
        }  # fmt: skip
        items: Columns = {"item_id": [str(i) for i in rows], "input": ["add"] * 20, "targets": [[str(i)] for i in rows]}
        scores: Columns = {
            "row": rows, "metric_id": ["match"] * 20, "source": ["harness"] * 20,
            "value": [float(i % 2) for i in rows], "status": ["scored"] * 20,
        }  # fmt: skip
        store.write(run, [Batch("items", items), Batch("responses", responses), Batch("scores", scores)])
    document = check(store)
    (verdict,) = document.tables["verdicts"]
    assert verdict["twin"] is None
    assert "no twin" in verdict["reason"]
    assert verdict["command"] == "inspect eval sums --model p-8b --epochs 10 --temperature 0.7"
    (finding,) = (one for one in document.findings if one.code == "FS301")
    assert "`inspect eval sums" in finding.advice


@pytest.mark.parametrize(
    ("log_format", "meta", "totals", "choices", "words"),
    [
        ("inspect", {"task_file": "evals/sums.py"}, False, False, ["evals/sums.py@sums", "--epochs", "--temperature"]),
        ("lm-eval", {"model_args": "pretrained=m,revision=r"}, True, False, ["--log_samples", "sums", "--num_fewshot"]),
        ("lm-eval", {"backend": "vllm"}, False, False, ["vllm", "sums_loglikelihood", "--include_path"]),
        ("lm-eval", {}, False, True, ["pretrained=lab/m", "sums", "--log_samples"]),
        ("helm", {}, False, False, ["--run-entries", "sums:num_outputs=10,temperature=0.7,model=lab/m"]),
        ("promptfoo", {}, False, False, ["--repeat"]),
        ("deepeval", {}, False, False, ["--repeat"]),
        ("table", {}, True, False, ["--csv", "scores.csv", "--twin"]),
        ("items", {}, False, True, ["scores.csv", "epoch=REPEATS"]),
    ],
)
def test_the_command_fits_the_harness(
    log_format: str, meta: dict[str, Any], totals: bool, choices: bool, words: list[str]
) -> None:
    source = Source(path="scores.csv", size=1, mtime_ns=1, sha256="0")
    run = Run(
        run_key="k", format=log_format, reader="t@1", model="lab/m", task="sums", meta=meta, sources=[source],
        conditions={"shots": "5"},
    )  # fmt: skip
    how = how_to_get_a_twin(run, totals=totals, choices=choices)
    assert how.command is not None
    assert set(words) <= set(shlex.split(how.command))
    assert how.command in how.sentence


@pytest.mark.parametrize(
    ("columns", "choices", "asked"),
    [
        ({"item": "id", "score": "score"}, False, "item=id,answer=ANSWERS,target=TARGETS"),
        ({"item": "id", "output": "said", "target": "target", "epoch": "epoch"}, False, "item=id,answer=said"),
        ({"item": "item", "answer": "answer", "target": "target"}, False, "epoch=REPEATS"),
        ({"item": "item", "answer": "answer", "target": "target", "epoch": "epoch"}, False, None),
        ({"item": "item", "choices": "options", "epoch": "epoch"}, True, "choices=options"),
    ],
)
def test_a_table_is_asked_for_what_its_columns_do_not_give(
    columns: dict[str, str], choices: bool, asked: str | None
) -> None:
    source = Source(path="scores.csv", size=1, mtime_ns=1, sha256="0")
    run = Run(
        run_key="k", format="items", reader="t@1", model="m", task="t", sources=[source], meta={"read_as": columns}
    )
    how = how_to_get_a_twin(run, totals=False, choices=choices)
    assert shlex.split(how.command or "") == ["foreshock", "check", "scores.csv", *(["--map", asked] if asked else [])]
    assert ("10 answers to each item" in how.before) == (choices or {"answer", "target"} <= columns.keys())
    if {"answer", "target"} <= columns.keys():
        assert how_to_get_a_twin(run, totals=False, rates=False).command is None


def test_a_run_of_lm_eval_03_is_asked_for_again_as_04_takes_it() -> None:
    arguments = "use_accelerate=True,pretrained=lab/m,revision=step0,device_map_option=auto"
    run = Run(
        run_key="k", format="lm-eval", reader="t@1", model="lab/m", task="hendrycksTest-anatomy",
        meta={"layout": "0.3", "backend": "hf-causal", "model_args": arguments},
    )  # fmt: skip
    how = how_to_get_a_twin(run, totals=True)
    said = shlex.split(how.command or "")
    newer = "parallelize=True,pretrained=lab/m,revision=step0"
    assert said[1:7] == ["--model", "hf", "--model_args", newer, "--tasks", "mmlu_anatomy"]
    assert "0.4" in how.before
    today = Run(run_key="k", format="lm-eval", reader="t@1", model="m", task="t", meta={"model_args": arguments})
    assert arguments in (how_to_get_a_twin(today, totals=True).command or "")


def test_names_of_strangers_are_one_word_of_a_command() -> None:
    evil = "x; rm -rf ~ $(id) 'y'"
    run = Run(run_key="k", format="inspect", reader="t@1", model=evil, task=evil, meta={"task_file": 3})
    how = how_to_get_a_twin(run, totals=False)
    assert how.command is not None
    assert shlex.split(how.command)[2:5] == [evil, "--model", evil]
    limited = Run(run_key="k", format="helm", reader="t@1", model="m", task="t", conditions={"limit": evil})
    assert shlex.split(how_to_get_a_twin(limited, totals=False).command or "")[-1] == evil
    unknown = how_to_get_a_twin(Run(run_key="k", format="new", reader="t@1", model="m", task="t"), totals=True)
    assert unknown.command is None


def test_helms_joint_choices_are_asked_one_by_one() -> None:
    task = "mmlu:subject=anatomy,method=multiple_choice_joint"
    run = Run(run_key="k", format="helm", reader="t@1", model="lab/m", task=task)
    how = how_to_get_a_twin(run, totals=False, choices=True)
    assert "method=multiple_choice_separate_original,model=lab/m" in (how.command or "")


def test_a_selection_of_families_leaves_lines_out(store: Store, ladder: Ladder) -> None:
    ladder(FEW, seeds=1, items=40)
    assert mirage_document(store, CheckOptions(select=["FS302"])).tables["verdicts"] == []
