"""Stanza's graph parser: labels of gold or likely arcs alone, trees without a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stanza")

import torch
from stanza.models.common.biaffine import DeepBiaffineScorer
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root

from d2c.dparsers.graph.scores import best_heads
from d2c.dparsers.settings import StanzaSettings
from d2c.dparsers.stanza.graph import ArcLabelScorer, SmoothedLoss, ends_of_yields
from d2c.dparsers.stanza.parser import StanzaParser
from d2c.packed.arcs import packed_arcs
from d2c.trees.dtree import subtrees
from d2c.trees.formats.conllu import read_conllu
from tests.dparsers.sentences import treebank, write

TINY = {"hidden_dim": 16, "deep_biaff_hidden_dim": 8, "word_emb_dim": 8, "tag_emb_dim": 8, "batch_size": 60}


def stanza_parser(**options: Any) -> StanzaParser:
    return StanzaParser(StanzaSettings(**options))


def test_labels_of_some_arcs_are_scored_as_those_of_all() -> None:
    torch.manual_seed(1)
    scorer = ArcLabelScorer(DeepBiaffineScorer(6, 6, 5, 4))
    torch.nn.init.normal_(scorer.scorer.W_bilin.weight)
    states = torch.randn(3, 200, 6)
    every = DeepBiaffineScorer.forward(scorer, states, states)
    assert every.shape == (3, 200, 200, 4)
    sentences, dependents = torch.randint(3, (300, 1)), torch.randint(200, (300, 1))
    arcs = sentences, dependents, torch.randint(200, (300, 7))
    assert torch.allclose(scorer.eval()(states, states)[arcs], every[arcs], atol=1e-5)


@pytest.mark.parametrize("labels", [4, 9])
def test_training_scores_the_labels_of_gold_arcs_alone(labels: int) -> None:
    """With few labels and with many the scores and their gradients are Stanza's."""
    torch.manual_seed(2)
    scorer = ArcLabelScorer(DeepBiaffineScorer(6, 6, 5, labels))
    torch.nn.init.normal_(scorer.scorer.W_bilin.weight)
    torch.nn.init.normal_(scorer.scorer.W_bilin.bias)
    states, scorer.gold = torch.randn(3, 8, 6), torch.randint(8, (3, 7))
    index = scorer.gold[:, :, None, None].expand(-1, -1, -1, labels)  # as Stanza's loss takes scores
    factor = torch.randn(3, 7, 1, labels)
    found = []
    for scores in (DeepBiaffineScorer.forward(scorer, states, states), scorer(states, states)):
        assert scores.shape == (3, 8, 8, labels)
        taken = scores[:, 1:].gather(2, index)
        gradients = torch.autograd.grad((taken * factor).sum(), [*scorer.parameters()])
        found.append([taken, *gradients])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("embeds_arcs", [False, True])
def test_packed_arcs_have_labels_as_the_tree_has_them(embeds_arcs: bool, tmp_path: Path) -> None:
    files = write(tmp_path / "train.conllu", treebank(1, 24)), write(tmp_path / "dev.conllu", treebank(2, 6))
    arguments = TINY | {"use_arc_embedding": embeds_arcs}
    own = stanza_parser(preset="small", epochs=4, device="cpu", arguments=arguments)
    parser = own.train(*files, tmp_path / "model")
    given = [dtree.tokens for dtree in read_conllu(files[1])]
    packed, plain = [*parser.parse_packed(given)], [*parser.parse(given)]
    assert [(dtree.heads, dtree.labels) for dtree in packed] == [(one.heads, one.labels) for one in plain]
    known = {label for dtree in read_conllu(files[0]) for label in dtree.labels or ()}
    for dtree in packed:
        arcs = packed_arcs(dtree)
        assert arcs is not None and arcs.labels is not None and known == {*arcs.labels.names}
        assert np.allclose(np.exp(arcs.labels.logs).sum(axis=1), 1, atol=1e-4)
        places = arcs.places(np.arange(len(dtree.heads)), np.array(dtree.heads))
        best = arcs.labels.logs[places].argmax(axis=1)
        assert tuple(arcs.labels.names[label] for label in best) == dtree.labels
    for dtree, fewer in zip(packed, parser.parse_packed(given, least=0.2), strict=True):
        arcs, expected = fewer.arcs, dtree.arcs.kept(0.2, dtree.heads)
        assert len(arcs.heads) < len(dtree.arcs.heads) and fewer == dtree
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(arcs[:3], expected[:3], strict=True))
        assert np.allclose(arcs.labels.logs, expected.labels.logs, atol=1e-4)


