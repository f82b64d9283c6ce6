"""From a recipe to a model directory with its card."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, cast

from d2c.base.errors import ModelError
from d2c.base.temporary import scratch, whole_directory
from d2c.dparsers.spacy.training import SpacyEstimator
from d2c.experiments.rows import with_tags_of
from d2c.models.model import Model, load_route, read_model_settings
from d2c.models.names import SETTINGS
from d2c.packed.scoring import fit_weights, least_probability
from d2c.parsing.rules import rules_of
from d2c.protocols.dparser import TextRules
from d2c.protocols.route import Progress
from d2c.protocols.training import thinned
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import CLEANED, Read
from models.cards import renew, write_card
from models.continuing import go_on
from models.converter import build_converter
from models.everyday import LISTS, score_everyday
from models.pretrained import encoder_of
from models.recipes import Recipe
from models.scores import Score, recased, score, untagged
from models.teaching import taught
from treebanks.penn import write_parts

_WORDS = 20_000  # that teach what packed arcs count for
_HEADS_PER_WORD = 1.2  # 1.5 takes three times as long in the chart, and is no better (held-out trees)
_TREES, _EPOCHS = 2_000, 2  # of each treebank, for the chart over what a d-parser finds; passes
_ENOUGH = 0.25  # F1 by which another route must be better than the first, which starts quicker


def build(
    recipe: Recipe, treebanks: Path, directory: Path, say: Progress, checkpoints: Path | None = None
) -> None:
    """Leave a model and its card in a directory, whole or not at all.

    checkpoints: a folder with lessons, and one for each model, from which a training that was killed goes on

    Raises ModelError where a package or a treebank is missing.
    """
    files = [file for data in recipe.data for file in (data.train, data.dev)]
    for file in (*files, *(lesson.text for lesson in recipe.lessons)):
        if not (treebanks / file).is_file():
            raise ModelError(f"{treebanks / file}: no such file; --treebanks says where treebanks are")
    with whole_directory(directory, SETTINGS) as new, scratch() as work:
        if recipe.converts:
            kept = (checkpoints or work) / recipe.name  # others parse the same treebanks
            write_card(new, recipe, *build_converter(recipe, treebanks, new, kept, say))
        else:
            trained = train(recipe, treebanks, directory.parent, work, say, checkpoints)
            finish(recipe, trained, treebanks, new, say)
    say(f"{directory}: built")


def train(
    recipe: Recipe,
    treebanks: Path,
    models: Path,
    work: Path,
    say: Progress,
    checkpoints: Path | None,
) -> dict[str, Path]:
    """Train models of each route of a recipe, in directories below `work`.

    models: the folder of teachers, and of the model that it goes on from
    """
    given = [treebanks / data.train for data in recipe.data]
    parts, read, lessons = parts_of(recipe, treebanks, models, work, say, checkpoints)
    own: dict[str, Any] = {"checkpoints": checkpoints and checkpoints / recipe.name}  # one chart in each
    if recipe.encoder and not recipe.network:
        own["transformer"] = str(encoder_of(recipe.encoder))
    spec = recipe.spec(*parts, read, **own)
    if recipe.network:
        base = models / recipe.network
        directories = {read_model_settings(base).route: work / "network"}
        go_on(base, spec, work / "network", say)
    else:
        directories = {route: work / route for route in recipe.routes}
        train_models(spec, [*directories.values()], say)
    if recipe.chart:
        trained, directories["cky"] = next(iter(directories.values())), work / "chart"
        model = with_chart(trained, models / recipe.chart)
        held_out = with_arcs(model, read(parts[1])) if recipe.encoder else None
        if held_out:
            fit_arcs(model, *held_out, say)
        files = given if recipe.encoder else [*given, *lessons]
        learn_over_dtrees(model, unlearned(recipe.read, files, parts), say)
        if held_out:
            fit_weights(cast(Any, model.route), *held_out)
            say(f"packed arcs, when the chart has learned: {model.route.arcs_}")
        model.save(directories["cky"], trained)
    if recipe.network or recipe.chart:
        unseen = [*of_treebanks(read(parts[1]), map(recipe.read, lessons))]
        for directory in directories.values():
            complete(directory, unseen, read(parts[0]), recipe.recased > 0)
    return directories


def parts_of(
    recipe: Recipe, treebanks: Path, models: Path, work: Path, say: Progress, checkpoints: Path | None
) -> tuple[tuple[Path, Path], Read, list[Path]]:
    """Return what a recipe learns from and what it holds out, files that are written into `work` where it
    mixes several; how they are read; and the files of its lessons. Arguments as of `train`."""
    lessons = [taught(lesson, treebanks, models, checkpoints or work, say) for lesson in recipe.lessons]
    if not recipe.english:
        [data] = recipe.data
        return (treebanks / data.train, treebanks / data.dev), recipe.read, lessons
    shares = {treebanks / data.train: recipe.shares.get(data.name, 1.0) for data in recipe.data}
    for file, lesson in zip(lessons, recipe.lessons, strict=True):
        shares[file] = recipe.shares.get(lesson.text, 1.0)
    return write_parts(shares, recipe.read, work, 1, recipe.recased), CLEANED, lessons


def complete(
    directory: Path, held_out: Iterable[CTree], learned: Iterable[CTree], small_letters: bool
) -> None:
    """Teach a model, which has become another one, how far its confidences can be trusted.

    small_letters: as of `Model`; it has learned from such sentences
    """
    model = Model.load(directory)
    model.small_letters = small_letters
    model.calibrate(held_out, learned)
    model.save(directory, directory)


def recalibrate(
    recipe: Recipe, directory: Path, treebanks: Path, say: Progress, checkpoints: Path | None
) -> None:
    """Fit the confidences of a model that is there anew, on the trees that its recipe holds out; all else of
    it stays. Teachers, if lessons are not in `checkpoints`, are beside it.

    Raises ModelError for converters: what they convert is not held out.
    """
    if recipe.converts:
        raise ModelError(f"{recipe.name}: converts d-trees of others, and has no confidences to be fitted")
    with scratch() as work:
        parts, read, lessons = parts_of(recipe, treebanks, directory.parent, work, say, checkpoints)
        small_letters = read_model_settings(directory).small_letters
        unseen = of_treebanks(read(parts[1]), map(recipe.read, lessons))
        complete(directory, unseen, read(parts[0]), small_letters)


def of_treebanks(held_out: Iterable[CTree], lessons: Iterable[Iterable[CTree]]) -> Iterator[CTree]:
    """Yield the held-out trees that are of no lesson, which teach what confidences mean.

    What models have found is found again more easily than what is right.
    """
    silver = {format_bracket(ctree) for lesson in lessons for ctree in lesson}
    return (ctree for ctree in held_out if format_bracket(ctree) not in silver)


def with_chart(trained: Path, other: Path) -> Model:
    """Return a model with the chart of another one in place of its own route. Raises ModelError."""
    if (route := read_model_settings(other).route) != "cky":
        raise ModelError(f"{other}: has no chart, its route is {route}")
    model = Model.load(trained)
    model.route_name, model.route = "cky", load_route(other)
    return model


def with_arcs(model: Model, ctrees: Iterable[CTree]) -> tuple[Sequence[CTree], list[DTree]]:
    """Have a model look among packed arcs; return some of the trees, as `parsed` does.

    ctrees: the d-parser has not learned from them, though they chose among its states
    """
    model.arcs = "packed"
    return parsed(model, thinned([*ctrees], _WORDS))


def parsed(model: Model, ctrees: Iterable[CTree]) -> tuple[Sequence[CTree], list[DTree]]:
    """Return gold trees with predicted tags, and what a model's d-parser finds of them."""
    gold = [*ctrees]
    dtrees = [*model.parse_dependencies(map(untagged, gold))]
    return with_tags_of(dtrees, gold), dtrees


