"""Published tables in long form: values, items and what is missing, against what the tables themselves say."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.meta.tables import arithmetic, emergent_tasks, leaderboard, three_metrics


def test_right_answers_are_summed_over_operands(shared_data: Path) -> None:
    two = {row["params"]: row for row in arithmetic(shared_data) if (row["task"], row["shots"]) == ("addition", "2")}
    assert {row["n"] for row in two.values()} == {5000}
    assert float(str(two[1.4e9]["value"])) == pytest.approx(0.022, abs=5e-4)
    assert float(str(two[2.8e9]["value"])) == pytest.approx(0.717, abs=5e-4)


def test_items_are_the_fewest_that_give_whole_answers(shared_data: Path) -> None:
    rows = list(emergent_tasks(shared_data))
    items = {(row["task"], row["metric"]): row["n"] for row in rows}
    assert items["parsinlu_qa", "acc"] == 1050
    assert items["arithmetic_2da", "acc"] == 2000
    assert items["ipa_transliterate", "exact_match"] == 1003
    assert items["ipa_transliterate", "bleu"] == ""
    whole = [float(str(row["value"])) * int(str(row["n"])) for row in rows if row["task"] == "parsinlu_qa"]
    assert all(abs(right - round(right)) < 1e-6 for right in whole)


def test_missing_values_are_left_out(shared_data: Path) -> None:
    rows = list(three_metrics(shared_data))
    assert all(float(str(row["value"])) >= 0 for row in rows)
    assert {row["metric"] for row in rows} == {
        "exact_match",
        "bert_score_accuracy",
        "edit_distance",
        "single_bert_score",
    }
    assert {row["family"] for row in rows} == {"base", "tuned"}


def test_models_without_compute_have_no_place(shared_data: Path) -> None:
    assert all(float(str(row["flops"])) > 0 for row in leaderboard(shared_data))
