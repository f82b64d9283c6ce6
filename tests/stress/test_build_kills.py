"""`scripts/build_models.py` without names builds all, is killed at random, and goes on to the same end.

    D2C_STRESS=3 pytest -m stress tests/stress/test_build_kills.py

All recipes are as they are, and so are encoder and pipeline, but treebanks are cut to their first sentences
(six minutes of a core for each build). Models that learned from so few agree on nothing, so here lessons
are all that teachers find, and the chart is the route where there is one. The build is run once; then again,
D2C_STRESS times with SIGKILL after a random number of the lines that it says, and to its end. Each model must
be that of the first run: the same weights, the same bytes in all other files.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from d2c.models.model import Model
from d2c.models.names import is_model
from models.recipes import RECIPES
from treebanks.files import folder

pytestmark = pytest.mark.stress

KILLS, TRAIN, DEV = int(os.environ.get("D2C_STRESS", "3")), 120, 12
ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {"card.json", "README.md", "model.json"}
STARTS = {"mrg": "(", "psd": "(", "txt": "", "xml": "<alpino_ds", "conllu": "1\t"}  # a sentence's first line
BUILD = """
import sys
from dataclasses import replace
import build_models
from models import build, teaching
build.choose = lambda recipe, trained, *rest: ([*trained][-1], {})
teaching.agrees = lambda *dtree: True
for name, recipe in build_models.RECIPES.items():
    lessons = tuple(replace(lesson, tags=0.0, agree=0.0) for lesson in recipe.lessons)
    build_models.RECIPES[name] = replace(recipe, lessons=lessons)
build_models.main()
"""


@pytest.fixture(scope="module")
def treebanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first sentences of each file that a recipe names, and of the d-trees beside."""
    if not folder().is_dir():
        pytest.skip(f"no treebanks in {folder()}; $D2C_TREEBANKS says where")
    cut = tmp_path_factory.mktemp("treebanks")
    data = {one for recipe in RECIPES.values() for one in (*recipe.data, *recipe.texts)}
    for name in filter(None, {file for one in data for file in (one.train, one.dev)}):
        stem = name.partition(".")[0]
        for file in folder().glob(f"{stem}.*"):
            write_first(file, cut / file.name, DEV if stem.endswith("-dev") else TRAIN)
    return cut


def write_first(file: Path, new: Path, count: int) -> None:
    """Write the first sentences of a packed file, and what stands before them."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        text = stream.read()
    start = re.escape(STARTS[file.suffixes[-2][1:]])
    starts = [found.start() for found in re.finditer(f"^{start}", text, re.MULTILINE)]
    end = "</alpino>\n" if text.endswith("</alpino>\n") else ""
    with gzip.open(new, "wt", encoding="utf-8") as stream:
        stream.write(text[: starts[count]] if len(starts) > count else text.removesuffix(end))
        stream.write(end)


def start(treebanks: Path, output: Path) -> subprocess.Popen[str]:
    """Start to build, or go on; what it says is in `stdout`."""
    words = ["--treebanks", str(treebanks), "-o", str(output)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")])}
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([sys.executable, "-c", BUILD, *words], env=environment, **said)


def finish(treebanks: Path, output: Path) -> list[str]:
    """Build, or go on, to the end; return what was said."""
    with start(treebanks, output) as process:
        said = [*process.stdout]
    assert process.returncode == 0, "".join(said[-20:])
    return said


def files(output: Path) -> dict[str, Any]:
    """Return what is in the files of all models, but in cards, which say how quick they are.

    The bytes of networks depend on where they were in memory, and model.json has digests of them.
    """
    found = [file for name in RECIPES for file in sorted((output / name).rglob("*")) if file.is_file()]
    return {str(file.relative_to(output)): content(file) for file in found if file.name not in LEFT_OUT}


def content(file: Path) -> Any:
    """Return the bytes of a file, of a network the bytes of its weights and all else that is in it."""
    if file.suffix != ".pt":
        return file.read_bytes()
    saved = torch.load(file, weights_only=True)
    weights = {name: tensor.numpy().tobytes() for name, tensor in saved.pop("model").items()}
    return weights, repr(saved)


def test_a_build_of_all_that_is_killed_goes_on(treebanks: Path, tmp_path: Path) -> None:
    whole, output, rng = tmp_path / "whole", tmp_path / "out", Random(1)
    lines = len(finish(treebanks, whole))
    for _ in range(KILLS):
        with start(treebanks, output) as process:
            for _ in islice(process.stdout, rng.randint(1, lines // KILLS)):
                pass
            process.kill()
    assert all(Model.load(output / name) for name in RECIPES if is_model(output / name))
    before = {name: (output / name).stat().st_mtime_ns for name in RECIPES if is_model(output / name)}
    finish(treebanks, output)
    assert before == {name: (output / name).stat().st_mtime_ns for name in before}
    assert {path.name for path in output.iterdir() if path.name[0] != "."} == {*RECIPES, "kept"}
    assert files(output) == files(whole)
