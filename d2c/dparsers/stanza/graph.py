"""Stanza's graph parser, which here scores only the labels of gold or likely arcs, and learns yields, too.

From the same states it learns the first and the last word of each word's yield, which single arcs do not say.
The packed chart scores both. (Zhou and Zhao, ACL 2019, score arcs and spans of constituents.)

A joint network also predicts the tags of words: one network, and one encoder, for both. It sees no tags but
the shape of each word, since encoders may know only lower case. A layer over the states from which arcs are
scored chooses the tag; both learn from the sum of their losses. What Stanza calls UPOS holds the tag there,
which is no input, XPOS the shape.

Stanza itself scores all labels of all pairs of words. And where the best heads of all words form no tree, its
search for the best tree takes longer than the network.
"""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from stanza.models.common.biaffine import DeepBiaffineScorer
from stanza.models.common.vocab import VOCAB_PREFIX_SIZE
from stanza.models.depparse.model import GraphParser
from torch import Tensor, nn
from torch.nn import functional

from d2c.base.arrays import Floats
from d2c.dparsers.graph.scores import GraphScores
from d2c.packed.arcs import PackedArcs
from d2c.trees.dtree import subtrees

_WORDS = 128  # words whose arcs' labels are scored at a time


# The arguments of Stanza's networks: tensors [sentences, words + 1], of heads and labels [sentences, words],
# of characters [words, characters]; `word_mask` is true where there is no word, `sentlens` count the root.
Batch = namedtuple(
    "Batch",
    "word word_mask wordchars wordchars_mask upos xpos ufeats pretrained lemma head deprel word_orig_idx "
    "sentlens wordlens text",
)


