"""Hand an alarm to a command of the user's: its words stay as they are, the alarm goes to its standard input."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress

from foreshock._base import ConfigError

SECONDS = 60.0
"""How long a command may take before it is ended."""

_SHOWN = 500
_LAST_WORDS = 1.0
"""Seconds to wait for the error output of a command that ended; what it left running may hold it open."""


def command_words(command: str) -> list[str]:
    """Take a command apart as a shell would, without ever starting one.

    Raises:
        ConfigError: There is nothing, a quote is not closed, or the program is not there.

    Examples:
        >>> command_words("cat -n 'a b'")
        ['cat', '-n', 'a b']
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--notify {command!r:.200} cannot be read ({error})", do="close the quotes") from None
    if not words:
        raise ConfigError("--notify is empty", expected="a program with its arguments")
    if shutil.which(words[0]) is None:
        raise ConfigError(
            f"--notify: there is no program {words[0]!r:.200}",
            expected="a program that can be run; there is no shell, so pipes and variables mean nothing",
            do="write them into a script and name that",
        )
    return words


def notify(words: Sequence[str], document: bytes, seconds: float = SECONDS) -> str | None:
    """Run a command with a document on its standard input.

    Args:
        words: Program and arguments, as they are; no shell sees them, and nothing of an alarm is put into them.
        document: What it reads.
        seconds: After this it is ended, with what it started.

    Returns:
        None when it ended with 0, else what went wrong.
    """
    said, end = os.pipe()
    kept = bytearray()
    reader = threading.Thread(target=_keep_beginning, args=(said, kept), daemon=True)
    reader.start()
    try:
        process = subprocess.Popen(  # noqa: S603 - the user's own command, taken apart by shlex; no shell
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=end,
            start_new_session=True,
        )
    except OSError as error:
        return f"it could not be started ({error.strerror})"
    finally:
        os.close(end)
    try:
        process.communicate(document, timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return f"it took longer than {seconds:g} s and was ended"
    except BaseException:
        _end(process)
        raise
    if process.returncode == 0:
        return None
    reader.join(_LAST_WORDS)
    told = bytes(kept).decode("utf-8", "replace").strip()
    return f"it ended with {process.returncode}" + (f": {told}" if told else "")


def _keep_beginning(said: int, kept: bytearray) -> None:
    """Read to the end, and keep the beginning: a command that floods its error output fills neither disk nor memory."""
    with os.fdopen(said, "rb", buffering=0) as pipe:
        while chunk := pipe.read(65536):
            kept.extend(chunk[: max(0, _SHOWN - len(kept))])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    with suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
