"""Start-up: what loading a model and parsing import, and that what was put off is whole when it comes."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[1]
LARGE = "torch", "scipy.stats", "sklearn", "pandas", "stanza", "nltk.parse"
PARSED = "(TOP (S (NP (PRP They)) (VP (VBD ate)) (. .)))"
PARSE = "import d2c; document = d2c.load('en-small')('They ate.'); print(document.sentences[0].tree)\n"
NLTK = """
import nltk
from nltk.tokenize.punkt import PunktParameters
print(nltk.wordpunct_tokenize('a-b'), nltk.tokenize.punkt.PunktParameters is PunktParameters)
"""
TORCH = """
import numpy, thinc.api, thinc.util
assert not thinc.util.has_torch
try:
    import torch
except ImportError:
    sys.exit()
assert thinc.util.has_torch and thinc.compat.torch is torch
layer = torch.nn.Linear(3, 2)
found = thinc.api.PyTorchWrapper(layer).initialize().predict(numpy.ones((1, 3), 'f'))
print(numpy.allclose(found, layer(torch.ones(1, 3)).detach()))
"""
EXTRAS = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split()))  # None: such a module cannot be imported
from d2c.__main__ import main
main()
"""


def python(code: str, *arguments: str, text: str = "", status: int = 0) -> list[str]:
    """Return the last lines of a process's output, without which it would fail."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    return (done.stdout if status == 0 else done.stderr).splitlines()


@pytest.fixture(scope="module")
def after_a_parse() -> list[str]:
    """What a process prints that parses, says which large modules it has, and imports some of them."""
    large = f"import sys; print([name for name in {LARGE} if name in sys.modules])\n"
    return python(PARSE + large + NLTK + TORCH)


def test_a_parse_imports_nothing_large(after_a_parse: list[str]) -> None:
    assert after_a_parse[:2] == [PARSED, "[]"]


@pytest.mark.slow
def test_an_encoder_needs_no_compiler_and_no_training() -> None:
    pytest.importorskip("stanza")
    pytest.importorskip("transformers")
    large = "torch._dynamo", "torch.distributed.tensor", "transformers.modeling_utils", "sympy"
    code = f"{PARSE}import sys; print([name for name in {large} if name in sys.modules])"
    assert python(code.replace("en-small", "en")) == [PARSED, "[]"]


def test_encoding_imports_no_compiler_and_no_network(tmp_path: Path) -> None:
    """It takes seconds for a whole treebank, of which numba alone would be half a second."""
    (tmp_path / "a.mrg").write_text(PARSED, encoding="utf-8")
    code = "import sys; from d2c.commands.cli import cli; cli(standalone_mode=False)\n"
    shown = "print([name for name in ('numba', 'ssl', 'nltk', 'scipy', 'sklearn') if name in sys.modules])"
    assert python(code + shown, "encode", str(tmp_path / "a.mrg"))[-1] == "[]"


def test_torch_and_thinc_find_each_other_after_a_parse(after_a_parse: list[str]) -> None:
    pytest.importorskip("torch")
    assert after_a_parse[3:] == ["True"]


def test_nltk_is_whole_after_a_parse(after_a_parse: list[str]) -> None:
    assert after_a_parse[2] == "['a', '-', 'b'] True"


@cache
def only_in_extras() -> str:
    """Return the modules of all installed packages that a plain `pip install .` does not install."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain, left = {project["name"]}, [Requirement(line) for line in project["dependencies"]]
    while left:
        needed = left.pop()
        name = canonicalize_name(needed.name)
        if name not in plain and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            plain.add(name)
            left += map(Requirement, metadata.requires(name) or ())
    installed = metadata.packages_distributions().items()
    return " ".join(module for module, of in installed if not plain & {*map(canonicalize_name, of)})


def test_parsing_needs_the_plain_dependencies_alone() -> None:
    assert {"torch", "stanza", "sklearn", "scipy", "pytest"} <= {*only_in_extras().split()}
    assert python(EXTRAS, only_in_extras(), "parse", "--text", text="They ate.") == [PARSED]  # by `en-small`
    *_, said = python(EXTRAS, only_in_extras(), "parse", "en", "--text", text="They ate.", status=2)
    assert said.startswith("d2c: ") and said.endswith("pip install -e '.[fast]'"), said


@pytest.mark.parametrize(
    ("dparser", "line"),
    [
        ("stanza", r"d2c: the d-parser stanza needs a package (.*): .*pip install -e '\.\[stanza\]'"),
        ("gold", r"d2c: training needs a package (.*): .*pip install -e '\.\[train\]'"),
    ],
)
def test_what_an_extra_is_missing_for_is_one_line(dparser: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "t.mrg").write_text(PARSED)
    command = ["train", f"{tmp_path}/t.mrg", "--dev", f"{tmp_path}/t.mrg", "--dparser", dparser]
    *_, said = python(EXTRAS, only_in_extras(), *command, "-o", f"{tmp_path}/MODEL", status=2)
    assert re.fullmatch(line, said), said
    assert not (tmp_path / "MODEL").exists()
