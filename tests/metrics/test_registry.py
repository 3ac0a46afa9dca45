"""How metrics are declared, found, named and sent to another process."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest

from foreshock._base import MetricError, load_plugins
from foreshock.metrics import MetricSpec, Response, get_metric, harness_metric, list_metrics, metric, score_batch

PLUGIN = '''
"""A stranger's package."""
from foreshock.metrics import metric

@metric(kind="continuous", needs=("output",), range=(0, 1))
def shouting(*, least: int = 1):
    """Share of capital letters."""
    def score(response):
        letters = [c for c in response.output if c.isalpha()]
        return sum(map(str.isupper, letters)) / len(letters) if len(letters) >= least else None
    return score
'''


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A package as an installer leaves it: a module and a .dist-info with entry points."""

    def install(points, **modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        info = tmp_path / "stranger-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[foreshock.metrics]\n" + "\n".join(points) + "\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        load_plugins.cache_clear()
        return tmp_path

    yield install
    load_plugins.cache_clear()
    for name in ("stranger_loud", "stranger_broken"):
        sys.modules.pop(name, None)


def _score_elsewhere(spec, columns):
    return score_batch(spec, columns)


def test_a_plugin_adds_a_metric_here_and_in_other_processes(plugin, monkeypatch):
    folder = plugin(["shouting = stranger_loud:shouting"], stranger_loud=PLUGIN)
    spec = get_metric("shouting", least=2)
    columns = {"output": ["AbC", "a", None]}
    found = score_batch(spec, columns)
    assert found.values == [pytest.approx(2 / 3), None, None]
    assert found.statuses == ["scored", "unparsed", "needs"]
    assert "shouting" in [m.name for m in list_metrics()]
    monkeypatch.setenv("PYTHONPATH", str(folder))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(score_batch, spec, columns).result() == found


def test_a_broken_plugin_is_a_warning(plugin):
    plugin(
        ["bad = stranger_broken:x", "odd = stranger_loud:PLUGIN_NAME", "shouting2 = stranger_loud"],
        stranger_broken="1/0",
        stranger_loud=PLUGIN.replace("def shouting", "def shouting2") + "\nPLUGIN_NAME = 'text'\n",
    )
    with pytest.warns(RuntimeWarning) as caught:
        spec = get_metric("shouting2")
    assert spec(Response(output="AB")) == 1
    told = " ".join(str(w.message) for w in caught)
    assert "ZeroDivisionError" in told
    assert "'odd' of metrics is a str" in told


def test_a_spec_pickles_as_itself():
    for spec in [
        *list_metrics(),
        get_metric("exact_match", normalise="casefold"),
        get_metric("pass_rate", threshold=0.5),
    ]:
        data = pickle.dumps(spec)
        back = pickle.loads(data)
        assert back == spec
        assert back.id == spec.id
        assert hash(back) == hash(spec)
        assert b"function" not in data or len(data) < 400


def test_the_id_holds_name_version_and_parameters():
    spec = get_metric("exact_match")
    name, _, rest = spec.id.partition("@")
    version, _, digest = rest.partition("+")
    assert (name, version, len(digest)) == ("exact_match", "1", 8)
    assert get_metric("exact_match", normalise="strip") == spec
    assert get_metric("exact_match", normalise="casefold").id != spec.id
    assert get_metric("exact_match(normalise=strip+casefold)") == get_metric("exact_match", normalise="strip+casefold")
    for each in list_metrics():
        assert get_metric(str(each)) == each
    assert get_metric(str(get_metric("pass_rate", of="char_similarity", threshold=0.9))).params[1] == ("threshold", 0.9)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("exact_mach", {}, "did you mean 'exact_match'"),
        ("zzz", {}, "there is no metric 'zzz'"),
        ("exact_match", {"normalize": "strip"}, "unexpected keyword argument 'normalize'"),
        ("exact_match", {"normalise": "lower"}, "no normalisation 'lower'"),
        ("exact_match(normalise", {}, "no closing bracket"),
        ("exact_match(strip)", {}, "has no value"),
        ("multiple_choice_grade", {"ties": "last"}, "one of first, split, wrong"),
        ("char_similarity", {"choices": "yes"}, "refuse or allow"),
        ("brier", {"form": "log"}, "multiclass, binary"),
        ("gold_logprob", {"per": "word"}, "answer or token"),
        ("position_accuracy", {"align": "middle"}, "left or right"),
        ("numeric_closeness", {"pick": "best"}, "last, first, only"),
        ("pass_rate", {"of": "nothing"}, "there is no metric 'nothing'"),
    ],
)
def test_mistakes_are_explained(name, params, message):
    with pytest.raises(MetricError) as caught:
        get_metric(name, **params)
    assert message in str(caught.value)


def test_misdeclared_metrics_are_refused():
    for wrong in ({"kind": "soft"}, {"link": "sum"}, {"grain": "suite"}):
        with pytest.raises(MetricError, match="is unknown"):
            metric(**{"kind": "hard", "needs": ("answer",), **wrong})
    with pytest.raises(MetricError, match="not a column"):
        metric(kind="hard", needs=("anwser",))
    with pytest.raises(MetricError, match="not a column"):
        metric(kind="hard", needs="answer")
    with pytest.raises(MetricError, match="not a column"):
        metric(kind="hard", needs=("answer",), unless=("choice",))


def test_a_name_belongs_to_one_metric_but_a_cell_may_be_run_again():
    def define():
        @metric(kind="hard", needs=("answer",), name="test_again")
        def again():
            return len

        return again

    assert define() is not define()
    with pytest.raises(MetricError, match=r"taken by .*define.*again"):
        metric(kind="hard", needs=("answer",), name="test_again")(lambda: len)
    with pytest.raises(MetricError, match="taken by foreshock"):
        metric(kind="hard", needs=("answer",), name="brier")(lambda: len)


def test_every_built_in_declares_itself():
    for spec in list_metrics():
        if spec.name.startswith(("test_", "doc_", "shouting")):
            continue
        assert isinstance(spec, MetricSpec)
        assert spec.factory.make.__doc__
        assert spec.needs
        assert spec.name in spec.factory.origin
        twins = [get_metric(t) for t in spec.twins]
        assert all(t.kind == "continuous" for t in twins)
        # whether a response was declined has nothing continuous beneath it in a log
        assert bool(twins) == (spec.kind == "hard" and spec.name not in ("refused", "refusal_phrase"))
    assert get_metric("multiple_choice_grade").chance(4) == 0.25
    assert get_metric("multiple_choice_grade").chance() is None
    assert get_metric("brier").chance(4) == 0.75
    assert get_metric("brier", form="binary").chance(2) == 0.25
    assert get_metric("brier", form="binary").high == 1
    assert get_metric("exact_match").chance() == 0
    assert get_metric("gold_logprob", per="token").needs == (("gold_token_logprobs",),)


def test_loading_the_room_loads_no_heavy_package():
    import subprocess

    code = (
        "import sys, foreshock.metrics as m; m.get_metric('exact_match'); m.harness_metric('acc');"
        "print([x for x in ('rapidfuzz', 'polars', 'scipy', 'duckdb', 'numpy') if x in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "kind", "link", "low", "high", "up"),
    [
        ("acc", "hard", "argmax", 0, 1, True),
        ("acc_norm,none", "hard", "argmax", 0, 1, True),
        ("exact_match,strict-match", "hard", "all-of-N", 0, 1, True),
        ("inspect_ai/choice", "hard", "argmax", 0, 1, True),
        ("model_graded_qa(partial_credit = TRUE)", "hard", "threshold", 0, 1, True),
        ("includes", "hard", "any-of-T", 0, 1, True),
        ("bleu", "hard", "all-of-N", 0, 100, True),
        ("ppl", "continuous", None, 1, None, False),
        ("brier_score", "continuous", "identity", 0, 2, False),
        ("rougeLsum", "hard", None, 0, 1, True),
        ("f1", None, None, 0, 1, True),
    ],
)
def test_names_of_other_harnesses(name, kind, link, low, high, up):
    found = harness_metric(name)
    assert (found.kind, found.link, found.low, found.high, found.higher_is_better) == (kind, link, low, high, up)


def test_an_unknown_name_is_not_guessed():
    assert harness_metric("accounting") is None
    assert harness_metric("") is None


def test_lm_eval_metrics_of_real_logs_are_known(shared_data):
    import json

    names = set()
    for path in (shared_data / "logs" / "lm_eval_0.3").rglob("*.json"):
        for row in json.loads(path.read_text())["results"].values():
            names |= {name for name in row if not name.endswith("_stderr")}
    assert {"acc", "ppl"} <= names
    assert [name for name in sorted(names) if harness_metric(name) is None] == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list_metrics()
