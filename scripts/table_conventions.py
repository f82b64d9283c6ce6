"""Labels of a foreign convention as features of constrained CKY: F1 with and without them.

    python scripts/table_conventions.py [--sentences 5000]

Trained on CRAFT's own d-trees, in the Stanford convention, and scored on those of CRAFT dev; head children
are those that the d-trees induce. EVALB, collins.prm. Reads $D2C_TREEBANKS (default ../shared/treebanks).
"""

from __future__ import annotations

from dataclasses import replace

import click

from d2c.cky.constrained_cky import ConstrainedCKY
from d2c.training.fitting import with_induced_heads
from d2c.trees.ctree import CTree
from d2c.trees.dtree import DTree
from d2c.trees.formats.conllu import read_conllu
from d2c.trees.scores.brackets import bracket_scores
from measuring import options
from measuring.craft import Craft
from measuring.tables import Line, print_table, say
from measuring.treebanks import folder

HEADER = ("", "F1", "R", "P", "exact")


@click.command()
@options.sentences_option
def main(sentences: int) -> None:
    """Trains twice and prints the figures."""
    craft = Craft.read(sentences)
    dtrees, dev_dtrees = stanford("train", craft.train), stanford("dev", craft.dev)
    gold, headed = with_induced_heads(craft.train, dtrees), with_induced_heads(craft.dev, dev_dtrees)
    rows: list[Line] = []
    for labels in (False, True):
        route = ConstrainedCKY(labels=labels, seed=1)
        route.fit(gold, craft.dev, dtrees=dtrees, dev_dtrees=dev_dtrees, progress=say)
        guess = list(route.decode_all(dev_dtrees))
        rows.append(row(f"{'with' if labels else 'without'} labels", craft.dev, guess))
    nearest = list(map(route.oracle, headed, dev_dtrees))
    print_table(HEADER, [*rows, row("oracle", craft.dev, nearest)])
    print(f"{craft.described} d-trees: CRAFT's own")


def stanford(part: str, ctrees: list[CTree]) -> list[DTree]:
    """The corpus's own d-trees of the first sentences, over the tokens of the c-trees."""
    dtrees = read_conllu(folder() / f"craft-{part}.sd.conllu.gz")
    return [replace(dtree, tokens=ctree.tokens) for ctree, dtree in zip(ctrees, dtrees, strict=False)]


def row(name: str, gold: list[CTree], guess: list[CTree]) -> Line:
    """Scores."""
    scores = bracket_scores(gold, guess)
    return [name, scores.f1, scores.recall, scores.precision, scores.complete_match]


if __name__ == "__main__":
    main()
