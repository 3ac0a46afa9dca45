"""Designs before any run: what is read of them, that nothing of them is run, and that hostile ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import ConfigError, ForeshockError, ReadError, UnknownFormatError, canonical
from foreshock.lint import LintOptions, is_design, lint_design
from foreshock.lint._design import design_facts
from foreshock.lint._facts import Audit, Benchmark
from foreshock.lint._yaml import Opaque, load_yaml


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(text, "utf-8")
    return folder


def facts(*paths: Path) -> dict[str, Benchmark]:
    return {benchmark.task: benchmark for benchmark in design_facts(paths, LintOptions()).benchmarks}


BASE = """
dataset_path: some/data
output_type: multiple_choice
test_split: test
doc_to_text: "{{question}}"
doc_to_choice: ["A", "B", "C"]
metric_list:
  - metric: acc
    aggregation: mean
  - metric: !function utils.own
"""


# lm-evaluation-harness


def test_a_task_with_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "_default").write_text(BASE)
    write(tmp_path, quiz_yaml='include: _default\ntask: quiz\ndoc_to_choice: \'{{["x", "y"]}}\'\n')
    quiz = facts(tmp_path / "quiz.yaml")["quiz"]
    assert [(m.name, m.kind) for m in quiz.metrics] == [("acc", "hard"), ("utils.own", None)]
    assert quiz.options == (2, 2)  # its own value wins over the included one
    assert (quiz.sampled, quiz.repeats) == (False, 1)
    assert "choice_probability" in quiz.twins


def test_a_group_with_members_in_files_inline_and_nowhere(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", a_yaml=BASE + "task: a\n", inner_yaml="group: inner\ntask: [a]\n")
    inline = "  - task: gen\n    repeats: 8\n    generation_kwargs: {do_sample: true, temperature: 0.8}\n"
    inline += "    metric_list: [{metric: pass@16}]\n"
    write(tmp_path, g_yaml=f"group: g\ntask:\n  - inner\n  - lost\n{inline}")
    found = facts(tmp_path / "g.yaml")
    assert list(found) == ["a", "lost", "gen"]
    assert found["a"].place == str(tmp_path / "sub" / "a.yaml")
    assert (found["gen"].repeats, found["gen"].sampled, found["gen"].twins[0]) == (8, True, "pass_rate")
    document = lint_design([tmp_path / "g.yaml"])
    told = {(row["task"], row["code"], row["state"]) for row in document.tables["lint"]}
    assert ("gen", "FS205", "firing") in told
    assert ("lost", "FS201", "no-data") in told


def test_metrics_that_a_file_leaves_to_the_harness(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="task: a\ndataset_path: x\noutput_type: multiple_choice\n")
    write(tmp_path, b_yaml="task: b\ndataset_path: x\n")
    write(tmp_path, c_yaml="task: c\ndataset_path: x\noutput_type: loglikelihood\n")
    write(tmp_path, d_yaml="task: d\nclass: !function task.Own\n")
    found = facts(tmp_path)
    assert [m.name for m in found["a"].metrics] == ["acc", "acc_norm"]
    assert [m.name for m in found["b"].metrics] == ["exact_match"]
    assert [(m.name, m.kind) for m in found["c"].metrics] == [("perplexity", "continuous"), ("acc", "hard")]
    assert found["d"].metrics == ()
    assert "Python class" in found["d"].notes[0]
    assert (found["b"].sampled, found["d"].sampled) == (False, None)


def test_items_of_a_local_file_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"q": 1}\n\n{"q": 2}\n')
    told = "task: a\ndataset_path: json\ntest_split: test\ndataset_kwargs:\n  data_files: {test: t.jsonl}\n"
    write(tmp_path, a_yaml=told)
    assert facts(tmp_path / "a.yaml")["a"].items == 2


@pytest.mark.parametrize(
    "text",
    [
        "task: !!python/object/apply:os.system ['touch {mark}']",
        "task: x\ndataset_path: !!python/name:os.system",
        "task: [unclosed",
        "task: a\ninclude: a.yaml",
        "task: a\ninclude: [1]",
        "- just\n- a list",
        "task: a\ninclude: nowhere.yaml",
        "task: a\nversion: " + "9" * 5000,
        "\x00\x01",
        "a: " + "[" * 200 + "]" * 200,
        "a: &a [x]\nb: [" + "*a, " * 200 + "]",
        "x: &a {k: 1}\ny: {<<: [" + ", ".join(["*a"] * 30) + "]}\ntask: t\ndataset_path: d",
        "? [a, b]\n: c",
        "task: &t\n  - *t\ngroup: loop",
    ],
)
def test_hostile_yaml_is_one_message(tmp_path: Path, text: str) -> None:
    mark = tmp_path / "ran"
    write(tmp_path, a_yaml=text.format(mark=mark) if "{mark}" in text else text)
    with pytest.raises(ForeshockError):
        lint_design([tmp_path / "a.yaml"])
    assert not mark.exists()


def test_functions_are_names_and_dates_are_text(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="f: !function utils.f\nd: 2024-02-31\nbig: {a: 1}\n")
    assert load_yaml(tmp_path / "a.yaml") == {"f": Opaque("!function", "utils.f"), "d": "2024-02-31", "big": {"a": 1}}


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"task: a\n#" + b"x" * 1_000_001)
    with pytest.raises(ReadError, match="larger than"):
        lint_design([tmp_path / "a.yaml"])


# Inspect


TASKS = """
from inspect_ai import Task, task, Epochs
SCORER = match()
@task
def sums(limit=2, items="d.jsonl"):
    data = json_dataset(items, limit=limit)
    return Task(dataset=data, scorer=[SCORER, model_graded_qa()], epochs=Epochs(2, ["mean", "pass_at_5"]))

