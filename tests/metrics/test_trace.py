"""Metrics of a trace against counts made by hand, by brute force, and from real Inspect logs without our reader."""

from __future__ import annotations

import json
import zipfile
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreshock._base import MetricError
from foreshock.metrics import (
    BACKTRACK_MARKERS,
    PER_ROW,
    REFUSAL_PHRASES,
    Response,
    Step,
    get_metric,
    metric_group,
    score_batch,
)
from foreshock.readers import Reading, read_paths
from foreshock.records import Delivery

CALM = settings(max_examples=40, deadline=None)
CALL = st.tuples(st.sampled_from("ab"), st.sampled_from([True, False, None]), st.sampled_from(["x", "y", "x…", None]))
TURNS = st.lists(st.lists(CALL, max_size=4), max_size=6)
"""Turns, each the list of its calls: tool, outcome, arguments."""


def trace_of(turns):
    steps = []
    for n, calls in enumerate(turns):
        steps.append((n, "turn", "assistant", None, None))
        steps += [(n, "tool", name, ok, "failed: x" if ok is False else value) for name, ok, value in calls]
    return [Step(i, n, kind, name, ok, value=value) for i, (n, kind, name, ok, value) in enumerate(steps)]


def value(name, **row):
    return get_metric(name)(Response(**row))


@CALM
@given(turns=TURNS)
def test_tool_use_is_what_a_slow_count_says(turns):
    trace = trace_of(turns) or [Step(0, None, "limit", "time")]
    calls = [call for each in turns for call in each]
    count = {name: value(name, trace=trace) for name in TOOLS}
    assert count["tool_calls"] == len(calls)
    assert value("tool_calls(tool=a)", trace=trace) == sum(name == "a" for name, *_ in calls)
    assert count["distinct_tools"] == len({name for name, *_ in calls})
    assert count["turns"] == len(turns)
    failed = [i for i, (_, ok, _) in enumerate(calls) if ok is False]
    assert count["tool_errors"] == len(failed)
    mended = [i for i in failed if any(n == calls[i][0] and ok is True for n, ok, _ in calls[i + 1 :])]
    assert count["tool_recoveries"] == len(mended)
    repeats = [
        i
        for i, (name, ok, said) in enumerate(calls)
        if ok is not False
        and said in ("x", "y")
        and any((n, s) == (name, said) and o is not False for n, o, s in calls[:i])
    ]
    assert count["wasted_calls"] == len(failed) - len(mended) + len(repeats)
    # without the turns that made no call, the trace falls into chains
    marks = "".join("|" if not calls else "c" * len(calls) for calls in turns)
    assert count["longest_tool_chain"] == max(map(len, marks.split("|")))
    broken = [n for n, calls in enumerate(turns) if any(ok is False for _, ok, _ in calls)]
    assert value("step_failed", trace=trace) == bool(broken)
    assert value("turns_before_failure(censored=count)", trace=trace) == (broken[0] if broken else len(turns))


TOOLS = (
    "tool_calls",
    "distinct_tools",
    "longest_tool_chain",
    "tool_errors",
    "tool_recoveries",
    "wasted_calls",
    "turns",
)


def test_a_call_that_failed_and_was_mended_is_not_wasted_and_one_without_an_outcome_neither():
    calls = [("bash", False, "x"), ("bash", True, "x"), ("bash", None, "z"), ("python", False, "x")]
    assert value("wasted_calls", trace=trace_of([calls])) == 1
    assert value("tool_recoveries", trace=trace_of([calls])) == 1
    assert value("tool_recoveries", trace=trace_of([calls[::-1]])) == 0  # the success came before
    assert value("tool_errors", trace=trace_of([calls])) == 2


def test_only_arguments_that_are_known_whole_are_repeated():
    same = (
        [("bash", True, "x" * 199 + "…")] * 3
        + [("bash", True, None)] * 3
        + [("python", True, "x"), ("bash", True, "x")]
    )
    assert value("wasted_calls", trace=trace_of([same])) == 0
    assert value("wasted_calls", trace=trace_of([same[-1:] * 3])) == 2


