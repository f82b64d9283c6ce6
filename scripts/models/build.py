"""From a recipe to a model directory with its card."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from d2c.base.errors import ModelError
from d2c.base.temporary import scratch, whole_directory
from d2c.dparsers.spacy.training import SpacyEstimator
from d2c.dparsers.stanza.tasks import StanzaEstimator
from d2c.experiments.rows import with_tags_of
from d2c.models.model import Model, read_model_settings
from d2c.models.names import SETTINGS
from d2c.models.word_cuts import cuts_of
from d2c.packed.scoring import fit_weights, least_probability
from d2c.parsing.rules import rules_of
from d2c.protocols.dparser import DependencyParser, TextRules
from d2c.protocols.route import Progress
from d2c.protocols.training import thinned
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import CLEANED, Read
from models.cards import renew, write_card
from models.converter import build_converter, parser_of
from models.everyday import LISTS, score_everyday
from models.pretrained import encoder_of
from models.recipes import RECIPES, Recipe
from models.scores import Score, recased, score, untagged
from models.teaching import KEPT, taught
from treebanks.generated import GENERATED, generated_trees
from treebanks.penn import write_parts

LOG = "log.txt"  # what was said while a model was built, in all runs if some were killed
_WORDS = 20_000  # of held-out trees, from which the weights of packed arcs are learned
_HEADS_PER_WORD = 1.2  # 1.5 takes three times as long in the chart, and is no better (held-out trees)
_TREES, _EPOCHS = 2_000, 2  # trees of each file for the chart's training over found d-trees; passes over them
_ENOUGH = 0.25  # points of F1 by which another route must be better than the first, which starts quicker

Parts = tuple[tuple[Path, Path], Read]  # the file to learn from, that of held-out trees; how they are read


def build(recipe: Recipe, treebanks: Path, directory: Path, say: Progress) -> None:
    """Leave a model and its card in a directory, whole or not at all.

    The models that the recipe needs are beside the directory, and so is the folder with what a run after a
    kill goes on from.

    Raises ModelError where a package or a treebank is missing.
    """
    files = [file for data in recipe.data for file in (data.train, data.dev)]
    for file in (*files, *(lesson.text for lesson in recipe.lessons)):
        if not (treebanks / file).is_file():
            raise ModelError(f"{treebanks / file}: no such file; --treebanks says where treebanks are")
    kept, begin = kept_of(directory), time.monotonic()
    kept.mkdir(parents=True, exist_ok=True)
    tell = logging_into(kept / LOG, say)
    tell(f"{recipe.name} begins, or goes on: {recipe}")
    with whole_directory(directory, SETTINGS) as new, scratch() as work:
        if recipe.converts:
            scores, notes = build_converter(recipe, treebanks, new, kept, tell)
        else:
            parts, lessons = parts_of(recipe, treebanks, directory.parent, work, tell)
            given = [treebanks / data.train for data in recipe.data]
            trained = train(recipe, parts, given, lessons, kept, work, tell)
            scores, notes = finish(recipe, trained, parts, treebanks, new, tell)
        tell(f"{recipe.name} is built, {time.monotonic() - begin:.0f} seconds after this beginning")
        write_card(new, recipe, scores, notes, (kept / LOG).read_text(encoding="utf-8").splitlines())


def kept_of(directory: Path) -> Path:
    """Return the folder of a model's checkpoints, log and parses: its own, as models parse the same files."""
    return directory.parent / KEPT / directory.name


def logging_into(file: Path, say: Progress) -> Progress:
    """Return a function that says progress and adds it, with the time, to a file."""

    def tell(progress: object) -> None:
        say(progress)
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {progress}\n")

    return tell


def parts_of(
    recipe: Recipe, treebanks: Path, models: Path, work: Path, say: Progress
) -> tuple[Parts, list[Path]]:
    """Return the files that a recipe learns from and holds out, and the files of its lessons. Parts that mix
    several files are written into `work`. models: the folder of its teachers"""
    if not recipe.english:
        [data] = recipe.data
        return ((treebanks / data.train, treebanks / data.dev), recipe.read), []

    def its_parser(name: str) -> DependencyParser:
        return parser_of(RECIPES[name], treebanks, kept_of(models / name), say)

    lessons = [taught(lesson, treebanks, models, its_parser, say) for lesson in recipe.lessons]
    gold = {treebanks / data.train: recipe.shares.get(data.name, 1.0) for data in recipe.data}
    names = (lesson.name for lesson in recipe.lessons)
    silver = {file: recipe.shares.get(name, 1.0) for file, name in zip(lessons, names, strict=True)}
    if (share := recipe.shares.get(GENERATED)) is not None:
        made = work / f"{GENERATED}.mrg"
        made.write_text("".join(f"{tree}\n" for tree in generated_trees(1)), encoding="utf-8")
        silver[made] = share
    return (write_parts(gold, recipe.read, work, 1, recipe.recased, silver), CLEANED), lessons


