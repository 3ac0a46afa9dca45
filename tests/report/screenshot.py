"""The fixture's report in headless Chromium; as a script, ``python -m screenshot FOLDER`` in this folder draws it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WINDOWS = {"wide": "1280,2400", "narrow": "500,2400"}  # Chromium's windows are at least 500 wide
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)


def chromium() -> str | None:
    """Path of a Chromium, if one is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def draw(program: str, page: Path, picture: Path, *, size: str = "1280,2400", dark: bool = False) -> str:
    """Open ``page``, save a picture and return what Chromium logged."""
    mode = ["--blink-settings=preferredColorScheme=0"] if dark else []
    return _run(program, page.resolve().as_uri(), *mode, f"--window-size={size}", f"--screenshot={picture}").stderr


def ask(program: str, address: str, *, size: str = "1280,2400") -> str:
    """The document as it stands after its scripts have run."""
    return _run(program, address, "--dump-dom", f"--window-size={size}").stdout


def _run(program: str, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *FLAGS, f"--user-data-dir={profile}", *options, address]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def main(folder: Path) -> None:
    """Draw wide and narrow, light and dark."""
    from _fixture import document

    from foreshock import report

    program = chromium()
    if program is None:
        sys.exit("no Chromium found; on Debian: apt-get install chromium")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html"
    report.html(document(), page)
    for name, size in WINDOWS.items():
        for dark in (False, True):
            draw(program, page, folder / f"{name}-{'dark' if dark else 'light'}.png", size=size, dark=dark)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
