"""`foreshock demo`: the whole way on logs that ship with the package."""

from __future__ import annotations

import tempfile
from pathlib import Path

from foreshock._cli import _options as o
from foreshock._cli._check import write_outputs
from foreshock._cli._out import console, progress
from foreshock._cli._report_added import show_added
from foreshock.check import check as run_check
from foreshock.demo import unpack
from foreshock.store import Store, add_paths


def demo(html: o.HtmlOption = Path("report.html"), json: o.JsonOption = None, quiet: o.QuietOption = False) -> None:
    """Check a ladder of small models that learn arithmetic; their logs ship with the package.

    Reads real lm-evaluation-harness logs through the same readers, store and rules as your own. Nothing is kept but the
    report.

    Examples:

      foreshock demo

      foreshock demo --html demo.html --json demo.json
    """
    talk = not quiet and str(json) != "-"
    with tempfile.TemporaryDirectory(prefix="foreshock-demo-") as folder, progress(silent=quiet) as show:
        store = Store.open(Path(folder) / "store", create=True)
        added = add_paths(store, [unpack(Path(folder) / "logs")], progress=show)
        if talk:
            show_added(console(), added, None)
        document = run_check(store, command=["foreshock", "demo"], progress=show)
    write_outputs(document, html=html, json=json)
    if talk:
        from foreshock.report import terminal

        terminal(document, console())
        console().print(f"Report: {html}\nNow your own logs: foreshock check PATH --html report.html")
