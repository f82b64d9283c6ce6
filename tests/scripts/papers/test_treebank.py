"""Treebanks of tables: the TOML file that names them, and what steps know of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from d2c.base.errors import FormatError
from d2c.training.spec import TrainingSpec
from d2c.trees.formats.reading import Reading
from experiments.experiment import Experiment, Treebank
from experiments.store import Store
from treebanks.files import read_treebanks

TREES = "(TOP (S (NP (PRP They)) (VP (VBD slept)) (. .)))\n(TOP (S (NP (PRP She)) (VP (VBD ate))))\n"
WHOLE = """
[negra]
train = "negra-train.export"
dev = "/elsewhere/negra-dev.export"
test = "negra-test.export"
head-rules = "german"
format = "export"
move-punctuation = true
traces = false
sentences = 2000

["Alpino, Dutch"]
train = "a.xml"
dev = "b.xml"
head-rules = "marked"
"""


def write(directory: Path, text: str) -> Path:
    file = directory / "treebanks.toml"
    file.write_text(text)
    return file


def test_all_that_may_be_said(tmp_path: Path) -> None:
    german, dutch = read_treebanks(write(tmp_path, WHOLE))
    files = {
        "train": tmp_path / "negra-train.export",
        "dev": Path("/elsewhere/negra-dev.export"),
        "test": tmp_path / "negra-test.export",
    }
    reading = Reading("export", traces=False, move_punctuation=True)
    assert german == Treebank("negra", files, "german", reading, 2000)
    assert german.reported == "test" and dutch.reported == "dev"
    named = 'dparser = "stanza:graph"\nsystems = {disco-dop = "dev.dbr", other = "/x/y"}\n'
    (own,) = read_treebanks(write(tmp_path, BOTH + named))
    assert own.dparser == "stanza"  # the shortest name of it
    assert own.systems == {"disco-dop": tmp_path / "dev.dbr", "other": Path("/x/y")}
    assert (dutch.name, dutch.head_rules, dutch.reading) == ("Alpino, Dutch", "marked", Reading(marked=True))


BOTH = '[x]\ntrain = "a"\ndev = "b"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no treebank"),
        ("# nothing\n", "names no treebank"),
        ("[x\n", "Expected ']' at the end of a table declaration (at line 1, column 3)"),
        ('train = "a"\n', "train is not a section with train and dev"),
        ('[x]\ntrain = "a"\n', "x has no dev"),
        ('[x]\ndev = "a"\n', "x has no train"),
        (BOTH + 'heads = "german"\n', "x says 'heads', which means nothing here"),
        (BOTH + 'marked = "yes"\n', "x says 'marked', which means nothing here"),
        (BOTH + 'sentences = "100"\n', "x: sentences is of the wrong type"),
        (BOTH + "sentences = true\n", "x: sentences is of the wrong type"),
        (BOTH + "sentences = 0\n", "x: sentences is less than 1"),
        (BOTH + 'traces = "yes"\n', "x: traces is of the wrong type"),
        (BOTH + "test = 1\n", "x: test is of the wrong type"),
        (BOTH + 'format = "word"\n', "x: the format is none of brackets"),
        (BOTH + 'dparser = "malt"\n', "x: the dparser is none of stanza, "),
        (BOTH + 'systems = "x"\n', "x: systems is of the wrong type"),
        (BOTH + BOTH, "Cannot declare ('x',) twice (at line 4, column 3)"),
    ],
)
def test_errors_are_one_line(text: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, text)
    with pytest.raises(FormatError) as error:
        read_treebanks(file)
    assert str(error.value).startswith(f"{file}: {message}") and "\n" not in str(error.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"[\xff]")
    with pytest.raises(FormatError, match="x.toml: .*utf-8"):
        read_treebanks(file)


def test_sentences_are_drawn_evenly(tmp_path: Path) -> None:
    """One of each stretch of the file, by the seed; errors name the sentence of the file."""
    file = tmp_path / "train.mrg"
    file.write_text("".join(f"(TOP (NN w{i}))\n" for i in range(1, 24)))
    treebank = Treebank("x", {"train": file, "dev": file}, sentences=5)

    def drawn(treebank: Treebank) -> list[int]:
        return [int(ctree.tokens.forms[0][1:]) for ctree in treebank.trees("train")]

    numbers = drawn(treebank)
    assert numbers == [*treebank.numbers("train")] == drawn(replace(treebank))
    bounds = [i * 23 // 5 for i in range(6)]
    assert all(begin < number <= end for number, (begin, end) in zip(numbers, pairwise(bounds), strict=True))
    other = replace(treebank, seed=2)
    assert drawn(other) != numbers and other.made_of() != treebank.made_of()
    assert drawn(replace(treebank, sentences=23)) == drawn(replace(treebank, sentences=99)) == [*range(1, 24)]
    assert len([*treebank.trees("dev")]) == 23
    experiment = Experiment(treebank, TrainingSpec.of(file, file), Store(tmp_path / "steps"))

    def refuse(_: object) -> None:
        raise ValueError("no")

    with pytest.raises(FormatError) as caught:
        list(experiment._each(refuse, treebank.trees("train"), "train"))
    assert caught.value.sentence == numbers[0]


def test_some_sentences_of_train_and_all_of_dev(tmp_path: Path) -> None:
    for name in ("train", "dev"):
        (tmp_path / f"{name}.mrg").write_text(TREES)
    files = {name: tmp_path / f"{name}.mrg" for name in ("train", "dev")}
    treebank = Treebank("x", files, sentences=1)
    assert [len([*treebank.trees(name)]) for name in ("train", "dev")] == [1, 2]
    made_of = treebank.made_of()
    assert made_of["sentences"] == 1 and made_of["head_rules"] == "collins"
    assert made_of["train"] == made_of["dev"]  # equal content
    others = [
        replace(treebank, sentences=2),
        replace(treebank, head_rules="german"),
        replace(treebank, reading=Reading(move_punctuation=True)),
        replace(treebank, files={**files, "test": files["dev"]}),
    ]
    assert all(other.made_of() != made_of for other in others)
    files["train"].rename(tmp_path / "other.mrg")
    moved = replace(treebank, name="y", files={**files, "train": tmp_path / "other.mrg"})
    assert moved.made_of() == made_of
    moved.files["train"].write_text(TREES + TREES)
    assert moved.made_of() != made_of
