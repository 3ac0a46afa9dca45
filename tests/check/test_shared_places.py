"""Several models of one family and size are not seeds of one model."""

from __future__ import annotations

from foreshock.check._lines import _checks
from foreshock.check._measures import Measure
from foreshock.records import ModelCard, Run
from foreshock.series import lines


def _told(models: dict[str, tuple[float, int | None]]) -> dict[str, tuple[str, str]]:
    runs = [Run(run_key=name, format="test", reader="test@1", model=name, task="t") for name in models]
    cards = {
        name: ModelCard(name=name, family="f", parameters=size, seed=seed) for name, (size, seed) in models.items()
    }
    (line,) = lines(runs, cards)
    measure = Measure.__new__(Measure, *([None] * len(Measure._fields)))
    return dict(_checks(line, measure, None))


def test_models_that_share_a_size_are_named_and_do_not_stand_for_seeds() -> None:
    told = _told({"base": (1e9, None), "base-large": (7e9, None), "coder": (7e9, None)})
    status, why = told["models that share a place"]
    assert status == "possible"
    assert why.startswith("7B (2 models): ")
    assert told["seeds"][0] == "possible"


def test_seeds_of_one_model_are_left_alone() -> None:
    told = _told({"a": (1e9, 1), "b": (1e9, 2), "c": (7e9, 1), "d": (7e9, 2)})
    assert not {"models that share a place", "seeds"} & told.keys()
