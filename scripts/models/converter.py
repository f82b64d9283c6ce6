"""A converter of the d-trees of spaCy's English pipelines, whichever one: their convention is ClearNLP's.

It learns from gold d-trees of that convention, which CRAFT has, and from those that a pipeline predicts, with
the tags that it predicts. What differs between them (`parataxis` and `nmod` in CRAFT are `appos` and `nummod`
there, `root` is `ROOT`) is learned from both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.dparsers.pipeline_parser import FORMAT, PipelineParser
from d2c.models.model import Model
from d2c.training.train import with_induced_heads
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.refinement import visible
from d2c.trees.route import Progress
from d2c.trees.scores.brackets import bracket_scores
from models.recipes import Recipe
from models.scores import Score, score_conversion
from treebanks.penn import BLOCK, HELD_OUT, penn_trees

Pairs = list[tuple[CTree, DTree]]  # over the same tokens


def clear_trees(file: Path) -> list[CTree]:
    """Return the c-trees of a file, with the hyphens of spaCy's pipelines.

    Gold d-trees follow noun phrases within noun phrases, which are hidden nodes here: without them two of a
    hundred constituents could not be reached.
    """
    return list(penn_trees(file, hyphens=True, inner=True))


def stanford(part: str, folder: Path) -> Pairs:
    """Return CRAFT's own d-trees, with its own tags; c-trees with hidden nodes, see `clear_trees`."""
    ctrees, pairs = clear_trees(folder / f"craft-{part}.mrg.gz"), Pairs()
    for ctree, dtree in zip(ctrees, read_conllu(folder / f"craft-{part}.sd.conllu.gz"), strict=True):
        assert len(dtree.heads) == len(ctree.tokens), f"{folder}: other sentences than CRAFT's"
        pairs.append((ctree, replace(dtree, tokens=ctree.tokens)))
    return pairs


def predicted(ctrees: Sequence[CTree], pipeline: PipelineParser) -> Pairs:
    """Return the d-trees and tags that a pipeline predicts for the words of the c-trees."""
    tokens = [*pipeline.tag(ctree.tokens.forms for ctree in ctrees)]
    tagged = (replace(ctree, tokens=own) for ctree, own in zip(ctrees, tokens, strict=True))
    return list(zip(tagged, pipeline.parse(tokens), strict=True))


def build_converter(
    recipe: Recipe, treebanks: Path, new: Path, work: Path, say: Progress
) -> tuple[list[Score], dict[str, str]]:
    """Leave a converter of a pipeline's d-trees in a directory; return its scores and its ceilings.

    A fortieth of the pairs selects its weights.
    """
    pipeline = PipelineParser(f"spacy:{recipe.pipeline}").train(work, work, work / "pipeline")
    pairs = stanford("train", treebanks)
    for data in recipe.data:
        say(f"{recipe.name}: parsing {data.train}")
        pairs += predicted(clear_trees(treebanks / data.train), pipeline)
    parts: tuple[Pairs, Pairs] = ([], [])
    for number, pair in enumerate(pairs):
        parts[number // BLOCK % HELD_OUT == 0].append(pair)
    (ctrees, dtrees), (dev, dev_dtrees) = (map(list, zip(*part, strict=True)) for part in parts)
    route = ConstrainedCKY(labels=True, **recipe.settings)
    gold, held_out = with_induced_heads(ctrees, dtrees), with_induced_heads(dev, dev_dtrees)
    route.fit(gold, held_out, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=say)
    (new / "dparser").mkdir()
    FORMAT.write(new / "dparser", {"pipeline": None})  # whoever loads the model says which one it is
    Model("cky", route, "pipeline", pipeline).save(new, new)
    of_craft = stanford("dev", treebanks)
    scored = {"CRAFT dev, Stanford": (of_craft, [ctree for ctree, _ in of_craft])}
    for data in recipe.data:
        own = clear_trees(treebanks / data.dev)  # with the treebank's tags
        scored[f"{data.name} dev"] = predicted(own, pipeline), own
    scores, ceilings = [], {}
    for part, (of_part, own) in scored.items():
        seen, dtrees = map(list, zip(*of_part, strict=True))
        gold = list(map(visible, own))
        scores.append(score_conversion(part, route, gold, dtrees))
        nearest = map(route.oracle, with_induced_heads(seen, dtrees), dtrees)
        ceilings[f"ceiling: the nearest trees that the d-trees allow, F1, {part}"] = (
            f"{bracket_scores(gold, nearest).f1:.2f}"
        )
    return scores, ceilings
