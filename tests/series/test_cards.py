"""models.toml wins over the log, the log over the name; every guess stays marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreshock._base import ConfigError
from foreshock.records import ModelCard, Run
from foreshock.series import dump_models, family_label, load_models, model_cards


def run(model: str, **facts: object) -> Run:
    return Run(run_key=model, format="test", reader="test@1", model=model, task="t", **facts)  # type: ignore[arg-type]


def test_the_log_wins_over_the_name_and_the_file_over_both(tmp_path: Path) -> None:
    logged = run("lab/pythia-70m", card=ModelCard(parameters=70_426_624.0))
    card = model_cards([logged])["lab/pythia-70m"]
    assert (card.parameters, card.family, card.guesses) == (70_426_624.0, "pythia", ["family", "organisation"])
    path = tmp_path / "models.toml"
    path.write_text('[models."lab/pythia-70m"]\nfamily = "mine"\n')
    corrected = model_cards([logged], load_models(path))["lab/pythia-70m"]
    assert (corrected.family, corrected.guesses) == ("mine", ["organisation"])


def test_model_arguments_in_the_header_add_the_step() -> None:
    logged = run("pythia-70m", meta={"model_args": "pretrained=EleutherAI/pythia-70m,revision=step512"})
    assert model_cards([logged])["pythia-70m"].step == 512


@pytest.mark.parametrize(
    ("source", "meta"),
    [
        ("tag", {"tags": ["nightly", "ckpt-3000"]}),
        ("metadata", {"metadata": {"note": "x", "step": 3000}}),
        ("model_args", {"model_args": {"revision": "step3000"}}),
        ("model_args", {"model_args": "pretrained=lab/m,revision=step3000"}),
    ],
)
def test_the_step_is_found_where_the_user_says_it_is(source: str, meta: dict[str, object]) -> None:
    assert model_cards([run("lab/m-step1", meta=meta)], step_from=source)["lab/m-step1"].step == 3000
    assert model_cards([run("lab/m-step1")], step_from=source)["lab/m-step1"].step == 1
    with pytest.raises(ConfigError, match="source of steps"):
        model_cards([run("lab/m")], step_from="stars")


def test_written_cards_read_back_as_they_were(tmp_path: Path) -> None:
    names = ["EleutherAI/pythia-1.4b", 'odd "name"\n\x7f é', "Mixtral-8x7B"]
    cards = {name: model_cards([run(name)])[name] for name in names}
    path = tmp_path / "models.toml"
    path.write_text(dump_models(cards), "utf-8")
    again = load_models(path)
    assert {n: {f: getattr(c, f) for f in c.__struct_fields__ if f != "guesses"} for n, c in again.items()} == {
        n: {f: getattr(c, f) for f in c.__struct_fields__ if f != "guesses"} for n, c in cards.items()
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[models.a]\nfamly = 'x'\n", "'famly' of 'a'"),
        ("[models.a]\nparameters = 'many'\n", "of 'a'"),
        ("models = 3\n", "models is 3"),
        ("[models]\nx = 1\n", "'x' in models is 1"),
        ("[[models.a]]\nfamily = 'x'\n", "'a' in models is"),
        ("[model.a]\nfamily = 'x'\n", "'model' stands outside"),
        ("family = 'x'\n[models.a]\n", "'family' stands outside"),
        ("[", "TOML"),
        ("x = " + "[" * 100_000, "nested"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"models\.toml") as caught:
        load_models(path)
    assert found in str(caught.value)


def test_a_folder_or_a_dangling_link_is_not_an_absent_file(tmp_path: Path) -> None:
    assert load_models(tmp_path / "none.toml") == {}
    (tmp_path / "models.toml").mkdir()
    (tmp_path / "link.toml").symlink_to(tmp_path / "nowhere")
    for name in ("models.toml", "link.toml"):
        with pytest.raises(ConfigError, match="cannot be read"):
            load_models(tmp_path / name)


def test_base_and_instruct_are_different_families() -> None:
    cards = model_cards([run("gemma-2-9b"), run("gemma-2-9b-it")])
    assert {family_label(card) for card in cards.values()} == {"gemma-2", "gemma-2-instruct"}