def test_errors_have_their_place_where_the_log_gives_one():
    turns = [Step(0, 0, "turn"), Step(1, 1, "turn"), Step(2, 2, "turn")]
    ended = [*turns, Step(3, None, "error", "sample", False)]
    retried = [*turns, Step(3, None, "error", "model", False), Step(4, None, "error", "retried", False)]
    assert value("turns_before_failure", trace=ended) == 3
    assert value("turns_before_failure", trace=[*turns, Step(3, 1, "error", "model", False)]) == 1
    assert value("turns_before_failure(failure=error)", trace=[*ended, Step(4, 0, "tool", "a", False)]) == 3
    assert value("turns_before_failure(failure=tool)", trace=[*ended, Step(4, 0, "tool", "a", False)]) == 0
    found = score_batch(get_metric("turns_before_failure"), {"trace": [ended, retried, turns, None]})
    assert found.values == [3, None, None, None]
    assert found.labels[1] == found.labels[2] == "nothing failed"
    assert score_batch(get_metric("step_failed"), {"trace": [ended, retried, turns]}).values == [1, 0, 0]


@pytest.mark.parametrize("name", [*TOOLS, "turns_before_failure", "step_failed", "limit_reached"])
def test_a_trace_that_was_cut_is_not_counted(name):
    trace = [Step(0, 0, "turn"), Step(1, 0, "tool", "a", False)]
    rows = {"trace": [trace] * 3, "meta": ['{"trace_left_out":5}', '{"other":1}', "not JSON"]}
    found = score_batch(get_metric(name), rows)
    assert found.statuses == ["needs", "scored", "scored"]
    assert found.labels[0] == "the trace was cut, 5 steps are missing"


def test_traces_count_whatever_became_of_the_response():
    deliveries = [d.value for d in Delivery]
    rows = {"trace": [[Step(0, 0, "tool", "a", True)]] * len(deliveries), "delivery": deliveries}
    found = dict(zip(deliveries, score_batch(get_metric("tool_calls"), rows).values, strict=True))
    assert found == {**dict.fromkeys(deliveries, 1.0), "missing": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("Wait, that is 5.", 1),
        ("I cannot wait. You can wait; we actually agree.", 0),
        ("It is 4. Wait. Actually, no: let me re-check this.", 3),
        ("1. wait\n- Hmm, no\n* actually 4", 3),
        ("waiting is fine.\nActuality matters.", 0),
        ("So x = 3… Hold  on, that’s wrong.", 1),
        ("(It is 3.) That’s not right.", 1),
        ("LET ME DOUBLE-CHECK", 1),
        ("But wait, let me reconsider", 1),
        ("3.5 waits", 0),
    ],
)
def test_backtracks_stand_where_a_segment_begins(text, expected):
    assert value("backtracks", reasoning=text) == expected
    assert value("backtracks(of=output)", output=text) == expected


def test_planted_backtracks_are_counted_and_the_list_is_a_parameter():
    for marker in BACKTRACK_MARKERS:
        assert value("backtracks", reasoning=f"First. {marker.capitalize()} then. So it stands, {marker} or not.") == 1
    spec = get_metric("backtracks", markers="moment|halt ein")
    assert spec(Response(reasoning="Moment. Halt  ein! Wait.")) == 2
    assert get_metric(str(spec)) == spec
    for wrong in ("", " | ", "no, wait", "a(b"):
        with pytest.raises(MetricError, match="phrases"):
            get_metric("backtracks", markers=wrong)


@pytest.mark.parametrize("text", ["." * 50_000, ". " * 25_000, " " * 50_000, "\n" * 50_000, "wait " * 10_000])
def test_hostile_texts_take_linear_time(text):
    import time

    start = time.process_time()
    for name in ("backtracks", "reasoning_steps"):
        value(name, reasoning=text)
    value("refusal_phrase", output=text)
    assert time.process_time() - start < 1


def test_reasoning_steps():
    text = "One.\nstill one\n \n\nTwo.\n\n\n\nThree"
    assert value("reasoning_steps", reasoning=text) == 3
    assert value("reasoning_steps(by=lines)", reasoning=text) == 4
    assert value("reasoning_steps(of=output)", output="a\r\n\r\nb") == 2
    trace = [Step(0, 0, "reasoning", tokens=9, unit="characters"), Step(1, 0, "turn")]
    assert value("reasoning_steps(by=segments)", trace=trace) == 1
    assert {get_metric(f"reasoning_steps(by={by})").unit for by in ("lines", "segments")} == {"lines", "segments"}


