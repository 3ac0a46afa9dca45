"""What one execution reads: a few small files, as bytes by name."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Case = dict[str, bytes]
"""Content by name; a name may have folders in it."""

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}")
_MAX_TOGETHER = 8


def seeds() -> dict[str, Callable[[Path], list[Path]]]:
    """By reader, the function that writes small valid logs into a folder (``tests/readers/seeds.py``)."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    found: dict[str, Callable[[Path], list[Path]]] = import_module("tests.readers.seeds").SEEDS
    return found


def load(reader: str) -> list[Case]:
    """The seeds of a reader, files that belong together in one case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seeds()[reader](folder)
        return split({p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()})


def split(files: Case, below: str = "") -> list[Case]:
    """Files that belong together: of one folder (of one deeper down when they are many), moment, or beginning.

    Examples:
        >>> [sorted(c) for c in split(dict.fromkeys(["a.json", "a_samples.jsonl", "b.json", "run/x", "run/y"], b""))]
        [['a.json', 'a_samples.jsonl'], ['b.json'], ['run/x', 'run/y']]
    """
    groups: dict[str, Case] = {}
    stems: list[str] = []
    for name in sorted(files):
        top, slash, _ = name[len(below) :].partition("/")
        moment = _MOMENT.search(name)
        stem = name.partition(".")[0]
        longer = next((s for s in stems if stem.startswith(f"{s}_")), None)
        key = f"{below}{top}/" if slash else moment[0] if moment else longer or name.partition(".json")[0]
        stems.append(stem)
        groups.setdefault(key, {})[name] = files[name]
    found: list[Case] = []
    for key, case in groups.items():
        found += split(case, key) if key.endswith("/") and len(case) > _MAX_TOGETHER else [case]
    return found


def write(case: Case, folder: Path) -> None:
    """Write the files; a name that the system refuses is left out, as no such file can be."""
    for name, data in case.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except (OSError, ValueError):
            continue


def clear(folder: Path) -> None:
    """Empty a folder."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def size(case: Case) -> int:
    """Bytes of all files."""
    return sum(map(len, case.values()))