def fit_arcs(model: Model, gold: Sequence[CTree], dtrees: Sequence[DTree], say: Progress) -> None:
    """Teach the chart of a model what packed arcs count for; gold, dtrees: of `with_arcs`."""
    chart = cast(Any, model.route)
    chart.fit_arcs(gold, dtrees)
    chart.arcs_ = chart.arcs_._replace(least=least_probability(dtrees, _HEADS_PER_WORD))
    say(f"packed arcs: {chart.arcs_}")


def unlearned(read: Read, files: Iterable[Path], parts: tuple[Path, Path]) -> Iterator[CTree]:
    """Yield trees that teach the chart: of each file some that are in no part, since the d-parser is too sure
    of those that it has learned from; where there are not enough, all that are not held out."""
    train, held_out = ({*part.read_text(encoding="utf-8").splitlines()} for part in parts)
    for file in files:
        ctrees = ((format_bracket(ctree), ctree) for ctree in read(file))
        rest = [(text, ctree) for text, ctree in ctrees if text not in held_out]
        others = [ctree for text, ctree in rest if text not in train]
        enough = len(others) > _TREES
        yield from others[:: len(others) // _TREES] if enough else (ctree for _, ctree in rest)


def learn_over_dtrees(model: Model, ctrees: Iterable[CTree], say: Progress) -> None:
    """Have a model's chart learn over what its d-parser finds, packed arcs if the model looks among these."""
    cast(Any, model.route).go_on(*parsed(model, ctrees), _EPOCHS, say)


def finish(recipe: Recipe, trained: Mapping[str, Path], treebanks: Path, new: Path, say: Progress) -> None:
    """Score the models of each route, and leave the one to be taken, and its card, in a new directory."""
    gold = dev_parts(recipe, treebanks)
    chosen, notes = next(iter(trained)), dict[str, str]()
    if len(trained) > 1:
        chosen, notes = choose(recipe, trained, gold, say)
    shutil.copytree(trained[chosen], new, dirs_exist_ok=True)
    scores, more = measured(recipe, new, gold)
    write_card(new, recipe, scores, notes | more)


def rewrite(recipe: Recipe, directory: Path, treebanks: Path) -> None:
    """Write a model that is there as models are kept now, and score it again. Raises ModelError for
    converters: their d-parsers are others'."""
    if recipe.converts:
        raise ModelError(f"{recipe.name}: converts d-trees of others; build it again")
    model = Model.load(directory)
    for part, one in (("dparser", model.dparser), ("tagger", model.tagger)):
        if isinstance(one, SpacyEstimator):
            one.keep(directory / part)
    model.save(directory, directory)
    renew(directory, recipe, *measured(recipe, directory, dev_parts(recipe, treebanks)))


def dev_parts(recipe: Recipe, treebanks: Path) -> dict[str, Sequence[CTree]]:
    """Return the trees of the parts on which a model is scored, by name."""
    return {f"{data.name} dev": list(recipe.read(treebanks / data.dev)) for data in recipe.data}


def measured(
    recipe: Recipe, directory: Path, gold: Mapping[str, Sequence[CTree]]
) -> tuple[list[Score], dict[str, str]]:
    """Return the scores of a model on parts, and what else is measured."""
    model = Model.load(directory)
    rules = rules_of(directory, lambda: model)
    scores = [score(part, model, ctrees, rules) for part, ctrees in gold.items()]
    return scores, of_english(model, rules, gold["MASC dev"]) if recipe.english else {}


def choose(
    recipe: Recipe, trained: Mapping[str, Path], gold: Mapping[str, Sequence[CTree]], say: Progress
) -> tuple[str, dict[str, str]]:
    """Return the route to be taken, and how all of them do."""
    means, notes = dict[str, float](), dict[str, str]()
    for route, directory in trained.items():
        model = Model.load(directory)
        scores = [score(part, model, ctrees) for part, ctrees in gold.items()]
        means[route] = mean(one.f1 for one in scores)
        name = f"F1 with the route {route}"
        notes[name] = ", ".join(f"{one.part} {one.f1:.2f}" for one in scores)
        say(f"{recipe.name}: {name}: {notes[name]}")
    first, best = next(iter(trained)), max(means, key=lambda route: means[route])
    return best if means[best] > means[first] + _ENOUGH else first, notes


def of_english(model: Model, rules: TextRules, general: Sequence[CTree]) -> dict[str, str]:
    """Return what else is measured of English models: everyday sentences, constructions, letters of one case
    alone."""
    found = {name: "{:.1f} %, {:.1f} %".format(*score_everyday(model, rules, name)[name]) for name in LISTS}
    cases = ", ".join(f"{score('', model, recased(general, one)).f1:.2f}" for one in (str.lower, str.upper))
    return {
        "everyday sentences: constituents found, sentences with all of them": found["everyday"],
        "constructions: constituents found, sentences with all of them": found["constructions"],
        "F1 on MASC dev in small letters, in capitals": cases,
    }
