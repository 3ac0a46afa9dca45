"""A file that is named brings what the same call of its harness wrote beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreshock.readers import ReadOptions
from foreshock.store import Store, add_paths

from . import _every_eval_ever_logs, _lighteval_logs
from ._lm_eval_logs import DATE_ID, choice_line, results, text_line, write_lines, write_pair
from ._read import Read, read_all

LINE = text_line(0, "a", "a", "a", filter="none", metrics=["exact_match"])


def told(reads: list[Read]) -> list[tuple[str, str, int, list[str]]]:
    """Model, task, responses and names of the files of every run."""
    rows = [(r.run.model, r.run.task, len(r.column("responses", "row")), r.run.sources) for r in reads]
    return sorted((model, task, n, sorted(Path(s.path).name for s in sources)) for model, task, n, sources in rows)


def two_tasks(folder: Path) -> tuple[Path, Path, Path]:
    """Results of the tasks t and u, and samples of both."""
    header, more = (results(task, {"exact_match,none": 1.0}, n=1) for task in "tu")
    for part in ("results", "configs", "versions", "n-shot", "n-samples"):
        header[part] |= more[part]
    place, first = write_pair(folder, "t", header, [LINE])
    return place, first, write_lines(folder / f"samples_u_{DATE_ID}.jsonl", [LINE])


def test_lm_eval_results_bring_all_their_samples_and_samples_the_results_of_their_task(tmp_path: Path) -> None:
    place, first, _ = two_tasks(tmp_path)
    everything, _ = read_all(tmp_path)
    by_results, failures = read_all(place)
    assert told(by_results) == told(everything)
    assert [task for _, task, _, _ in told(by_results)] == ["t", "u"]
    by_samples, more = read_all(first)
    assert told(by_samples) == told(everything)[:1]
    assert by_samples[0].run.run_key == everything[0].run.run_key
    assert not [*failures, *more, *by_samples[0].warnings]


def test_files_of_other_moments_and_of_others_stay_out(tmp_path: Path) -> None:
    place, *_ = two_tasks(tmp_path)
    write_lines(tmp_path / "samples_t_2020-01-01T00-00-00.000000.jsonl", [LINE])
    (tmp_path / f"notes_{DATE_ID}.jsonl").write_text('{"item": 1, "score": 1}\n')
    (tmp_path / f"damaged_{DATE_ID}.jsonl").write_text('{"doc_id": 1, "resp')
    reads, failures = read_all(place)
    assert [task for _, task, _, _ in told(reads)] == ["t", "u"]
    assert not failures


def test_results_without_a_moment_bring_the_samples_of_their_folder(tmp_path: Path) -> None:
    header = results("t", {"acc,none": 1.0})
    place = tmp_path / "results.json"
    place.write_text(json.dumps(header), "utf-8")
    line = choice_line(0, 1, [-3.0, -1.0], texts=False)
    (tmp_path / "pretrained__org__m_t.jsonl").write_text(json.dumps([line]), "utf-8")
    assert told(read_all(place)[0]) == told(read_all(tmp_path / "pretrained__org__m_t.jsonl")[0])
    assert told(read_all(place)[0])[0][2] == 1


def test_a_link_to_results_and_results_named_twice_bring_the_samples_once(tmp_path: Path) -> None:
    place, first, second = two_tasks(tmp_path)
    reads, _ = read_all(place, first, place, second)
    assert [n for *_, n, _ in told(reads)] == [1, 1]


@pytest.mark.parametrize("name", ["results", "details"])
def test_lighteval(tmp_path: Path, name: str) -> None:
    rows = [_lighteval_logs.choice_row(k, 1, [-4.5, -1.25]) for k in range(3)]
    value = _lighteval_logs.results({task: {"acc": 1.0} for task in ("mmlu:law|5", "arc|0")}, {"mmlu:law|5": 3})
    places = {
        "results": _lighteval_logs.write_results(tmp_path, value),
        "details": _lighteval_logs.write_details(tmp_path, "mmlu:law|5", rows),
    }
    everything, _ = read_all(tmp_path)
    reads, failures = read_all(places[name])
    wanted = told(everything) if name == "results" else [run for run in told(everything) if run[2]]
    assert told(reads) == wanted
    assert not failures


def test_every_eval_ever(tmp_path: Path) -> None:
    _every_eval_ever_logs.write_small(tmp_path)
    pairs = {p: p.with_name(p.stem + "_samples.jsonl") for p in tmp_path.rglob("*.json")}
    pairs = {log: samples for log, samples in pairs.items() if samples.exists()}
    assert pairs
    for log, samples in pairs.items():
        both, _ = read_all(log, samples)
        assert told(read_all(log)[0]) == told(both)
        assert told(read_all(samples)[0]) == [run for run in told(both) if run[2]]


def test_what_was_read_without_its_samples_is_read_again_with_them(tmp_path: Path) -> None:
    place, first, second = two_tasks(tmp_path / "logs")
    samples = {path: path.read_bytes() for path in (first, second)}
    for path in samples:
        path.unlink()
    store = Store.open(tmp_path / "store", create=True)
    assert {run.counts.delivered for run in add_paths(store, [place], ReadOptions()).added} == {0}
    for path, data in samples.items():
        path.write_bytes(data)
    assert {run.counts.delivered for run in add_paths(store, [place], ReadOptions()).added} == {1}
    assert {run.counts.delivered for run in store.snapshot().runs()} == {1}
    again = add_paths(store, [place], ReadOptions())
    assert not again.added
    assert place in again.skipped
