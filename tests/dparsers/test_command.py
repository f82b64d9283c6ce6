"""D-parsers that are commands, here small programs of Python."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from itertools import count, islice
from pathlib import Path

import pytest

import d2c.dparsers.file_parser as command
from d2c.base.errors import ModelError
from d2c.dparsers.file_parser import CommandParser
from d2c.dparsers.settings import CommandSettings
from d2c.protocols.directories import SETTINGS
from d2c.protocols.dparser import DependencyParser
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from tests.dparsers.sentences import odd_sentences, treebank, write

# Learns the training treebank's first label; hangs every word below the one before it, with that label.
TRAIN = """
train, dev, model = sys.argv[1:]
open(dev).close()
label = next(line.split("\\t")[7] for line in open(train, encoding="utf-8") if line[0] == "1")
open(model, "w", encoding="utf-8").write(label)
"""
PARSE = """
model, text, output = sys.argv[1:]
label = open(model, encoding="utf-8").read()
with open(output, "w", encoding="utf-8") as stream:
    for line in open(text, encoding="utf-8"):
        if line != "\\n":
            row = line.split("\\t")
            assert row[6:8] == ["0", "_"], row
            row[6:8] = str(int(row[0]) - 1), label
            line = "\\t".join(row)
        stream.write(line)
