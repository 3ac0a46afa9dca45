"""Forecasts of a store: every watched metric, and twins of totals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from foreshock._base import AlarmsConfig, ConfigError
from foreshock.check import CheckOptions, ForecastOptions, Wanted, forecast_document
from foreshock.readers import ReadOptions
from foreshock.records import Batch, ModelCard, Run
from foreshock.store import Store, add_paths

ITEMS = 20


@pytest.fixture
def agents(tmp_path: Path) -> Store:
    """Releases whose chains of tool calls grow, as raw responses that nothing has scored yet."""
    store = Store.open(tmp_path / "store", create=True)
    for number in range(6):
        calls = 1 + number
        facts = {"model": f"lab/agent-{number}", "task": "errand", "created": f"2026-01-0{1 + number}T00:00:00+00:00"}
        run = Run(run_key=f"r{number}", format="test", reader="test@1", expected=ITEMS,
                  card=ModelCard(family="agent", parameters=1e9 * 2**number), **facts)  # fmt: skip
        rows = list(range(ITEMS))
        texts = {"item_id": [str(i) for i in rows], "delivery": ["ok"] * ITEMS, "output": ["done"] * ITEMS}
        steps = {"row": [i for i in rows for _ in range(calls)], "seq": list(range(calls)) * ITEMS}
        kinds = {"kind": ["tool"] * calls * ITEMS, "name": ["search"] * calls * ITEMS}
        right = {"row": rows, "metric_id": ["match"] * ITEMS, "source": ["harness"] * ITEMS,
                 "value": [float(i <= 2 * number) for i in rows], "status": ["scored"] * ITEMS}  # fmt: skip
        batches = [
            Batch("responses", {"row": rows, **texts}),
            Batch("trace", {**steps, **kinds}),
            Batch("scores", right),
        ]
        store.write(run, batches)
    return store


def test_a_metric_of_traces_is_forecast_on_a_store_that_nothing_was_scored_in(agents: Store) -> None:
    asked = ForecastOptions(metrics=["tool_calls*"], wanted=Wanted(next=True))
    made = forecast_document(agents, asked=asked)
    (row,), (curve,) = made.tables["forecast"], made.tables["curves"]
    assert row["metric"].startswith("tool_calls")
    assert [p["value"] for p in curve["points"]] == [1, 2, 3, 4, 5, 6]


def test_metrics_that_are_not_watched_are_not_scored(agents: Store) -> None:
    asked = ForecastOptions(metrics=["tool_calls*"], wanted=Wanted(next=True))
    with pytest.raises(ConfigError, match="no metric fits tool_calls"):
        forecast_document(agents, asked=asked, alarms=AlarmsConfig(metrics=[]))
    made = forecast_document(agents, asked=ForecastOptions(wanted=Wanted(next=True)))
    assert {row["metric"] for row in made.tables["forecast"]} == {"match"}


def test_a_date_that_no_model_has_is_told_from_the_dates_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,day,task,acc\n" + "".join(f"m{k},2025-0{k + 1}-01,t,0.{k + 2}\n" for k in range(6)))
    store = Store.open(tmp_path / "store", create=True)
    add_paths(store, [path], ReadOptions(csv={"y": "acc", "group": "task", "model": "name", "date": "day"}))
    with pytest.raises(ConfigError, match="no model says when it was released") as told:
        forecast_document(store, asked=ForecastOptions(wanted=Wanted(dates=[20_600.0])))
    assert "when its scores were made" in str(told.value)
    assert "--csv TABLE --date COLUMN" in str(told.value)


def test_dates_of_release_of_a_table_serve_a_date(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"m{k},2025-0{k + 1}-01,t,0.{k + 2},300\n" for k in range(6))
    path.write_text("name,Release date,task,acc,n\n" + rows)
    store = Store.open(tmp_path / "store", create=True)
    roles = {"y": "acc", "group": "task", "model": "name", "date": "Release date"}
    add_paths(store, [path], ReadOptions(csv=roles, n="n"))
    made = forecast_document(store, asked=ForecastOptions(wanted=Wanted(dates=[20_270.0])))
    (row,) = made.tables["forecast"]
    assert (row["axis"], row["x"], row["refused"]) == ("released", 20_270.0, None)
    assert row["low"] < row["y_hat"] < row["high"]


def test_totals_are_forecast_through_the_twin_that_a_check_draws_beside_them(tmp_path: Path) -> None:
    size = np.geomspace(1e8, 3e10, 8)
    loss = 2 + 3 * (size / 1e8) ** -0.2
    acc, ppl = 1 / (1 + np.exp(4 * (loss - 3.2))), np.exp(loss)
    store = Store.open(tmp_path / "store", create=True)
    path = tmp_path / "totals.csv"
    lines = [
        f"m{k},f,{size[k]:.0f},lambada_openai,{name},{value}"
        for k in range(8)
        for name, value in (("acc", acc[k]), ("perplexity", ppl[k]))
    ]
    path.write_text("model,family,size,task,metric,score\n" + "\n".join(lines) + "\n")
    roles = {"x": "size", "y": "score", "group": "task", "family": "family", "model": "model", "metric": "metric"}
    add_paths(store, [path], ReadOptions(csv=roles))
    asked = ForecastOptions(wanted=Wanted(next=True), metrics=["acc"])
    made = forecast_document(store, CheckOptions(), asked=asked)
    assert [row["route"] for row in made.tables["forecast"]] == ["direct", "two-stage"]
    assert "perplexity is forecast and read through" in " ".join(made.tables["curves"][0]["notes"])
