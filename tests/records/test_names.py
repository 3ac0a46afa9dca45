"""Model names of real harnesses, and what they say."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreshock._base import ConfigError
from foreshock.records import parse_model

CASES = [
    ("EleutherAI/pythia-1.4b", {"family": "pythia", "organisation": "EleutherAI", "parameters": 1.4e9}),
    (
        "pretrained=EleutherAI/pythia-v1.1-12b,revision=step143000",
        {"family": "pythia-v1.1", "organisation": "EleutherAI", "parameters": 12e9, "step": 143000},
    ),
    ("EleutherAI/pythia-160m-deduped", {"family": "pythia-deduped", "organisation": "EleutherAI", "parameters": 160e6}),
    ("Llama-2-70b-hf", {"family": "llama-2", "parameters": 70e9}),
    ("Meta-Llama-3_1-8B", {"family": "meta-llama-3.1", "parameters": 8e9}),
    ("latxa-70b-v1.1", {"family": "latxa-v1.1", "parameters": 70e9}),
    ("vllm/out/ckpt-3000", {"family": "out", "step": 3000}),
    ("/scratch/me/out/checkpoint-500", {"family": "out", "step": 500}),
    ("ollama/qwen2.5:0.5b", {"family": "qwen2.5", "parameters": 0.5e9}),
    ("openai/gpt-4o-2024-08-06", {"family": "gpt-4o", "released": "2024-08-06"}),
    (
        "google/gemma-2-9b-it",
        {"family": "gemma-2", "parameters": 9e9, "post_training": "instruct"},
    ),
    (
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        {
            "family": "qwen3-next",
            "organisation": "Qwen",
            "parameters": 80e9,
            "active_parameters": 3e9,
            "architecture": "mixture of experts",
            "post_training": "instruct",
        },
    ),
    (
        "pretrained=foreshock-ladder/add-w64-s1,revision=step2000",
        {"family": "add", "organisation": "foreshock-ladder", "seed": 1, "step": 2000},
    ),
    ("", {}),
]


@pytest.mark.parametrize(("name", "expected"), CASES)
def test_a_card_holds_exactly_what_the_name_says(name: str, expected: dict[str, object]) -> None:
    card = parse_model(name)
    assert {field: getattr(card, field) for field in card.guesses} == expected


def test_the_users_own_step_pattern_wins() -> None:
    assert parse_model("lab/run7-it00042", r"it(\d+)").step == 42


@pytest.mark.parametrize(
    "name", ["lab/run7-it{}", "lab/run7/it{}", "lab/run7-it{}-1b", "pretrained=lab/run7,revision=it{}"]
)
def test_checkpoints_found_by_the_users_pattern_are_of_one_family(name: str) -> None:
    cards = [parse_model(name.format(step), r"it(\d+)") for step in ("00042", "00043")]
    assert [card.step for card in cards] == [42, 43]
    assert {(card.family, card.post_training) for card in cards} == {("run7", None)}


@pytest.mark.parametrize("pattern", ["(", r"step\d+", r"(lab)", r"step(\d\d)?"])
def test_a_step_pattern_that_finds_no_number_is_an_error(pattern: str) -> None:
    with pytest.raises(ConfigError, match="--step"):
        parse_model("lab/step3", pattern)


@given(st.text(max_size=80))
def test_any_text_is_parsed_without_an_error(name: str) -> None:
    card = parse_model(name)
    assert all(getattr(card, field) is not None for field in card.guesses)


def test_the_users_pattern_sees_a_bounded_part_of_a_name() -> None:
    assert parse_model("x" * 10_000 + "-at77", r"-at(\d+)").step == 77
    assert parse_model("-at77" + "x" * 10_000, r"-at(\d+)").step is None
    # cubic in the length: 300 characters take a moment, 100,000 would take years
    before = time.process_time()
    parse_model("1" * 100_000, r"(\d+)\d+x")
    assert time.process_time() - before < 10