def train(
    recipe: Recipe,
    parts: Parts,
    files: Sequence[Path],
    lessons: Sequence[Path],
    kept: Path,
    work: Path,
    say: Progress,
) -> dict[str, Path]:
    """Train a model for each route of a recipe; return their directories, below `work`, by route.

    files, lessons: the files of treebanks and of silver trees from which `parts` were drawn
    kept:           the folder for checkpoints
    """
    (train_file, held_out), read = parts
    own: dict[str, Any] = {"checkpoints": kept}  # one chart in each
    if recipe.encoder:
        own["transformer"] = str(encoder_of(recipe.encoder))
    directories = {route: work / route for route in recipe.routes}
    begin = time.monotonic()
    trained = train_models(recipe.spec(train_file, held_out, read, **own), [*directories.values()], say)
    seconds = zip(recipe.routes, trained.route_seconds, strict=True)
    of_routes = ", ".join(f"route {route} {took:.0f}" for route, took in seconds)
    say(f"{recipe.name}: seconds: d-parser {trained.dparser_seconds:.0f}, {of_routes}")
    if not recipe.english:
        return directories
    if "cky" in directories:
        begin = time.monotonic()
        unseen = unlearned(recipe.read, files if recipe.encoder else [*files, *lessons], parts[0])
        learn_over_dtrees(directories["cky"], recipe, unseen, [*read(held_out)], say)
        say(f"{recipe.name}: seconds: the chart over what its d-parser finds {time.monotonic() - begin:.0f}")
    for directory in directories.values():
        complete(directory, read(held_out), read(train_file), recipe.recased > 0)
    return directories


def complete(
    directory: Path, held_out: Iterable[CTree], learned: Iterable[CTree], small_letters: bool
) -> None:
    """Calibrate the confidences of a model, which has changed since, on held-out trees, and save it.

    small_letters: as of `Model`; true where it has learned from sentences without capitals
    """
    model = Model.load(directory)
    model.small_letters = small_letters
    model.calibrate(held_out, learned)
    model.save(directory, directory)


def recalibrate(recipe: Recipe, directory: Path, treebanks: Path, say: Progress) -> None:
    """Fit the confidences of an existing model anew, on the trees that its recipe holds out, and change
    nothing else. Its teachers must be beside it, unless the silver trees are kept.

    Raises ModelError for converters, which have no confidences to be fitted.
    """
    if recipe.converts:
        raise ModelError(f"{recipe.name}: converts d-trees of others, and has no confidences to be fitted")
    with scratch() as work:
        ((train_file, held_out), read), _ = parts_of(recipe, treebanks, directory.parent, work, say)
        small_letters = read_model_settings(directory).small_letters
        complete(directory, read(held_out), read(train_file), small_letters)


def learn_over_dtrees(
    directory: Path, recipe: Recipe, ctrees: Iterable[CTree], held_out: Sequence[CTree], say: Progress
) -> None:
    """Train the chart of a model further, over the d-trees that its d-parser finds for c-trees. On an encoder
    these have packed arcs, whose weights are learned from some of the held-out trees."""
    model = Model.load(directory)
    chart = cast(Any, model.route)
    if recipe.encoder:
        model.arcs = "packed"
        gold, dtrees = parsed(model, thinned(held_out, _WORDS))
        chart.fit_arcs(gold, dtrees)
        chart.arcs_ = chart.arcs_._replace(least=least_probability(dtrees, _HEADS_PER_WORD))
        say(f"packed arcs: {chart.arcs_}")
    chart.go_on(*parsed(model, ctrees), _EPOCHS, say)
    if recipe.encoder:
        fit_weights(chart, gold, dtrees)
        say(f"packed arcs, when the chart has learned: {chart.arcs_}")
    model.save(directory, directory)


def parsed(model: Model, ctrees: Iterable[CTree]) -> tuple[Sequence[CTree], list[DTree]]:
    """Return gold trees with predicted tags, and the d-trees that a model's d-parser finds for them."""
    gold = [*ctrees]
    dtrees = [*model.parse_dependencies(map(untagged, gold))]
    return with_tags_of(dtrees, gold), dtrees


