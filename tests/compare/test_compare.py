"""The labelled path: what is paired, what is refused, what is told."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from foreshock._base import ConfigError
from foreshock.compare import CompareOptions, compare
from foreshock.compare._clusters import shared_passages
from foreshock.records import Batch, Document, Run, Source, State
from foreshock.store import Store
from tests.compare.conftest import Write, flips, sides

RNG = np.random.default_rng


def row(document: Document) -> dict:
    (found,) = document.tables["compare"]
    return found


def test_two_runs_equal_statsmodels_however_their_rows_lie(store: Store, write: Write) -> None:
    a, b = flips(RNG(1), 300, 0.12, 0.05)
    first, second = write("a", a), write("b", b, order=RNG(2).permutation(300).tolist())
    document = compare(store, sides(first, second))
    told = row(document)
    gained = sum(x < y for x, y in zip(a, b, strict=True))
    lost = sum(x > y for x, y in zip(a, b, strict=True))
    table = [[sum(x == y == 1 for x, y in zip(a, b, strict=True)), lost], [gained, 0]]
    assert told["p_mcnemar"] == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, abs=1e-12)
    assert (told["items"], told["up"], told["down"], told["paired_by"]) == (300, gained, lost, "text")
    assert told["difference"] == pytest.approx(np.mean(b) - np.mean(a))
    assert told["verdict"] == "improvement"
    (finding,) = document.findings
    assert (finding.code, finding.state, finding.evidence_total) == ("FS901", State.OK, gained + lost)
    shown = document.tables["flips"]
    assert {r["direction"] for r in shown} == {"gained", "lost"}
    for r in shown:
        assert (r["from_score"], r["to_score"]) == (a[int(r["item"])], b[int(r["item"])])
        assert r["to_output"] == ("yes" if r["to_score"] else "no")
        assert r["question"] == f"question {r['item']}"


def test_the_other_way_round_is_a_regression_that_fires(store: Store, write: Write) -> None:
    a, b = flips(RNG(1), 300, 0.12, 0.05)
    (finding,) = compare(store, sides(write("b", b), write("a", a))).findings
    assert (finding.verdict, finding.state) == ("regression", State.FIRING)


def test_falling_metrics_turn_the_verdict(store: Store, write: Write) -> None:
    a, b = flips(RNG(1), 300, 0.12, 0.05)
    told = compare(store, sides(write("a", a, metric="ter"), write("b", b, metric="ter"))).findings
    assert told[0].verdict == "regression"


def test_items_without_text_are_paired_by_id_and_only_where_that_is_clear(store: Store, write: Write) -> None:
    a, b = flips(RNG(3), 40, 0.3, 0.1)
    bare = write("a", a, text=False)
    told = row(compare(store, sides(bare, write("b", b))))
    assert (told["items"], told["paired_by"], told["refused"]) == (40, "id", [])
    twice = write("c", [*b, 1.0], text=False, ids=[*map(str, range(40)), "0"])
    told = row(compare(store, sides(bare, twice)))
    assert told["items"] == 39
    assert told["refused"][0].endswith("look alike: 1")


def test_an_id_with_other_text_is_no_pair(store: Store, write: Write) -> None:
    a, b = flips(RNG(4), 50, 0.3, 0.1)
    changed = [f"question {i}" if i < 30 else f"another question {i}" for i in range(50)]
    first, second = write("a", a), write("b", b, questions=changed)
    told = row(compare(store, sides(first, second)))
    assert (told["items"], told["only_first"], told["only_second"]) == (30, 20, 20)
    assert told["refused"] == ["the text under an id differs between the runs: 20"]
    told = row(compare(store, sides(first, second), CompareOptions(pair="id")))
    assert (told["items"], told["paired_by"]) == (50, "id")


def test_one_text_under_several_ids_is_one_cluster(store: Store, write: Write) -> None:
    a, b = flips(RNG(5), 60, 0.3, 0.1)
    asked = [f"question {i // 2}" for i in range(60)]
    told = row(compare(store, sides(write("a", a, questions=asked), write("b", b, questions=asked))))
    assert (told["items"], told["clusters"], told["cluster_kind"]) == (60, 30, "equal text")
    assert told["test"].startswith("exact sign-flip test over 30 clusters")
    assert told["p_mcnemar"] is not None
    other = write("c", b, questions=asked, ids=[f"x{i}" for i in range(60)])
    told = row(compare(store, sides(write("a", a, questions=asked), other)))
    assert (told["items"], told["clusters"]) == (30, 30)  # ids tell nothing here: the repeats of a text are one item


def test_epochs_are_repeats_of_an_item(store: Store, write: Write) -> None:
    rng = RNG(6)
    ids, epochs = [str(i // 4) for i in range(80)], [1 + i % 4 for i in range(80)]
    a, b = (rng.integers(0, 2, 80).astype(float).tolist() for _ in range(2))
    told = row(compare(store, sides(write("a", a, ids=ids, epochs=epochs), write("b", b, ids=ids, epochs=epochs))))
    assert (told["items"], told["clusters"], told["p_mcnemar"]) == (20, 20, None)
    means = np.reshape(b, (20, 4)).mean(1) - np.reshape(a, (20, 4)).mean(1)
    assert told["difference"] == pytest.approx(means.mean())


def test_a_shared_passage_and_a_column_make_clusters(store: Store, write: Write) -> None:
    a, b = flips(RNG(7), 60, 0.3, 0.1)
    asked = [f"{'A long story about town number ' + str(i // 6) + '. ':<40}" * 8 + f"Who did {i}?" for i in range(60)]
    runs = sides(write("a", a, questions=asked), write("b", b, questions=asked))
    told = row(compare(store, runs))
    assert (told["clusters"], told["cluster_kind"]) == (10, "a shared passage")
    assert row(compare(store, runs, CompareOptions(cluster="none")))["test"].startswith("exact McNemar")
    with pytest.raises(ConfigError, match="no item of sums has 'subset'"):
        compare(store, runs, CompareOptions(cluster="subset"))


def told_passage(number: int) -> str:
    return f"{'A long story about town number ' + str(number) + '. ':<40}" * 8


def test_a_passage_of_most_items_is_no_instruction_and_one_odd_item_hides_no_passage() -> None:
    most = [told_passage(0) + f"Who did {i}?" for i in range(60)] + [told_passage(i) + "Who?" for i in range(1, 41)]
    assert shared_passages(most) == [list(range(60))]
    rule = "Read the text with care and answer in one word. " * 8
    odd = [("" if i == 0 else rule) + told_passage(i // 5) + f"Who did {i}?" for i in range(100)]
    assert sorted(shared_passages(odd)) == [[1, 2, 3, 4], *(list(range(i, i + 5)) for i in range(5, 100, 5))]
    assert shared_passages([rule + f"What is {i} and {i}?" for i in range(100)]) == []
    assert (
        shared_passages([f"{rule[:150]}{'What is the name of the thing that is called ' * 3}{i}?" for i in range(9)])
        == []
    )


def test_items_without_text_are_not_said_to_be_independent(store: Store, write: Write) -> None:
    a, b = flips(RNG(7), 60, 0.3, 0.1)
    for text, status in ((False, "unchecked"), (True, "ruled-out")):
        runs = sides(*(write(f"{name}{text}", s, text=text) for name, s in (("a", a), ("b", b))))
        found = compare(store, runs).findings[0].alternatives
        assert [one.status for one in found if one.name == "items that are not independent"] == [status]


def test_what_did_not_arrive_is_left_out_and_the_other_answer_told(store: Store, write: Write) -> None:
    a, b = flips(RNG(8), 200, 0.3, 0.05)
    broken = [None if i < 130 else score for i, score in enumerate(b)]
    runs = sides(write("a", a), write("b", broken))
    told = row(compare(store, runs))
    assert (told["items"], told["second_undelivered"], told["second_responses"]) == (70, 130, 200)
    assert told["difference"] > 0
    assert (told["verdict"], told["other_verdict"], told["second_lost"]) == ("incomplete", "regression", 130)
    assert "verdict would be regression" in told["other_text"]
    wrong = row(compare(store, runs, CompareOptions(missing="wrong")))
    assert (wrong["items"], wrong["verdict"]) == (200, "regression")
    assert wrong["difference"] == told["other_difference"]


def test_conditions_that_differ_are_refused_unless_asked_for(store: Store, write: Write) -> None:
    a, b = flips(RNG(9), 80, 0.3, 0.1)
    runs = sides(write("a", a, conditions={"shots": "5", "limit": "80"}), write("b", b, conditions={"shots": "0"}))
    with pytest.raises(ConfigError, match="shots is 5 in a, 0 in b"):
        compare(store, runs)
    assert row(compare(store, runs, CompareOptions(across_conditions=True)))["items"] == 80
    same = sides(
        write("a", a, key="k1", conditions={"shots": "5", "limit": "80"}),
        write("b", b, key="k2", conditions={"shots": "5"}),
    )
    assert row(compare(store, same))["items"] == 80  # which items were asked is settled by pairing


def test_chat_templates_are_the_models_own(store: Store, write: Write) -> None:
    """Two vendors' models never share one: it is told, not refused, whichever way the store knows it."""
    a, b = flips(RNG(9), 80, 0.3, 0.1)
    facts = {"conditions": {"shots": "5", "chat_template": "yes"}}
    first = write("a", a, **facts, meta={"chat_template": "aaa"})
    second = write("b", b, **facts, meta={"chat_template": "bbb"})
    document = compare(store, sides(first, second))
    assert row(document)["items"] == 80
    (told,) = [finding for finding in document.findings if finding.code == "FS105"]
    assert (told.state, "chat template (aaa / bbb)" in told.title) == (State.PENDING, True)
    older = write("c", b, conditions={"shots": "5", "chat_template": "ccc"})
    assert row(compare(store, sides(first, older)))["items"] == 80
    for other in ({"shots": "5"}, {**facts["conditions"], "system_instruction": "yes"}):
        with pytest.raises(ConfigError, match=r"chat_template is yes in a|system_instruction is not stated in a"):
            compare(store, sides(first, write("d", b, key=f"d{len(other)}", conditions=other)))


