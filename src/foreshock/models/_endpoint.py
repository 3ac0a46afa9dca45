"""An endpoint that speaks the protocol of OpenAI's API: vLLM, llama.cpp, Ollama, SGLang, TGI, OpenAI and many more."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from foreshock._base import ConfigError, ModelError
from foreshock.models._http import Answer, TooLong, address_of, post
from foreshock.models._parse import decode, error_of, failed, generated, is_block
from foreshock.models._target import UNEQUAL, counted, scored
from foreshock.records import Delivery, Reply, Request

Api = Literal["completions", "chat"]

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_HOPELESS = {
    401: "the endpoint wants a key, or another one: name the variable that holds it with --key-env NAME",
    403: "the key is not allowed to do this; use another one",
    404: "check the address (it usually ends in /v1) and the name of the model",
    405: "check the address: nothing answers there in this way",
}
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0

LONGEST_TRY = 86_400
"""Seconds of one try at the most: a day. Far larger numbers are no times that a system could wait for."""

LEAST_KEY = 8
"""Characters of a key that is taken out of what a server says; a shorter one is a word such as ``EMPTY``, no secret."""


class Endpoint:
    """A model behind an OpenAI-compatible address.

    Nothing is sent anywhere but to ``url``: redirects are not followed and no proxy is used. The key is read from the
    environment variable that is named, and is neither kept nor shown; it never travels in clear to another machine.

    Args:
        url: Address up to and without ``/completions``: ``http://localhost:8000/v1``.
        model: Name of the model there.
        api: ``completions`` (texts; can score a given target) or ``chat``.
        key_env: Environment variable that holds the key; None sends none.
        timeout: Seconds for one try, from connecting to the last byte.
        tries: How often a request is sent while the server is busy, fails or does not answer.
        most: Bytes of one reply at the most.
        sleep: How to wait between tries.

    Raises:
        ConfigError: The address, the kind or the variable is wrong.

    Examples:
        >>> Endpoint("http://localhost:8000/v1", "tiny").identity["place"]
        'http://localhost:8000/v1'
    """

    def __init__(  # noqa: PLR0913 - an address has this many sides
        self,
        url: str,
        model: str,
        *,
        api: Api = "completions",
        key_env: str | None = None,
        timeout: float = 120.0,
        tries: int = 5,
        most: int = 8 * 2**20,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if api not in ("completions", "chat"):
            raise ConfigError(f"the kind of endpoint {api!r}", expected="completions or chat")
        if not model.strip() or not 0 < timeout <= LONGEST_TRY or tries < 1:
            raise ConfigError(
                "an endpoint without a model, a time or a try",
                expected=f"a name, 1 try or more, and a time above 0 and up to {LONGEST_TRY:,} seconds",
            )
        self._address = address_of(url)
        self._model, self._api = model, api
        self._timeout, self._tries, self._most, self._sleep = timeout, tries, most, sleep
        self._headers = {"Content-Type": "application/json", "User-Agent": "foreshock", **self._key(key_env)}
        self._limit_name = "max_tokens"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model

    @property
    def identity(self) -> Mapping[str, str]:
        """Kind of access, place and model."""
        return {"access": f"openai-{self._api}", "place": self._address.place, "model": self._model}

    def __call__(self, request: Request, /) -> Reply:
        """Answer one request.

        Raises:
            ModelError: No request can succeed: the key, the address or the name of the model is wrong.
        """
        if request.target is not None and self._api == "chat":
            return failed("a chat endpoint gives no log-probabilities of a given text")
        if (request.prompt is None) == (self._api == "completions"):
            raise ModelError(
                f"a {self._api} endpoint was asked with {'messages' if request.prompt is None else 'a prompt'}",
                expected="a prompt for completions, messages for chat",
            )
        if request.target is not None:
            return self._score(request, request.target)
        return self._until(self._body(request), lambda value: generated(value, chat=self._api == "chat"))

    def _score(self, request: Request, target: str) -> Reply:
        prompt = request.prompt or ""
        bodies: list[Any] = []

        def read(value: Any) -> Reply:
            bodies.append(value)
            return scored(value, prompt, target)

        reply = self._until(self._echo(prompt + target, request), read)
        if reply.note != UNEQUAL:
            return reply
        # spaces are lost in how the tokens are spelt: count the prompt's own tokens instead
        return self._until(self._echo(prompt, request), lambda value: counted(bodies[-1], value, target))

    def _until(self, body: dict[str, Any], read: Callable[[Any], Reply]) -> Reply:
        reply = failed("not asked")
        for attempt in range(self._tries):
            reply, wait = self._try(body, read, attempt)
            if reply.final or wait is None or attempt + 1 == self._tries:
                return reply
            self._sleep(wait)
        return reply

    def _try(self, body: dict[str, Any], read: Callable[[Any], Reply], attempt: int) -> tuple[Reply, float | None]:
        """One try: the reply, and how long to wait before the next; None when another one is of no use."""
        from http.client import HTTPException

        wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt)
        started = time.monotonic()
        try:
            answer = self._post(body)
        except TimeoutError as error:
            return failed(f"no answer in time ({error})", delivery=Delivery.TIMEOUT, final=False), wait
        except TooLong as error:
            return failed(f"the reply is too long ({error})"), None
        except (OSError, HTTPException, ValueError) as error:
            return failed(f"the connection failed ({type(error).__name__}: {str(error)[:200]})", final=False), wait
        value = decode(answer.body)
        if answer.status == 200:
            if value is None:
                return failed("the reply is no JSON", final=False), wait
            return self._took(read(value), started), None
        return self._refused(answer, value, wait)

    def _post(self, body: dict[str, Any]) -> Answer:
        path = "/chat/completions" if self._api == "chat" else "/completions"

        def send() -> Answer:
            told = {self._limit_name if name == "max_tokens" else name: value for name, value in body.items()}
            data = msgspec.json.encode(told)
            return post(self._address, path, data, self._headers, timeout=self._timeout, most=self._most)

        answer = self._without_key(send())
        wrong = error_of(decode(answer.body)) or "" if answer.status == 400 else ""
        if self._limit_name == "max_tokens" and "max_completion_tokens" in wrong:
            # newer models of OpenAI know the limit under this name only, and say so
            self._limit_name = "max_completion_tokens"
            return self._without_key(send())
        return answer

    def _without_key(self, answer: Answer) -> Answer:
        """The answer with the key taken out: some servers repeat it in their errors, and replies are written down."""
        key = self._headers.get("Authorization", "").removeprefix("Bearer ")
        if len(key) < LEAST_KEY:
            return answer
        escaped = msgspec.json.encode(key)[1:-1]
        body = answer.body.replace(key.encode(), b"[key]").replace(escaped, b"[key]")
        return answer._replace(body=body)

    def _echo(self, text: str, request: Request) -> dict[str, Any]:
        # one token is generated and left out: many servers refuse to generate none
        told = {"prompt": text, "max_tokens": 1, "echo": True, "logprobs": request.logprobs or 1}
        return {"model": self._model, "temperature": 0.0, **told}

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "temperature": request.temperature}
        if self._api == "chat":
            body["messages"] = [{"role": turn.role, "content": turn.content} for turn in request.messages]
            if request.logprobs is not None:
                body |= {"logprobs": True} | ({"top_logprobs": request.logprobs} if request.logprobs else {})
        else:
            body["prompt"] = request.prompt
            if request.logprobs is not None:
                body["logprobs"] = request.logprobs
        body["max_tokens"] = request.max_tokens
        if request.stop:
            body["stop"] = list(request.stop)
        if request.seed is not None:
            body["seed"] = request.seed
        return body

    def _took(self, reply: Reply, started: float) -> Reply:
        return msgspec.structs.replace(reply, seconds=round(time.monotonic() - started, 3))

    def _refused(self, answer: Answer, value: Any, wait: float) -> tuple[Reply, float | None]:
        told = error_of(value) or "no reason given"
        if is_block(value):
            return failed(told, value, delivery=Delivery.BLOCKED), None
        if answer.status in _BUSY:
            asked = _retry_after(answer.headers.get("retry-after"))
            delivery = Delivery.TIMEOUT if answer.status in (408, 504) else Delivery.ERROR
            reply = failed(f"HTTP {answer.status}: {told}", value, delivery=delivery, final=False)
            if asked is None:
                return reply, wait
            return reply, max(asked, wait) if asked <= _LONGEST_WAIT else None
        if answer.status in _HOPELESS or 300 <= answer.status < 400:
            raise ModelError(
                f"HTTP {answer.status}: {told}",
                expected="a model that answers",
                do=_HOPELESS.get(answer.status, "give the address that the endpoint moved to; none is followed"),
                where=f"{self._model} at {self._address.place}",
            )
        return failed(f"HTTP {answer.status}: {told}", value), None

    def _key(self, variable: str | None) -> dict[str, str]:
        if variable is None:
            return {}
        key = os.environ.get(variable, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise ConfigError(
                f"the environment variable {variable} holds no key" if not key else f"{variable} holds no valid key",
                expected="the key of the endpoint",
                do=f"set it: export {variable}=...",
            )
        if not self._address.secure and not self._address.local:
            raise ConfigError(
                "the key would travel in clear",
                expected="https, or this machine",
                do="use the https address of the endpoint",
                where=self._address.place,
            )
        return {"Authorization": f"Bearer {key}"}


def _retry_after(text: str | None) -> float | None:
    """Seconds that a server asks to wait: a number, or a date."""
    from email.utils import parsedate_to_datetime

    if text is None:
        return None
    try:
        seconds = float(text) if len(text) < 40 else -1.0
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return None if math.isnan(seconds) else max(0.0, seconds)
