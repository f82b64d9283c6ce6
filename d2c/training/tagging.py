"""The tagger of a model, and trees with the tags that it predicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from d2c.base.errors import located
from d2c.base.inputs import Paths, files_of, names_of, of_each
from d2c.base.progress import counted
from d2c.base.settings import set_by, setting
from d2c.base.temporary import scratch
from d2c.models.model import TAGS, save_abbreviations
from d2c.protocols.dparser import Tagger
from d2c.protocols.route import Progress
from d2c.protocols.settings import SharedSettings
from d2c.routes.dparsers import make_tagger
from d2c.training.jackknife import blocks, jackknife_tags, write_tokens
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.formats.reading import Read
from d2c.trees.heads import load_head_rules

FOLDS = 10  # of jackknifing tags, by default


@dataclass(frozen=True, kw_only=True)
class TaggerChoice(SharedSettings):
    """The tagger of a model, if it is to have one, and whether all else learns from its tags.

    epochs: of the tagger; the option of this name is the d-parser's
    folds:  of jackknifing, where tags are predicted; None: FOLDS
    """

    name: str | None = set_by(
        "tagger", setting(None, "Train this tagger on the treebank's tags, so that `parse` can read text.")
    )
    tags: str = setting(
        "gold",
        "The tags to learn from: the treebank's, or those that the tagger predicts by jackknifing.",
        choices=TAGS,
    )
    epochs: float | None = set_by(None, setting(None, above=0))
    folds: int | None = set_by("jackknife", setting(None, least=2))

    @property
    def predicts(self) -> bool:
        """Return whether d-parser and routes learn from tags that the tagger predicts."""
        return self.name is not None and self.tags == TAGS[1]

    @property
    def tag_folds(self) -> int:
        """Return how many folds predict the tags of the training treebank; 0: all learn from its own."""
        return (self.folds or FOLDS) if self.predicts else 0

    def make(self) -> Tagger:
        """Return the tagger, untrained. Raises ModelError."""
        return make_tagger(self.name or "", self)

    def train(
        self,
        sources: tuple[Paths, Paths],
        reading: Read,
        head_rules: str,
        directory: Path,
        progress: Progress | None = None,
    ) -> tuple[Tagger, Read]:
        """Train the tagger on treebank files into a directory. Return it, and how to read them from now on:
        with the tags that it predicts, if it is to, and with head children found by the treebank's own tags.

        sources: the files of train, and of dev

        Raises FormatError for files that cannot be read, or have fewer sentences than folds.
        """
        sizes = dict[Path, int]()
        parts: list[list[Tokens]] = [[], []]
        for part, source in zip(parts, sources, strict=True):
            for file in files_of(source):
                before = len(part)
                part.extend(one.tokens for one in counted(reading(file), f"reading {file}"))
                sizes[file] = len(part) - before
        tagger, tags = self.train_on(parts, sources, directory, progress)
        save_abbreviations(parts[0], directory)
        if not self.predicts:
            return tagger, reading
        rows = [(iter(of_part), files_of(source)) for of_part, source in zip(tags, sources, strict=True)]
        by_file = {file: [*islice(row, sizes[file])] for row, files in reversed(rows) for file in files}
        return tagger, Retagged(reading, head_rules, by_file)

    def train_on(
        self,
        parts: Sequence[Sequence[Tokens]],
        sources: Sequence[Paths],
        directory: Path,
        progress: Progress | None = None,
    ) -> tuple[Tagger, list[list[tuple[str, ...]]]]:
        """Train the tagger on the first part of a treebank, choosing on the second. Return it, and, if tags
        are to be predicted, its tags of all parts, those of the first part by jackknifing.

        sources: files that the parts are from, which errors name
        """
        folds = self.tag_folds
        if folds:
            with located(names_of(sources[0])):
                blocks(len(parts[0]), folds)  # before hours of training
        with scratch() as files:
            train, dev = (
                write_tokens(parts[i], files / f"{name}.conllu", sources[i])
                for i, name in enumerate(("train", "dev"))
            )
            tagger = self.make().train(train, dev, directory, progress)
            if not folds:
                return tagger, []
            by_others = list(jackknife_tags(self.make, parts[0], dev, folds, files, progress))
        predicted = ([one.tags for one in tagger.tag(one.forms for one in part)] for part in parts[1:])
        return tagger, [by_others, *predicted]


@dataclass(frozen=True)
class Retagged:
    """Treebank files with other tags; the treebank's own tags say which children are heads.

    Lemmas and morphology are left out: no tagger here predicts them.
    """

    reading: Read
    head_rules: str
    tags: Mapping[Path, Sequence[tuple[str, ...]]]

    def __call__(self, paths: Paths) -> Iterator[CTree]:
        """Yield the trees. Raises FormatError."""
        return of_each(lambda path: retagged(self.reading(path), self.tags[path], self.head_rules))(paths)


def retagged(ctrees: Iterable[CTree], tags: Iterable[tuple[str, ...]], head_rules: str) -> Iterator[CTree]:
    """Yield trees with other tags; see `Retagged`."""
    rules = None
    for ctree, of_words in zip(ctrees, tags, strict=True):
        if ctree.head_children is None and head_rules != "marked":
            rules = rules or load_head_rules(head_rules)
            ctree = rules.apply(ctree)
        yield replace(ctree, tokens=replace(ctree.tokens, tags=of_words, lemmas=None, morphs=None))
