"""The command as a person calls it, and every form of its report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from foreshock import report
from foreshock.compare import compare
from foreshock.store import Store
from tests.compare.conftest import Write, flips, sides

Call = Callable[..., tuple[int, str, str]]


def _write(folder: Path, name: str, right: list[bool]) -> str:
    rows = [
        {"question": f"{i}+1", "target": str(i + 1), "answer": str(i + 1 if ok else 0), "id": str(i)}
        for i, ok in enumerate(right)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


MAP = ("--map", "input=question,target=target,answer=answer,item=id", "--task-name", "plus-one")


def test_two_files_on_the_fly_then_by_model_and_by_path(call: Call, tmp_path: Path) -> None:
    old = _write(tmp_path, "toy-1b", [i % 2 == 0 for i in range(80)])
    new = _write(tmp_path, "toy-7b", [i % 8 != 1 for i in range(80)])
    code, out, _ = call("compare", old, new, *MAP)
    assert code == 0
    first = " ".join(out.split())
    assert first.startswith("toy-7b is better than toy-1b on plus-one (exact_match): +38 [28, 48] points.")
    assert "30 gained, 0 lost, 50 as before" in first
    for names in ((old, new), ("toy-1b", "toy-7b")):
        code, out, _ = call("compare", *names, "--json", "-")
        assert code == 0
        (row,) = json.loads(out)["tables"]["compare"]
        assert (row["verdict"], row["items"], row["metric"]) == ("improvement", 80, "exact_match")
    assert call("compare", new, old, "--fail-on", "regression", "--quiet")[0] == 1
    assert call("compare", old, new, "--fail-on", "regression", "--quiet")[0] == 0
    assert call("compare", new, old, "--quiet")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("toy-1b",), "one run to compare"),
        (("toy-1b", "nobody"), "no run 'nobody'"),
        (("toy-1b", "toy-1b"), "same runs"),
        (("toy-1b", "toy-7b", "--alpha", "2"), "--alpha 2"),
        (("toy-1b", "toy-7b", "--margin", "-1"), "--margin -1"),
        (("toy-1b", "toy-7b", "--missing", "guess"), "drop or wrong"),
        (("toy-1b", "toy-7b", "--adjust", "none"), "holm or bh"),
        (("toy-1b", "toy-7b", "--fail-on", "sadness"), "nothing can fire"),
        (("toy-1b", "toy-7b", "--cluster", "colour"), "no item of plus-one has 'colour'"),
        (("toy-1b", "toy-7b", "--metric", "brier(x=1)"), "x"),
        (("toy-1b", "toy-7b", "--task", "other"), "no task is left"),
        ((".", "toy-7b"), "holds runs of 2 models"),
    ],
)
def test_a_mistake_is_one_line(call: Call, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    for name in ("toy-1b", "toy-7b"):
        assert call("add", _write(tmp_path, name, [True, False, True]), *MAP)[0] == 0
    code, _, err = call("compare", *arguments)
    assert code == 2
    assert said in err


def _bare(folder: Path, right: Sequence[float]) -> str:
    """A table of responses that names neither task nor model."""
    folder.mkdir()
    rows = [{"id": f"q{i}", "question": f"what {i}", "output": "x", "correct": value} for i, value in enumerate(right)]
    (folder / "out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(folder / "out.jsonl")


def test_files_of_guessed_tasks_are_told_how_to_be_one(call: Call, tmp_path: Path) -> None:
    names = [_bare(tmp_path / "runA", [1, 0] * 20), _bare(tmp_path / "runB", [1, 1] * 20)]
    code, _, err = call("compare", *names, "--quiet")
    assert code == 2
    assert "the tasks (runA, runB) are guesses; where they are one, say its name: --task-name NAME" in err
    code, out, _ = call("compare", *names, "--task-name", "sums", "--json", "-")
    (row,) = json.loads(out)["tables"]["compare"]
    assert (code, row["verdict"], row["items"]) == (0, "improvement", 40)
    assert (row["first"], row["second"]) == ("out (runA/out.jsonl)", "out (runB/out.jsonl)")


def test_the_options_of_reading_are_all_there(call: Call, tmp_path: Path) -> None:
    """A scale, a name of the model, a table of totals: what a message asks for can be given."""
    names = [_bare(tmp_path / name, values) for name, values in (("a", [100, 0] * 20), ("b", [100, 100] * 20))]
    told = ("--task-name", "sums", "--scale", "100", "--model-name", "mine")
    code, out, err = call("compare", *names, *told, "--json", "-")
    (row,) = json.loads(out)["tables"]["compare"]
    assert (code, row["first_value"], row["second_value"]) == (0, 0.5, 1.0), err
    assert row["first"].startswith("mine (")
    table = tmp_path / "board.csv"
    table.write_text("model,task,accuracy\nx,t,0.5\ny,t,0.9\n")
    code, out, err = call("compare", "x", "y", "--csv", str(table), "--n", "400", "--json", "-")
    (row,) = json.loads(out)["tables"]["compare"]
    assert (code, row["unpaired"], row["verdict"]) == (0, True, "improvement"), err


def test_a_file_that_needs_more_says_so_with_the_store_that_was_named(call: Call, tmp_path: Path) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("first,second\n1,2\n3,4\n")
    store = str(tmp_path / "own store")
    code, _, err = call("compare", str(odd), "nobody", "--store", store)
    assert code == 2
    commands = [line for line in err.splitlines() if "foreshock add" in line and "--help" not in line]
    assert commands
    assert all("foreshock add --store" in line for line in commands)


@pytest.mark.parametrize("name", ["FS101", "FS102", "FS107", "FS2"])
def test_a_gate_that_can_never_close_is_refused(call: Call, name: str) -> None:
    code, _, err = call("compare", "a", "b", "--fail-on", name)
    assert (code, "nothing can fire" in err, "foreshock check --fail-on" in err) == (2, True, True)


def test_a_name_that_is_a_path_as_well_is_asked_about(call: Call, tmp_path: Path) -> None:
    for name in ("toy-1b", "toy-7b"):
        call("add", _write(tmp_path, name, [True, False, True]), *MAP)
    (tmp_path / "toy-1b").mkdir()
    code, _, err = call("compare", "toy-1b", "toy-7b")
    assert (code, "write ./toy-1b" in err) == (2, True)


def test_every_form_shows_the_answer_and_escapes_what_strangers_wrote(store: Store, write: Write) -> None:
    import io

    import numpy as np
    from rich.console import Console

    a, b = flips(np.random.default_rng(2), 120, 0.3, 0.1)
    evil = "<script>alert(1)</script>[bold]\x1b[31m"
    runs = sides(
        write(f"a{evil}", a, task=f"t{evil}"), write("b", b, task=f"t{evil}"), write("c", a, key="c", task=f"t{evil}")
    )
    document = compare(store, runs)
    out = io.StringIO()
    report.terminal(document, Console(file=out, width=100, markup=False, emoji=False, highlight=False))
    page, text, cases = report.render_html(document), report.markdown(document), report.junit(document)
    for said in (out.getvalue(), page, text):
        assert "improvement" in said
        assert "\x1b" not in said
    for said in (page, text, cases):
        assert "<script>alert" not in said
    assert "Which is better?" in page
    assert "question " in page
    assert "Board" in page
    assert "Board" in out.getvalue() or "BOARD" in out.getvalue()
    assert cases.count("<testcase") == len(document.findings)
    for width in (40, 72):
        narrow = io.StringIO()
        report.terminal(document, Console(file=narrow, width=width, markup=False, emoji=False, highlight=False))
        assert max(map(len, narrow.getvalue().splitlines())) <= width


def test_real_logs_of_two_models(call: Call, shared_data: Path) -> None:
    logs = sorted((shared_data / "logs" / "inspect" / "every_eval_ever").glob("data_arc_*.json"))
    code, out, _ = call("compare", *map(str, logs), "--json", "-")
    assert code == 0
    document = json.loads(out)
    (row,) = document["tables"]["compare"]
    assert (row["items"], row["only_first"], row["only_second"]) == (3, 0, 2)
    assert (row["verdict"], row["p"], row["up"], row["down"]) == ("undecided", 0.5, 2, 0)


def test_a_name_too_long_for_a_path_is_a_name(call: Call, tmp_path: Path) -> None:
    old = _write(tmp_path, "toy-1b", [True, False])
    assert call("add", old, *MAP)[0] == 0
    code, _, err = call("compare", "m" * 5_000, "toy-1b")
    assert code == 2
    assert "no run 'mmm" in err
    assert "unexpected" not in err


def test_a_name_that_fits_nothing_is_told_what_is_near(call: Call, tmp_path: Path) -> None:
    rows = [{"question": f"{i}+1", "target": "1", "answer": "1", "id": str(i), "model": "org/my-7b"} for i in range(3)]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    roles = ("--map", "input=question,target=target,answer=answer,item=id,model=model", "--task-name", "plus-one")
    assert call("add", str(path), *roles, "--store", "other store")[0] == 0
    for name, said in (
        ("my-7b", "did you mean org/my-7b?"),
        ("org/my-7", "did you mean org/my-7b?"),
        ("my-8b", "did you mean org/my-7b?"),
        ("nobody", "there are org/my-7b; see: foreshock ls --store 'other store'"),
        ("nothere.eval", "no such file 'nothere.eval'"),
    ):
        code, _, err = call("compare", "org/my-7b", name, "--store", "other store")
        assert code == 2
        assert said in err


def test_a_log_that_was_cut_off_is_said_to_be_and_replaces_nothing(
    call: Call, tmp_path: Path, shared_data: Path
) -> None:
    whole = shared_data / "logs" / "inspect" / "generated" / "zstd_0.3.285_12samples_success.eval"
    cut, good = tmp_path / "trunc.eval", tmp_path / "good.eval"
    good.write_bytes(whole.read_bytes())
    cut.write_bytes(whole.read_bytes()[:2_000])
    for _ in range(2):  # the second time both files are known
        code, _, err = call("compare", str(good), str(cut))
        said = " ".join(err.split())
        assert code == 2
        assert "the file is cut off" in said
        assert "0 of 12 responses of run" in said
        assert "12 of 12 responses in" in said
    code, out, _ = call("ls", "--json", "-")
    (row,) = json.loads(out)["tables"]["runs"]
    assert (row["delivered"], row["sources"]) == (12, [str(good)])
