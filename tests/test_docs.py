"""README and docs: every block of code runs as printed, every link leads somewhere, every option exists.

A block of `text` right after another block is what that one prints. `<!-- file: PATH -->` before a block: it
is that file. `<!-- not run: REASON -->` leaves it out; of its commands only the options are checked. Stanza's
pipelines run without the models that they would download: words are cut already, and the tagger is d2c's.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import click
import pytest
import stanza

import d2c.plugins.spacy.component  # noqa: F401 (what spaCy does by itself where d2c is installed)
from d2c.commands.cli import COMMANDS, cli
from d2c.trees.formats.brackets import read_brackets, save_brackets
from tests.blocks import BLOCK, REPOSITORY, Block, blocks, run, script, trimmed

pytestmark = pytest.mark.usefixtures("loaded_once")
DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("**/*.md"))]
SAMPLE = REPOSITORY / "data" / "sample"
BENCHMARKS = [REPOSITORY / "scripts" / "benchmarks" / name for name in ("accuracy.py", "taught.py")]
ENGLISH = REPOSITORY / "scripts" / "benchmarks" / "english.py"  # a group of commands
SCRIPTS = [*(REPOSITORY / "scripts").glob("*.py"), *BENCHMARKS]
CI_RUNS = ("install", "compare", "test")
RUN_HERE = [document for document in DOCUMENTS if document.name != "extending.md"]  # see test_extending.py
REASONS = re.compile(r"not run: (takes minutes|needs the treebanks|for your shell|downloads .+)")
CONTEXT = click.Context(cli)
PARSER = """\
import sys
from d2c.trees.formats.conllu import read_conllu, write_conllu
from dataclasses import replace
if len(sys.argv) > 3:
    with open(sys.argv[3], "w") as stream:
        for tree in read_conllu(sys.argv[2]):
            n = len(tree.heads)
            write_conllu([replace(tree, heads=tuple(range(n)), labels=("VP#1",) * n)], stream)
else:
    open(sys.argv[2], "w").close()
"""


def name(document: Path) -> str:
    return document.name


def test_nothing_names_the_distribution_d2c() -> None:
    """It is somebody else's. Ours is d2c-parser; until it is published, what is printed needs a clone."""
    wrong = re.compile(r"""\bd2c\[(?!:)|(pip3?|uv|pipx) (install|download|run)[^\n`]*[ "']d2c(?![\w/.-])""")
    code = (REPOSITORY / room for room in ("d2c", "reduction", "cky", "scripts"))
    files = [
        *DOCUMENTS,
        *REPOSITORY.glob("*.*"),
        *REPOSITORY.glob("docs/*.ipynb"),
        *REPOSITORY.glob(".ci/run"),
    ]
    files += [file for room in code for file in room.rglob("*.py")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    found = [f"{file}: {match[0]}" for file, text in texts.items() for match in wrong.finditer(text)]
    assert not found and len(texts) > 300


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the files that blocks name; the model is trained by the README's own command."""
    directory = tmp_path_factory.mktemp("docs")
    for file, part, count in (("TREES", "train", 60), ("DEV", "dev", 15)):
        save_brackets(islice(read_brackets(SAMPLE / f"{part}.mrg"), count), directory / file)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        (directory / "my_parser.py").write_text(PARSER)
        [training] = [block for block in blocks(DOCUMENTS[0]) if block.mark == "model"]
        run(training)
        shutil.copytree("MODEL", "garden")  # of docs/own_models.md
        run(Block("", "sh", "d2c encode DEV -o predicted.conllu", None))
    return directory


@pytest.mark.parametrize("document", RUN_HERE, ids=name)
def test_blocks_run_as_printed(document: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setattr(stanza, "Pipeline", partial(offline, workplace, stanza.Pipeline))
    for block in blocks(document):
        if block.mark in ("model", *CI_RUNS) or block.mark.startswith("not run: "):
            continue
        if block.mark.startswith("file: "):
            Path(block.mark.removeprefix("file: ")).write_text(block.code, encoding="utf-8")
            continue
        printed = run(block)
        if block.printed is not None:
            assert trimmed(printed) == trimmed(block.printed), block.code


def offline(directory: Path, pipeline: Any, language: str, processors: str, **options: Any) -> Any:
    """Stanza's pipeline of those of its processors that need no models."""
    packages = {language: {"packages": {"default": {"tokenize": "none"}}, "tokenize": {"none": {}}}}
    (directory / "resources.json").write_text(json.dumps(packages))
    left = ",".join(known for known in processors.split(",") if known in ("tokenize", "d2c"))
    options |= {"tokenize_pretokenized": True, "dir": str(directory), "download_method": None}
    return pipeline(language, processors=left, **options)


@pytest.mark.parametrize("document", RUN_HERE, ids=name)
def test_what_is_left_out_says_why_and_has_known_options(document: Path) -> None:
    for block in blocks(document):
        known = block.mark in ("", "model", "try", *CI_RUNS) or block.mark.startswith("file: ")
        assert known or REASONS.fullmatch(block.mark), block.mark
        if block.mark.startswith("not run: ") and block.language == "sh":
            for line in block.lines():
                check_options(shlex.split(line))


@pytest.mark.parametrize("document", [*DOCUMENTS, REPOSITORY / "docs" / "python.ipynb"], ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            file = document.parent / path if path else document
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_options_in_prose_exist(document: Path) -> None:
    commands = [*(cli.get_command(CONTEXT, name) for name in COMMANDS), *map(script, SCRIPTS)]
    commands += script(ENGLISH).commands.values()  # type: ignore[attr-defined]
    known = {option for command in commands for p in command.params for option in p.opts + p.secondary_opts}
    prose = BLOCK.sub("", document.read_text(encoding="utf-8"))
    used = set(re.findall(r"(?<![\w<!-])--[a-z][a-z-]+", prose))
    assert used <= known | {"--help", "--version"}


def test_every_command_is_named() -> None:
    commands = (REPOSITORY / "docs" / "commands.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `d2c (\w+)", commands, re.MULTILINE)) == set(COMMANDS)


def test_the_readme_has_the_commands_that_ci_runs() -> None:
    marked = {block.mark: block for block in blocks(DOCUMENTS[0])}
    assert [len([*marked[name].lines()]) for name in CI_RUNS] == [1, 1, 1]


def test_every_document_is_linked() -> None:
    """From the README, pages of the lab book from the results."""
    docs = REPOSITORY / "docs"
    texts = DOCUMENTS[0].read_text(encoding="utf-8"), (docs / "results.md").read_text(encoding="utf-8")
    for file in DOCUMENTS[1:]:
        links = f"](docs/{file.name})" in texts[0], f"](lab/{file.name})" in texts[1]
        assert links == (file.parent == docs, file.parent == docs / "lab"), file


def check_options(words: list[str]) -> None:
    """Options of a command that is not run: of `d2c`, of a script, or those of other programs, unchecked."""
    if words[0] in ("d2c", "python"):
        command = cli.get_command(CONTEXT, words[1]) if words[0] == "d2c" else script(REPOSITORY / words[1])
        command.make_parser(click.Context(command)).parse_args(words[2:])


def anchors(document: Path) -> set[str]:
    """Of the headings of a document, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
