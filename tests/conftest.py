"""Fixtures that every room's tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def repo_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real logs; a test that asks for it is skipped where it is absent (CI fails on that skip)."""
    if not SHARED_DATA.is_dir():
        pytest.skip("../shared/data is not here: real logs are not part of the repository")
    return SHARED_DATA


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in an empty folder: exit code, standard output and standard error, never a traceback."""
    from foreshock._cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return run


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the real logs are, a skipped test is a hole in the checks: fail the session and let the summary show it."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not SHARED_DATA.is_dir():
        return
    # slow tests may need what `make test` does not install (torch, Chromium); CI runs none of them
    skipped = [report for report in reporter.stats.get("skipped", []) if "slow" not in report.keywords]
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"{len(skipped)} skipped although ../shared/data is here:", red=True)
        for report in skipped:
            reporter.write_line(f"  {report.nodeid}: {report.longrepr}", red=True)
