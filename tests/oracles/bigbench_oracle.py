"""A results file and a log of queries with invented numbers, written by BIG-bench's own classes.

Usage: python tests/oracles/bigbench_oracle.py FOLDER, with bigbench/api/{model,results,task}.py in it, out of the
source distribution of bigbench 1.0.0 on PyPI. These three need nothing but the standard library.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

TASK = "sums"


def model(api: Any) -> Any:
    """A sparse model at temperature 0."""
    return api.ModelData(
        model_family="BIG-G sparse T=0",
        model_name="2b",
        total_params=60_000_000_000,
        non_embedding_params=51_000_000_000,
        flop_matched_non_embedding_params=2_000_000_000,
        training_batch_size=512,
        training_steps=1000,
        description="invented",
        decoding_params={"max_decode_steps": 64},
        additional_details="",
    )


def scores(task: Any, results: Any) -> list[Any]:
    """Two subtasks under two numbers of shots, with the mean over them that BIG-bench adds."""
    made = [
        task.ScoreData(
            score_dict={"multiple_choice_grade": (shots + 1 + k) / 8, "calibration": -0.5},
            preferred_score="multiple_choice_grade",
            number_of_shots=shots,
            low_score=0.25,
            high_score=1.0,
            subtask_description=name,
        )
        for shots in (0, 2)
        for k, name in enumerate(("easy", "hard"))
    ]
    return results.add_aggregate_scores(task_name=TASK, scores=made)


def queries(results: Any) -> list[Any]:
    """One query of each kind."""
    choice = results.MultipleChoiceSample(
        input="2+2=",
        targets=["3", "4"],
        scores=[-2.0, -0.15],
        target_values={"3": 0, "4": 1},
        correct=1.0,
        absolute_scores=[-4.0, -2.15],
    )
    graded = {"5": {"exact_str_match": 1.0}, "five": {"exact_str_match": 0.0}}
    text = results.GenerativeSample(input="2+3=", output="5", targets=graded, raw_output="5\n")
    weighed = results.ScoringSample(input="2+4=", targets=["6"], scores=[-1.25])
    return [
        results.MultipleChoiceQuery("cond_log_prob", False, [choice], 0, "easy"),
        results.GenerativeQuery("generate_text", 16, None, None, [text], 2, "hard"),
        results.ScoringQuery("cond_log_prob", False, [weighed], 0, "easy"),
    ]


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import bigbench.api.model as model_api
    import bigbench.api.results as results_api
    import bigbench.api.task as task_api

    data = results_api.ResultsFileData(
        scores=scores(task_api, results_api), task=results_api.TaskData(TASK), model=model(model_api), queries=[]
    )
    here = Path(__file__).parent
    for name, asked in (("scores", []), ("full_log", queries(results_api))):
        data.queries = asked
        (here / f"bigbench_{name}.json").write_text(json.dumps(dataclasses.asdict(data), indent=2) + "\n", "utf-8")
