"""Hard metrics that were asked for: each is judged through its own link, and one that is not there is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foreshock._base import ConfigError
from foreshock.check import CheckOptions, mirage_document
from foreshock.check._measures import Measure, chance_level, measures, measures_of
from foreshock.metrics import get_metric
from foreshock.records import Batch, Document, Run, item_key
from foreshock.series import Seen
from foreshock.store import Store

ITEMS, EPOCHS = 60, 10
SIZES = ("1m", "3m", "10m", "30m", "100m", "300m", "1b", "3b")


def rates() -> np.ndarray:
    """Success rate of one attempt at each size, even on the link of any-of-T."""
    ends = np.log(-np.log1p(-np.array([0.01, 0.7])))
    return -np.expm1(-np.exp(np.linspace(*ends, len(SIZES))))


def write_repeats(store: Store) -> None:
    rng = np.random.default_rng(5)
    rows = list(range(ITEMS * EPOCHS))
    asked = [f"item {i // EPOCHS}" for i in rows]
    keys = [item_key(text, targets=["yes"]) for text in asked]
    for size, rate in zip(SIZES, rates(), strict=True):
        answers = np.where(rng.random(len(rows)) < rate, "yes", "no").tolist()
        run = Run(run_key=size, format="x", reader="x@1", model=f"lab/toy-{size}", task="t", expected=len(rows))
        meta = {"item_id": asked, "item_key": keys, "input": asked, "targets": [["yes"]] * len(rows)}
        responses = {
            "row": rows, "item_id": asked, "item_key": keys, "epoch": [i % EPOCHS + 1 for i in rows],
            "delivery": ["refused" if i % 70 == 9 else "ok" for i in rows],
            "output": answers, "answer": answers,
        }  # fmt: skip
        first = {name: values[::EPOCHS] for name, values in meta.items()}
        store.write(run, [Batch("items", first), Batch("responses", responses)])


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store.open(tmp_path_factory.mktemp("repeated") / "store", create=True)
    write_repeats(store)
    return store


def judged(store: Store, *hard: str) -> tuple[Document, list[dict[str, Any]]]:
    document = mirage_document(store, CheckOptions(hard=list(hard), seed=1))
    return document, document.tables["verdicts"]


def test_any_of_k_goes_through_its_own_link_with_its_own_twin(repeated: Store) -> None:
    _, usual = judged(repeated)
    assert [row["hard"] for row in usual] == ["exact_match"]
    document, (row,) = judged(repeated, "pass_at_k(k=4)")  # named in full: it is scored first
    assert (row["hard"], row["link"], row["twin"]) == ("pass_at_k(k=4)", "any-of-T", "pass_rate")
    assert row["verdict"] in ("mirage", "smooth")
    (finding,) = [one for one in document.findings if one.code == "FS301"]
    assert finding.subject.metric == "pass_at_k(k=4)"
    curves = {line["role"]: [p["value"] for p in line["points"]] for line in document.tables["series"]}
    assert curves["twin"] == pytest.approx(rates(), abs=0.07)
    # what the rates give through the link, and what a product of four parts would have given
    any_of, all_of = 1 - (1 - rates()) ** 4, rates() ** 4
    assert np.nanmax(np.abs(np.array(curves["counterfactual"], float) - any_of)) < 0.1
    assert np.nanmax(np.abs(any_of - all_of)) > 0.5


def test_several_metrics_of_a_task_have_a_line_each(repeated: Store) -> None:
    judged(repeated, "pass_at_k(k=4)")
    document, rows = judged(repeated, "pass_at_k*", "exact_match", "refused")
    assert [row["hard"] for row in rows] == ["exact_match", "refused", "pass_at_k(k=4)"]
    assert len({row["finding_id"] for row in rows}) == 3
    assert {row["task"] for row in rows} == {"t"}
    refused = rows[1]
    # what lies beneath right and wrong does not lie beneath a refusal; how often it is given over repeats does
    assert refused["twin"] == "pass_rate(of=refused)"
    assert refused["verdict"] == "unresolved"
    assert document.tables["families"] == [], "one task tells its family nothing, however many metrics it has"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("pass_at_k(k=99)", "see why it has no scores"),
        ("exact_mtch", "did you mean exact_match"),
        ("char_similarity", "continuous, and can only stand beside"),
    ],
)
def test_a_metric_that_is_not_there_is_an_error_that_names_those_that_are(
    repeated: Store, pattern: str, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        judged(repeated, "exact_match", pattern)
    assert "exact_match" in str(told.value)


def seen(*names: str) -> list[Seen]:
    return [Seen(get_metric(name).id, "foreshock", 100, binary=False) for name in names]


def found(main: str, *others: str) -> list[str]:
    specs = {get_metric(name).id: get_metric(name) for name in (main, *others)}
    known = measures(seen(main, *others), specs, None)
    one = next(m for m in known.all if m.name == str(get_metric(main)))
    return [twin.name for twin in measures_of(one, known, specs, {}).twins]


def test_a_rate_is_the_twin_of_what_it_is_the_rate_of_and_of_nothing_else() -> None:
    both = ("pass_rate(of=refused)", "pass_rate")
    assert found("pass_at_k(k=4, of=refused)", *both, "char_similarity") == ["pass_rate(of=refused)"]
    assert found("pass_at_k(k=4)", *both) == ["pass_rate"]
    assert found("exact_match", *both, "gold_logprob") == ["gold_logprob", "pass_rate"]
    assert found("exact_match", "pass_rate(of=refused)") == []
    assert found("refused", *both) == ["pass_rate(of=refused)"]
    assert found("step_failed", "tool_errors", "char_similarity") == [], "a count without an end is no probability"


def test_guessing_k_times_scores_more_than_once() -> None:
    def level(name: str) -> float | None:
        spec = get_metric(name)
        known = measures(seen(name), {spec.id: spec}, None).main
        assert isinstance(known, Measure)
        return chance_level(known, 4)

    assert level("multiple_choice_grade") == 0.25
    assert level("pass_at_k(k=3, of=multiple_choice_grade)") == pytest.approx(1 - 0.75**3)
    assert level("pass_at_k(k=3)") == 0
    assert level("refused") is None


def test_of_totals_the_metric_can_be_chosen_as_well(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store", create=True)
    for k, size in enumerate(SIZES):
        rows = {
            "metric_id": ["acc", "exact", "perplexity"], "value": [0.3 + 0.05 * k, 0.1 + 0.1 * k, 9.0 - k],
            "n": [500] * 3, "source": ["harness"] * 3,
        }  # fmt: skip
        run = Run(run_key=size, format="x", reader="x@1", model=f"lab/toy-{size}", task="t")
        store.write(run, [Batch("aggregates", rows)])
    _, rows = judged(store, "acc")
    assert [row["hard"] for row in rows] == ["acc"]
    with pytest.raises(ConfigError, match="perplexity is continuous"):
        judged(store, "perplexity")