class ArcLabelScores:
    """Scores [sentences, words + 1, words + 1, L] of labels, computed when they are indexed.

    dependents, heads: [sentences, words + 1, size] the factors of words; bilinear: makes scores of these
    """

    def __init__(self, dependents: Tensor, heads: Tensor, bilinear: nn.Module) -> None:
        self._dependents, self._heads, self._bilinear = dependents, heads, bilinear

    def __getitem__(self, arcs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Return [W, K, L] the scores of labels for K arcs to each of W words; arcs: the sentences of these
        words and their numbers, both [W, 1], and their heads [W, K]."""
        sentences, dependents, heads = arcs
        factors = self._dependents[sentences, dependents], self._heads[sentences, heads]
        parts = zip(*(torch.split(factor, _WORDS) for factor in factors), strict=True)
        return torch.cat([self._bilinear(*part)[:, 0] for part in parts])


class ArcLabelScorer(nn.Module):
    """A scorer of labels in place of Stanza's, with the same weights under the same names.

    gold: [sentences, words] the gold heads, in training
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
        """Return [sentences, words + 1, words + 1, L]: for any head of a word the scores of its arc from the
        gold head, since Stanza reads no others. Of the two orders of multiplication, the one with the smaller
        array in between is taken."""
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
    """Cross entropy with smoothed targets: a share of each goes evenly to all classes that are possible.

    Szegedy et al., "Rethinking the Inception Architecture for Computer Vision" (CVPR 2016), section 7. Here
    words beyond the end of a sentence are impossible: their scores are -inf, which would make torch's own
    smoothed loss infinite.
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
    """The network. With `yields` among its arguments it scores ends of yields; `smoothing` is the share of a
    `SmoothedLoss`; with the `model_type` `joint` it also predicts tags.

    least: the least probability of packed arcs; None: predictions have none
    """

    least: float | None = None
    bert_model: Any  # the encoder, if there is one
    states: Tensor  # [sentences, words + 1, size] of words, while a batch goes through

    def __init__(self, args: dict[str, Any], vocab: Any, *rest: Any, **more: Any) -> None:
        super().__init__(args, vocab, *rest, **more)
        size, hidden, dropout = (args[name] for name in ("hidden_dim", "deep_biaff_hidden_dim", "dropout"))
        self.has_yields, self.has_tags = bool(args.get("yields")), args["model_type"] == "joint"
        if hasattr(self, "deprel"):  # else arcs have embeddings, from which labels are scored
            self.deprel: Any = ArcLabelScorer(self.deprel)
        if share := args.get("smoothing"):
            self.crit: Any = SmoothedLoss(share)
        if self.has_yields:
            self.yields = DeepBiaffineScorer(2 * size, 2 * size, hidden, 2, pairwise=True, dropout=dropout)
        if self.has_tags:
            self.tag_scorer = nn.Linear(2 * size, len(vocab["upos"]) - VOCAB_PREFIX_SIZE)

    def forward(self, *args: Any, **named: Any) -> tuple[Any, list[Any]]:
        """Return the loss of a `Batch`, or, in prediction, what `_predicted` does."""
        batch = Batch(*args, **named)
        found = self._learned(batch) if self.training else (0.0, self._predicted(batch))
        del self.states
        return found

    def embed(self, *args: Any, **named: Any) -> Tensor:
        """Return the states of words, and keep them."""
        self.states = super().embed(*args, **named)
        return self.states

    def predict(self, *args: Any, resolve_head_constraints: bool = False, **named: Any) -> list[Any]:
        """Return for each sentence of a `Batch` its arcs, the tags of a joint network, and packed arcs if
        `least` is set."""
        batch = Batch(*args, **named)
        scores = self(*batch)[1]
        lengths, yields, tags = batch.sentlens, None, list[Any]()
        tables = [table[:n, :n] for table, n in zip(scores[0], lengths, strict=True)]
        if self.least is not None and self.has_yields:
            ends = zip(scores[2], lengths, strict=True)
            yields = [table[: n - 1, : n - 1].transpose(2, 0, 1) for table, n in ends]
        if self.has_tags:
            known = self.vocab["upos"]
            tags = [known.unmap(own[: n - 1]) for own, n in zip(scores[-1], lengths, strict=True)]

        def labels(arcs: Sequence[PackedArcs]) -> Floats:
            return functional.log_softmax(_of_arcs(scores[1], arcs), 1).cpu().numpy()

        return GraphScores(tables, labels, units(self.vocab["deprel"]), yields, tags).found(self.least)

    def _learned(self, batch: Batch) -> tuple[Any, list[Any]]:
        """Return the sum of the losses, and no predictions."""
        if hasattr(self, "deprel"):
            self.deprel.gold = batch.head
        loss, predictions = super().forward(*batch)
        words = batch.wordchars.size(0)
        if self.has_yields:
            scores = self._of_yields(batch).transpose(2, 3).flatten(0, 2)
            loss = loss + self.crit(scores, ends_of_yields(batch.head, batch.word_mask).flatten()) / words
        if self.has_tags:
            tags = (batch.upos[:, 1:] - VOCAB_PREFIX_SIZE).masked_fill(batch.word_mask[:, 1:], -1)
            loss = loss + self.crit(self._of_tags().flatten(0, 1), tags.flatten()) / words
        return loss, predictions

    def _predicted(self, batch: Batch) -> list[Any]:
        """Return logarithms of probabilities of heads, scores of labels, for packed arcs logarithms of
        probabilities of ends of yields [sentences, words, words, 2], and ids of tags [sentences, words]."""
        scores, labels, *_ = self.forward_scores(*batch)
        found = [functional.log_softmax(scores, 2).cpu().numpy(), labels]
        if self.least is not None and self.has_yields:
            found.append(functional.log_softmax(self._of_yields(batch), 2).cpu().numpy())
        if self.has_tags:
            found.append(self._of_tags().argmax(2).cpu().numpy() + VOCAB_PREFIX_SIZE)
        return found

    def _of_yields(self, batch: Batch) -> Tensor:
        """Return [sentences, words, words, 2] scores of words as the first and the last of a word's yield."""
        states = self.drop(self.states[:, 1:])
        scores: Tensor = self.yields(states, states)
        return scores.masked_fill(batch.word_mask[:, None, 1:, None], -math.inf)

    def _of_tags(self) -> Tensor:
        """Return [sentences, words, T] scores of tags."""
        scores: Tensor = self.tag_scorer(self.drop(self.states))
        return scores[:, 1:]


def units(vocabulary: Any) -> tuple[str, ...]:
    """Return the units that a vocabulary of a network has beside Stanza's prefix."""
    return tuple(vocabulary.unmap(range(VOCAB_PREFIX_SIZE, len(vocabulary))))


def ends_of_yields(heads: Tensor, mask: Tensor) -> Tensor:
    """Return [sentences, words, 2] the first and the last word, from 0, of each word's yield; -1 in padding.

    heads: [sentences, words] of trees; mask: [sentences, words + 1] whether there is no word
    """
    ends, lengths = torch.full((*heads.shape, 2), -1), (~mask[:, 1:]).sum(1).tolist()
    for own, row, n in zip(ends, heads.tolist(), lengths, strict=True):
        first, last, _ = subtrees(row[:n])
        own[:n] = torch.tensor([first, last]).T
    return ends.to(heads.device)


def _of_arcs(labels: ArcLabelScores | Tensor, arcs: Sequence[PackedArcs]) -> Tensor:
    """Return [A, L] the scores of labels of the arcs of all sentences of a batch."""
    widths = np.concatenate([np.diff(own.begin) for own in arcs])
    there = torch.from_numpy(np.arange(widths.max()) < widths[:, None])
    heads = torch.zeros(there.shape, dtype=torch.long)
    heads[there] = torch.from_numpy(np.concatenate([own.heads for own in arcs])).long()
    lengths = torch.tensor([len(own.begin) - 1 for own in arcs])
    sentences = torch.arange(len(arcs)).repeat_interleave(lengths)
    dependents = torch.cat([torch.arange(1, n + 1) for n in lengths.tolist()])
    return labels[sentences[:, None], dependents[:, None], heads][there]
