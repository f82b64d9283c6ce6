"""What models owe to each source, and to teachers: F1 on dev parts, with and without them.

    python scripts/models/ablation.py sources|genres|lessons|distillation [--models DIR] [-o DIR] [--words N]
                                      [--seed N]
    python scripts/models/ablation.py encoder --words 1400000

A model that `scripts/build_models.py` left in --models goes on for one pass over so many words, for each row
as many: what is added takes room from the rest. The chart stays that of `en-base`. Words given, tags
predicted; EVALB, `collins.prm`; points and p of paired approximate randomisation. What teachers and rows have
found is kept in -o, and not looked for again.

`encoder`: the network of `en` learns from its encoder alone, in two passes over so many words of what `en`
learns from; over single d-trees, by the reduction. It is for a GPU: a core takes more than an hour for a row.

`distillation`: `en-small`, and what its recipe makes without lessons, trained from scratch: about an hour.

Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import FilePath, Line, print_table, say
from d2c.base.inputs import of_each
from d2c.base.model_files import read_json
from d2c.base.temporary import scratch
from d2c.experiments.significance import counted_matches, randomised
from d2c.models.model import Model
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import CLEANED
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Matches
from models.build import train
from models.continuing import go_on
from models.pretrained import encoder_of
from models.recipes import RECIPES, Recipe
from models.scores import untagged
from models.teaching import Lesson, taught
from papers.table import write_text
from treebanks.files import folder
from treebanks.penn import penn_trees, to_penn, write_parts
from treebanks.silver import agrees, silver_pairs


class Mix(NamedTuple):
    """What rows draw from: the sources of a recipe, with its shares, and lessons by the names of texts."""

    recipe: Recipe
    lessons: Mapping[str, Lesson]


PARSED = {"masc-text": 0.25, "EWT": 0.43}  # of a lesson's sentences; enough for 120,000 words of train
TAUGHT, LAST = (RECIPES[name] for name in ("en-taught", "en"))
LITTLE = Mix(
    RECIPES["en-general"],
    {name: replace(own, share=PARSED[name]) for name, own in zip(PARSED, TAUGHT.lessons, strict=True)},
)
WHOLE = Mix(LAST, dict(zip(PARSED, LAST.lessons, strict=True)))
TREEBANKS = {data.name: data for data in LAST.data}
GOLD, SILVER = ("CRAFT", "GENIA", "MASC"), ("GUM", "EWT", "masc-text")
CRAFT_DEV = 4  # every fourth sentence of it

# Files of GUM name no documents, which are in the order of their names: where a genre begins was read off
# by eye, from the sentences before and after.
TRAIN_GENRES = {
    **{"academic": 0, "bio": 489, "court": 1126, "interview": 1528},
    **{"news": 2403, "speech": 3019, "textbook": 3602, "voyage": 4212},
}
DEV_GENRES = {
    **{"academic": 0, "bio": 52, "conversation": 114, "court": 443, "essay": 540, "fiction": 674},
    **{"interview": 758, "letter": 847, "news": 933, "podcast": 996, "speech": 1137, "textbook": 1226},
    **{"vlog": 1297, "voyage": 1392, "whow": 1463},
}
LEFT_OUT = ("court", "interview", "voyage")
REST_OF_GUM = f"GUM without {', '.join(LEFT_OUT)}"
OTHERS = tuple(genre for genre in DEV_GENRES if genre not in TRAIN_GENRES)
GROUPS = {
    "CRAFT": ("CRAFT",),
    "MASC": ("MASC",),
    "GUM": (*DEV_GENRES,),
    "its genres in train": (*TRAIN_GENRES,),
    "other genres": OTHERS,
}
LEARNED = tuple(genre for genre in TRAIN_GENRES if genre not in LEFT_OUT)
GENRES = {", ".join(LEFT_OUT): LEFT_OUT, ", ".join(LEARNED): LEARNED, "other genres": OTHERS}
TABLES = "sources", "genres", "lessons", "distillation", "encoder"
ENCODER, PASSES = "encoder", 2.0  # where the rows of that table begin, and how often they see their words
Found = Mapping[str, Sequence[Matches]]  # of each part what is found of its sentences


@dataclass(frozen=True)
class Row:
    """A model, and what it learns from when it goes on; nothing: it is scored as it is. `than`: the row that
    it is compared with. `anew`: what is scored is another model, of the same recipe without lessons."""

    name: str
    begin: str
    sources: tuple[str, ...] = ()
    than: str | None = None
    anew: bool = False


def rows_of(table: str) -> list[Row]:
    """Return the rows of one of TABLES."""
    if table == "distillation":
        alone = Row("without lessons", "en-small", anew=True)
        return [alone, Row("en-small", "en-small", than=alone.name)]
    begin = ENCODER if table == ENCODER else "en-base"
    base, gold = Row("en-base", "en-base"), Row("gold", begin, GOLD, "en-base")
    added = [Row(f"gold, {one}", "en-base", (*GOLD, one), "gold") for one in SILVER]
    everything = Row("all", begin, GOLD + SILVER, "gold")
    others = {one: tuple(other for other in everything.sources if other != one) for one in SILVER}
    without = [Row(f"all without {one}", begin, own, "all") for one, own in others.items()]
    if table == ENCODER:
        return [replace(gold, than=None), everything, *without]
    if table == "sources":
        return [base, gold, *added, everything, *without]
    if table == "genres":
        rest = Row(f"gold, {REST_OF_GUM}", "en-base", (*GOLD, REST_OF_GUM), added[0].name)
        return [replace(gold, than=None), added[0], rest, everything]
    before = Row("en-general", "en-general")
    alone = Row("without lessons", "en-general", (*GOLD, "GUM"), before.name)
    return [before, alone, Row("with lessons", "en-general", everything.sources, alone.name)]


def by_genre(path: Path, begins: Mapping[str, int]) -> dict[str, list[CTree]]:
    """Return the trees of a file of GUM, those of `penn_trees`, by genre. Raises FormatError."""
    names, trees = [*begins], {name: list[CTree]() for name in begins}
    for number, (ctree, dtree) in enumerate(silver_pairs(path, all_of_them=True)):
        converted = to_penn(ctree) if agrees(ctree, dtree) else None
        if converted is not None and converted.labels:
            trees[names[bisect_right([*begins.values()], number) - 1]].append(converted)
    return trees


def trees_of(source: str, mix: Mix, treebanks: Path, models: Path, kept: Path) -> Path:
    """Return the file of trees of a source, in the Penn Treebank's convention, made unless it is kept."""
    if source in mix.lessons:
        return taught(mix.lessons[source], treebanks, models, kept, say)
    file = kept / f"{source.replace(' ', '-')}.mrg"
    if not file.is_file():
        path = treebanks / TREEBANKS[source.partition(" ")[0]].train
        trees: Iterable[CTree] = penn_trees(path)
        if source == REST_OF_GUM:
            genres = by_genre(path, TRAIN_GENRES)
            trees = chain.from_iterable(own for genre, own in genres.items() if genre not in LEFT_OUT)
        write_text(file, "".join(f"{format_bracket(ctree)}\n" for ctree in trees))
    return file


