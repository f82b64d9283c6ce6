"""The numbers of words and tags."""

from __future__ import annotations

from d2c.cky.vocabulary import Vocabulary
from d2c.trees.ctree import Tokens


def test_a_tag_never_seen_counts_as_that_of_most_rare_words() -> None:
    """Not as the commonest of all, DT; of equally common ones the first."""
    sentences = [
        Tokens(("the", "cat"), ("DT", "NN")),
        Tokens(("the", "dog"), ("DT", "NN")),
        Tokens(("the", "slept"), ("DT", "VBD")),
    ]
    vocabulary = Vocabulary.of(sentences)
    assert vocabulary.unknown_tag == "NN"
    observed = vocabulary.observe(Tokens(("a", "b"), ("never", "VBD")), (2, 0), None)
    assert observed["tag"][1:-1].tolist() == [vocabulary.tags["NN"], vocabulary.tags["VBD"]]
    assert Vocabulary.of([Tokens(("a", "b"), ("Y", "X"))]).unknown_tag == "X"
    assert Vocabulary.of([Tokens(("a", "a"), ("Y", "Y"))]).unknown_tag == "Y"
