"""Small logs of every format, broken at random: each file is read or named, and none of them meets a fault of ours.

A minute of it finds what a table of cases does not: see ``make test-slow``. Seeds are fixed, so that a failure here
comes again; the file that failed is kept in pytest's temporary folder.
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from foreshock._base import ForeshockError
from foreshock.readers import Failure, ReadOptions, read_paths
from foreshock.store._frames import build, check

from ._lm_eval_logs import DATE_ID, choice_line, results, text_line
from ._logs import maker, small, write_eval

# fmt: off
ODD: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, -0.0, 1e-300, float("nan"),
    float("inf"), "", "a", "\x00", "\ud800", "a/b", "..", "\n", "\x1b[2J", "1", "nan", [], {}, [[]], [None],
    {"a": None}, {"": []}, [1, "a", {}], {"id": 1}, "x" * 5000, ["a"] * 3, "2024-13-45T99:99:99",
    "9999-12-31T23:59:59-12:00", 1.5, "N/A",
]
BYTES = [
    b"\x00", b"\xff\xfe", b"[", b"{", b'"', b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"\xed\xa0\x80", b"\\ud800",
    b"\n", b"\r", b"[" * 3000, b'{"a":' * 600, b"}" * 3,
]
# fmt: on
FAULT = re.compile(r"unexpected [A-Z]\w+: .*")
OPTIONS = [
    *[ReadOptions()] * 5,
    ReadOptions(task="t", model="m"),
    ReadOptions(map={"output": "output", "target": "target", "item": "id"}),
    ReadOptions(csv={"x": "size", "y": "score", "group": "task"}),
    ReadOptions(scale=100.0, chance=0.25, n="n"),
]


def logs(folder: Path) -> dict[str, bytes]:
    """Name and content of one small log of each kind."""
    import polars as pl

    full = small(2)
    full["samples/2_epoch_1.json"] = rich_sample()
    chunked = {name: value for name, value in small(2).items() if "2_epoch" not in name}
    chunked["samples/2_epoch_1/sample.json"] = {**maker.sample(2, 1), "message_refs": [[0, 2]]}
    chunked["samples/2_epoch_1/messages/0.json"] = [{"role": "user", "content": "q"}, {"role": "assistant"}]
    whole = {**full["header.json"], "samples": [maker.sample(1, 1), rich_sample()]}
    choices = [choice_line(n, n % 2, [-1.0, -2.0], filter="none", metrics=["acc"]) for n in range(4)]
    texts = [text_line(n, "a", "a", "a", gold_token_logprobs=[-0.5]) for n in range(4)]
    header = results("t", {"acc,none": 0.5, "acc_stderr,none": 0.1}, n=4, config={"metric_list": [{"metric": "acc"}]})
    rows = [{"model": f"m{n % 2}", "id": n, "question": f"q{n}", "output": "a", "target": "b"} for n in range(8)]
    rows[0]["output"] = {"choices": [{"message": {"content": "x"}}], "usage": {"total_tokens": 3}}
    plain = [{**row, "output": "a", "score": 1.0} for row in rows]
    pl.DataFrame(plain).write_parquet(folder / "items.parquet")
    table = [f"m-{b}b,{b}e9,{t},0.{b},0.02,100" for b in (1, 3, 7) for t in ("a", "b")]
    return {
        "a.eval": write_eval(folder / "full", full, method=maker.DEFLATE).read_bytes(),
        "b.eval": write_eval(folder / "chunked", chunked, method=maker.DEFLATE).read_bytes(),
        "log.json": json.dumps(whole).encode(),
        f"results_{DATE_ID}.json": json.dumps(header).encode(),
        f"samples_t_{DATE_ID}.jsonl": json_lines(choices),
        f"samples_u_{DATE_ID}.jsonl": json_lines(texts),
        "items.jsonl": json_lines(rows),
        "items.json": json.dumps(plain).encode(),
        "items.csv": "\n".join([",".join(plain[0]), *(",".join(map(str, r.values())) for r in plain)]).encode(),
        "items.parquet": (folder / "items.parquet").read_bytes(),
        "table.csv": "\n".join(["model,size,task,score,stderr,n", *table]).encode(),
    }


def rich_sample() -> dict[str, Any]:
    sample: dict[str, Any] = maker.sample(2, 1)
    usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
    sample["messages"] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "x"}, {"type": "reasoning"}]},
        {"role": "tool", "tool_call_id": "c", "function": "f", "error": {"type": "timeout", "message": "x"}},
    ]
    sample["events"] = [
        {"event": "model", "working_time": 1.0, "output": {"choices": [{"message": {"id": "m"}}], "usage": usage}},
        {"event": "sample_limit", "type": "token", "message": "m"},
    ]
    more = {"model_usage": {"org/model": usage}, "limit": {"type": "token", "limit": 5}, "attachments": {"h": "t"}}
    return {**sample, **more, "scores": {"d": {"value": {"a": 1, "b": "C"}, "answer": "x"}}, "working_time": 1.0}


def json_lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 6)):
            yield from places(value[index], (*path, index))


def mutate(value: Any, noise: random.Random) -> bytes:
    """The same JSON with a few members replaced, left out, doubled or renamed, the outer ones more often."""
    value = copy.deepcopy(value)
    for _ in range(noise.choice((1, 1, 2, 4))):
        found = sorted(places(value), key=len)[1:]
        if not found:
            break
        path = found[int(noise.random() ** 2 * len(found))]
        outer = value
        for key in path[:-1]:
            outer = outer[key]
        change(outer, path[-1], noise)
    return json.dumps(value, ensure_ascii=noise.random() < 0.5).encode("utf-8", "surrogatepass")


def change(outer: Any, key: Any, noise: random.Random) -> None:
    how = noise.random()
    if how < 0.12:
        del outer[key]
    elif how < 0.2 and isinstance(outer, dict):
        outer[noise.choice(["", "x/y", "\ud800", "a" * 1000, "\n"])] = outer.pop(key)
    elif how < 0.27 and isinstance(outer, list):
        outer.extend(copy.deepcopy(outer[:3]))
    elif how < 0.35:
        outer[key] = [outer[key]]
    elif how < 0.4:
        outer[key] = str(outer[key])
    else:
        outer[key] = copy.deepcopy(noise.choice(ODD))


def spoil(data: bytes, noise: random.Random) -> bytes:
    """The same bytes with a few flipped, cut out, doubled or put in."""
    out = bytearray(data)
    for _ in range(noise.choice((1, 1, 2, 4))):
        at, how = noise.randrange(len(out) + 1), noise.random()
        if how < 0.4 and at < len(out):
            out[at] ^= 1 << noise.randrange(8)
        elif how < 0.5:
            del out[at:]
        elif how < 0.7:
            del out[at : at + noise.choice((1, 2, 10, 1000))]
        elif how < 0.85:
            out[at:at] = out[: noise.choice((1, 4, 100))]
        else:
            out[at:at] = noise.choice(BYTES)
    return bytes(out)


def broken(name: str, data: bytes, noise: random.Random) -> bytes:
    if noise.random() < 0.3 or name.endswith((".csv", ".parquet")):
        return spoil(data, noise)
    if name.endswith(".jsonl"):
        lines = data.splitlines()
        for at in noise.sample(range(len(lines)), noise.choice((1, 2))):
            lines[at] = mutate(json.loads(lines[at]), noise)
        return b"\n".join(lines)
    return in_archive(data, noise) if name.endswith(".eval") else mutate(json.loads(data), noise)


def in_archive(data: bytes, noise: random.Random) -> bytes:
    out, taken = io.BytesIO(), set[str]()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = {*noise.sample(names, 2), *(["header.json"] if noise.random() < 0.3 else [])}
        for name in names:
            content = old.read(name)
            if name in chosen:
                content = mutate(json.loads(content), noise) if noise.random() < 0.85 else spoil(content, noise)
            stored = noise.choice(
                ["samples/..//x.json", "samples/x\ny.json", "samples/a/b/c.json", f"{name}/sample.json"]
            )
            target = stored if noise.random() < 0.03 else name
            if noise.random() > 0.03 and target not in taken:
                new.writestr(target, content)
                taken.add(target)
    return out.getvalue()


def faults(folder: Path, options: ReadOptions) -> list[str]:
    """What went wrong without a reason in the file; batches are checked as the store checks them."""
    said: list[str] = []
    for outcome in read_paths([folder], options):
        if isinstance(outcome, Failure):
            assert isinstance(outcome.error, ForeshockError)
            said.append(str(outcome.error))
            continue
        said += outcome.run.warnings
        try:
            for batch in outcome.batches:
                if batch.table == "runs":
                    said += batch.columns.get("warnings", [[]])[0]
                else:
                    check(batch, outcome.run.run_key)
                    build(batch.table, batch.columns)
        except ForeshockError as error:
            # a table may turn out broken while it is read; what the store refuses is the reader's fault
            if "correct the reader" in str(error):
                said.append(f"unexpected Refusal: {error}")
    return [match[0] for text in said if (match := FAULT.search(text))]


def fuzz(folder: Path, seed: int, going: Callable[[int], bool]) -> int:
    sources = folder / "sources"
    sources.mkdir()
    originals = logs(sources)
    noise, count = random.Random(seed), 0
    place = folder / "logs"
    place.mkdir()
    while going(count):
        name = noise.choice(sorted(originals))
        beside = f"results_{DATE_ID}.json" if name.startswith("samples_t") else None
        data = broken(name, originals[name], noise)
        (place / name).write_bytes(data)
        if beside:
            (place / beside).write_bytes(originals[beside])
        options = noise.choice(OPTIONS)
        start = time.monotonic()
        found = faults(place, options)
        assert not found, (seed, count, name, options, found[:3])
        assert time.monotonic() - start < 30, (seed, count, name)
        for path in place.iterdir():
            path.unlink()
        count += 1
    return count


@pytest.mark.parametrize("seed", range(4))
def test_no_broken_log_meets_a_fault(tmp_path: Path, seed: int) -> None:
    assert fuzz(tmp_path, seed, lambda count: count < 250) == 250


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 105))
def test_no_broken_log_meets_a_fault_for_minutes(tmp_path: Path, seed: int) -> None:
    stop = time.monotonic() + 60
    assert fuzz(tmp_path, seed, lambda _: time.monotonic() < stop) > 500
