"""A store is filled with scores: the right ones, only once, in equal bytes wherever the work ran."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from foreshock._base import MetricError
from foreshock.metrics import get_metric, metric
from foreshock.scoring import default_metrics, needs, score, stored_specs
from foreshock.store import Store

_spec = spec_from_file_location("scoring_stores", Path(__file__).with_name("_stores.py"))
stores = module_from_spec(_spec)
_spec.loader.exec_module(stores)


def files(store, *tables):
    paths = [path for table in tables for path in (store.folder / table).rglob("*") if path.is_file()]
    return {path.relative_to(store.folder).as_posix(): path.read_bytes() for path in paths}


def test_every_score_is_as_made_by_hand(tmp_path):
    store = stores.fill(tmp_path / "s")
    score(store)
    found = stores.scores(store, tasks=["sums"])
    exact = {item: found[item, "exact_match", 1] for item in "abcde"}
    assert exact == {
        "a": (1.0, "scored"),
        "b": (0.0, "scored"),
        "c": (0.0, "scored"),
        "d": (None, "unparsed"),
        "e": (None, "needs"),
    }
    assert found["c", "char_similarity", 1] == (pytest.approx(2 / 3), "scored")
    assert found["c", "numeric_closeness", 1] == (pytest.approx(1 - 1 / 247), "scored")
    assert found["c", "position_accuracy", 1] == (pytest.approx(3 / 4), "scored")
    found = stores.scores(store, tasks=["choices"])
    assert [found[str(i), "multiple_choice_grade", 1][0] for i in range(3)] == [1, 0, 1]
    assert [found[str(i), "gold_logprob", 1][0] for i in range(3)] == [-1, -2, -0.5]
    assert [found[str(i), "choice_margin", 1][0] for i in range(3)] == [1, -1, 2.5]
    assert found["0", "char_similarity", 1] == (None, "needs")


def test_what_makes_no_sense_leaves_no_column_and_is_remembered(tmp_path):
    store = stores.fill(tmp_path / "s")
    told = score(store)
    names = {m.partition("@")[0] for _, m, *_ in [(0, key[1]) for key in stores.scores(store)]}
    assert "pass_rate" not in names
    per_token = get_metric("gold_logprob(per=token)")
    assert told.inapplicable[per_token.id] == {"sums": "no gold_token_logprobs", "choices": "no gold_token_logprobs"}
    assert told.inapplicable[get_metric("pass_rate").id] == dict.fromkeys(
        ("choices", "sums"), "no item was answered more than once"
    )
    assert told.inapplicable[get_metric("brier").id] == {"sums": "no choice_logprobs, gold_index"}
    assert told.inapplicable[get_metric("char_similarity").id] == {"choices": "has choices"}
    (segment,) = store.snapshot().segments("responses")
    assert not store.snapshot().has_scores(segment, per_token.id)
    assert store.stream("scoring").read()[0].value["inapplicable"][segment.sha256][per_token.id]


def test_a_second_call_does_nothing(tmp_path):
    store = stores.fill(tmp_path / "s")
    first = score(store)
    before = files(store, "commits", "scores", "state")
    again = score(Store.open(store.folder))
    assert (again.written, again.kept) == (0, len(first.metrics) * first.segments)
    assert files(store, "commits", "scores", "state") == before


def test_a_new_metric_and_a_new_run_are_all_that_is_done(tmp_path):
    store = stores.fill(tmp_path / "s")
    score(store, ["exact_match"])
    before = stores.scores(store)
    told = score(store, ["exact_match", "exact_match(normalise=casefold)"])
    assert (told.written, told.kept) == (1, 1)
    assert stores.scores(store) == before  # the two exact matches share a name and here their values
    store.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))
    told = score(store, ["exact_match"])
    assert (told.written, told.kept) == (1, 1)
    ids = {get_metric("exact_match").id, get_metric("exact_match(normalise=casefold)").id}
    assert ids <= set(stored_specs(store.snapshot()))


def test_the_scores_of_the_harness_stay_as_they_are(tmp_path):
    store = stores.fill(tmp_path / "s")
    before = store.snapshot().scan("scores").collect()
    assert set(before["source"]) == {"harness"}
    score(store)
    assert store.snapshot().scan("scores", source="harness").collect().equals(before)


def test_serial_threads_and_processes_give_equal_bytes(tmp_path):
    kept = []
    for name, pool in [
        ("serial", None),
        ("threads", ThreadPoolExecutor(3)),
        ("processes", ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))),
    ]:
        store = stores.fill(tmp_path / name, epochs=2)
        store.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))
        told = score(store, executor=pool)
        assert told.segments == 2
        if pool:
            pool.shutdown()
        commits = set(files(store, "commits"))  # named by their content; the time stands beside it
        kept.append((files(store, "scores"), commits, told))
    assert kept[0] == kept[1] == kept[2]


class Dying(ThreadPoolExecutor):
    """A pool of which a worker is killed at the third job; after that it takes no more."""

    jobs = 0

    def submit(self, *args, **kwargs):
        self.jobs += 1
        if self.jobs == 3:
            future = Future()
            future.set_exception(BrokenProcessPool("killed"))
            return future
        if self.jobs > 3:
            raise BrokenProcessPool("killed")
        return super().submit(*args, **kwargs)


def test_the_work_of_a_killed_worker_is_done_here(tmp_path):
    alone = stores.fill(tmp_path / "alone")
    told = score(alone)
    with Dying(2) as pool:
        broken = stores.fill(tmp_path / "broken")
        assert score(broken, executor=pool) == told
    assert files(broken, "scores") == files(alone, "scores")


def test_an_interrupted_call_keeps_what_was_done_and_goes_on(tmp_path):
    whole = stores.fill(tmp_path / "whole")
    whole.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))
    score(whole)
    store = stores.fill(tmp_path / "cut")
    store.write(stores.run(model="m-2b"), stores.batches(stores.SUMS))

    def impatient(stage, done, total):
        if done == total:  # the second segment is at its last rows
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(store, progress=impatient)
    first, second = (bool(store.snapshot().scores(s)) for s in store.snapshot().segments("responses"))
    assert (first, second) == (True, False)
    told = score(store)
    assert told.written > 0
    assert told.kept > 0
    assert files(store, "scores") == files(whole, "scores")
    assert stores.scores(store) == stores.scores(whole)


def test_a_failing_metric_fails_its_rows_only(tmp_path):
    @metric(kind="continuous", needs=("answer",), name="test_fragile")
    def fragile():
        def read(response):
            if response.answer == "6":
                raise RuntimeError("cannot read six")
            return float(response.answer == "4")

        return read

    store = stores.fill(tmp_path / "s")
    told = score(store, [fragile(), "exact_match"])
    assert told.failures == {fragile().id: (1, "RuntimeError: cannot read six")}
    found = stores.scores(store, tasks=["sums"])
    assert [found[i, "test_fragile", 1][1] for i in "abcde"] == ["scored", "failed", "scored", "unparsed", "needs"]
    assert found["b", "exact_match", 1] == (0.0, "scored")


def test_named_values_are_columns_of_their_own(tmp_path):
    @metric(kind="continuous", needs=("output",), names=("words", "letters"), name="test_two")
    def two():
        return lambda r: {"words": len(r.output.split()), "letters": sum(map(str.isalpha, r.output))}

    store = stores.fill(tmp_path / "s")
    assert score(store, [two()]).written == 2
    found = store.snapshot().scan("scores", source="foreshock", tasks=["sums"]).collect()
    by_id = {i: sorted(f["value"].drop_nulls()) for (i,), f in found.group_by("metric_id")}
    assert by_id == {two().id: [2, 3, 3, 3], f"{two().id}/letters": [4, 4, 4, 5]}
    assert score(store, [two()]).written == 0


def test_epochs_in_several_segments_make_one_pass_rate(tmp_path, monkeypatch):
    import foreshock.store._segments as segments

    whole = stores.fill(tmp_path / "whole", epochs=3)
    monkeypatch.setattr(segments, "SEGMENT_ROWS", 4)
    store = Store.open(tmp_path / "cut", create=True)
    rows = [row | {"epoch": e + 1} for e in range(3) for row in stores.SUMS]
    rows[0]["answer"] = "wrong"

    def in_pieces():
        for table in stores.batches(rows):
            for i in range(0, table.rows, 4):
                yield table._replace(columns={k: v[i : i + 4] for k, v in table.columns.items()})

    monkeypatch.setattr(segments, "MAX_ROWS", 4)
    store.write(stores.run(), in_pieces())
    assert len(store.snapshot().segments("responses")) > 2
    score(store)
    score(whole)
    found = stores.scores(store)
    assert [found["a", "pass_rate", e][0] for e in (1, 2, 3)] == [pytest.approx(2 / 3)] * 3
    assert found["b", "pass_rate", 1] == (0.0, "scored")
    assert stores.scores(whole)["a", "pass_rate", 2] == (1.0, "scored")


def test_a_log_without_answers_is_not_a_model_without_answers(tmp_path):
    """No answer anywhere: unparsed only where the harness found nothing right either."""
    store = Store.open(tmp_path / "s", create=True)
    silent = [row | {"answer": None, "delivery": "ok", "output": "?"} for row in stores.SUMS]
    for model, grades in [("right", [1.0, 0.0]), ("wrong", [0.0, 0.0]), ("ungraded", [])]:
        graded = [(i, "exact_match", g) for i, g in enumerate(grades)]
        store.write(stores.run(model=model), stores.batches(silent, graded))
    score(store, ["exact_match"])
    frame = store.snapshot().scan("scores", source="foreshock", columns=["run_key", "status"]).collect()
    statuses = {key.partition("/")[0]: set(f["status"]) for (key,), f in frame.group_by("run_key")}
    assert statuses == {"wrong": {"unparsed"}}  # of the other two not one row is scored, so no column is left


def test_a_superseded_run_is_scored_with_its_segment_and_does_not_count(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    store.write(stores.run(created="2024-01-01"), stores.batches(stores.SUMS[:2]))
    store.write(stores.run(created="2024-01-02"), stores.batches(stores.SUMS))
    score(store)
    assert len([k for k in stores.scores(store) if k[1] == "exact_match"]) == 5


def test_logs_that_dispute_an_item_without_text_score_nothing_on_it(tmp_path):
    store = Store.open(tmp_path / "s", create=True)
    bare = [{"item_id": i, "targets": [t], "output": "?", "answer": "4"} for i, t in (("a", "4"), ("b", "5"))]
    other = [bare[0] | {"targets": ["5"]}, bare[1] | {"targets": None}]
    store.write(stores.run(), stores.batches(bare))
    store.write(stores.run(model="m-2b"), stores.batches(other))
    score(store, ["exact_match"])
    found = store.snapshot().scan("scores", source="foreshock", columns=["run_key", "item_id", "value", "status"])
    # of b one log says the target and the other nothing, which is no dispute
    assert sorted(found.collect().rows()) == [
        ("m-1b/sums", "a", None, "needs"),
        ("m-1b/sums", "b", 0.0, "scored"),
        ("m-2b/sums", "a", None, "needs"),
        ("m-2b/sums", "b", 0.0, "scored"),
    ]


def test_an_empty_store_has_nothing_to_score(tmp_path):
    told = score(Store.open(tmp_path / "s", create=True))
    assert (told.written, told.segments, told.metrics) == (0, 0, default_metrics())


def test_unknown_metrics_stop_before_anything_is_done(tmp_path):
    store = stores.fill(tmp_path / "s")
    with pytest.raises(MetricError, match="did you mean"):
        score(store, ["exact_match", "brierr"])
    assert not stores.scores(store)


def test_pass_at_k_of_the_harness_in_a_store(tmp_path):
    rows = [{"item_id": item, "epoch": e} for item in "ab" for e in (1, 2, 3)]
    graded = [(i, "passed", float(i == 1)) for i in range(6)]  # one of three attempts at a, none at b
    store = Store.open(tmp_path / "s", create=True)
    store.write(stores.run(task="code"), stores.batches(rows, graded))
    (lack,) = needs(store.snapshot(), ["pass_at_k(k=2)"])
    assert lack.advice.endswith("; or, made of the harness's own score: pass_at_k(of=harness)")
    assert score(store, ["pass_at_k"]).written == 0
    score(store, ["pass_at_k(k=2, of=harness)"])
    found = {item: value for (item, _, _), (value, _) in stores.scores(store).items()}
    assert found == {"a": pytest.approx(2 / 3), "b": 0}
