"""Training with torch: slow by mark, because the package and its tests do not need torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.arithmetic_ladder import plan

pytestmark = pytest.mark.slow


@pytest.fixture
def short_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    train = pytest.importorskip("experiments.arithmetic_ladder.train")
    monkeypatch.setattr(plan, "STEPS", 60)
    monkeypatch.setattr(plan, "CHECKPOINTS", (0, 20, 60))
    monkeypatch.setattr(train, "SAVE_EVERY", 20)
    train.torch.set_num_threads(1)


@pytest.mark.usefixtures("short_plan")
def test_a_killed_run_ends_with_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.arithmetic_ladder import train

    run = plan.Run("learn", 16, 1)
    train.Trainer(run, tmp_path / "whole").train()
    broken = train.Trainer(run, tmp_path / "broken")
    update = broken._update

    def dies() -> float:
        if broken.step == 47:
            raise KeyboardInterrupt
        return update()

    monkeypatch.setattr(broken, "_update", dies)
    with pytest.raises(KeyboardInterrupt):
        broken.train()
    again = train.Trainer(run, tmp_path / "broken")
    assert again.step == 40
    again.train()
    whole, resumed = (sorted((tmp_path / d).glob("*.safetensors")) for d in ("whole", "broken"))
    assert [p.name for p in whole] == [p.name for p in resumed]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(whole, resumed, strict=True))


@pytest.mark.usefixtures("short_plan")
def test_parameter_counts_are_exact(tmp_path: Path) -> None:
    from experiments.arithmetic_ladder import model, train

    for width in plan.WIDTHS:
        trainer = train.Trainer(plan.Run("learn", width, 1), tmp_path / str(width))
        assert sum(p.numel() for p in trainer.parameters.values()) == model.parameter_count(width)
