"""`foreshock score`: what it shows, metrics from files of one's own, and why nothing came of a metric."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from foreshock._base import ConfigError, load_config
from foreshock._cli._imports import import_all
from foreshock._cli._places import places

Call = Callable[..., tuple[int, str, str]]

OWN = '''
from foreshock import metric

@metric(kind="continuous", needs=("answer", "targets"), range=(0, 1), name="{name}")
def start(*, letters: int = 3):
    """1 when the answer starts as a target does."""
    return lambda response: float(any(response.answer[:letters] == target[:letters] for target in response.targets))
'''


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Iterator[Call]:
    monkeypatch.setenv("COLUMNS", "200")
    path, modules = list(sys.path), set(sys.modules)
    yield call
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("own_"):
            del sys.modules[name]


@pytest.fixture
def two_models(call: Call, tmp_path: Path) -> Path:
    rows = ["item,model,output,answer,target", "a,tiny,Paris,Paris,Parma", "b,tiny,Rome,Rome,London"]
    rows += ["a,big,Paris,Paris,Parma", "b,big,London,London,London"]
    (tmp_path / "towns.csv").write_text("\n".join(rows) + "\n")
    assert call("add", "towns.csv")[0] == 0
    return tmp_path


def table(out: str) -> dict[tuple[str, str], list[str]]:
    """Rows of the table of values: (model, metric) to value, stderr, n."""
    lines = out.partition("What the runs score\n")[2].splitlines()[1:]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[: lines.index("") if "" in lines else None]]
    return {(row[1], row[2]): row[3:] for row in rows if len(row) == 6}


def test_what_each_run_scores_is_shown(call: Call, two_models: Path) -> None:
    code, out, _ = call("score", "--metric", "exact_match", "--metric", "char_similarity", "--json", "s.json")
    found = table(out)
    assert code == 0
    assert found[("big", "exact_match")] == ["0.5000", "0.5000", "2"]
    assert found[("tiny", "exact_match")] == ["0.0000", "0.0000", "2"]
    assert set(found) == {(m, k) for m in ("big", "tiny") for k in ("exact_match", "char_similarity")}
    values = json.loads(Path("s.json").read_text())["tables"]["values"]
    assert {(v["model"], v["value"]) for v in values if v["metric_id"].startswith("exact")} == {
        ("big", 0.5),
        ("tiny", 0),
    }
    assert table(call("score", "--metric", "exact_match")[1]) == {k: v for k, v in found.items() if "exact" in k[1]}


def test_a_long_table_is_folded_and_says_where_the_rest_is(
    call: Call, two_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert two_models
    assert "All of them" not in call("score", "--metric", "exact_match")[1]
    monkeypatch.setattr("foreshock._cli._score_shown.SHOWN", 1)
    out = call("score", "--metric", "exact_match")[1]
    assert len(table(out)) == 1
    assert "from 1 of 2 runs" in out
    query = re.search(r'foreshock sql "(.+)"', out)
    assert query is not None
    code, rows, _ = call("sql", query[1], "--format", "csv")
    assert code == 0
    assert sorted(row.split(",")[1] + row.split(",")[3] for row in rows.splitlines()[1:]) == ["big0.5", "tiny0.0"]


@pytest.mark.parametrize("workers", [(), ("--workers", "1")])
def test_a_metric_of_ones_own_comes_from_a_file(call: Call, two_models: Path, workers: tuple[str, ...]) -> None:
    name = f"own_start_{len(workers)}"
    folder = two_models / "some where"
    folder.mkdir()
    (folder / f"{name}.py").write_text(OWN.format(name=name))
    assert call("score", "--metric", name)[0] == 2
    code, out, err = call("score", "--import", f"some where/{name}.py", "--metric", f"{name}(letters=2)", *workers)
    assert (code, err) == (0, "")
    assert table(out)[("tiny", f"{name}(letters=2)")] == ["0.5000", "0.5000", "2"]


def test_the_settings_name_files_beside_themselves(
    call: Call, two_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (two_models / "own_settings.py").write_text(OWN.format(name="own_settings"))
    (two_models / "foreshock.toml").write_text('import = ["own_settings.py"]\n')
    (two_models / "below").mkdir()
    monkeypatch.chdir(two_models / "below")
    assert load_config(Path.cwd())[0].imports == ["own_settings.py"]
    code, out, _ = call("score", "--metric", "own_settings")
    assert (code, table(out)[("big", "own_settings")][0]) == (0, "1.0000")
    code, out, _ = call("compare", "tiny", "big", "--metric", "own_settings")
    assert (code, "own_settings" in out) == (0, True)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("own_gone.py", None, "no such Python file"),
        ("own-dash.py", "", "rename the file"),
        ("own_broken.py", "1 / 0", "ZeroDivisionError"),
        ("own_exit.py", "raise SystemExit(3)", "SystemExit"),
        ("json.py", "", "the name json is taken"),
        ("own_module_that_is_not_there", None, "ModuleNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(call: Call, two_models: Path, name: str, text: str, told: str) -> None:
    if text is not None:
        (two_models / name).write_text(text)
    code, _, err = call("score", "--import", name)
    assert code == 2
    assert told in err
    assert name.removesuffix(".py") in err


def test_a_file_is_known_as_such_to_workers_elsewhere(call: Call, tmp_path: Path) -> None:
    assert call
    (tmp_path / "own_sent.py").write_text("")
    assert import_all(places(None), ["own_sent.py", "json"]) == [tmp_path / "own_sent.py"]
    with pytest.raises(ConfigError):
        import_all(places(None), [""])


def test_an_unknown_metric_is_met_with_near_names_only(call: Call, two_models: Path) -> None:
    _, _, err = call("score", "--metric", "exakt_match")
    assert "did you mean 'exact_match'?" in err
    _, _, err = call("score", "--metric", "nothing_like_it")
    assert "--import" in err
    assert len(err) < 250


def test_reasons_stand_once_for_all_their_metrics(call: Call, tmp_path: Path) -> None:
    lines = [{"id": str(i), "question": f"{i}?", "options": ["x", "y"], "target": "x", "output": "x"} for i in range(3)]
    (tmp_path / "pick.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert (
        call("add", "pick.jsonl", "--map", "item=id,input=question,choices=options,target=target,answer=output")[0] == 0
    )
    first = call("score", "--metric", "text", "--metric", "gold_logprob", "--metric", "log_score")[1]
    again = call("score", "--metric", "text", "--metric", "gold_logprob", "--metric", "log_score")[1]
    for out in (first, again):  # what an earlier call found is said again
        assert "0 columns written" in out
        assert out.count("its items have options") == 1
        assert "token_f1, token_similarity" in out
        assert "and 12 more" in out
    assert first.count("log-likelihoods of the options: lm-eval") == 1
