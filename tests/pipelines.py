"""A spaCy pipeline with a tagger and a parser, trained on few sentences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from d2c.base.batches import batches
from d2c.routes.registry import make_route
from d2c.trees.ctree import CTree


def train_pipeline(ctrees: Iterable[CTree], directory: Path, epochs: int = 1) -> None:
    """Leaves the pipeline in a directory; d-trees are those of Collins's heads, with phrase symbols."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp, route, examples = spacy.blank("en"), make_route("cky"), []
    for pipe in ("tagger", "parser"):
        nlp.add_pipe(pipe)
    for dtree in map(route.encode, ctrees):
        words, tags = [*dtree.tokens.forms], [*dtree.tokens.tags]
        heads = [head - 1 if head else m for m, head in enumerate(dtree.heads)]
        deps = ["ROOT" if label == "root" else label for label in dtree.labels or ()]
        gold = Doc(nlp.vocab, words, tags=tags, heads=heads, deps=deps)
        examples.append(Example(Doc(nlp.vocab, words), gold))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(epochs):
        for batch in batches(examples, 16):
            nlp.update(batch, sgd=optimizer)
    nlp.to_disk(directory)
