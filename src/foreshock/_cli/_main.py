"""The entry point: one exit code for each way to end."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from foreshock._base import ForeshockError

FIRING, FAILED, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        0, or 1 when something that ``--fail-on`` names fires, or 2 when the command could not do its work, or 130 after
        Ctrl-C (what was finished by then is kept).
    """
    from typer import Abort
    from typer.exceptions import TyperException

    from foreshock._cli._app import app

    try:
        code = app(
            args=list(sys.argv[1:] if arguments is None else arguments), prog_name="foreshock", standalone_mode=False
        )
    except ForeshockError as error:
        print(f"foreshock: {error}", file=sys.stderr)  # noqa: T201 - the one place where an error is shown
        return FAILED
    except TyperException as error:  # a wrong option or argument
        print(f"foreshock: {error.format_message()}; see: foreshock --help", file=sys.stderr)  # noqa: T201
        return FAILED
    except (KeyboardInterrupt, Abort):
        print("foreshock: interrupted; what was finished is kept", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away (`foreshock ls | head`): not an error, and nothing more can be said
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0
