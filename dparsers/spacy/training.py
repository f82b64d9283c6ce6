"""What spaCy's parser and tagger have in common here: a network over words, batches, and the seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy
from spacy.training import Example


def tok2vec(sizes: dict[str, int], attributes: Sequence[str]) -> dict[str, Any]:
    """The configuration of a convolutional network that sees these attributes of words.

    sizes: width of the vectors, depth of the network, rows of the table of the first attribute's hashes; the
        other tables have half as many
    """
    rows = sizes["rows"]
    return {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": sizes["width"],
            "attrs": [*attributes],
            "rows": [rows] + [rows // 2] * (len(attributes) - 1),
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": sizes["width"],
            "depth": sizes["depth"],
            "window_size": 1,
            "maxout_pieces": 3,
        },
    }


def batches_of(examples: list[Example], batch_words: int) -> Iterator[list[Example]]:
    """Batches of so many words or a few more, without end, composed anew for every pass."""
    order, batch, words = examples.copy(), [], 0
    while True:
        random.shuffle(order)
        for example in order:
            batch.append(example)
            words += len(example)
            if words >= batch_words:
                yield batch
                batch, words = [], 0


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """With the generators that spaCy draws from seeded; afterwards they go on as if nothing was drawn."""
    states = random.getstate(), numpy.random.get_state()
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
