"""The MMLU-Pro outputs against counts made without the readers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from foreshock.readers import ReadOptions, read_paths

from ._read import read_one

ORACLES = Path(__file__).parent.parent / "oracles"
ORACLE = json.loads((ORACLES / "mmlu_pro_expected.json").read_text("utf-8"))["files"]
FORMATS = json.loads((ORACLES / "formats.json").read_text("utf-8"))["files"]


@pytest.mark.parametrize("name", ORACLE)
def test_counts(shared_data: Path, name: str) -> None:
    entry: dict[str, Any] = ORACLE[name]
    read = read_one(shared_data / "logs" / "mmlu_pro" / name, preset="mmlu-pro")
    assert read.run.model == entry["model"]
    assert read.run.task == "mmlu-pro"
    assert read.run.conditions == {"shots": "5"}
    ids, answers = read.column("responses", "item_id"), read.column("responses", "answer")
    assert len(ids) == len(set(ids)) == entry["items"]
    assert [*ids[:3], *ids[-3:]] == [str(i) for i in entry["first_ids"] + entry["last_ids"]]
    assert Counter(str(a) for a in answers) == entry["preds"]
    targets = [t[0] for t in read.column("items", "targets")]
    assert Counter(targets) == entry["answers"]
    right = [a == t for a, t in zip(answers, targets, strict=True)]
    assert sum(right) == entry["correct"]
    subsets = read.column("items", "subset")
    found = {s: [n, sum(r for r, x in zip(right, subsets, strict=True) if x == s)] for s, n in Counter(subsets).items()}
    assert found == {s: v[:2] for s, v in entry["categories"].items()}
    assert Counter(str(len(c)) for c in read.column("items", "choices")) == entry["options"]
    assert sum(o == "" for o in read.column("responses", "output")) == entry["text_empty"]
    assert set(read.column("responses", "delivery")) == {"ok"}
    assert read.column("scores", "row") == [], "the files hold predictions, not scores"
    row = FORMATS[f"mmlu_pro/{name}"]
    assert (read.run.format, len(set(ids)), row["scored"]) == (row["format"], row["items"], 0)
    assert Counter(read.column("responses", "delivery")) == row["states"]


def test_the_licence_beside_the_files_is_passed_over(shared_data: Path) -> None:
    folder = shared_data / "logs" / "mmlu_pro"
    rest = [p for p in folder.iterdir() if p.suffix != ".zip"]
    assert rest
    options = ReadOptions(preset="mmlu-pro")
    assert list(read_paths([folder], options, skip=lambda path: path.suffix == ".zip")) == []