def test_several_runs_of_one_side_are_never_averaged_in_silence(store: Store, write: Write) -> None:
    a, b = flips(RNG(10), 100, 0.3, 0.1)
    old = write("b", a, key="old", created="2024-01-01T00:00:00Z")
    new = write("b", b, key="new", created="2024-02-01T00:00:00Z")
    first = write("a", a)
    told = row(compare(store, sides(first, [old, new])))
    assert told["second_runs"] == ["new"]
    assert "1 other run not used" in told["notes"][0]
    told = row(compare(store, sides(first, [old, new]), CompareOptions(repeats="pool")))
    assert sorted(told["second_runs"]) == ["new", "old"]
    assert told["difference"] == pytest.approx((np.mean(b) - np.mean(a)) / 2)
    assert "pooled" in told["notes"][0]


def test_a_tie_of_equally_new_runs_is_told_and_file_names_break_it(store: Store, write: Write) -> None:
    a, b = flips(RNG(10), 60, 0.3, 0.1)
    first = write("a", a)

    def run(key: str, name: str | None) -> Run:
        sources = [] if name is None else [Source(path=f"/logs/{name}", size=1, mtime_ns=1, sha256=key * 8)]
        return write("b", b, key=key, created="2024-01-01T00:00:00Z", sources=sources)

    (note,) = row(compare(store, sides(first, [run("k1", None), run("k2", None)])))["notes"]
    assert "2 runs are equally new (all of 2024-01-01)" in note
    assert "newest" not in note
    named = [run("k4", "results_2024-01-01T09-00-00.5.json"), run("k5", "results_2024-01-01T08-00-00.7.json")]
    told = row(compare(store, sides(first, named)))
    assert told["second_runs"] == ["k4"]
    assert "the newest run (k4" in told["notes"][0]


