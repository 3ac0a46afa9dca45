"""What the processes of ``engine.py`` do: each makes data, or does one piece of work and returns its figures."""

from __future__ import annotations

import json
import random
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from read_logs import usage

METRICS = ("exact_match", "char_similarity", "token_similarity", "token_f1", "rouge_l", "numeric_closeness")
PROBABILITY = ("gold_logprob", "brier")
_POOL = 500
"""Different samples in the logs of ``logs``; making one costs more than writing it."""


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
    items: Any = {"item_id": ids, "choices": [["a", "b", "c", "d"]] * n, "gold_index": gold}
    odds = [[-6 * rng.random() for _ in range(4)] for _ in range(n)]
    responses: Any = {"row": list(range(n)), "item_id": ids, "delivery": ["ok"] * n, "choice_logprobs": odds}
    run = Run(run_key="k", format="live", reader="live@1", model="m-1b", task="choices", expected=n)
    store.write(run, [*_cut("items", items, n), *_cut("responses", responses, n)])
    return {}


def _cut(table: str, columns: Mapping[str, Sequence[Any]], rows: int) -> Iterator[Any]:
    from foreshock.records import MAX_ROWS, Batch

    for i in range(0, rows, MAX_ROWS):
        yield Batch(table, {name: list(values[i : i + MAX_ROWS]) for name, values in columns.items()})


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
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

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


def work_make_logs(source: str, gigabytes: str, runs: str, seed: str) -> dict[str, Any]:
    """Logs of different samples and models; samples are made once and shared out, which is cheap."""
    import _make_inspect_log as maker

    folder, count = Path(source), int(runs)
    folder.mkdir()
    pool = [json.dumps(maker.sample(n, 1, int(seed)), separators=(",", ":")) for n in range(1, _POOL + 1)]
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
    figures: dict[str, Any] = {**_figures(), "rows": _responses(opened)}
    scored: dict[str, list[int]] = {}
    for a in aggregate(opened.snapshot(), source="foreshock"):
        both = scored.setdefault(a.metric_id.partition("@")[0], [0, 0])
        both[0] += a.n_scored
        both[1] += a.n
    return {**figures, "without": {name: f"{1 - part / n:.1%}" for name, (part, n) in sorted(scored.items())}}


def _responses(store: Any) -> int:
    return sum(segment.rows for segment in store.snapshot().segments("responses"))


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
    items: Any = {**shared, "input": questions, "targets": [[str(i * 8)] for i in range(n)]}
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
                rows_of: Any = {"row": numbers, **shared, "delivery": ["ok"] * n, "output": output, "answer": answers}
                scores: Any = {"row": numbers, **said, "value": [float(ok) for ok in right]}
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
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as local,
            cluster(local.scheduler_address) as executor,
        ):
            score(store, executor=executor)
    return _figures()


_START = [time.monotonic()]


def started(when: float) -> None:
    """Tell when this process was asked for: the start of the interpreter and of the libraries counts as well."""
    _START[0] = when


def _figures(*, children: bool = False) -> dict[str, Any]:
    cpu, memory = usage()
    if children:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu += spent.ru_utime + spent.ru_stime
    return {"cpu": cpu, "memory": memory, "wall": time.monotonic() - _START[0]}


WORK = {name[5:].replace("_", "-"): made for name, made in list(globals().items()) if name.startswith("work_")}
