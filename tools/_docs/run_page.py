"""Run the steps of one page (JSON on standard input) and answer with ``[[error or null, output], ...]`` as JSON.

A process of its own, so that what one page registers or changes cannot make another page pass. The first error ends
the page: what follows it would only repeat it.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import traceback
from contextlib import redirect_stdout
from typing import Any


def run_python(text: str, namespace: dict[str, Any]) -> tuple[str | None, str]:
    """Run one block in ``namespace``."""
    out = io.StringIO()
    try:
        with redirect_stdout(out):
            exec(compile(text, "<block>", "exec"), namespace)
    except Exception:  # noqa: BLE001 - whatever the block raises is the answer
        return traceback.format_exc().strip().splitlines()[-1], out.getvalue()
    return None, out.getvalue()


def run_command(text: str) -> tuple[str | None, str]:
    """Run one shell command; both of its streams are its output, as a terminal shows them."""
    done = subprocess.run(
        ["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return (f"exit code {done.returncode}: {done.stdout.strip()[-400:]}" if done.returncode else None), done.stdout


def main() -> None:
    """Run everything."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    answers = []
    for step in json.load(sys.stdin):
        run = run_python(step["text"], namespace) if step["kind"] == "python" else run_command(step["text"])
        answers.append(run)
        if run[0]:
            break
    print("\n" + json.dumps(answers))


if __name__ == "__main__":
    main()
