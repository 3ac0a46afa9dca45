"""The ground floor: errors survive pickling, equal values have equal bytes, broken plugins warn."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreshock import _base
from foreshock._base import BrokenFileError, ConfigError, ForeshockError, canonical, digest, load_config, load_plugins

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_an_error_says_where_what_and_what_to_do_and_survives_a_worker() -> None:
    error = BrokenFileError("no central directory", expected="a zip", do="copy it again", where="a.eval")
    assert str(error) == "a.eval: no central directory; expected a zip; copy it again"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is BrokenFileError
    assert str(again) == str(error)


def test_every_error_is_in_the_tree_that_the_module_prints() -> None:
    text = _base._errors.__doc__ or ""
    kinds = [v for v in vars(_base).values() if isinstance(v, type) and issubclass(v, ForeshockError)]
    assert kinds
    for kind in kinds:
        assert kind.__name__ in text


@given(JSON)
def test_the_canonical_form_does_not_depend_on_key_order(value: object) -> None:
    def turned(v: object) -> object:
        if isinstance(v, dict):
            return {k: turned(v[k]) for k in reversed(list(v))}
        return [turned(x) for x in v] if isinstance(v, list) else v

    assert canonical(value) == canonical(turned(value))
    assert digest(value) == digest(turned(value))


def test_configuration_is_found_upwards_and_unknown_keys_are_refused(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "foreshock.toml").write_text('store = "logs/.fs"\nfail_on = ["FS301"]\n')
    config, place = load_config(deep)
    assert (config.store, config.fail_on, place) == ("logs/.fs", ["FS301"], tmp_path)
    (tmp_path / "foreshock.toml").write_text("stroe = 'x'\n")
    with pytest.raises(ConfigError, match="stroe"):
        load_config(deep)
    (tmp_path / "foreshock.toml").write_text("store = \n")
    with pytest.raises(ConfigError, match="TOML"):
        load_config(deep)


def test_pyproject_counts_only_with_our_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert load_config(tmp_path)[0] == _base.Config()
    (tmp_path / "pyproject.toml").write_text("[tool.foreshock]\nseed = 7\n")
    assert load_config(tmp_path)[0].seed == 7


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("foreshock.toml", 'store = "a\\u0000b"\n'),
        ("foreshock.toml", 'models = "a\\u0000b"\n'),
        ("foreshock.toml", "seed = -1\n"),
        ("foreshock.toml", "x = " + "[" * 100_000),
        ("foreshock.toml", "seed = " + "9" * 5_000),
        ("pyproject.toml", "tool = 1\n"),
        ("pyproject.toml", "[tool]\nforeshock = 1\n"),
        ("pyproject.toml", "x = " + "[" * 100_000),
    ],
)
def test_a_configuration_that_says_something_impossible_is_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
        load_config(tmp_path)


def test_a_broken_plugin_is_a_warning_and_the_good_one_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise RuntimeError("no GPU")

    points = [
        SimpleNamespace(name="bad", value="p:bad", load=broken),
        SimpleNamespace(name="good", value="p:good", load=lambda: 42),
    ]
    monkeypatch.setattr(_base._plugins, "entry_points", lambda group: points)
    load_plugins.cache_clear()
    with pytest.warns(RuntimeWarning, match="bad.*no GPU"):
        assert load_plugins("tests") == {"good": 42}
    load_plugins.cache_clear()
