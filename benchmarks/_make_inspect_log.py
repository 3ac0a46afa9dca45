"""Write an Inspect log of any number of samples, shaped like those of the current writer; every word is ours.

    python benchmarks/_make_inspect_log.py out.eval --samples 50000

A sample is 8-10 kB of JSON: system, user and assistant message, output with usage, two scorers, and the twenty events
that ``inspect_ai`` 0.3.2xx writes around one generation. Members are zstd (method 93) as the writer makes them since
April 2026. The zip is written here because ``zipfile`` of Python 3.11 cannot, and because the tests of the reader need
archives that no good writer makes: several frames in a member, repeated names, no directory.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import zstandard

STORED, DEFLATE, ZSTD = 0, 8, 93
WORDS = re.findall(
    r"\w+",
    "about above across after again along among angle answer around because before begin below between both bring "
    "build carry change close count cover cross decide divide doubt each early earth either enough equal even every "
    "figure final first follow found fraction given group half hence however inside larger least length less level "
    "little long lower many matter maybe middle might minus more most multiply near never next none number often "
    "once only order other outside part perhaps place plus point power product quite rather reason remain rest "
    "result right rule second seven several side simple since small some square start state step still such sum "
    "take their then there third those three through times together total toward twice under unless until upper "
    "value verify very whether which while whole within without wrong zero",
)


class ZipWriter:
    """A zip written member by member; ``close(directory=False)`` leaves it as a full disk would.

    Args:
        file: Where to write; never read or sought.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.at, self.entries = file, 0, list[bytes]()
        self._zstd = zstandard.ZstdCompressor(level=3)

    def add(self, name: str, data: bytes, method: int = ZSTD, frames: int = 1, size: int | None = None) -> None:
        """Write one member; ``frames`` splits a zstd one, ``size`` lies about its length."""
        packed, raw = self._pack(data, method, frames), name.encode("utf-8", "surrogateescape")
        true_size = len(data) if size is None else size
        facts = struct.pack(
            "<HHHHHIIIHH", 20, 0x800, method, 0, 0x5A21, zlib.crc32(data), len(packed), true_size, len(raw), 0
        )
        self.entries.append(
            b"PK\x01\x02" + struct.pack("<H", 20) + facts + struct.pack("<HHHII", 0, 0, 0, 0, self.at) + raw
        )
        self.file.write(b"PK\x03\x04" + facts + raw + packed)
        self.at += 30 + len(raw) + len(packed)

    def add_json(self, name: str, value: Any, **kwargs: Any) -> None:
        """Write ``value`` as compact JSON; NaN stays a bare token, as Inspect writes it."""
        self.add(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), **kwargs)

    def close(self, directory: bool = True) -> None:
        """Write the central directory with ZIP64 records where they are needed."""
        if not directory:
            return
        body, count = b"".join(self.entries), len(self.entries)
        self.file.write(body)
        if count >= 0xFFFF or self.at >= 0xFFFFFFFF:
            end = self.at + len(body)
            self.file.write(
                b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(body), self.at)
            )
            self.file.write(b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1))
        shown = (min(count, 0xFFFF),) * 2
        self.file.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, *shown, len(body), min(self.at, 0xFFFFFFFF), 0))

    def _pack(self, data: bytes, method: int, frames: int) -> bytes:
        if method == STORED:
            return data
        if method == DEFLATE:
            deflate = zlib.compressobj(wbits=-15)
            return deflate.compress(data) + deflate.flush()
        width = max(1, -(-len(data) // frames))
        pieces = [data[i : i + width] for i in range(0, len(data), width)] or [b""]
        # a compressobj, as zipfile uses it, does not know the size: the frame header leaves it out
        objects = [(self._zstd.compressobj(), piece) for piece in pieces]
        return b"".join(o.compress(piece) + o.flush() for o, piece in objects)


def header(samples: int, epochs: int = 1, status: str = "success", **spec: Any) -> dict[str, Any]:
    """What ``header.json`` says: everything but the samples."""
    values = {"accuracy": 0.5, "stderr": 0.01}
    metrics = [{k: {"name": k, "value": v, "params": {}} for k, v in values.items()} for _ in range(2)]
    return {
        "version": 2,
        "status": status,
        "eval": {
            "eval_id": "bnchEval",
            "run_id": "bnchRun",
            "created": "2026-11-30T09:00:00+00:00",
            "task": "sums",
            "task_id": "bnchTask",
            "task_version": 1,
            "task_args": {"difficulty": "easy"},
            "dataset": {"name": "sums", "samples": samples, "shuffled": False},
            "model": "lab/model-1b",
            "model_generate_config": {"temperature": 0.0, "max_tokens": 512},
            "config": {"epochs": epochs, "epochs_reducer": ["mean"]},
            "packages": {"inspect_ai": "0.3.285"},
            "scorers": [{"name": "match", "options": {"numeric": True}}, {"name": "includes", "options": {}}],
            **spec,
        },
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": {
            "total_samples": samples * epochs,
            "completed_samples": samples * epochs,
            "scores": [
                {"name": n, "scorer": n, "params": {}, "metrics": m}
                for n, m in zip(("match", "includes"), metrics, strict=True)
            ],
        },
        "stats": {"started_at": "2026-11-30T09:00:00+00:00", "completed_at": "2026-11-30T10:00:00+00:00"},
    }


def prose(rng: random.Random, words: int) -> str:
    """Some words in a row."""
    return " ".join(rng.choices(WORDS, k=words))


def token(rng: random.Random) -> str:
    """Something like the 22-letter ids that Inspect gives to events and messages."""
    return f"{rng.getrandbits(110):022x}"


def sample(number: int, epoch: int = 1, seed: int = 0) -> dict[str, Any]:
    """One sample of the current shape."""
    rng = random.Random(f"{seed}/{number}/{epoch}")
    a, b = rng.randrange(1000), rng.randrange(1000)
    said = a + b if rng.random() < 0.6 else a + b + 1
    question = f"{prose(rng, 24)}. What is {a} + {b}? Give the number only, after the word ANSWER."
    text = f"{prose(rng, 40)}.\n\nANSWER: {said}"
    right = "C" if said == a + b else "I"
    system = {"id": token(rng), "content": prose(rng, 12), "role": "system"}
    user = {"id": token(rng), "content": question, "source": "input", "role": "user"}
    reply = {"id": token(rng), "content": text, "source": "generate", "role": "assistant", "model": "model-1b"}
    usage = {"input_tokens": 60, "output_tokens": 140 + said % 7, "total_tokens": 200 + said % 7}
    output = {
        "model": "model-1b",
        "choices": [{"message": reply, "stop_reason": "stop"}],
        "completion": text,
        "usage": usage,
        "time": rng.random(),
    }
    scores = {
        "match": {"value": right, "answer": str(said), "explanation": text, "history": []},
        "includes": {"value": right, "answer": str(said), "explanation": text, "history": []},
    }
    # in events the writer puts a reference where a text is longer than 100 characters
    refs = [f"{rng.getrandbits(128):032x}" for _ in range(2)]
    return {
        "id": number,
        "epoch": epoch,
        "input": question,
        "target": str(a + b),
        "messages": [system, user, reply],
        "output": output,
        "scores": scores,
        "metadata": {"difficulty": number % 5, "cat": "ab"[number % 2]},
        "store": {},
        "events": events(rng, output, refs, scores, str(a + b)),
        "model_usage": {"lab/model-1b": usage},
        "role_usage": {},
        "started_at": "2026-11-30T09:00:01.000000+00:00",
        "completed_at": "2026-11-30T09:00:04.000000+00:00",
        "total_time": 3.0,
        "working_time": round(rng.random() * 3, 3),
        "uuid": token(rng),
        "error_retries": [],
        "attachments": dict(zip(refs, (question, text), strict=True)),
        "events_data": {"messages": [system, user], "calls": [system, user]},
        "turn_count": 1,
    }


def events(
    rng: random.Random, output: dict[str, Any], refs: Sequence[str], scores: dict[str, Any], target: str
) -> list[dict[str, Any]]:
    """The events around one generation: spans, the model call with its wire format, state changes, scores."""
    spans, (question, text) = [token(rng) for _ in range(5)], [f"attachment://{r}" for r in refs]

    def event(kind: str, span: int, **fields: Any) -> dict[str, Any]:
        moment = f"2026-11-30T09:00:0{rng.randrange(10)}.{rng.randrange(10**6):06}+00:00"
        stamp = {"uuid": token(rng), "span_id": spans[span], "timestamp": moment, "working_start": rng.random()}
        return {**stamp, "event": kind, **fields}

    def begin(span: int, name: str) -> dict[str, Any]:
        return event("span_begin", span, id=spans[span], type=name, name=name)

    def end(span: int) -> dict[str, Any]:
        return event("span_end", span, id=spans[span])

    asked = {"id": token(rng), "content": question, "source": "input", "role": "user"}
    reply = {"id": token(rng), "content": text, "source": "generate", "role": "assistant", "model": "model-1b"}
    model = {**output, "choices": [{"message": reply, "stop_reason": "stop"}]}
    start: dict[str, Any] = {"messages": [asked], "tools": [], "tool_choice": None, "store": {}, "completed": False}
    change = {"op": "add", "path": "/messages/1", "value": reply}
    wire = {"request": {"messages": [0, 1], "model": "model-1b"}, "response": {"id": token(rng), "usage": {}}}
    call: dict[str, Any] = {"model": "lab/model-1b", "input": [], "input_refs": [[0, 2]], "tools": [], "call": wire}
    return [
        begin(0, "init"),
        event("sample_init", 0, sample={"input": question, "target": target}, state=start),
        end(0),
        begin(1, "solvers"),
        begin(2, "generate"),
        event("model", 2, **call, tool_choice="none", config={"max_tokens": 512}, output=model, working_time=0.7),
        event("state", 2, changes=[change]),
        end(2),
        end(1),
        begin(3, "scorers"),
        *[event("score", 3, score=s, target=target, intermediate=False, scorer=n) for n, s in scores.items()],
        end(3),
        begin(4, "cleanup"),
        end(4),
    ]


def summary(full: dict[str, Any]) -> dict[str, Any]:
    """The row of ``summaries.json`` for a sample."""
    keys = ("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "uuid", "total_time")
    return {**{k: full[k] for k in keys}, "completed": True, "message_count": len(full["messages"])}


def write_log(path: Path, numbers: Iterable[int], samples: int, epochs: int = 1, seed: int = 0) -> int:
    """Write a log; returns the bytes of sample JSON in it."""
    size = 0
    with path.open("wb") as file:
        archive = ZipWriter(file)
        head = header(samples, epochs)
        archive.add_json("_journal/start.json", {k: head[k] for k in ("version", "eval", "plan")})
        rows = []
        for number in numbers:
            for epoch in range(1, epochs + 1):
                full = sample(number, epoch, seed)
                data = json.dumps(full, separators=(",", ":")).encode()
                size += len(data)
                archive.add(f"samples/{number}_epoch_{epoch}.json", data)
                rows.append(summary(full))
        archive.add_json("summaries.json", rows)
        archive.add_json("header.json", head)
        archive.close()
    return size


def main() -> None:
    """Write the log that the speed benchmark reads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    size = write_log(args.out, range(1, args.samples + 1), args.samples, args.epochs)
    total = args.samples * args.epochs
    print(f"{args.out}: {total} samples of {size / total:.0f} bytes, {args.out.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