@cache
def trees_in(file: Path) -> list[CTree]:
    """Return the trees of a file, which many rows share."""
    return [*CLEANED(file)]


def shares_of(files: Mapping[str, Path], mix: Mix, words: int) -> dict[Path, float]:
    """Return how often each file's trees are in so many words, with the recipe's shares among each other."""
    parsed = {name: lesson.share for name, lesson in mix.lessons.items()}
    shares = {file: mix.recipe.shares.get(name, 1.0) / parsed.get(name, 1.0) for name, file in files.items()}
    total = sum(share * sum(len(ctree.tokens) for ctree in trees_in(file)) for file, share in shares.items())
    return {file: share * words / total for file, share in shares.items()}


@cache
def dev_parts(treebanks: Path) -> dict[str, list[CTree]]:
    """Return the trees that models are scored on: CRAFT, MASC, and each genre of GUM."""
    craft, masc = ([*penn_trees(treebanks / TREEBANKS[name].dev)] for name in ("CRAFT", "MASC"))
    parts = by_genre(treebanks / TREEBANKS["GUM"].dev, DEV_GENRES)
    return {"CRAFT": craft[::CRAFT_DEV], "MASC": masc} | parts


def scored(directory: Path, parts: Mapping[str, list[CTree]]) -> dict[str, list[list[int]]]:
    """Return of each sentence of each part the constituents of gold, those found, and those found rightly."""
    model, found = Model.load(directory), dict[str, list[list[int]]]()
    for name, gold in parts.items():
        scores = metric_for(gold).score(gold, model.parse(map(untagged, gold)))
        found[name] = [[own.gold, own.guess, own.matched] for own in counted_matches(scores)]
    return found


