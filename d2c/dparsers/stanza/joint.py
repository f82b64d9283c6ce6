"""Stanza's graph parser that finds the tags of words, too: one network, and one encoder, for both.

It sees no tags but the shape of each word, since encoders may know small letters alone. A layer over the
states from which arcs are found chooses the tag; both learn from the sum of their losses. What Stanza calls
UPOS holds the tag, which is no input here, XPOS the shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.trainer import GraphTrainer
from torch import Tensor, nn

from d2c.dparsers.stanza.graph import GraphNetwork

ARGUMENTS = {"use_upos": False}


@lru_cache(1 << 16)
def shape(form: str) -> str:
    """Return which of a few shapes a word has: `x`, `Xx`, `X`, `XX`, `xX`, `0`, `x0` or `.`."""
    letters = [c for c in form if c.isalpha()]
    if not letters:
        return "0" if any(map(str.isdigit, form)) else "."
    if any(map(str.isdigit, form)):
        return "X0" if letters[0].isupper() else "x0"
    upper = sum(map(str.isupper, letters))
    if upper == len(letters):
        return "X" if upper == 1 else "XX"
    if not upper:
        return "x"
    return "Xx" if letters[0].isupper() else "xX"


class JointNetwork(GraphNetwork):
    """The network: Stanza's, with a scorer of tags over the states of words."""

    def __init__(self, args: dict[str, Any], vocab: Any, *rest: Any, **more: Any) -> None:
        super().__init__(args, vocab, *rest, **more)
        self.tag_scorer = nn.Linear(2 * args["hidden_dim"], len(vocab["upos"]) - VOCAB_PREFIX_SIZE)

    def of_batch(self, word: Tensor, word_mask: Tensor, *rest: Any) -> tuple[Any, list[Any]]:
        """Return the loss, or, in prediction, arrays of which the last is of tags."""
        loss, predictions = super().of_batch(word, word_mask, *rest)
        scores = self.tag_scorer(self.drop(self.states))[:, 1:]
        if not self.training:
            return loss, [*predictions, scores.argmax(2).cpu().numpy() + VOCAB_PREFIX_SIZE]
        chars, _, tags = rest[:3]
        target = (tags[:, 1:] - VOCAB_PREFIX_SIZE).masked_fill(word_mask[:, 1:], -1)
        return loss + self.crit(scores.flatten(0, 1), target.flatten()) / chars.size(0), predictions

    def decode_graph_predictions(
        self, vocab: Any, size: int, scores: Sequence[Any], lengths: Sequence[int], **more: Any
    ) -> list[Any]:
        """Return head, label and tag of each word, as of a `GraphNetwork`."""
        found = super().decode_graph_predictions(vocab, size, scores, lengths, **more)
        trees = [tree for tree, _ in found] if self.packs else found
        for tree, numbers in zip(trees, scores[-1], strict=True):
            tags = self.vocab["upos"].unmap(numbers[: len(tree)])
            for row, tag in zip(tree, tags, strict=True):
                row.append(tag)
        return found


class JointTrainer(GraphTrainer):  # type: ignore[misc]
    """Stanza's trainer of such a network."""

    build_model = staticmethod(JointNetwork)
