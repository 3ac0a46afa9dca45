"""Fixtures that every room's tests share."""

from __future__ import annotations

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
