"""One POST over HTTP with a limit on everything: time, size, and where it goes.

``http.client`` and not a larger library, for three things that must not happen: a redirect that carries texts and a key
to another machine, a proxy that nobody named here, and a reply that drips or grows without end.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit

from foreshock._base import ConfigError

if TYPE_CHECKING:  # ssl and http.client take 30 ms, which every command would pay
    import http.client
    import socket

CHUNK = 1 << 16


class Address(NamedTuple):
    """Where an endpoint is: the parts of its URL."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Scheme, host, port and path: what may be written down."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.path}"

    @property
    def local(self) -> bool:
        """Whether it is this machine."""
        import ipaddress

        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class Answer(NamedTuple):
    """An HTTP response that came whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TooLong(Exception):  # noqa: N818 - a fact about one response
    """The response is larger than allowed."""


def address_of(url: str) -> Address:
    """Take a URL apart.

    Raises:
        ConfigError: It is no http or https URL, or it holds a user name or a password, which would be written down.

    Examples:
        >>> address_of("http://localhost:8000/v1/").place
        'http://localhost:8000/v1'
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError as error:
        raise _no_url(url, str(error)) from None
    if parts.scheme not in ("http", "https") or not host or not host.isprintable() or " " in host:
        raise _no_url(url, "no http or https address")
    if not (parts.path.isascii() and parts.path.isprintable()) or " " in parts.path:
        raise _no_url(url, "its path holds characters that have to be written as %20 and the like")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ConfigError(
            "the address of the endpoint holds a user name, a password, a query or a fragment",
            expected="scheme, host, port and path only: the address is written into the store",
            do="put the key into an environment variable and name that: --key-env NAME",
            where=_bare(parts),
        )
    secure = parts.scheme == "https"
    return Address(secure, host, port or (443 if secure else 80), parts.path.rstrip("/"))


def _bare(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.hostname}"


def _no_url(url: str, why: str) -> ConfigError:
    # what was typed may be a key in the wrong place: only its beginning is shown
    return ConfigError(
        f"the endpoint {url.strip()[:8]!r}... is no address ({why})",
        expected="a URL such as http://localhost:8000/v1",
        do="correct the address",
    )


def post(address: Address, path: str, body: bytes, headers: Mapping[str, str], *, timeout: float, most: int) -> Answer:
    """Send ``body`` and read the whole answer.

    Args:
        address: Where to; redirects are not followed and no proxy is used.
        path: Path below the address's own.
        body: What to send.
        headers: Beside length and host.
        timeout: Seconds for everything together, a dripping answer included.
        most: Bytes of the answer at the most.

    Raises:
        TimeoutError: It took longer.
        TooLong: The answer is larger than ``most``.
        OSError, http.client.HTTPException: The connection failed, or what came is not HTTP.
    """
    ends = time.monotonic() + timeout
    connection = _connection(address, timeout)
    late = threading.Event()
    timer: threading.Timer | None = None
    try:
        connection.connect()
        sock = connection.sock
        timer = threading.Timer(max(0.0, ends - time.monotonic()), _cut_off, (sock, late))
        timer.daemon = True
        timer.start()
        connection.request("POST", address.path + path, body, {"Accept-Encoding": "identity", **headers})
        answer = _read(connection.getresponse(), most)
        if late.is_set():  # a body without an announced length has no other end than that of the connection
            raise TimeoutError
        return answer
    except TooLong:
        raise
    except Exception:
        if late.is_set():
            raise TimeoutError(f"no whole answer in {timeout:g} s") from None
        raise
    finally:
        if timer is not None:
            timer.cancel()
        connection.close()


def _connection(address: Address, timeout: float) -> http.client.HTTPConnection:
    import http.client

    if address.secure:
        import ssl

        context = ssl.create_default_context()
        return http.client.HTTPSConnection(address.host, address.port, timeout=timeout, context=context)
    return http.client.HTTPConnection(address.host, address.port, timeout=timeout)


def _cut_off(sock: socket.socket, late: threading.Event) -> None:
    """End a connection from outside: each byte that drips in would begin the socket's own time-out anew."""
    import socket

    late.set()
    with contextlib.suppress(OSError):  # it has ended by itself
        sock.shutdown(socket.SHUT_RDWR)


def _read(response: http.client.HTTPResponse, most: int) -> Answer:
    import http.client

    told = response.headers.get("Content-Length", "")
    if told.isdecimal() and int(told[:20]) > most:
        raise TooLong(f"{told[:20]} bytes announced")
    pieces, size = [], 0
    while piece := response.read1(min(CHUNK, most + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise TooLong(f"more than {most:,} bytes")
    if response.length:  # http.client gives what there is when a body ends before its announced length
        raise http.client.IncompleteRead(b"", response.length)
    return Answer(response.status, {k.lower(): v for k, v in response.headers.items()}, b"".join(pieces))