def test_units_stand_beside_lengths_and_never_mix():
    thought = [
        Step(0, 0, "reasoning", tokens=9, unit="characters"),
        Step(1, 1, "reasoning", tokens=4, unit="characters"),
    ]
    rows = {
        "reasoning_tokens": [70, 50, 50, None, None, None],
        "token_unit": ["m1", "m2", None, "m1", "m1", "m1"],
        "reasoning": ["abc", "abc", "abc", "abcd", None, None],
        "trace": [None, None, None, thought, thought, [Step(0, 0, "turn")]],
    }
    spec = get_metric("reasoning_length")
    found = score_batch(spec, rows)
    assert spec.unit == PER_ROW
    assert found.values == [70, 50, 3, 13, 13, None]
    units = [spec.unit_of(label) for label in found.labels[:5]]
    assert units == ["tokens of m1", "tokens of m2", "characters", "characters", "characters"]
    assert score_batch(get_metric("reasoning_length(unit=tokens)"), rows).statuses.count("scored") == 2
    assert set(score_batch(get_metric("reasoning_length(unit=characters)"), rows).labels[:5]) == {"characters"}
    rows = {"output": ["four", "four", None], "output_tokens": [1, 1, 1], "token_unit": ["m1", None, None]}
    found = score_batch(get_metric("output_length"), rows)
    assert list(zip(found.values, found.labels, strict=True)) == [
        (1, "tokens of m1"),
        (4, "characters"),
        (None, "no token_unit"),
    ]


def test_every_metric_of_a_count_states_a_unit():
    for spec in metric_group("trace"):
        assert (spec.unit is None) == (spec.high == 1), spec.name  # shares have none


def test_how_a_response_ended():
    deliveries = [d.value for d in Delivery]

    def seen(name):
        found = score_batch(get_metric(name), {"delivery": deliveries})
        return {d: v for d, v in zip(deliveries, found.values, strict=True) if v is not None}

    ended = dict.fromkeys(("ok", "refused", "blocked", "truncated", "cancelled", "timeout"), 0.0)
    assert seen("stopped_early") == {**ended, "truncated": 1, "timeout": 1, "cancelled": 1}
    assert seen("stopped_early(how=truncated)") == {**ended, "truncated": 1}
    assert seen("refused") == {"ok": 0, "truncated": 0, "refused": 1, "blocked": 1}
    assert seen("refused(how=blocked)") == {"ok": 0, "truncated": 0, "refused": 0, "blocked": 1}
    trace = [[Step(0, None, "limit", "token")], [Step(0, None, "limit", "time")], [Step(0, 0, "turn")]]
    assert score_batch(get_metric("limit_reached"), {"trace": trace}).values == [1, 1, 0]
    assert score_batch(get_metric("limit_reached(limit=time)"), {"trace": trace}).values == [0, 1, 0]
    meta = ['{"stop_reason":"max_tokens"}', '{"stop_reason":"stop"}', "{}", "[1]", '{"stop_reason":3}', None]
    assert score_batch(get_metric("stop_reason"), {"meta": meta}).values == [1, 0, None, None, None, None]
    for wrong in ("stopped_early(how=ok)", "refused(how=error)", "turns_before_failure(failure=x)"):
        with pytest.raises(MetricError):
            get_metric(wrong)


def test_refusal_phrases_are_a_list_of_phrases_at_the_beginning():
    for phrase in REFUSAL_PHRASES:
        assert value("refusal_phrase", output=f"I'm sorry.\n{phrase.upper()} with this.") == 1
    assert value("refusal_phrase", output="x" * 300 + " I can't help") == 0
    assert value("refusal_phrase(within=400)", output="x" * 300 + " I can't help") == 1
    assert value("refusal_phrase", output="I can help. Who can't?") == 0
    assert value("refusal_phrase(phrases=Nein danke)", output="nein  danke!") == 1
    assert value("refusal_phrase", output="") == 0


def test_sub_scores_are_the_parts_of_one_scorer():
    rows = {
        "harness_scores": [
            {"rubric/a": 1.0, "rubric/b": 0.5, "rubric/c": 0.0},
            {"rubric/a": 1.0, "rubric/b": 3.0},
            {"rubric/a": 1.0, "rubric/b": 1.0, "other/a": 0.0, "other/b": 0.0},
            {"inspect_ai/choice": 1.0, "inspect_ai/match": 0.0},
            {"acc": 1.0},
        ]
    }
    found = score_batch(get_metric("sub_scores"), rows)
    assert found.values == [pytest.approx(1 / 3), None, None, None, None]
    assert found.labels[1] == "a part lies outside 0 to 1"
    assert found.labels[2] == "several scorers have parts: name one with scorer="
    assert found.labels[3] == found.labels[4] == "no score of the harness has parts"
    assert score_batch(get_metric("sub_scores(scorer=other)"), rows).values[2] == 0
    assert score_batch(get_metric("sub_scores(threshold=0.5)"), rows).values[0] == pytest.approx(2 / 3)


