"""Generated arithmetic: right, different, the same for ever, and read back from what a model writes."""

from __future__ import annotations

from collections import Counter

import pytest

from foreshock._base import ConfigError, NotEnoughDataError, digest
from foreshock.tasks import OPERATIONS, Arithmetic, arithmetic, chat_turns, completion_prompt, extract_number


def pairs(task: Arithmetic) -> list[tuple[int, int]]:
    return [(min(p.a, p.b), max(p.a, p.b)) for p in task.problems]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("seed", [0, 7])
def test_problems_are_right_different_and_of_the_paper(operation: str, seed: int) -> None:
    task = arithmetic(operation, items=1500, seed=seed)
    low, high = (10, 99) if operation == "multiplication" else (1000, 9999)
    assert len(set(pairs(task))) == len(task.problems) == 1500
    for problem in task.problems:
        assert low <= min(problem.a, problem.b) <= max(problem.a, problem.b) <= high
        truth = problem.a * problem.b if operation == "multiplication" else problem.a + problem.b
        assert problem.target == str(truth)
        assert len(problem.examples) == 2


def test_no_example_is_asked_in_either_order() -> None:
    task = arithmetic("multiplication", items=4000, shots=3)
    asked = {question for p in task.problems for question in (p.question, f"What is {p.b} times {p.a}?")}
    shown = [question for p in task.problems for question, _ in p.examples]
    assert not asked & set(shown)
    assert all(eval(q[8:-1].replace("times", "*")) == int(a) for p in task.problems[:50] for q, a in p.examples)
    assert all(len(set(p.examples)) == 3 for p in task.problems)


def test_operands_are_uniform() -> None:
    task = arithmetic("addition", items=3000)
    leading = Counter(str(n)[0] for p in task.problems for n in (p.a, p.b))
    assert max(abs(leading[str(d)] - 6000 / 9) for d in range(1, 10)) < 4.5 * (6000 / 9) ** 0.5


def test_the_same_arguments_give_the_same_problems_for_ever() -> None:
    # a change of these digests changes what was asked: raise the version of the task with it
    told = {op: digest([list(p) for p in arithmetic(op, items=200, seed=3).problems], 12) for op in OPERATIONS}
    assert told == {"multiplication": "f5910aa5c4ea", "addition": "93ec032cbbe8"}
    assert arithmetic("addition", items=50) == arithmetic("addition", items=50)
    assert pairs(arithmetic("addition", items=50)) != pairs(arithmetic("addition", items=50, seed=1))
    more = arithmetic("addition", items=80).problems
    assert [p.item_id for p in arithmetic("addition", items=50).problems] == [p.item_id for p in more[:50]]


def test_answers_of_each_length_come_equally_often() -> None:
    task = arithmetic("addition", items=250, lengths=[2, 3, 4, 5])
    assert Counter(len(p.target) for p in task.problems) == {2: 63, 3: 63, 4: 62, 5: 62}
    assert len(set(pairs(task))) == 250
    assert task.name == "4-digit-addition-by-length"
    assert task.notes == ()


def test_what_there_is_not_is_told() -> None:
    task = arithmetic("addition", items=500, lengths=range(1, 6))
    ones = sum(a + b < 10 for a in range(1, 10) for b in range(a, 10))
    assert Counter(len(p.target) for p in task.problems)[1] == ones
    assert task.notes == (f"answers of 1 digit: {ones} problems, not 100; no more were found",)
    with pytest.raises(NotEnoughDataError, match="4,095 different"):
        arithmetic("multiplication", items=5000)
    with pytest.raises(NotEnoughDataError, match="as examples"):
        arithmetic("multiplication", items=4095)
    assert len(arithmetic("multiplication", items=4095, shots=0).problems) == 90 * 91 / 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"items": 0},
        {"items": 10**9},
        {"digits": 0},
        {"digits": 40},
        {"shots": -1},
        {"seed": -1},
        {"lengths": []},
        {"lengths": [0]},
        {"lengths": [5]},
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        arithmetic("multiplication", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="division"):
        arithmetic("division")


def test_prompts_end_where_the_answer_begins() -> None:
    problem = arithmetic("addition", items=1).problems[0]
    prompt = completion_prompt(problem)
    assert prompt.endswith(f"\n\nQ: {problem.question}\nA:")
    assert [line for line in prompt.splitlines() if line.startswith("A:")][:-1] == [
        f"A: {answer}" for _, answer in problem.examples
    ]
    turns = chat_turns(problem)
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant", "user"]
    assert turns[-1].content.startswith(problem.question)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        (" 1368", "1368", "1368"),
        ("1,368", "1368", "1368"),
        ("$1,368.", "1368", "1368"),
        ("**1368**", "1368", "1368"),
        ("\\boxed{1368}", "1368", "1368"),
        ("-12", "-12", "-12"),
        ("0012", "12", "12"),
        ("000", "0", "0"),
        ("24 times 57 is 1368.", "24", "1368"),
        ("1368\n\nQ: What is 2 plus 2?\nA: 4", "1368", "4"),
        ("13.5", None, None),
        ("1,36", None, None),
        ("1,2345", None, None),
        ("a1368", None, None),
        ("I cannot", None, None),
        ("", None, None),
        ("\n\n 12", "12", "12"),
        ("٣٤", None, None),
        ("9" * 300, "9" * 300, "9" * 300),
    ],
)
def test_numbers_are_read_from_what_a_model_writes(text: str, first: str | None, last: str | None) -> None:
    assert extract_number(text) == first
    assert extract_number(text, "last") == last


def test_a_long_text_takes_no_long_time() -> None:
    import time

    started = time.process_time()
    for text in ("1," * 500_000, "1" * 1_000_000, "-" * 1_000_000, "\n" * 1_000_000, "1.1." * 200_000):
        extract_number(text)
        extract_number(text, "last")
    assert time.process_time() - started < 2
