"""Replies on disk: asked once, replayed; a killed run goes on where it was; damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import BrokenFileError, ConfigError, ForeshockError, ModelError
from foreshock.models import CallableModel, Recorded, ask
from foreshock.models._ask import PATIENCE
from foreshock.records import Delivery, Reply, Request, Token


class Counting:
    """A function that knows how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request.prompt or "")
        return Reply(delivery=Delivery.OK, text=f"{request.prompt}!", tokens=(Token("x", -0.5, {"y": -1.0}),))


def requests(n: int) -> list[Request]:
    return [Request(prompt=str(i)) for i in range(n)]


def test_what_was_asked_is_not_asked_again(tmp_path: Path) -> None:
    path, function = tmp_path / "deep" / "replies.jsonl", Counting()
    with Recorded(path, CallableModel(function, "m")) as model:
        first = list(ask(model, requests(5)))
    with Recorded(path, CallableModel(function, "m")) as model:
        assert list(ask(model, requests(7)))[:5] == first
    assert sorted(function.asked) == [str(i) for i in range(7)]
    offline = Recorded(path)
    assert (offline.name, offline.identity) == ("m", {"access": "function", "model": "m", "version": "1"})
    assert len(offline) == 7
    assert list(ask(offline, requests(7)))[:5] == first
    with pytest.raises(ModelError, match="name an endpoint"):
        offline(Request(prompt="new"))


@pytest.mark.parametrize(
    "other",
    [Request(prompt="0", target="0"), Request(prompt="0", sample=1), Request(prompt="0", temperature=0.5)],
)
def test_another_question_is_another_line(tmp_path: Path, other: Request) -> None:
    function = Counting()
    with Recorded(tmp_path / "r", CallableModel(function, "m")) as model:
        model(Request(prompt="0"))
        model(other)
        model(other)
    assert len(function.asked) == 2


def test_a_file_killed_while_it_was_written_goes_on(tmp_path: Path) -> None:
    path, function = tmp_path / "r.jsonl", Counting()
    with Recorded(path, CallableModel(function, "m")) as model:
        list(ask(model, requests(3), workers=1))
    whole = path.read_bytes()
    for cut in (1, 30, len(whole) - 1, len(whole) - 40):
        path.write_bytes(whole[:cut])
        with Recorded(path, CallableModel(function, "m")) as model:
            list(ask(model, requests(3), workers=1))
        assert path.read_bytes() == whole


def test_what_another_try_might_change_is_not_kept(tmp_path: Path) -> None:
    lost = Reply(delivery=Delivery.TIMEOUT, final=False)
    with Recorded(tmp_path / "r", CallableModel(lambda _: lost, "m")) as model:
        assert model(Request(prompt="0")) == lost
        assert len(model) == 0
    refused = Reply(delivery=Delivery.REFUSED)
    with Recorded(tmp_path / "r", CallableModel(lambda _: refused, "m")) as model:
        assert model(Request(prompt="0")) == refused
    assert Recorded(tmp_path / "r")(Request(prompt="0")) == refused


def test_replies_of_another_model_are_refused(tmp_path: Path) -> None:
    Recorded(tmp_path / "r", CallableModel(Counting(), "m")).close()
    for other in (CallableModel(Counting(), "n"), CallableModel(Counting(), "m", version="2")):
        with pytest.raises(ConfigError, match="another file"):
            Recorded(tmp_path / "r", other)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "{}\n", "x", '{"foreshock_replies":1}\n', "[" * 5000 + "\n", "\n"])
def test_another_file_is_refused_and_left_as_it_was(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.csv"
    path.write_text(text)
    with pytest.raises(BrokenFileError, match="no recorded reply"):
        Recorded(path, CallableModel(Counting(), "m"))
    assert path.read_text() == text


def test_a_damaged_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with Recorded(path, CallableModel(Counting(), "m")) as model:
        list(ask(model, requests(3), workers=1))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"key": 5}\n', *lines[2:]]))
    with pytest.raises(BrokenFileError, match="line 2"):
        Recorded(path)


def test_no_file_and_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no recorded replies"):
        Recorded(tmp_path / "none")
    with pytest.raises(ForeshockError):
        Recorded(tmp_path, CallableModel(Counting(), "m"))


