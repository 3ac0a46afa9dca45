"""Small valid logs of every format, for whoever breaks them: ``tools/fuzz.py`` and the tests of it.

The writers of the formats' own tests make them; each shape that a reader knows should be among them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ._lm_eval_logs import DATE_ID, choice_line, results, text_line, write_lines, write_pair
from ._logs import maker, small, write_eval

USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}


def write_inspect(folder: Path) -> list[Path]:
    """Archives of all three compressions and both shapes of samples, and one JSON document."""
    full = small(2)
    full["samples/2_epoch_1.json"] = rich_sample()
    chunked = {name: value for name, value in small(2).items() if "2_epoch" not in name}
    chunked["samples/2_epoch_1/sample.json"] = {**maker.sample(2, 1), "message_refs": [[0, 2]]}
    chunked["samples/2_epoch_1/messages/0.json"] = [{"role": "user", "content": "q"}, {"role": "assistant"}]
    crashed = {name: value for name, value in small(2).items() if name not in ("header.json", "summaries.json")}
    whole = {**full["header.json"], "samples": [maker.sample(1, 1), rich_sample()]}
    place = folder / "log.json"
    place.write_text(json.dumps(whole), "utf-8")
    return [
        write_eval(folder / "full.eval", full, method=maker.DEFLATE),
        write_eval(folder / "chunked.eval", chunked, method=maker.DEFLATE),
        write_eval(folder / "zstd.eval", small(1), frames=2),
        write_eval(folder / "crashed.eval", crashed, method=maker.STORED),
        place,
    ]


def rich_sample() -> dict[str, Any]:
    """A sample with messages of all kinds, events, usage, a limit and scores of several parts."""
    sample: dict[str, Any] = copy.deepcopy(maker.sample(2, 1))
    sample["messages"] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "x"}, {"type": "reasoning"}]},
        {"role": "tool", "tool_call_id": "c", "function": "f", "error": {"type": "timeout", "message": "x"}},
    ]
    sample["events"] = [
        {"event": "model", "working_time": 1.0, "output": {"choices": [{"message": {"id": "m"}}], "usage": USAGE}},
        {"event": "sample_limit", "type": "token", "message": "m"},
    ]
    more = {"model_usage": {"org/model": USAGE}, "limit": {"type": "token", "limit": 5}, "attachments": {"h": "t"}}
    return {**sample, **more, "scores": {"d": {"value": {"a": 1, "b": "C"}, "answer": "x"}}, "working_time": 1.0}


def write_lm_eval(folder: Path) -> list[Path]:
    """Results of both layouts; samples with choices and with texts, with and without filters."""
    metrics = {"acc,none": 0.5, "acc_stderr,none": 0.1}
    header = results("t", metrics, n=4, config={"metric_list": [{"metric": "acc"}]})
    choices = [choice_line(n, n % 2, [-1.0, -2.0], filter="none", metrics=["acc"]) for n in range(4)]
    older = [choice_line(n, n % 2, [-1.0, -2.0, -3.0], texts=False) for n in range(3)]
    texts = [text_line(n, "a", "a", "a", gold_token_logprobs=[-0.5]) for n in range(4)]
    doubled = [line for n in range(2) for line in [text_line(n, "so 4", "4", "4"), text_line(n, "so 4", "so 4", "4")]]
    old = {
        "results": {"a": {"acc": 0.5, "acc_stderr": 0.1}, "b": {"ppl": 12.5}},
        "versions": {"a": 0, "b": 1},
        "config": {"model": "gpt2", "model_args": "pretrained=org/m-70m,revision=step512", "num_fewshot": 0},
    }
    group = results("g", metrics, n=4, groups={"g": metrics}, group_subtasks={"g": ["t"]})
    for name, log in (("old.json", old), ("results.json", group)):
        (folder / name).write_text(json.dumps(log), "utf-8")
    return [
        *write_pair(folder, "t", header, choices),
        write_lines(folder / f"samples_u_{DATE_ID.replace('-11-', '-13-')}.jsonl", texts),
        write_lines(folder / "older" / "pretrained__x_t.jsonl", older),
        write_lines(folder / "doubled" / "samples_gsm8k.jsonl", doubled),
        folder / "old.json",
        folder / "results.json",
    ]


def write_items(folder: Path) -> list[Path]:
    """Responses as JSON Lines, arrays, delimited text and Parquet, zipped too; replies of chat APIs among them."""
    import polars as pl

    rows = [{"model": f"m{n % 2}", "id": n, "question": f"q{n}", "output": "a", "target": "b"} for n in range(8)]
    plain = [{**row, "score": float(n % 2), "subject": "s"} for n, row in enumerate(rows)]
    reply = {
        "model": "m",
        "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"total_tokens": 3},
    }
    chats = [{"id": n, "question": f"q{n}", "answer": "x", "response": reply, "correct": True} for n in range(4)]
    lines = ["\t".join(plain[0]), *("\t".join(map(str, row.values())) for row in plain)]
    (folder / "items.json").write_text(json.dumps(plain), "utf-8")
    (folder / "items.csv").write_text("\n".join(lines).replace("\t", ","), "utf-8")
    (folder / "items.tsv").write_text("\n".join(lines), "utf-8")
    pl.DataFrame(plain).write_parquet(folder / "items.parquet")
    return [
        write_lines(folder / "items.jsonl", rows),
        write_lines(folder / "chat_5-shot.jsonl", chats),
        write_eval(folder / "zipped.zip", {"model_outputs_m-7b_5shots.json": plain}, method=maker.DEFLATE),
        *(folder / f"items.{kind}" for kind in ("json", "csv", "tsv", "parquet")),
    ]


def write_table(folder: Path) -> list[Path]:
    """Scores of models on tasks, long and wide."""
    long = [f"m-{b}b,{b}e9,{t},0.{b},0.02,100" for b in (1, 3, 7) for t in ("a", "b")]
    wide = [f"m-{b}b,{b}e9,0.{b},0.{b}5" for b in (1, 3, 7)]
    (folder / "long.csv").write_text("\n".join(["model,size,task,score,stderr,n", *long]), "utf-8")
    (folder / "wide.csv").write_text("\n".join(["model,size,arc,hellaswag", *wide]), "utf-8")
    rows = [dict(zip(("model", "size", "task", "score"), line.split(","), strict=False)) for line in long]
    (folder / "long.json").write_text(json.dumps([{**r, "score": float(r["score"])} for r in rows]), "utf-8")
    return [folder / "long.csv", folder / "wide.csv", folder / "long.json"]


SEEDS: dict[str, Callable[[Path], list[Path]]] = {
    "inspect": write_inspect,
    "lm-eval": write_lm_eval,
    "table": write_table,
    "items": write_items,
}
"""By reader, the function that writes a few small valid logs into a folder."""

for _reader in (
    "helm",
    "openai-evals",
    "bigbench",
    "every-eval-ever",
    "lighteval",
    "promptfoo",
    "deepeval",
    "swe-bench",
):
    _name = f"{__package__}._{_reader.replace('-', '_')}_logs"
    if find_spec(_name):
        SEEDS[_reader] = import_module(_name).write_small