def test_many_tasks_share_one_allowance(store: Store, write: Write) -> None:
    first, second = [], []
    for number in range(4):
        a, b = flips(RNG(number), 120, 0.1 if number else 0.3, 0.1)
        first.append(write("a", a, task=f"t{number}"))
        second.append(write("b", b, task=f"t{number}"))
    runs = sides(first, second)
    rows = compare(store, runs).tables["compare"]
    raw = {r["task"]: r["p"] for r in rows}
    assert len(rows) == 4
    for r in rows:
        assert r["p_holm"] >= r["p_bh"] >= r["p"]
    assert min(rows, key=lambda r: r["p"])["p_holm"] == pytest.approx(4 * min(raw.values()))
    assert [r["task"] for r in compare(store, runs, CompareOptions(tasks=["t[12]"])).tables["compare"]] == ["t1", "t2"]


def test_our_metric_where_the_harness_gave_none_and_on_request(store: Store, write: Write) -> None:
    a, b = flips(RNG(11), 90, 0.3, 0.1)
    bare = sides(write("a", a, scored=False, task="bare"), write("b", b, task="bare"))
    told = row(compare(store, bare))
    assert told["source"] == "foreshock"
    assert told["metric"] in ("exact_match", "multiple_choice_grade")
    assert told["items"] == 90
    both = sides(write("a", a), write("b", b))
    assert row(compare(store, both))["metric"] == "acc"
    assert row(compare(store, both, CompareOptions(metric="exact_match")))["source"] == "foreshock"
    assert row(compare(store, both, CompareOptions(metric="char_similarity")))["metric"] == "char_similarity"
    with pytest.raises(ConfigError, match="no score nonsense"):
        compare(store, both, CompareOptions(metric="nonsense"))


