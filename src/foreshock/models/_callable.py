"""A Python function as a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foreshock._base import ConfigError, ForeshockError
from foreshock.models._parse import clean, failed, sound, words
from foreshock.records import Delivery, Reply, Request


class CallableModel:
    """A function of a :class:`Request` that gives a text or a :class:`Reply`.

    What the function raises becomes a delivery of that one request (``timeout`` for a ``TimeoutError``, else
    ``error``); a ``ForeshockError`` goes through, since it says that no request can succeed.

    Args:
        function: Called in several threads at once when more than one worker asks.
        name: Name of the model, written into runs.
        version: Raise it when the function changes; part of the identity.

    Examples:
        >>> model = CallableModel(lambda request: request.prompt.upper(), "shout")
        >>> model(Request(prompt="hey")).text
        'HEY'
    """

    def __init__(self, function: Callable[[Request], Any], name: str, *, version: str = "1") -> None:
        if not name.strip():
            raise ConfigError("a model without a name", expected="a name that tells it from others")
        self._function, self._name, self._version = function, clean(name), clean(version)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def identity(self) -> Mapping[str, str]:
        """Kind of access, name and version."""
        return {"access": "function", "model": self._name, "version": self._version}

    def __call__(self, request: Request, /) -> Reply:
        """Answer one request."""
        try:
            found = self._function(request)
        except ForeshockError:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's function may raise anything; the reply says what
            state = Delivery.TIMEOUT if isinstance(error, TimeoutError) else Delivery.ERROR
            return failed(words(f"{type(error).__name__}: {error}") or "", delivery=state, final=False)
        if isinstance(found, Reply):
            try:
                return sound(found)
            except (TypeError, AttributeError) as error:
                return failed(words(f"the function gave a Reply that is none: {error}") or "")
        if not isinstance(found, str):
            return failed(f"the function gave a {type(found).__name__}, not a text or a Reply")
        return Reply(delivery=Delivery.OK, text=clean(found), model=self._name)
