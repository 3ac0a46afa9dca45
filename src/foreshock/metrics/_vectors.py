"""Word vectors from a file of the user's: nothing is downloaded.

Three forms are read: text (``.vec``, ``.txt``: a word and its numbers on each line, with or without a first line of
counts; the form of word2vec, GloVe and fastText), ``.npz`` with the arrays ``words``, ``vectors`` and, if known,
``counts``; and a folder of a static model as model2vec saves it (extra ``semantic``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from foreshock._base import BrokenFileError, ConfigError, require
from foreshock.metrics._text import tokenizer

Floats = NDArray[np.float64]

SIF = 1e-3
"""The constant a of a / (a + p(word)): Arora, Liang and Ma (2017) found 1e-3 to 1e-4 to do equally well."""
LONGEST_LINE = 1 << 20
MOST_WIDE = 8_192
MOST_BYTES = 8 << 30
"""Largest .npz, unpacked: the vectors of fastText for two million words take 2.4 GB."""
_BLOCK = 20_000
_MODEL_FILES = ("model.safetensors", "tokenizer.json", "config.json")


class Embedded(NamedTuple):
    """Some texts as vectors.

    Attributes:
        dense: Sum over the known words, shape (texts, width).
        rest: For each text its unknown words with their weights; each is a direction of its own.
        empty: Whether a text has no word at all, shape (texts,).
    """

    dense: Floats
    rest: list[Mapping[str, float]]
    empty: NDArray[np.bool_]


class Vectors(Protocol):
    """Turns texts into vectors.

    Attributes:
        key: Hash of the file's content, ``w`` and 12 hexadecimal digits: part of the identity of every score.
    """

    key: str

    def embed(self, texts: Sequence[str], weighting: str) -> Embedded:
        """Embed texts; ``weighting`` is ``mean`` or ``sif``."""


class WordVectors:
    """A table of words.

    Args:
        key: Identity of the table.
        words: The words; of equal ones the first counts. In order of their frequency where there are no counts.
        vectors: Shape (words, width), finite.
        counts: How often each word occurs in some large body of text; for ``sif``.
    """

    def __init__(
        self, key: str, words: Sequence[str], vectors: NDArray[np.float32], counts: Floats | None = None
    ) -> None:
        self.key = key
        self._places: dict[str, int] = {}
        for place, word in enumerate(words):
            self._places.setdefault(word, place)
        self._vectors = vectors
        self._share = _shares(len(words), counts)
        # a word that the table lacks is as long as its words are on average
        self._length = float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64).mean()))

    def embed(self, texts: Sequence[str], weighting: str) -> Embedded:
        """Weighted sums. A word is looked up as it stands, then in lower case."""
        cut = tokenizer("wordpunct")
        dense = np.zeros((len(texts), self._vectors.shape[1]))
        rest: list[Mapping[str, float]] = []
        for row, text in enumerate(texts):
            places, unknown = [], dict[str, float]()
            for word in cut(text):
                place = self._places.get(word, self._places.get(word.lower()))
                if place is None:
                    low = word.lower()
                    unknown[low] = unknown.get(low, 0.0) + self._length
                else:
                    places.append(place)
            if places:
                weights = SIF / (SIF + self._share[places]) if weighting == "sif" else np.ones(len(places))
                dense[row] = weights @ self._vectors[places].astype(np.float64)
            rest.append(unknown)
        return Embedded(dense, rest, np.array([not text.strip() for text in texts], dtype=bool))


class StaticModelVectors:
    """A folder of model2vec: a tokenizer whose pieces have vectors; weights are in the vectors."""

    def __init__(self, key: str, folder: Path) -> None:
        self.key = key
        found = require("model2vec", "semantic", "a folder of a static model")
        try:
            self._model: Any = found.StaticModel.from_pretrained(str(folder))
        except Exception as error:  # noqa: BLE001 - three readers of strangers' files stand behind it
            raise BrokenFileError(
                f"model2vec cannot read it ({type(error).__name__}: {str(error)[:100]})",
                expected="a static model as model2vec saves it",
                do="name another folder",
                where=str(folder),
            ) from None

    def embed(self, texts: Sequence[str], weighting: str) -> Embedded:
        """Sums of pieces; an unknown piece is what the tokenizer makes of it."""
        if weighting != "mean":
            raise ConfigError(
                f"weighting {weighting!r} with a static model",
                expected="mean: the weights of such a model are in its vectors",
            )
        found = self._model.encode(list(texts), max_length=None, use_multiprocessing=False)
        dense = np.asarray(found, dtype=np.float64)
        return Embedded(dense, [{}] * len(texts), np.array([not text.strip() for text in texts], dtype=bool))


def load_vectors(path: str | Path) -> Vectors:
    """Read word vectors.

    Raises:
        BrokenFileError: The file is not one of the three forms, or damaged.
        MissingExtraError: A folder was named, and model2vec is not installed.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _folder(path)
        if path.exists() and not path.is_file():
            raise _broken(path, "is no plain file")  # a device or a pipe need not end
        key = _hash([path])
        with path.open("rb") as file:
            zipped = file.read(4) == b"PK\x03\x04"
        return _npz(path, key) if zipped else _text(path, key)
    except OSError as error:
        raise BrokenFileError(
            f"cannot be read ({error.strerror})", expected="a file of word vectors", where=str(path)
        ) from None


