"""Converters of d-trees that somebody else has made: by spaCy's English pipelines, or in UD treebanks.

`en-clear` learns from gold d-trees of ClearNLP's convention, which CRAFT has, and from d-trees and tags that
a pipeline predicts. The two differ (CRAFT's `parataxis`, `nmod` and `root` are the pipeline's `appos`,
`nummod` and `ROOT`), so the converter learns from both.

`en-ud` learns from gold UD d-trees with silver c-trees, and from gold c-trees with predicted tags and
d-trees. The parser that predicts them has an encoder and is trained here, on all gold UD d-trees at hand.
Gold c-trees also teach the converter function tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from d2c.base.temporary import staged_file
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.dparsers.pipeline_parser import PipelineParser
from d2c.dparsers.settings import PipelineSettings, StanzaSettings
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.models.functions import FunctionTagger, without_functions
from d2c.models.model import Model
from d2c.protocols.dparser import DependencyParser
from d2c.protocols.route import Progress
from d2c.training.conventions import with_induced_heads
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu, save_conllu
from d2c.trees.refinement import visible
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.scores.matches import Matches
from models.pretrained import MINILM, encoder_of
from models.recipes import Recipe
from models.scores import Score, function_matches, score_conversion
from treebanks.penn import BLOCK, HELD_OUT, penn_trees, quoted, to_penn
from treebanks.silver import gold_of, silver_pairs

Pair = tuple[CTree, DTree]  # over the same tokens
Read = Callable[[Path], list[CTree]]
T = TypeVar("T")

GOLD = {"sd": "Stanford", "ud": "gold UD"}  # conventions of gold d-trees, by the part of file names
_PASSES = 6.0  # over UD treebanks


def uncut(file: Path) -> list[CTree]:
    """Return the c-trees of a file; hyphens are words, as in spaCy's pipelines and UD treebanks.

    Gold d-trees follow the noun phrases within noun phrases. These are hidden nodes here: without them two of
    a hundred constituents could not be reached.
    """
    return list(penn_trees(file, hyphens=True, inner=True))


def with_functions(file: Path) -> list[CTree]:
    """Return the c-trees of a file over the words of `uncut`, with function tags and without hidden nodes."""
    return list(penn_trees(file, hyphens=True, functions=True))


def gold_pairs(file: Path, convention: str, every: bool = False) -> Iterator[Pair]:
    """Yield each c-tree of a file with its gold d-tree; nothing where no file of d-trees is beside it.

    convention: that of the d-trees, a key of GOLD; every: also silver trees that contradict their d-trees
    """
    beside = file.with_name(file.name.replace(".mrg.", f".{convention}.conllu."))
    if beside == file or not beside.is_file():
        return
    if convention == "ud":
        for ctree, dtree in silver_pairs(file, every):
            penn = to_penn(ctree, hyphens=True)
            assert penn is not None and len(penn.tokens) == len(dtree.heads), f"{file}: marks among words"
            if penn.labels:
                yield penn, replace(dtree, tokens=penn.tokens)
        return
    for ctree, dtree in zip(uncut(file), read_conllu(beside), strict=True):
        assert len(dtree.heads) == len(ctree.tokens), f"{beside}: other sentences than those of {file}"
        yield ctree, replace(dtree, tokens=ctree.tokens)


def parser_of(recipe: Recipe, treebanks: Path, work: Path, say: Progress) -> DependencyParser:
    """Return the parser whose tags and d-trees are converted, beside gold ones: a pipeline, or a parser
    trained on UD treebanks, which is kept in the folder `work`, made if absent."""
    work.mkdir(parents=True, exist_ok=True)
    if recipe.pipeline:
        pipeline = PipelineSettings(pipeline=f"spacy:{recipe.pipeline}")
        return PipelineParser(pipeline).train(work, work, work / "pipeline")
    directory = work / "ud-parser"
    if directory.is_dir():
        return StanzaParser.load(directory)
    files = (gold_of(treebanks / data.train) for data in recipe.data)
    dtrees = chain.from_iterable(read_conllu(file) for file in files if file.is_file())
    parts = parted([replace(dtree, tokens=quoted(dtree.tokens)) for dtree in dtrees])
    train, dev = given = work / "ud-train.conllu", work / "ud-dev.conllu"
    save_conllu(parts[0], train)
    save_conllu(parts[1], dev)
    encoder = str(encoder_of(MINILM))
    parser = StanzaParser(
        StanzaSettings(model_type="joint", transformer=encoder, epochs=_PASSES, checkpoints=work)
    )
    return parser.train(*given, directory, say)


def parted(items: Sequence[T]) -> tuple[list[T], list[T]]:
    """Return the items to learn from, and a fortieth of all, in blocks, which selects among states."""
    parts: tuple[list[T], list[T]] = ([], [])
    for number, item in enumerate(items):
        parts[number // BLOCK % HELD_OUT == 0].append(item)
    return parts


def predicted(ctrees: Sequence[CTree], dparser: DependencyParser, own_tags: bool = True) -> Iterator[Pair]:
    """Yield the c-trees with the d-trees that are predicted for their words. own_tags: both have the tags
    that the d-parser predicts; otherwise those of the c-trees."""
    sentences = [ctree.tokens for ctree in ctrees]
    dtrees = [*dparser.parse(sentences)]  # whatever the tags of these words
    if own_tags and dparser.abilities.tags:
        sentences = [dtree.tokens for dtree in dtrees]
    elif own_tags:
        sentences = [*dparser.tag(tokens.forms for tokens in sentences)]
    for ctree, dtree, tokens in zip(ctrees, dtrees, sentences, strict=True):
        yield replace(ctree, tokens=tokens), replace(dtree, tokens=tokens)


def build_converter(
    recipe: Recipe, treebanks: Path, new: Path, work: Path, say: Progress
) -> tuple[list[Score], dict[str, str]]:
    """Leave a converter in a directory; return its scores, and notes with its ceilings and function tags.

    A fortieth of the pairs selects its weights.
    """
    dparser = parser_of(recipe, treebanks, work, say)
    pairs = list[Pair]()
    for data in recipe.data:
        pairs += gold_pairs(treebanks / data.train, recipe.converts)
        if is_gold(treebanks / data.train):
            say(f"{recipe.name}: parsing {data.train}")
            pairs += parsed_train(recipe, treebanks / data.train, work, dparser)
    (ctrees, dtrees), (dev, dev_dtrees) = (map(list, zip(*part, strict=True)) for part in parted(pairs))
    route = ConstrainedCKY(labels=True, **recipe.settings)
    gold, held_out = with_induced_heads(ctrees, dtrees), with_induced_heads(dev, dev_dtrees)
    route.fit(gold, held_out, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=say)
    (new / "dparser").mkdir()
    PipelineParser.FORMAT.write(
        new / "dparser", {"pipeline": None}
    )  # whoever loads the model says which one it is
    Model("cky", route, "pipeline", PipelineParser(PipelineSettings(pipeline=""))).save(new, new)
    scores, ceilings = [], add_functions(recipe, treebanks, new, work, dparser)
    for part, (gold, of_part) in parts_to_score(recipe, treebanks, dparser).items():
        seen, dtrees = map(list, zip(*of_part, strict=True))
        scores.append(score_conversion(part, route, gold, dtrees))
        nearest = map(route.oracle, with_induced_heads(seen, dtrees), dtrees)
        ceilings[f"ceiling: the nearest trees that the d-trees allow, F1, {part}"] = (
            f"{bracket_scores(gold, nearest).f1:.2f}"
        )
    return scores, ceilings


def parsed_train(
    recipe: Recipe, file: Path, work: Path, dparser: DependencyParser, read: Read = uncut
) -> Iterator[Pair]:
    """Yield the gold c-trees of a training file that the recipe's share draws, with predicted tags and
    d-trees, which are kept in `work`.

    read: reads the c-trees: `uncut`, or another function that gives them the same words
    """
    [name] = (data.name for data in recipe.data if data.train == file.name)
    every = round(1 / recipe.shares.get(name, 1.0))
    drawn = [c for i, c in enumerate(read(file)) if i // BLOCK % every == 0]
    kept = work / f"{file.name.partition('.')[0]}.conllu"
    if not kept.is_file():
        with staged_file(kept) as staged:
            save_conllu((dtree for _, dtree in predicted(drawn, dparser)), staged)
    for ctree, dtree in zip(drawn, read_conllu(kept), strict=True):
        yield replace(ctree, tokens=dtree.tokens), dtree


def add_functions(
    recipe: Recipe, treebanks: Path, directory: Path, work: Path, dparser: DependencyParser
) -> dict[str, str]:
    """Teach a converter function tags, where its recipe says so; return what is measured of them.

    directory: of the model; work, dparser: as of `parsed_train`
    """
    if not recipe.functions:
        return {}
    files = [treebanks / data.train for data in recipe.data if data.name in recipe.functions]
    pairs = (parsed_train(recipe, file, work, dparser, with_functions) for file in files)
    model = Model.load(directory)
    model.functions = FunctionTagger.fit(chain.from_iterable(pairs))
    model.save(directory, directory)
    notes = {}
    for part, (gold, guess) in tagged_parts(model, recipe, treebanks, dparser).items():
        total = sum(function_matches(gold, guess).values(), Matches())
        notes[f"function tags, F1, {part}"] = f"{total.f1:.2f}"
    return notes


def tagged_parts(
    model: Model, recipe: Recipe, treebanks: Path, dparser: DependencyParser
) -> dict[str, tuple[list[CTree], list[CTree]]]:
    """Return, for each dev part with function tags, the gold c-trees, and c-trees with the model's function
    tags: once the gold ones, once those that it converts itself. D-trees and tags of words are predicted."""
    parts, tag = dict[str, tuple[list[CTree], list[CTree]]](), model.functions
    if tag is None:
        return parts
    for data in recipe.data:
        if data.name in recipe.functions:
            gold = with_functions(treebanks / data.dev)
            seen, dtrees = zip(*predicted(gold, dparser), strict=True)
            for name, ctrees in (
                ("gold trees", map(without_functions, seen)),
                ("own trees", model.route.decode_all(dtrees)),
            ):
                parts[f"{data.name} dev, {name}"] = gold, [*map(tag, ctrees, dtrees)]
    return parts


def is_gold(file: Path) -> bool:
    """Return whether the c-trees of a file are gold: no gold UD d-trees are beside it."""
    return ".mrg" in file.name and not gold_of(file).is_file()


def parts_to_score(
    recipe: Recipe, treebanks: Path, dparser: DependencyParser
) -> dict[str, tuple[list[CTree], list[Pair]]]:
    """Return, by the name of each dev part, its gold c-trees without hidden nodes, and pairs of c-trees and
    the d-trees to be converted."""
    parts = {}
    for data in recipe.data:
        file = treebanks / data.dev
        name = f"{data.name} dev, {GOLD[recipe.converts]}"
        for every, part in ((True, name), (False, f"{name}, trees that agree")):
            pairs = [*gold_pairs(file, recipe.converts, every)]
            if pairs and (every or not is_gold(file)):
                parts[part] = [visible(ctree) for ctree, _ in pairs], pairs
        if is_gold(file):
            own = uncut(file)
            shown = [*map(visible, own)]
            parts[f"{data.name} dev"] = shown, [*predicted(own, dparser)]
            if not recipe.pipeline:
                parts[f"{data.name} dev, its tags"] = shown, [*predicted(own, dparser, own_tags=False)]
    return parts
