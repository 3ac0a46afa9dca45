"""The entry point: one exit code for each way to end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foreshock._base import ForeshockError
from foreshock._cli._hints import store_in, with_store
from foreshock._cli._out import close_output, until_closed

FIRING, FAILED, INTERRUPTED = 1, 2, 130
CLOSED = 141
"""The reader of the output went away before all was said: what a shell calls a program that SIGPIPE ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        0, or 1 when something that ``--fail-on`` names fires, or 2 when the command could not do its work, or 130 after
        Ctrl-C (what was finished by then is kept), or 141 when nobody reads the output any more.
    """
    asked = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(asked or ["--help"])
        with until_closed():
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ForeshockError as error:
        if error.do:
            error.do = with_store(error.do, store_in(asked))
        return _say(str(error), FAILED)
    except BrokenPipeError:
        # the reader of our output went away (`foreshock watch | head`): what is printed elsewhere lets the command go
        # on to its code; here nothing more is to come
        close_output()
        return CLOSED
    except Exception as error:  # noqa: BLE001 - a fault of ours must not end with 1, which means that a finding fires
        return _say(_fault(error), FAILED)
    if code == INTERRUPTED:
        return _say("interrupted; what was finished is kept, and the same command goes on from there", INTERRUPTED)
    return code


def _run(arguments: list[str]) -> int:
    from typer import Abort
    from typer.exceptions import TyperException

    from foreshock._cli._app import app

    try:
        code = app(args=arguments, prog_name="foreshock", standalone_mode=False)
    except Abort:
        return INTERRUPTED
    except TyperException as error:  # a wrong option or argument
        names: set[str | None] = {command.callback.__name__ for command in app.registered_commands if command.callback}
        names |= {group.typer_instance.info.name for group in app.registered_groups if group.typer_instance}
        command = f"{arguments[0]} " if arguments[0] in names else ""
        return _say(f"{error.format_message().rstrip('.')}; see: foreshock {command}--help", FAILED)
    return code if isinstance(code, int) else 0


def _say(message: str, code: int) -> int:
    from foreshock.report import clean

    # names, paths and texts of other libraries may hold anything
    print(f"foreshock: {clean(message)}", file=sys.stderr)  # noqa: T201 - the one place where an error is shown
    return code


def _fault(error: Exception) -> str:
    """One line for the user, the traceback in a file for the report."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="foreshock-", suffix=".log", delete=False, encoding="utf-8") as file:
        file.write("".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace").decode())
    return (
        f"unexpected {type(error).__name__}: {str(error)[:200]}; this is a fault of foreshock; please report it with "
        f"{file.name}"
    )