def _folder(path: Path) -> Vectors:
    missing = [name for name in _MODEL_FILES if not (path / name).is_file()]
    if missing:
        raise BrokenFileError(
            f"the folder has no {', '.join(missing)}",
            expected="a static model as model2vec saves it, or a file: words with their numbers, or .npz",
            where=str(path),
        )
    return StaticModelVectors(_hash([path / name for name in _MODEL_FILES]), path)


def _npz(path: Path, key: str) -> WordVectors:
    try:
        size = _unpacked(path)
        if size > MOST_BYTES:
            raise ValueError(f"{size:,} bytes unpacked, at most {MOST_BYTES:,}")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            words, vectors = found["words"], found["vectors"]
            counts = found["counts"] if "counts" in found.files else None
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - readers of headers and archives raise a dozen kinds for a damaged file
        raise _broken(path, f"is no .npz with words and vectors ({str(error)[:100]})") from None
    if not all(isinstance(each, np.ndarray) for each in (words, vectors, *([] if counts is None else [counts]))):
        raise _broken(path, "has members that are no arrays")
    if words.ndim != 1 or words.dtype.kind != "U" or vectors.ndim != 2 or len(vectors) != len(words):
        raise _broken(path, f"has words of shape {words.shape} and vectors of shape {vectors.shape}")
    if vectors.dtype.kind != "f" or (
        counts is not None and (counts.shape != words.shape or counts.dtype.kind not in "iuf")
    ):
        raise _broken(path, "has vectors that are no floats, or not one number of occurrences for each word")
    return _made(path, key, words.tolist(), vectors.astype(np.float32), counts)


def _unpacked(path: Path) -> int:
    """Bytes of all members of an archive as its directory tells; the reader of a member stops where that ends."""
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        return sum(member.file_size for member in archive.infolist())


def _text(path: Path, key: str) -> WordVectors:
    words: list[str] = []
    blocks: list[NDArray[np.float32]] = []
    width: int | None = None
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file, path), start=1):
            parts = line.rstrip().split(" ")
            if number == 1 and len(parts) == 2 and all(part.isdecimal() for part in parts):
                width = int(parts[1][:9])
                continue
            if width is None:
                width = len(parts) - 1
            if not 1 <= width <= MOST_WIDE or len(parts) <= width:
                raise _broken(path, f"has on line {number} no word with {width} numbers")
            if len(words) % _BLOCK == 0:
                blocks.append(np.empty((_BLOCK, width), dtype=np.float32))
            try:
                blocks[-1][len(words) % _BLOCK] = parts[-width:]
            except ValueError:
                raise _broken(path, f"has on line {number} something that is no number") from None
            words.append(" ".join(parts[:-width]))  # a few words of large tables hold spaces
    if not words:
        raise _broken(path, "holds no words")
    return _made(path, key, words, np.concatenate(blocks)[: len(words)], None)


def _lines(file: IO[bytes], path: Path) -> Iterator[str]:
    for line in iter(lambda: file.readline(LONGEST_LINE), b""):
        if len(line) >= LONGEST_LINE:
            raise _broken(path, f"has a line of more than {LONGEST_LINE:,} bytes")
        yield line.decode("utf-8", "replace")


def _made(path: Path, key: str, words: Sequence[str], vectors: NDArray[np.float32], counts: Any) -> WordVectors:
    if not len(words) or not np.isfinite(vectors).all() or not vectors.any():
        raise _broken(path, "holds no words, or numbers that are not finite, or only zeros")
    if counts is not None:
        counts = np.asarray(counts, dtype=np.float64)
        if not np.isfinite(counts).all() or (counts < 0).any() or not counts.any():
            raise _broken(path, "holds counts that are negative, not finite, or all 0")
    return WordVectors(key, words, vectors, counts)


def _shares(n: int, counts: Floats | None) -> Floats:
    """Relative frequency of each word: from its count, else by Zipf's law from its place in the table."""
    weights = 1.0 / np.arange(1, n + 1) if counts is None else counts
    shares: Floats = weights / weights.sum()
    return shares


def _hash(paths: Sequence[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return f"w{found.hexdigest()[:12]}"  # begins with a letter: a name that is read back must not become a number


def _broken(path: Path, what: str) -> BrokenFileError:
    return BrokenFileError(
        f"the file {what}",
        expected="on each line a word and its numbers, or .npz with words and vectors",
        do="name another file of word vectors",
        where=str(path),
    )
