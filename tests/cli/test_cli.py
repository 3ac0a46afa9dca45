"""Commands as a person calls them: words on the right stream, exit codes that CI can use, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]

SAMPLES = [
    {"question": f"{a}+1", "target": str(a + 1), "answer": str(a + 1 if a % 3 else 0), "id": str(a)} for a in range(30)
]


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    path = tmp_path / "toy-1b.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in SAMPLES))
    return path


MAP = ("--map", "input=question,target=target,answer=answer,item=id", "--task-name", "plus-one")


def test_from_a_file_of_outputs_to_a_report(call: Call, outputs: Path, tmp_path: Path) -> None:
    code, out, _ = call("check", str(outputs), *MAP, "--html", "r.html", "--json", "r.json")
    assert code == 0
    assert "plus-one" in out
    document = json.loads((tmp_path / "r.json").read_text())
    (row,) = document["tables"]["models"]
    assert (row["model"], row["value"], row["n"]) == ("toy-1b", pytest.approx(20 / 30), 30)
    assert "plus-one" in (tmp_path / "r.html").read_text()


def test_adding_again_changes_nothing_and_says_so(call: Call, outputs: Path) -> None:
    assert call("add", str(outputs), *MAP)[0] == 0
    code, out, _ = call("add", str(outputs), *MAP)
    assert code == 0
    assert "1 file" in out


def test_a_role_is_given_one_column_but_scores_may_be_several(call: Call, outputs: Path) -> None:
    code, _, err = call("add", str(outputs), "--map", "input=question,input=id")
    assert (code, "--map says input=question and input=id" in err) == (2, True)
    rows = [{**sample, "em": i % 2, "f1": (i + 1) % 2} for i, sample in enumerate(SAMPLES)]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("add", str(outputs), "--map", "score=em,score=f1")[0] == 0
    told = call("sql", "select metric_id, sum(value) as n from scores group by 1 order by 1", "--format", "json")[1]
    assert json.loads(told) == [{"metric_id": "em", "n": 15.0}, {"metric_id": "f1", "n": 15.0}]


def test_one_bad_file_is_reported_and_the_rest_goes_in(call: Call, outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"question": "1+1", "target"')
    code, out, err = call("add", str(tmp_path), *MAP)
    assert (code, "1 run added" in out) == (0, True), "a folder may hold anything"
    assert "broken.jsonl" in err
    code, out, err = call("add", str(outputs), "broken.jsonl", *MAP)
    assert (code, "1 file" in out, "broken.jsonl" in err) == (2, True, True), "it was named"
    code, _, err = call("add", str(tmp_path / "broken.jsonl"), *MAP)
    assert code == 2


@pytest.mark.parametrize("command", ["ls", "models", "score", "compact", "check"])
def test_without_a_store_every_command_says_how_to_make_one(call: Call, command: str) -> None:
    code, _, err = call(command)
    assert code == 2
    assert "foreshock add PATH" in err


@pytest.mark.parametrize("arguments", [("nope",), ("ls", "--nope"), ("add",), ("sql",), ("check", "nowhere.eval")])
def test_a_wrong_call_is_one_line_and_exit_code_two(call: Call, arguments: tuple[str, ...]) -> None:
    code, _, err = call(*arguments)
    assert code == 2
    assert err.startswith(("foreshock: ", "not read: "))


def test_runs_are_listed_removed_and_brought_back(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    code, out, _ = call("ls", "--json", "-")
    (row,) = json.loads(out)["tables"]["runs"]
    assert (code, row["delivered"], row["status"]) == (0, 30, "complete")
    assert call("rm", row["run_key"][:8], "--reason", "wrong prompt")[0] == 0
    assert json.loads(call("ls", "--json", "-")[1])["tables"]["runs"] == []
    (hidden,) = json.loads(call("ls", "--all", "--json", "-")[1])["tables"]["runs"]
    assert hidden["state"] == "removed"
    assert call("add", "--again", str(outputs), *MAP)[0] == 0
    assert len(json.loads(call("ls", "--json", "-")[1])["tables"]["runs"]) == 1


def test_runs_are_listed_in_lines_that_can_be_read(call: Call, outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a-lab-with-a-long-name/a-model-with-a-long-name-1b"
    call("add", str(outputs), *MAP, "--model-name", name)
    lines = call("ls")[1].splitlines()
    assert [line.split()[1:4] for line in lines[:2]] == [["task", "model", "responses"], ["plus-one", name, "30"]]
    assert not [line for line in lines if line != line.rstrip()]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # what rich asks whether it is a terminal
    monkeypatch.setenv("TERM", "xterm")
    first, second, total = call("ls")[1].splitlines()
    assert (first[8:], second.split()[:2], total) == (
        f"  plus-one \u00b7 {name}",
        ["30", "\u00b7"],
        "1 run, 1 task, 1 model",
    )
    monkeypatch.setenv("COLUMNS", "200")
    assert call("ls")[1].splitlines() == lines


def test_a_run_is_named_by_an_unambiguous_beginning(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    code, _, err = call("rm", "zzzz", "--reason", "x")
    assert (code, "no run 'zzzz'" in err) == (2, True)


def test_sql_answers_and_cannot_leave_the_store(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    code, out, _ = call("sql", "select count(*) as n from responses", "--format", "json")
    assert (code, json.loads(out)) == (0, [{"n": 30}])
    assert call("sql", "select * from read_csv('/etc/passwd')")[0] == 2
    assert call("sql", "selct 1")[0] == 2


@pytest.mark.parametrize("form", ["csv", "json"])
def test_sql_shows_a_terminal_nothing_that_moves_its_cursor(
    call: Call, outputs: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    call("add", str(outputs), *MAP)
    query = "select 'a' || chr(155) || chr(8238) || 'b' as a, 2 as a"
    code, out, _ = call("sql", query, "--format", form)
    assert code == 0
    assert "a\x9b\u202eb" in out  # a file gets what is there
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, _ = call("sql", query, "--format", form)
    assert code == 0
    assert r"a\x9b\u202eb" in out
    assert "a_1" in out


def test_scores_are_made_offline_and_agreement_is_printed(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    code, out, _ = call("score", "--json", "s.json")
    assert code == 0
    assert "written" in out
    assert "exact_match" in Path("s.json").read_text()
    assert "0 columns written" in call("score")[1]


def test_cards_are_written_edited_and_used(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    assert call("models", "--write", "models.toml")[0] == 0
    text = Path("models.toml").read_text().replace('family = "toy"', 'family = "mine"')
    Path("models.toml").write_text(text)
    assert "mine" in call("models")[1]
    Path("models.toml").write_text("[models.x]\nfamly = 1\n")
    code, _, err = call("models")
    assert (code, "famly" in err) == (2, True)


def test_fail_on_takes_codes_lights_and_verdicts_and_nothing_else(call: Call, outputs: Path) -> None:
    call("add", str(outputs), *MAP)
    assert call("check", "--fail-on", "FS301", "--fail-on", "headroom")[0] == 0
    for name in ("everything", "FS999"):
        code, _, err = call("check", "--fail-on", name)
        assert (code, "--fail-on" in err) == (2, True)


def test_a_light_that_fires_is_an_exit_code_of_one(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "silent-1b.jsonl"
    lines = [{**sample, "answer": sample["target"] if int(sample["id"]) % 2 else None} for sample in SAMPLES]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call("add", str(path), *MAP)
    assert call("check", "--fail-on", "delivered")[0] == 1
    assert call("check", "--fail-on", "any")[0] == 1
    assert call("check", "--fail-on", "FS3")[0] == 0
    assert call("check")[0] == 0


def test_a_file_that_cannot_be_read_can_stop_a_pipeline(call: Call, outputs: Path, tmp_path: Path) -> None:
    for names in (("unreadable",), ("any",), ("FS3", "--fail-on", "unreadable")):
        assert call("check", str(tmp_path), *MAP, "--fail-on", *names)[0] == 0, outputs
    (tmp_path / "broken.jsonl").write_text('{"question": "1+1", "target"')
    assert call("check", str(tmp_path), *MAP)[0] == 0
    for names in (("unreadable",), ("any",), ("FS3", "--fail-on", "unreadable")):
        assert call("check", str(tmp_path), *MAP, "--fail-on", *names, "--json", "r.json")[0] == 1
    assert json.loads((tmp_path / "r.json").read_text())["tables"]["failures"], "reports are written before"


def test_what_could_not_be_read_is_told_once(call: Call, outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("colour,mood\nred,good\n")
    code, out, err = call("check", str(outputs), "odd.csv")
    assert (code, (out + err).count("no column is plainly the item")) == (0, 1)
    assert "header: colour | mood" in " ".join(out.split())
    code, out, err = call("check", str(outputs), "odd.csv", "--quiet")
    assert (code, out, err.count("no column is plainly the item")) == (0, "", 1), "else nobody would tell"


def test_a_folder_without_logs_makes_no_store(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "README.md").write_text("# nothing\n")
    for command in ("add", "check"):
        code, _, err = call(command, "empty")
        assert (code, "there are no logs in empty; expected files of inspect" in err) == (2, True)
    assert not (tmp_path / ".foreshock").exists()


def test_hints_lead_into_the_store_that_was_asked_for(call: Call, outputs: Path) -> None:
    assert "foreshock add --store mine PATH" in call("ls", "--store", "mine")[2]
    call("add", str(outputs), *MAP, "--store", "mine")
    assert "foreshock ls --store mine" in call("check", "--store=mine", "--task", "nothing")[2]
    assert "--store" not in call("rm", "zzzz", "--reason", "x")[2]


def test_a_misspelt_command_leads_to_the_help_that_there_is(call: Call) -> None:
    code, _, err = call("chekc", "--quiet")
    assert (code, "Did you mean 'check'?" in err, err.strip().endswith("see: foreshock --help")) == (2, True, True)


def test_notes_name_their_files(call: Call, outputs: Path, tmp_path: Path) -> None:
    for name in ("b-1b", "c-1b", "d-1b"):
        (tmp_path / f"{name}.jsonl").write_text(outputs.read_text().replace("+1", f"+{name}"))
    out = call("add", str(tmp_path), "--map", MAP[1])[1]
    assert "was taken from the name of its folder; to say another: --task-name NAME (b-1b.jsonl, c-1b.jsonl, " in out
    assert "d-1b.jsonl and 1 more)" in out


def test_a_misspelt_preset_is_refused_before_anything_is_read(call: Call, outputs: Path, tmp_path: Path) -> None:
    code, _, err = call("add", str(outputs), "--preset", "mmlupro")
    assert (code, "did you mean mmlu-pro?" in err) == (2, True)
    assert not (tmp_path / ".foreshock").exists()


def test_json_on_standard_output_is_all_there_is_on_it(call: Call, outputs: Path) -> None:
    _, out, _ = call("check", str(outputs), *MAP, "--json", "-")
    assert json.loads(out)["schema"] == 1


def test_a_fault_of_ours_is_one_line_with_exit_code_two(
    call: Call, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("add", str(outputs), *MAP)
    monkeypatch.setattr("foreshock._cli._ls._show", lambda *_, **__: {}["nothing"])
    code, _, err = call("ls")
    assert (code, err.startswith("foreshock: unexpected KeyError")) == (2, True)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("foreshock._cli._ls._show", interrupt)
    code, _, err = call("ls")
    assert (code, "what was finished is kept" in err) == (130, True)


def test_help_and_version(call: Call) -> None:
    assert call("--version")[1].startswith("foreshock 0.")
    for command in ("check", "demo", "add", "ls", "models", "score", "sql", "rm", "compact"):
        code, out, _ = call(command, "--help")
        assert (code, "Examples:" in out) == (0, True)