def inspect_logs(folder):
    """Samples of the Inspect logs that the standard library can open, as they stand in the file."""
    for path in sorted(folder.rglob("*.json")):
        log = json.loads(path.read_text())
        if "eval" in log and log.get("samples"):
            yield path, log["samples"]
    for path in sorted(folder.rglob("*.eval")):
        with zipfile.ZipFile(path) as archive:
            if {info.compress_type for info in archive.infolist()} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                names = [name for name in archive.namelist() if name.startswith("samples/")]
                yield path, [json.loads(archive.read(name)) for name in names]


def counted(sample):
    """Turns, calls, tools and failures of a sample, by its messages."""
    messages = sample["messages"]
    replies = {m["tool_call_id"]: m for m in messages if m["role"] == "tool" and m.get("tool_call_id")}
    calls = [call for m in messages if m["role"] == "assistant" for call in m.get("tool_calls") or []]
    asked = {call["id"] for call in calls}
    orphans = [m for m in messages if m["role"] == "tool" and m.get("tool_call_id") not in asked]
    answers = [replies[call["id"]] for call in calls if call["id"] in replies] + orphans
    return {
        "turns": sum(m["role"] == "assistant" for m in messages),
        "tool_calls": len(calls) + len(orphans),
        "distinct_tools": len({call["function"] for call in calls} | {m.get("function") for m in orphans}),
        "tool_errors": sum(bool(m.get("error") or m.get("tool_error")) for m in answers),
    }


def read(path):
    """Responses of a log with their steps, in order."""
    rows, steps = [], {}
    for reading in read_paths([path]):
        assert isinstance(reading, Reading)
        for batch in reading.batches:
            table = [
                dict(zip(batch.columns, values, strict=True)) for values in zip(*batch.columns.values(), strict=True)
            ]
            if batch.table == "responses":
                rows += table
            if batch.table == "trace":
                for step in table:
                    steps.setdefault(step.pop("row"), []).append(Step(**step))
    return [{**row, "trace": steps.get(row["row"])} for row in rows]


def test_real_inspect_logs_are_counted_as_their_messages_are(shared_data):
    tally = Counter()
    for path, samples in inspect_logs(shared_data / "logs" / "inspect"):
        expected = {(str(s["id"]), s.get("epoch", 1)): counted(s) for s in samples}
        for row in read(path):
            wanted = expected.pop((row["item_id"], row["epoch"]))
            assert row["trace"] or not any(wanted.values())
            for name, count in wanted.items():
                found = score_batch(get_metric(name), {"trace": [row["trace"]], "meta": [row.get("meta")]})
                assert found.values[0] == (count if row["trace"] else None), (path.name, name)
                tally[name] += count
        assert not expected
    assert tally["tool_calls"] == 16
    assert tally["tool_errors"] == 11


def test_the_real_agent_that_listed_a_folder_five_times(shared_data):
    """By hand: five times ``bash`` with ``ls``, each with its reply, then "done"."""
    (row,) = read(shared_data / "logs" / "inspect" / "test_eval_log" / "log_message_deduplication.eval")
    expected = {
        "tool_calls": 5,
        "distinct_tools": 1,
        "longest_tool_chain": 5,
        "tool_errors": 0,
        "tool_recoveries": 0,
        "wasted_calls": 4,
        "turns": 6,
        "step_failed": 0,
        "limit_reached": 0,
    }
    assert {name: value(name, trace=row["trace"], meta=row["meta"]) for name in expected} == expected


def test_the_real_log_of_failed_calls(shared_data):
    """By hand: eleven replies of tools, each with an error, and no assistant."""
    (row,) = read(shared_data / "logs" / "inspect" / "test_eval_log" / "log_tool_call_error.json")
    expected = {"tool_calls": 11, "tool_errors": 11, "tool_recoveries": 0, "wasted_calls": 11, "turns": 0}
    assert {name: value(name, trace=row["trace"]) for name in expected} == expected
    assert value("turns_before_failure", trace=row["trace"]) == 0
