"""How often sentences with rare constructions, and generated trees, should count: F1 on held-out sentences.

    python scripts/models/rare.py [--models DIR] [--words N] [--seed N]

spaCy's d-parser learns from the trees of MASC and GUM, the silver trees of EWT that taught `en-small`, and
generated trees. Every row has as many words, so what counts more often takes room from the rest. Every
seventh block of 50 sentences is held out. F1 there: the reduction over single d-trees, EVALB, `collins.prm`,
tags given; points and p: paired approximate randomisation, each row against the first.

The silver trees of EWT are the ones that `scripts/build_models.py` left in --models. Reads $D2C_TREEBANKS
(default ../shared/treebanks).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.shared import FilePath, Line, print_table, say
from d2c.base.batches import batches
from d2c.base.temporary import scratch
from d2c.experiments.significance import approximate_randomisation, counted_matches
from d2c.models.model import Model
from d2c.training.train import train_models
from d2c.trees.ctree import CTree
from d2c.trees.formats.brackets import parse_bracket, save_brackets
from d2c.trees.formats.reading import CLEANED
from d2c.trees.scores.brackets import metric_for
from d2c.trees.scores.matches import Matches
from models.recipes import RECIPES
from models.teaching import KEPT
from treebanks.files import folder
from treebanks.generated import GENERATED, generated_trees
from treebanks.penn import BLOCK, penn_trees, write_parts

PUPIL, LESSON, GOLD = RECIPES["en-small"], "ewt-by-en", ("MASC", "GUM")
COUNTS = ((1, 0), (3, 0), (6, 0), (3, 1), (3, 3))  # how often rare sentences and generated trees count
RARE, OTHERS = "rare", "others"
HELD_OUT = 7  # one block of so many
SETTINGS: dict[str, Any] = {"dparser": "spacy", "tagger": None, "tags": "gold", "epochs": 3.0}
Parts = dict[str, list[CTree]]


def parts_of(models: Path, treebanks: Path, seed: int) -> tuple[Parts, Parts]:
    """Return the trees to learn from and the held-out ones, by part: the rare sentences of the lesson (it
    repeats these), its others, and each treebank; generated trees are all learned from."""
    lines = (models / KEPT / f"{LESSON}.mrg").read_text(encoding="utf-8").splitlines()
    named = [(parse_bracket(tree), RARE if len([*same]) > 1 else OTHERS) for tree, same in groupby(lines)]
    for data in PUPIL.data:
        if data.name in GOLD:
            named += ((ctree, data.name) for ctree in penn_trees(treebanks / data.train))
    learned, held_out = defaultdict[str, list[CTree]](list), defaultdict[str, list[CTree]](list)
    for number, block in enumerate(batches(named, BLOCK)):
        for ctree, name in block:
            (learned if (number + 1) % HELD_OUT else held_out)[name].append(ctree)
    return learned | {GENERATED: [*map(parse_bracket, generated_trees(seed))]}, held_out


def learn(trees: Parts, counts: Mapping[str, int], words: int, seed: int, work: Path) -> Model:
    """Return a model that has learned from so many words, in which the parts have these relative counts."""
    total = sum(count * sum(len(ctree.tokens) for ctree in trees[name]) for name, count in counts.items())
    files = {name: work / f"{name}.mrg" for name in counts if counts[name]}
    for name, file in files.items():
        save_brackets(trees[name], file)
    shares = {file: counts[name] * words / total for name, file in files.items()}
    gold = {files[name]: shares.pop(files[name]) for name in GOLD}
    parts = write_parts(gold, CLEANED, work, seed, silver=shares)
    spec = PUPIL.spec(*parts, CLEANED, **SETTINGS, seed=seed)
    train_models(replace(spec, routes=("reduction",)), [work / "model"], say)
    return Model.load(work / "model")


@click.command()
@click.option("--models", type=FilePath, default="models", show_default=True)
@click.option("--words", default=150_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(models: Path, words: int, seed: int) -> None:
    """Print the table."""
    trees, held_out = parts_of(models, folder(), seed)
    rows, first = list[Line](), dict[str, list[Matches]]()
    for rare, generated in COUNTS:
        with scratch() as work:
            counts = {**dict.fromkeys((*GOLD, OTHERS), 1), RARE: rare, GENERATED: generated}
            model = learn(trees, counts, words, seed, work)
            cells = list[str | float]()
            for name in (RARE, OTHERS, *GOLD):
                gold = held_out[name]
                guess = model.parse(ctree.tokens for ctree in gold)
                found = counted_matches(metric_for(gold).score(gold, guess))
                points, p = approximate_randomisation(first.setdefault(name, found), found)
                cells += [sum(found, Matches()).f1, f"{points:+.2f} ({p:.3f})"]
        rows.append([rare, generated, *cells])
        say(rows[-1])
    heads = chain.from_iterable((name, "points (p)") for name in (RARE, OTHERS, *GOLD))
    print_table(["rare count", "generated count", *heads], rows)


if __name__ == "__main__":
    main()
