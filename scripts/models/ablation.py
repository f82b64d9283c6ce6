"""What each source, and the teachers, give to `en` and `en-small`: F1 on dev parts with and without them.

    python scripts/models/ablation.py encoder --words 1400000 [--models DIR] [-o DIR] [--seed N]
    python scripts/models/ablation.py distillation [--models DIR] [-o DIR]

`encoder`: the network of `en` is trained anew from its encoder, in two passes over --words words drawn from
the sources of a row. Every row has as many words, so a source that is added takes room from the others. The
reduction converts single d-trees. This is for a GPU: one core takes more than an hour for a row.

`distillation`: `en-small`, and what its recipe makes without lessons, trained from scratch: about an hour.

Models and silver trees are the ones that `scripts/build_models.py` left in --models. Words are given, tags
predicted. F1: EVALB, `collins.prm`; points and p: paired approximate randomisation. The results of a row are
kept in -o and not computed again. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, starmap
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import FilePath, Line, print_table, say
from d2c.base.inputs import of_each
from d2c.base.model_files import read_json
from d2c.base.temporary import scratch
from d2c.experiments.significance import approximate_randomisation, counted_matches
from d2c.models.model import Model
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import format_bracket
from d2c.trees.formats.reading import CLEANED
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Matches
from models.build import parts_of, train
from models.pretrained import encoder_of
from models.recipes import RECIPES
from models.scores import untagged
from models.teaching import KEPT
from papers.table import write_text
from treebanks.files import folder
from treebanks.penn import penn_trees, to_penn, write_parts
from treebanks.silver import agrees, silver_pairs

WHOLE = RECIPES["en"]
LESSONS = {"masc-text": "masc-text", "EWT": "ewt"}  # lessons, by the names that rows give their sources
TREEBANKS = {data.name: data for data in WHOLE.data}
GOLD, SILVER = ("CRAFT", "GENIA", "MASC"), ("GUM", "EWT", "masc-text")
CRAFT_DEV = 4  # every fourth sentence of CRAFT's dev part is scored
PUPIL = "en-small"

# Files of GUM do not name their documents, which are in the order of their names. Where a genre begins (the
# number of its first sentence) was found by eye, from the sentences before and after.
TRAIN_GENRES = {
    **{"academic": 0, "bio": 489, "court": 1126, "interview": 1528},
    **{"news": 2403, "speech": 3019, "textbook": 3602, "voyage": 4212},
}
DEV_GENRES = {
    **{"academic": 0, "bio": 52, "conversation": 114, "court": 443, "essay": 540, "fiction": 674},
    **{"interview": 758, "letter": 847, "news": 933, "podcast": 996, "speech": 1137, "textbook": 1226},
    **{"vlog": 1297, "voyage": 1392, "whow": 1463},
}
OTHERS = tuple(genre for genre in DEV_GENRES if genre not in TRAIN_GENRES)
GROUPS = {
    "CRAFT": ("CRAFT",),
    "MASC": ("MASC",),
    "GUM": (*DEV_GENRES,),
    "its genres in train": (*TRAIN_GENRES,),
    "other genres": OTHERS,
}
TABLES = "encoder", "distillation"
PASSES = 2.0  # over the training words of a row of the first table
Found = Mapping[str, Sequence[Matches]]  # by part, the matches of each of its sentences


@dataclass(frozen=True)
class Row:
    """What is scored, and the row that it is compared with.

    sources: what a network learns from; if there are none, PUPIL is scored, or, with `anew`, what its recipe
             makes without lessons
    than:    the name of the other row
    """

    name: str
    sources: tuple[str, ...] = ()
    than: str | None = None
    anew: bool = False


def rows_of(table: str) -> list[Row]:
    """Return the rows of one of TABLES."""
    if table == "distillation":
        return [Row("without lessons", anew=True), Row(PUPIL, than="without lessons")]
    everything = Row("all", GOLD + SILVER, "gold")
    others = {one: tuple(other for other in everything.sources if other != one) for one in SILVER}
    without = [Row(f"all without {one}", own, "all") for one, own in others.items()]
    return [Row("gold", GOLD), everything, *without]


def by_genre(path: Path, begins: Mapping[str, int]) -> dict[str, list[CTree]]:
    """Return the trees that `penn_trees` yields of a file of GUM, by genre. Raises FormatError."""
    names, trees = [*begins], {name: list[CTree]() for name in begins}
    for number, (ctree, dtree) in enumerate(silver_pairs(path, all_of_them=True)):
        converted = to_penn(ctree) if agrees(ctree, dtree) else None
        if converted is not None and converted.labels:
            trees[names[bisect_right([*begins.values()], number) - 1]].append(converted)
    return trees


def trees_of(source: str, treebanks: Path, models: Path, kept: Path) -> Path:
    """Return the file of trees of a source, in the Penn Treebank's convention, made unless it is kept."""
    if source in LESSONS:
        return models / KEPT / f"{LESSONS[source]}.mrg"
    file = kept / f"{source}.mrg"
    if not file.is_file():
        trees = penn_trees(treebanks / TREEBANKS[source].train)
        write_text(file, "".join(f"{format_bracket(ctree)}\n" for ctree in trees))
    return file


