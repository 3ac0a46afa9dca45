"""Commands that ask a model: `arithmetic`, and `score` with a judge or with word vectors."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from foreshock._cli._planted import STREAM
from foreshock.store import Store
from tests.models._adder import answer as adder
from tests.models._server import Call, chat, serving

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(call: Ask, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORESHOCK_VECTORS", "")
    return call


LADDER = [f"fam-{size}m@{skill}" for size, skill in ((10, 0.3), (30, 0.5), (100, 0.7), (300, 0.85), (1000, 0.95))]


def test_a_ladder_of_models_is_asked_scored_and_judged(call: Ask) -> None:
    with serving(adder) as server:
        asked = ["arithmetic", "--endpoint", server.url, "--task", "addition", "--items", "60", "--at-once", "3"]
        code, out, _ = call(*asked, *(part for name in LADDER[:2] for part in ("--model", name)))
        assert code == 0
        assert "fam-10m@0.3, 4-digit-addition: 60 of 60 delivered, 60 with a number." in out
        assert out.endswith("2 models so far; a jump is judged from 4. Scores: foreshock score\n")
        code, out, _ = call(*asked, *(part for name in LADDER[2:] for part in ("--model", name)), "--json", "r.json")
        assert out.endswith("Now: foreshock check\n")
        assert len(server.calls) == 5 * 120
        assert call(*asked, "--model", LADDER[0], "-q") == (0, "", "")
        assert len(server.calls) == 5 * 120  # replayed
    document = json.loads(Path("r.json").read_text())
    assert [run["model"] for run in document["tables"]["runs"]] == LADDER[2:]
    assert document["counts"]["delivered"] == 180
    assert sorted(path.suffix for path in Path(".foreshock-replies").iterdir()) == [".jsonl"] * 5
    code, out, _ = call("check", "--json", "c.json", "--quiet")
    verdicts = json.loads(Path("c.json").read_text())["tables"]["verdicts"]
    (line,) = [row for row in verdicts if row["hard"].startswith("exact_match")]
    assert (line["task"], line["family"], line["twin"]) == ("4-digit-addition", "fam", "gold_logprob(per=token)")


def test_both_tasks_are_asked_and_lengths_are_told(call: Ask) -> None:
    with serving(adder) as server:
        code, out, _ = call(
            "arithmetic", "--endpoint", server.url, "--model", "m@0.9", "--items", "8", "--lengths", "2-3"
        )
        assert code == 0
    assert "2-digit-multiplication-by-length" in out
    assert "4-digit-addition-by-length" in out


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--task", "division"), "multiplication or addition"),
        (("--lengths", "1-"), "--lengths"),
        (("--lengths", "9-99"), "lengths between"),
        (("--epochs", "3"), "--temperature 1"),
        (("--api", "rest"), "completions or chat"),
        (("--key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY"),
        (("--items", "5000", "--task", "multiplication"), "4,095"),
        (("--endpoint", "nowhere"), "no address"),
    ],
)
def test_what_cannot_be_meant_asks_nobody(call: Ask, options: tuple[str, ...], word: str) -> None:
    def never(_: Call) -> None:
        raise AssertionError

    with serving(never) as server:
        code, _, err = call("arithmetic", "--endpoint", server.url, "--model", "m@0.5", *options)
        assert (code, server.calls) == (2, [])
    assert word in err
    assert not Path(".foreshock").exists()


def test_a_wrong_key_is_told_and_nothing_is_written(call: Ask) -> None:
    with serving(lambda c: c.json({"error": {"message": "bad key"}}, 401)) as server:
        code, out, err = call("arithmetic", "--endpoint", server.url, "--model", "m@0.5")
        assert len(server.calls) == 1
    assert (code, out) == (2, "")
    assert "--key-env" in err
    assert Store.open(Path(".foreshock")).snapshot().runs() == []


def field(text: str, name: str) -> str:
    return text.partition(f"<{name}>\n")[2].partition(f"\n</{name}>")[0]


def first_words(call: Call) -> None:
    """A judge that compares the first two words only, and is blind to what follows."""
    text = call.body["messages"][-1]["content"]
    same = field(text, "answer").split()[:2] == field(text, "reference").split()[:2]
    p = 0.9 if same else 0.1
    tops = [{"token": "Yes", "logprob": math.log(p)}, {"token": "No", "logprob": math.log(1 - p)}]
    content = [{"token": "Yes", "logprob": math.log(p), "top_logprobs": tops}]
    call.json(chat("Yes", logprobs={"content": content}))


def towers(folder: Path) -> None:
    rows = []
    for i in range(12):
        target = f"Tower {'ABCDEFGHIJKL'[i]} is {100 + 7 * i} m tall. It opened in {1880 + i}."
        said = target if i % 3 else f"House {i} it is."
        rows.append(
            {"id": i, "model": "m", "question": f"Tower {i}?", "output": said, "answer": said, "target": target}
        )
    (folder / "towers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def scored(call: Ask, tmp_path: Path) -> Ask:
    towers(tmp_path)
    code, _, err = call("add", "towers.jsonl", "--map", "item=id,input=question", "--task-name", "towers")
    assert code == 0, err
    return call


def judge(url: str, *more: str) -> tuple[str, ...]:
    return ("score", "--judge", url, "--judge-model", "big", "--metric", "judge_probability", *more)


def test_a_judge_scores_and_is_tried_on_planted_errors(scored: Ask) -> None:
    with serving(first_words) as server:
        code, out, err = scored(*judge(server.url, "--json", "s.json"))
        assert code == 0, err
        calls = len(server.calls)
        assert all(
            set(c.body) <= {"model", "temperature", "messages", "logprobs", "top_logprobs", "max_tokens"}
            for c in server.calls
        )
        code, _, _ = scored(*judge(server.url, "--json", "s2.json"))
        assert len(server.calls) == calls  # what was judged is not judged again
    document = json.loads(Path("s.json").read_text())
    (value,) = document["tables"]["values"]
    assert value["value"] == pytest.approx((8 * 0.9 + 4 * 0.1) / 12)
    rows = {row["planted"]: row for row in document["tables"]["judge"]}
    assert (rows["right"]["n"], rows["right"]["wrong"]) == (12, 0)
    assert (rows["refuse"]["n"], rows["refuse"]["wrong"]) == (12, 0)
    assert rows["contradict_number"]["share"] == 1.0  # it never looks at a number
    assert rows["other_answer"]["wrong"] == 0
    assert "The judge big on answers whose truth is known" in out
    assert "contradict_number" in out
    entries = Store.open(Path(".foreshock")).stream(STREAM).read()
    assert len(entries) == 1
    assert entries[0].value["judge"]["place"]["place"] == server.url
    assert entries[0].value["metric_id"] == document["tables"]["metrics"][0]["metric_id"]
    assert json.loads(Path("s2.json").read_text())["tables"] == document["tables"]


def test_the_judges_values_are_known_afterwards_by_its_name(scored: Ask) -> None:
    with serving(first_words) as server:
        scored(*judge(server.url, "--planted", "0"))
    code, out, _ = scored("sql", "select distinct metric_id from scores where source = 'foreshock'", "--format", "csv")
    assert code == 0
    from foreshock.scoring import stored_specs

    specs = stored_specs(Store.open(Path(".foreshock")).snapshot())
    (spec,) = [spec for metric_id, spec in specs.items() if spec.name == "judge_probability"]
    assert spec.id in out
    assert dict(spec.params)["access"] == "openai-chat"
    # without the judge it is not asked for, and nothing else is disturbed
    assert scored("score", "--metric", "exact_match")[0] == 0
    assert scored("score", "--metric", str(spec))[0] == 0  # nothing is left to judge, so nobody is needed


def test_a_judge_that_stops_answering_keeps_what_it_said(scored: Ask) -> None:
    asked: dict[bool, set[str]] = {True: set(), False: set()}
    tired = False

    def tires(call: Call) -> None:
        if tired or len(asked[False]) < 9:
            asked[tired].add(call.body["messages"][-1]["content"])
            first_words(call)
        else:
            call.json({"error": {"message": "gone"}}, 403)

    with serving(tires) as server:
        code, _, err = scored(*judge(server.url, "--planted", "0", "--at-once", "1"))
        assert code == 2
        assert "403" in err
        assert Store.open(Path(".foreshock")).snapshot().scan("scores", source="foreshock").collect().is_empty()
        tired = True
        assert scored(*judge(server.url, "--planted", "0", "--at-once", "1"))[0] == 0
    assert (len(asked[False]), len(asked[True])) == (9, 4)  # 12 answers and one trial, none of them twice
    assert not asked[False] & asked[True]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--judge", "http://localhost:9/v1"), "go together"),
        (("--judge-model", "big"), "go together"),
        (("--metric", "judge_probability"), "--judge URL"),
        (("--metric", "semantic_similarity"), "--vectors FILE"),
        (("--vectors", "none.vec"), "cannot be read"),
        (("--judge", "http://localhost:9/v1", "--judge-model", "b", "--workers", "2"), "--at-once"),
        (("--judge", "http://localhost:9/v1", "--judge-model", "b", "--judge-form", "vote"), "repeats-8"),
        (("--judge", "http://localhost:9/v1", "--judge-model", "b", "--judge-prompt", "none.txt"), "cannot be read"),
    ],
)
def test_options_that_do_not_fit_are_told(scored: Ask, options: tuple[str, ...], word: str) -> None:
    code, out, err = scored("score", *options)
    assert (code, out) == (2, "")
    assert word in err


def test_word_vectors_give_a_metric(scored: Ask, tmp_path: Path) -> None:
    (tmp_path / "small.vec").write_text("tower 1 0\nhouse 0.6 0.8\ntall 0 1\n")
    code, out, err = scored("score", "--vectors", "small.vec", "--metric", "semantic_similarity(weighting=sif)")
    assert code == 0, err
    assert "semantic_similarity(vectors=w" in out
    code, out, err = scored("score", "--vectors", "small.vec", "--json", "s.json")
    assert code == 0, err
    metrics = [row["metric"] for row in json.loads(Path("s.json").read_text())["tables"]["metrics"]]
    assert metrics[0] == "exact_match"  # the usual ones, and this
    assert metrics[-1].startswith("semantic_similarity(vectors=w")


def test_a_hostile_name_of_a_model_is_only_a_name(scored: Ask) -> None:
    name = "../../x, y=1) \x1b[31m"
    with serving(first_words) as server:
        code, out, err = scored("score", "--judge", server.url, "--judge-model", name, "--metric", "judge_probability")
    assert code == 0, err
    assert "\x1b" not in out
    assert all(path.parent == Path(".foreshock-replies") for path in Path(".foreshock-replies").rglob("*.jsonl"))
