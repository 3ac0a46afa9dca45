"""A server on this machine that speaks as much of OpenAI's protocol as the tests need, and misbehaves on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Handler = Callable[["Call"], None]


class Call:
    """One request, and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], number: int) -> None:
        self.handler, self.body, self.number = handler, body, number
        self.path = handler.path
        self.headers = dict(handler.headers.items())

    def raw(self, status: int, data: bytes, **headers: str) -> None:
        self.handler.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def json(self, value: Any, status: int = 200, **headers: str) -> None:
        self.raw(status, json.dumps(value).encode(), **headers)

    def drip(self, seconds: float) -> None:
        """Headers at once, then one byte now and then."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Length", "100000")
        self.handler.end_headers()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.handler.wfile.write(b" ")
            self.handler.wfile.flush()
            time.sleep(0.02)

    def flood(self, most: int) -> None:
        """A body without an announced length."""
        self.handler.send_response(200)
        self.handler.end_headers()
        for _ in range(most // 65536):
            self.handler.wfile.write(b"x" * 65536)
        self.handler.close_connection = True


class Server:
    """What was asked, and where."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.calls: list[Call] = []


@contextmanager
def serving(answer: Handler) -> Iterator[Server]:
    """Serve ``answer`` on a free port of this machine."""
    lock = threading.Lock()

    class Own(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            with lock:
                call = Call(self, body, len(server.calls))
                server.calls.append(call)
            with suppress(BrokenPipeError, ConnectionResetError):
                answer(call)

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    http = Quiet(("127.0.0.1", 0), Own)
    server = Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def completion(text: str, tokens: list[tuple[str, float | None]] | None = None, **choice: Any) -> dict[str, Any]:
    """Body of a completion as vLLM gives it."""
    found: dict[str, Any] = {"index": 0, "text": text, "finish_reason": "stop", "logprobs": None} | choice
    if tokens is not None:
        offsets, at = [], 0
        for piece, _ in tokens:
            offsets.append(at)
            at += len(piece)
        found["logprobs"] = {
            "tokens": [piece for piece, _ in tokens],
            "token_logprobs": [value for _, value in tokens],
            "text_offset": offsets,
            "top_logprobs": [{piece: value} if value is not None else None for piece, value in tokens],
        }
    return {"id": "c", "model": "served", "choices": [found], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def chat(text: str | None, **choice: Any) -> dict[str, Any]:
    """Body of a chat completion."""
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    return {"model": "served", "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice]}