@cache
def trees_in(file: Path) -> list[CTree]:
    """Return the trees of a file; cached, as many rows share them."""
    return [*CLEANED(file)]


def shares_of(files: Mapping[str, Path], words: int) -> dict[Path, float]:
    """Return how often the trees of each file are to be taken, to have so many words in all; shares keep the
    recipe's proportions."""
    shares = {file: WHOLE.shares.get(LESSONS.get(name, name), 1.0) for name, file in files.items()}
    total = sum(share * sum(len(ctree.tokens) for ctree in trees_in(file)) for file, share in shares.items())
    return {file: share * words / total for file, share in shares.items()}


@cache
def dev_parts(treebanks: Path) -> dict[str, list[CTree]]:
    """Return the trees that models are scored on: CRAFT, MASC, and each genre of GUM."""
    craft, masc = ([*penn_trees(treebanks / TREEBANKS[name].dev)] for name in ("CRAFT", "MASC"))
    parts = by_genre(treebanks / TREEBANKS["GUM"].dev, DEV_GENRES)
    return {"CRAFT": craft[::CRAFT_DEV], "MASC": masc} | parts


def scored(directory: Path, parts: Mapping[str, list[CTree]]) -> dict[str, list[list[int]]]:
    """Return, for each sentence of each part, how many constituents gold, the model and both have."""
    model, found = Model.load(directory), dict[str, list[list[int]]]()
    for name, gold in parts.items():
        scores = metric_for(gold).score(gold, model.parse(map(untagged, gold)))
        found[name] = [[own.gold, own.guess, own.matched] for own in counted_matches(scores)]
    return found


def learn(parts: tuple[Path, Path], seed: int, directory: Path) -> None:
    """Train a model on the first of two files, the second being held out, and leave it in a directory."""
    place = str(encoder_of(str(WHOLE.encoder)))
    spec = WHOLE.spec(*parts, CLEANED, epochs=PASSES, seed=seed, transformer=place)
    train_models(replace(spec, routes=("reduction",)), [directory], say)


def score_row(row: Row, treebanks: Path, models: Path, kept: Path, words: int, seed: int) -> Found:
    """Return the matches of a row's model on each part; the model is trained only if they are not kept."""
    drawn = f"{words}-{seed}-" if row.sources else ""
    file = kept / f"{drawn}{row.name.replace(' ', '-')}.json"
    if not file.is_file():
        say(row)
        with scratch() as work:
            directory = models / PUPIL
            if row.anew:
                recipe = replace(RECIPES[PUPIL], lessons=())
                parts, _ = parts_of(recipe, treebanks, models, work, say)
                own = [treebanks / data.train for data in recipe.data]
                directory = train(recipe, parts, own, [], kept, work, say)["cky"]
            if row.sources:
                files = {source: trees_of(source, treebanks, models, kept) for source in row.sources}
                pair = write_parts(shares_of(files, words), of_each(trees_in), work, seed, WHOLE.recased)
                directory = work / "model"
                learn(pair, seed, directory)
            write_text(file, json.dumps(scored(directory, dev_parts(treebanks))))
    return {part: [Matches(*own) for own in counts] for part, counts in read_json(file).items()}


def of_parts(found: Found, parts: Iterable[str]) -> list[Matches]:
    """Return the matches of the sentences of some parts."""
    return [*chain.from_iterable(found[part] for part in parts)]


def lines_of(found: Mapping[str, Found], groups: Mapping[str, Sequence[str]]) -> list[Line]:
    """Return a line for each row: F1 on each group of parts."""
    return [
        [name, *(sum(of_parts(own, parts), Matches()).f1 for parts in groups.values())]
        for name, own in found.items()
    ]


def differences(
    rows: Iterable[Row], found: Mapping[str, Found], groups: Mapping[str, Sequence[str]]
) -> Iterator[Line]:
    """Yield a line for each row that is compared with another: points and p on each group of parts."""
    for row in rows:
        if row.than is not None:
            one, other = found[row.than], found[row.name]
            pairs = ((of_parts(one, parts), of_parts(other, parts)) for parts in groups.values())
            cells = (f"{points:+.2f} ({p:.4f})" for points, p in starmap(approximate_randomisation, pairs))
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
        rows = rows_of(table)
        found = {row.name: score_row(row, folder(), models, kept, words, seed) for row in rows}
        print_table(["learned from", *GROUPS], lines_of(found, GROUPS))
        print_table(["points (p)", *GROUPS], [*differences(rows, found, GROUPS)])


if __name__ == "__main__":
    main()
