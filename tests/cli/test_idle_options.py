"""An option that does nothing for what was read is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.readers._lm_eval_logs import results, text_line, write_pair

Call = Callable[..., tuple[int, str, str]]
ITEMS = "item,model,score\nq1,a,1\nq2,a,0\n"
MATRIX = "item,m1,m2\nq1,1,0\nq2,0,0\n"
MEANS = "model,task,score\na,t,.5\n"


@pytest.mark.parametrize(
    ("text", "given", "named"),
    [
        (None, ["--scale", "100", "--n", "5"], "--scale, --n do"),
        (None, ["--date", "d"], "--date does"),
        (None, ["--wide"], "--wide does"),
        (None, ["--preset", "hle"], "--preset does"),
        (None, ["--map", "output=zzz", "--twin", "f1"], "--map, --twin do"),
        (None, ["--codes", "-1=missing", "--interval", "ci95", "--kind", "hard"], "--kind, --codes, --interval do"),
        (None, ["--chance", ".25", "--model-name", "m", "--task-name", "t"], None),
        (ITEMS, ["--n", "5", "--codes", "-1=missing"], "--n, --codes do"),
        (ITEMS, ["--kind", "hard", "--metric", "right"], None),
        (MATRIX, ["--interval", "ci95", "--codes", "-1=missing"], "--interval does"),
        (MEANS, ["--n", "5", "--scale", "1", "--codes", "-1=missing", "--interval", "ci95"], None),
    ],
)
def test_what_did_nothing_is_named(
    call: Call, tmp_path: Path, text: str | None, given: list[str], named: str | None
) -> None:
    path = tmp_path / "table.csv"
    if text is None:
        line = text_line(0, "a", "a", "a", filter="none", metrics=["exact_match"])
        path, _ = write_pair(tmp_path / "logs", "t", results("t", {"exact_match,none": 1.0}, n=1), [line])
    else:
        path.write_text(text)
    code, out, err = call("add", str(path), *given)
    assert (code, err) == (0, "")
    if named is None:
        assert "nothing for what was read" not in out
    else:
        assert f"note: {named} nothing for what was read" in out


def test_a_file_read_in_another_way_is_told_of_with_what_takes_the_older_reading_out(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("model,rng,item,score,output\n" + "".join(f"m,{k},q,{k % 2},o{k}\nm,{k},r,1,o\n" for k in range(3)))
    store = ["--store", str(tmp_path / "store"), "--task-name", "t"]
    code, first, _ = call("add", str(path), *store, "--map", "epoch=rng")
    assert code == 0
    assert "counts" not in first
    code, again, _ = call("add", str(path), *store, "--map", "epoch=rng")
    assert "counts" not in again
    code, told, _ = call("add", str(path), *store, "--map", "seed=rng")
    assert code == 0
    assert "read in another way before, as m (6 responses): what is in it now counts twice" in " ".join(told.split())
    command = told.split("`")[1].split("--reason")[0].split()[1:]
    assert call(*command, "--reason", "read again")[0] == 0
    assert "counts" not in call("add", str(path), *store, "--map", "seed=rng")[1]


def test_columns_that_set_runs_apart_by_their_names_are_named_where_rows_count_as_repetitions(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "runs.csv"
    rows = [
        f"m,{seed},{step},q{item},{(seed + item) % 2},o{seed}{step}\n"
        for seed in (1, 2)
        for step in (5, 6)
        for item in (1, 2)
    ]
    path.write_text("model,seed,step,item,score,output\n" + "".join(rows))
    store = ["--store", str(tmp_path / "store"), "--task-name", "t"]
    _, told, _ = call("add", str(path), *store)
    assert "--map seed=seed,step=step" in " ".join(told.split())
    _, told, _ = call("add", str(path), *store, "--map", "seed=seed,step=step")
    assert "4 runs added" in told
    assert "may set runs apart" not in told
