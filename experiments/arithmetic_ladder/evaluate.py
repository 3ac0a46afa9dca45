"""Run checkpoints on the held-out problems; keeps what it found in ``work/outcomes`` and skips what is there.

``python -m experiments.arithmetic_ladder.evaluate`` takes every checkpoint whose weights can be read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from . import model, plan, weights
from .outcome import TASKS, Outcome, held_out, held_out_choices, outcome_path, save
from .problems import ANSWER, PAD, PROMPT, answer_tokens, prompt_tokens


def _log_probabilities(parameters: model.Parameters, prompts: Tensor, answers: Tensor) -> Tensor:
    """Log-probabilities of all tokens at each answer position, ``[n, ANSWER, vocabulary]``, given the right prefix."""
    logits = model.forward(parameters, torch.cat([prompts, answers[:, :-1]], dim=1))
    return logits[:, PROMPT - 1 :].log_softmax(-1)


def _greedy(parameters: model.Parameters, prompts: Tensor) -> Tensor:
    rows = prompts
    for _ in range(ANSWER):
        rows = torch.cat([rows, model.forward(parameters, rows)[:, -1:].argmax(-1)], dim=1)
    return rows[:, PROMPT:]


def _choices(parameters: model.Parameters, prompts: Tensor, task: str) -> tuple[np.ndarray, np.ndarray]:
    values, _ = held_out_choices(task)
    logprob, greedy = [], []
    for column in values.T:
        answers = torch.from_numpy(answer_tokens(column))
        digit = answers < 10
        logs = _log_probabilities(parameters, prompts, answers)
        logprob.append((logs.gather(-1, answers[..., None])[..., 0] * digit).sum(1).numpy())
        greedy.append(((logs.argmax(-1) == answers) | ~digit).all(1).numpy())
    return np.stack(logprob, axis=1), np.stack(greedy, axis=1)


def evaluate(parameters: model.Parameters, task: str) -> Outcome:
    """One checkpoint on one task."""
    problems = held_out(task)
    prompts = torch.from_numpy(prompt_tokens(problems))
    answers = torch.from_numpy(answer_tokens(problems.answers()))
    logs = _log_probabilities(parameters, prompts, answers)
    real = answers != PAD
    gold = logs.gather(-1, answers[..., None])[..., 0]
    return Outcome(
        _greedy(parameters, prompts).to(torch.int8).numpy(),
        torch.where(real, gold, 0.0).numpy(),
        ((logs.argmax(-1) == answers) | ~real).numpy(),
        *_choices(parameters, prompts, task),
    )


def pending() -> Iterator[tuple[plan.Run, int]]:
    """Checkpoints with weights and without an outcome."""
    for run in plan.all_runs():
        for step in weights.steps_available(run):
            if not outcome_path(run, step).exists():
                yield run, step


def main() -> None:
    """Evaluate what is pending."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    done = 0
    for run, step in pending():
        parameters = {n: torch.from_numpy(v).float() for n, v in weights.read(run, step).items()}
        path = outcome_path(run, step)
        path.parent.mkdir(parents=True, exist_ok=True)
        save({task: evaluate(parameters, task) for task in TASKS}, path)
        done += 1
    print(f"evaluated {done} checkpoints", flush=True)


if __name__ == "__main__":
    main()
