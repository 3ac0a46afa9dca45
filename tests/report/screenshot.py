"""Draw the fixture's report in headless Chromium: ``python tests/report/screenshot.py FOLDER``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WINDOWS = {"wide": "1280,2400", "narrow": "500,2400"}


def chromium() -> str | None:
    """Path of a Chromium, if one is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def draw(program: str, page: Path, picture: Path, *, size: str = "1280,2400", dark: bool = False) -> str:
    """Open ``page``, save a picture and return what Chromium logged."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            program,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--hide-scrollbars", "--enable-logging=stderr", "--v=0", f"--user-data-dir={profile}"),
            *(["--blink-settings=preferredColorScheme=0"] if dark else []),
            f"--window-size={size}",
            f"--screenshot={picture}",
            page.resolve().as_uri(),
        ]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stderr


def main(folder: Path) -> None:
    """Draw wide and narrow, light and dark."""
    from _fixture import document  # this folder is on the path of a script

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
