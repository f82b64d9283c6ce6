"""From a recipe to a model directory with its card."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, cast

from d2c.base.errors import ModelError
from d2c.base.temporary import scratch
from d2c.dparsers.directories import whole_directory
from d2c.dparsers.pipeline_parser import PipelineParser
from d2c.dparsers.protocol import TextRules
from d2c.experiments.rows import with_tags_of
from d2c.models.model import SETTINGS, Model
from d2c.parsing.rules import rules_of
from d2c.training.fitting import with_induced_heads
from d2c.training.train import train_models
from d2c.treebanks.reading import CLEANED, Read
from d2c.trees.ctree import CTree
from d2c.trees.refinement import visible
from d2c.trees.scores.brackets import bracket_scores
from models.cards import write_card
from models.clear import clear_trees, predicted, stanford, train_converter
from models.pretrained import encoder_of
from models.recipes import Recipe
from models.scores import Score, score, score_conversion, untagged
from models.specs import BuildSpec
from treebanks.english import write_parts

Say = Callable[[object], None]
_ENOUGH = 0.5  # F1 by which another route must be better than the first, which starts quicker


def build(
    recipe: Recipe, treebanks: Path, directory: Path, say: Say, checkpoints: Path | None = None
) -> None:
    """Leaves a model and its card in a directory, whole or not at all.

    checkpoints: a folder, from which the training of an encoder or a chart that was killed goes on

    Raises ModelError where a package or a treebank is missing.
    """
    for data in recipe.data:
        for file in (data.train, data.dev):
            if not (treebanks / file).is_file():
                raise ModelError(f"{treebanks / file}: no such file; --treebanks says where treebanks are")
    with whole_directory(directory, SETTINGS) as new, scratch() as work:
        if recipe.pipeline:
            build_converter(recipe, treebanks, new, work, say)
        else:
            trained = train(recipe, treebanks, work, say, checkpoints)
            finish(recipe, trained, treebanks, new, say)
    say(f"{directory}: built")


def train(recipe: Recipe, treebanks: Path, work: Path, say: Say, checkpoints: Path | None) -> dict[str, Path]:
    """Models of each route of a recipe, in directories below `work`."""
    settings = {**recipe.settings, "checkpoints": checkpoints}
    if recipe.encoder:
        settings["transformer"] = str(encoder_of(recipe.encoder))
    files = [treebanks / data.train for data in recipe.data]
    read: Read = CLEANED
    if recipe.english:
        parts = write_parts(files, recipe.read, work, seed=1)
    else:
        [data] = recipe.data
        parts, read = (treebanks / data.train, treebanks / data.dev), recipe.read
    spec = BuildSpec(*parts, recipe.routes, read, **settings)
    directories = {route: work / route for route in recipe.routes}
    train_models(spec, [*directories.values()], say)
    if recipe.packed:
        for directory in directories.values():
            pack(directory, read(parts[1]), say)
    return directories


def pack(directory: Path, ctrees: Iterable[CTree], say: Say) -> None:
    """Teaches a model's route what packed arcs count for.

    ctrees: from which nothing was learned, though they chose among states; `d2c train --arcs packed` trains
            once more on nine tenths instead
    """
    model = Model.load(directory, arcs="packed")
    assert model.route.supports_arcs
    gold = [*ctrees]
    dtrees = [*model.parse_dependencies(map(untagged, gold))]
    model.route.fit_arcs(with_tags_of(dtrees, gold), dtrees)
    say(f"packed arcs: {cast(Any, model.route).arcs_}")
    model.save(directory, directory)


def finish(recipe: Recipe, trained: Mapping[str, Path], treebanks: Path, new: Path, say: Say) -> None:
    """Scores the models of each route, and leaves the one to be taken, and its card, in a new directory."""
    gold = {f"{data.name} dev": list(recipe.read(treebanks / data.dev)) for data in recipe.data}
    scores = {route: _scores(Model.load(directory), gold) for route, directory in trained.items()}
    means = {route: mean(one.f1 for one in of_route) for route, of_route in scores.items()}
    first, best = recipe.routes[0], max(means, key=lambda route: means[route])
    chosen = best if means[best] > means[first] + _ENOUGH else first
    shutil.copytree(trained[chosen], new, dirs_exist_ok=True)
    model = Model.load(new)
    rules = rules_of(new, lambda: model) if recipe.english else None
    notes = {
        f"F1 with the route {route}": ", ".join(f"{one.part} {one.f1:.2f}" for one in of_route)
        for route, of_route in scores.items()
    }
    for name, said in notes.items():
        say(f"{recipe.name}: {name}: {said}")
    write_card(new, recipe, _scores(model, gold, rules), notes if len(notes) > 1 else {})


def _scores(model: Model, gold: Mapping[str, Sequence[CTree]], rules: TextRules | None = None) -> list[Score]:
    return [score(part, model, ctrees, rules) for part, ctrees in gold.items()]


def build_converter(recipe: Recipe, treebanks: Path, new: Path, work: Path, say: Say) -> None:
    """A converter of a pipeline's d-trees."""
    pipeline = PipelineParser(f"spacy:{recipe.pipeline}").train(work, work, work / "pipeline")

    pairs = stanford("train", treebanks)
    for data in recipe.data:
        say(f"{recipe.name}: parsing {data.train}")
        pairs += predicted(clear_trees(treebanks / data.train), pipeline)
    model = train_converter(pairs, recipe.settings, new, say)
    del pairs
    route = model.route
    assert route.has_oracle
    scores, ceilings = [], {}
    for part, file in (("CRAFT dev, Stanford", None), *((f"{d.name} dev", d.dev) for d in recipe.data)):
        if file is None:
            gold, dtrees = stanford("dev", treebanks)
            ctrees = gold
        else:
            gold = clear_trees(treebanks / file)  # with the treebank's tags
            ctrees, dtrees = predicted(gold, pipeline)
        gold = list(map(visible, gold))
        scores.append(score_conversion(part, route, gold, dtrees))
        headed = with_induced_heads(ctrees, dtrees)
        nearest = [route.oracle(*pair) for pair in zip(headed, dtrees, strict=True)]
        ceilings[f"ceiling: the nearest trees that the d-trees allow, F1, {part}"] = (
            f"{bracket_scores(gold, with_tags_of(gold, nearest)).f1:.2f}"
        )
    write_card(new, recipe, scores, ceilings)
