"""Semantic similarity by word vectors: what it sees, what it does not, and files that are none."""

from __future__ import annotations

import math
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from foreshock._base import BrokenFileError, ConfigError, MetricError, MissingExtraError, ModelError
from foreshock.metrics import MetricSpec, get_metric, score_batch, use_vectors
from foreshock.metrics._semantic import LIMIT, VARIABLE
from foreshock.metrics._vectors import WordVectors, load_vectors

TABLE = {
    "the": (1.0, 1.0, 1.0),
    "of": (1.0, 1.0, 0.9),
    "car": (3.0, 0.2, 0.0),
    "automobile": (2.8, 0.4, 0.1),
    "red": (0.0, 3.0, 0.1),
    "blue": (0.1, 2.6, -0.9),
    "stone": (-2.0, 0.0, 2.5),
}


@pytest.fixture(autouse=True)
def own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr("foreshock.metrics._semantic._known", {})


@pytest.fixture
def vec(tmp_path: Path) -> Path:
    path = tmp_path / "small.vec"
    lines = [f"{len(TABLE)} 3", *(f"{word} {' '.join(map(str, row))}" for word, row in TABLE.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


def value(spec: MetricSpec, answer: str, *targets: str) -> float:
    found = spec({"answer": answer, "targets": list(targets)})
    assert isinstance(found, float)
    return found


def by_hand(answer: str, target: str, weight: dict[str, float] | None = None) -> float:
    """Cosine of the sums in the space of all words, unknown ones as axes of their own."""
    length = math.sqrt(sum(x * x for row in TABLE.values() for x in row) / len(TABLE))
    strange = sorted({w for t in (answer, target) for w in t.split() if w not in TABLE})
    sums = []
    for text in (answer, target):
        total = np.zeros(3 + len(strange))
        for word in text.split():
            if word in TABLE:
                total[:3] += np.array(TABLE[word]) * (weight or {}).get(word, 1.0)
            else:
                total[3 + strange.index(word)] += length
        sums.append(total)
    a, b = sums
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("the red car", "the red automobile"),
        ("the red car", "the blue stone"),
        ("car 17", "car 18"),
        ("zebra", "zebra stone"),
        ("17 17", "17 car"),
    ],
)
def test_the_value_is_the_cosine_of_the_sums(vec: Path, answer: str, target: str) -> None:
    spec = use_vectors(vec)
    assert value(spec, answer, target) == pytest.approx(by_hand(answer, target), abs=1e-6)


def test_frequent_words_count_little_with_sif(vec: Path, tmp_path: Path) -> None:
    harmonic = sum(1 / k for k in range(1, len(TABLE) + 1))
    weight = {word: 1e-3 / (1e-3 + 1 / k / harmonic) for k, word in enumerate(TABLE, start=1)}
    spec = use_vectors(vec, weighting="sif")
    assert value(spec, "the of car", "the of stone") == pytest.approx(by_hand("the of car", "the of stone", weight))
    counts = np.array([1000, 900, 3, 2, 5, 4, 1])
    share = dict(zip(TABLE, counts / counts.sum(), strict=True))
    npz = tmp_path / "t.npz"
    np.savez(npz, words=np.array(list(TABLE)), vectors=np.array(list(TABLE.values())), counts=counts)
    spec = use_vectors(npz, weighting="sif")
    weight = {word: 1e-3 / (1e-3 + p) for word, p in share.items()}
    assert value(spec, "the car", "the stone") == pytest.approx(by_hand("the car", "the stone", weight), abs=1e-6)


def test_what_it_sees_and_what_it_does_not(vec: Path) -> None:
    spec = use_vectors(vec)
    assert value(spec, "car", "car") == 1.0
    assert value(spec, "automobile", "car") > 0.95 > value(spec, "stone", "car")
    assert value(spec, "zebra", "zebra") == 1.0
    assert value(spec, "zebra", "giraffe") == 0.0
    assert value(spec, "in 1889", "in 1886") < 0.6  # numbers that the table lacks are no likeness
    assert value(spec, "red car", "car red") == pytest.approx(1.0)  # order is not seen
    assert value(spec, "car", "stone", "automobile") == value(spec, "car", "automobile")
    assert (value(spec, "", ""), value(spec, "", "car"), value(spec, "car", " ")) == (1.0, 0.0, 0.0)
    assert value(spec, "CAR", "car") == pytest.approx(1.0)


def test_the_form_over_columns_gives_the_same(vec: Path) -> None:
    spec = use_vectors(vec)
    words = [*TABLE, "zebra", "17", ""]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, size=rng.integers(0, 6))) for _ in range(300)]
    columns = {"answer": texts, "targets": [[texts[i - 1], texts[i - 2]][: 1 + i % 2] for i in range(300)]}
    found = score_batch(spec, columns).values
    assert found == [value(spec, a, *ts) for a, ts in zip(columns["answer"], columns["targets"], strict=True)]
    assert set(score_batch(spec, {**columns, "choices": [["a"]] * 300}).statuses) == {"needs"}


def test_a_long_text_fails_alone(vec: Path) -> None:
    spec = use_vectors(vec)
    found = score_batch(spec, {"answer": ["car", "a " * LIMIT, "car"], "targets": [["car"]] * 3})
    assert found.statuses == ["scored", "failed", "scored"]


