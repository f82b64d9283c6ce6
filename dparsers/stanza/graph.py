"""Stanza's graph parser, which in prediction scores the labels of likely arcs alone.

Stanza's own prediction scores all labels of all pairs of words, and its search for the best tree takes longer
than the network where the best heads of all words are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy import floating
from numpy.typing import NDArray
from stanza.models.common.biaffine import DeepBiaffineScorer
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.model import GraphParser
from stanza.models.depparse.trainer import GraphTrainer
from torch import Tensor, nn
from torch.nn import functional

from d2c.packed.arcs import LEAST_LABEL, ArcLabels, PackedArcs, arcs_of, single
from d2c.packed.spanning import spanning_tree

Floats = NDArray[floating[Any]]

_WORDS = 128  # the labels of whose arcs are scored at a time


class ArcLabelScores:
    """Scores [sentences, words + 1, words + 1, L] of labels, computed when they are indexed.

    dependents, heads: [sentences, words + 1, size] the factors of words; bilinear: what makes scores of these
    """

    def __init__(self, dependents: Tensor, heads: Tensor, bilinear: nn.Module) -> None:
        self._dependents, self._heads, self._bilinear = dependents, heads, bilinear

    def __getitem__(self, arcs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Return [W, K, L] the scores of K arcs for each of W words: their sentences and numbers [W, 1], and
        their heads [W, K]."""
        sentences, dependents, heads = arcs
        factors = self._dependents[sentences, dependents], self._heads[sentences, heads]
        parts = zip(*(torch.split(factor, _WORDS) for factor in factors), strict=True)
        return torch.cat([self._bilinear(*part)[:, 0] for part in parts])


class ArcLabelScorer(DeepBiaffineScorer):  # type: ignore[misc]
    """Stanza's scorer of labels, with the weights of a given one."""

    def __init__(self, scorer: DeepBiaffineScorer) -> None:
        nn.Module.__init__(self)
        self.__dict__.update(scorer.__dict__)

    def forward(self, dependents: Tensor, heads: Tensor) -> Any:
        """Return scores, in prediction `ArcLabelScores`; dependents, heads: [sentences, words + 1, size]."""
        if self.training:
            return super().forward(dependents, heads)
        factors = self.hidden_func(self.W1(dependents)), self.hidden_func(self.W2(heads))
        return ArcLabelScores(*factors, self.scorer)


class GraphNetwork(GraphParser):  # type: ignore[misc]
    """The network. packs: whether predictions are pairs of a tree and packed arcs"""

    packs = False

    def __init__(self, *rest: Any, **more: Any) -> None:
        super().__init__(*rest, **more)
        if "deprel" in self._modules:  # else arcs have embeddings, from which labels are scored
            self.deprel: Any = ArcLabelScorer(self._modules["deprel"])

    def forward(self, *batch: Any) -> tuple[Any, list[Any]]:
        """Return the loss, or, in prediction, logarithms of heads' probabilities, and scores of labels."""
        if self.training:
            return super().forward(*batch)  # type: ignore[no-any-return]
        scores, labels, *_ = self.forward_scores(*batch)
        return 0.0, [functional.log_softmax(scores, 2).cpu().numpy(), labels]

    def decode_graph_predictions(
        self, vocab: Any, size: int, scores: Sequence[Any], lengths: Sequence[int], **more: Any
    ) -> list[Any]:
        """Return head and label of each word of each sentence, with packed arcs if they are wanted.

        scores: as of `forward`; lengths: of the sentences, root included
        """
        tables = [table[:n, :n] for table, n in zip(scores[0], lengths, strict=True)]
        heads = [best_heads(table) for table in tables]
        arcs = [_likely(*pair) if self.packs else single(pair[1]) for pair in zip(tables, heads, strict=True)]
        names = tuple(vocab.unmap(range(VOCAB_PREFIX_SIZE, len(vocab))))
        found = list[Any]()
        for tree, own, of_labels in zip(heads, arcs, _of_arcs(scores[1], arcs), strict=True):
            places = own.places(np.arange(len(tree)), np.array(tree))
            best = of_labels[places].argmax(dim=1).tolist()
            rows = [[head, names[label]] for head, label in zip(tree, best, strict=True)]
            if self.packs:
                logs = functional.log_softmax(of_labels, 1).clamp(min=math.log(LEAST_LABEL)).cpu().numpy()
                found.append((rows, own._replace(labels=ArcLabels(names, logs))))
            else:
                found.append(rows)
        return found


class GraphNetworkTrainer(GraphTrainer):  # type: ignore[misc]
    """Stanza's trainer of such a network."""

    build_model = staticmethod(GraphNetwork)


def _likely(table: Floats, tree: Sequence[int]) -> PackedArcs:
    """Return the likely arcs of a sentence. table: [n + 1, n + 1] logarithms of dependents' probabilities of
    heads, which do not sum to 1 in a batch with longer ones"""
    shares = np.exp(table[1:].astype(np.float64))
    return arcs_of(shares / shares.sum(axis=1, keepdims=True), tree)


def _of_arcs(labels: ArcLabelScores | Tensor, arcs: Sequence[PackedArcs]) -> Sequence[Tensor]:
    """Return [A, L] the scores of labels of the arcs of each sentence of a batch."""
    widths = np.concatenate([np.diff(own.begin) for own in arcs])
    there = torch.from_numpy(np.arange(widths.max()) < widths[:, None])
    heads = torch.zeros(there.shape, dtype=torch.long)
    heads[there] = torch.from_numpy(np.concatenate([own.heads for own in arcs])).long()
    lengths = torch.tensor([len(own.begin) - 1 for own in arcs])
    sentences = torch.arange(len(arcs)).repeat_interleave(lengths)
    dependents = torch.cat([torch.arange(1, n + 1) for n in lengths.tolist()])
    scores = labels[sentences[:, None], dependents[:, None], heads]
    return torch.split(scores[there], [len(own.heads) for own in arcs])


def best_heads(scores: Floats) -> tuple[int, ...]:
    """Return [n] the heads of the best tree with one root.

    scores: [n + 1, n + 1] logarithms of dependents' shares of heads; of a word as its own head -inf
    """
    return spanning_tree(scores[1:].T.astype(np.float64))
