"""What is gathered from a store, by hand-made runs whose facts are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.lint import LintOptions, lint_store
from foreshock.metrics import metric
from foreshock.records import RunStatus
from foreshock.store import Store
from tests.check.test_hard_asked import write_repeats
from tests.lint.conftest import Put


def answers(n: int, right: Sequence[bool], length: int = 3) -> list[tuple[str, str | None, str]]:
    """Items whose targets are texts of ``length`` words; a wrong answer shares half of its letters with the target."""
    targets = [" ".join(f"word{i:04d}{k}" for k in range(length)) for i in range(n)]
    pairs = zip(targets, right, strict=True)
    return [(str(i), t if ok else t[: len(t) // 2], t) for i, (t, ok) in enumerate(pairs)]


def codes(store: Store, options: LintOptions | None = None, **more: Any) -> dict[tuple[str | None, str], str]:
    document = lint_store(store, options, **more)
    return {(row["task"], row["code"]): row["state"] for row in document.tables["lint"]}


def test_flips_are_measured_between_neighbours(store: Store, put: Put) -> None:
    rng = np.random.default_rng(1)
    base = rng.random(400)
    for place, level in enumerate((0.3, 0.5, 0.7)):
        put(f"m-{place + 1}b", answers(400, list(base < level)), conditions={"temperature": "0"})
    document = lint_store(store)
    (row,) = [row for row in document.tables["lint"] if row["code"] == "FS203"]
    assert "20% of items flip" in row["message"] or "21% of items flip" in row["message"]
    assert row["state"] == "firing"
    (enough,) = row["enough"]
    # independent of the code: Connor's formula at a discordance of .2 and a difference of .05
    needed = ((1.959964 * 0.2**0.5 + 0.841621 * (0.2 - 0.0025) ** 0.5) / 0.05) ** 2
    assert enough["enough"] == pytest.approx(needed, rel=0.12)
    assert enough["have"] == 400
    assert codes(store, LintOptions(difference=0.2)).get(("sums", "FS203")) is None


def test_a_twin_from_the_responses_and_none_from_words(store: Store, put: Put) -> None:
    put("m-1b", answers(80, [i % 2 == 0 for i in range(80)]), task="texts")
    words = [(str(i), "yes" if i % 3 else "no", "yes") for i in range(80)]
    put("m-1b", words, task="words")
    odds = [[-1.0, -2.0, -3.0] for _ in range(80)]
    choices = {"choices": [["a", "b", "c"]] * 80, "gold_index": [i % 3 for i in range(80)]}
    put("m-1b", answers(80, [True] * 80), task="choices", items=choices, more={"choice_logprobs": odds})
    found = codes(store)
    assert found["texts", "FS202"] == "pending"  # decoded text only
    assert ("choices", "FS202") not in found
    # of words "yes" and "no" a similarity is graded (they share nothing: 0) and so always an end
    assert found["words", "FS202"] == "firing"
    assert found["words", "FS210"] == "pending"


def test_a_declared_kind_is_held_against_the_values(store: Store, put: Put) -> None:
    rows = answers(120, [True] * 120)
    graded = np.random.default_rng(0).uniform(0.1, 0.9, 120).tolist()
    put("m-1b", rows, scores={"closeness": [float(i % 2) for i in range(120)], "graded": graded})
    declared = Path(store.folder).parent / "benchmark.toml"
    declared.write_text(
        '[[task]]\nname = "sums"\nchance = 0.0\n'
        '[[task.metric]]\nname = "closeness"\nkind = "continuous"\nrange = [0, 1]\n'
        '[[task.metric]]\nname = "graded"\nkind = "hard"\nlink = "threshold"\nrange = [0, 1]\n'
    )
    document = lint_store(store, designs=[declared])
    told = {row["metric"]: (row["state"], row["verdict"]) for row in document.tables["lint"] if row["code"] == "FS210"}
    assert told["closeness"] == ("firing", "acts-hard")
    assert told["graded"] == ("pending", "acts-continuous")


def test_functions_of_the_user_are_measured_and_held_against_the_design(store: Store, put: Put) -> None:
    put("m-1b", answers(60, [True] * 60, length=6))
    declared = Path(store.folder).parent / "benchmark.toml"
    declared.write_text('[[task]]\nname = "sums"\n[[task.metric]]\nname = "mine"\nkind = "continuous"\n')

    def mine(output: str, item: Any) -> float:
        return float(output == item.targets[0])

    document = lint_store(store, designs=[declared], scorers={"mine": mine})
    (row,) = document.tables["kinds"]
    assert (row["declared"], row["acts"], row["items"], row["sharp"]) == ("continuous", "hard", 60, 60)
    (told,) = [row for row in document.tables["lint"] if row["code"] == "FS210" and row["metric"] == "mine"]
    assert (told["state"], told["verdict"]) == ("firing", "acts-hard")


def test_a_metric_of_the_user_is_measured_by_name(store: Store, put: Put) -> None:
    @metric(name="test_lint_threshold", kind="continuous", needs=("answer", "targets"), range=(0, 1))
    def test_lint_threshold() -> Any:
        return lambda row: float(row.answer[:5] == row.targets[0][:5])

    put("m-1b", answers(60, [True] * 60, length=6))
    found = lint_store(store, LintOptions(metrics=["test_lint_threshold", "char_similarity"], samples=40))
    rows = {row["metric"]: row for row in found.tables["kinds"]}
    assert {row["items"] for row in rows.values()} == {40}
    assert rows["char_similarity"]["acts"] == "continuous"
    assert rows["test_lint_threshold"]["acts"] == "hard"
    verdicts = {row["metric"]: row["verdict"] for row in found.tables["lint"] if row["code"] == "FS210"}
    assert verdicts == {"test_lint_threshold": "acts-hard"}


def test_options_chance_and_labels(store: Store, put: Put) -> None:
    some = {"choices": [["a"] * (2 + i % 3) for i in range(60)], "gold_index": [0] * 60}
    put("m-1b", answers(60, [i % 10 > 0 for i in range(60)]), task="mixed", items=some, scores={"choice": [1.0] * 60})
    found = codes(store)
    assert found["mixed", "FS206"] == "firing"
    put("m-1b", answers(60, [True] * 60), task="told", items=some, scores={"choice": [1.0] * 60}, chance=0.36)
    assert ("told", "FS206") not in codes(store)


def test_a_declared_ceiling_below_the_best_model(store: Store, put: Put) -> None:
    put("m-1b", answers(400, [i > 3 for i in range(400)]))
    declared = Path(store.folder).parent / "benchmark.toml"
    declared.write_text('[[task]]\nname = "sums"\nlabels = { checked = 500, wrong = 75 }\n')
    document = lint_store(store, designs=[declared])
    (row,) = [row for row in document.tables["lint"] if row["code"] == "FS208"]
    assert (row["state"], row["verdict"]) == ("firing", "above-ceiling")


def test_denominators_of_runs(store: Store, put: Put) -> None:
    put("m-1b", answers(200, [True] * 200))
    put("m-2b", answers(120, [True] * 120))
    put("m-3b", answers(50, [True] * 50), conditions={"limit": "50"})
    (row,) = [row for row in lint_store(store).tables["lint"] if row["code"] == "FS209"]
    assert row["state"] == "firing"
    assert "m-2b is scored over 120" in row["message"]


def test_repeats_and_temperature(store: Store, put: Put) -> None:
    rows = answers(40, [True] * 40)
    put("m-1b", rows, task="hot", conditions={"temperature": "0.8"})
    put("m-1b", rows, task="cold", conditions={"temperature": "0"})
    put("m-1b", rows, task="unknown")
    rng = np.random.default_rng(2)
    twice = [row for i in range(40) for row in answers(40, list(rng.random(40) < 0.5))[i : i + 1] * 2]
    noisy = [(i, t if rng.random() < 0.5 else "x", t) for i, _, t in twice]
    epochs = {"epoch": [1 + i % 2 for i in range(80)]}
    put("m-1b", noisy, task="noisy", conditions={"temperature": "0.8"}, more=epochs)
    found = codes(store)
    assert found["hot", "FS205"] == "firing"
    assert ("cold", "FS205") not in found
    assert found["unknown", "FS205"] == "no-data"
    # every reply is a coin: what is between items is chance alone, so no number of repeats is known to do
    assert found.get(("noisy", "FS205")) in (None, "pending")


def test_variances_between_and_within_items_are_told_apart(store: Store, put: Put) -> None:
    from foreshock.lint._shown import repeat_spread
    from foreshock.scoring import score

    rng = np.random.default_rng(3)
    p = rng.choice([0.1, 0.9], 600)
    rows = [(str(i), "right" if rng.random() < p[i] else "x", "right") for i in range(600) for _ in range(3)]
    put("m-1b", rows, more={"epoch": [1 + i % 3 for i in range(1_800)]})
    score(store)
    snapshot = store.snapshot()
    (metric_id,) = set(snapshot.scan("scores", columns=["metric_id"]).collect()["metric_id"].to_list()) & {
        m for m in snapshot.scan("scores").collect()["metric_id"].to_list() if m.startswith("exact_match@")
    }
    found = repeat_spread(snapshot, "sums", ["m-1b/sums"], ("foreshock", metric_id))
    assert found is not None
    assert found.between == pytest.approx(0.16, abs=0.02)  # .4^2 between
    assert found.within == pytest.approx(0.09, abs=0.01)  # .1 times .9 within


def test_totals_alone(store: Store, put: Put) -> None:
    for model, value in (("m-1b", 0.4), ("m-2b", 0.8)):
        error = (value * (1 - value) / 999) ** 0.5
        totals = [{"metric_id": "acc", "value": value, "stderr": error}, {"metric_id": "own", "value": 3.0}]
        put(model, [], totals=totals)
    document = lint_store(store)
    rows = {row["code"]: row for row in document.tables["lint"] if row["task"] == "sums"}
    assert rows["FS202"]["state"] == "firing"
    assert rows["FS201"]["state"] == "no-data"  # of "own" nothing is known
    assert rows["FS203"]["enough"][0]["have"] == 1_000  # from the standard error
    assert rows["FS209"]["state"] == "no-data"


def test_lines_shared_by_tasks_are_one_and_seeds_are_seen(store: Store, put: Put) -> None:
    for task in ("one", "two"):
        for size in ("70m", "160m", "410m"):
            put(f"toy-{size}", answers(30, [True] * 30), task=task)
    document = lint_store(store, LintOptions(select=["FS204"]))
    (row,) = document.tables["lint"]
    assert row["state"] == "firing"
    assert "3 models (on 2 tasks)" in row["message"]
    (rule,) = document.tables["rules"]
    assert (rule["code"], rule["places"], rule["firing"]) == ("FS204", 1, 1)


def test_nothing_to_look_at_is_an_error_that_says_what_there_is(store: Store, put: Put) -> None:
    with pytest.raises(ConfigError, match="foreshock add"):
        lint_store(store)
    put("m-1b", answers(5, [True] * 5))
    with pytest.raises(ConfigError, match="sums"):
        lint_store(store, LintOptions(tasks=["sum"]))


def test_the_same_store_gives_the_same_bytes(store: Store, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    import msgspec

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    put("m-1b", answers(60, [i % 2 > 0 for i in range(60)], length=6))
    options = LintOptions(metrics=["char_similarity"], samples=20)
    first, second = (msgspec.json.encode(lint_store(store, options)) for _ in range(2))
    assert first == second


def test_a_header_alone_says_items_epochs_and_temperature(store: Store, put: Put) -> None:
    put("m-1b", [], expected=40, conditions={"epochs": "4", "temperature": "0.5"}, status=RunStatus.STARTED)
    document = lint_store(store, LintOptions(select=["FS203", "FS201"]))
    rows = {row["code"]: row for row in document.tables["lint"]}
    assert rows["FS203"]["enough"][0]["have"] == 10
    assert rows["FS201"]["state"] == "no-data"


def test_a_pass_rate_over_repeats_is_a_twin(store: Store) -> None:
    write_repeats(store)
    found = {row["code"]: row["hint"] for row in lint_store(store).tables["lint"]}
    assert "FS202" not in found
    assert "report pass_rate" in found["FS201"]
