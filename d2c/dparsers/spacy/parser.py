"""spaCy's dependency parser, trained from scratch on CoNLL-U, on the CPU.

A greedy arc-eager parser with a dynamic oracle (Honnibal and Johnson 2015) over vectors of a convolutional
network, which sees words (whole, prefix, suffix, shape) and tags. Crossing arcs are lifted for training, and
restored by labels that mark them (Nivre and Nilsson 2005). The parser gives exactly one root and no cycle.

spaCy splits labels at `||`, has uses of its own for `ROOT`, `dep`, `subtok` and the empty label, reads `-` in
names of actions, and labels every root `ROOT`. So it learns `d2c.protocols.codes`; labels stay in settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Self

import numpy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vectors import Vectors

from d2c.base.batches import batches
from d2c.base.errors import ModelError
from d2c.base.model_files import as_type, check_file
from d2c.base.temporary import whole_directory
from d2c.dparsers.settings import SpacySettings
from d2c.dparsers.spacy.internals import load_weights, resize
from d2c.dparsers.spacy.training import (
    LEFT_OUT,
    SEEN,
    SpacyEstimator,
    forgetting,
    known_sizes,
    tok2vec,
)
from d2c.dparsers.spacy.vectors import kept_vectors, read_vectors, write_vectors
from d2c.protocols.codes import Codes, read_trees
from d2c.protocols.directories import SETTINGS, ModelFormat, loading
from d2c.protocols.dparser import DependencyParser, Report
from d2c.protocols.training import DEV_WORDS, evaluating_arcs, seeded, thinned
from d2c.trees.ctree import Tokens
from d2c.trees.dtree import DTree

MOST_ACTIONS = 1 << 22  # bytes

_WINDOW = 2048  # sentences that `parse` holds at a time
_BATCH = 1024  # sentences that spaCy sorts by length at a time; it parses a quarter of them at once

# Sizes of networks. Narrow: spaCy's own, except that the hidden layer is twice as wide for the many labels.
SIZES = {
    name: {"width": width, "depth": 4, "hidden": 128, "rows": 5000}
    for name, width in (("narrow", 96), ("wide", 128))
}


class SpacyParser(SpacyEstimator, DependencyParser):
    """spaCy's dependency parser. It sees words and tags (XPOS), and word vectors if there are any."""

    COMPONENT: ClassVar[str] = "parser"
    # The model directory: the settings and spaCy's files of the component.
    FORMAT: ClassVar[ModelFormat] = ModelFormat("dparser", "spacy", 1, ("preset", "epochs", "seed"))
    WHO: ClassVar[str] = "spacy"
    PRESETS: ClassVar[Mapping[str, int]] = {"default": 30, "small": 10}  # passes over the training treebank

    settings: SpacySettings

    def __init__(self, settings: SpacySettings) -> None:
        super().__init__(settings)
        self.codes_ = Codes((), None)

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learn, and leave the model with the best LAS on the second file. Raises as `DependencyParser`."""
        train, dev = read_trees(train_conllu), read_trees(dev_conllu)
        dev = [*thinned(dev, DEV_WORDS)]
        self.codes_ = Codes.of(train)
        vectors = self.settings.vectors
        with seeded(self.settings.seed), whole_directory(directory, SETTINGS) as staging:
            self._build(read_vectors(vectors) if vectors else None)
            examples = [Example(self._doc(dtree.tokens), self._gold_doc(dtree)) for dtree in train]
            evaluate = evaluating_arcs(self, dev, progress)
            self._learn(examples, evaluate, staging, train, dev)
            self._leave(staging)
        return self

    def _leave(self, directory: Path) -> None:
        """Complete a model's directory: write settings, and static vectors if the network sees any."""
        if self.nlp_.vocab.vectors.data.size:
            write_vectors(directory, self.nlp_.vocab.vectors)
        said = {"sizes": SIZES[self.settings.network]} | self.codes_.settings
        self.FORMAT.write(directory, said, self.settings)

    @classmethod
    def load(cls, directory: Path) -> Self:
        """Return the parser that `train` left, whose files cannot bring code. Raises ModelError."""
        said, path = cls.FORMAT.read(directory), Path(directory) / cls.COMPONENT
        with loading(path):
            network = known_sizes(said["sizes"], SIZES)
            parser = cls(SpacySettings(network=network, **cls.FORMAT.parameters_in(said)))
            parser.codes_ = as_type(said, Codes)
            parser._build(kept_vectors(Path(directory)))
            parser._load_weights(path)
        return parser

    def parse(self, sentences: Iterable[Tokens]) -> Iterator[DTree]:
        """Yield the d-tree of each sentence, in order; about two thousand sentences are held at a time."""
        if self.nlp_ is None:
            raise ModelError("this parser is not trained yet")
        for window in batches(sentences, _WINDOW, len):
            with forgetting(self.nlp_):
                docs = self._component.pipe(map(self._doc, window), batch_size=_BATCH)
                dtrees = [*map(self._dtree, window, docs)]
            yield from dtrees

    def _build(self, vectors: Vectors | None) -> None:
        """Make an untrained parser."""
        sizes = SIZES[self.settings.network]
        model = {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "parser",
            "extra_state_tokens": False,
            "hidden_width": sizes["hidden"],
            "maxout_pieces": 2,
            "use_upper": True,
            "tok2vec": tok2vec(sizes, [*SEEN, "TAG"], vectors is not None),
        }
        self._new_pipeline(vectors, model=model, min_action_freq=1)

    def _load_weights(self, path: Path) -> None:
        """Read the parser's actions, then the weights by which the network chooses them."""
        check_file(path / "moves", MOST_ACTIONS)
        self._component.from_disk(path, exclude=LEFT_OUT)
        resize(self._component)
        doc = self._doc(Tokens(("a", "b"), ("A", "B")))
        load_weights(self._component, path, doc)
        next(self._component.pipe([doc]))

    def _doc(self, tokens: Tokens) -> Doc:
        """Return a sentence as spaCy sees it, which spaCy cannot cut in two."""
        forms, tags = self.codes_.words(tokens)
        return Doc(self.nlp_.vocab, forms, tags=tags, sent_starts=[i == 0 for i in range(len(forms))])

    def _gold_doc(self, dtree: DTree) -> Doc:
        heads, codes = self.codes_.encode(dtree, "ROOT")
        own_heads = [head - 1 if head else m for m, head in enumerate(heads)]
        return Doc(self.nlp_.vocab, self.codes_.words(dtree.tokens)[0], heads=own_heads, deps=codes)

    def _dtree(self, tokens: Tokens, doc: Doc) -> DTree:
        arcs = doc.to_array(["HEAD", "DEP"])
        offsets = arcs[:, 0].astype(numpy.int64).tolist()
        heads = [m + offset if offset else 0 for m, offset in enumerate(offsets, 1)]
        return self.codes_.decode(tokens, heads, [doc.vocab.strings[dep] for dep in arcs[:, 1].tolist()])