def unlearned(read: Read, files: Iterable[Path], parts: tuple[Path, Path]) -> Iterator[CTree]:
    """Yield the trees that teach the chart: some trees of each file that are in neither part, since the
    d-parser is too sure of those that it has learned from; if these are few, all that are not held out."""
    train, held_out = ({*part.read_text(encoding="utf-8").splitlines()} for part in parts)
    for file in files:
        ctrees = ((format_bracket(ctree), ctree) for ctree in read(file))
        rest = [(text, ctree) for text, ctree in ctrees if text not in held_out]
        others = [ctree for text, ctree in rest if text not in train]
        enough = len(others) > _TREES
        yield from others[:: len(others) // _TREES] if enough else (ctree for _, ctree in rest)


def finish(
    recipe: Recipe, trained: Mapping[str, Path], parts: Parts, treebanks: Path, new: Path, say: Progress
) -> tuple[list[Score], dict[str, str]]:
    """Copy the model of the route to be taken into a new directory; return its scores on dev parts, and the
    notes for its card: what else was measured."""
    chosen, notes = next(iter(trained)), dict[str, str]()
    if len(trained) > 1:
        (_, held_out), read = parts
        chosen, notes = choose(recipe, trained, [*read(held_out)], say)
    shutil.copytree(trained[chosen], new, dirs_exist_ok=True)
    scores, more = measured(recipe, new, dev_parts(recipe, treebanks))
    return scores, notes | more


def rewrite(recipe: Recipe, directory: Path, treebanks: Path) -> None:
    """Write an existing model in the format of today, learn again from its treebank where text is cut into
    words, and score the model. Raises ModelError for converters, which have no d-parsers of their own."""
    if recipe.converts:
        raise ModelError(f"{recipe.name}: converts d-trees of others; build it again")
    model = Model.load(directory)
    parts: dict[str, object] = {"dparser": model.dparser}
    if model.tagger_name:  # else its d-parser finds tags
        parts["tagger"] = model.tagger
    for part, one in parts.items():
        if isinstance(one, SpacyEstimator | StanzaEstimator):
            one.keep(directory / part)
    trees = (ctree for data in recipe.data for ctree in recipe.read(treebanks / data.train))
    model.cuts = cuts_of(model.language, (ctree.tokens for ctree in trees))
    model.save(directory, directory)
    renew(directory, recipe, *measured(recipe, directory, dev_parts(recipe, treebanks)))


def dev_parts(recipe: Recipe, treebanks: Path) -> dict[str, Sequence[CTree]]:
    """Return the trees of the parts on which a model is scored, by name."""
    return {f"{data.name} dev": list(recipe.read(treebanks / data.dev)) for data in recipe.data}


def measured(
    recipe: Recipe, directory: Path, gold: Mapping[str, Sequence[CTree]]
) -> tuple[list[Score], dict[str, str]]:
    """Return the scores of a model on parts, and, of English models, what `of_english` measures."""
    model = Model.load(directory)
    rules = rules_of(directory, lambda: model)
    scores = [score(part, model, ctrees, rules) for part, ctrees in gold.items()]
    return scores, of_english(model, rules, gold["MASC dev"]) if recipe.english else {}


def choose(
    recipe: Recipe, trained: Mapping[str, Path], held_out: Sequence[CTree], say: Progress
) -> tuple[str, dict[str, str]]:
    """Return the route to be taken by F1 on held-out trees, and a note with the F1 of all routes."""
    f1 = {r: score("", Model.load(directory), held_out).f1 for r, directory in trained.items()}
    said = ", ".join(f"{route} {one:.2f}" for route, one in f1.items())
    say(f"{recipe.name}: F1 on held-out trees: {said}")
    first, best = next(iter(trained)), max(f1, key=lambda route: f1[route])
    return best if f1[best] > f1[first] + _ENOUGH else first, {"F1 on held-out trees, by route": said}


def of_english(model: Model, rules: TextRules, general: Sequence[CTree]) -> dict[str, str]:
    """Return what else is measured of English models: everyday sentences, constructions, and text in small
    letters or in capitals alone."""
    found = {name: "{:.1f} %, {:.1f} %".format(*score_everyday(model, rules, name)[name]) for name in LISTS}
    cases = ", ".join(f"{score('', model, recased(general, one)).f1:.2f}" for one in (str.lower, str.upper))
    return {
        "everyday sentences: constituents found, sentences with all of them": found["everyday"],
        "constructions: constituents found, sentences with all of them": found["constructions"],
        "F1 on MASC dev in small letters, in capitals": cases,
    }
