"""Stanza's parser on a pretrained encoder: d-trees, constituents and speed on the dev part of each treebank.

    python scripts/bench_encoder.py --transformer DIRECTORY [--sentences 5000] [--epochs 6] [--device cpu]
    python scripts/bench_encoder.py --transformer DIRECTORY --sentences 0 --treebanks craft,genia,masc \\
        --device cuda --checkpoints DIRECTORY

The second is for a machine with a GPU; with `--preset default` in place of `--transformer` Stanza's own sizes
learn from scratch. One parser learns from all these treebanks, and is chosen on the dev part of the first.
Gold tags, traces and function tags removed, plain reduction, punctuation not counted. Reads $D2C_TREEBANKS.
"""

from __future__ import annotations

import time
from itertools import chain
from pathlib import Path

import click

from d2c.dparsers.protocol import DependencyParser
from d2c.dparsers.registry import make_dparser
from d2c.reduction.reduction import Reduction
from d2c.trees.ctree import CTree
from d2c.trees.formats.conllu import write_conllu
from d2c.trees.scores.attachment import Attachment, score_attachment
from d2c.trees.scores.brackets import bracket_scores
from d2c.trees.temporary import scratch
from measuring import options
from measuring.tables import print_table, say
from measuring.treebanks import CRAFT, Treebank

TREEBANKS = {
    "craft": CRAFT,
    "genia": Treebank("english", "genia-{}.mrg.gz", "collins"),
    "masc": Treebank("english", "masc-{}.mrg.gz", "collins"),
}


@click.command()
@options.sentences_option
@options.names_option("--treebanks", TREEBANKS, "craft")
@options.epochs_option
@click.option("--transformer", help="Directory, or name, of the encoder.")
@click.option("--preset", default="default", show_default=True, help="Without --transformer.")
@click.option("--device", help="cpu or cuda.  [default: cuda where there is one]")
@click.option("--checkpoints", type=options.FilePath, help="Directory; training goes on from there.")
@click.option("--seed", default=1, show_default=True)
def main(
    sentences: int,
    treebanks: list[str],
    epochs: float | None,
    transformer: str | None,
    preset: str,
    device: str | None,
    checkpoints: Path | None,
    seed: int,
) -> None:
    """Trains a parser, and prints a line for each treebank."""
    train = [*chain(*(TREEBANKS[name].trees("train", sentences or None) for name in treebanks))]
    dev = {name: [*TREEBANKS[name].trees("dev")] for name in treebanks}
    route = Reduction("direct", "collins").fit(train, dev[treebanks[0]])
    begin = time.perf_counter()
    given = {"bert_model": transformer, "preset": preset, "epochs": epochs, "device": device, "seed": seed}
    parser = make_dparser("stanza", **given, checkpoints=checkpoints)
    with scratch() as directory:
        for name, trees in (("train", train), ("dev", dev[treebanks[0]])):
            with open(directory / f"{name}.conllu", "w", encoding="utf-8") as stream:
                write_conllu(map(route.encode, trees), stream)
        parser.train(directory / "train.conllu", directory / "dev.conllu", directory / "model", say)
    minutes = (time.perf_counter() - begin) / 60
    rows = [[name, *_scores(route, parser, dev[name])] for name in treebanks]
    print(f"\n{len(train):,} sentences, {minutes:.1f} minutes on {_device(device)}")
    print_table(["dev", "UAS", "LAS", "F1", "tokens/s"], rows)


def _scores(route: Reduction, parser: DependencyParser, gold: list[CTree]) -> list[float]:
    begin = time.perf_counter()
    dtrees = [*parser.parse(ctree.tokens for ctree in gold)]
    seconds = time.perf_counter() - begin
    pairs = zip(map(route.encode, gold), dtrees, strict=True)
    attachment = sum((score_attachment(*pair) for pair in pairs), Attachment())
    f1 = bracket_scores(gold, [*route.decode_all(dtrees)], gaps=route.gaps_).f1
    return [
        attachment.uas,
        attachment.las,
        f1,
        sum(len(dtree.heads) for dtree in dtrees) / seconds,
    ]


def _device(asked: str | None) -> str:
    import torch

    name = asked or ("cuda" if torch.cuda.is_available() else "cpu")
    return (
        torch.cuda.get_device_name() if name.startswith("cuda") else f"{torch.get_num_threads()} CPU threads"
    )


if __name__ == "__main__":
    main()