def test_smoothed_targets_know_what_is_impossible() -> None:
    """Where all is possible the loss is torch's; columns of -inf are as if they were not there."""
    torch.manual_seed(3)
    scores, targets = torch.randn(6, 5), torch.tensor([0, 1, 2, 0, -1, 2])
    given = {"ignore_index": -1, "reduction": "sum", "label_smoothing": 0.1}
    loss = SmoothedLoss(0.1)(scores, targets)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(scores, targets, **given))
    masked = scores.clone()
    masked[:, 3:] = -torch.inf
    loss = SmoothedLoss(0.1)(masked.requires_grad_(), targets)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(scores[:, :3], targets, **given))
    (gradient,) = torch.autograd.grad(loss, masked)
    assert gradient.isfinite().all() and not gradient[:, 3:].any() and not gradient[4].any()


def test_ends_of_yields_are_those_of_subtrees() -> None:
    heads = torch.tensor([[2, 0, 2, 3], [0, 3, 1, 0]])  # the second has three words
    mask = torch.tensor([[False] * 5, [False] * 4 + [True]])
    assert ends_of_yields(heads, mask).tolist() == [
        [[0, 0], [0, 3], [2, 3], [3, 3]],
        [[0, 2], [1, 1], [1, 2], [-1, -1]],
    ]


def test_the_network_learns_ends_of_yields(tmp_path: Path) -> None:
    """By their probabilities it says them better than by chance; a network without them gives none."""
    files = write(tmp_path / "train.conllu", treebank(1, 40)), write(tmp_path / "dev.conllu", treebank(2, 12))
    own = stanza_parser(preset="small", epochs=12, device="cpu", arguments=TINY)
    own.train(*files, tmp_path / "model")
    parser, right, words, chance = StanzaParser.load(tmp_path / "model", "cpu"), 0, 0, 0.0
    gold = [*read_conllu(files[1])]
    for dtree, found in zip(gold, parser.parse_packed(one.tokens for one in gold), strict=True):
        n, arcs = len(dtree.heads), packed_arcs(found)
        assert arcs is not None and arcs.yields is not None
        ends = np.exp(arcs.yields.reshape(2, n, n))
        assert np.allclose(ends.sum(axis=2), 1, atol=1e-4)
        wanted = np.array(subtrees(dtree.heads)[:2])
        right += int((ends.argmax(axis=2) == wanted).sum())
        words, chance = words + 2 * n, chance + 2
    assert right > words / 2 > 2 * chance
    parser.trainer_.model.has_yields = False  # as in models of before
    assert all(packed_arcs(one).yields is None for one in parser.parse_packed(one.tokens for one in gold))


@pytest.mark.parametrize("sharpness", [1.0, 8.0])
def test_the_best_tree_is_the_one_of_stanza(sharpness: float) -> None:
    drawn, quick = np.random.default_rng(1), 0
    for n in [*range(1, 12)] * 20:
        scores = sharpness * drawn.standard_normal((n + 1, n + 1))
        scores[np.arange(1, n + 1), drawn.permutation(n)] += 2 * sharpness
        np.fill_diagonal(scores, -np.inf)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        heads = best_heads(scores.copy())
        assert heads == tuple(chuliu_edmonds_one_root(scores.copy())[1:].tolist())
        quick += heads == tuple(scores[1:].argmax(axis=1).tolist())
    assert 40 < quick < 200  # both ways
