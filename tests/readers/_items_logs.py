"""Small valid tables of responses, and matrices of models and items, in every shape that is read."""

from __future__ import annotations

from pathlib import Path

TABLES = {
    "responses.csv": "question_id,model,output,correct\nq1,a,4,1\nq2,a,5,0\nq1,b,4,1\nq2,b,,\n",
    "responses.jsonl": '{"id": "q1", "output": "4", "target": "4"}\n{"id": "q2", "output": "5", "target": "6"}\n',
    "array.json": '[{"question": "2+2?", "choices": ["3", "4"], "target": 1, "output": "4"}]',
    "of_items.csv": "question_id,category,a,b\nq1,x,1,0\nq2,y,0,\nq3,x,1,1\n",
    "of_models.csv": "submission,i1,i2,i3\na,1,0,1\nb,0,0,1\n",
}


def write_small(folder: Path) -> list[Path]:
    """Write a specimen of every shape."""
    import polars as pl

    paths = []
    for name, text in TABLES.items():
        path = folder / name
        path.write_text(text, "utf-8")
        paths.append(path)
    codes = pl.DataFrame({"category": ["x", "y", "x"], "a": [1, -1, 0], "b": [0, -2, 1], "question_id": [1, 2, 3]})
    path = folder / "codes.parquet"
    codes.write_parquet(path)
    return [*paths, path]
