"""Stanza's graph parser, which scores the labels of gold or likely arcs alone, and knows yields.

From the same states it learns the first and the last word of each word's yield, which arcs, one by one, do
not say. The packed chart scores both. (Zhou and Zhao, ACL 2019, score arcs and spans of constituents.)

Stanza itself scores all labels of all pairs of words, and its search for the best tree takes longer than the
network where the best heads of all words are none.
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
from d2c.trees.dtree import subtrees

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


class ArcLabelScorer(nn.Module):
    """What scores labels in place of Stanza's scorer, by the same weights under the same names.

    gold: [sentences, words] the heads in training
    """

    gold: Tensor

    def __init__(self, scorer: DeepBiaffineScorer) -> None:
        super().__init__()
        self.W1, self.W2, self.scorer = scorer.W1, scorer.W2, scorer.scorer
        self.hidden_func, self.dropout = scorer.hidden_func, scorer.dropout

    def forward(self, dependents: Tensor, heads: Tensor) -> Any:
        """Return `ArcLabelScores`, in training scores; dependents, heads: [sentences, words + 1, size]."""
        factors = self.hidden_func(self.W1(dependents)), self.hidden_func(self.W2(heads))
        if not self.training:
            return ArcLabelScores(*factors, self.scorer)
        return self._of_gold(*map(self.dropout, factors))

    def _of_gold(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """Return [sentences, words + 1, words + 1, L]: for any head of a word the scores of the arc from its
        gold one, since Stanza takes these alone. Of the two orders to multiply, that with the smaller array
        in between is taken."""
        gold = functional.pad(self.gold, (1, 0))[..., None].expand_as(heads)
        a, b = (functional.pad(factor, (0, 1), value=1.0) for factor in (dependents, heads.gather(1, gold)))
        weight, bias = self.scorer.W_bilin.weight, self.scorer.W_bilin.bias
        if weight.shape[2] > weight.shape[0]:
            scores = (a[..., :, None] * b[..., None, :]).flatten(2) @ weight.flatten(0, 1)
        else:
            of_heads = (a @ weight.flatten(1)).unflatten(2, weight.shape[1:])
            scores = (b[..., None, :] @ of_heads)[..., 0, :]
        of_any: Tensor = (scores + bias)[:, :, None]
        return of_any.expand(-1, -1, heads.shape[1], -1)


class SmoothedLoss(nn.Module):
    """Cross entropy with smoothed targets: a share of each goes evenly to all that is possible.

    Szegedy et al., "Rethinking the Inception Architecture for Computer Vision" (CVPR 2016), section 7. Here
    words beyond the end of a sentence are impossible; their scores are -inf, for which torch's is infinite.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return the sum over rows; scores: [rows, classes], targets: [rows], below 0 where there is none."""
        logs, possible = functional.log_softmax(scores, 1), scores > -math.inf
        of_all = logs.masked_fill(~possible, 0.0).sum(1) / possible.sum(1).clamp(min=1)
        of_targets = logs.gather(1, targets.clamp(min=0)[:, None])[:, 0]
        return -torch.lerp(of_targets, of_all, self.share)[targets >= 0].sum()


class GraphNetwork(GraphParser):  # type: ignore[misc]
    """The network; with `yields` among its arguments it scores ends of yields; `smoothing` is the share of a
    `SmoothedLoss`.

    packs: whether predictions are pairs of a tree and packed arcs
    """

    packs = False
    states: Tensor  # [sentences, words + 1, size] of words, while a batch goes through

    def __init__(self, *rest: Any, **more: Any) -> None:
        super().__init__(*rest, **more)
        if hasattr(self, "deprel"):  # else arcs have embeddings, from which labels are scored
            self.deprel: Any = ArcLabelScorer(self.deprel)
        if share := self.args.get("smoothing"):
            self.crit: Any = SmoothedLoss(share)
        if self.args.get("yields"):
            size, hidden, dropout = (
                self.args[name] for name in ("hidden_dim", "deep_biaff_hidden_dim", "dropout")
            )
            self.yields = DeepBiaffineScorer(2 * size, 2 * size, hidden, 2, pairwise=True, dropout=dropout)

    def forward(self, *batch: Any) -> tuple[Any, list[Any]]:
        """Return the loss, or, in prediction, what `of_batch` does."""
        found = self.of_batch(*batch)
        del self.states
        return found

    def of_batch(self, *batch: Any) -> tuple[Any, list[Any]]:
        """Return the loss, or, in prediction, logarithms of heads' probabilities, scores of labels, and, for
        packed arcs, logarithms of the probabilities of ends of yields [sentences, words, words, 2]."""
        mask = batch[1]
        if not self.training:
            scores, labels, *_ = self.forward_scores(*batch)
            found = [functional.log_softmax(scores, 2).cpu().numpy(), labels]
            if self.packs and self.args.get("yields"):
                found.append(functional.log_softmax(self._of_yields(mask), 2).cpu().numpy())
            return 0.0, found
        if hasattr(self, "deprel"):
            self.deprel.gold = batch[9]
        loss, predictions = super().forward(*batch)
        if self.args.get("yields"):
            scores, ends = self._of_yields(mask).transpose(2, 3), ends_of_yields(batch[9], mask)
            loss = loss + self.crit(scores.flatten(0, 2), ends.flatten()) / batch[2].size(0)
        return loss, predictions

    def embed(self, *batch: Any) -> Tensor:
        """Return the states, and keep them."""
        self.states = super().embed(*batch)
        return self.states

    def _of_yields(self, mask: Tensor) -> Tensor:
        """Return [sentences, words, words, 2] scores of words as the first and the last of a word's yield."""
        states = self.drop(self.states[:, 1:])
        scores: Tensor = self.yields(states, states)
        return scores.masked_fill(mask[:, None, 1:, None], -math.inf)

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
        for i, (tree, own, of_labels) in enumerate(zip(heads, arcs, _of_arcs(scores[1], arcs), strict=True)):
            best = of_labels[own.of_tree(tree)].argmax(dim=1).tolist()
            rows = [[head, names[label]] for head, label in zip(tree, best, strict=True)]
            if self.packs:
                logs = functional.log_softmax(of_labels, 1).clamp(min=math.log(LEAST_LABEL)).cpu().numpy()
                ends = _ends(scores[2][i], len(tree)) if self.args.get("yields") else None
                found.append((rows, own._replace(labels=ArcLabels(names, logs), yields=ends)))
            else:
                found.append(rows)
        return found


class GraphNetworkTrainer(GraphTrainer):  # type: ignore[misc]
    """Stanza's trainer of such a network."""

    build_model = staticmethod(GraphNetwork)


def ends_of_yields(heads: Tensor, mask: Tensor) -> Tensor:
    """Return [sentences, words, 2] the first and the last word, from 0, of each word's yield; -1 in padding.

    heads: [sentences, words] of trees; mask: [sentences, words + 1] whether there is no word
    """
    ends, lengths = torch.full((*heads.shape, 2), -1), (~mask[:, 1:]).sum(1).tolist()
    for own, row, n in zip(ends, heads.tolist(), lengths, strict=True):
        first, last, _ = subtrees(row[:n])
        own[:n] = torch.tensor([first, last]).T
    return ends.to(heads.device)


def _ends(table: Floats, n: int) -> NDArray[np.float32]:
    """Return ends of yields as `PackedArcs` has them. table: [words, words, 2] logarithms of a sentence's"""
    return table[:n, :n].transpose(2, 0, 1).clip(min=math.log(LEAST_LABEL)).astype(np.float32).ravel()


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