@task(name="choosing")
def other():
    samples = [Sample(input="q", choices=["a", "b"], target="A"), Sample(input="r", choices=["a", "b", "c"])]
    return Task(dataset=MemoryDataset(samples), solver=multiple_choice(), scorer=choice(),
                config=GenerateConfig(temperature=0.5))

@task
def built():
    return make_it()
"""


def test_tasks_of_inspect_are_read_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"input": "1"}\n' * 5)
    mark = tmp_path / "ran"
    write(tmp_path, tasks_py=TASKS + f"\nopen({str(mark)!r}, 'w').close()\n")
    found = facts(tmp_path / "tasks.py")
    assert not mark.exists()
    sums, choosing, built = (found[name] for name in ("sums", "choosing", "built"))
    assert [m.name for m in sums.metrics] == ["match", "model_graded_qa", "pass_at_5"]
    assert (sums.items, sums.repeats, sums.sampled) == (2, 2, None)
    assert (choosing.items, choosing.options, choosing.sampled) == (2, (2, 3), True)
    assert choosing.twins == ()
    assert built.notes
    assert sums.place == f"{tmp_path / 'tasks.py'}:sums"


def test_in_a_folder_only_tasks_count(tmp_path: Path) -> None:
    write(tmp_path, tasks_py=TASKS, helper_py="def task(): pass\n", broken_py="@task\ndef (", conf_yaml="a: 1\n")
    assert list(facts(tmp_path)) == ["sums", "choosing", "built"]
    assert is_design(tmp_path)
    assert not is_design(write_empty(tmp_path))


def write_empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


@pytest.mark.parametrize("text", ["def (", "x = '\0'", "(" * 5_000, "x = " + "-" * 50_000 + "1", "print('no task')"])
def test_hostile_python_is_one_message(tmp_path: Path, text: str) -> None:
    write(tmp_path, a_py=text)
    with pytest.raises(ReadError):
        lint_design([tmp_path / "a.py"])


# benchmark.toml


TOML = """
[[task]]
name = "sums"
items = 2000
options = [2, 5]
chance = 0.3
temperature = 0.0
logged = ["choice_logprobs"]
labels = { checked = 200, wrong = 3 }
[[task.metric]]
name = "acc"
[[task.metric]]
name = "own"
kind = "continuous"
range = [0, 10]

