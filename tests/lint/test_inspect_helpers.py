"""Tasks of Inspect that functions of their file build: calls are followed, with the arguments that they are given."""

from __future__ import annotations

from pathlib import Path

from tests.lint.test_designs import facts, write

HELPED = """
LIMIT = 7

@task
def few(items=3):
    return _task("few.jsonl", items, scorer=match())

@task
def many(epochs=4, items=LIMIT):
    built = between(epochs, scorer=[own(), f1()], limit=items)
    return built

@task
def unsure(*data):
    return _task(*data, scorer=match())

def between(epochs, **more):
    return _task("many.jsonl", epochs=epochs, **more)

def _task(file, limit=None, epochs=1, scorer=None):
    heat = 0.0 if epochs == 1 else 0.9
    return Task(dataset=json_dataset(file, limit=limit), scorer=scorer, epochs=epochs, config=heated(heat))

def heated(temperature):
    return GenerateConfig(temperature=temperature)

@scorer(metrics=[accuracy()])
def own():
    async def score(state, target):
        right = CORRECT if state.output.completion == target.text else INCORRECT
        return Score(value=right)
    return score
"""


def test_tasks_that_helpers_of_the_file_build_are_read_with_their_arguments(tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text('{"input": "1"}\n' * 5)
    (tmp_path / "many.jsonl").write_text('{"input": "1"}\n' * 50)
    write(tmp_path, tasks_py=HELPED)
    found = facts(tmp_path / "tasks.py")
    few, many, unsure = (found[name] for name in ("few", "many", "unsure"))
    assert ([m.name for m in few.metrics], few.items, few.repeats, few.sampled) == (["match"], 3, 1, False)
    assert ([m.name for m in many.metrics], many.items, many.repeats, many.sampled) == (["own", "f1"], 7, 4, True)
    assert many.metrics[0].kind == "hard"  # it says right or wrong and nothing else
    # what may be given and is not known is not taken from the defaults of the helper
    assert ([m.name for m in unsure.metrics], unsure.items, unsure.repeats) == (["match"], None, None)


def test_a_name_of_the_file_does_not_stand_for_an_argument_of_the_same_name(tmp_path: Path) -> None:
    write(
        tmp_path, a_py="limit = 5\n@task\ndef t(limit):\n return Task(hf_dataset('d', limit=limit), scorer=match())\n"
    )
    assert facts(tmp_path / "a.py")["t"].items is None


def test_the_shipped_tasks_are_read() -> None:
    found = facts(Path(__file__).parents[2] / "src" / "foreshock" / "tasks" / "_inspect.py")
    assert set(found) == {"multiplication", "addition"}
    for task in found.values():
        assert [(m.name, m.kind) for m in task.metrics] == [("exact_number", "hard")]
        assert (task.repeats, task.sampled, task.options, task.notes) == (1, False, (0, 0), ())


def test_helpers_that_call_each_other_end(tmp_path: Path) -> None:
    rounds = "def a(): return b()\ndef b(): return a()\ndef f(**k): return f(**f(**k))\ndef g(x): return g(g(x))\n"
    wide = "".join(f"def h{i}():\n" + f" h{i + 1}()\n" * 20 for i in range(30)) + "def h30(): pass\n"
    last = "@task\ndef t():\n h0()\n a()\n return Task(f(x=1), scorer=g(f()), epochs=1 if f() == 1 else g(2))\n"
    many = "@task\ndef u():\n return h0()\n"
    nots = f"@task\ndef v():\n return Task(d, scorer=match(), epochs=1 if {'not ' * 80}x else 2)\n"
    write(tmp_path, a_py=rounds + wide + last + many + nots)
    found = facts(tmp_path / "a.py")
    assert found["t"].items is None
    assert found["u"].notes
    assert found["v"].repeats is None


def test_what_is_advised_for_a_twin_brings_one(tmp_path: Path) -> None:
    write(tmp_path, a_py="@task\ndef t():\n return Task(hf_dataset('d'), scorer=choice())\n")
    task = facts(tmp_path / "a.py")["t"]
    assert "logprobs" not in task.twin_advice, "Inspect logs those of what the model wrote, which are no twin"
    advised = "--epochs 10"
    assert advised in task.twin_advice
    write(tmp_path, b_py="@task\ndef t():\n return Task(hf_dataset('d'), scorer=choice(), epochs=10)\n")
    assert facts(tmp_path / "b.py")["t"].twins == ("pass_rate",)
