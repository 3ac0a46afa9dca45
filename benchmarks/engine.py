"""The scoring engine and the store at size: CPU seconds, peak memory, and what a second run costs.

    python benchmarks/engine.py samples  [--samples 50000] [--write]
    python benchmarks/engine.py logs     [--gigabytes 2] [--runs 500] [--workers 2] [--write]
    python benchmarks/engine.py lookup   [--runs 10000] [--rows 1000] [--write]
    python benchmarks/engine.py executors [--rows 40000] [--write]

``samples``: an Inspect log (outputs of about 200 characters, targets of about 50) is read, committed, scored and
committed; then the same number of multiple-choice responses with log-likelihoods, which an Inspect log does not have,
for the metrics of probability. The peer is a loop over the same rows with rapidfuzz, rouge-score and plain Python.

``logs``: many Inspect logs are added and scored; memory is that of all processes together, proportional set sizes
sampled ten times a second. Then everything is added and scored again.

``lookup``: one item over many runs, before and after ``compact``, beside a scan of every file with Polars.

``executors``: serial, a pool and a Dask cluster of two processes; equal bytes.

Every command makes its own data in a temporary folder (``--folder`` says where) and removes it. A fixed loop of plain
Python is timed beside: it takes 0.11 s on the quiet machine of the other benchmarks, and CPU seconds grow with it when
neighbours fill the caches. ``--write`` records the output in ``benchmarks/results/engine.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from read_logs import calibrate, head_commit, section, usage

HERE = Path(__file__).resolve().parent
METRICS = ("exact_match", "char_similarity", "token_similarity", "token_f1", "rouge_l", "numeric_closeness")
PROBABILITY = ("gold_logprob", "brier")
KEY_ROWS = 500


def samples(asked: argparse.Namespace, folder: Path) -> list[str]:
    """Read, commit, score, commit; each in a process of its own."""
    log, choices = folder / "log.eval", folder / "choices"
    child("make-samples", str(log), str(asked.samples), str(asked.seed))
    child("make-choices", str(choices), str(asked.samples), str(asked.seed))
    rows = [
        "| what | CPU s | peak MB | loop s | responses | without a score |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    total, memory = 0.0, 0.0
    for what, words in (
        ("Inspect log: read and committed", ("add", str(log), str(folder / "a"))),
        (f"the same, and {', '.join(METRICS)} scored and committed", ("score", str(log), str(folder / "b"))),
        (f"log-likelihoods: {', '.join(PROBABILITY)} scored and committed", ("score-choices", str(choices))),
        ("peer: rapidfuzz, rouge-score and plain Python over the rows in memory", ("peer", str(folder / "b"))),
    ):
        loop = calibrate()
        found = child(*words)
        loop = max(loop, calibrate())
        share = "; ".join(f"{name} {part:.1%}" for name, part in found["without"].items()) or "–"
        rows.append(
            f"| {what} | {found['cpu']:.2f} | {found['memory']:.0f} | {loop:.2f} | {found['rows']:,} | {share} |"
        )
        if words[0] in ("score", "score-choices"):
            total, memory = total + found["cpu"], max(memory, found["memory"])
    met = "only for 50,000" if asked.samples != 50_000 else "met" if total <= 12 and memory <= 500 else "missed"
    rows += ["", f"Scoring with the store included: {total:.2f} CPU s, {memory:.0f} MB (target 12 s, 500 MB: {met})."]
    return rows


def work_make_samples(log: str, samples: str, seed: str) -> dict[str, Any]:
    """An Inspect log whose targets are 50 characters long, right in 6 of 10 samples."""
    import _make_inspect_log as maker

    def sized(number: int, epoch: int = 1, seed: int = 0) -> dict[str, Any]:
        full = plain(number, epoch, seed)
        rng = random.Random(f"target/{seed}/{number}")
        target = maker.prose(rng, 12)[:50].strip()
        answer = target if rng.random() < 0.6 else maker.prose(rng, 12)[:50].strip()
        if number % 10 == 0:  # some numbers, so that numeric closeness has work
            target, answer = str(rng.randrange(1000)), str(rng.randrange(1000))
        for name in full["scores"]:
            full["scores"][name]["answer"] = answer
        return {**full, "target": target}

    plain = maker.sample
    maker.sample = sized
    maker.write_log(Path(log), range(1, int(samples) + 1), int(samples), seed=int(seed))
    return {}


def work_make_choices(folder: str, rows: str, seed: str) -> dict[str, Any]:
    """A store of multiple-choice responses with log-likelihoods."""
    from foreshock.records import Run
    from foreshock.store import Store

    rng, n = random.Random(int(seed)), int(rows)
    store = Store.open(folder, create=True)
    ids = [str(i) for i in range(n)]
    gold = [rng.randrange(4) for _ in range(n)]
    items = {"item_id": ids, "choices": [["a", "b", "c", "d"]] * n, "gold_index": gold}
    odds = [[-6 * rng.random() for _ in range(4)] for _ in range(n)]
    responses = {"row": list(range(n)), "item_id": ids, "delivery": ["ok"] * n, "choice_logprobs": odds}
    run = Run(run_key="k", format="live", reader="live@1", model="m-1b", task="choices", expected=n)
    store.write(run, [*_cut("items", items, n), *_cut("responses", responses, n)])
    return {}


def _cut(table: str, columns: dict[str, list[Any]], rows: int) -> Iterator[Any]:
    from foreshock.records import MAX_ROWS, Batch

    for i in range(0, rows, MAX_ROWS):
        yield Batch(table, {name: values[i : i + MAX_ROWS] for name, values in columns.items()})


def work_add(log: str, folder: str) -> dict[str, Any]:
    """What ``foreshock add`` does."""
    rows = _add(log, folder)
    return {**_figures(), "rows": rows, "without": {}}


def _add(log: str, folder: str) -> int:
    from foreshock.store import Store, add_paths

    added = add_paths(Store.open(folder, create=True), [Path(log)])
    for failure in added.failures:
        raise failure.error
    return sum(run.counts.delivered for run in added.added)


def work_score(log: str, folder: str) -> dict[str, Any]:
    """``foreshock add`` and ``foreshock score``."""
    rows = _add(log, folder)
    return _score(folder, METRICS, rows)


def work_score_choices(folder: str) -> dict[str, Any]:
    """``foreshock score`` alone."""
    return _score(folder, PROBABILITY, None)


def _score(folder: str, metrics: tuple[str, ...], rows: int | None) -> dict[str, Any]:
    from foreshock.scoring import aggregate, score
    from foreshock.store import Store

    store = Store.open(folder)
    score(store, metrics)
    figures = _figures()
    found = [a for a in aggregate(store.snapshot()) if a.source == "foreshock"]
    without = {a.metric_id.partition("@")[0]: 1 - a.n_scored / a.n for a in found}
    return {**figures, "rows": rows or max(a.n for a in found), "without": without}


def work_peer(folder: str) -> dict[str, Any]:
    """The same metrics by hand; reading the rows is not counted."""
    from rapidfuzz.distance import Levenshtein
    from rouge_score.rouge_scorer import RougeScorer

    from foreshock.store import Store

    snapshot = Store.open(folder).snapshot()
    (answers, targets) = ([], [])  # type: tuple[list[str], list[str]]
    for segment in snapshot.segments("responses"):
        frame = snapshot.with_items(snapshot.frame(segment, ["task", "item_key", "item_id", "answer"]), ["targets"])
        answers += frame["answer"].to_list()
        targets += [several[0] for several in frame["targets"].to_list()]
    start, scorer = time.process_time(), RougeScorer(["rougeL"])
    for answer, target in zip(answers, targets, strict=True):
        _ = answer.strip() == target.strip()
        _ = Levenshtein.normalized_similarity(answer, target)
        _ = Levenshtein.normalized_similarity(answer.split(), target.split())
        common = set(answer.lower().split()) & set(target.lower().split())
        _ = 2 * len(common) / max(1, len(answer.split()) + len(target.split()))
        _ = scorer.score(target, answer)["rougeL"].fmeasure
    return {**_figures(), "cpu": time.process_time() - start, "rows": len(answers), "without": {}}


def logs(asked: argparse.Namespace, folder: Path) -> list[str]:
    """Add and score many logs, then again."""
    source = folder / "logs"
    child("make-logs", str(source), str(asked.gigabytes), str(asked.runs), str(asked.seed))
    size = sum(path.stat().st_size for path in source.iterdir())
    rows = [
        f"{asked.runs} logs, {_json_bytes(source) / 1e9:.2f} GB of JSON in {size / 1e6:.0f} MB of `.eval` files.",
        "",
        "| what | CPU s | wall s | peak MB of all processes | responses | loop s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    store = folder / "store"
    for what, name in (
        ("add", "add-logs"),
        (f"score, {asked.workers} workers", "score-logs"),
        ("add and score again", "again"),
    ):
        peak, start = Peak(), time.monotonic()
        with peak:
            found = child(name, str(source), str(store), str(asked.workers))
        wall, memory = time.monotonic() - start, peak.bytes / 1e6
        rows.append(
            f"| {what} | {found['cpu']:.1f} | {wall:.1f} | {memory:.0f} | {found['rows']:,} | {calibrate():.2f} |"
        )
    rows += ["", f"Without a score, by metric: {found['without']}."]
    return rows


def _json_bytes(source: Path) -> int:
    return int((source.parent / "bytes").read_text("utf-8"))


def work_make_logs(source: str, gigabytes: str, runs: str, seed: str) -> dict[str, Any]:
    """Logs of different samples and models; samples are made once and shared out, which is cheap."""
    import _make_inspect_log as maker

    folder, count = Path(source), int(runs)
    folder.mkdir()
    pool = [json.dumps(maker.sample(n, 1, int(seed)), separators=(",", ":")) for n in range(1, KEY_ROWS + 1)]
    per_run = round(float(gigabytes) * 1e9 / count / (sum(map(len, pool)) / len(pool)))
    size = 0
    for run in range(count):
        with (folder / f"run_{run:04}.eval").open("wb") as file:
            archive = maker.ZipWriter(file)
            spec = {"model": f"lab/model-{run}", "run_id": f"run{run}", "task_id": f"task{run}", "eval_id": f"e{run}"}
            head = maker.header(per_run, 1, **spec)
            archive.add_json("_journal/start.json", {k: head[k] for k in ("version", "eval", "plan")})
            for i in range(per_run):
                text = pool[(run * 7 + i) % len(pool)].replace(
                    '"id":' + str((run * 7 + i) % len(pool) + 1), f'"id":{i + 1}', 1
                )
                size += len(text)
                archive.add(f"samples/{i + 1}_epoch_1.json", text.encode())
            archive.add_json("header.json", head)
            archive.close()
    (folder.parent / "bytes").write_text(str(size), "utf-8")
    return {}


def work_add_logs(source: str, store: str, _workers: str) -> dict[str, Any]:
    """Add the folder."""
    rows = _add(source, store)
    return {**_figures(), "rows": rows, "without": {}}


def work_score_logs(_source: str, store: str, workers: str) -> dict[str, Any]:
    """Score with a pool."""
    from foreshock.scoring import processes, score
    from foreshock.store import Store

    opened = Store.open(store)
    with processes(int(workers)) as pool:
        score(opened, executor=pool)
    return {**_figures(children=True), "rows": _responses(opened), "without": {}}


def work_again(source: str, store: str, _workers: str) -> dict[str, Any]:
    """Add and score when nothing has changed."""
    from foreshock.scoring import aggregate, score
    from foreshock.store import Store, add_paths

    opened = Store.open(store)
    added = add_paths(opened, [Path(source)])
    told = score(opened)
    if added.added or told.written:
        raise SystemExit(f"the second run did something: {len(added.added)} runs, {told.written} columns")
    figures = {**_figures(), "rows": _responses(opened)}
    scored: dict[str, list[int]] = {}
    for a in aggregate(opened.snapshot(), source="foreshock"):
        both = scored.setdefault(a.metric_id.partition("@")[0], [0, 0])
        both[0] += a.n_scored
        both[1] += a.n
    return {**figures, "without": {name: f"{1 - part / n:.1%}" for name, (part, n) in sorted(scored.items())}}


def _responses(store: Any) -> int:
    return sum(segment.rows for segment in store.snapshot().segments("responses"))


def lookup(asked: argparse.Namespace, folder: Path) -> list[str]:
    """One item over all runs."""
    store = folder / "store"
    child("make-runs", str(store), str(asked.runs), str(asked.rows), str(asked.seed))
    rows = ["| what | CPU s | loop s |", "| --- | --- | --- |"]
    for when in ("before", "after"):
        if when == "after":
            found = child("compact", str(store))
            rows.append(f"| compact ({found['memory']:.0f} MB) | {found['cpu']:.1f} | {calibrate():.2f} |")
        found = child("look", str(store), str(asked.rows), str(asked.runs))
        for what, seconds in found["times"].items():
            rows.append(f"| {when} compact: {what} | {seconds:.3f} | {calibrate():.2f} |")
    return rows


def work_make_runs(folder: str, runs: str, rows: str, seed: str) -> dict[str, Any]:
    """Runs of one task in commits of 500, with outputs of 100 characters and scores of the harness."""
    from foreshock.records import Run, item_key
    from foreshock.store import Store

    n, count, rng = int(rows), int(runs), random.Random(int(seed))
    store = Store.open(folder, create=True)
    questions = [f"What is {i} plus {i * 7}?" for i in range(n)]
    keys = [item_key(question, [], [str(i * 8)]) for i, question in enumerate(questions)]
    ids, numbers = [f"q{i}" for i in range(n)], list(range(n))
    text = "".join(rng.choices("abcdefghij klmnop qrstuv wxyz ", k=1_000_000))
    shared = {"item_key": keys, "item_id": ids}
    items = {**shared, "input": questions, "targets": [[str(i * 8)] for i in range(n)]}
    said = {"metric_id": ["exact_match"] * n, "source": ["harness"] * n, "status": ["scored"] * n}
    for first in range(0, count, 500):
        with store.writer() as writer:
            for r in range(first, min(count, first + 500)):
                run = Run(
                    run_key=f"run{r}", format="live", reader="live@1", model=f"lab/m-{r}", task="task", expected=n
                )
                right = [rng.random() < 0.6 for _ in numbers]
                output = [text[o : o + 100] for o in (int(rng.random() * 999_000) for _ in numbers)]
                answers = [str(i * 8 if ok else i) for i, ok in enumerate(right)]
                rows_of = {"row": numbers, **shared, "delivery": ["ok"] * n, "output": output, "answer": answers}
                scores = {"row": numbers, **said, "value": [float(ok) for ok in right]}
                tables = (("items", items), ("responses", rows_of), ("scores", scores))
                writer.write(run, [batch for table, columns in tables for batch in _cut(table, columns, n)])
    return {}


def work_compact(store: str) -> dict[str, Any]:
    """``foreshock compact``."""
    from foreshock.store import Store

    Store.open(store).compact()
    return _figures()


def work_look(folder: str, rows: str, runs: str) -> dict[str, Any]:
    """Open the store, then look up items; the first look also checks the files that it opens."""
    import polars as pl

    from foreshock.records import item_key
    from foreshock.store import Store

    times: dict[str, float] = {}
    start = time.process_time()

    def told(what: str) -> None:
        nonlocal start
        times[what] = time.process_time() - start
        start = time.process_time()

    snapshot = Store.open(folder).snapshot()
    segments = snapshot.segments("responses")
    told(f"open the snapshot ({len(segments)} segments)")
    places = (int(rows) // 3, int(rows) // 2, 2 * int(rows) // 3)
    keys = [item_key(f"What is {i} plus {i * 7}?", [], [str(i * 8)]) for i in places]
    for which, key in zip(("first", "second", "third"), keys, strict=True):
        found = snapshot.scan("responses", items=[str(key)], columns=["run_key", "output", "answer"]).collect()
        if found.height != int(runs):
            raise SystemExit(f"{found.height} responses of {runs}")
        told(f"{which} item, responses")
        found = snapshot.scan("scores", items=[str(key)], columns=["ingest_id", "row", "value"]).collect()
        if found.height != int(runs):
            raise SystemExit(f"{found.height} scores of {runs}")
        told(f"{which} item, scores of the harness")
    paths = [segment.path for segment in segments]
    pl.scan_parquet(paths).filter(pl.col("item_key").hash() == pl.lit(keys[0]).hash()).select("answer").collect()
    told("peer: Polars over every file, without the order")
    return {**_figures(), "times": times}


def executors(asked: argparse.Namespace, folder: Path) -> list[str]:
    """The same store scored in three ways."""
    rows = ["| where | wall s | loop s |", "| --- | --- | --- |"]
    bytes_of = []
    for name in ("serial", "pool", "dask"):
        store = folder / name
        child("make-runs", str(store), str(max(1, asked.rows // 1000)), "1000", str(asked.seed))
        start = time.monotonic()
        child("spread", str(store), name)
        rows.append(f"| {name} | {time.monotonic() - start:.1f} | {calibrate():.2f} |")
        bytes_of.append({path.name: path.read_bytes() for path in (store / "scores").iterdir()})
    if not bytes_of[0] == bytes_of[1] == bytes_of[2]:
        raise SystemExit("the bytes differ")
    return [*rows, "", f"{len(bytes_of[0])} files of scores, equal bytes."]


def work_spread(folder: str, where: str) -> dict[str, Any]:
    """Score with an executor."""
    from foreshock.scoring import cluster, processes, score
    from foreshock.store import Store

    store = Store.open(folder)
    if where == "serial":
        score(store)
    elif where == "pool":
        with processes(2) as pool:
            score(store, executor=pool)
    else:
        from distributed import LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
            cluster(local.scheduler_address) as executor,
        ):
            score(store, executor=executor)
    return _figures()


def _figures(*, children: bool = False) -> dict[str, Any]:
    cpu, memory = usage()
    if children:
        import resource

        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu += spent.ru_utime + spent.ru_stime
    return {"cpu": cpu, "memory": memory}


class Peak:
    """Largest sum of proportional set sizes of the processes below this one, itself left out, while it is entered."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.1):
            self.bytes = max(self.bytes, sum(map(_memory, _below(os.getpid()))))


