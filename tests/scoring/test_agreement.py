"""Our scores beside the harness's, and what the logs lack."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from foreshock.scoring import agreement, needs, score
from foreshock.store import Store, add_paths

_spec = spec_from_file_location("scoring_stores", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


def test_disagreements_are_counted_and_shown(tmp_path):
    store = stores.fill(tmp_path / "s")
    assert agreement(store.snapshot()) == []  # nothing of ours to compare yet
    score(store)
    choices, sums = agreement(store.snapshot())
    assert (sums.harness, sums.metric, sums.comparable, sums.n, sums.agree) == (
        "exact_match",
        "exact_match",
        True,
        3,
        3,
    )
    assert (choices.harness, choices.metric, choices.n, choices.agree) == ("acc", "multiple_choice_grade", 3, 2)
    (example,) = choices.examples
    assert (example.item_id, example.epoch, example.row, example.ours, example.harness) == ("1", 1, 1, 0, 1)


def test_answers_that_we_do_not_have_are_counted_apart(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    graded = [(0, "exact_match", 1.0), (3, "exact_match", 0.0)]
    store.write(stores.run(), stores.batches(stores.SUMS, graded))
    score(store, ["exact_match"])
    (found,) = agreement(store.snapshot())
    assert (found.n, found.agree, found.unparsed) == (1, 1, 1)


def test_other_measurements_are_not_called_disagreement(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    graded = [(0, "f1", 0.4), (0, "includes", 1.0), (1, "includes", 1.0), (0, "acc_norm", 1.0), (0, "odd", 0.0)]
    store.write(stores.run(), stores.batches(stores.SUMS, graded))
    score(store)
    found = {a.harness: a for a in agreement(store.snapshot())}
    assert set(found) == {"includes", "odd"}  # f1 is no 0/1 score; the counterpart of acc_norm was not asked for
    assert not found["includes"].comparable
    assert (found["includes"].n, found["includes"].agree) == (2, 1)


def test_the_length_normalised_accuracy_has_its_own_counterpart(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    rows = [row | {"choices": ["xxxx", "y"], "targets": ["xxxx"], "gold_index": 0} for row in stores.CHOICES]
    graded = [(0, "acc_norm", 1.0), (1, "acc_norm", 1.0), (2, "acc_norm", 0.0)]
    store.write(stores.run(), stores.batches(rows, graded))
    score(store, ["multiple_choice_grade", "multiple_choice_grade(length=characters)"])
    (found,) = agreement(store.snapshot())
    # per character: -.25 against -2, -.25 against -2, -.75 against -.5
    assert (found.metric, found.n, found.agree) == ("multiple_choice_grade(length=characters)", 3, 3)


def test_what_is_missing_is_listed_with_the_way_to_get_it(tmp_path):
    store = stores.fill(tmp_path / "s")
    lacks = {(lack.task, lack.metric): lack for lack in needs(store.snapshot())}
    assert lacks["sums", "gold_logprob(per=token)"].missing == ("gold_token_logprobs",)
    assert "gold_token_logprobs in each sample" in lacks["sums", "gold_logprob(per=token)"].advice
    assert "--log_samples" in lacks["sums", "gold_logprob"].advice
    assert ("choices", "gold_logprob") not in lacks
    assert ("choices", "char_similarity") not in lacks  # makes no sense there: nothing is missing
    assert ("sums", "brier") not in lacks
    score(store)
    assert {(lack.task, lack.metric): lack for lack in needs(store.snapshot())} == lacks


def test_a_task_known_only_by_its_totals_lacks_everything(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    store.write(stores.run(), [])
    lacks = needs(store.snapshot(), ["exact_match"], tasks=["sums"])
    assert [(lack.metric, lack.missing) for lack in lacks] == [("exact_match", ("answer", "targets"))]


def test_real_logs_agree_where_both_measure_the_same(shared_data, tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    add_paths(store, [shared_data / "logs" / "inspect", shared_data / "logs" / "lm_eval_0.4"])
    told = score(store)
    assert told.failures == {}
    found = agreement(store.snapshot())
    same = [a for a in found if a.comparable]
    assert {"choice", "exact_match"} <= {a.harness for a in same}
    assert sum(a.n for a in same) > 20
    assert [a for a in same if a.agree != a.n] == []
    assert score(store).written == 0
