"""A task asked through a model is a run like any log's: counted, scored, judged, and the same when asked again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from foreshock._base import ConfigError, ModelError
from foreshock.models import Asking, CallableModel, Endpoint, Recorded, collect
from foreshock.records import Delivery, Reply, Request, Run, Token
from foreshock.scoring import aggregate, score
from foreshock.store import Store
from foreshock.tasks import arithmetic

from ._adder import answer, answer_of, skill_of
from ._server import serving

TASK = arithmetic("addition", items=60)


def right(request: Request) -> Reply:
    """A model that is always right, and certain to the same degree."""
    if request.target is not None:
        tokens = tuple(Token(c, -0.25) for c in request.target.strip())
        return Reply(delivery=Delivery.OK, target_tokens=tokens)
    prompt = request.prompt or request.messages[-1].content
    return Reply(delivery=Delivery.OK, text=f" {answer_of(prompt)}\n", output_tokens=3)


def rows(store: Store, *names: str) -> list[tuple[object, ...]]:
    return sorted(store.snapshot().scan("responses", columns=list(names)).collect().rows())


def test_a_run_is_counted_and_scored(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    run = store.write(*collect(CallableModel(right, "always"), TASK, Asking()))
    assert (run.model, run.task, run.expected) == ("always", "4-digit-addition", 60)
    assert (run.counts.delivered, run.counts.parsed, run.counts.missing, run.warnings) == (60, 60, 0, [])
    assert run.conditions == {"shots": "2", "asked as": "completion", "temperature": "0"}
    done = score(store, ["exact_match", "gold_logprob(per=token)", "gold_logprob"])
    found = {a.metric_id.split("@")[0]: a.value for a in aggregate(store.snapshot(), done.metrics)}
    assert found["exact_match"] == 1.0
    by_id = {a.metric_id: a.value for a in aggregate(store.snapshot(), done.metrics)}
    assert by_id[done.metrics[1].id] == pytest.approx(-0.25)
    assert by_id[done.metrics[2].id] == pytest.approx(-0.25 * sum(len(p.target) for p in TASK.problems) / 60)
    items = store.snapshot().scan("items", columns=["item_id", "subset", "truth", "targets"]).collect()
    assert set(items["subset"]) == {"4 digits", "5 digits"}
    assert set(items["truth"]) == {"computed"}
    assert {i: t for i, (t,) in zip(items["item_id"], items["targets"], strict=True)} == {
        p.item_id: p.target for p in TASK.problems
    }


def test_what_did_not_arrive_is_never_a_zero(tmp_path: Path) -> None:
    fates = {
        0: Reply(delivery=Delivery.REFUSED, note="no"),
        1: Reply(delivery=Delivery.BLOCKED),
        2: Reply(delivery=Delivery.TIMEOUT, final=False),
        3: Reply(delivery=Delivery.ERROR, note="HTTP 400", final=True),
        4: Reply(delivery=Delivery.TRUNCATED, text=" 12"),
        5: Reply(delivery=Delivery.OK, text=" I do not know"),
    }

    def fate(request: Request) -> Reply:
        if request.target is not None:
            return right(request)
        place = next(i for i, p in enumerate(TASK.problems) if (request.prompt or "").endswith(f"{p.question}\nA:"))
        return fates.get(place - 1, right(request))

    store = Store.open(tmp_path / "s", create=True)
    run = store.write(*collect(CallableModel(fate, "m"), TASK, Asking()))
    counts = run.counts
    assert (counts.expected, counts.delivered, counts.refused, counts.error, counts.parsed) == (60, 56, 2, 2, 55)
    score(store, ["exact_match"])
    scores = store.snapshot().scan("scores", columns=["row", "status", "value"]).collect()
    told = {row: (status, value) for row, status, value in scores.rows()}
    assert [told[row] for row in range(1, 7)] == [
        ("needs", None),
        ("needs", None),
        ("needs", None),
        ("needs", None),
        ("scored", 0.0),
        ("unparsed", None),
    ]


def test_the_same_replies_are_the_same_run(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    asked = 0

    def once(request: Request) -> Reply:
        nonlocal asked
        asked += 1
        return right(request)

    def go() -> Run:
        with Recorded(tmp_path / "r.jsonl", CallableModel(once, "m")) as model:
            return store.write(*collect(model, TASK, Asking(workers=3)))

    first = go()
    assert asked == 120
    assert go().ingest_id == first.ingest_id
    assert asked == 120
    offline = store.write(*collect(Recorded(tmp_path / "r.jsonl"), TASK, Asking(workers=1)))
    assert offline.ingest_id == first.ingest_id
    assert len(store.snapshot().commits) == 1


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    asked: list[str] = []

    def dies(request: Request) -> Reply:
        if len(asked) == 37:
            raise Killed
        asked.append(request.key)
        return right(request)

    with Recorded(tmp_path / "r", CallableModel(dies, "m")) as model, pytest.raises(Killed):
        collect(model, TASK, Asking(workers=1))
    with Recorded(tmp_path / "r", CallableModel(lambda r: (asked.append(r.key), right(r))[1], "m")) as model:
        run, _ = collect(model, TASK, Asking(workers=1))
    assert len(asked) == len(set(asked)) == 120
    with Recorded(tmp_path / "r") as model:
        assert collect(model, TASK, Asking())[0].ingest_id == run.ingest_id


def test_repeats_are_epochs(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    seeds: list[int | None] = []

    def sampled(request: Request) -> Reply:
        if request.target is None:
            seeds.append(request.seed)
            return Reply(delivery=Delivery.OK, text=f" {request.sample}")
        return right(request)

    run = store.write(*collect(CallableModel(sampled, "m"), TASK, Asking(epochs=3, temperature=1.0, seed=5)))
    assert run.expected == 180
    assert run.seed is None  # a seed of sampling makes no other model
    assert sorted(set(seeds), key=str) == [5, 6, 7]
    assert {(e, a) for e, a in rows(store, "epoch", "answer")} == {(1, "0"), (2, "1"), (3, "2")}
    gold = store.snapshot().scan("responses", columns=["gold_token_logprobs"]).collect()
    assert gold["gold_token_logprobs"].null_count() == 0
    with pytest.raises(ConfigError, match="--temperature 1"):
        Asking(epochs=2)


def test_a_chat_is_asked_in_turns_and_says_what_it_cannot_give(tmp_path: Path) -> None:
    def talks(request: Request) -> str:
        assert request.prompt is None
        return f"The answer to question 7 is {answer_of(request.messages[-1].content)}."

    run, batches = collect(CallableModel(talks, "m"), TASK, Asking(chat=True))
    assert run.warnings == [
        "no log-probabilities of the right answers: a chat endpoint gives none (--api completions may)"
    ]
    store = Store.open(tmp_path / "s", create=True)
    store.write(run, batches)
    score(store, ["exact_match"])
    assert set(store.snapshot().scan("scores", columns=["value"]).collect()["value"]) == {1.0}
    assert collect(CallableModel(talks, "m"), TASK, Asking(chat=True, logprobs=False))[0].warnings == []


def test_a_model_without_given_texts_is_asked_once_for_them() -> None:
    asked = 0

    def plain(request: Request) -> Reply:
        nonlocal asked
        asked += request.target is not None
        return Reply(delivery=Delivery.OK, text=" 1") if request.target is None else Reply(delivery=Delivery.ERROR)

    run, _ = collect(CallableModel(plain, "m"), TASK, Asking())
    assert asked == 1
    assert run.warnings == ["no log-probabilities of the right answers: the model gave none"]


def test_some_unscored_answers_are_counted() -> None:
    def some(request: Request) -> Reply:
        reply = right(request)
        if request.target is None or int(answer_of(request.prompt or "")) % 2:
            return reply
        return msgspec.structs.replace(reply, target_tokens=(*reply.target_tokens[1:], Token("x", None)))

    even = sum(int(p.target) % 2 == 0 for p in TASK.problems)
    run, batches = collect(CallableModel(some, "m"), TASK, Asking())
    assert run.warnings == [f"{even} of 60 right answers could not be scored token by token"]
    columns = next(b for b in batches if b.table == "responses").columns
    assert columns["gold_token_logprobs"].count(None) == even


def test_a_first_question_that_fails_stops_it() -> None:
    asked = 0

    def refuses(request: Request) -> Reply:
        nonlocal asked
        asked += 1
        return Reply(delivery=Delivery.ERROR, note="HTTP 400: logprobs are not supported")

    with pytest.raises(ModelError, match="--no-logprobs"):
        collect(CallableModel(refuses, "m"), TASK, Asking())
    assert asked == 1


def test_a_server_that_never_answers_makes_no_run_of_few_questions() -> None:
    lost = Reply(delivery=Delivery.ERROR, note="connection refused", final=False)
    task = arithmetic("multiplication", items=4)
    with pytest.raises(ModelError, match="none of 4 questions was answered: connection refused"):
        collect(CallableModel(lambda _: lost, "m"), task, Asking())


def test_questions_that_the_server_lost_are_told_with_the_reason() -> None:
    lost = Reply(delivery=Delivery.TIMEOUT, note="no answer within 120 seconds", final=False)

    def some(request: Request) -> Reply:
        first = (request.prompt or "").endswith(f"{TASK.problems[0].question}\nA:")
        return lost if request.target is None and first else right(request)

    run, _ = collect(CallableModel(some, "m"), TASK, Asking())
    assert run.warnings == ["1 of 60 questions not answered: no answer within 120 seconds"]


def test_more_rows_than_a_batch_holds() -> None:
    task = arithmetic("multiplication", items=4090, shots=0)
    _, batches = collect(CallableModel(right, "m"), task, Asking(epochs=2, temperature=1, logprobs=False))
    assert [(b.table, b.rows) for b in batches] == [("items", 4090), ("responses", 4096), ("responses", 4084)]
    assert [row for b in batches[1:] for row in b.columns["row"]] == list(range(8180))


def test_per_token_values_come_through_a_server() -> None:
    with serving(answer) as server:
        model = Endpoint(server.url, "fam-1b@0.8")
        _, batches = collect(model, TASK, Asking(workers=4))
    columns = next(b for b in batches if b.table == "responses").columns
    assert all(len(t) == 1 + len(p.target) for t, p in zip(columns["gold_token_logprobs"], TASK.problems, strict=True))
    digits = [value for tokens in columns["gold_token_logprobs"] for value in tokens[1:]]
    import math

    assert math.exp(sum(digits) / len(digits)) == pytest.approx(skill_of("@0.8"), abs=0.02)


def test_an_endless_answer_is_cut_and_says_so() -> None:
    from foreshock.models._collect import MAX_OUTPUT

    _, batches = collect(CallableModel(lambda _: "7" * (MAX_OUTPUT + 5), "m"), TASK, Asking(logprobs=False))
    columns = next(b for b in batches if b.table == "responses").columns
    assert {len(text) for text in columns["output"]} == {MAX_OUTPUT}
    assert set(columns["meta"]) == {f'{{"characters":{MAX_OUTPUT + 5},"served_as":"m"}}'}


def test_the_form_of_the_prompt_has_a_hash_of_its_own() -> None:
    def hash_of(items: int = 5, seed: int = 0, shots: int = 2, *, chat: bool = False) -> str | None:
        task = arithmetic("addition", items=items, seed=seed, shots=shots)
        return collect(CallableModel(lambda _: "1", "m"), task, Asking(chat=chat, logprobs=False))[0].prompt_hash

    assert hash_of() == hash_of(items=7) == hash_of(seed=1)
    assert len({hash_of(), hash_of(shots=3), hash_of(chat=True)}) == 3
