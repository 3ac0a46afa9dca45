"""FS105 from the prompts of single items: what a hash of the whole run cannot see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from foreshock.integrity import changes, examine
from foreshock.integrity._prompts import Prompts, explained
from foreshock.records import Finding, Run, State
from foreshock.store import Store
from tests.integrity.conftest import Put

ROWS = [(f"{i}", f"{i}", f"{i}", 1.0) for i in range(20)]
CHAT = {"chat_template": "yes"}


def asked(put: Put, model: str, prompts: Sequence[str | None], **facts: Any) -> Run:
    facts = {"prompt_hash": "p", "scorer_hash": "s", "task_version": "1", **facts}
    return put(model, ROWS[: len(prompts)], more={"prompt_hash": list(prompts)}, **facts)


def told(store: Store) -> list[Finding]:
    snapshot = store.snapshot()
    return changes(snapshot.runs(), snapshot)


def words(lead: str, n: int = 20) -> list[str]:
    return [f"{lead}{i}" for i in range(n)]


def test_the_same_prompts_are_no_change(store: Store, put: Put) -> None:
    asked(put, "m-1b", words("q"))
    asked(put, "m-2b", words("q"))
    assert told(store) == []


@pytest.mark.parametrize(("changed", "share"), [(20, 1.0), (3, 0.15)])
def test_reworded_prompts_fire_with_their_share(store: Store, put: Put, changed: int, share: float) -> None:
    """The configuration is the same in both logs, as where a Python function writes the prompt."""
    for model in ("m-1b", "m-2b"):
        asked(put, model, words("q"))
    asked(put, "m-4b", [*words("other", changed), *words("q")[changed:]])
    (finding,) = told(store)
    assert finding.state is State.FIRING
    assert finding.effect is not None
    assert finding.effect.value == pytest.approx(share)
    assert f"prompt ({changed} of 20 shared items asked in other words)" in finding.title
    assert [evidence.run for evidence in finding.evidence] == ["m-4b/sums"]
    assert {a.name: a.status for a in finding.alternatives}["prompt change"] == "possible"
    assert finding in examine(store.snapshot())


def test_only_shared_items_are_held_against_each_other(store: Store, put: Put) -> None:
    """A limit is no other condition: the runs are compared, so their prompts are."""
    asked(put, "m-1b", words("q"))
    asked(put, "m-2b", words("q", 12), conditions={"limit": "12"})
    assert told(store) == []
    asked(put, "m-4b", words("other", 8), conditions={"limit": "8"})
    (finding,) = told(store)
    assert "prompt (8 of 12 shared items asked in other words)" in finding.title
    assert "8 of 8 shared items asked in other words" in finding.evidence[0].what


def test_another_prompt_of_the_whole_run_is_seen_beside_a_limit(store: Store, put: Put) -> None:
    put("m-1b", ROWS, prompt_hash="p")
    put("m-2b", ROWS[:5], prompt_hash="q", conditions={"limit": "5"})
    (finding,) = told(store)
    assert finding.state is State.FIRING


def test_hashes_are_counted_and_names_are_shown(store: Store, put: Put) -> None:
    put("m-1b", ROWS, scorer_hash="475d78e646750918", judge="gpt-a")
    put("m-2b", ROWS, scorer_hash="9d7044c8b13c27a1", judge="gpt-b")
    (finding,) = told(store)
    assert "do not share the scorer (2 kinds) and judge (gpt-a / gpt-b)" in finding.title


def test_repeats_with_other_examples_have_a_prompt_in_common(store: Store, put: Put) -> None:
    twice = [*ROWS[:5], *ROWS[:5]]
    epochs = [1] * 5 + [2] * 5
    put("m-1b", twice, more={"prompt_hash": [*words("a", 5), *words("b", 5)], "epoch": epochs})
    put("m-2b", twice, more={"prompt_hash": [*words("b", 5), *words("c", 5)], "epoch": epochs})
    assert told(store) == []


def test_prompts_that_differ_by_the_models_own_templates_are_pending(store: Store, put: Put) -> None:
    asked(put, "m-1b", words("llama"), conditions=CHAT, meta={"chat_template": "aaa"})
    asked(put, "w-2b", words("qwen"), conditions=CHAT, meta={"chat_template": "bbb"})
    (finding,) = told(store)
    assert finding.state is State.PENDING
    assert finding.effect is not None
    assert finding.effect.value == 1.0
    assert "chat template (aaa / bbb)" in finding.title
    assert "a template is the model's own" in finding.alternatives[-1].why


def test_another_scorer_fires_whatever_the_templates(store: Store, put: Put) -> None:
    asked(put, "m-1b", words("llama"), conditions=CHAT, meta={"chat_template": "aaa"})
    asked(put, "w-2b", words("qwen"), conditions=CHAT, meta={"chat_template": "bbb"}, scorer_hash="other")
    assert [finding.state for finding in told(store)] == [State.FIRING]


def test_the_same_template_explains_nothing(store: Store, put: Put) -> None:
    asked(put, "m-1b", words("a"), conditions=CHAT, meta={"chat_template": "aaa"})
    asked(put, "m-2b", words("b"), conditions=CHAT, meta={"chat_template": "aaa"})
    assert [finding.state for finding in told(store)] == [State.FIRING]


def test_templates_alone_are_told_where_no_prompt_is_logged(store: Store, put: Put) -> None:
    asked(put, "m-1b", [None] * 20, conditions={"chat_template": "aaa"})  # a store that was written before
    asked(put, "w-2b", [None] * 20, conditions=CHAT, meta={"chat_template": "bbb"})
    assert [finding.state for finding in told(store)] == [State.PENDING]


@pytest.mark.parametrize(
    ("form", "models", "why"),
    [
        ("lighteval", ("a", "b"), "the logs do not say which one"),  # logged after a template, if there was one
        ("lighteval", ("a", "a"), ""),  # one model has one template
        ("helm", ("a", "b"), ""),  # logged before any template
    ],
)
def test_a_template_that_no_log_states_may_only_explain_other_models(
    form: str, models: tuple[str, str], why: str
) -> None:
    runs = [Run(run_key=k, format=form, reader="t@1", model=m, task="t") for k, m in zip("xy", models, strict=True)]
    said = explained(Prompts(shared=3, differ=3, odd={"y": (3, 3)}, first="x"), runs)
    assert said.endswith(why)
    assert bool(said) == bool(why)
