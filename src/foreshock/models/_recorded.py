"""Replies kept in a file of JSON lines: asked once, replayed ever after."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

import msgspec

from foreshock._base import BrokenFileError, ConfigError, ModelError, digest
from foreshock.models._parse import sound
from foreshock.records import Model, Reply, Request

T = TypeVar("T")

LONGEST_LINE = 32 * 2**20
"""Bytes of a line at the most."""


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """A request (by its key, with the model's identity) and its reply."""

    key: str
    request: Request
    reply: Reply


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """First line: whose replies these are."""

    foreshock_replies: int
    name: str
    identity: dict[str, str]


class Recorded:
    """A model whose replies are written down as they come, and read back instead of asking again.

    A killed run that is started again asks only what it had not asked. Replies that another try might change (a
    time-out, a busy server) are not kept. With no model behind it, only what the file holds is answered: an offline
    repeat, or a test.

    The file is JSON lines: whose replies they are, then ``key``, ``request`` and ``reply`` each. It holds every prompt
    and answer in clear.

    Args:
        path: The file; made when it is not there.
        model: Who is asked for what the file does not hold; None asks nobody.

    Raises:
        ConfigError: There is neither a file nor a model, the file holds another model's replies, or cannot be written.
        BrokenFileError: A line is damaged (a torn last one is taken away: it was being written when the run ended).
    """

    def __init__(self, path: str | Path, model: Model | None = None) -> None:
        self._path, self._model = Path(path), model
        self._lock = threading.Lock()
        self._replies: dict[str, Reply] = {}
        self._file: IO[bytes] | None = None
        head, ends = self._load()
        if head is None and model is None:
            raise ConfigError("no recorded replies here", expected="a file that was recorded", where=str(path))
        if head is not None and model is not None and head.identity != dict(model.identity):
            raise ConfigError(
                f"the file holds replies of {head.identity}",
                expected=f"replies of {dict(model.identity)}",
                do="name another file",
                where=str(path),
            )
        if model is not None:
            self._name, self._identity = model.name, dict(model.identity)
            self._open(new=head is None, ends=ends)
        elif head is not None:
            self._name, self._identity = head.name, head.identity

    @property
    def name(self) -> str:
        """Name of the model whose replies these are."""
        return self._name

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of that model: a replay is the same as having asked."""
        return self._identity

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def __len__(self) -> int:
        """Number of recorded replies."""
        return len(self._replies)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the replies stay at hand."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __call__(self, request: Request, /) -> Reply:
        """Answer from the file, or ask and write down.

        Raises:
            ModelError: The file does not hold the reply and there is no model to ask.
        """
        key = digest([self._identity, request.key], 32)
        known = self._replies.get(key)
        if known is not None:
            return known
        if self._model is None:
            raise ModelError(
                "a reply is not among the recorded ones",
                expected="the same questions as when it was recorded",
                do="ask a model: name an endpoint as well",
                where=str(self._path),
            )
        reply = self._model(request)
        if reply.final:
            self._keep(_Line(key=key, request=request, reply=reply))
        return reply

    def _keep(self, line: _Line) -> None:
        data = msgspec.json.encode(line) + b"\n"
        with self._lock:
            if line.key in self._replies:
                return
            self._replies[line.key] = line.reply
            if self._file is not None:
                self._write(data)

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None

    def _open(self, *, new: bool, ends: int) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            self._file.truncate(ends)
        except OSError as error:
            raise self._unwritable(error) from None
        if new:
            head = _Head(foreshock_replies=1, name=self._name, identity=self._identity)
            self._write(msgspec.json.encode(head) + b"\n")

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"replies cannot be written ({error.strerror})",
            expected="a file in a folder that may be written",
            where=str(self._path),
        )

    def _load(self) -> tuple[_Head | None, int]:
        """Read the file: its head, and how many of its bytes are whole lines."""
        head: _Head | None = None
        ends = 0
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return None, 0
        except OSError as error:
            raise BrokenFileError(f"cannot be read ({error.strerror})", where=str(self._path)) from None
        with file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                if not line.endswith(b"\n"):
                    self._check_torn(line, number)
                    break
                if head is None:
                    head = self._decode(line, _Head, number)
                    if head.foreshock_replies != 1:
                        raise self._damaged(number, f"its form is {head.foreshock_replies}, and 1 is known here")
                else:
                    found = self._decode(line, _Line, number)
                    self._replies.setdefault(found.key, sound(found.reply))
                ends += len(line)
        return head, ends

    def _check_torn(self, line: bytes, number: int) -> None:
        if len(line) >= LONGEST_LINE:
            raise BrokenFileError(
                f"line {number} is longer than {LONGEST_LINE:,} bytes",
                expected="recorded replies",
                where=str(self._path),
            )
        if number == 1 and not b'{"foreshock_replies":'.startswith(line[:21]):
            raise self._damaged(number, "it has no first line of ours")

    def _decode(self, line: bytes, kind: type[T], number: int) -> T:
        try:
            return msgspec.json.decode(line, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._damaged(number, str(error)) from None

    def _damaged(self, number: int, why: str) -> BrokenFileError:
        return BrokenFileError(
            f"line {number} is no recorded reply ({why})",
            expected="a file that foreshock recorded",
            do="name another file, or delete it and ask again",
            where=str(self._path),
        )
