"""Expected table of the MMLU-Pro output archives, from the ``pred`` and ``answer`` that the files hold.

The standard library alone; Foreshock's readers are not used. Usage::

    python tests/oracles/mmlu_pro_oracle.py ../shared/data/logs/mmlu_pro

Every figure is a count, so an accuracy is an exact fraction: ``correct / items``. ``README.md`` explains the columns.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

Json = dict[str, Any]
NAME = re.compile(r"model_outputs_(?P<model>.+)_5shots\.zip")
STATED = re.compile(r"answer is \(?([A-J])\)?")  # what the files' authors searched the text for first


def category_counts(items: list[Json]) -> Json:
    """Items, correct and unparsed of each category."""
    out: Json = {}
    for item in items:
        row = out.setdefault(item["category"], [0, 0, 0])
        row[0] += 1
        row[1] += item["pred"] == item["answer"]
        row[2] += item["pred"] is None
    return dict(sorted(out.items()))


def digest(items: list[Json]) -> str:
    """Hash over (id, answer, pred, text) of all items in order of the id."""
    rows = sorted([i["question_id"], i["answer"], i["pred"], i["generated_text"]] for i in items)
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()[:16]


def archive_entry(path: Path) -> Json:
    """Counts of one archive: one member, one JSON array."""
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        items: list[Json] = json.loads(archive.read(name))
    match = NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path.name}: not an archive of MMLU-Pro outputs")
    silent = [i for i in items if not STATED.search(i["generated_text"])]
    return {
        "model": match["model"],
        "member": name,
        "items": len(items),
        "distinct_ids": len({i["question_id"] for i in items}),
        "correct": sum(i["pred"] == i["answer"] for i in items),
        "pred_null": sum(i["pred"] is None for i in items),
        "text_empty": sum(not i["generated_text"] for i in items),
        "no_stated_answer": len(silent),
        "guessed": sum(i["pred"] is not None for i in silent),
        "guessed_correct": sum(i["pred"] == i["answer"] for i in silent),
        "stated_is_pred": sum(m[1] == i["pred"] for i in items if (m := STATED.search(i["generated_text"]))),
        "first_ids": [i["question_id"] for i in items[:3]],
        "last_ids": [i["question_id"] for i in items[-3:]],
        "options": dict(sorted(Counter(len(i["options"]) for i in items).items())),
        "answers": dict(sorted(Counter(i["answer"] for i in items).items())),
        "preds": dict(sorted(Counter(str(i["pred"]) for i in items).items())),
        "categories": category_counts(items),
        "digest": digest(items),
    }


def main() -> None:
    """Write the table, one line per archive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.glob("*.zip"))
    lines = [f"{json.dumps(p.name)}: {json.dumps(archive_entry(p))}" for p in files]
    out = Path(__file__).with_name("mmlu_pro_expected.json")
    out.write_text('{"files": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{out.name}: {len(files)} archives")


if __name__ == "__main__":
    main()
