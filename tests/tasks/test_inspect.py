"""The Inspect tasks: a log of them is read back as the same items; they load and run where Inspect is installed."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from foreshock.lint import LintOptions
from foreshock.lint._design import design_facts
from foreshock.models import Asking, CallableModel, collect
from foreshock.store import Store, add_paths
from foreshock.tasks import arithmetic

LOG = Path(__file__).parent / "inspect_arithmetic.json"
"""Six problems answered by Inspect's mock model (0.3.285), its events taken out."""
SAID = {
    "28*18": ("504", "ok"),
    "37*70": ("2590", "ok"),  # "37 times 70 is 2,590."
    "62*35": ("2180", "ok"),  # wrong
    "20*66": (None, "ok"),  # "I cannot tell."
    "27*95": ("2565", "ok"),  # "**2565**"
    "84*72": ("6048", "truncated"),
}


def test_a_log_of_the_task_is_read_back(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    (run,) = add_paths(store, [LOG]).added
    assert (run.task, run.model, run.counts.delivered, run.counts.parsed) == (
        "2-digit-multiplication",
        "mockllm/model",
        6,
        5,
    )
    frame = store.snapshot().scan("responses", columns=["item_id", "answer", "delivery"]).collect()
    assert {item: (answer, state) for item, answer, state in frame.rows()} == SAID


def test_its_items_are_those_of_the_command(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s", create=True)
    add_paths(store, [LOG])
    _, batches = collect(
        CallableModel(lambda _: " 1", "m"), arithmetic("multiplication", items=6), Asking(logprobs=False)
    )
    ours = next(batch for batch in batches if batch.table == "items").columns
    theirs = store.snapshot().scan("items", columns=["item_id", "item_key"]).collect().rows()
    assert sorted(theirs) == sorted(zip(ours["item_id"], ours["item_key"], strict=True))


def test_inspect_finds_the_tasks_under_the_name_of_the_package(repo_root: Path) -> None:
    project = tomllib.loads((repo_root / "pyproject.toml").read_text("utf-8"))["project"]
    module = project["entry-points"]["inspect_ai"]["foreshock"]
    source = importlib.util.find_spec(module)
    assert source is not None
    assert source.origin is not None
    names = {task.task: task for task in design_facts([Path(source.origin)], LintOptions()).benchmarks}
    assert set(names) == {"multiplication", "addition"}
    assert module not in sys.modules, "without Inspect nothing of this package needs it"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operation", ["multiplication", "addition"])
def test_the_tasks_load_and_run(tmp_path: Path, operation: str) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    model = pytest.importorskip("inspect_ai.model")
    task = getattr(importlib.import_module("foreshock.tasks._inspect"), operation)(items=4)
    outputs = []
    for place, sample in enumerate(task.dataset):
        output = model.ModelOutput.from_content("mockllm/model", sample.target if place else "7")
        output.usage = model.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it loads a tokenizer
        outputs.append(output)
    mock = model.get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(task, model=mock, log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success", log.error
    assert log.samples[1].messages[0].content.endswith("Answer with the number only.")
    assert [m.role for m in log.samples[1].messages] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    store = Store.open(tmp_path / "s", create=True)
    add_paths(store, [Path(log.location)])
    told = dict(store.snapshot().scan("responses", columns=["item_id", "answer"]).collect().rows())
    problems = arithmetic(operation, items=4).problems
    assert told == {p.item_id: p.target if place else "7" for place, p in enumerate(problems)}