"""


def command_parser(training: str, parsing: str) -> CommandParser:
    return CommandParser(CommandSettings(train_command=training, parse_command=parsing))


def template(code: str, *arguments: str) -> str:
    return shlex.join([sys.executable, "-c", "import sys\n" + code, *arguments])


TRAINING = template(TRAIN, "{train}", "{dev}", "{model}")
PARSING = template(PARSE, "{model}", "{input}", "{output}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "tree bank.conllu", treebank(1, 3))


def failing(code: str, file: Path, tmp_path: Path, sentences: list[Tokens]) -> str:
    """The message where the second command is such a program."""
    parser = command_parser(TRAINING, template(code, "{model}", "{input}", "{output}"))
    parser.train(file, file, tmp_path / "model")
    with pytest.raises(ModelError) as error:
        [*parser.parse(sentences)]
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(sys.executable).removeprefix(f"output of {sys.executable}")


def test_a_new_model_goes_with_its_parser(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies in a directory that the next one sweeps, if this process is killed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    parser = command_parser(TRAINING, PARSING).train(file, file, tmp_path / "model")
    (left,) = (tmp_path / "scratch").iterdir()
    assert left.name.startswith("d2c-scratch-")
    del parser
    assert not left.exists()
    with pytest.raises(ModelError):
        command_parser(template("sys.exit(1)"), PARSING).train(file, file, tmp_path / "other")
    assert not [*(tmp_path / "scratch").iterdir()]


def test_any_sentence_gets_its_heads(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_WINDOW", 3)
    sentences = odd_sentences(1, (2, 0, 5, 0, 0, 0, 1, 30))
    parser: DependencyParser = command_parser(TRAINING, PARSING)
    with pytest.raises(ModelError, match="not trained"):
        next(parser.parse(sentences))
    parser.train(file, file, tmp_path / "model")
    (tmp_path / "model").rename(tmp_path / "moved")
    label = (treebank(1, 3)[0].labels or ())[0]
    for each in (parser, CommandParser.load(tmp_path / "moved", PARSING)):
        assert [*each.parse(sentences)] == [
            DTree(tokens, tuple(range(len(tokens))), labels=(label,) * len(tokens)) for tokens in sentences
        ]


def test_what_would_break_a_line_is_a_blank_for_the_command(file: Path, tmp_path: Path) -> None:
    parser = command_parser(TRAINING, PARSING).train(file, file, tmp_path / "model")
    odd = Tokens(("a\tb", "c\n"), ("X\r", ""), ("", "\t"), ("A=B", ""))
    assert [(one.tokens, one.heads) for one in parser.parse([odd])] == [(odd, (0, 1))]


def test_streams_are_parsed_in_windows(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_WINDOW", 20)
    parser = command_parser(TRAINING, PARSING).train(file, file, tmp_path / "model")
    stream = (Tokens((f"w{i}",), ("X",)) for i in count())
    assert [dtree.tokens.forms for dtree in islice(parser.parse(stream), 50)] == [
        (f"w{i}",) for i in range(50)
    ]


def test_models_may_be_directories_or_nothing(file: Path, tmp_path: Path) -> None:
    directory = template("import os; os.mkdir(sys.argv[1]); open(sys.argv[1] + '/x', 'w')", "{model}")
    command_parser(directory, PARSING).train(file, file, tmp_path / "a")
    assert sorted(str(p.relative_to(tmp_path / "a")) for p in (tmp_path / "a").rglob("*")) == [
        SETTINGS,
        "model",
        "model/x",
    ]
    command_parser(template("pass"), PARSING).train(file, file, tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == [SETTINGS]


def test_a_model_that_should_appear(file: Path, tmp_path: Path) -> None:
    code = "print('one', 'two', 'three', 'no data', sep='\\n', file=sys.stderr)"
    training = template(code, "{model}")
    with pytest.raises(ModelError) as error:
        command_parser(training, PARSING).train(file, file, tmp_path / "new")
    message = "left nothing at {model}; it said: two | three | no data"
    assert str(error.value) == f"the command {training!r} {message}"
    assert not (tmp_path / "new").exists()
    with pytest.raises(ModelError, match="it said: nothing$"):
        command_parser(template("pass", "{model}"), PARSING).train(file, file, tmp_path / "new")


def test_a_model_holds_no_command(file: Path, tmp_path: Path) -> None:
    command_parser(TRAINING, PARSING).train(file, file, tmp_path / "model")
    settings = json.loads((tmp_path / "model" / SETTINGS).read_text(encoding="utf-8"))
    assert settings == {"dparser": "cmd", "format": 1}
    assert "python" not in (tmp_path / "model" / SETTINGS).read_text(encoding="utf-8")
    with pytest.raises(ModelError, match="must be given again"):
        CommandParser.load(tmp_path / "model")


def test_no_shell_is_asked(file: Path, tmp_path: Path) -> None:
    harmless = template("assert sys.argv[1:] == ['$HOME', ';', '*', '>x', '{input}']", "X").removesuffix("X")
    command_parser(harmless + "'$HOME' ; * >x {input}", PARSING).train(file, file, tmp_path / "model")


def test_failing_commands(file: Path, tmp_path: Path) -> None:
    sentences = [Tokens(("a", "b"), ("A", "B"))]
    code = "print('one\\ntwo \\n', file=sys.stderr); sys.exit(3)"
    assert failing(code, file, tmp_path, sentences) == ": failed (exit status 3): two"
    assert failing("sys.exit(1)", file, tmp_path, sentences) == ": failed (exit status 1): no message"
    code = "import os; os.kill(os.getpid(), 9)"
    assert failing(code, file, tmp_path, sentences) == ": failed (exit status -9): no message"
    with pytest.raises(ModelError, match=r"failed \(exit status 1\): ZeroDivisionError: division by zero$"):
        command_parser(template("1 / 0"), PARSING).train(file, file, tmp_path / "new")
    with pytest.raises(ModelError, match="^no-such-program: cannot be run: No such file or directory$"):
        command_parser("no-such-program {train}", PARSING).train(file, file, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_other_sentences_come_back(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "{}\\tx\\t_\\tX\\tX\\t_\\t0\\troot\\t_\\t_\\n"
    two = [Tokens(("a", "b"), ("A", "B"))] * 2
    pair = row.format(1) + row.format(2) + "\\n"

    def write_out(text: str) -> str:
        return failing(f"open(sys.argv[3], 'w').write('{text}')", file, tmp_path, two)

    assert write_out(pair) == ": sentence 2: is missing: the file ends before it"
    assert write_out(pair * 3) == ": sentence 3: is not in the input, which ends before it"
    assert write_out(pair + row.format(1)) == ": sentence 2: has 1 word, not 2"
    assert write_out("1\\n") == ":1: sentence 1: expected 10 columns separated by tabs, found 1"
    assert failing("pass", file, tmp_path, two) == ": cannot be read: No such file or directory"
    monkeypatch.setattr(command, "_WINDOW", 1)
    two = [two[0], Tokens(("a",), ("A",))]
    assert write_out(pair) == ": sentence 2: has 2 words, not 1"


@pytest.mark.parametrize(
    ("training", "parsing", "message"),
    [
        ("x", "y {input}", "the command 'y {input}' has no {output}"),
        ("x", "y", "the command 'y' has no {input}"),
        ("x", "y 'z", 'the command "y \'z" cannot be read: No closing quotation'),
        ("x 'y", PARSING, 'the command "x \'y" cannot be read: No closing quotation'),
        (" ", PARSING, "a command is empty"),
    ],
)
def test_commands_that_cannot_be_run(
    file: Path, tmp_path: Path, training: str, parsing: str, message: str
) -> None:
    with pytest.raises(ModelError) as error:
        command_parser(training, parsing).train(file, file, tmp_path / "model")
    assert str(error.value) == message
