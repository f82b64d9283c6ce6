"""Installing d2c: what a wheel holds, and that files beside a script do not get in its way.

pip builds the wheel as it would for a user, in isolation. The environments see the dependencies of the one
that runs the tests. Weights of the models that come with d2c are left empty: they are large.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import d2c

REPOSITORY = Path(__file__).resolve().parents[1]
NOT_COPIED = shutil.ignore_patterns(".*", "build", "dist", "venv", "*.egg-info", "__pycache__")
TREE = "(TOP (S (NP (PRP They)) (VP (VBD saw) (NP (DT the) (NN cat))) (. .)))\n"
SCRIPT = """
import sys

sys.modules["torch"] = None  # as in a plain install
import spacy
from spacy.tokens import Doc

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.reduction.reduction import Reduction
from d2c.trees.formats.brackets import parse_bracket
from d2c.trees.heads import load_head_rules

assert load_head_rules("collins").name == "collins"
assert ConstrainedCKY.__module__ == "d2c.cky.constrained_cky"
dtree = Reduction("direct").encode(parse_bracket(sys.argv[2]))
nlp = spacy.blank("en")
nlp.add_pipe("d2c", config={"model": sys.argv[1]})
form, tag, deps = dtree.tokens.forms, dtree.tokens.tags, ["ROOT" if d == "root" else d for d in dtree.labels]
heads = [head - 1 if head else i for i, head in enumerate(dtree.heads)]
[sentence] = nlp(Doc(nlp.vocab, form, tags=tag, heads=heads, deps=deps)).sents
print(sentence._.parse_string)
"""
TYPED = """
from collections.abc import Iterator

import d2c


def confidences(parser: d2c.Parser, texts: list[str]) -> Iterator[tuple[str, float | None]]:
    for doc, number in parser.pipe([(text, i) for i, text in enumerate(texts)], as_tuples=True):
        for sentence in doc[: number + 1]:
            yield from ((span.text, span.confidence) for span in sentence.tree.phrases("NP"))


def constituents(parser: d2c.Parser) -> tuple[d2c.Sentence, list[d2c.Match]]:
    words = [("They", "PRP"), ("slept", "VBD")]
    first = parser.parse_tagged([words])[0]
    asked = parser.parse_tagged(words, require=[(0, 2)])[0]
    return first, asked.tree.search("NP=name > S")


reveal_type(d2c.load("en-small")("They slept.")[0].tree.heads)
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, in which nothing was built before."""
    copy = tmp_path_factory.mktemp("install") / "clone"
    shutil.copytree(REPOSITORY, copy, symlinks=True, ignore=NOT_COPIED, copy_function=copy_without_weights)
    return copy


def copy_without_weights(source: str, target: str) -> None:
    if source.endswith((".npz", ".safetensors")):
        Path(target).touch()
    else:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def wheel(clone: Path) -> Path:
    pip("wheel", "--no-deps", "--wheel-dir", clone.parent, clone)
    [file] = clone.parent.glob("*.whl")
    return file


@pytest.mark.slow
def test_the_wheel_has_the_files_of_the_packages_and_no_others(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        [top_level] = [name for name in names if name.endswith("top_level.txt")]
        assert archive.read(top_level).split() == [b"d2c"]
    information = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    assert [name for name in information if name.endswith("licenses/LICENSE")]
    assert names - information == files_of_packages()
    assert names >= {
        "d2c/py.typed",
        "d2c/automata/__init__.py",
        "d2c/cky/__init__.py",
        "d2c/routes/voting/__init__.py",
        "d2c/experiments/templates/report.html",
        "d2c/data/heads/collins.txt",
        "d2c/data/prm/collins.prm",
        "d2c/data/models/en-ud/functions/functions.json",
        "d2c/data/models/en-ud/functions/weights.npz",
        "d2c/data/sample/train.mrg",
        "d2c/routes/rules/__init__.py",
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_files_beside_a_script_do_no_harm(
    kind: str, clone: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python = environment(tmp_path / "environment")
    editable = "--no-build-isolation", "--editable", clone
    what = [request.getfixturevalue("wheel")] if kind == "wheel" else editable
    pip("--python", python, "install", "--no-deps", *what)
    place = tmp_path / "place"
    for folder in ("data", "linear", "d2c-something", "d2c"):
        (place / folder).mkdir(parents=True)
        (place / folder / "file.txt").write_text("not d2c's")
    for file in ("data.py", "trees.py"):
        (place / file).write_text("raise ImportError('not d2c')")
    (place / "t.mrg").write_text(TREE * 3)
    (place / "dev.mrg").write_text(TREE)
    (place / "script.py").write_text(SCRIPT)

    script = python.with_name("d2c")
    for command in ([script], [python, "-m", "d2c"]):
        assert run(place, *command, "--version") == f"d2c {d2c.__version__}\n"
    run(place, script, "train", "t.mrg", "--dev", "dev.mrg", "--dparser", "gold", "-o", "MODEL")
    assert run(place, python, "script.py", "MODEL", TREE) == TREE.removeprefix("(TOP ").replace(")\n", "\n")


@pytest.mark.slow
def test_a_strict_type_checker_knows_the_public_names(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "typed.py").write_text(TYPED)
    mypy = (sys.executable, "-m", "mypy", "--strict", "typed.py")
    found = run(tmp_path, "env", f"PYTHONPATH={tmp_path}/installed", *mypy)
    assert 'Revealed type is "tuple[int, ...] | None"' in found.replace("builtins.", "")


def files_of_packages() -> set[str]:
    """The files of `d2c/` and of the folders that it has links to, by the names that they have there."""
    package = REPOSITORY / "d2c"
    files = [*package.rglob("*"), *(file for room in package.iterdir() for file in room.rglob("*"))]
    kept = (file for file in files if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(REPOSITORY).as_posix() for file in kept}


def environment(directory: Path) -> Path:
    """The Python of a new environment that sees the dependencies of this one, but none of its .pth files."""
    venv.create(directory, symlinks=os.name == "posix")
    [packages] = directory.glob("lib/python*/site-packages")
    seen = [path for path in sys.path if Path(path).is_dir() and (Path(path) / "click").is_dir()]
    (packages / "dependencies.pth").write_text("\n".join(seen))
    return directory / "bin" / "python"


def pip(*arguments: str | Path) -> None:
    run(REPOSITORY, sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def run(directory: Path, *command: str | Path) -> str:
    """What a command prints; PYTHONPATH does not help it."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=directory, env=variables, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout
