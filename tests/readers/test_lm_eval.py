"""lm-evaluation-harness files of every layout, and what is odd in them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ._lm_eval_logs import DATE_ID, choice_line, results, text_line, write_lines, write_pair
from ._read import failure, read_all, read_one

LLS = [-4.5, -1.25, -3.0, -9.0]
GSM8K = {
    "filter_list": [{"name": "strict-match"}, {"name": "flexible-extract"}],
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    "output_type": "generate_until",
}


def test_choices_as_text(tmp_path: Path) -> None:
    lines = [choice_line(i, i % 4, LLS, filter="none", metrics=["acc"]) for i in range(8)]
    write_pair(tmp_path, "mc", results("mc", {"acc,none": 0.25, "acc_stderr,none": "N/A"}, n=8), lines)
    read = read_one(tmp_path)
    assert read.column("responses", "choice_logprobs") == [LLS] * 8
    assert read.column("responses", "gold_logprob") == [LLS[i % 4] for i in range(8)]
    assert read.column("responses", "answer") == [f"choice {i}.1" for i in range(8)]
    assert read.column("items", "gold_index") == [0, 1, 2, 3] * 2
    assert read.column("items", "choices")[3] == [f"choice 3.{k}" for k in range(4)]
    assert read.column("items", "targets")[3] == ["choice 3.3"]
    assert read.column("items", "subset") == [f"s{i % 3}" for i in range(8)]
    assert read.column("items", "input")[2] == "Question 2?"
    assert read.column("scores", "value") == [0.0, 1.0, 0.0, 0.0] * 2
    assert read.column("aggregates", "n") == [8]
    assert read.column("aggregates", "stderr") == [None]
    assert read.run.expected == 8
    assert read.run.model == "org/model-1b@step3000"
    assert read.run.created == "2024-07-01T10:11:12Z"
    assert read.run.writer == "0.4.7"
    assert not read.warnings


def test_choices_as_numbers_in_an_array(tmp_path: Path) -> None:
    """0.4.0 to 0.4.2: numbers stay numbers, arguments are lists, the file is one indented array."""
    lines = [choice_line(i, 1, LLS, texts=False) for i in range(5)]
    header = results("mc", {"acc,none": 1.0})
    del header["model_name"], header["date"]
    (tmp_path / "results.json").write_text(json.dumps(header), "utf-8")
    (tmp_path / "pretrained__org__model-1b_mc.jsonl").write_text(json.dumps(lines, indent=2), "utf-8")
    read = read_one(tmp_path)
    assert read.column("responses", "choice_logprobs") == [LLS] * 5
    assert read.column("items", "gold_index") == [1] * 5
    assert read.column("scores", "value") == [1.0] * 5
    assert [s.path.rpartition("/")[2] for s in read.run.sources] == [
        "results.json",
        "pretrained__org__model-1b_mc.jsonl",
    ]


def test_filters_named_by_the_lines(tmp_path: Path) -> None:
    lines = [
        text_line(i, f"so {i}", a, str(i), filter=f, metrics=["exact_match"])
        for f, a in (("strict-match", "[invalid]"), ("flexible-extract", "7"))
        for i in range(10)
    ]
    write_pair(tmp_path, "gsm8k", results("gsm8k", {"exact_match,strict-match": 0}, n=10, config=GSM8K), lines)
    read = read_one(tmp_path)
    assert read.column("responses", "filter") == ["strict-match"] * 10 + ["flexible-extract"] * 10
    assert read.column("responses", "answer") == [None] * 10 + ["7"] * 10
    assert len(read.column("items", "item_id")) == 10
    assert read.run.expected == 20


def test_filters_told_apart_by_their_turn(tmp_path: Path) -> None:
    """Before 0.4.7 no line names its filter: the k-th line of a document is of the k-th filter of the configuration."""
    lines = [text_line(i, f"so {i}", a, str(i)) for a in ("[invalid]", "7") for i in range(10)]
    write_pair(tmp_path, "gsm8k", results("gsm8k", {"exact_match,strict-match": 0}, n=10, config=GSM8K), lines)
    read = read_one(tmp_path)
    assert read.column("responses", "filter") == ["strict-match"] * 10 + ["flexible-extract"] * 10
    assert len(read.column("items", "item_id")) == 10


def test_filters_without_any_name(tmp_path: Path) -> None:
    """No results file: same responses with other answers are filters, other responses are another run."""
    twice = [text_line(i, f"so {i}", a, str(i)) for a in ("[invalid]", str(7)) for i in range(10)]
    filters = read_one(write_lines(tmp_path / "a" / f"samples_t_{DATE_ID}.jsonl", twice))
    assert filters.column("responses", "filter") == ["filter 1"] * 10 + ["filter 2"] * 10
    assert any("told apart by their order" in w for w in filters.warnings)
    runs = [text_line(i, f"so {i} {k}", "7", str(i)) for k in (1, 2) for i in range(10)]
    reads, _ = read_all(write_lines(tmp_path / "b" / f"samples_t_{DATE_ID}.jsonl", runs))
    assert [len(r.column("responses", "row")) for r in reads] == [10, 10]
    assert reads[0].run.run_key != reads[1].run.run_key


def test_two_runs_appended_to_one_file(tmp_path: Path) -> None:
    """The results file is of the last run; its aggregates must not be given to the first."""
    lines = [
        text_line(i, f"run {k}", str(i + k), str(i), filter="none", metrics=["exact_match"])
        for k in (1, 0)
        for i in range(6)
    ]
    write_pair(tmp_path, "t", results("t", {"exact_match,none": 1.0}, n=6), lines)
    (first, second), failures = read_all(tmp_path)
    assert not failures
    assert first.column("scores", "value") == [0.0] * 6
    assert second.column("scores", "value") == [1.0] * 6
    assert first.column("aggregates", "value") == []
    assert second.column("aggregates", "value") == [1.0]
    assert second.column("responses", "row") == list(range(6))
    assert len(second.column("items", "item_id")) == 6
    assert any("another run follows" in w for w in first.warnings)
    assert first.run.ingest_id != second.run.ingest_id


def test_a_repeated_line_is_kept_in_its_run(tmp_path: Path) -> None:
    lines = [
        text_line(i, f"so {n}", "1", "1", filter="none", metrics=["exact_match"]) for n, i in enumerate((0, 1, 1, 2))
    ]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert read.column("responses", "item_id") == ["0", "1", "1", "2"]
    assert read.column("responses", "output") == ["so 0", "so 1", "so 2", "so 3"]


def test_unconditional_likelihoods_are_no_choices(tmp_path: Path) -> None:
    line = choice_line(0, 1, LLS, filter="none", metrics=["acc", "acc_mutual_info"], acc_mutual_info=1.0)
    arguments = list(line["arguments"].values())
    extra = [{"arg_0": "", "arg_1": a["arg_1"]} for a in arguments]
    line["arguments"] = {f"gen_args_{k}": a for k, a in enumerate([*arguments, *extra])}
    line["resps"] += [[[str(-k), "False"]] for k in range(1, 5)]
    write_pair(tmp_path, "mc", results("mc", {"acc,none": 1.0}, n=1), [line])
    read = read_one(tmp_path)
    assert read.column("responses", "choice_logprobs") == [LLS]
    assert len(read.column("items", "choices")[0]) == 4
    assert json.loads(read.column("responses", "meta")[0])["unconditional_logprobs"] == [-1, -2, -3, -4]
    assert dict(zip(read.column("scores", "metric_id"), read.column("scores", "value"), strict=True)) == {
        "acc": 1.0,
        "acc_mutual_info": 1.0,
    }


def test_letters_are_spelled_out_by_the_document(tmp_path: Path) -> None:
    line = choice_line(0, 2, LLS, filter="none", metrics=["acc"])
    for letter, request in zip("ABCD", line["arguments"].values(), strict=True):
        request["arg_1"] = f" {letter}"
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", [line]))
    assert read.column("items", "choices") == [[f"choice 0.{k}" for k in range(4)]]
    assert read.column("items", "gold_index") == [2]


def test_choice_between_two_contexts(tmp_path: Path) -> None:
    """winogrande: one continuation after two contexts; only ``acc`` of the likelier one tells the gold index."""
    lines = []
    for i, (lls, acc) in enumerate((([-1.0, -2.0], 1.0), ([-1.0, -2.0], 0.0), ([-5.0, -2.0], 0.0))):
        line = choice_line(i, 0, lls, filter="none", metrics=["acc"])
        del line["doc"]["choices"]
        for k, request in enumerate(line["arguments"].values()):
            request.update(arg_0=f"Sarah {k}", arg_1=" was late.")
        lines.append({**line, "target": "was late.", "acc": acc})
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert read.column("items", "gold_index") == [0, 1, 0]
    assert read.column("items", "choices") == [None] * 3
    assert read.column("responses", "answer") == ["0", "0", "1"]
    assert read.column("responses", "gold_logprob") == [-1.0, -2.0, -5.0]


def test_continuation_and_rolling(tmp_path: Path) -> None:
    lambada = {
        "doc_id": 0,
        "doc": {"text": "He opened the door"},
        "target": " door",
        "arguments": {"gen_args_0": {"arg_0": "He opened the", "arg_1": " door"}},
        "resps": [[["-2.5", "True"]]],
        "filtered_resps": [["-2.5", "True"]],
        "filter": "none",
        "metrics": ["perplexity", "acc"],
        "perplexity": -2.5,
        "acc": 1.0,
    }
    read = read_one(write_lines(tmp_path / "a" / f"samples_lambada_{DATE_ID}.jsonl", [lambada]))
    assert read.column("responses", "gold_logprob") == [-2.5]
    assert read.column("items", "input") == ["He opened the"]
    assert read.column("scores", "metric_id") == ["acc"], "a log-likelihood is not a score"
    assert json.loads(read.column("responses", "meta")[0]) == {"greedy": True, "perplexity": -2.5}
    assert any(w.startswith("perplexity is not a score") for w in read.warnings)
    rolling = {
        "doc_id": 0,
        "doc": {"page": "long"},
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": "long"}},
        "resps": [["-120.5"]],
        "filtered_resps": ["-120.5"],
        "filter": "none",
        "metrics": ["word_perplexity"],
        "word_perplexity": [-120.5, 30],
    }
    read = read_one(write_lines(tmp_path / "b" / f"samples_wiki_{DATE_ID}.jsonl", [rolling]))
    assert read.column("responses", "gold_logprob") == [-120.5]
    assert read.column("responses", "output") == [None]
    assert read.column("scores", "value") == []


def test_token_logprobs_and_repeats(tmp_path: Path) -> None:
    tokens = [-0.5, -0.25, -1.0]
    line = text_line(0, "12", "12", "12", filter="none", metrics=["exact_match", "gold_token_logprobs"])
    line |= {"gold_token_logprobs": tokens, "resps": [["12", "13"]]}
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", [line]))
    assert read.column("responses", "gold_token_logprobs")[0] == tokens
    assert read.column("responses", "gold_logprob")[0] == sum(tokens)
    assert read.column("responses", "output") == ["12", "13"]
    assert read.column("responses", "sample") == [0, 1]
    assert read.column("responses", "answer") == ["12", "13"], "the filter changed nothing"
    assert read.column("scores", "metric_id") == ["exact_match"]
    assert read.column("scores", "row") == [0]


def test_nan_bypass_and_values_that_are_no_scores(tmp_path: Path) -> None:
    more = {"filter": "none", "metrics": ["bypass", "bleu", "f1", "exact_match"], "bypass": 999, "bleu": ["a", "b"]}
    lines = [text_line(0, "a", "a", "a", **more, f1=math.nan), text_line(1, "b", "b", "b", **more, f1=0.5)]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    rows = list(zip(*(read.column("scores", c) for c in ("row", "metric_id", "value", "status")), strict=True))
    assert rows == [
        (0, "f1", None, "failed"),
        (0, "exact_match", 1.0, "scored"),
        (1, "f1", 0.5, "scored"),
        (1, "exact_match", 1.0, "scored"),
    ]
    assert json.loads(read.column("responses", "meta")[0]) == {"bleu": ["a", "b"]}
    assert any("bypass" in w and "told to score nothing" in w for w in read.warnings)


def test_metrics_that_only_some_lines_have(tmp_path: Path) -> None:
    """Before 0.4.7 the names of the metrics stand nowhere, and a task may leave one out."""
    lines = [text_line(0, "a", "a", "a"), text_line(1, "b", "b", "b", late_metric=0.25)]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert list(zip(read.column("scores", "metric_id"), read.column("scores", "value"), strict=True)) == [
        ("exact_match", 1.0),
        ("exact_match", 1.0),
        ("late_metric", 0.25),
    ]


def test_custom_aggregations_are_no_item_scores(tmp_path: Path) -> None:
    config = {"metric_list": [{"metric": "inst", "aggregation": "<function agg at 0x7f1>"}, {"metric": "mean_one"}]}
    line = text_line(0, "a", "a", "a", filter="none", metrics=["inst", "mean_one"], inst=3.0, mean_one=1)
    write_pair(tmp_path, "t", results("t", {"inst,none": 0.5}, n=1, config=config), [line])
    assert read_one(tmp_path).column("scores", "metric_id") == ["mean_one"]


def test_minus_infinity_and_what_is_no_number(tmp_path: Path) -> None:
    lines = [
        choice_line(0, 0, [-1.0, -math.inf], filter="none", metrics=["acc"]),
        choice_line(1, 0, [-1.0, math.nan], filter="none", metrics=["acc"]),
    ]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert read.column("responses", "choice_logprobs") == [[-1.0, -1e30], None]
    assert read.column("responses", "answer") == ["choice 0.0", None]


def test_question_without_a_known_field(tmp_path: Path) -> None:
    line = {**text_line(0, "a", "a", "a", filter="none", metrics=["exact_match"]), "doc": {"odd": "text"}}
    few = read_one(write_lines(tmp_path / "a" / f"samples_t_{DATE_ID}.jsonl", [line]))
    assert few.column("items", "input") == [None], "the prompt holds examples"
    assert any("no field known to hold the question" in w for w in few.warnings)
    header = results("t", {"exact_match,none": 1.0}, n=1)
    header |= {"n-shot": {"t": 0}, "configs": {"t": {"num_fewshot": 0}}}
    write_pair(tmp_path / "b", "t", header, [line])
    assert read_one(tmp_path / "b").column("items", "input") == ["Q: Question 0?\nA:"]


def test_items_without_a_question_are_matched_by_their_document(tmp_path: Path) -> None:
    """Not by their number, which depends on the order of ``--samples``."""
    keys = []
    for k, hashed in enumerate((True, False)):
        lines = []
        for i, odd in enumerate(("first", "second", "first")):
            line = text_line(i, "a", "a", "a", filter="none", metrics=["exact_match"])
            lines.append({**line, "doc": {"odd": odd}, **({"doc_hash": odd * 3} if hashed else {})})
        read = read_one(write_lines(tmp_path / str(k) / f"samples_t_{DATE_ID}.jsonl", lines))
        keys.append(read.column("items", "item_key"))
        assert keys[k] == read.column("responses", "item_key")
    for found in keys:
        assert found[0] == found[2] != found[1]
        assert all(len(key) == 64 for key in found)


def test_passage_and_question_identify_an_item_together(tmp_path: Path) -> None:
    lines = []
    for i in range(2):
        line = text_line(i, "yes", "yes", "yes", filter="none", metrics=["exact_match"])
        lines.append({**line, "doc": {"passage": f"Passage {i}.", "question": "Is it so?"}})
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert len(set(read.column("items", "item_key"))) == 2


def test_targets_that_are_lists(tmp_path: Path) -> None:
    lines = []
    for i, aliases in enumerate((["Paris", "paris"], None)):
        line = text_line(i, "Paris", "Paris", "['Paris', 'paris']", filter="none", metrics=["exact_match"])
        lines.append({**line, "doc": {"question": f"Q{i}", "aliases": aliases}})
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert read.column("items", "targets") == [["Paris", "paris"], ["['Paris', 'paris']"]]


def test_a_sample_without_a_response_is_missing(tmp_path: Path) -> None:
    lines = [text_line(0, "a", "a", "a"), {**text_line(1, "", "", "b"), "resps": [], "filtered_resps": []}]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    assert read.column("responses", "delivery") == ["ok", "missing"]


def test_samples_alone_and_results_alone(tmp_path: Path) -> None:
    folder = tmp_path / "org__model-1b"
    header = results("arc_easy", {"acc,none": 0.5, "acc_stderr,none": 0.05025189076296}, n=100)
    place, samples = write_pair(folder, "arc_easy", header, [choice_line(0, 1, LLS, filter="none", metrics=["acc"])])
    place = place.rename(tmp_path / place.name)
    alone = read_one(samples)
    assert (alone.run.model, alone.run.task) == ("org/model-1b", "arc_easy")
    assert {"model", "task"} <= set(alone.guesses)
    assert alone.run.expected is None
    means = read_one(place)
    assert means.run.expected is None, "no responses were announced, only their mean"
    assert means.column("aggregates", "n") == [100]
    assert means.column("responses", "row") == []


def test_several_tasks_and_groups(tmp_path: Path) -> None:
    """Every task is a run; a group is one, too, marked with its members, and its n is theirs."""
    tasks = {"g": {"alias": "g"}, "a": {"alias": " - a"}, "b": {"alias": " - b"}}
    header = results("g", {})
    header |= {
        "results": {t: {**m, "acc,none": 0.5} for t, m in tasks.items()},
        "groups": {"g": {"acc,none": 0.5}},
        "n-samples": {"a": {"effective": 10}, "b": {"effective": 30}},
        "configs": {t: {"num_fewshot": k} for k, t in enumerate("ab")},
        "n-shot": {},
        "versions": {"a": "Yaml", "b": 2.0},
    }
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    reads, _ = read_all(tmp_path)
    runs = {r.run.task: r for r in reads}
    assert runs["g"].run.meta["group_of"] == ["a", "b"]
    assert runs["g"].column("aggregates", "n") == [40]
    assert "group_of" not in runs["a"].run.meta
    assert runs["a"].run.conditions["shots"] == "0"
    assert runs["b"].run.conditions["shots"] == "1"
    assert (runs["a"].run.task_version, runs["b"].run.task_version) == (None, "2.0")
    assert len({r.run.run_key for r in reads}) == 3


@pytest.mark.parametrize("error", ["N/A", [], None, math.nan])
def test_standard_errors_that_are_none(tmp_path: Path, error: object) -> None:
    header = results("t", {"f1,none": 0.25, "f1_stderr,none": error})
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    assert read_one(tmp_path).column("aggregates", "stderr") == [None]


def test_an_impossible_standard_error_is_reported(tmp_path: Path) -> None:
    header = results("t", {"acc,none": 0.25, "acc_stderr,none": 0.0}, n=10)
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    assert any("impossible" in w for w in read_one(tmp_path).warnings)


def test_n_is_derived_only_where_it_follows(tmp_path: Path) -> None:
    stderr = math.sqrt(0.25 * 0.75 / 199)
    header = results("t", {"acc,none": 0.25, "acc_stderr,none": stderr})
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    exact = read_one(tmp_path)
    assert exact.column("aggregates", "n") == [200]
    assert "n" in exact.guesses
    header = results("t", {"acc,none": 0.25, "acc_stderr,none": stderr * 1.01})
    (tmp_path / f"results_{DATE_ID}.json").write_text(json.dumps(header), "utf-8")
    pooled = read_one(tmp_path)
    assert pooled.column("aggregates", "n") == [None]
    assert "n" not in pooled.guesses


def test_prompt_and_scorer_hashes_do_not_depend_on_addresses(tmp_path: Path) -> None:
    found = []
    for k, (text, metric) in enumerate((("0x7f1", "acc"), ("0x7f2", "acc"), ("0x7f1", "f1"))):
        config = {"doc_to_text": f"<function f at {text}>", "metric_list": [{"metric": metric}]}
        folder = tmp_path / str(k)
        write_pair(folder, "t", results("t", {"acc,none": 0.5}, config=config), [])
        found.append(read_one(folder / f"results_{DATE_ID}.json").run)
    assert found[0].prompt_hash == found[1].prompt_hash == found[2].prompt_hash
    assert found[0].scorer_hash == found[1].scorer_hash != found[2].scorer_hash


def test_which_chat_template_is_a_fact_of_the_run_and_no_condition(tmp_path: Path) -> None:
    told = []
    for k, facts in enumerate(
        ({"chat_template_sha": "aaa"}, {"chat_template_sha": "bbb"}, {"chat_template": "{{ text }}"}, {})
    ):
        folder = tmp_path / str(k)
        write_pair(folder, "t", {**results("t", {"acc,none": 0.5}, config={"doc_to_text": "q"}), **facts}, [])
        told.append(read_one(folder / f"results_{DATE_ID}.json").run)
    assert [run.conditions.get("chat_template") for run in told] == ["yes", "yes", "yes", None]
    assert [run.meta.get("chat_template") for run in told[:2]] == ["aaa", "bbb"]
    assert len({run.meta.get("chat_template") for run in told}) == 4
    assert told[0].prompt_hash == told[1].prompt_hash == told[2].prompt_hash != told[3].prompt_hash


def test_damaged_lines_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [json.dumps(text_line(i, "a", "a", "a", filter="none", metrics=["exact_match"])) for i in range(5)]
    lines[1] = lines[1][:50]
    lines[2] = '{"doc_id": 2, "doc": ' + "[" * 9000 + "]" * 9000 + "}"
    data = "\n".join(lines).encode() + b"\n" + b'{"doc_id": 5, "target": "\xe9"}\n' + lines[0].encode()[:80]
    path = tmp_path / f"samples_t_{DATE_ID}.jsonl"
    path.write_bytes(data)
    read = read_one(path)
    assert read.column("responses", "item_id") == ["0", "3", "4"]
    assert read.status == "partial"
    (told,) = [w for w in read.warnings if "could not be read" in w]
    assert told.startswith("4 lines could not be read and left out: 2 (")
    assert "not UTF-8" in told
    assert "nested too deeply" in told
    assert "7 (cut off" in told


def test_half_surrogate_pairs_and_bytes_in_texts(tmp_path: Path) -> None:
    lines = [text_line(i, f"out {i}", "a", "a", filter="none", metrics=["exact_match"]) for i in range(4)]
    data = [json.dumps(line).encode() for line in lines]
    data[0] = data[0].replace(b"out 0", b"out \\ud83d!")
    data[1] = data[1].replace(b"Question 1?", b"Question \\ud83d?")
    data[2] = data[2].replace(b"out 2", b"out \xff")
    path = tmp_path / f"samples_t_{DATE_ID}.jsonl"
    path.write_bytes(b"\n".join(data))
    read = read_one(path)
    assert read.column("responses", "output") == ["out \ufffd!", "out 1", "out 3"]
    assert read.column("items", "input") == ["Question 0?", "Question \ufffd?", "Question 3?"]
    assert any("1 line could not be read and left out: 3 (byte 0xff" in w for w in read.warnings)


def test_a_results_file_cut_off_is_a_failure(tmp_path: Path) -> None:
    whole = json.dumps(results("t", {"acc,none": 0.5, "acc_stderr,none": 0.1}), indent=1)
    path = tmp_path / f"results_{DATE_ID}.json"
    path.write_text(whole[: len(whole) // 2], "utf-8")
    message = failure(path)
    assert str(path) in message
    assert "not valid JSON at line" in message


def test_the_same_files_have_the_same_identity_anywhere(tmp_path: Path) -> None:
    lines = [text_line(0, "a", "a", "a", filter="none", metrics=["exact_match"])]
    for folder in ("one", "two"):
        write_pair(tmp_path / folder, "t", results("t", {"exact_match,none": 1.0}, n=1), lines)
    one, two = (read_one(tmp_path / f).run for f in ("one", "two"))
    assert (one.run_key, one.ingest_id) == (two.run_key, two.ingest_id)


def test_batches_are_bounded(tmp_path: Path) -> None:
    lines = [text_line(i, "x" * 3000, "a", "a", filter="none", metrics=["exact_match"]) for i in range(6000)]
    read = read_one(write_lines(tmp_path / f"samples_t_{DATE_ID}.jsonl", lines))
    sizes = [sum(map(len, b.columns["output"])) for b in read.batches if b.table == "responses"]
    assert len(sizes) > 2
    assert max(sizes) <= 8 * 2**20 + 3000
    assert read.column("responses", "row") == list(range(6000))
