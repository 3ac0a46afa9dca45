"""Vision experiments without torch: loaders on small files made here, splits, collected scores to verdicts."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.vision import collect, judge, plan, sources
from experiments.vision.images import Images, hold_out, read_digits
from experiments.vision.outcome import sequences
from experiments.vision.png import read_grey


def png(grey: np.ndarray, depth: int = 8, filters: tuple[int, ...] = (0,)) -> bytes:
    """A grey PNG by the standard's text, written line by line with the given filters in turn."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width = grey.shape
    lines, above = b"", bytes((width * depth + 7) // 8)
    for y in range(height):
        bits = "".join(f"{int(v):0{depth}b}" for v in grey[y])
        bits += "0" * (-len(bits) % 8)
        line = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        kind = filters[y % len(filters)]
        done = bytearray()
        for x, value in enumerate(line):
            a, b = (line[x - 1] if x else 0), above[x]
            c = above[x - 1] if x else 0
            nearest = min(((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c)))[2]
            guess = {0: 0, 1: a, 2: b, 3: (a + b) // 2, 4: nearest}[kind]
            done.append((value - guess) % 256)
        lines += bytes([kind]) + bytes(done)
        above = line
    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    body = zlib.compress(lines)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", body[:7]), chunk(b"IDAT", body[7:]), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("filters", [(0,), (1,), (2,), (3,), (4,), (4, 0, 3, 1, 2)])
def test_pictures_are_read_as_they_were_written(depth: int, filters: tuple[int, ...]) -> None:
    grey = np.random.default_rng(depth).integers(0, 2**depth, (9, 13))
    assert np.allclose(read_grey(png(grey, depth, filters)), grey / (2**depth - 1))


def test_damaged_and_oversized_pictures_are_refused() -> None:
    good = png(np.zeros((4, 4), int))
    broken = bytearray(good)
    broken[20] ^= 1
    huge = bytearray(good)
    huge[16:24] = struct.pack(">II", 10**6, 10**6)
    huge[29:33] = struct.pack(">I", zlib.crc32(bytes(huge[12:29])))
    for data, told in (
        (b"GIF89a", "not a PNG"),
        (bytes(broken), "damaged"),
        (bytes(huge), "at most"),
        (good[:40], "bytes of picture"),
    ):
        with pytest.raises(ValueError, match=told):
            read_grey(data)


def cifar(folder: Path, rows: int = 6) -> np.ndarray:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (2, rows, 3072), dtype=np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    for which, pixels in zip(("train", "test"), data, strict=True):
        told = {b"data": pixels, b"fine_labels": list(range(rows)), b"coarse_labels": [0] * rows, b"filenames": []}
        (folder / which).write_bytes(pickle.dumps(told, protocol=4))
    return data


def test_cifar_100_from_its_folder_and_from_its_archive(tmp_path: Path) -> None:
    data = cifar(tmp_path / "a" / "cifar-100-python")
    found = sources.load(tmp_path / "a", "cifar100")
    assert (found.name, found.shape, found.classes) == ("CIFAR-100", (3, 32, 32), 6)
    assert found.held_out.tolist() == [False] * 6 + [True] * 6
    # red, green and blue stand one after the other, each row by row
    assert found.pixels[7, 2, 3, 5] == pytest.approx(data[1, 1, 2 * 1024 + 3 * 32 + 5] / 255)
    (tmp_path / "b").mkdir()
    with tarfile.open(tmp_path / "b" / "cifar-100-python.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a" / "cifar-100-python", "cifar-100-python")
    assert sources.load(tmp_path / "b", "cifar100").digest() == found.digest()


def test_a_pickle_of_python_2_is_read(tmp_path: Path) -> None:
    cifar(tmp_path / "cifar-100-python", 1)
    # what Python 2 wrote for {'fine_labels': [3], 'data': 'xy'}: names are bytes, arrays come from numpy.core
    old = b"(dp1\nS'fine_labels'\np2\n(lp3\nI3\nasS'data'\np4\nS'xy'\np5\ns."
    assert sources.SafeUnpickler(io.BytesIO(old), encoding="bytes").load() == {b"fine_labels": [3], b"data": b"xy"}
    array = pickle.dumps(np.arange(3), protocol=2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert b"numpy.core" in array


class Trap:
    def __reduce__(self) -> Any:
        return os.system, ("touch trapped",)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("train", pickle.dumps([1])),
        ("train", pickle.dumps({b"data": [[300] * 3072], b"fine_labels": [1]})),
        ("train", pickle.dumps({b"data": [[3] * 3072], b"fine_labels": [-1]})),
        ("cifar-100-python.tar.gz", b"no archive"),
        ("train-images-idx3-ubyte", b"\0\0\x08\xff"),
    ],
)
def test_a_damaged_file_is_one_message(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    if name == "train":
        (tmp_path / "test").write_bytes(data)
    with pytest.raises(SystemExit, match="cannot be read"):
        sources.load(tmp_path, "mnist" if "idx" in name else "cifar100")


def test_nothing_in_a_pickle_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cifar(tmp_path / "cifar-100-python")
    (tmp_path / "cifar-100-python" / "test").write_bytes(pickle.dumps({b"data": Trap()}))
    with pytest.raises(SystemExit, match="which no data set needs"):
        sources.load(tmp_path, "cifar100")
    assert not (tmp_path / "trapped").exists()
    for name in (b"cbuiltins\neval\n.", b"cnumpy\nload\n.", b"cnumpy.core.multiarray\nfromfile\n."):
        with pytest.raises(pickle.UnpicklingError, match="asks for"):
            sources.SafeUnpickler(io.BytesIO(name)).load()


def idx(values: np.ndarray) -> bytes:
    return b"\x00\x00\x08" + bytes([values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_packed_or_not(tmp_path: Path, packed: bool) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    for which, rows in (("train", 3), ("t10k", 2)):
        for what, values in (
            ("images-idx3-ubyte", pixels[:rows]),
            ("labels-idx1-ubyte", np.arange(rows, dtype=np.uint8)),
        ):
            data = gzip.compress(idx(values)) if packed else idx(values)
            (tmp_path / f"{which}-{what}{'.gz' if packed else ''}").write_bytes(data)
    found = sources.load(tmp_path, "mnist")
    assert (found.shape, found.held_out.tolist()) == ((1, 28, 28), [False] * 3 + [True] * 2)
    assert np.allclose(found.pixels[4, 0], pixels[1] / 255)
    (tmp_path / f"t10k-labels-idx1-ubyte{'.gz' if packed else ''}").write_bytes(idx(np.arange(3, dtype=np.uint8))[:-1])
    with pytest.raises(SystemExit, match="bytes for shape"):
        sources.load(tmp_path, "mnist")


def omniglot(folder: Path) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {}
    for alphabet, character in (("Greek", "character01"), ("Greek", "character02"), ("Latin", "character01")):
        for drawing in range(4):
            grey = rng.integers(0, 2, (105, 105))
            place = folder / alphabet / character / f"{drawing:04}_01.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(png(grey, 1))
            found[place.relative_to(folder).as_posix()] = grey
    return found


def test_omniglot_from_folders_and_from_its_archive(tmp_path: Path) -> None:
    drawn = omniglot(tmp_path / "a" / "images_background")
    found = sources.load(tmp_path / "a", "omniglot")
    assert (found.shape, found.classes) == ((1, 35, 35), 3)
    assert found.labels.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert found.held_out.tolist() == [False, False, False, True] * 3
    last = drawn["Latin/character01/0002_01.png"]
    assert found.pixels[10, 0, 1, 2] == pytest.approx(1 - last[3:6, 6:9].mean(), abs=1e-6)
    (tmp_path / "b").mkdir()
    with zipfile.ZipFile(tmp_path / "b" / "images_background.zip", "w") as archive:
        for path in (tmp_path / "a" / "images_background").rglob("*.png"):
            archive.write(
                path, f"images_background/{path.relative_to(tmp_path / 'a' / 'images_background').as_posix()}"
            )
    assert sources.load(tmp_path / "b", "omniglot").digest() == found.digest()


@pytest.mark.parametrize("name", ["cifar100", "omniglot", "mnist"])
def test_what_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(SystemExit, match=f"{name} is not in"):
        sources.load(tmp_path, name)


def test_the_embedded_digits() -> None:
    rng = np.random.default_rng(0)
    table = np.c_[rng.integers(0, 17, (40, 64)), rng.integers(0, 10, 40)]
    text = "\n".join(",".join(f"{v}" for v in row) for row in table)
    found = read_digits(gzip.compress(text.encode()))
    assert (found.shape, int(found.held_out.sum())) == ((1, 8, 8), 20)
    assert found.pixels[3, 0, 1, 2] == pytest.approx(table[3, 10] / 16)
    assert found.labels.tolist() == table[:, 64].tolist()
    assert found.part(asked=True).labels.size + found.part(asked=False).labels.size == 40
    with pytest.raises(ValueError, match="cannot be held out"):
        hold_out(5, 5)


def test_groups_of_images_are_disjoint() -> None:
    rows = sequences(1003, 5)
    assert rows.shape == (200, 5)
    assert np.unique(rows).size == 1000


def test_every_run_has_its_own_seed_and_whole_seeds_come_first() -> None:
    runs = plan.runs()
    assert len({r.random_seed for r in runs}) == len({r.name for r in runs}) == len(runs)
    assert [r.seed for r in runs] == sorted(r.seed for r in runs)
    assert len(plan.SEEDS) >= 3


# ---- from scores to verdicts -------------------------------------------------------------------------------------


def world(work: Path, images: Images, *, step: bool) -> None:
    """Scores as a training leaves them: log-losses fall evenly with size, or all at once between two sizes."""
    rng = np.random.default_rng(3)
    asked = int(images.held_out.sum())
    work.mkdir()
    for run in plan.runs(seeds=(1, 2, 3)):
        place = run.kind.widths.index(run.width) / (len(run.kind.widths) - 1)
        fall = np.exp(-3.5 * (place > 0.5 if step else place) + 0.05 * rng.standard_normal())
        if run.kind.name == "autoencoder":
            arrays = {"error": collect.variance(images) * fall * rng.gamma(8, 1 / 8, asked)}
        else:
            shape = (asked // 5, 5) if run.kind.name == "transformer" else (asked,)
            p = np.exp(-2 * fall * rng.gamma(2, 1 / 2, shape))
            arrays = {"logprob": np.log(p), "lead": np.where(rng.uniform(size=shape) < p, 1.0, -1.0)}
        about = {"run": run.name, "kind": run.kind.name, "width": run.width, "seed": run.seed, "steps": 1, "loss": 0.1}
        about |= {"parameters": int(100 * 2 ** (6 * place)), "cpu_seconds": 1.0, "torch": "none", "data": images.name}
        text = np.array(json.dumps(about | {"data_sha256": images.digest()}))
        np.savez(work / f"{run.name}.npz", about=text, **arrays)


@pytest.fixture
def images() -> Images:
    rng = np.random.default_rng(1)
    pixels = rng.uniform(size=(1000, 1, 8, 8)).astype(np.float32)
    return Images("made up", pixels, rng.integers(0, 10, 1000), hold_out(1000, 900))


def verdicts(folder: Path, images: Images, *, step: bool) -> dict[tuple[str, str], str]:
    world(folder / "work", images, step=step)
    collect.write(folder / "work", folder / "results", {k.name: images for k in plan.KINDS}, "command")
    found, told = judge.lines(folder / "results")
    assert {k["data"] for k in told["experiments"].values()} == {"made up"}
    chosen = [line for line in found if line.label in ("error < variance/8", "L = 5", "K = 5")]
    return {(line.kind.name, line.label): judge.judged(line, "made up", None).verdict for line in chosen}


def test_a_jump_made_by_the_metric_is_told_and_a_real_step_is_not_taken_for_one(tmp_path: Path, images: Images) -> None:
    (tmp_path / "even").mkdir()
    (tmp_path / "step").mkdir()
    even = verdicts(tmp_path / "even", images, step=False)
    assert set(even.values()) <= {"mirage", "smooth"}
    assert "mirage" in even.values()
    assert set(verdicts(tmp_path / "step", images, step=True).values()) == {"break"}


def test_runs_of_other_data_are_not_mixed(tmp_path: Path, images: Images) -> None:
    world(tmp_path / "work", images, step=False)
    other = Images(images.name, images.pixels + 0.5, images.labels, images.held_out)
    with pytest.raises(SystemExit, match="not of made up as it is here"):
        collect.write(tmp_path / "work", tmp_path / "results", {k.name: other for k in plan.KINDS}, "command")


# ---- the results that are in the repository ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept() -> tuple[list[judge.Line], dict[str, Any]]:
    return judge.lines(plan.RESULTS)


def test_the_results_name_the_data_that_was_run_and_hold_at_least_three_seeds(
    kept: tuple[list[judge.Line], dict[str, Any]],
) -> None:
    found, told = kept
    summary = (plan.RESULTS / "summary.md").read_text("utf-8")
    for name, about in told["experiments"].items():
        assert about["data"] in summary
        assert about["data_sha256"][:16] in summary
        assert np.unique(next(line for line in found if line.kind.name == name).seeds).size >= 3
        assert (plan.RESULTS / f"{name}.svg").read_text("utf-8").startswith("<svg")
    assert {line.kind.name for line in found} == {k.name for k in plan.KINDS}


@pytest.mark.slow  # a verdict may change with its rules: then `python -m experiments.vision.judge` writes them again
def test_the_written_verdicts_are_those_of_the_scores(kept: tuple[list[judge.Line], dict[str, Any]]) -> None:
    found, told = kept
    with (plan.RESULTS / "verdicts.csv").open(newline="") as file:
        written = {(r["kind"], r["metric"], r["seed"]): r["verdict"] for r in csv.DictReader(file)}
    for line in found:
        if line.label in ("error < variance/8", "L = 1", "L = 5", "K = 5"):
            again = judge.judged(line, told["experiments"][line.kind.name]["data"], None)
            assert again.verdict == written[line.kind.name, line.label, "all"]


@pytest.mark.slow
def test_a_small_run_from_images_to_verdicts(tmp_path: Path, images: Images) -> None:
    train = pytest.importorskip("experiments.vision.train")
    train.torch.set_num_threads(1)
    known = Images(images.name, images.pixels[:300], images.labels[:300], hold_out(300, 200))
    data = {k.name: known for k in plan.KINDS}
    wanted = [r for r in plan.runs(seeds=(1,)) if r.width in r.kind.widths[:2]]
    train.train_all(tmp_path / "a", data, wanted, 20, tell=False)
    (tmp_path / "a" / f"{wanted[0].name}.npz").unlink()  # a run that was lost starts again from its seed
    train.train_all(tmp_path / "a", data, wanted, 20, tell=False)
    train.train_all(tmp_path / "b", data, wanted, 20, tell=False)
    for run in wanted:
        with np.load(tmp_path / "a" / f"{run.name}.npz") as one, np.load(tmp_path / "b" / f"{run.name}.npz") as two:
            assert all(np.array_equal(one[n], two[n]) for n in one.files if n != "about")
    collect.write(tmp_path / "a", tmp_path / "results", data, "command")
    found, _ = judge.lines(tmp_path / "results")
    assert len(found) == len(plan.CUTS) + 2 * len(plan.LENGTHS)