def test_the_identity_is_the_content(vec: Path, tmp_path: Path) -> None:
    spec = use_vectors(vec)
    copy = tmp_path / "copy.txt"
    copy.write_bytes(vec.read_bytes())
    assert use_vectors(copy) == spec
    copy.write_text(vec.read_text().replace("stone", "rock"))
    assert use_vectors(copy).id != spec.id
    assert get_metric(str(spec)) == spec
    assert use_vectors(vec, weighting="sif").id != spec.id


def test_without_the_file_it_says_what_it_needs(vec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = use_vectors(vec)
    monkeypatch.setattr("foreshock.metrics._semantic._known", {})
    assert value(spec, "car", "car") == 1.0  # the variable names it
    monkeypatch.setattr("foreshock.metrics._semantic._known", {})
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(ModelError, match="--vectors FILE"):
        score_batch(spec, {"answer": ["car"], "targets": [["car"]]})
    with pytest.raises(MetricError, match="vectors"):
        get_metric("semantic_similarity")


@pytest.mark.slow
def test_another_process_finds_the_vectors(vec: Path) -> None:
    spec = use_vectors(vec)
    code = (
        f"from foreshock.metrics import get_metric as g; print(g({str(spec)!r})({{'answer':'car','targets':['car']}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1.0"


def test_tables_without_a_first_line_and_words_with_spaces(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("car 1.0 0.5\nnew york 0.25 1e-3\n")
    found = load_vectors(path)
    assert isinstance(found, WordVectors)
    assert found.embed(["car"], "mean").dense.tolist() == [[1.0, 0.5]]
    assert "new york" in found._places


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"3 2\n",
        b"car\n",
        b"car 1 2\nstone 1\n",
        b"car one two\n",
        b"car nan 1\n",
        b"car inf 1\n",
        b"car 0 0\n",
        b"1 99999999\ncar 1\n",
        b"PK\x03\x04 no zip",
        b"\x80\x04\x95pickle",
        b"car 1 " + b"2" * (2 << 20),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(BrokenFileError) as caught:
        load_vectors(path)
    assert len(str(caught.value)) < 1000


def test_arrays_that_do_not_fit_are_told(tmp_path: Path) -> None:
    words, vectors = np.array(["a", "b"]), np.ones((2, 3))
    bad: list[dict[str, object]] = [
        {"words": words},
        {"words": words, "vectors": np.ones((3, 3))},
        {"words": words, "vectors": np.ones(2)},
        {"words": np.arange(2), "vectors": vectors},
        {"words": words, "vectors": np.array([["a"], ["b"]])},
        {"words": words, "vectors": vectors, "counts": np.array([1])},
        {"words": words, "vectors": vectors, "counts": np.array([1, -1])},
        {"words": words, "vectors": vectors, "counts": np.array(["x", "y"])},
        {"words": np.array(["a", None], dtype=object), "vectors": vectors},
    ]
    for arrays in bad:
        np.savez(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
        with pytest.raises(BrokenFileError):
            load_vectors(tmp_path / "x.npz")
    bad_members: list[tuple[str, bytes]] = [
        ("counts.npy", b"no array"),
        ("counts.npy", b"\x93NUMPY\x01\x00\x10\x00{'a':(((((((((((("),
    ]
    for name, data in bad_members:
        np.savez(tmp_path / "x.npz", words=words, vectors=vectors)
        with zipfile.ZipFile(tmp_path / "x.npz", "a") as file:
            file.writestr(name, data)
        with pytest.raises(BrokenFileError):
            load_vectors(tmp_path / "x.npz")
    with pytest.raises(BrokenFileError, match=r"no model\.safetensors"):
        load_vectors(tmp_path)
    with pytest.raises(BrokenFileError):
        load_vectors(tmp_path / "none")


def test_a_static_model_needs_the_extra(tmp_path: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        (tmp_path / name).write_text("{}")
    try:
        import model2vec  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match=r"foreshock\[semantic\]"):
            load_vectors(tmp_path)


@pytest.mark.slow
def test_a_static_model_is_read(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    inner = tokenizers.models.WordLevel({word: i for i, word in enumerate(["[UNK]", *TABLE])}, unk_token="[UNK]")
    tokens = tokenizers.Tokenizer(inner)
    tokens.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rows = np.array([(0.0, 0.0, 0.0), *TABLE.values()], dtype=np.float32)
    model2vec.StaticModel(rows, tokens).save_pretrained(tmp_path / "model")
    spec = use_vectors(tmp_path / "model")
    assert value(spec, "red car", "blue stone") == pytest.approx(by_hand("red car", "blue stone"), abs=1e-6)
    with pytest.raises(ConfigError, match="mean"):
        use_vectors(tmp_path / "model", weighting="sif")({"answer": "car", "targets": ["stone"]})


def test_what_may_not_end_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokenFileError, match="no plain file"):
        load_vectors("/dev/zero")
    packed = tmp_path / "bomb.npz"
    np.savez_compressed(packed, words=np.array(["a"] * 1000), vectors=np.ones((1000, 500), np.float32))
    assert isinstance(load_vectors(packed), WordVectors)
    monkeypatch.setattr("foreshock.metrics._vectors.MOST_BYTES", 1_000_000)
    with pytest.raises(BrokenFileError, match="bytes unpacked"):
        load_vectors(packed)