def test_a_function_may_fail_in_any_way() -> None:
    def broken(request: Request) -> str:
        raise TimeoutError("late") if request.prompt == "late" else ValueError("x" * 5000)

    model = CallableModel(broken, "m")
    late, bad = model(Request(prompt="late")), model(Request(prompt="now"))
    assert (late.delivery, late.final) == (Delivery.TIMEOUT, False)
    assert (bad.delivery, bad.final) == (Delivery.ERROR, False)
    assert len(bad.note or "") <= 300
    assert CallableModel(lambda _: 5, "m")(Request(prompt="")).delivery is Delivery.ERROR
    with pytest.raises(ConfigError):
        CallableModel(broken, " ")


def test_a_reply_of_a_function_or_a_file_is_held_to_the_same(tmp_path: Path) -> None:
    bad = Reply(
        delivery=Delivery.OK,
        text="\ud800 4",
        tokens=(Token("\udfff", 5.0, {"x": 2.0}),),
        input_tokens=10**30,
        output_tokens=-1,
        seconds=float("nan"),
        note="n" * 10**5,
        model="\ud800",
    )
    found = CallableModel(lambda _: bad, "m\ud800")(Request(prompt="2 + 2"))
    assert (found.text, found.tokens, found.logprobs) == ("? 4", (Token("?"),), None)
    assert (found.input_tokens, found.output_tokens, found.seconds, found.model) == (None, None, None, "?")
    assert len(found.note or "") <= 300
    odd = CallableModel(lambda _: Reply(delivery=Delivery.OK, text=5), "m")  # type: ignore[arg-type]
    assert odd(Request(prompt="")).delivery is Delivery.ERROR
    with Recorded(tmp_path / "r", CallableModel(lambda _: "4", "m")) as model:
        model(Request(prompt="2 + 2"))
    path = tmp_path / "r"
    path.write_bytes(path.read_bytes().replace(b'"text":"4"', b'"text":"4","tokens":[{"text":"4","logprob":5.0}]'))
    assert Recorded(path)(Request(prompt="2 + 2")).logprobs is None
    path.write_bytes(path.read_bytes().replace(b'"foreshock_replies":1', b'"foreshock_replies":2'))
    with pytest.raises(BrokenFileError, match="its form is 2"):
        Recorded(path)


def test_replies_come_in_the_order_of_the_requests() -> None:
    import time

    model = CallableModel(lambda r: (time.sleep(0.02 * (int(r.prompt or 0) % 3 == 0)), r.prompt)[1], "m")
    seen: list[tuple[str, int, int | None]] = []
    replies = list(ask(model, requests(12), workers=5, progress=lambda *a: seen.append(a), total=12))
    assert [reply.text for reply in replies] == [str(i) for i in range(12)]
    assert seen[-1] == ("ask", 12, 12)


def test_no_more_than_the_workers_are_under_way() -> None:
    import threading

    lock, under_way, most = threading.Lock(), 0, 0
    taken = 0

    def source() -> object:
        nonlocal taken
        for request in requests(60):
            taken += 1
            yield request

    def answer(request: Request) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.002)
        with lock:
            under_way -= 1
        return "x"

    given = ask(CallableModel(answer, "m"), source(), workers=3)  # type: ignore[arg-type]
    next(given)
    assert taken <= 7  # a window, not the whole list
    assert len(list(given)) == 59
    assert most == 3


def test_a_model_that_stopped_answering_is_not_asked_for_ever() -> None:
    function = Counting()

    def dead(request: Request) -> Reply:
        function(request)
        return Reply(delivery=Delivery.ERROR, note="connection refused", final=int(request.prompt or 0) < 3)

    with pytest.raises(ModelError, match="connection refused"):
        list(ask(CallableModel(dead, "m"), requests(1000), workers=2))
    assert len(function.asked) <= 3 + PATIENCE + 4
    with pytest.raises(ConfigError):
        list(ask(CallableModel(dead, "m"), requests(3), workers=0))


def test_a_fault_of_the_user_ends_it() -> None:
    def wrong(_: Request) -> Reply:
        raise ModelError("HTTP 401")

    with pytest.raises(ModelError, match="401"):
        list(ask(CallableModel(wrong, "m"), requests(50)))


def test_an_interruption_does_not_wait_for_the_server() -> None:
    import subprocess
    import sys
    import time

    code = """
import threading
from foreshock.models import CallableModel, ask
from foreshock.records import Request

def slow(request):
    if request.prompt == "0":
        return "x"
    threading.Event().wait(60)

replies = ask(CallableModel(slow, "m"), (Request(prompt=str(i)) for i in range(20)), workers=3)
next(replies)
raise KeyboardInterrupt
"""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=50)
    assert "KeyboardInterrupt" in done.stderr
    assert time.monotonic() - started < 30