def _below(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    except OSError:
        return []
    return [found for child in map(int, text.split()) for found in (child, *_below(child))]


def _memory(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))


WORK = {name[5:].replace("_", "-"): made for name, made in list(globals().items()) if name.startswith("work_")}


def child(*words: str) -> dict[str, Any]:
    """Do some work in a process of its own and return its figures."""
    command = [sys.executable, str(Path(__file__).resolve()), "work", *words]
    reply = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1]
    found: dict[str, Any] = json.loads(reply)
    return found


def main() -> None:
    """Measure, print, and record when asked."""
    if sys.argv[1:2] == ["work"]:
        print(json.dumps(WORK[sys.argv[2]](*sys.argv[3:])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for made, options in (
        (samples, {"samples": 50_000}),
        (logs, {"gigabytes": 2.0, "runs": 500, "workers": 2}),
        (lookup, {"runs": 10_000, "rows": 1_000}),
        (executors, {"rows": 40_000}),
    ):
        sub = commands.add_parser(made.__name__, help=made.__doc__)
        for name, default in options.items():
            sub.add_argument(f"--{name}", type=type(default), default=default)
        sub.add_argument("--seed", type=int, default=1)
        sub.add_argument("--folder", type=Path, help="where the data are made; removed afterwards")
        sub.add_argument("--write", action="store_true")
        sub.set_defaults(made=made)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as spare:
        shown = "\n".join(asked.made(asked, Path(spare)))
    print(shown)
    if asked.write:
        left_out = ("command", "folder", "write", "made")
        options = " ".join(f"--{name} {value}" for name, value in vars(asked).items() if name not in left_out)
        names = ("foreshock", "polars", "rapidfuzz", "rouge-score", "distributed")
        facts = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names)])
        facts = f"{datetime.now(UTC):%Y-%m-%d}, commit {head_commit()}, {facts}."
        command = f"python benchmarks/engine.py {asked.command} {options} --write"
        body = f"## {asked.command}\n\n`{command}`\n\n{facts}\n\n{shown}"
        section(HERE / "results" / "engine.md", asked.command, body)


if __name__ == "__main__":
    main()
