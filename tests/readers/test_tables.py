"""Tables of aggregates."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import pytest

from foreshock.series import lines, model_cards

from ._read import failure, read_all, read_one

LONG = "model,size,task,score\na,1.4B,t1,.25\na,1.4B,t2,.5\nb,70m,t1,.125\n"


def write(folder: Path, text: str, name: str = "m.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_plain_columns_need_no_option(tmp_path: Path) -> None:
    reads, failures = read_all(write(tmp_path, LONG))
    assert not failures
    assert [(r.run.model, r.run.task, r.run.card.parameters) for r in reads] == [
        ("a", "t1", 1.4e9),
        ("a", "t2", 1.4e9),
        ("b", "t1", 7e7),
    ]
    assert [r.column("aggregates", "value") for r in reads] == [[0.25], [0.5], [0.125]]
    assert {r.column("aggregates", "source")[0] for r in reads} == {"table"}
    assert not reads[0].warnings
    assert reads[0].notes[0] == "read as model=model, task=task, score=score, parameters=size"
    assert reads[0].column("aggregates", "n") == [None]
    assert reads[0].run.expected is None


def test_options_name_the_columns(tmp_path: Path) -> None:
    text = "width,lr,accuracy in %,which,count\n32,1e-3,25,add,200\n64,1e-3,50,add,200\n32,1e-3,10,mul,100\n"
    roles = {"x": "width", "y": "accuracy in %", "group": "which"}
    reads, _ = read_all(write(tmp_path, text), csv=roles, scale=100, chance=0.1, n="count")
    assert [r.run.task for r in reads] == ["add", "add", "mul"]
    assert [r.run.meta["axis"] for r in reads] == [{"name": "width", "value": v} for v in (32, 64, 32)]
    assert [r.column("aggregates", "value")[0] for r in reads] == [0.25, 0.5, 0.1]
    assert [r.column("aggregates", "n")[0] for r in reads] == [200, 200, 100]
    assert reads[0].column("aggregates", "stderr") == [math.sqrt(0.25 * 0.75 / 200)]
    assert reads[0].column("aggregates", "stderr_kind") == ["derived"]
    assert {r.run.chance for r in reads} == {0.1}
    assert len({r.run.model for r in reads}) == 2, "the same place on the axis is the same model"
    assert "model" in reads[0].guesses
    assert {r.run.card.family for r in reads} == {"m"}, "a line needs models of one family"
    assert reads[0].run.card.guesses == ["family"]
    assert reads[0].run.meta["columns_not_used"] == ["lr"]
    assert read_all(write(tmp_path, text), csv=roles, scale=100, n="50")[0][0].column("aggregates", "n") == [50]


def test_model_and_family_from_the_table(tmp_path: Path) -> None:
    text = "family,params,step,shots,benchmark,metric,value,stderr\np,70000000,512,5,piqa,acc,0.25,0.01936\n"
    read = read_one(write(tmp_path, text))
    card = read.run.card
    assert (card.family, card.parameters, card.step, card.guesses) == ("p", 7e7, 512, [])
    assert read.run.conditions == {"shots": "5"}
    assert read.column("aggregates", "metric_id") == ["acc"]
    assert read.column("aggregates", "stderr_kind") == ["stated"]
    assert read.column("aggregates", "n") == [501], "0.25 * 0.75 / 0.01936 ** 2 + 1"
    assert "n" in read.guesses


@pytest.mark.parametrize(
    ("header", "cell", "field", "value", "guessed"),
    [
        ("size", "7", "parameters", 7e9, True),
        ("size", "70000000", "parameters", 7e7, False),
        ("Model Size (B)", "7.0", "parameters", 7e9, False),
        ("params_m", "70", "parameters", 7e7, False),
        ("FLOPs (1E21)", "84.0", "flops", 8.4e22, False),
        ("tokens", "2T", "tokens", 2e12, False),
        ("size", "1,400,000,000", "parameters", 1.4e9, False),
        ("step", "3000", "step", 3000, False),
    ],
)
def test_units_of_axes(tmp_path: Path, header: str, cell: str, field: str, value: float, guessed: bool) -> None:
    read = read_one(write(tmp_path, f'model,"{header}",task,score\na,"{cell}",t,1\n'))
    assert getattr(read.run.card, field) == pytest.approx(value)
    assert (field in read.run.card.guesses) == guessed
    assert any("billions" in w for w in read.warnings) == guessed


def test_percent_signs_and_scores_without_a_highest_value(tmp_path: Path) -> None:
    text = "model,task,metric,score\na,t,acc,25%\na,t,perplexity,31.5\n"
    read = read_one(write(tmp_path, text))
    assert read.column("aggregates", "value") == [0.25, 31.5]
    assert read.column("aggregates", "high") == [1.0, None]
    assert read.column("aggregates", "raw") == ['"25%"', '"31.5"']


def test_scores_above_one_need_a_scale(tmp_path: Path) -> None:
    path = write(tmp_path, "model,size,task,score\na,1B,t,25\n")
    message = failure(path)
    assert f"{path}, line 2: the score 25" in message
    assert "--scale 100" in message
    assert read_one(path, scale=100).column("aggregates", "value") == [0.25]


def test_rows_that_cannot_be_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "model,size,task,score,mood\na,1B,t,.1,good\na,1B,t,.2,bad\n")
    message = failure(path)
    assert "lines 2 and 3" in message
    assert "differ in mood" in message
    reads, failures = read_all(path, csv={"y": "score", "condition": "mood"})
    assert not failures
    assert [r.run.conditions for r in reads] == [{"mood": "good"}, {"mood": "bad"}]


OWN_NAMES = "model,size,task,accuracy\n" + "".join(
    f"gpt-{m},{size},{t},0.{k + i}\n"
    for i, (m, size) in enumerate((("a", "70M"), ("b", "400M"), ("c", "1B"), ("d", "7B")))
    for k, t in enumerate(("t1", "t2"), 1)
)


def test_models_with_names_of_their_own_form_a_line_along_the_axis(tmp_path: Path) -> None:
    path = write(tmp_path, OWN_NAMES, "scores.csv")
    told, plain = (
        read_all(path, csv={"x": "size", "y": "accuracy", "group": "task"})[0],
        read_all(write(tmp_path, OWN_NAMES.replace("accuracy", "score"), "scores.csv"))[0],
    )
    for reads in (told, plain):
        assert [r.run.model for r in reads][::2] == ["gpt-a", "gpt-b", "gpt-c", "gpt-d"]
        assert {r.run.card.family for r in reads} == {"scores"}
        assert {tuple(r.run.card.guesses) for r in reads} == {("family",)}
        assert reads[0].notes[-1] == "no column names a family: the models are read as one, scores"
        runs = [r.run for r in reads]
        found = lines(runs, model_cards(runs))
        assert [(line.task, line.axis, len(line.stops)) for line in found] == [
            ("t1", "parameters", 4),
            ("t2", "parameters", 4),
        ]


def test_a_quantity_that_no_card_knows_is_the_axis(tmp_path: Path) -> None:
    text = OWN_NAMES.replace("size", "width").replace("70M", "64").replace("400M", "128").replace("1B", "256")
    reads, _ = read_all(write(tmp_path, text.replace("7B", "512")), csv={"x": "width", "y": "accuracy"})
    runs = [r.run for r in reads]
    found = lines(runs, model_cards(runs))
    assert [(line.task, line.axis, line.log_axis, [s.x for s in line.stops]) for line in found] == [
        (task, "width", False, [64, 128, 256, 512]) for task in ("t1", "t2")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "model,size,task,score\np-70m,70M,t,.1\np-1b,1B,t,.2\nq-7b,7B,t,.3\n",
        "model,family,size,task,score\na,f,70M,t,.1\nb,g,1B,t,.2\n",
        "model,size,task,score\na,7B,t,.1\nb,7B,t,.2\n",
        "model,task,score\na,t,.1\nb,t,.2\n",
        "model,size,step,task,score\na,70M,1,t,.1\na,70M,2,t,.1\nb,1B,1,t,.2\nb,1B,2,t,.2\n",
    ],
    ids=["names", "column", "one place", "no axis", "trajectories"],
)
def test_families_that_are_known_stay(tmp_path: Path, text: str) -> None:
    reads, _ = read_all(write(tmp_path, text))
    assert "m" not in {r.run.card.family for r in reads}
    assert not any("family" in r.run.card.guesses for r in reads)


def test_dates(tmp_path: Path) -> None:
    text = "model,task,score,date\na,t,1,2024-05-01\nb,t,1,2023\nc,t,1,3/7/2024\n"
    reads, _ = read_all(write(tmp_path, text))
    assert [r.run.created for r in reads] == ["2024-05-01", "2023-01-01", None]
    assert [r.run.known_at for r in reads] == ["2024-05-01", "2023-01-01", None]
    assert reads[2].run.meta["date"] == "3/7/2024"
    assert any("'3/7/2024' are not ISO 8601 or may be read in several ways" in w for w in reads[0].warnings)


def test_blank_scores_are_counted(tmp_path: Path) -> None:
    reads, _ = read_all(write(tmp_path, "model,task,score\na,t,1\nb,t,\n"))
    assert len(reads) == 1
    assert any("1 row without a score is left out" in w for w in reads[0].warnings)


def test_x_may_name_models(tmp_path: Path) -> None:
    reads, _ = read_all(write(tmp_path, "who,task,score\nann,t,1\nbob,t,0\n"), csv={"x": "who", "y": "score"})
    assert [r.run.model for r in reads] == ["ann", "bob"]


def test_a_column_of_a_wide_table_is_a_task(tmp_path: Path) -> None:
    text = "Model,Model Size (B),MMLU,ARC-C,temperature\na,7.0,.4,.5,0.1\nb,13.0,.5,,0.2\n"
    path = write(tmp_path, text)
    reads, failures = read_all(path)
    assert not failures
    found = [(r.run.task, r.run.model, r.run.card.parameters, r.column("aggregates", "value")) for r in reads]
    assert found == [("MMLU", "a", 7e9, [0.4]), ("ARC-C", "a", 7e9, [0.5]), ("MMLU", "b", 13e9, [0.5])]
    assert reads[0].notes[0] == "read as model=Model, score=MMLU, ARC-C, parameters=Model Size (B)"
    assert reads[0].run.meta["columns_not_used"] == ["temperature"]
    chosen, _ = read_all(path, wide=["ARC*"])
    assert [(r.run.task, r.column("aggregates", "value")) for r in chosen] == [("ARC-C", [0.5])]
    single, _ = read_all(path, csv={"x": "Model Size (B)", "y": "MMLU"})
    assert [(r.run.task, r.run.model) for r in single] == [("MMLU", "a"), ("MMLU", "b")]


def test_no_column_is_suggested_that_only_happens_to_be_there(tmp_path: Path) -> None:
    message = failure(write(tmp_path, "params,run,comment\n7,r1,good\n13,r2,bad\n"))
    assert "wide" not in message
    assert "no column is plainly the item (or input) and the output, answer or score" in message
    assert "the columns are params, run, comment" in message
    assert "--map item=COLUMN,model=run,output=COLUMN,target=COLUMN" in message


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("model,task,score\na,t,x\n", {}, "line 2: the score 'x' is no number"),
        ("model,task,score\na,t,nan\n", {}, "no row has a score"),
        ("model,task,score\na,t,inf\n", {}, "line 2: the score 'inf' is no number"),
        ("model,size,task,score\na,big,t,1\n", {}, "line 2: 'big' is no number (column 'size')"),
        ("model,task,score\n,t,1\n", {}, "line 2: no model and no place on the axis"),
        ("model,task,score,n\na,t,1,0\n", {}, "line 2: n is '0'"),
        ("model,task,score\na,t,1\n", {"n": "many"}, "n is 'many', which is no column"),
        ("model,task,score\n", {}, "no row has a score"),
        ("model,task,score\na,t,1\n", {"csv": {"y": "nope"}}, "no column 'nope' for the role y"),
        ("model,task,score\na,t,1\n", {"csv": {"colour": "score"}}, "'colour' is no role"),
        ("model,size,params,task,score\na,1,1,t,1\n", {}, "columns 'size' and 'params' could both be the parameters"),
        ("when,what\n1,2\n", {"csv": {"x": "when"}}, "no column is plainly the score (--y)"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, options: dict[str, object], message: str) -> None:
    assert message in failure(write(tmp_path, text), **options)


def test_items_are_not_taken_for_aggregates(tmp_path: Path) -> None:
    items = "model,id,score\na,1,1\na,2,0\n"
    assert read_one(write(tmp_path, items)).run.format == "items"
    numbered = "id,model,score\n1,a,.25\n2,b,.5\n"
    reads, _ = read_all(write(tmp_path, numbered))
    assert {r.run.format for r in reads} == {"table"}


def test_pythia_series(shared_data: Path, tmp_path: Path) -> None:
    """A part of a published table of 87,000 rows, value by value."""
    with gzip.open(shared_data / "series" / "pythia_lmeval.csv.gz", "rt", encoding="utf-8") as stream:
        rows = [r for r in csv.DictReader(stream) if r["task"] in ("lambada_openai", "wsc")]
    path = tmp_path / "part.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    expected = {
        (r["model"], float(r["params"]), int(r["step"]), r["shots"], r["task"], r["metric"]): float(r["value"])
        for r in rows
    }
    assert len(expected) == len(rows) > 1000
    reads, failures = read_all(path)
    assert not failures
    found = {}
    for read in reads:
        run = read.run
        model = run.model.partition("@")[0]
        place = (model, run.card.parameters, run.card.step, run.conditions["shots"], run.task)
        metrics = zip(read.column("aggregates", "metric_id"), read.column("aggregates", "value"), strict=True)
        found |= {(*place, metric): value for metric, value in metrics}
    assert found == expected


def test_columns_above_a_share_are_listed_with_their_largest(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("model,first,second,third\na,4.5,40,0.5\nb,3,80,0.25\n")
    (found,) = read_all(path)[1]
    assert "largest numbers: first 4.5, second 80; columns that are on another scale" in " ".join(found.error.__notes__)
