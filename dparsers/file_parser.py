"""D-trees that are there already, in a CoNLL-U file: another program's output, or the gold treebank."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from d2c.base.errors import FormatError, ModelError
from d2c.base.files import AnyPath
from d2c.dparsers.directories import ModelFormat, whole_directory
from d2c.dparsers.protocol import DependencyParser, Report
from d2c.trees.cleaning import Spelling, plain
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu

logger = logging.getLogger(__name__)

FILE, GOLD = ModelFormat("dparser", "file", 1), ModelFormat("dparser", "gold", 1)
_GOLD = "gold.conllu"


class FileParser(DependencyParser):
    """The d-trees of a CoNLL-U file, for exactly the sentences of that file.

    path: the file; a model keeps its absolute path, not what it holds
    dev:  with a second file, the first has the d-trees of the training treebank, and the second is the one
          that `parse` reads. They may be of any convention: see `DependencyParser.foreign`.
    """

    reads_along = True

    def __init__(self, path: AnyPath, dev: AnyPath | None = None) -> None:
        self.training = None if dev is None else Path(path)
        self.path = Path(path if dev is None else dev)
        self.foreign = dev is not None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn nothing. Raises ModelError where a file or the directory is not there to be used."""
        for path in (self.training, self.path):
            if path is not None and not path.is_file():
                raise ModelError(f"{path}: is no file")
        with whole_directory(Path(directory)) as staging:
            FILE.write(staging, {"path": str(self.path.absolute())})
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left in a directory. Raises ModelError."""
        path = FILE.read(directory).get("path")
        if not isinstance(path, str):
            raise ModelError(f"{directory}: names no file")
        return cls(path)

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order, as the file has it; one sentence is held at a time.

        Words that are only written otherwise (as -LRB- for a bracket) are counted in a warning.

        Raises FormatError for the first sentence that is not next in the file, and where the file goes on.
        """
        yield from self._aligned(sentences, self.path)

    def parse_training(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Read those of the training treebank from its file. Raises ModelError where none is given."""
        if self.training is None:
            raise ModelError("no d-trees of the training treebank are given")
        yield from self._aligned(sentences, self.training)

    @staticmethod
    def _aligned(sentences: Iterable[Tokens], path: Path) -> Iterator[DTree]:
        spelling = Spelling()
        yield from align(sentences, read_conllu(path), str(path), spelling=spelling)
        if spelling.words:
            logger.warning("%s: %s", path, spelling)


class GoldParser(DependencyParser):
    """The gold d-trees of the development treebank it was trained with, for exactly its sentences.

    What is wrong with the c-trees made of them is not a d-parser's fault.
    """

    reads_along = True

    def __init__(self) -> None:
        self.dtrees_: list[DTree] | None = None

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Copy the development treebank. Raises FormatError where it cannot be read."""
        self.dtrees_ = [*read_conllu(dev_conllu)]
        with whole_directory(Path(directory)) as staging:
            save_conllu(self.dtrees_, staging / _GOLD)
            GOLD.write(staging, {})
        return self

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left there. Raises ModelError, FormatError for a broken copy."""
        GOLD.read(directory)
        parser = cls()
        parser.dtrees_ = [*read_conllu(Path(directory) / _GOLD)]
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield d-trees as `FileParser.parse`. Raises ModelError where no treebank was given yet."""
        if self.dtrees_ is None:
            raise ModelError("this parser is not trained yet")
        yield from align(sentences, self.dtrees_, "gold d-trees")


def align(
    sentences: Iterable[Tokens],
    dtrees: Iterable[DTree],
    file: str,
    same_forms: bool = True,
    spelling: Spelling | None = None,
) -> Iterator[DTree]:
    """Take the d-trees of a file for the sentences that it should hold.

    same_forms: forms must be the same too, not only their number
    spelling:   counts those that are only written otherwise

    Empty sentences are in no file; an empty form is `_` there. Raises FormatError naming the first sentence
    that is another one, or is on one side only.
    """
    stream, number, spelling = iter(dtrees), 0, spelling or Spelling()
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
            raise FormatError(file, 0, number, f"has {len(read)} words, not {len(wanted)}")
        if same_forms and not spelling.same(read, wanted):
            pairs = enumerate(zip(read, wanted, strict=True))
            i = next(i for i, (a, b) in pairs if plain(a) != plain(b))
            raise FormatError(file, 0, number, f"word {i + 1} is {read[i]!r}, not {wanted[i]!r}")
        yield DTree(tokens, dtree.heads, labels=dtree.labels)
    if next(stream, None) is not None:
        raise FormatError(file, 0, number + 1, "is not in the input, which ends before it")
