"""Any d-parser that can be run: one command learns from CoNLL-U, another adds heads and labels to CoNLL-U.

Commands are cut into words as a POSIX shell would cut them, and run without a shell. Anything else (`<`, `|`)
takes one: `sh -c 'tool "$0" <"$1" >"$2"' {model} {input} {output}`.
"""

from __future__ import annotations

import shlex
import shutil
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from d2c.base.children import run
from d2c.base.errors import FormatError, ModelError
from d2c.base.progress import log
from d2c.base.temporary import scratch
from d2c.dparsers.directories import ModelFormat, whole_directory
from d2c.dparsers.file_parser import align
from d2c.dparsers.protocol import DependencyParser, Report
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.chunks import batches
from d2c.trees.formats.conllu import read_conllu, save_conllu

FORMAT = ModelFormat("dparser", "cmd", 1)  # and whatever the command wrote
_MODEL = "model"
_KEPT = 3  # lines of standard error
_WINDOW = 10_000  # sentences that one run of the command parses: it may be slow to start


class CommandParser(DependencyParser):
    """A d-parser that is run by two commands.

    train_template: with {train} and {dev}, two CoNLL-U files, and {model}, where it may leave a file or a
                    directory, which is copied afterwards
    parse_template: with {model}, {input}, a CoNLL-U file whose heads are all 0, and {output}, where it must
                    leave the same sentences with heads and labels
    timeout:        seconds after which a run of either is ended; None: never

    Labels are written as they are. Forms may come back changed, but not more or fewer of them.
    """

    def __init__(self, train_template: str, parse_template: str, timeout: float | None = None) -> None:
        self.train_template, self.parse_template, self.timeout = train_template, parse_template, timeout
        self.model_: Path | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Run the first command. Raises ModelError where it fails, or leaves no model where it should."""
        self._check()
        with ExitStack() as lifetime, whole_directory(Path(directory)) as staging:
            model = (
                lifetime.enter_context(scratch()) / _MODEL
            )  # the other directory may be moved before `parse`
            files = {"train": train_conllu, "dev": dev_conllu, "model": model}
            last_lines = _run(self.train_template, files, self.timeout)
            if "{model}" in self.train_template and not model.exists():
                message = f"left nothing at {{model}}; it said: {' | '.join(last_lines) or 'nothing'}"
                raise ModelError(f"the command {self.train_template!r} {message}")
            if model.is_dir():
                shutil.copytree(model, staging / _MODEL)
            elif model.exists():
                shutil.copyfile(model, staging / _MODEL)
            FORMAT.write(staging, {})
            weakref.finalize(self, lifetime.pop_all().close)
        self.model_ = model
        return self

    @classmethod
    def load(cls, directory: Path, parse_template: str | None = None, timeout: float | None = None) -> Self:
        """Return the parser that `train` left in a directory, which holds no commands, since using someone's
        model must not run what they chose: the one that parses must be given again. Raises ModelError."""
        FORMAT.read(directory)
        if parse_template is None:
            raise ModelError(f"{directory}: was made by a command; the one that parses must be given again")
        parser = cls("", parse_template, timeout)
        parser._check()
        parser.model_ = Path(directory) / _MODEL
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; ten thousand sentences are held at a time.

        Raises ModelError where the command fails or returns other sentences.
        """
        if self.model_ is None:
            raise ModelError("this parser is not trained yet")
        done = 0
        for window in batches(sentences, _WINDOW):
            try:
                yield from self._parse(self.model_, window)
            except FormatError as error:
                name, known = f"output of {_words(self.parse_template)[0]}", error.after(done)
                raise ModelError(str(FormatError(name, known.line, known.sentence, known.message))) from None
            done += sum(1 for tokens in window if len(tokens))

    def _parse(self, model: Path, window: Sequence[Tokens]) -> Iterator[DTree]:
        """Yield what one run of the command returns, which empty sentences need not. Raises FormatError."""
        if not any(map(len, window)):
            yield from align(window, (), "")
            return
        with scratch() as directory:
            files = {"model": model, "input": directory / "input", "output": directory / "output"}
            save_conllu(map(_without_heads, filter(len, window)), files["input"])
            _run(self.parse_template, files, self.timeout)
            yield from align(window, read_conllu(files["output"]), "", same_forms=False)

    def _check(self) -> None:
        """Raise ModelError for commands that cannot be run."""
        words = " ".join(_words(self.parse_template))
        if missing := [name for name in ("{input}", "{output}") if name not in words]:
            raise ModelError(f"the command {self.parse_template!r} has no {missing[0]}")


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
    """Return a sentence for the command's input; forms and tags that are empty, and all labels, are `_`."""
    forms, tags = tuple(form or "_" for form in tokens.forms), tuple(tag or "_" for tag in tokens.tags)
    return DTree(Tokens(forms, tags, tokens.lemmas, tokens.morphs), (0,) * len(forms))