def test_equal_is_only_said_within_the_margin(store: Store, write: Write) -> None:
    a, b = flips(RNG(12), 400, 0.02, 0.02)
    runs = sides(write("a", a), write("b", b))
    told = row(compare(store, runs))
    assert told["verdict"] == "undecided"
    assert told["needed"] > 400
    assert row(compare(store, runs, CompareOptions(margin=0.05)))["verdict"] == "no-difference"


def test_nothing_in_common_is_no_answer(store: Store, write: Write) -> None:
    runs = sides(write("a", [1.0, 0.0]), write("b", [1.0, 0.0], ids=["x", "y"]))
    finding, unpaired = compare(store, runs).findings
    assert (unpaired.code, unpaired.state) == ("FS104", State.FIRING)
    assert (finding.state, finding.verdict, finding.effect) == (State.NO_DATA, "undecided", None)
    assert "no item in common" in finding.title


def test_totals_alone_cannot_be_paired(store: Store, write: Write) -> None:
    bare = Run(run_key="t", format="test", reader="test@1", model="totals", task="sums")
    total = store.write(bare, [Batch("aggregates", {"metric_id": ["acc"], "value": [0.5]})])
    with pytest.raises(ConfigError, match="no responses of totals, only totals, and none that all"):
        compare(store, sides(write("a", [1.0, 0.0, 1.0]), total))


def test_a_board_has_groups_and_the_changed_prompt_is_told(store: Store, write: Write) -> None:
    rng = RNG(13)
    skills = {"a": 0.5, "b": 0.52, "c": 0.9}
    base = rng.random(300)
    runs = [
        write(
            name, (base * 0.5 + rng.random(300) * 0.5 < p).astype(float).tolist(), prompt_hash="p" if p < 0.9 else "q"
        )
        for name, p in skills.items()
    ]
    document = compare(store, sides(*runs))
    board = document.tables["board"]
    assert board[0]["model"] == "c"
    assert board[0]["letters"] == "a"
    assert board[1]["letters"] == board[2]["letters"] == "b"
    assert (board[1]["best_rank"], board[1]["worst_rank"]) == (2, 3)
    assert board[0]["first_stays"] == 1.0
    codes = [finding.code for finding in document.findings]
    assert codes.count("FS901") == 2
    assert codes.count("FS902") == 1
    assert "FS105" in codes


def test_same_input_same_bytes(store: Store, write: Write) -> None:
    rng = RNG(14)
    runs = sides(*(write(name, rng.random(60).tolist(), metric="our_score") for name in "abc"))
    first, second = (compare(store, runs, CompareOptions(seed=3)) for _ in range(2))
    assert first.tables == second.tables
    assert first.findings == second.findings
    other = compare(store, runs, CompareOptions(seed=4))
    assert first.tables["board"][0]["first_stays"] != other.tables["board"][0]["first_stays"]