[[models]]
family = "toy"
points = ["70M", "160M", "410M", "1B", 2.8e9, "6.9B"]
"""


def test_benchmark_toml_states_everything(tmp_path: Path) -> None:
    write(tmp_path, benchmark_toml=TOML)
    found = design_facts([tmp_path], LintOptions())
    (sums,) = found.benchmarks
    assert (sums.items, sums.chance, sums.options, sums.sampled) == (2_000, 0.3, (2, 5), False)
    assert sums.audit == Audit(wrong=3, checked=200)
    assert sums.twins == ("choice_probability", "brier", "choice_margin")
    (line,) = found.lines
    assert line.values == (7e7, 1.6e8, 4.1e8, 1e9, 2.8e9, 6.9e9)
    assert lint_design([tmp_path]).tables["lint"] == []


@pytest.mark.parametrize(
    ("old", "new", "twins"),
    [
        ("", 'logged = ["outputs", "choice_logprobs"]', ("choice_probability", "brier", "choice_margin")),
        ("options = [2, 5]", 'options = 0\nlogged = ["outputs"]', ("char_similarity",)),
        (
            "options = [2, 5]",
            'options = 0\nnumbers = true\nlogged = ["outputs"]',
            ("numeric_closeness", "char_similarity"),
        ),
        ('name = "acc"', 'name = "model_graded_qa"', ()),
    ],
)
def test_closeness_is_a_twin_of_free_answers_and_their_distance_of_numbers(
    tmp_path: Path, old: str, new: str, twins: tuple[str, ...]
) -> None:
    text = TOML.replace('logged = ["choice_logprobs"]', "").replace(old or "chance = 0.3", new)
    if "model_graded" in new:
        text = text.replace("options = [2, 5]", 'logged = ["outputs"]').replace(
            'name = "own"', 'name = "model_graded_fact"'
        )
    write(tmp_path, benchmark_toml=text)
    (task,) = design_facts([tmp_path], LintOptions()).benchmarks
    assert task.twins == twins


def test_it_declares_what_another_design_does_not_say(tmp_path: Path) -> None:
    write(tmp_path, quiz_yaml=BASE.replace('doc_to_choice: ["A", "B", "C"]', "") + "task: sums\n", benchmark_toml=TOML)
    quiz = facts(tmp_path)["sums"]
    assert quiz.place == str(tmp_path / "quiz.yaml")
    assert (quiz.items, quiz.chance, quiz.audit) == (2_000, 0.3, Audit(3, 200))
    assert [m.name for m in quiz.metrics] == ["acc", "utils.own", "own"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("items = 2000", "items = 0", "items"),
        ("items = 2000", "item = 2000", "unknown field"),
        ("options = [2, 5]", "options = [5, 2]", "smallest"),
        ("wrong = 3", "wrong = 300", "300 of 200"),
        ('"160M"', '"lots"', "1.4B"),
        ('"160M"', '"70M"', "twice"),
        ('kind = "continuous"', 'kind = "soft"', "soft"),
        ('name = "own"', "name = [", "TOML"),
    ],
)
def test_a_wrong_benchmark_toml_is_one_message(tmp_path: Path, old: str, new: str, said: str) -> None:
    write(tmp_path, benchmark_toml=TOML.replace(old, new))
    with pytest.raises(ConfigError, match=said):
        lint_design([tmp_path / "benchmark.toml"])


# paths


def test_paths_that_are_no_design(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")
    for path in (tmp_path / "log.json", tmp_path):
        with pytest.raises(UnknownFormatError):
            lint_design([path])
    write(tmp_path, conf_yaml="a: 1\n")
    with pytest.raises(ReadError):
        lint_design([tmp_path / "conf.yaml"])
    with pytest.raises(ReadError, match="no such file"):
        lint_design([tmp_path / "nothing.yaml"])


def test_a_task_pattern_that_fits_nothing_names_what_there_is(tmp_path: Path) -> None:
    write(tmp_path, benchmark_toml=TOML)
    with pytest.raises(ConfigError, match="sums"):
        lint_design([tmp_path], LintOptions(tasks=["sum"]))


def test_one_bad_file_of_a_group_is_told(tmp_path: Path) -> None:
    write(tmp_path, a_yaml=BASE + "task: a\n", g_yaml="group: g\ntask: [a, b]\n", b_yaml="task: b\ninclude: gone\n")
    with pytest.raises(ReadError):
        lint_design([tmp_path / "b.yaml"])
    document = lint_design([tmp_path])
    assert [row["path"] for row in document.tables["failures"]] == [str(tmp_path / "b.yaml"), str(tmp_path / "g.yaml")]
    assert {row["task"] for row in document.tables["lint"]} >= {"a"}


def test_groups_that_hold_each_other_end(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        write(tmp_path, **{f"{name}_yaml": f"group: {name}\ntask: [{', '.join([other] * 500)}]\n"})
    with pytest.raises(ReadError, match=r"members|nested"):
        lint_design([tmp_path / "a.yaml"])


def test_lists_of_lists_of_scorers_end(tmp_path: Path) -> None:
    names = "\n".join(f"s{i} = [{', '.join([f's{i + 1}'] * 50)}]" for i in range(9))
    write(tmp_path, a_py=f"{names}\ns9 = [match()]\n@task\ndef t():\n    return Task(dataset=d, scorer=s0)\n")
    assert facts(tmp_path / "a.py")["t"].metrics == ()


ODD = {
    "number.yaml": f"task: t\noutput_type: generate_until\ngeneration_kwargs: {{temperature: 0x{'f' * 600}}}\n",
    "split.yaml": "task: t\noutput_type: multiple_choice\ntest_split: [a]\ndataset_kwargs: {data_files: {a: a.csv}}\n",
    "name.yaml": f"task: t\noutput_type: multiple_choice\ndataset_kwargs: {{data_files: {'a' * 5000}.csv}}\n",
    "number.py": f"@task\ndef t():\n return Task(temperature=0x{'f' * 600}, scorer=match())\n",
    "half.py": "@task(name='\\ud800')\ndef t():\n return Task(scorer=match())\n",
    "empty.py": "@task\ndef t():\n return Task(MemoryDataset([Sample(choices=[])]), scorer=choice())\n",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_not_known_and_stop_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ODD[name])
    document = lint_design([tmp_path])
    assert str(tmp_path / name) in {row["place"] for row in document.tables["lint"]}
    assert canonical(document)
