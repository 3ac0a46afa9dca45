"""The named worlds of ``mirage_worlds.py``: what is true in each, and what should be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from foreshock.simulate import World, attempt_world, choice_world, graded_world, suite_world, token_world

FALSE_BREAK, MEAN_FALSE_BREAK = 0.068, 0.052
STEPS = (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Goal:
    """What a cell should reach.

    ``said`` is a verdict, or ``family`` (FS302 says break); ``of`` is ``others`` (tasks without a step), ``steps``
    (tasks with one) or ``suites``.
    """

    said: str
    of: str
    least: float = 0.0
    most: float = 1.0


@dataclass(frozen=True)
class Cell:
    """One named kind of world.

    ``truth``: ``null`` (in the smooth class; no break may be said), ``step``, ``table`` (steps of several sizes, each
    its own row), ``common`` (a step at one model in all tasks) or ``outside`` (steeper than the class, but no step).
    ``tasks`` of 1 is a line that stands alone: its noise is known from itself.
    """

    name: str
    truth: str
    knobs: dict[str, Any]
    tasks: int = 1
    trajectory: bool = False
    link: str | None = None
    parts_known: bool = True
    goals: tuple[Goal, ...] = ()

    def worlds(self, rng: np.random.Generator) -> list[World]:
        """One family of models on ``tasks`` tasks."""
        knobs = dict(self.knobs)
        if self.truth == "table":
            knobs["share"] = float(rng.choice(STEPS))
        if self.tasks == 1:
            knobs.setdefault("correlation", 0.0)
        return suite_world(rng, tasks=self.tasks, **knobs)


_MIXED = [1, 2, 4, 7, 10]
_TOKENS: dict[str, Any] = {"make": token_world, "lengths": _MIXED, "positions": False}
_CHOICES: dict[str, Any] = {"make": choice_world}
# equal items without spread: the textbook p^10, sharp on its own scale (2.7 times its mean slope)
_SHARP: dict[str, Any] = {
    "lengths": 10,
    "difficulty": 0.0,
    "surprise": 0.0,
    "start": 1.5,
}
_SUITE = 20
_UNEQUAL = np.linspace(0.05, 0.3, _SUITE)
_SHAPES = [{"shape": s} for s in ("linear", "sigmoid", "soft knee", "loss floor")]
_SIZES = [
    {"items": 100, "lengths": 1},
    {"items": 300, "lengths": _MIXED},
    {"items": 1000, "lengths": 10},
    {"items": 5000, "lengths": list(range(1, 11))},
]
_RUN: dict[str, Any] = {"points": 20, "chain": 0.5, "items": 500, "noise": 0.1}
_NO_BREAK = Goal("break", "others", most=FALSE_BREAK)
_SMOOTH = Goal("smooth", "others", least=0.85)


def _null(name: str, *more: Goal, tasks: int = 1, kind: dict[str, Any] = _TOKENS, **facts: Any) -> Cell:
    own = {k: facts.pop(k) for k in ("trajectory", "link", "parts_known") if k in facts}
    return Cell(name, "null", kind | facts, tasks, goals=(_NO_BREAK, *more), **own)


def _step(name: str, *goals: Goal, tasks: int = 1, truth: str = "step", **knobs: Any) -> Cell:
    return Cell(name, truth, _TOKENS | {"breaking": 1.0} | knobs, tasks, goals=goals)


def _alone() -> list[Cell]:
    uneven: dict[str, Any] = {"uneven": True, "points": 6}
    return [
        _null("linear, 8 models, noise .1", _SMOOTH),
        _null("linear, 5 models, noise .3, 100 items", points=5, noise=0.3, items=100),
        _null("sigmoid 1.8, 8 models, noise .1", _SMOOTH, shape="sigmoid"),
        _null("logit-linear .05-.97, one token, 8 models, noise .1", _SMOOTH, linked="logit", start=3.0, rise=6.42,
              lengths=1),
        _null("soft knee, 8 models, noise .1", _SMOOTH, shape="soft knee"),
        _null("loss floor, 6 uneven models, noise .05", shape="loss floor", noise=0.05, **uneven),
        _null("soft knee, one outlier of 10, noise .3", shape="soft knee", points=10, noise=0.3, tails="outlier"),
        _null("linear, 6 models, t3 noise .2", tails="t3", noise=0.2, points=6),
        _null("linear, 20 checkpoints, AR .5", trajectory=True, **_RUN),
    ]  # fmt: skip


def _suites() -> list[Cell]:
    many: dict[str, Any] = {"tasks": _SUITE, "correlation": 0.5}
    return [
        _null("suite: sigmoid 1.8, 8 models, noise .05-.3", shape="sigmoid", noise=_UNEQUAL, **many),
        _null("suite: four shapes, 8 models, noise .05-.3, 30% of tasks break",
              Goal("break", "steps", least=0.5), each=_SHAPES, noise=_UNEQUAL, breaking=0.3, **many),
        _null("suite: one model off in all tasks, 8 models, noise .1", tails="outlier model", each=_SHAPES, **many),
        _null("suite: 6 models, t3 noise .05-.3", tails="t3", noise=_UNEQUAL, points=6, each=_SHAPES, **many),
        _null("suite: 20 checkpoints, AR .5, noise .05-.3", trajectory=True, **(_RUN | {"noise": _UNEQUAL}), **many),
        _null("suite: 100-5,000 items, lengths 1-10, 6 models, noise .2", each=_SIZES, noise=0.2, points=6,
              shape="sigmoid", **many),
    ]  # fmt: skip


def _links() -> list[Cell]:
    return [
        _null("all-of-N with dependence .4, sigmoid 1.8, 8 models", lengths=_MIXED, dependence=0.4, shape="sigmoid"),
        _null("any of 8 attempts, sigmoid 1.8, 8 models", kind={"make": attempt_world}, shape="sigmoid"),
        _null("any of 8, number not told, rates by loss, 6 models", kind={"make": attempt_world}, linked="loss",
              start=0.003, rise=2.2, points=6, parts_known=False),
        _null("choices, sigmoid 1.8, 6 models, noise .2", kind=_CHOICES, shape="sigmoid", points=6, noise=0.2),
        _null("threshold on a graded score, sigmoid 1.8, 8 models", kind={"make": graded_world}, shape="sigmoid"),
        _null("identity: one token, sigmoid 1.8, 8 models", link="identity", lengths=1, shape="sigmoid"),
    ]  # fmt: skip


def _sharp() -> list[Cell]:
    return [
        _null("10 equal tokens, 6 models, noise .1", Goal("mirage", "others", least=0.9), points=6, **_SHARP),
        _null("10 equal tokens, 12 models, noise .2", Goal("mirage", "others", least=0.55), points=12, noise=0.2,
              **_SHARP),
    ]  # fmt: skip


def _steps() -> list[Cell]:
    suite: dict[str, Any] = {"tasks": _SUITE, "correlation": 0.5}
    found, no_mirage = Goal("break", "steps", least=0.95), Goal("mirage", "steps", most=0.02)
    return [
        _step("step 80%, 8 models, noise .2, alone", Goal("break", "steps", least=0.85), no_mirage, share=0.8,
              noise=0.2),
        _step("suite: step 80%, 8 models, noise .2", found, no_mirage, share=0.8, noise=0.2, **suite),
        _step("suite: step 80%, 5 models, noise .1", found, no_mirage, share=0.8, points=5, **suite),
        _step("10 equal tokens, step of 65-90%, 8 models, noise .1", no_mirage, share=(0.65, 0.9), **_SHARP),
        _step("steps of 10-50%, 8 models, noise .1", truth="table"),
        Cell("suite: one step of 80% in all tasks, 8 models, noise .2", "common",
             _TOKENS | {"common_step": 0.8, "noise": 0.2, "correlation": 0.5}, _SUITE,
             goals=(Goal("family", "suites", least=0.95),)),
    ]  # fmt: skip


def cells() -> list[Cell]:
    """At most 30 named cells."""
    outside = Cell("steep sigmoid 2.5, 8 models, noise .1", "outside", _TOKENS | {"shape": "steep sigmoid"})
    return [*_alone(), *_suites(), *_links(), *_sharp(), *_steps(), outside]