def learn(row: Row, parts: tuple[Path, Path], models: Path, seed: int, directory: Path) -> None:
    """Leave in a directory the model of a row that has learned from the first of two files."""
    if row.begin == ENCODER:
        place = str(encoder_of(str(LAST.encoder)))
        spec = LAST.spec(*parts, CLEANED, epochs=PASSES, seed=seed, transformer=place)
        train_models(spec, [directory], say)
    else:
        spec = LITTLE.recipe.spec(*parts, CLEANED, epochs=1.0, seed=seed)
        go_on(models / row.begin, spec, directory, say)


def score_row(row: Row, treebanks: Path, models: Path, kept: Path, words: int, seed: int) -> Found:
    """Return what the model of a row finds of each part, trained unless that is kept."""
    what = "alone" if row.anew else "-".join(row.sources).replace(" ", "-")
    drawn = f"{words}-" if row.sources else ""
    file, mix = kept / f"{row.begin}-{drawn}{seed}-{what}.json", WHOLE if row.begin == ENCODER else LITTLE
    if not file.is_file():
        say(row)
        with scratch() as work:
            directory = models / row.begin
            if row.anew:
                recipe = replace(RECIPES[row.begin], lessons=())
                directory = train(recipe, treebanks, models, work, say, kept)["cky"]
            if row.sources:
                files = {source: trees_of(source, mix, treebanks, models, kept) for source in row.sources}
                shares = shares_of(files, mix, words)
                parts = write_parts(shares, of_each(trees_in), work, seed, mix.recipe.recased)
                directory = work / "model"
                learn(row, parts, models, seed, directory)
            write_text(file, json.dumps(scored(directory, dev_parts(treebanks))))
    return {part: [Matches(*own) for own in counts] for part, counts in read_json(file).items()}


def of_parts(found: Found, parts: Iterable[str]) -> list[Matches]:
    """Return what is found of the sentences of some parts."""
    return [*chain.from_iterable(found[part] for part in parts)]


def lines_of(found: Mapping[str, Found], groups: Mapping[str, Sequence[str]]) -> list[Line]:
    """Return of each row F1 on groups of parts."""
    return [
        [name, *(sum(of_parts(own, parts), Matches()).f1 for parts in groups.values())]
        for name, own in found.items()
    ]


def differences(
    rows: Iterable[Row], found: Mapping[str, Found], groups: Mapping[str, Sequence[str]]
) -> Iterator[Line]:
    """Yield of each row that is compared with another one points and p on groups of parts."""
    for row in rows:
        if row.than is not None:
            one, other = found[row.than], found[row.name]
            pairs = ((of_parts(one, parts), of_parts(other, parts)) for parts in groups.values())
            cells = (f"{points:+.2f} ({p:.4f})" for points, p in (randomised(a, b) for a, b in pairs))
            yield [f"{row.name}, against {row.than}", *cells]


@click.command()
@click.argument("tables", nargs=-1, required=True, type=click.Choice(TABLES))
@click.option("--models", type=FilePath, default="models", show_default=True)
@click.option("-o", "--output", "kept", type=FilePath, default="ablation", show_default=True)
@click.option("--words", default=120_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(tables: tuple[str, ...], models: Path, kept: Path, words: int, seed: int) -> None:
    """Print the tables."""
    kept.mkdir(parents=True, exist_ok=True)
    for table in tables:
        rows, groups = rows_of(table), GENRES if table == "genres" else GROUPS
        found = {row.name: score_row(row, folder(), models, kept, words, seed) for row in rows}
        if table == "genres":
            print_table(["learned from", *DEV_GENRES], lines_of(found, {one: (one,) for one in DEV_GENRES}))
        print_table(["learned from", *groups], lines_of(found, groups))
        print_table(["points (p)", *groups], [*differences(rows, found, groups)])


if __name__ == "__main__":
    main()
