"""A converter of the d-trees of spaCy's English pipelines, whichever one: their convention is ClearNLP's.

It learns from gold d-trees of that convention, which CRAFT has, and from those that a pipeline predicts, with
the tags that it predicts. What differs between them (`parataxis` and `nmod` in CRAFT are `appos` and `nummod`
there, `root` is `ROOT`) is learned from both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.dparsers.directories import whole_directory
from d2c.dparsers.pipeline_parser import FORMAT, PipelineParser
from d2c.dparsers.protocol import Report
from d2c.models.model import Model
from d2c.training.fitting import with_induced_heads
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.route import Progress
from treebanks.english import BLOCK, HELD_OUT, file_of, penn_trees


class Pairs(NamedTuple):
    """C-trees, and a d-tree over the tokens of each."""

    ctrees: list[CTree]
    dtrees: list[DTree]

    def __add__(self, others: object) -> Pairs:
        """Both, one after the other."""
        assert isinstance(others, Pairs)
        return Pairs(self.ctrees + others.ctrees, self.dtrees + others.dtrees)

    def of(self, numbers: Iterable[int]) -> Pairs:
        """Some of them."""
        chosen = [*numbers]
        return Pairs([self.ctrees[i] for i in chosen], [self.dtrees[i] for i in chosen])


class AnyPipeline(PipelineParser):
    """A pipeline's parser, which a model does not name: whoever loads the model says which one it is."""

    def train(self, train_conllu: Path, dev_conllu: Path, directory: Path, progress: Report = None) -> Self:
        """Learns nothing and loads nothing."""
        with whole_directory(Path(directory)) as staging:
            FORMAT.write(staging, {"pipeline": None})
        return self


def clear_trees(file: Path) -> list[CTree]:
    """The c-trees of a file, with the hyphens of spaCy's pipelines.

    Gold d-trees follow noun phrases within noun phrases, which are hidden nodes here: without them two of a
    hundred constituents could not be reached.
    """
    return list(penn_trees(file, hyphens=True, inner=True))


def stanford(part: str, folder: Path) -> Pairs:
    """CRAFT's own d-trees, with its own tags; c-trees with hidden nodes, see `clear_trees`."""
    ctrees, dtrees = clear_trees(file_of("craft", part, folder)), []
    for ctree, dtree in zip(ctrees, read_conllu(folder / f"craft-{part}.sd.conllu.gz"), strict=True):
        dtrees.append(replace(dtree, tokens=ctree.tokens))
        assert len(dtree.heads) == len(ctree.tokens), f"{folder}: other sentences than CRAFT's"
    return Pairs(ctrees, dtrees)


def predicted(ctrees: Sequence[CTree], pipeline: PipelineParser) -> Pairs:
    """The d-trees and tags that a pipeline predicts for the words of the c-trees."""
    tokens = [*pipeline.tag(ctree.tokens.forms for ctree in ctrees)]
    tagged = [replace(ctree, tokens=own) for ctree, own in zip(ctrees, tokens, strict=True)]
    return Pairs(tagged, [*pipeline.parse(tokens)])


def train_converter(
    pairs: Pairs, settings: Mapping[str, Any], directory: Path, progress: Progress | None = None
) -> Model:
    """Leaves a model in a directory, learned from pairs; a fortieth of them selects its weights."""
    parts = pairs.of(_numbers(pairs, False)), pairs.of(_numbers(pairs, True))
    gold, held_out = (with_induced_heads(*part) for part in parts)
    route = ConstrainedCKY(labels=True, **settings)
    route.fit(gold, held_out, dtrees=parts[0].dtrees, dev_dtrees=parts[1].dtrees, progress=progress)
    with whole_directory(directory, "model.json") as new:
        dparser = AnyPipeline("").train(Path(), Path(), new / "dparser")
        model = Model("cky", route, "pipeline", dparser)
        model.save(new, new)
    return model


def _numbers(pairs: Pairs, held_out: bool) -> Iterator[int]:
    """Of the sentences that are held out, or of the others."""
    return (i for i in range(len(pairs.ctrees)) if (i // BLOCK % HELD_OUT == 0) == held_out)
