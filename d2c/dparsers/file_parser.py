"""D-parsers that read CoNLL-U files: existing ones, by another program or the gold treebank, or those that a
command writes. Any d-parser will do that can be run as two commands: the first learns from CoNLL-U, and the
second adds heads and labels.

Commands are split into words as a POSIX shell would split them, and run without a shell. What needs a shell
(`<`, `|`) must call it: `sh -c 'tool "$0" <"$1" >"$2"' {model} {input} {output}`.
"""

from __future__ import annotations

import logging
import shlex
import shutil
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, Self

from d2c.base.batches import batches
from d2c.base.children import run
from d2c.base.counting import many
from d2c.base.errors import FormatError, ModelError, ParameterError
from d2c.base.progress import log
from d2c.base.temporary import scratch, whole_directory
from d2c.dparsers.settings import CommandSettings, FileSettings
from d2c.protocols.abilities import DParserAbilities
from d2c.protocols.directories import SETTINGS, ModelFormat
from d2c.protocols.dparser import DependencyParser, Report
from d2c.trees.cleaning import Spelling, plain
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu

logger = logging.getLogger(__name__)

_GOLD, _MODEL = "gold.conllu", "model"
_KEPT = 3  # last lines of a command's standard error
_BLANKS = str.maketrans("\t\r\n", "   ")
_WINDOW = 10_000  # sentences that one run of a command parses, since it may be slow to start


class FileParser(DependencyParser):
    """The d-trees of a CoNLL-U file, for exactly the sentences of that file."""

    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "file", 1)
    abilities = DParserAbilities(in_order=True)

    def __init__(self, settings: FileSettings) -> None:
        self.settings, both = settings, settings.dev is not None
        self.training, self.path = settings.path if both else None, settings.dev or settings.path
        self.abilities = DParserAbilities(in_order=True, foreign=both)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn nothing. Raises ModelError where a file is missing or the directory cannot be used."""
        self._check()
        with whole_directory(Path(directory), SETTINGS) as staging:
            self.FORMAT.write(staging, {"path": str(self.path.absolute())})
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left in a directory. Raises ModelError, also for a missing file."""
        path = cls.FORMAT.read(directory).get("path")
        if not isinstance(path, str):
            raise ModelError(f"{directory}: names no file")
        parser = cls(FileSettings(path=Path(path)))
        parser._check()
        return parser

    def _check(self) -> None:
        """Raise ModelError unless the paths are those of files."""
        for path in (self.training, self.path):
            if path is not None and not path.is_file():
                raise ModelError(f"{path}: is no file")

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order, as the file has it; one sentence is held at a time.

        Words that differ from the file's only in spelling (-LRB- for a bracket) are counted in a warning.

        Raises FormatError at the first sentence that is not the next in the file, or if the file has more.
        """
        yield from align(sentences, read_conllu(self.path), str(self.path))

    def parse_training(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-trees of the training treebank from its file. Raises ModelError where none is given."""
        if self.training is None:
            raise ModelError("no d-trees of the training treebank are given")
        yield from align(sentences, read_conllu(self.training), str(self.training))


