"""What one checkpoint did on one task, as arrays, and the figures that follow from it. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from . import plan
from .choices import choice_values
from .problems import (
    PAD,
    Problems,
    answer_tokens,
    held_out_additions,
    held_out_multiplications,
)

TASKS = ("addition", "multiplication")


def outcome_path(run: plan.Run, step: int) -> Path:
    """Where the outcome of one checkpoint is kept."""
    return plan.WORK / "outcomes" / run.name / f"step{step:05d}.npz"


@cache
def held_out(task: str) -> Problems:
    """The held-out problems of a task."""
    return held_out_additions() if task == "addition" else held_out_multiplications()


@cache
def held_out_choices(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Choice values ``[n, 4]`` and gold indices ``[n]`` of a task."""
    return choice_values(held_out(task))


@dataclass(frozen=True)
class Outcome:
    """One checkpoint on one task of ``n`` problems.

    Attributes:
        greedy: tokens written greedily, int8, ``[n, ANSWER]``.
        logprob: teacher-forced log-probability of each answer token, float32, ``[n, ANSWER]``; 0 at padding.
        right: whether the teacher-forced arg max is the answer token, bool, ``[n, ANSWER]``; True at padding.
        choice_logprob: log-probability of the digits of each choice, float32, ``[n, 4]``.
        choice_greedy: whether each choice is what the model writes greedily, bool, ``[n, 4]``.
    """

    greedy: np.ndarray
    logprob: np.ndarray
    right: np.ndarray
    choice_logprob: np.ndarray
    choice_greedy: np.ndarray


def save(outcomes: dict[str, Outcome], path: Path) -> None:
    """Write the outcomes of one checkpoint, one per task."""
    arrays = {f"{task}.{f.name}": getattr(o, f.name) for task, o in outcomes.items() for f in fields(o)}
    temporary = path.with_suffix(".tmp.npz")
    np.savez_compressed(temporary, **arrays)
    temporary.replace(path)


def load(path: Path) -> dict[str, Outcome]:
    """Read what ``save`` wrote."""
    with np.load(path) as arrays:
        return {t: Outcome(*(arrays[f"{t}.{f.name}"] for f in fields(Outcome))) for t in TASKS}


def exact(task: str, outcome: Outcome) -> np.ndarray:
    """Whether the greedy text up to the end token is the answer, bool, ``[n]``."""
    gold = answer_tokens(held_out(task).answers())
    right: np.ndarray = np.all((outcome.greedy == gold) | (gold == PAD), axis=1)
    return right


def figures(task: str, outcome: Outcome) -> dict[str, float]:
    """The columns of the results table for one checkpoint and task.

    Position ``k`` counts answer tokens from the units up, the end token included; its accuracy is teacher-forced and
    over the problems whose answer has it. ``position_product`` is the exact match that independent positions would
    give, averaged over problems because their answers differ in length.
    """
    gold = answer_tokens(held_out(task).answers())
    real = gold != PAD
    by_position = [outcome.right[real[:, k], k].mean() for k in range(gold.shape[1]) if real[:, k].any()]
    profile = np.append(by_position, np.ones(gold.shape[1] - len(by_position)))
    product = np.where(real, profile, 1.0).prod(axis=1)
    right_choice = outcome.choice_logprob.argmax(axis=1) == held_out_choices(task)[1]
    return {
        "exact_match": exact(task, outcome).mean(),
        "token_accuracy": outcome.right[real].mean(),
        "position_product": product.mean(),
        "mean_gold_logprob": outcome.logprob[real].mean(),
        "mean_gold_probability": np.exp(outcome.logprob[real]).mean(),
        "answer_probability": np.exp(outcome.logprob.sum(axis=1)).mean(),
        "mc_accuracy": right_choice.mean(),
        **{f"position_{k}": float(v) for k, v in enumerate(by_position)},
    }
