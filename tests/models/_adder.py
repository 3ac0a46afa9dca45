"""A language model of known skill behind a server: it gets each digit right with a probability that its name states."""

from __future__ import annotations

import hashlib
import math
import re

from ._server import Call, completion

QUESTION = re.compile(r"What is (\d+) (plus|times) (\d+)\?")


def skill_of(model: str) -> float:
    """``tiny-0.9`` gets a digit right with probability .9."""
    return float(model.rpartition("@")[2])


def answer_of(prompt: str) -> str:
    a, sign, b = QUESTION.findall(prompt)[-1]
    return str(int(a) + int(b) if sign == "plus" else int(a) * int(b))


def draw(*parts: str) -> float:
    """A number in [0, 1) from a text."""
    return int.from_bytes(hashlib.sha256("/".join(parts).encode()).digest()[:6], "big") / 2**48


def digit_probability(model: str, prompt: str, place: int) -> float:
    """Probability of the right digit: the skill, moved a little by the item on the logit."""
    skill = skill_of(model)
    shift = 0.8 * (draw(prompt, str(place)) - 0.5)
    return 1 / (1 + math.exp(-(math.log(skill / (1 - skill)) + shift)))


def answer(call: Call) -> None:
    """Completions of a model that adds and multiplies digit by digit."""
    prompt, model = call.body["prompt"], call.body["model"]
    question, _, given = prompt.rpartition("A:")
    truth = answer_of(question)
    chances = [digit_probability(model, question, place) for place in range(len(truth))]
    if call.body.get("echo"):
        digits = [(c, math.log(p)) for c, p in zip(given.strip(), chances, strict=True)]
        tokens = [(question, None), ("A:", -0.1), (" ", -0.01), *digits, ("\n", -0.5)]
        call.json(completion("".join(text for text, _ in tokens), tokens))
        return
    call.json(completion(f" {written(model, question, truth, chances)}", [(" ", -0.01)]))


def written(model: str, question: str, truth: str, chances: list[float]) -> str:
    """The answer: each digit right, or the next one."""
    right = [draw(model, question, str(place), "said") < p for place, p in enumerate(chances)]
    return "".join(c if ok else str((int(c) + 1) % 10) for c, ok in zip(truth, right, strict=True))
