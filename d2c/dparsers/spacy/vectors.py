"""Static word vectors for spaCy's networks: read from text, kept in a model's directory as arrays.

Words are looked up in lower case; of words that differ only in case, the first one counts, since files of
vectors are sorted by frequency.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.strings import get_string_id
from spacy.vectors import Vectors

from d2c.base.files import open_input
from d2c.learning.weights import Like, check_numbers, read_arrays, write_arrays
from d2c.protocols.directories import loading

_FILE = "vectors.npz"
_ARRAYS = {"keys": Like("u8", 1), "numbers": Like("f4", 2)}  # [words] hashes of words, [words, size]
_MOST_BYTES = 1 << 32


def read_vectors(path: Path) -> Vectors:
    """Return the vectors in a text with a word and its numbers on each line, as in GloVe and word2vec.

    Raises FormatError, ModelError.
    """
    rows: dict[int, int] = {}
    numbers = array("f")
    with open_input(path) as lines, loading(path, "no word vectors"):
        for word, vector in _words(lines):
            if (key := get_string_id(word.lower())) not in rows:
                rows[key] = len(rows)
                numbers.extend(map(float, vector))
        if not rows:
            raise ValueError("the file is empty")
        keys = numpy.fromiter(rows, numpy.uint64, len(rows))
        return _vectors(keys, numpy.frombuffer(numbers, numpy.float32).reshape(len(rows), -1))


def write_vectors(directory: Path, vectors: Vectors) -> None:
    """Write vectors into a model's directory."""
    keys = numpy.array(sorted(vectors.key2row, key=vectors.key2row.__getitem__), numpy.uint64)
    write_arrays(directory / _FILE, {"keys": keys, "numbers": vectors.data})


def kept_vectors(directory: Path) -> Vectors | None:
    """Return what `write_vectors` wrote, None if it wrote nothing. Raises ModelError."""
    path = directory / _FILE
    if not path.exists():
        return None
    with loading(path):
        arrays = read_arrays(path, _ARRAYS, _MOST_BYTES)
        return _vectors(arrays["keys"], arrays["numbers"])


def _vectors(keys: NDArray[Any], numbers: NDArray[Any]) -> Vectors:
    check_numbers(numbers)
    if len(keys) != len(numbers) or len({*keys.tolist()}) != len(keys):
        raise ValueError("has not one vector for each word")
    return Vectors(data=numbers, keys=keys.tolist(), attr="LOWER")


def _words(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield words and their numbers. Words may have spaces: the first line says how many numbers follow."""
    size = 0
    for i, line in enumerate(lines, 1):
        pieces = line.rstrip("\n ").split(" ")
        if i == 1 and len(pieces) == 2:
            size = int(pieces[1])
            continue
        size = size or len(pieces) - 1
        if not 0 < size < len(pieces):
            raise ValueError(f"line {i} has {len(pieces) - 1} numbers, not {size or 'any'}")
        yield " ".join(pieces[:-size]), pieces[-size:]
