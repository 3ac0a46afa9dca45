"""CIFAR-100, Omniglot and MNIST from where they lie on disk, in the forms in which they are given out.

Nothing is downloaded. A folder is searched for the files of each data set, wherever in it they are:

- CIFAR-100: ``cifar-100-python.tar.gz`` or its ``train`` and ``test`` (pickles, read without running anything in them);
- Omniglot: ``images_background.zip`` or its folders, alphabet/character/drawing.png;
- MNIST: the four ``idx`` files, packed or not.
"""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .images import Images
from .png import read_grey

PIXELS = 35  # a side of an Omniglot picture here; 105 in the file, so each is the mean of 3 x 3
_LARGEST = 1 << 30  # bytes of one file, packed or not

_DAMAGED = (
    *(ValueError, TypeError, KeyError, EOFError, OSError, OverflowError, struct.error),
    *(pickle.UnpicklingError, tarfile.TarError, zipfile.BadZipFile),
)

_ALLOWED = {
    *(("numpy", name) for name in ("ndarray", "dtype")),
    *((f"numpy.{core}.multiarray", "_reconstruct") for core in ("core", "_core")),
}


class SafeUnpickler(pickle.Unpickler):
    """Reads pickles of plain values and numpy arrays; whatever else one names is refused, so nothing in it can run."""

    def find_class(self, module: str, name: str) -> Any:
        """The few names that an array needs."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}, which no data set needs")
        return super().find_class(module, name)


def load(folder: Path, name: str) -> Images:
    """A data set from a folder: ``cifar100``, ``omniglot`` or ``mnist``.

    Raises:
        SystemExit: It is not there, or not what it should be.
    """
    readers: dict[str, Callable[[Path], Images]] = {"cifar100": cifar100, "omniglot": omniglot, "mnist": mnist}
    try:
        return readers[name](folder)
    except FileNotFoundError as error:
        raise SystemExit(f"{name} is not in {folder}: {error}") from None
    except _DAMAGED as error:
        raise SystemExit(f"{name} in {folder} cannot be read: {error}") from None


def cifar100(folder: Path) -> Images:
    """CIFAR-100 with its fine labels: 50,000 pictures to train on, 10,000 to ask."""
    parts = [_cifar_part(folder, which) for which in ("train", "test")]
    return _joined("CIFAR-100", parts)


def _cifar_part(folder: Path, which: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    packed = _found(folder, "cifar-100-python.tar.gz")
    if packed:
        with tarfile.open(packed) as archive:
            member = archive.extractfile(f"cifar-100-python/{which}")
            if member is None:
                raise ValueError(f"{which} in the archive is no file")
            data = _bounded(member)
    else:
        path = _found(folder, f"cifar-100-python/{which}") or _found(folder, which)
        if path is None:
            raise FileNotFoundError(f"neither cifar-100-python.tar.gz nor a file {which}")
        with path.open("rb") as file:
            data = _bounded(file)
    told = SafeUnpickler(io.BytesIO(data), encoding="bytes").load()
    pixels = np.asarray(told[b"data"], np.uint8)
    if pixels.ndim != 2 or pixels.shape[1] != 3072:
        raise ValueError(f"data of shape {pixels.shape}, not (pictures, 3072)")
    return (pixels.reshape(-1, 3, 32, 32) / 255).astype(np.float32), np.asarray(told[b"fine_labels"], np.int64)


def mnist(folder: Path) -> Images:
    """MNIST: 60,000 pictures to train on, 10,000 to ask."""
    parts = []
    for which in ("train", "t10k"):
        pixels, labels = read_idx(_idx(folder, f"{which}-images")), read_idx(_idx(folder, f"{which}-labels"))
        if pixels.ndim != 3 or labels.ndim != 1:
            raise ValueError(f"pictures of shape {pixels.shape} and labels of shape {labels.shape}")
        parts.append(((pixels[:, None] / 255).astype(np.float32), labels.astype(np.int64)))
    return _joined("MNIST", parts)


def _idx(folder: Path, stem: str) -> bytes:
    paths = sorted(p for p in folder.rglob(f"{stem}*idx*") if p.is_file())
    if not paths:
        raise FileNotFoundError(f"no {stem}-idx file")
    with paths[0].open("rb") as file:
        data = _bounded(file)
    return _bounded(gzip.GzipFile(fileobj=io.BytesIO(data))) if data[:2] == b"\x1f\x8b" else data


def read_idx(data: bytes) -> NDArray[np.uint8]:
    """Array of unsigned bytes from an idx file: two zeros, type 8, number of axes, lengths, values."""
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError("not an idx file of unsigned bytes")
    axes = data[3]
    shape = struct.unpack_from(f">{axes}I", data, 4)
    if len(data) - 4 - 4 * axes != int(np.prod(shape, dtype=object)):
        raise ValueError(f"{len(data) - 4 - 4 * axes} bytes for shape {shape}")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * axes).reshape(shape)


def omniglot(folder: Path) -> Images:
    """Characters of the background set, each a class; of its 20 drawings the last quarter is asked."""
    drawings: dict[str, list[bytes]] = {}
    for place, data in sorted(_pictures(folder)):
        drawings.setdefault(str(PurePosixPath(place).parent), []).append(data)
    if not drawings:
        raise FileNotFoundError("neither images_background.zip nor a folder images_background")
    pixels, labels, asked = [], [], []
    for label, (_, pictures) in enumerate(sorted(drawings.items())):
        for number, data in enumerate(pictures):
            pixels.append(_smaller(1 - read_grey(data)))  # ink is 1
            labels.append(label)
            asked.append(4 * number >= 3 * len(pictures))
    stack = np.stack(pixels)[:, None]
    return Images("Omniglot (background)", stack, np.array(labels, np.int64), np.array(asked, bool))


def _pictures(folder: Path) -> Iterator[tuple[str, bytes]]:
    packed = _found(folder, "images_background.zip")
    if packed:
        with zipfile.ZipFile(packed) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".png"):
                    with archive.open(info) as file:
                        yield info.filename, _bounded(file)
        return
    top = next((p for p in sorted(folder.rglob("images_background")) if p.is_dir()), None)
    if top is not None:
        for path in top.rglob("*.png"):
            yield path.relative_to(top).as_posix(), path.read_bytes()


def _smaller(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    times = picture.shape[0] // PIXELS
    if picture.shape != (times * PIXELS, times * PIXELS) or times < 1:
        raise ValueError(f"a picture of {picture.shape}, not a multiple of {PIXELS} x {PIXELS}")
    return np.asarray(picture.reshape(PIXELS, times, PIXELS, times).mean(axis=(1, 3)), np.float32)


def _joined(name: str, parts: list[tuple[NDArray[np.float32], NDArray[np.int64]]]) -> Images:
    for pixels, labels in parts:
        if len(pixels) != len(labels) or not len(labels) or labels.min() < 0:
            raise ValueError(f"{len(pixels)} pictures and {len(labels)} labels, which begin at 0")
    asked = np.repeat([False, True], [len(labels) for _, labels in parts])
    return Images(name, np.concatenate([p for p, _ in parts]), np.concatenate([y for _, y in parts]), asked)


def _found(folder: Path, name: str) -> Path | None:
    if (folder / name).is_file():
        return folder / name
    return next((p for p in sorted(folder.rglob(PurePosixPath(name).name)) if p.is_file() and p.match(name)), None)


def _bounded(file: Any) -> bytes:
    data: bytes = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f"more than {_LARGEST:,} bytes")
    return data