class GoldParser(DependencyParser):
    """The gold d-trees of the development treebank it was trained with, for exactly its sentences.

    So errors in the c-trees made from these d-trees are not those of a d-parser.
    """

    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "gold", 1)
    abilities = DParserAbilities(in_order=True)
    dtrees_: list[DTree] | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Copy the development treebank. Raises FormatError where it cannot be read."""
        self.dtrees_ = [*read_conllu(dev_conllu)]
        with whole_directory(Path(directory), SETTINGS) as staging:
            save_conllu(self.dtrees_, staging / _GOLD)
            self.FORMAT.write(staging, {})
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left. Raises ModelError, FormatError for a broken copy."""
        cls.FORMAT.read(directory)
        parser = cls()
        parser.dtrees_ = [*read_conllu(Path(directory) / _GOLD)]
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield d-trees as `FileParser.parse` does. Raises ModelError for a parser not yet trained."""
        if self.dtrees_ is None:
            raise ModelError("this parser is not trained yet")
        yield from align(sentences, self.dtrees_, "gold d-trees")


def align(
    sentences: Iterable[Tokens], dtrees: Iterable[DTree], file: str, same_forms: bool = True
) -> Iterator[DTree]:
    """Yield the d-trees of a file for the sentences that the file should hold.

    same_forms: whether the forms, too, must be the same, not only their number; forms that differ only in
                spelling are counted in a warning

    The file has no empty sentences, and `_` for an empty form. Raises FormatError, which names the first
    sentence that differs, or that only one side has.
    """
    stream, number, spelling = iter(dtrees), 0, Spelling()
    for tokens in sentences:
        if not len(tokens):
            yield DTree(tokens, (), labels=())
            continue
        number += 1
        dtree = next(stream, None)
        if dtree is None:
            raise FormatError(file, 0, number, "is missing: the file ends before it")
        read, wanted = dtree.tokens.forms, tuple(form or "_" for form in tokens.forms)
        if len(read) != len(wanted):
            raise FormatError(file, 0, number, f"has {many(len(read), 'word')}, not {len(wanted)}")
        if same_forms and not spelling.same(read, wanted):
            pairs = enumerate(zip(read, wanted, strict=True))
            i = next(i for i, (a, b) in pairs if plain(a) != plain(b))
            raise FormatError(file, 0, number, f"word {i + 1} is {read[i]!r}, not {wanted[i]!r}")
        yield DTree(tokens, dtree.heads, labels=dtree.labels)
    if next(stream, None) is not None:
        raise FormatError(file, 0, number + 1, "is not in the input, which ends before it")
    if spelling.words:
        logger.warning("%s: %s", file, spelling)


class CommandParser(DependencyParser):
    """A d-parser that is run as two commands.

    Labels are passed on unchanged. The parsing command may change forms, but not their number.
    """

    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "cmd", 1)  # beside it, what the command wrote

    def __init__(self, settings: CommandSettings) -> None:
        self.settings = settings
        self.model_: Path | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Run the training command. Raises ModelError where it fails, or leaves nothing at {model}."""
        self._check()
        with ExitStack() as lifetime, whole_directory(Path(directory), SETTINGS) as staging:
            # The command writes into a scratch directory: `directory` may be moved before `parse`.
            model = lifetime.enter_context(scratch()) / _MODEL
            files = {"train": train_conllu, "dev": dev_conllu, "model": model}
            command = self.settings.train_command
            last_lines = _run(command, files, self.settings.timeout)
            if "{model}" in command and not model.exists():
                message = f"left nothing at {{model}}; it said: {' | '.join(last_lines) or 'nothing'}"
                raise ModelError(f"the command {command!r} {message}")
            if model.is_dir():
                shutil.copytree(model, staging / _MODEL)
            elif model.exists():
                shutil.copyfile(model, staging / _MODEL)
            self.FORMAT.write(staging, {})
            weakref.finalize(self, lifetime.pop_all().close)
        self.model_ = model
        return self

    @classmethod
    def load(cls, directory: Path, parse_command: str | None = None, timeout: float | None = None) -> Self:
        """Return the parser that `train` left in a directory. The parsing command must be given again: using
        someone's model must not run what they chose, so a model holds no commands. Raises ModelError."""
        cls.FORMAT.read(directory)
        if parse_command is None:
            message = f"{directory}: was made by a command; the one that parses must be given again: "
            raise ParameterError(message, "parse_command", " COMMAND")
        parser = cls(CommandSettings(train_command="", parse_command=parse_command, timeout=timeout))
        parser._check()
        parser.model_ = Path(directory) / _MODEL
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; up to ten thousand sentences are held at a time.

        Raises ModelError where the command fails or returns other sentences.
        """
        if self.model_ is None:
            raise ModelError("this parser is not trained yet")
        done = 0
        for window in batches(sentences, _WINDOW, len):
            try:
                yield from self._parse(self.model_, window)
            except FormatError as error:
                name, known = f"output of {_words(self.settings.parse_command)[0]}", error.after(done)
                raise ModelError(str(FormatError(name, known.line, known.sentence, known.message))) from None
            done += sum(1 for tokens in window if len(tokens))

    def _parse(self, model: Path, window: Sequence[Tokens]) -> Iterator[DTree]:
        """Yield the d-trees from one run of the command; empty sentences need no run. Raises FormatError."""
        if not any(map(len, window)):
            yield from align(window, (), "")
            return
        with scratch() as directory:
            files = {"model": model, "input": directory / "input", "output": directory / "output"}
            save_conllu(map(_without_heads, filter(len, window)), files["input"])
            _run(self.settings.parse_command, files, self.settings.timeout)
            yield from align(window, read_conllu(files["output"]), "", same_forms=False)

    def _check(self) -> None:
        """Raise ModelError for a parsing command that cannot be split, or lacks {input} or {output}."""
        command = self.settings.parse_command
        words = " ".join(_words(command))
        if missing := [name for name in ("{input}", "{output}") if name not in words]:
            raise ModelError(f"the command {command!r} has no {missing[0]}")


def _words(template: str) -> list[str]:
    try:
        return shlex.split(template)
    except ValueError as error:
        raise ModelError(f"the command {template!r} cannot be read: {error}") from None


def _run(template: str, files: dict[str, Path], seconds: float | None) -> Sequence[str]:
    """Run a command with the names of files filled in; return the last lines of its standard error.

    Raises ModelError where it fails.
    """
    command = _words(template)
    if not command:
        raise ModelError("a command is empty")
    for name, path in files.items():
        command = [word.replace(f"{{{name}}}", str(path.absolute())) for word in command]
    last_lines = deque[str](maxlen=_KEPT)
    log.debug("running %s", command[0])
    try:
        for line in run(command, seconds=seconds):
            last_lines.append(line)
            log.debug("%s says: %s", command[0], line)
    except ChildProcessError as error:
        raise ModelError(f"{command[0]}: {error}") from None
    return last_lines


def _without_heads(tokens: Tokens) -> DTree:
    """Return a sentence for the command's input, with all heads 0. Empty values and all labels are `_`, tabs
    and line breaks are blanks."""

    def column(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(value.translate(_BLANKS) or "_" for value in values)

    lemmas, morphs = tokens.lemmas and column(tokens.lemmas), tokens.morphs and column(tokens.morphs)
    return DTree(Tokens(column(tokens.forms), column(tokens.tags), lemmas, morphs), (0,) * len(tokens))
