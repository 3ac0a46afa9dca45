"""The main job on stores whose truth is known."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from foreshock._base import ConfigError, canonical
from foreshock.check import CheckOptions, check
from foreshock.records import Batch, Document, Run
from foreshock.store import Store, add_paths

from .conftest import Ladder, ladder_in

# 10 characters, each right with p: exact match p^10 is sharp while log p rises evenly
SMOOTH = {"1m": 0.30, "3m": 0.51, "10m": 0.70, "30m": 0.83, "100m": 0.91, "300m": 0.955}


@pytest.fixture(scope="module")
def smooth(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Document]:
    """A store with the smooth ladder, and what is found in it at a fixed moment."""
    store = Store.open(tmp_path_factory.mktemp("smooth") / "store", create=True)
    ladder_in(store)(SMOOTH)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return store, check(store)


def test_a_smooth_ability_behind_a_sharp_metric_is_never_called_a_break(smooth: tuple[Store, Document]) -> None:
    document = smooth[1]
    (finding,) = document.findings
    assert finding.verdict in ("mirage", "smooth")
    assert finding.state == "ok"
    (verdict,) = document.tables["verdicts"]
    assert (verdict["hard"], verdict["points"], verdict["items"]) == ("exact_match", 6, 200)
    assert verdict["twin"].startswith("gold_logprob")


def test_a_planted_break_is_found_and_fires(store: Store, ladder: Ladder) -> None:
    ladder({"1m": 0.30, "3m": 0.31, "10m": 0.32, "30m": 0.95, "100m": 0.952, "300m": 0.954})
    (finding,) = check(store).findings
    assert (finding.verdict, finding.state) == ("break", "firing")


def test_three_models_are_said_to_be_too_few(store: Store, ladder: Ladder) -> None:
    ladder(dict(list(SMOOTH.items())[:3]), seeds=1)
    document = check(store)
    (finding,) = document.findings
    assert finding.state == "no-data"
    assert document.tables["verdicts"][0]["reason"] == "3 of >= 4 models"
    assert ("models on the axis", 3.0, 4.0) in [(need.what, need.have, need.enough) for need in finding.needs]


def test_the_score_is_the_harnesss_and_both_denominators_are_there(store: Store, ladder: Ladder) -> None:
    ladder({"1m": 0.9}, seeds=1)
    (row,) = check(store).tables["models"]
    logged = store.snapshot().scan("scores", source="harness").collect()["value"].mean()
    assert row["value"] == pytest.approx(logged, abs=1e-12)
    assert row["low"] < row["value"] < row["high"]
    assert (row["expected"], row["delivered"], row["unparsed_share"]) == (200, 200, 0.0)
    assert row["value_expected"] == pytest.approx(row["value"])


def test_over_all_expected_counts_right_responses_whatever_the_epochs(store: Store) -> None:
    # item 0 was answered twice and right both times, item 1 once and wrong; 10 responses were expected
    run = Run(run_key="k", format="test", reader="t@1", model="p-1b", task="sums", expected=10)
    rows = {
        "row": [0, 1, 2], "item_id": ["0", "0", "1"], "epoch": [1, 2, 1], "delivery": ["ok"] * 3,
        "output": ["1", "1", "2"], "answer": ["1", "1", "2"],
    }  # fmt: skip
    items = {"item_id": ["0", "1"], "input": ["a", "b"], "targets": [["1"], ["1"]]}
    store.write(run, [Batch("items", items), Batch("responses", rows)])
    (row,) = check(store).tables["models"]
    assert (row["value"], row["value_expected"]) == (0.5, pytest.approx(0.2))


def test_nothing_is_ruled_out_that_no_log_states(smooth: tuple[Store, Document]) -> None:
    (finding,) = smooth[1].findings
    status = {alternative.name: alternative.status for alternative in finding.alternatives}
    assert status["harness or scorer change"] == "unchecked"
    assert status["prompt change"] == "unchecked"


def test_a_score_of_unknown_meaning_is_judged_only_with_its_assumptions_told(store: Store) -> None:
    for size in ("1b", "2b", "4b", "8b"):
        run = Run(run_key=size, format="inspect", reader="t@1", model=f"p-{size}", task="sums")
        rows = list(range(20))
        responses = {"row": rows, "item_id": [str(i) for i in rows], "delivery": ["ok"] * 20, "output": ["x"] * 20}
        scores = {
            "row": rows, "metric_id": ["our_own_score"] * 20, "source": ["harness"] * 20,
            "value": [float(i % 2) for i in rows], "status": ["scored"] * 20,
        }  # fmt: skip
        store.write(run, [Batch("responses", responses), Batch("scores", scores)])
    (finding,) = check(store).findings
    told = {alternative.name: (alternative.status, alternative.why) for alternative in finding.alternatives}
    assert told["score scale"][0] == told["guessing"][0] == "unchecked"
    assert "assumed" in told["score scale"][1]
    assert "assumed" in told["guessing"][1]


def test_the_same_store_gives_the_same_bytes(smooth: tuple[Store, Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    store, document = smooth
    assert canonical(check(store)) == canonical(document)


def test_items_that_moved_are_shown_with_both_outputs(smooth: tuple[Store, Document]) -> None:
    document = smooth[1]
    moved = document.tables["moved"]
    assert moved
    assert all(row["from_score"] != row["to_score"] for row in moved)
    assert all(row["question"] == f"write {row['target']}" for row in moved)
    assert document.findings[0].evidence_total >= len(moved)


def test_totals_are_shown_and_nothing_is_claimed(store: Store) -> None:
    for size, value in (("1b", 0.2), ("2b", 0.3), ("4b", 0.4), ("8b", 0.5)):
        run = Run(run_key=size, format="lm-eval", reader="t@1", model=f"p-{size}", task="lambada")
        row = {"metric_id": ["acc"], "value": [value], "stderr": [0.01], "source": ["harness"]}
        store.write(run, [Batch("aggregates", row)])
    document = check(store)
    (finding,) = document.findings
    assert (finding.verdict, finding.state) == ("unresolved", "no-data")
    assert [row["value"] for row in document.tables["models"]] == [0.2, 0.3, 0.4, 0.5]
    assert len(document.tables["series"][0]["points"]) == 4
    assert document.tables["trust"][0]["lights"]["delivered"]["state"] == "no-data"


def test_a_selection_that_fits_nothing_says_so(store: Store, ladder: Ladder) -> None:
    with pytest.raises(ConfigError, match="no runs"):
        check(store)
    ladder({"1m": 0.9}, seeds=1)
    with pytest.raises(ConfigError, match="there is 1 task: digits"):
        check(store, CheckOptions(tasks=["nothing*"]))
    assert not check(store, CheckOptions(ignore=["FS3"])).findings


def test_the_document_survives_its_own_json(smooth: tuple[Store, Document]) -> None:
    document = smooth[1]
    again = msgspec.json.decode(canonical(document), type=Document)
    assert canonical(again) == canonical(document)


def test_of_a_log_without_samples_delivery_cannot_be_seen(store: Store, shared_data: Path) -> None:
    add_paths(store, [shared_data / "logs/inspect/every_eval_ever/data_with_llm_scoring.json"])
    document = check(store)
    (card,) = document.tables["trust"]
    assert card["lights"]["delivered"]["state"] == "no-data"
    assert "cannot be seen" in card["lights"]["delivered"]["text"]
    assert not [finding for finding in document.findings if finding.code == "FS102"]
    assert document.counts["missing"] == 0


def test_a_task_that_is_not_there_is_answered_with_those_that_are(store: Store) -> None:
    for task in ("leaderboard_mmlu_pro", "gsm8k", "arc"):
        store.write(Run(run_key=task, format="t", reader="t@1", model="m-1b", task=task), [])
    with pytest.raises(ConfigError) as told:
        check(store, CheckOptions(tasks=["mmlu"]))
    assert str(told.value) == (
        "no task is called 'mmlu'; expected a name, or a pattern such as '*mmlu*'; there are 3 tasks: "
        "leaderboard_mmlu_pro, arc, gsm8k; did you mean leaderboard_mmlu_pro? see what there is: foreshock ls"
    )
    with pytest.raises(
        ConfigError, match=r"no model of the runs that fit so far is called 'm-2b'.*there is 1 model: m-1b"
    ):
        check(store, CheckOptions(tasks=["arc"], models=["m-2b"]))
    with pytest.raises(ConfigError, match="none of the store's 3 runs is one of those that were given"):
        check(store, CheckOptions(runs=frozenset({"gone"})))


@pytest.mark.parametrize(
    ("log_format", "told", "silent"),
    [
        ("lm-eval", "--log_samples", "--kind"),
        ("table", "a row for each response", "lm-eval"),
        ("inspect", "header", "lm-eval"),
    ],
)
def test_what_to_do_about_totals_fits_their_format(store: Store, log_format: str, told: str, silent: str) -> None:
    for size, task in (("1b", "a"), ("2b", "a"), ("3b", "a"), ("1b", "b"), ("2b", "b")):
        run = Run(run_key=f"{size}{task}", format=log_format, reader="t@1", model=f"p-{size}", task=task)
        store.write(run, [Batch("aggregates", {"metric_id": ["own"], "value": [0.5], "source": ["harness"]})])
    document = check(store)
    said = [card["lights"]["metric"]["text"] for card in document.tables["trust"]]
    said += [finding.advice for finding in document.findings] + [row["text"] for row in document.tables["opening"]]
    assert any(told in text for text in said)
    assert not any(silent in text for text in said)
    assert "2 to 3 of >= 4 models" in " ".join(said), "numbers that differ are a range"
    assert not any("…" in text for text in said)
