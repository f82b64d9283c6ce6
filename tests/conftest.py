"""For all tests: small real models, and a browser.

OpenMP's threads leave the cores to others while they wait, as in `d2c.commands.cli`. On a busy machine
hypothesis does not take a pause for a slow test. `--hypothesis-profile thorough` has it try more.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from d2c.models.model import Model
from d2c.training.spec import TrainingSpec
from d2c.training.tagging import TaggerChoice
from d2c.training.train import train_models
from d2c.trees.formats.brackets import read_brackets, save_brackets
from d2c.trees.formats.reading import CLEANED
from tests.pages import chromium

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=25)
settings.load_profile("quick")

SAMPLE = Path(__file__).parents[1] / "data" / "sample" / "train.mrg"
Once = Callable[[str, Callable[[Path], None]], Path]


gc.disable()  # while some thousand modules are imported, of which nothing is garbage


def pytest_collection_finish() -> None:
    """What was imported is looked at by no later search for garbage."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that have slow tests, that no process is alone with one in the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Has a directory of a name filled by whichever process of a run is the first to need it."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent if hasattr(request.config, "workerinput") else base

    def filled_once(name: str, fill: Callable[[Path], None]) -> Path:
        directory = place / name
        with open(place / f"{name}.filled", "a") as said:
            fcntl.flock(said, fcntl.LOCK_EX)
            if not said.tell():
                directory.mkdir()
                fill(directory)
                said.write("yes")
        return directory

    return filled_once


@pytest.fixture(scope="session")
def small_model(once: Once) -> Path:
    """The directory of a reduction with spaCy's d-parser, trained for some seconds on the bundled sample."""

    def train(directory: Path) -> None:
        ctrees = read_brackets(SAMPLE)
        files = directory / "train.mrg", directory / "dev.mrg"
        for file, count in zip(files, (200, 20), strict=True):
            save_brackets(islice(ctrees, count), file)
        train_models(TrainingSpec.of(*files, dparser="spacy", epochs=2), [directory / "model"])

    return once("small", train) / "model"


@pytest.fixture(scope="session")
def tagged_model(small_model: Path, once: Once) -> Path:
    """The small model with a tagger; its directory is called `en`."""

    def train(directory: Path) -> None:
        trained = directory / "trained"
        shutil.copytree(small_model, trained)
        files = [small_model.parent / f"{part}.mrg" for part in ("train", "dev")]
        TaggerChoice(name="spacy", preset="small").train(files, CLEANED, "collins", trained / "tagger")
        model = Model.load(small_model)
        model.tagger_name = "spacy"
        model.save(directory / "models" / "en", trained)

    return once("tagged", train) / "models" / "en"


@pytest.fixture(scope="session")
def chart_model(once: Once) -> Path:
    """The directory of constrained CKY, whose route converts any d-trees; it has no d-parser of its own."""

    def train(directory: Path) -> None:
        save_brackets(islice(read_brackets(SAMPLE), 100), directory / "train.mrg")
        spec = TrainingSpec.of(directory / "train.mrg", directory / "train.mrg", ("cky",), dparser="gold")
        train_models(spec, [directory / "model"])

    return once("chart", train) / "model"


@pytest.fixture(scope="module")
def loaded_once() -> Iterator[None]:
    """Has each model loaded once, as long as its files are the same; copies share what they are made of."""
    load, loaded = Model.load, dict[Any, Model]()

    def load_once(directory: Path, *rest: Any, **options: Any) -> Model:
        files = [*filter(Path.is_file, Path(directory).rglob("*"))]
        states = [(str(file), file.stat().st_ino, file.stat().st_mtime_ns) for file in sorted(files)]
        key = directory, *states, *rest, *options.items()
        if key not in loaded:
            loaded[key] = load(directory, *rest, **options)
        return replace(loaded[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Model, "load", load_once)
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    yield from chromium()


def give_tagger(monkeypatch: pytest.MonkeyPatch, tagger: Any) -> None:
    """Every model that is loaded has this tagger."""
    load = Model.load

    def with_tagger(*arguments: Any, **options: Any) -> Model:
        model = load(*arguments, **options)
        model.tagger = tagger
        return model

    monkeypatch.setattr(Model, "load", with_tagger)
