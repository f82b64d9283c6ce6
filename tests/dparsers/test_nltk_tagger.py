"""NLTK's tagger where words have more than one tag: what it learns, keeps in files and refuses there."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from d2c.base.errors import ModelError
from d2c.dparsers.nltk_tagger import NltkTagger
from d2c.learning.weights import write_arrays
from d2c.protocols.training import accuracy
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import write


def sentences(seed: int, size: int) -> list[Tokens]:
    """A word is a noun after a noun's article, and a verb otherwise."""
    pick, found = random.Random(seed), []
    for _ in range(size):
        forms, tags = list[str](), list[str]()
        for _ in range(pick.randint(1, 5)):
            word = pick.choice(("fish", "run", "cook", f"thing{pick.randint(0, 99)}"))
            article = pick.random() < 0.5
            forms += ["the", word] if article else [word]
            tags += ["DT", "NN"] if article else ["VB"]
        found.append(Tokens(tuple(forms), tuple(tags)))
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    directory = tmp_path_factory.mktemp("treebank")
    dtrees = [[DTree(one, (0,) * len(one)) for one in sentences(seed, 40)] for seed in (1, 2)]
    names = ("train", "dev")
    first, second = (write(directory / f"{n}.conllu", d) for n, d in zip(names, dtrees, strict=True))
    return first, second


def test_neighbours_tell_tags(files: tuple[Path, Path], tmp_path: Path) -> None:
    reports: list[object] = []
    tagger = NltkTagger().train(*files, tmp_path / "model", reports.append)
    gold = sentences(3, 30)
    assert accuracy(gold, tagger.tag(one.forms for one in gold)) > 0.95
    assert len(reports) == 1 and str(reports[0]).startswith("tagger: step 5/5  loss 0.000  dev accuracy ")


def test_same_seed_same_weights_in_files_too(files: tuple[Path, Path], tmp_path: Path) -> None:
    weights = {}
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        tagger = NltkTagger(epochs=1.4, seed=seed).train(*files, tmp_path / name)
        loaded = NltkTagger.load(tmp_path / name)
        assert loaded.tagger_ is not None and tagger.tagger_ is not None
        assert loaded.tagger_.model.weights == tagger.tagger_.model.weights
        assert loaded.tagger_.tagdict == tagger.tagger_.tagdict == {"the": "DT"}
        assert (loaded.epochs, loaded.seed, loaded.tags_) == (1.4, seed, ("DT", "NN", "VB"))
        weights[name] = tagger.tagger_.model.weights
    assert weights["a"] == weights["b"] != weights["c"]


@pytest.mark.parametrize("fault", ["counts", "negative", "tag", "nan", "word", "features", "tags"])
def test_files_that_do_not_fit_are_one_clear_error(
    fault: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    directory = tmp_path / "model"
    NltkTagger(epochs=1).train(*files, directory)
    path = directory / "weights.npz"
    with np.load(path) as file:
        arrays = dict(file)
    settings = json.loads((directory / "tagger.json").read_text())
    if fault == "counts":
        arrays["counts"][0] += 1
    elif fault == "negative":
        arrays["counts"][0] -= 9
        arrays["counts"][1] += 9
    elif fault == "tag":
        arrays["tags"][0] = 3
    elif fault == "nan":
        arrays["values"][0] = np.nan
    elif fault == "word":
        settings["words"]["the"] = "XX"
    elif fault == "features":
        settings["features"].pop()
    else:
        settings["tags"].append("XX")
    write_arrays(path, arrays)
    (directory / "tagger.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError) as error:
        NltkTagger.load(directory)
    assert str(directory) in str(error.value) and "\n" not in str(error.value)
