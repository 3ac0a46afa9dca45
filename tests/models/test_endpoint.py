"""An endpoint, good and hostile: every reply is a delivery, nothing grows or waits without end, no key leaks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from foreshock._base import ConfigError, ModelError
from foreshock.models import Endpoint
from foreshock.records import Delivery, Message, Reply, Request

from ._server import Call, Handler, chat, completion, serving

ASK = Request(prompt="1 + 1 =", max_tokens=4, logprobs=2, stop=("\n",), seed=3)
TURNS = Request(messages=(Message("user", "1 + 1?"),), max_tokens=4, logprobs=5)


def told(answer: Handler, request: Request = ASK, **options: Any) -> tuple[Reply, list[Call], list[float]]:
    """The reply, the calls and the waits between them."""
    waits: list[float] = []
    with serving(answer) as server:
        api = "chat" if request.messages else "completions"
        model = Endpoint(server.url, "tiny", api=api, sleep=waits.append, **{"timeout": 5.0} | options)
        return model(request), server.calls, waits


def giving(value: Any, status: int = 200, **headers: str) -> Handler:
    return lambda call: call.json(value, status, **headers)


def test_a_completion_is_asked_and_read() -> None:
    reply, calls, _ = told(giving(completion(" 2", [(" 2", -0.25)])))
    assert (reply.delivery, reply.text, reply.logprobs) == (Delivery.OK, " 2", [-0.25])
    assert (reply.input_tokens, reply.output_tokens, reply.stop_reason, reply.model) == (7, 2, "stop", "served")
    assert reply.seconds is not None
    assert reply.final
    assert calls[0].path == "/v1/completions"
    assert calls[0].body == {
        "model": "tiny",
        "temperature": 0.0,
        "prompt": "1 + 1 =",
        "logprobs": 2,
        "max_tokens": 4,
        "stop": ["\n"],
        "seed": 3,
    }
    assert "Authorization" not in calls[0].headers


def test_a_chat_is_asked_and_read() -> None:
    content = [{"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "No", "logprob": -2.5}]}]
    reply, calls, _ = told(giving(chat("Yes", logprobs={"content": content})), TURNS)
    assert (reply.text, reply.logprobs, reply.tokens[0].top) == ("Yes", [-0.1], {"No": -2.5})
    assert calls[0].path == "/v1/chat/completions"
    assert calls[0].body["messages"] == [{"role": "user", "content": "1 + 1?"}]
    assert calls[0].body["logprobs"] is True
    assert calls[0].body["top_logprobs"] == 5


@pytest.mark.parametrize(
    ("body", "delivery", "text"),
    [
        (chat("2", finish_reason="length"), Delivery.TRUNCATED, "2"),
        (chat("", finish_reason="content_filter"), Delivery.BLOCKED, ""),
        (chat(None, finish_reason="content_filter"), Delivery.BLOCKED, None),
        (chat(None, message={"refusal": "I will not."}), Delivery.REFUSED, None),
        (chat(None, finish_reason="tool_calls"), Delivery.ERROR, None),
        (chat(""), Delivery.OK, ""),
        ({"choices": []}, Delivery.ERROR, None),
        ({"error": {"message": "out of memory"}}, Delivery.ERROR, None),
        ([1, 2], Delivery.ERROR, None),
        ({"choices": [{"message": {"content": 5}}]}, Delivery.ERROR, None),
        ({"choices": {"0": {}}}, Delivery.ERROR, None),
    ],
)
def test_what_went_wrong_is_a_delivery(body: Any, delivery: Delivery, text: str | None) -> None:
    reply, calls, _ = told(giving(body), TURNS)
    assert (reply.delivery, reply.text, len(calls)) == (delivery, text, 1)
    assert reply.note or reply.delivery in (Delivery.OK, Delivery.TRUNCATED) or text == ""


def test_a_filter_may_refuse_the_request() -> None:
    body = {"error": {"code": "content_filter", "message": "filtered"}}
    reply, calls, _ = told(giving(body, 400))
    assert (reply.delivery, reply.note, len(calls)) == (Delivery.BLOCKED, "filtered", 1)


def test_a_busy_server_is_asked_again_after_the_time_it_names() -> None:
    def answer(call: Call) -> None:
        if call.number == 0:
            call.json({"error": "slow down"}, 429, Retry_After="7")
        elif call.number == 1:
            call.json({"error": {"message": "oops"}}, 500)
        else:
            call.json(completion(" 2"))

    reply, calls, waits = told(answer)
    assert (reply.text, len(calls)) == (" 2", 3)
    assert waits == [7.0, 1.0]


def test_a_server_that_stays_busy_is_an_error_that_another_try_may_mend() -> None:
    reply, calls, waits = told(giving({"error": {"message": "overloaded"}}, 503), tries=3)
    assert (reply.delivery, reply.final, reply.note, len(calls)) == (Delivery.ERROR, False, "HTTP 503: overloaded", 3)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("asked", ["3600", "Wed, 01 Jan 2200 00:00:00 GMT"])
def test_a_wait_without_end_is_not_waited(asked: str) -> None:
    reply, calls, waits = told(giving({}, 429, Retry_After=asked))
    assert (reply.delivery, reply.final, len(calls), waits) == (Delivery.ERROR, False, 1, [])


@pytest.mark.parametrize("asked", ["-5", "nan", "soon", "1" * 50, "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_a_strange_wait_is_ours(asked: str) -> None:
    _, calls, waits = told(giving({}, 429, Retry_After=asked), tries=2)
    assert len(calls) == 2
    assert waits == [0.5]


def test_a_request_that_the_server_refuses_is_not_repeated() -> None:
    reply, calls, _ = told(giving({"error": {"message": "context too long"}}, 400))
    assert (reply.delivery, reply.final, reply.note, len(calls)) == (
        Delivery.ERROR,
        True,
        "HTTP 400: context too long",
        1,
    )


@pytest.mark.parametrize(("status", "word"), [(401, "--key-env"), (404, "name of the model"), (308, "moved")])
def test_what_no_request_can_pass_is_an_error_of_the_user(status: int, word: str) -> None:
    with pytest.raises(ModelError) as caught:
        told(giving({"message": "no"}, status, Location="http://127.0.0.1:9/v1"))
    assert word in str(caught.value)


def test_a_redirect_is_not_followed() -> None:
    with serving(giving(completion("stolen"))) as thief, pytest.raises(ModelError):
        told(giving({}, 307, Location=f"{thief.url}/completions"))
    assert thief.calls == []


def test_a_dripping_reply_ends() -> None:
    started = time.monotonic()
    reply, calls, _ = told(lambda call: call.drip(20), timeout=0.3, tries=2)
    assert (reply.delivery, reply.final, len(calls)) == (Delivery.TIMEOUT, False, 2)
    assert time.monotonic() - started < 5


def test_a_body_without_a_length_that_is_cut_off_is_a_timeout() -> None:
    def answer(call: Call) -> None:
        call.handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n{")
        call.handler.wfile.flush()
        time.sleep(1.0)
        call.handler.close_connection = True

    reply, _, _ = told(answer, timeout=0.2, tries=1)
    assert (reply.delivery, reply.final) == (Delivery.TIMEOUT, False)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300, 0.0])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match="a time"):
        Endpoint("http://localhost:1/v1", "tiny", timeout=seconds)


def test_a_silent_server_is_a_timeout() -> None:
    reply, _, _ = told(lambda call: time.sleep(1.0), timeout=0.2, tries=1)
    assert reply.delivery is Delivery.TIMEOUT


@pytest.mark.parametrize("answer", [lambda call: call.flood(4 << 20), lambda call: call.raw(200, b" " * (2 << 20))])
def test_a_huge_reply_is_not_read(answer: Handler) -> None:
    reply, calls, _ = told(answer, most=1 << 20)
    assert (reply.delivery, reply.final, len(calls)) == (Delivery.ERROR, True, 1)
    assert "too long" in (reply.note or "")


@pytest.mark.parametrize(
    "data", [b"<html>busy</html>", b"", b"{", b"[" * 100_000, b'{"choices": "' + b"\xff" * 9, b"9" * 10_000]
)
def test_bad_json_is_an_error_of_the_server(data: bytes) -> None:
    reply, calls, _ = told(lambda call: call.raw(200, data), tries=2)
    assert reply.delivery is Delivery.ERROR
    assert reply.text is None
    assert len(calls) == 2


def test_a_body_that_ends_early_is_asked_again() -> None:
    def answer(call: Call) -> None:
        if call.number == 0:
            call.raw(200, b"{", Content_Length="900")
            call.handler.close_connection = True
        else:
            call.json(completion(" 2"))

    reply, calls, _ = told(answer)
    assert (reply.text, len(calls)) == (" 2", 2)


def test_no_server_is_an_error_after_all_tries() -> None:
    waits: list[float] = []
    reply = Endpoint("http://127.0.0.1:9/v1", "tiny", tries=3, sleep=waits.append)(ASK)
    assert (reply.delivery, reply.final, waits) == (Delivery.ERROR, False, [0.5, 1.0])


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "3.5", '"-1"', "true", "null", "1" * 400])
def test_a_log_probability_that_is_none_is_missing(value: str) -> None:
    body = json.dumps(completion(" 2", [(" 2", -7.5)])).replace("-7.5", value)
    reply, _, _ = told(lambda call: call.raw(200, body.encode()))
    assert (reply.delivery, reply.text, reply.logprobs) == (Delivery.OK, " 2", None)


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"tokens": ["a"], "token_logprobs": []}, {"tokens": {}, "token_logprobs": 3}, [], "x"]
)
def test_missing_log_probabilities_are_missing(logprobs: Any) -> None:
    reply, _, _ = told(giving(completion(" 2", logprobs=logprobs)))
    assert (reply.delivery, reply.text, reply.tokens) == (Delivery.OK, " 2", ())


def test_lone_surrogates_do_not_pass() -> None:
    body = json.dumps(completion("\ud800 2", [("\ud800", -1.0)])).encode()
    reply, _, _ = told(lambda call: call.raw(200, body))
    assert (reply.text, reply.tokens[0].text) == ("? 2", "?")


def test_a_newer_name_of_the_limit_is_learnt() -> None:
    def answer(call: Call) -> None:
        if "max_tokens" in call.body:
            message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            call.json({"error": {"message": message}}, 400)
        else:
            call.json(chat("2"))

    with serving(answer) as server:
        model = Endpoint(server.url, "tiny", api="chat")
        assert model(TURNS).text == "2"
        assert model(TURNS).text == "2"
        assert [call.body.get("max_completion_tokens") for call in server.calls] == [None, 4, 4]


def test_the_key_comes_from_the_named_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("MY_KEY", "sk-secret")
    _, calls, _ = told(giving(completion(" 2")))
    assert "Authorization" not in calls[0].headers
    _, calls, _ = told(giving(completion(" 2")), key_env="MY_KEY")
    assert calls[0].headers["Authorization"] == "Bearer sk-secret"
    model = Endpoint("http://localhost:1/v1", "tiny", key_env="MY_KEY")
    assert "sk-secret" not in str(model.identity) + str(vars(model)["_address"])


@pytest.mark.parametrize("status", [200, 401, 422, 503])
def test_a_key_that_the_server_repeats_is_not_kept(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("MY_KEY", 'sk-"secret"-0123')

    def answer(call: Call) -> None:
        sent = call.headers["Authorization"]
        call.json(completion(sent) | {"model": sent, "error": {"message": f"wrong: {sent}"}}, status)

    try:
        reply, _, _ = told(answer, key_env="MY_KEY", tries=1)
        shown = str(reply)
    except ModelError as error:
        shown = str(error)
    assert "Bearer [key]" in shown
    assert "0123" not in shown


@pytest.mark.parametrize("value", ["", "  ", "a\nb", "schlüssel"])
def test_a_variable_without_a_key_is_told(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(ConfigError, match="MY_KEY"):
        Endpoint("http://localhost:1/v1", "tiny", key_env="MY_KEY")


def test_a_key_does_not_travel_in_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with pytest.raises(ConfigError, match="in clear") as caught:
        Endpoint("http://example.org/v1", "tiny", key_env="MY_KEY")
    assert "sk-secret" not in str(caught.value)
    Endpoint("https://example.org/v1", "tiny", key_env="MY_KEY")


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "localhost:8000",
            "ftp://a/v1",
            "http://",
            "http://[",
            "http://a:99999/",
            "sk-12345678901234",
            "file:///",
        ),
        *("http://a/v1 x", "http://a/v\u00e9", "http://a/\0", "http://..:80/v1", f"http://{'a' * 100}/v1"),
    ],
)
def test_what_is_no_address_is_told_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint(url, "tiny")
    assert "34567" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://u:geheim@localhost/v1", "http://localhost/v1?key=geheim"])
def test_a_password_in_the_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Endpoint(url, "tiny")
    assert "geheim" not in str(caught.value)


TEXT = [("Q", None), (": 1+1", -3.0), (" =", -0.5), (" 1", -1.0), ("2", -0.25), ("\n", -0.7)]


def scoring(tokens: list[tuple[str, float | None]], **choice: Any) -> Callable[[Call], None]:
    return giving(completion("".join(t for t, _ in tokens), tokens, **choice))


def test_a_target_is_scored_by_teacher_forcing() -> None:
    reply, calls, _ = told(scoring(TEXT), Request(prompt="Q: 1+1 =", target=" 12"))
    assert [token.text for token in reply.target_tokens] == [" 1", "2"]
    assert (reply.target_logprobs, reply.text, reply.note) == ([-1.0, -0.25], None, None)
    assert calls[0].body["prompt"] == "Q: 1+1 = 12"
    assert calls[0].body["echo"] is True


def test_a_mark_of_the_beginning_is_no_text() -> None:
    reply, _, _ = told(
        scoring([("<s>", None), ("Q: 1+1 =", -2.0), *TEXT[3:]]), Request(prompt="Q: 1+1 =", target=" 12")
    )
    assert reply.target_logprobs == [-1.0, -0.25]


def test_a_token_across_the_border_is_told() -> None:
    tokens = [("Q: 1+1", None), (" = 1", -1.5), ("2", -0.25), ("x", -9.0)]
    reply, _, _ = told(scoring(tokens), Request(prompt="Q: 1+1 =", target=" 12"))
    assert reply.target_logprobs == [-1.5, -0.25]
    assert reply.note == "a token of the target begins in the prompt"


def test_bytes_of_characters_need_the_offsets() -> None:
    tokens = [("é =", None), ("bytes: \\xc3", -1.0), ("bytes:\\xa9", -2.0), ("x", -3.0)]
    body = completion("", tokens)
    body["choices"][0]["logprobs"]["text_offset"] = [0, 3, 4, 5]
    reply, _, _ = told(giving(body), Request(prompt="é =", target=" é"))
    assert reply.target_logprobs == [-1.0, -2.0]


@pytest.mark.parametrize(
    "body",
    [
        completion(" 2", [(" 2", -0.1)]),  # no echo
        completion("", [(t.strip(), p) for t, p in TEXT]),  # spaces were lost: offsets would be wrong as well
        completion("Q: 1+1 = 12"),  # no log-probabilities
        {"choices": []},
        {"choices": [{"logprobs": {"tokens": ["Q"], "token_logprobs": [None], "text_offset": [-5]}}]},
    ],
)
def test_a_target_that_cannot_be_read_is_an_error_never_a_number(body: Any) -> None:
    reply, _, _ = told(giving(body), Request(prompt="Q: 1+1 =", target=" 12"))
    assert (reply.delivery, reply.target_tokens, reply.target_logprobs) == (Delivery.ERROR, (), None)


def test_a_missing_value_inside_the_target_is_no_sum() -> None:
    tokens = [*TEXT[:4], ("2", None), TEXT[5]]
    reply, _, _ = told(scoring(tokens), Request(prompt="Q: 1+1 =", target=" 12"))
    assert reply.target_logprobs is None
    assert "no log-probability" in (reply.note or "")


def spaceless(mark: str, prompt: list[str], target: list[str], **usage: int) -> Handler:
    """A server that spells tokens without their spaces, or with a mark in their place."""

    def spelt(texts: list[str]) -> list[tuple[str, float | None]]:
        return [(text.replace(" ", mark), None if i == 0 else -0.5 * i) for i, text in enumerate(texts)]

    def answer(call: Call) -> None:
        texts = prompt if call.body["prompt"] == "".join(prompt) else [*prompt, *target]
        body = completion("", [*spelt(["<s>", *texts]), ("x", -9.0)])
        body["usage"] = {"prompt_tokens": 1 + len(texts), "completion_tokens": 1} | usage
        call.json(body)

    return answer


@pytest.mark.parametrize("mark", ["", "\u0120", "\u2581"])
def test_tokens_without_their_spaces_are_counted(mark: str) -> None:
    prompt, target = ["Q", ":", " 1", "+", "1", " ="], [" 1", "2"]
    reply, calls, _ = told(spaceless(mark, prompt, target), Request(prompt="Q: 1+1 =", target=" 12"))
    assert (reply.delivery, reply.target_logprobs) == (Delivery.OK, [-3.5, -4.0])
    assert [call.body["prompt"] for call in calls] == ["Q: 1+1 = 12", "Q: 1+1 ="]


@pytest.mark.parametrize(
    ("target", "usage"),
    [
        ([" 1", "3"], {}),  # another text
        ([" 1", "2"], {"prompt_tokens": 3}),  # not all tokens are there
        ([" 1", "2"], {"completion_tokens": 0}),
    ],
)
def test_counts_that_do_not_fit_give_nothing(target: list[str], usage: dict[str, int]) -> None:
    reply, _, _ = told(spaceless("", ["Q", " ="], target, **usage), Request(prompt="Q =", target=" 12"))
    assert (reply.delivery, reply.target_tokens) == (Delivery.ERROR, ())


def test_a_token_across_the_border_is_not_counted() -> None:
    def answer(call: Call) -> None:
        whole = call.body["prompt"].endswith("12")
        texts = ["Q", "=1", "2"] if whole else ["Q", "="]
        body = completion("", [(text, -1.0) for text in [*texts, "x"]])
        body["usage"] = {"prompt_tokens": len(texts), "completion_tokens": 1}
        call.json(body)

    reply, _, _ = told(answer, Request(prompt="Q =", target=" 12"))
    assert (reply.delivery, reply.target_tokens) == (Delivery.ERROR, ())


def test_a_server_that_ignores_echo_gives_nothing() -> None:
    # llama.cpp's: one entry for the generated token; summed blindly it would make every answer certain
    body = completion(" 7", [(" 7", -0.01)])
    body["usage"] = {"prompt_tokens": 9, "completion_tokens": 1}
    reply, calls, _ = told(giving(body), Request(prompt="Q: 1+1 =", target=" 12"))
    assert (reply.delivery, reply.target_tokens, len(calls)) == (Delivery.ERROR, (), 2)


def test_a_chat_cannot_score_a_target() -> None:
    reply, calls, _ = told(giving(chat("2")), Request(messages=TURNS.messages, target=" 2"))
    assert (reply.delivery, len(calls)) == (Delivery.ERROR, 0)
